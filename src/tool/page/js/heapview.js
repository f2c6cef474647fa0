// Who keeps memory, by a dump of the heap: what types and lines retain, and the ways to them from a root.

const HELD = {types: 'Types', lines: 'Lines'};
const RETAINED_HINT = 'what would be free if the objects of the row were, each for itself: they, and all that only they hold. Rows do not add up.';

class HeapView {
    constructor(host, app) {
        this.app = app;
        this.heap = app.log.head.heap;
        this.bar = el('div', {class: 'toolbar'});
        this.host = el('div', {class: 'fill'});
        this.ways = el('div', {class: 'ways scroll', tabIndex: 0, role: 'region', 'aria-label': 'Ways from a root'});
        host.append(this.bar, this.host, this.ways);
        this.list = new List(this.host, 'What is retained', this.columns(), {open: (row, i) => app.set({holder: this.number(row)}, true)});
        this.update();
    }

    kind() {
        return this.heap.lines ? this.app.state.held : 'types';
    }

    family(row) {
        return row.types === undefined ? 'type' : row.own ? 'own' : 'framework';
    }

    number(row) {
        return this.heap[this.kind()].indexOf(row);
    }

    columns() {
        const {heap} = this;
        const lines = this.kind() === 'lines';
        return [{title: lines ? 'Allocated at' : 'Type', grow: true,
                 cell: row => nameCell({...row, full: row.file, family: this.family(row)}, row.types)},
                number('retained', 'Retained', row => formatBytes(row.retained), RETAINED_HINT),
                {title: 'Share', numeric: true, width: '8.5em', minor: true, cell: row => el('span', {class: 'share'},
                    bar(heap.bytes ? row.retained / heap.bytes : 0, this.family(row)),
                    el('span', {class: 'percent'}, formatShare(row.retained, heap.bytes)))},
                minor(number('bytes', 'Own bytes', row => formatBytes(row.bytes), 'the objects themselves')),
                number('objects', 'Objects', row => formatCount(row.objects))];
    }

    update() {
        const {app, heap} = this;
        const kind = this.kind();
        const wanted = app.state.query ? matcher(app.state.query) : null;
        const when = heap.gc ? `, after collection ${heap.gc}` : '';
        replace(this.bar, heap.lines ? choices('Rows', Object.entries(HELD), kind, held => app.set({held, holder: -1}, true)) : null,
            el('span', {class: 'faint'}, `${formatCount(heap.objects)} objects, ${formatBytes(heap.bytes)}, that ${formatCount(heap.roots)} roots hold${when}` +
                (heap.loose_objects ? `; held by nothing: ${formatCount(heap.loose_objects)} objects, ${formatBytes(heap.loose_bytes)}` : '') +
                (heap.placed ? '' : '; where objects were allocated is not known: record --live')));
        this.list.set(this.columns());
        this.rows = wanted ? heap[kind].filter(row => wanted(row.name) || row.types && wanted(row.types)) : heap[kind];
        const chosen = heap[kind][app.state.holder] || this.rows[0];
        this.list.current = Math.max(0, this.rows.indexOf(chosen));
        this.list.show(this.rows, {id: 'retained', down: true});
        replace(this.ways, ...(chosen ? this.waysTo(chosen) : []));
    }

    waysTo(row) {
        const out = [el('h2', {}, 'Ways from a root to ', el('span', {class: 'parts'}, ...nameParts(row.name)))];
        if (!row.ways)
            return [...out, el('p', {class: 'faint'}, `The page has ways to the ${this.heap.rows_with_ways} rows that retain most, of those that are known; ` +
                '`shadowtrace retained --type PATTERN LOG FILE` has all.')];
        if (row.shapes > row.ways.length)
            out.push(el('p', {class: 'faint'}, `${formatCount(row.ways.length)} of ${formatCount(row.shapes)}: those that retain most, each the shortest of its shape.`));
        return [...out, ...row.ways.flatMap(way => this.way(way))];
    }

    way({objects, retained, root, steps}) {
        return [el('h3', {}, `${formatCount(objects)} of them, which retain ${formatBytes(retained)}`),
                table([['Retained', 'numeric'], ['From the root on'], ['Allocated at']], [['', root, ''], ...steps.map(step => step.more
                    ? ['', `… ${formatCount(step.more)} more like these`, '']
                    : [formatBytes(step.retained), (step.field ? (step.field[0] === '[' ? '' : '.') + step.field + ': ' : '') + step.type + (step.attached ? ' (attached)' : ''), step.at || ''])])];
    }

    print(on) {
        return this.list.print(on);
    }

    dispose() {
        this.list.dispose();
    }
}

// Names were written by others, as those of the log.
function cleanHeap(heap) {
    for (const row of [...heap.types, ...heap.lines || []]) {
        for (const key of ['name', 'file', 'types'])
            if (row[key] !== undefined)
                row[key] = clean(row[key]);
        for (const way of row.ways || []) {
            way.root = clean(way.root);
            for (const step of way.steps)
                for (const key of ['type', 'at'])
                    if (step[key] !== undefined)
                        step[key] = clean(step[key]);
        }
    }
}
