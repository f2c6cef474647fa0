// The picture: a canvas as large as its window, that shows the rows scrolled to. The root is at the
// bottom (flame) or at the top (icicle).

const ROW = 20;         // pixels
const ROWS_AT_ONCE = 64; // levels of a merged tree that are opened before somebody scrolls
const TEXT_LEAST = 28;  // a narrower box has no text
const PAPER = 1000;     // pixels across on paper, which a browser makes fit
const PAPER_ROWS = 60;  // levels on a page

class Flame {
    // host: an element; calls: {labelOf(tree, node), theme(), fills(), changed(tree, node), marked(),
    // onselect(node), onzoom(node), onhover(node)}
    constructor(host, calls, name) {
        this.calls = calls;
        this.canvas = el('canvas', {tabIndex: 0, role: 'img', 'aria-label': name, 'aria-describedby': 'picture-text'});
        this.spacer = el('div', {class: 'spacer'});
        this.spacer.append(this.canvas);
        this.scroller = el('div', {class: 'flame'}, this.spacer);
        this.tip = el('div', {class: 'tip', role: 'tooltip', hidden: true});
        host.append(this.scroller, this.tip);
        this.tree = null;
        this.zoom = 0;
        this.selected = this.hovered = -1;
        this.paper = null; // {from, rows}: levels on paper; it is shown on a screen
        this.widths = new Map();
        this.listen();
    }

    listen() {
        const {canvas, scroller} = this;
        scroller.addEventListener('scroll', () => this.scrolled());
        canvas.addEventListener('mousemove', event => this.point(event));
        canvas.addEventListener('mouseleave', () => this.hover(-1));
        canvas.addEventListener('click', event => this.click(event));
        canvas.addEventListener('keydown', event => this.key(event));
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(scroller);
    }

    dispose() {
        this.observer.disconnect();
    }

    show(tree, options) {
        const other = tree !== this.tree || options.inverted !== this.inverted;
        const moved = other || (options.zoom || 0) !== this.zoom;
        this.tree = tree;
        this.inverted = options.inverted;
        this.diff = options.diff;
        this.zoom = options.zoom || 0;
        this.most = tree instanceof Whole ? Infinity : ROWS_AT_ONCE;
        if (other)
            this.selected = -1;
        this.lay();
        if (moved)
            this.place(other);
        this.draw();
    }

    // Builds the boxes again; the picture is as high as they are.
    lay() {
        const {paper} = this;
        this.width = paper ? PAPER : this.scroller.clientWidth;
        this.boxes = layOut(this.tree, this.zoom, this.width, this.most);
        this.height = paper ? paper.rows * ROW : this.scroller.clientHeight;
        this.full = Math.max(this.boxes.rows.length * ROW + 4, this.height);
        this.spacer.style.height = this.full + 'px';
        const ratio = Math.max(window.devicePixelRatio || 1, paper ? 2 : 1);
        this.canvas.width = Math.round(this.width * ratio);
        this.canvas.height = Math.round(this.height * ratio);
        this.canvas.style.width = this.width + 'px';
        this.canvas.style.height = this.height + 'px';
        this.context = this.canvas.getContext('2d', {alpha: false});
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    // Scrolls to what is zoomed to; where it is not zoomed to where the picture begins to branch.
    place(anew) {
        const depth = this.zoom ? lineage(this.tree, this.zoom).length - 1 : this.stem();
        const visible = this.topOf(depth);
        if (anew || visible < 0 || visible + ROW > this.height)
            this.scroller.scrollTop = this.inverted ? Math.max(0, (depth - 3) * ROW)
                : this.full - this.height - Math.max(0, (depth - 3) * ROW);
    }

    // Rows from the root on that are one box, if they would fill the window; else 0.
    stem() {
        const {rows} = this.boxes;
        let depth = 0;
        while (depth < rows.length && rows[depth].width[0] > 0.9 * this.width)
            depth++;
        return depth * ROW > this.height / 2 ? depth : 0;
    }

    resize() {
        if (!this.tree || !this.scroller.clientWidth || this.paper)
            return;
        const fromBottom = this.full - this.scroller.scrollTop - this.height;
        this.lay();
        if (!this.inverted)
            this.scroller.scrollTop = this.full - this.height - fromBottom;
        this.draw();
    }

    scrolled() {
        const shown = this.inverted ? this.scroller.scrollTop + this.height : this.full - this.scroller.scrollTop;
        if (shown / ROW > this.most - 8) {
            this.most += ROWS_AT_ONCE;
            const before = this.full;
            this.lay();
            if (!this.inverted)
                this.scroller.scrollTop += this.full - before;
        }
        this.draw();
    }

    // Top of a row in the window.
    topOf(depth) {
        if (this.paper) {
            const level = depth - this.paper.from;
            return this.inverted ? level * ROW : this.height - (level + 1) * ROW;
        }
        const y = this.inverted ? depth * ROW : this.full - (depth + 1) * ROW;
        return y - this.scroller.scrollTop;
    }

    depthAt(y) {
        const at = y + this.scroller.scrollTop;
        return Math.floor((this.inverted ? at : this.full - at) / ROW);
    }

    // ---- Drawing

    draw() {
        if (!this.tree)
            return;
        const {context, boxes} = this;
        const theme = this.calls.theme();
        context.fillStyle = theme.page;
        context.fillRect(0, 0, this.width, this.height);
        context.textBaseline = 'middle';
        const marked = this.calls.marked();
        for (let depth = 0; depth < boxes.rows.length; depth++) {
            const top = this.topOf(depth);
            if (top + ROW >= 0 && top <= this.height)
                this.drawRow(boxes.rows[depth], top, theme, marked, depth);
        }
        this.outline(this.selected, theme.selected, 2);
        if (this.hovered !== this.selected)
            this.outline(this.hovered, theme.ink, 1);
        if (this.onDrawn)
            this.onDrawn();
    }

    drawRow(row, top, theme, marked, depth) {
        const {context, tree} = this;
        const fills = this.calls.fills();
        for (let i = 0; i < row.node.length; i++) {
            const node = row.node[i], x = row.x[i], width = row.width[i];
            const place = tree.place(node);
            const hit = marked && marked[place];
            context.fillStyle = this.diff ? this.changeOf(node, theme)
                : hit ? theme.matchFill : fills.of(place, theme);
            context.globalAlpha = marked && !hit ? 0.45 : 1;
            context.fillRect(x, top, width > 2 ? width - 0.5 : width, ROW - 1);
            if (hit) {
                context.fillStyle = theme.match;
                context.fillRect(x, top + ROW - 4, width > 2 ? width - 0.5 : width, 3);
            }
            context.globalAlpha = marked && !hit ? 0.75 : 1;
            if (width >= TEXT_LEAST)
                this.drawText(node, place, x, top, width, theme, fills);
        }
        context.globalAlpha = 1;
    }

    changeOf(node, theme) {
        const [before, now] = this.calls.changed(this.tree, node);
        return changeFill(before, now, theme);
    }

    drawText(node, place, x, top, width, theme, fills) {
        const {context} = this;
        const own = fills.family[place] === 'own';
        const font = own ? FONT_OWN : FONT;
        if (context.font !== font)
            context.font = font;
        let text = this.calls.labelOf(this.tree, node);
        if (this.diff) { // where there is no room for both: which way, and the name
            const change = this.calls.change(this.tree, node);
            text = (width > 200 ? change : change.slice(0, 1)) + ' ' + text;
        }
        const shown = this.fit(text, width - 8, own);
        if (!shown)
            return;
        context.fillStyle = theme.ink;
        context.fillText(shown, x + 4, top + ROW / 2);
    }

    // By the widths of letters, which are measured once.
    fit(text, room, own) {
        const widths = this.lettersOf(own);
        const longest = Math.floor(room / 3);
        if (text.length > longest * 2)
            text = cutMiddle(text, longest * 2);
        let sum = widthOf(text, widths);
        for (let most = text.length; sum > room && most > 0; sum = widthOf(text, widths)) {
            most = Math.min(most - 1, Math.floor(text.length * room / sum));
            text = cutMiddle(text, most);
        }
        return text;
    }

    lettersOf(own) {
        if (!this.widths.has(own)) {
            this.context.font = own ? FONT_OWN : FONT;
            this.widths.set(own, Float64Array.from({length: 128},
                (_, code) => this.context.measureText(String.fromCharCode(code)).width));
        }
        return this.widths.get(own);
    }

    outline(node, color, width) {
        const box = node >= 0 ? this.boxes.find(node) : null;
        if (!box)
            return;
        const {context} = this;
        context.strokeStyle = color;
        context.lineWidth = width;
        context.strokeRect(box.x + 0.5, this.topOf(box.depth) + 0.5, Math.max(box.width - 1.5, 1), ROW - 2);
    }

    // As many levels as a page has room for, from where it is zoomed to. Returns: what to say of the others.
    print(on, most = PAPER_ROWS) {
        const levels = this.boxes.rows.length;
        const rows = Math.min(levels, most);
        const from = Math.min(lineage(this.tree, this.zoom).length - 1, levels - rows);
        this.paper = on ? {from, rows} : null;
        this.lay();
        this.draw();
        return levels > rows ? [`levels ${from} to ${from + rows - 1} of ${formatCount(levels)}`] : [];
    }

    // ---- Pointer

    boxAt(event) {
        const edge = this.canvas.getBoundingClientRect();
        const box = this.boxes.at(this.depthAt(event.clientY - edge.top), event.clientX - edge.left);
        return box ? box.node : -1;
    }

    point(event) {
        const node = this.boxAt(event);
        this.hover(node);
        if (node < 0)
            return;
        replace(this.tip, ...this.calls.describe(this.tree, node));
        this.tip.hidden = false;
        const edge = this.scroller.getBoundingClientRect();
        const left = Math.min(event.clientX - edge.left + 14, edge.width - this.tip.offsetWidth - 8);
        const below = event.clientY - edge.top + 18;
        const over = below + this.tip.offsetHeight > edge.height;
        this.tip.style.left = Math.max(4, left) + 'px';
        this.tip.style.top = (over ? Math.max(0, below - this.tip.offsetHeight - 30) : below) + 'px';
    }

    hover(node) {
        if (node < 0)
            this.tip.hidden = true;
        if (node === this.hovered)
            return;
        this.hovered = node;
        this.draw();
    }

    click(event) {
        const node = this.boxAt(event);
        if (node < 0)
            return;
        this.select(node);
        this.calls.onzoom(node);
    }

    select(node) {
        this.selected = node;
        this.reveal(node);
        this.draw();
        this.calls.onselect(node);
    }

    reveal(node) {
        const box = this.boxes.find(node);
        if (!box)
            return;
        const top = this.topOf(box.depth);
        if (top < 0)
            this.scroller.scrollTop += top;
        else if (top + ROW > this.height)
            this.scroller.scrollTop += top + ROW - this.height;
    }

    // ---- Keyboard: out and in, beside; Enter makes it as wide as the picture, Escape takes it back.

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        const node = this.selected < 0 ? this.zoom : this.selected;
        const inwards = this.inverted ? 'ArrowDown' : 'ArrowUp';
        const outwards = this.inverted ? 'ArrowUp' : 'ArrowDown';
        let to = null;
        if (event.key === inwards)
            to = this.firstShown(node);
        else if (event.key === outwards)
            to = this.tree.parent(node);
        else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight')
            to = this.beside(node, event.key === 'ArrowRight' ? 1 : -1);
        else if (event.key === 'Home')
            to = this.tree.root();
        else if (event.key === 'Enter' && node >= 0)
            this.calls.onzoom(node);
        else if (event.key === 'Escape' && this.zoom)
            this.calls.onzoom(this.tree.parent(this.zoom));
        else
            return;
        take(event);
        if (to !== null && to >= 0)
            this.select(to);
    }

    firstShown(node) {
        const box = this.boxes.find(node);
        const row = box && this.boxes.rows[box.depth + 1];
        return row ? row.node.find(child => this.tree.parent(child) === node) ?? null : null;
    }

    beside(node, step) {
        const box = this.boxes.find(node);
        if (!box)
            return null;
        const row = this.boxes.rows[box.depth].node;
        return row[row.indexOf(node) + step] ?? null;
    }

    // Boxes as rows of a table for those who do not see them: the widest ones.
    visible(most) {
        const out = [];
        this.boxes.rows.forEach((row, depth) => {
            const top = this.topOf(depth);
            if (top + ROW < 0 || top > this.height)
                return;
            row.node.forEach((node, i) => out.push({node, depth, width: row.width[i]}));
        });
        out.sort((a, b) => b.width - a.width || a.depth - b.depth);
        return out.slice(0, most);
    }
}

function widthOf(text, widths) {
    let sum = 0;
    for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        sum += code < 128 ? widths[code] : widths[109];
    }
    return sum;
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const FONT_OWN = '600 ' + FONT;
