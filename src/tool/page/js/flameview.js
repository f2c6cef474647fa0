// The picture with its switches, its legend, and the table of what it shows.

const TEXT_ROWS = 60;

class FlameView {
    constructor(host, app) {
        this.app = app;
        this.bar = el('div', {class: 'toolbar'});
        this.crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Where the picture begins'});
        this.host = el('div', {class: 'fill picture'});
        this.detail = el('div', {class: 'detail', role: 'status', 'aria-live': 'polite'});
        this.text = new PictureText('What the picture shows, as a table',
            [['Depth', 'numeric'], ['Frame'], ['Whose'], ['Total', 'numeric'], ['Share', 'numeric'], ['Self', 'numeric']],
            () => this.textRows());
        host.append(this.bar, this.crumbs, this.host, this.detail, this.text.element);
        this.flame = new Flame(this.host, pictureCalls(app, this), 'Picture of call paths; its table is below');
        this.update();
    }

    tree() {
        return this.app.state.mode === 'reversed' ? this.app.reversed() : this.app.picture();
    }

    update() {
        const {app} = this;
        this.drawBar();
        const tree = this.tree();
        const zoom = validNode(tree, app.state.zoom);
        this.flame.show(tree, {inverted: app.state.mode === 'icicle', diff: app.diff(), zoom});
        this.drawCrumbs(tree, zoom);
        if (this.flame.selected < 0)
            this.describe(zoom);
        else
            this.describe(this.flame.selected);
        this.text.update();
    }

    drawBar() {
        const {app} = this;
        replace(this.bar,
            choices('Picture', [['flame', 'Flame', 'Main at the bottom, types at the top'],
                                ['icicle', 'Icicle', 'Main at the top, types at the bottom'],
                                ['reversed', 'Reversed', 'types at the bottom, who allocates them above']],
                    app.state.mode, mode => app.set({mode, zoom: 0}, true)),
            foldSwitch(app), lineSwitch(app), legend(app));
    }

    drawCrumbs(tree, zoom) {
        const line = lineage(tree, zoom);
        const shown = line.length > 7 ? [line[0], -1, ...line.slice(-5)] : line;
        replace(this.crumbs, ...shown.map(node => node < 0 ? el('span', {class: 'faint'}, `… ${line.length - 6} frames …`)
            : button(cutMiddle(this.app.label(tree, node), 40), this.app.fullLabel(tree, node),
                     () => this.app.set({zoom: node}, true), {'aria-current': node === zoom ? 'true' : null})));
        this.crumbs.hidden = zoom === 0;
    }

    describe(node) {
        const {app} = this;
        const tree = this.tree();
        showDetail(this.detail, app, tree, node,
            button('Zoom', 'as wide as the picture (Enter)', () => app.set({zoom: node}, true)),
            app.canOpen(tree.place(node)) ? button('Callers and callees', 'of this method or type',
                () => app.openPlace(tree.place(node))) : null,
            app.sources.has(tree.place(node)) ? button('Source', 'this line in its file',
                () => app.showLine(tree.place(node))) : null);
    }

    textRows() {
        const {app, flame} = this;
        const tree = this.tree();
        const whole = app.whole()[app.state.measure];
        return flame.visible(TEXT_ROWS).map(({node, depth}) => [
            String(depth), app.label(tree, node), FAMILY_WORDS[familyOf(app.log, tree.place(node))],
            app.amount(tree, node), formatShare(tree.weight(node), whole),
            formatMeasure(app.selfOf(tree, node), app.state.measure)]);
    }

    print(on) {
        return this.flame.print(on);
    }

    dispose() {
        this.flame.dispose();
    }
}

const FAMILY_WORDS = {own: 'own code', package: 'package', framework: 'framework', type: 'type', other: 'other'};

// What a picture shows, as a table; made only while it is open. rowsOf: as table() has them.
class PictureText {
    constructor(title, heads, rowsOf) {
        this.heads = heads;
        this.rowsOf = rowsOf;
        this.element = el('details', {class: 'as-table', id: 'picture-text'}, el('summary', {}, title), el('div', {class: 'scroll-x'}));
        this.element.addEventListener('toggle', () => this.update());
    }

    update() {
        if (this.element.open)
            replace(this.element.lastChild, table(this.heads, this.rowsOf()));
    }
}

// What a node of a picture is, and what can be done with it.
function showDetail(host, app, tree, node, ...buttons) {
    replace(host, el('div', {class: 'detail-text'}, ...app.describe(tree, node)),
        el('div', {class: 'detail-buttons'}, ...buttons,
            button('Copy stack', 'as text (c)', () => app.copyStack(tree, node))));
}

function validNode(tree, node) {
    const count = tree instanceof Whole ? tree.tree.count : tree.rows.length;
    return node < count && tree.weight(node) > 0 ? node : 0;
}

function foldSwitch(app) {
    if (!app.log.owner.includes(OWNER.FRAMEWORK))
        return null;
    return choices('Frames of the framework', [[true, 'Framework folded', 'a run of framework frames is one box'],
                                               [false, 'All frames', 'every frame']],
                   app.state.fold, fold => app.set({fold, zoom: 0}, true));
}

function lineSwitch(app) {
    if (!app.hasLines)
        return null;
    return choices('Lines', [[false, 'By method', 'calls from all lines of a method are one box'],
                             [true, 'By line', 'a box for each line']],
                   app.state.lines, lines => app.set({lines, zoom: 0}, true));
}

function legend(app) {
    const items = app.diff() ? [['grew', '▲ grew'], ['shrank', '▼ shrank'], ['framework', '= same']]
        : [['own', 'own code'], ['package', 'packages'], ['framework', 'framework'], ['type', 'types']]
            .filter(([family]) => family !== 'own' || app.log.hasOwn);
    return el('span', {class: 'legend'}, ...items.map(([family, text]) =>
        el('span', {class: family === 'own' ? 'own' : ''}, el('i', {class: 'dot ' + family, 'aria-hidden': 'true'}), text)));
}

function pictureCalls(app, view) {
    return {
        labelOf: (tree, node) => app.label(tree, node),
        change: (tree, node) => app.changeText(tree, node),
        changed: (tree, node) => app.changed(tree, node),
        theme: () => app.theme(),
        fills: () => app.fills(),
        marked: () => app.marked,
        describe: (tree, node) => app.describe(tree, node),
        onselect: node => view.describe(node),
        onzoom: node => app.set({zoom: Math.max(0, node)}, true),
    };
}
