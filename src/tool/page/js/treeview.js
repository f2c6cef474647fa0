// The tree as rows that open: from the outermost frame in, or from types out to their callers.

class TreeView {
    constructor(host, app) {
        this.app = app;
        this.open = new Set();
        this.bar = el('div', {class: 'toolbar'});
        this.host = el('div', {class: 'fill'});
        host.append(this.bar, this.host);
        this.list = new List(this.host, 'Call tree', this.columns(), {
            open: row => this.toggle(row), key: (event, row, i) => this.key(event, row, i)});
        this.update();
    }

    columns() {
        const {app} = this;
        const out = [
            {title: 'Frame', grow: true, cell: row => this.nameCell(row)},
            number('total', 'Total', row => formatMeasure(this.tree.weight(row.node), app.state.measure),
                   'here and in everything called from here'),
            {title: 'Share', numeric: true, width: '8.5em', minor: true, cell: row => this.shareCell(row)},
            minor(number('self', 'Self', row => this.selfText(row), 'what the frame allocates itself')),
        ];
        if (app.diff())
            out.push(number('grew', 'Grew', row => app.changeText(this.tree, row.node)));
        const other = app.state.measure === 'bytes' ? 'allocs' : 'bytes';
        out.push(minor(number(other, other === 'bytes' ? 'Bytes' : 'Objects', row =>
            other === 'bytes' ? formatBytes(this.tree.value(row.node, other)) : formatCount(this.tree.value(row.node, other)))));
        return out;
    }

    selfText(row) {
        const self = this.app.selfOf(this.tree, row.node);
        return self ? formatMeasure(self, this.app.state.measure) : '';
    }

    nameCell(row) {
        const {app} = this;
        const place = this.tree.place(row.node);
        const family = app.fills().family[place] || familyOf(app.log, place);
        const indent = el('span', {class: 'indent'});
        indent.style.setProperty('--level', String(Math.min(row.level, 40)));
        const where = fileName(app.where(this.tree, place));
        return el('span', {class: 'name', title: app.fullLabel(this.tree, row.node)}, indent,
            row.level > 40 ? el('span', {class: 'faint'}, row.level + ' ') : null,
            el('span', {class: 'twist', 'aria-hidden': 'true'}, row.open === undefined ? '' : row.open ? '▾' : '▸'),
            el('i', {class: 'dot ' + family, 'aria-hidden': 'true'}),
            el('span', {class: 'name-text' + (family === 'own' ? ' own' : '')}, app.label(this.tree, row.node)),
            where ? el('span', {class: 'faint'}, ' ' + where) : null);
    }

    shareCell(row) {
        const {app} = this;
        const whole = app.whole()[app.state.measure];
        const weight = this.tree.weight(row.node);
        const place = this.tree.place(row.node);
        return el('span', {class: 'share'}, bar(whole ? weight / whole : 0, familyOf(app.log, place)),
                  el('span', {class: 'percent'}, formatShare(weight, whole)));
    }

    update() {
        const {app} = this;
        const reversed = app.state.tree === 'up';
        const tree = reversed ? app.reversed() : app.picture();
        if (tree !== this.tree) {
            const same = this.tree && tree instanceof Whole && this.tree.tree === tree.tree;
            this.tree = tree;
            if (!same) {
                this.open = new Set([0]);
                this.openHottest(0);
            }
        }
        replace(this.bar,
            choices('Direction', [['down', 'From Main', 'callers first, what they call inside'],
                                  ['up', 'From types', 'types first, who allocates them inside']],
                    app.state.tree, tree_ => app.set({tree: tree_}, true)),
            button('Hottest path', 'open what is heaviest below the current row', () => {
                this.openHottest(this.rows[this.list.current].node);
                this.show();
            }),
            button('Close all', 'only the first level', () => {
                this.open = new Set([0]);
                this.show();
            }));
        this.list.set(this.columns());
        this.show();
    }

    // As far as one child has at least half of what its parent has, and at least one level.
    openHottest(node) {
        for (let levels = 0; levels < 300; levels++) {
            this.open.add(node);
            const [first] = this.tree.children(node);
            if (first === undefined || (levels && this.tree.weight(first) * 2 < this.tree.weight(node)))
                return;
            node = first;
        }
    }

    // The rows that are open, in order; not by recursion, for stacks can be 100,000 frames deep.
    show() {
        const rows = [];
        const stack = [{node: this.tree.root(), level: 0}];
        while (stack.length) {
            const row = stack.pop();
            const children = this.open.has(row.node) ? this.tree.children(row.node) : null;
            row.open = children ? (children.length ? true : undefined) : this.mayOpen(row.node) ? false : undefined;
            rows.push(row);
            for (let i = children ? children.length - 1 : -1; i >= 0; i--)
                stack.push({node: children[i], level: row.level + 1});
        }
        this.rows = rows;
        const {marked} = this.app;
        if (marked)
            for (const row of rows)
                row.mark = marked[this.tree.place(row.node)] ? 'match' : '';
        this.list.show(rows, null);
    }

    mayOpen(node) {
        return this.tree instanceof Whole ? this.tree.tree.end[node] > node + 1 : true;
    }

    toggle(row) {
        if (this.open.has(row.node))
            this.open.delete(row.node);
        else
            this.open.add(row.node);
        this.show();
    }

    key(event, row, i) {
        if (event.key === 'ArrowRight') {
            if (row.open === false)
                this.toggle(row);
            else
                this.list.move(i + 1);
        } else if (event.key === 'ArrowLeft') {
            if (row.open)
                this.toggle(row);
            else
                this.list.move(this.rows.findIndex(other => other.node === this.tree.parent(row.node)));
        } else if (event.key === '*') {
            this.openHottest(row.node);
            this.show();
        } else if (event.key === 'c') {
            this.app.copyStack(this.tree, row.node);
        } else {
            return false;
        }
        return true;
    }

    dispose() {
        this.list.dispose();
    }

    print(on) {
        return this.list.print(on);
    }
}
