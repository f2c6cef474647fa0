// Source lines that were put into the page: those that allocate, and some around each.

class Sources {
    constructor(log) {
        this.log = log;
        this.files = new Map(log.head.sources.map(source => [source.file, source]));
    }

    // Whether the place's line is here to be shown.
    has(place) {
        return place < this.log.places.count && this.log.places.line[place] > 0 &&
            this.files.has(this.log.places.file[place]);
    }
}

class SourceView {
    constructor(host, app) {
        this.app = app;
        this.bar = el('div', {class: 'toolbar'});
        this.host = el('div', {class: 'fill scroll', tabIndex: 0, role: 'region', 'aria-label': 'Source'});
        host.append(this.bar, this.host);
        this.update();
    }

    // Rows by line of every file that is here. Those that may be of one of several lines: by "12-13".
    sums() {
        const {log} = this.app;
        const {keys, texts, example} = this.app.keep('keys-lines', () => PLACE_TABLES.lines(log));
        const rows = sumByKey(log, this.app.weights(), place => keys[place], texts.length);
        const files = new Map();
        for (const row of rows) {
            const file = log.places.file[example[row.key]];
            if (!this.app.sources.files.has(file))
                continue;
            if (!files.has(file))
                files.set(file, new Map());
            const {line, lineLast} = log.places;
            const place = example[row.key];
            files.get(file).set(lineLast[place] ? line[place] + '-' + lineLast[place] : line[place], row);
        }
        return files;
    }

    // What own files allocate, themselves or through others: they come first.
    nearest() {
        const {app} = this;
        const out = new Map();
        for (const row of app.nearestRows().rows.filter(one => one.place !== undefined)) {
            const file = app.log.places.file[row.place];
            out.set(file, (out.get(file) || 0) + row.bytes);
        }
        return out;
    }

    update() {
        const {app} = this;
        const files = this.sums();
        const near = this.nearest();
        const weightOf = rows => [...rows.values()].reduce((sum, row) => sum + row.bytes, 0);
        const order = [...files].map(([file, rows]) => ({file, rows, near: near.get(file) || 0, bytes: near.get(file) || weightOf(rows)}))
            .sort((a, b) => b.near - a.near || b.bytes - a.bytes);
        const chosen = order.find(entry => entry.file === app.state.file) || order[0];
        replace(this.bar, order.length ? el('select', {class: 'wide', 'aria-label': 'Source file',
            onchange: event => app.set({file: Number(event.target.value), line: 0}, true)},
            ...order.map(entry => el('option', {value: String(entry.file), selected: entry === chosen},
                `${fileName(app.log.head.files[entry.file])}  ${formatBytes(entry.bytes)}`))) : null,
            chosen ? el('span', {class: 'faint path-text'}, app.log.head.files[chosen.file]) : null);
        replace(this.host, chosen ? this.table(chosen) : el('p', {class: 'empty'},
            'No source lines are in this page: the files were not found when it was made. Give their PDBs with --symbols DIR.'));
        const line = this.host.querySelector('.line-chosen') || this.host.querySelector('.line-most');
        if (line)
            line.scrollIntoView({block: 'center'});
    }

    table({file, rows}) {
        const {app} = this;
        const whole = app.whole().bytes;
        const source = app.sources.files.get(file);
        const out = [];
        const most = Math.max(...[...rows.values()].map(row => row.totalBytes));
        const ranges = [...rows.keys()].filter(key => typeof key === 'string');
        const add = (number, text, row, chosen) => out.push(el('tr', {class: (row ? 'line-hot' : '') +
            (chosen ? ' line-chosen' : '') + (row && row.totalBytes === most ? ' line-most' : '')},
            el('td', {class: 'numeric'}, row ? formatBytes(row.totalBytes) : ''),
            el('td', {class: 'numeric'}, row && row.bytes ? formatBytes(row.bytes) : ''),
            el('td', {class: 'numeric minor'}, row && row.allocs ? formatCount(row.allocs) : ''),
            el('td', {class: 'numeric faint'}, String(number)),
            el('td', {class: 'code'}, row ? bar(whole ? row.totalBytes / whole : 0, 'own') : null, el('code', {}, text))));
        let last = 0;
        for (const [number, text] of source.lines) {
            if (last && number !== last + 1)
                out.push(el('tr', {class: 'gap'}, el('td', {colSpan: 5}, '⋯')));
            last = number;
            add(number, text, rows.get(number), number === app.state.line);
            for (const range of ranges.filter(key => key.startsWith(number + '-')))
                add(range, '(one of these lines)', rows.get(range), false);
        }
        return table([['Total', 'numeric'], ['Self', 'numeric'], ['Objects', 'numeric minor'], ['Line', 'numeric'], ['Source', '']],
            out, {class: 'source'});
    }
}
