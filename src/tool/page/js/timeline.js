// The time line above every view: what was allocated in each slice, marks, and the range that is
// selected. It is a slider for the keyboard, too.

class TimeLine {
    constructor(host, app) {
        this.app = app;
        this.canvas = el('canvas', {tabIndex: 0, role: 'slider', 'aria-label':
            'Time: drag to select a range; arrows move it, with Shift they make it longer, Escape takes all',
            onkeydown: event => this.key(event)});
        this.marks = el('div', {class: 'marks'});
        this.text = el('span', {class: 'time-text', role: 'status'});
        this.clear = button('All', 'all of the time', () => app.set({from: null, to: null}, true));
        this.area = el('div', {class: 'time-area'}, this.canvas, this.marks);
        host.append(this.area, el('div', {class: 'time-side'}, this.text, this.clear));
        this.canvas.addEventListener('pointerdown', event => this.start(event));
        this.canvas.addEventListener('pointermove', event => this.drag(event));
        this.canvas.addEventListener('pointerup', event => this.end(event));
        new ResizeObserver(() => this.draw()).observe(this.area);
    }

    update() {
        const {app} = this;
        const {from, to, measure} = app.state;
        this.values = app.bySlice()[measure];
        const {head} = app.log;
        const range = from === null ? [0, head.slices] : [from, to];
        const begin = range[0] * head.slice_ns;
        const end = Math.min(range[1] * head.slice_ns, head.duration_ns);
        this.clear.hidden = from === null;
        const whole = app.whole();
        const sum = app.diff() ? growth(whole, measure) : whole[measure];
        const rate = app.state.what !== 'made' ? ' ' + (app.diff() ? 'grown' : app.noun()) : measure === 'bytes' && end > begin ? `, ${formatBytes(sum / (end - begin) * 1e9)}/s` : '';
        this.text.textContent = `${formatTime(begin)} – ${formatTime(end)}: ${app.diff() ? formatDelta(sum, measure) : formatMeasure(sum, measure)}${rate}`;
        this.canvas.setAttribute('aria-valuetext', this.text.textContent);
        this.canvas.setAttribute('aria-valuemin', '0');
        this.canvas.setAttribute('aria-valuemax', String(head.slices));
        this.canvas.setAttribute('aria-valuenow', String(range[0]));
        this.drawMarks();
        this.draw();
    }

    drawMarks() {
        const {head} = this.app.log;
        const whole = head.slices * head.slice_ns;
        replace(this.marks, ...head.marks.slice(0, 200).map(mark => {
            const out = el('button', {type: 'button', class: 'mark-tick', title:
                `mark "${mark.text}" at ${formatTime(mark.t)}: from here on`, onclick: () => this.fromMark(mark)},
                el('span', {}, mark.text));
            out.style.left = 100 * mark.t / whole + '%';
            return out;
        }));
    }

    fromMark(mark) {
        const {head} = this.app.log;
        const later = head.marks.find(other => other.t > mark.t);
        const from = Math.floor(mark.t / head.slice_ns);
        const to = later ? Math.max(from + 1, Math.ceil(later.t / head.slice_ns)) : head.slices;
        this.app.set({from, to}, true);
    }

    draw() {
        if (!this.values)
            return;
        const {app, canvas} = this;
        const width = this.area.clientWidth, height = this.area.clientHeight;
        const ratio = window.devicePixelRatio || 1;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        const context = canvas.getContext('2d');
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const theme = app.theme();
        context.clearRect(0, 0, width, height);
        this.drawBars(context, width, height, theme);
        const {from, to} = app.state;
        if (from === null)
            return;
        const scale = width / this.values.length;
        context.fillStyle = theme.range;
        context.fillRect(from * scale, 0, Math.max(2, (to - from) * scale), height);
        context.fillStyle = theme.bar;
        context.fillRect(from * scale - 1, 0, 2, height);
        context.fillRect(to * scale - 1, 0, 2, height);
    }

    // If there are more slices than pixels, a pixel shows the highest of its slices.
    drawBars(context, width, height, theme) {
        const {values} = this;
        const {from, to} = this.app.state;
        const bars = Math.min(values.length, Math.max(1, Math.floor(width)));
        let most = 0;
        for (const value of values)
            most = Math.max(most, value);
        for (let i = 0; i < bars; i++) {
            const first = Math.floor(i * values.length / bars);
            const end = Math.max(first + 1, Math.floor((i + 1) * values.length / bars));
            let value = 0;
            for (let slice = first; slice < end; slice++)
                value = Math.max(value, values[slice]);
            const tall = most ? Math.max(value > 0 ? 1 : 0, value / most * (height - 4)) : 0;
            context.globalAlpha = from !== null && (first < from || first >= to) ? 0.35 : 1;
            context.fillStyle = theme.bar;
            const wide = width / bars;
            context.fillRect(i * wide, height - tall, wide > 3 ? wide - 1 : wide, tall);
        }
        context.globalAlpha = 1;
    }

    sliceAt(event) {
        const edge = this.canvas.getBoundingClientRect();
        const share = (event.clientX - edge.left) / edge.width;
        return Math.max(0, Math.min(1, share)) * this.values.length;
    }

    start(event) {
        this.begun = this.sliceAt(event);
        this.canvas.setPointerCapture(event.pointerId);
    }

    rangeTo(event) {
        const at = this.sliceAt(event);
        const from = Math.floor(Math.min(at, this.begun)), to = Math.ceil(Math.max(at, this.begun));
        return {from, to: Math.max(from + 1, to)};
    }

    drag(event) {
        if (this.begun === undefined)
            return;
        const {app} = this;
        Object.assign(app.state, this.rangeTo(event)); // only drawn; the views follow at the end
        this.draw();
    }

    end(event) {
        if (this.begun === undefined)
            return;
        const still = Math.abs(this.sliceAt(event) - this.begun) * this.area.clientWidth / this.values.length < 3;
        const range = still && this.values.length > this.area.clientWidth / 8 ? {from: null, to: null} : this.rangeTo(event);
        this.begun = undefined;
        const {app} = this;
        app.state.from = app.state.to = undefined; // what was drawn is not what the views show
        app.set(range, true);
    }

    key(event) {
        const {app} = this;
        const {slices} = app.log.head;
        let {from, to} = app.state;
        if (from === null)
            [from, to] = [0, slices];
        const step = Math.max(1, Math.round(slices / 100)) * (event.key === 'ArrowLeft' ? -1 : 1);
        if (event.key === 'Escape') {
            app.set({from: null, to: null}, true);
        } else if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') {
            return;
        } else if (event.shiftKey) {
            app.set({from, to: Math.max(from + 1, Math.min(slices, to + step))});
        } else if (from === 0 && to === slices) {
            app.set({from: 0, to: Math.max(1, Math.round(slices / 10))});
        } else {
            const moved = Math.max(0, Math.min(slices - (to - from), from + step));
            app.set({from: moved, to: moved + to - from});
        }
        take(event);
    }
}
