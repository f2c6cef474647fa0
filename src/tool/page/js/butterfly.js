// One method or type in the middle, its callers above, what it calls below.

const HALF_ROWS = 28; // levels of each picture on a page

class ButterflyView {
    constructor(host, app) {
        this.app = app;
        this.bar = el('div', {class: 'toolbar'});
        this.input = el('input', {type: 'search', class: 'filter wide', 'aria-label': 'Method or type', placeholder:
            'Method or type', autocomplete: 'off', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'offers',
            oninput: () => this.offer(), onkeydown: event => this.key(event), onfocus: () => this.offer(),
            onblur: () => setTimeout(() => this.offers.hidden = true, 200)});
        this.offers = el('div', {class: 'offers', id: 'offers', role: 'listbox', hidden: true});
        this.said = el('div', {class: 'subject', role: 'status'});
        this.above = el('div', {class: 'fill picture half'});
        this.below = el('div', {class: 'fill picture half'});
        this.detail = el('div', {class: 'detail', role: 'status', 'aria-live': 'polite'});
        this.text = new PictureText('Callers and callees, as a table',
            [['Side'], ['Frame'], ['Total', 'numeric'], ['Share', 'numeric']], () => this.textRows());
        host.append(this.bar, this.above, this.said, this.below, this.detail, this.text.element);
        this.bar.append(el('span', {class: 'combo'}, this.input, this.offers), this.fold = el('span'), legend(app));
        this.zoomed = {callers: 0, callees: 0};
        this.flames = {
            callers: new Flame(this.above, this.calls('callers'), 'Callers; a table is below'),
            callees: new Flame(this.below, this.calls('callees'), 'Callees; a table is below'),
        };
        this.update();
    }

    calls(side) {
        return Object.assign(pictureCalls(this.app, this), {
            onselect: node => this.describe(side, node),
            onzoom: node => {
                this.zoomed[side] = Math.max(0, node);
                this.draw();
            },
        });
    }

    update() {
        const {app} = this;
        const subject = app.state.subject >= 0 ? app.state.subject : app.heaviestMethod();
        const trees = app.butterfly(subject);
        if (trees !== this.trees)
            this.zoomed = {callers: 0, callees: 0};
        this.trees = trees;
        this.subject = subject;
        if (document.activeElement !== this.input)
            this.input.value = app.log.head.names[subject];
        replace(this.fold, foldSwitch(app) || '');
        this.draw();
        this.describe('callees', 0);
        this.text.update();
    }

    draw() {
        const {app, trees} = this;
        const whole = app.whole()[app.state.measure];
        const weight = trees.callers.weight(0);
        this.below.hidden = !trees.callees;
        replace(this.said, el('i', {class: 'dot ' + familyOf(app.log, trees.place), 'aria-hidden': 'true'}),
            el('b', {}, app.log.fullName(trees.place)), ' ' + formatMeasure(weight, app.state.measure) + ', ' +
            formatShare(weight, whole) + (trees.callees ? ' with all it calls' : ''));
        this.flames.callers.show(trees.callers, {inverted: false, diff: app.diff(), zoom: this.zoomed.callers});
        if (trees.callees)
            this.flames.callees.show(trees.callees, {inverted: true, diff: app.diff(), zoom: this.zoomed.callees});
    }

    describe(side, node) {
        const {app} = this;
        const tree = this.trees[side] || this.trees.callers;
        showDetail(this.detail, app, tree, node,
            app.canOpen(tree.place(node)) && node ? button('Put in the middle', 'its callers and callees',
                () => app.openPlace(tree.place(node))) : null);
    }

    textRows() {
        const {app, trees} = this;
        const whole = app.whole()[app.state.measure];
        const rowsOf = (tree, word) => tree ? tree.children(0).slice(0, TEXT_ROWS).map(node => [
            word, app.label(tree, node), app.amount(tree, node), formatShare(tree.weight(node), whole)]) : [];
        return [...rowsOf(trees.callers, 'caller'), ...rowsOf(trees.callees, 'callee')];
    }

    // What begins with, then what has, the text.
    offer() {
        const text = this.input.value;
        const wanted = matcher(text);
        const {names} = this.app.log.head;
        const found = [];
        for (const name of this.app.subjects())
            if (wanted(names[name])) {
                found.push(name);
                if (found.length >= 12)
                    break;
            }
        this.found = found;
        this.chosen = -1;
        replace(this.offers, ...found.map((name, i) => el('button', {type: 'button', role: 'option', id: 'offer' + i,
            title: this.app.log.head.full[name] || names[name], onclick: () => this.choose(name)}, names[name])));
        this.offers.hidden = !found.length || document.activeElement !== this.input;
        this.input.setAttribute('aria-expanded', String(!this.offers.hidden));
    }

    choose(name) {
        this.offers.hidden = true;
        this.input.blur();
        this.app.set({subject: name}, true);
    }

    key(event) {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (step && this.found) {
            this.chosen = Math.max(0, Math.min(this.found.length - 1, this.chosen + step));
            [...this.offers.children].forEach((offer, i) => offer.setAttribute('aria-selected', String(i === this.chosen)));
            this.input.setAttribute('aria-activedescendant', 'offer' + this.chosen);
        } else if (event.key === 'Enter' && this.found && this.found.length) {
            this.choose(this.found[Math.max(0, this.chosen)]);
        } else if (event.key === 'Escape') {
            this.input.blur();
        } else {
            return;
        }
        take(event);
    }

    print(on) {
        const {callers, callees} = this.flames;
        return [...callers.print(on, HALF_ROWS), ...(this.trees.callees ? callees.print(on, HALF_ROWS) : [])];
    }

    dispose() {
        this.flames.callers.dispose();
        this.flames.callees.dispose();
    }
}
