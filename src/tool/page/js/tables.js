// Tables: types, methods, lines, modules, namespaces, threads, sizes; in a difference what grew.

const TABLES = {
    types: {title: 'Types', what: 'Type', has: () => true},
    methods: {title: 'Methods', what: 'Method', total: true, has: () => true},
    lines: {title: 'Lines', what: 'Line', total: true, has: log => log.places.line.some(line => line)},
    modules: {title: 'Modules', what: 'Module', total: true, has: () => true},
    namespaces: {title: 'Namespaces', what: 'Namespace', total: true, has: () => true},
    threads: {title: 'Threads', what: 'Thread', has: (log, what) => log.head.threads.length > 0 && what === 'made'},
    sizes: {title: 'Sizes', what: 'Size of one object', has: (log, what) => what === 'made'},
    lifetimes: {title: 'Lifetimes', what: 'What became of it', has: (log, what) => what === 'lifetimes'},
};

// Keys of places for tables that are summed over frames: numbers, and what they mean.
function placeKeys(log, keyOf) {
    const numbers = new Map(), texts = [], example = [];
    const keys = Int32Array.from({length: log.places.count}, (_, place) => {
        if (log.places.kind[place] === KIND.TYPE || place === 0)
            return -1;
        const text = keyOf(place);
        if (text === null)
            return -1;
        if (!numbers.has(text)) {
            numbers.set(text, texts.length);
            texts.push(text);
            example.push(place);
        }
        return numbers.get(text);
    });
    return {keys, texts, example};
}

const PLACE_TABLES = {
    methods: log => placeKeys(log, place => log.places.name[place]),
    lines: log => placeKeys(log, place => log.places.line[place]
        ? log.file(place) + log.lineText(place) : null),
    modules: log => placeKeys(log, place => log.places.kind[place] === KIND.METHOD
        ? log.module(place).name || '(not known)' : '(no module)'),
    namespaces: log => placeKeys(log, place => log.places.kind[place] === KIND.METHOD
        ? namespaceOf(log, place) || '(none)' : log.name(place)),
};

// Rows of a table: {name, full, family, place, key, bytes, allocs, totalBytes, ...}.
function tableRows(app, table) {
    const {log} = app;
    if (table === 'types')
        return sumByType(log, app.weights()).map(row => nameTypeRow(log, row));
    if (table === 'threads')
        return sumByThread(log, app.filter()).map(row => nameThreadRow(log, row));
    if (table === 'sizes')
        return sumBySize(log, app.filter()).map(row => nameSizeRow(log, row));
    if (table === 'lifetimes')
        return sumByFate(log, {...app.filter(), fate: -1}).map(row => Object.assign(row, {name: fateName(row.key), full: '', family: 'other'}));
    const {keys, texts, example} = app.keep('keys-' + table, () => PLACE_TABLES[table](log));
    const rows = sumByKey(log, app.weights(), place => keys[place], texts.length);
    return rows.map(row => namePlaceRow(log, table, row, texts[row.key], example[row.key]));
}

function nameTypeRow(log, row) {
    if (row.key < 0)
        return Object.assign(row, {name: '(no type)', full: '', family: 'other', place: 0});
    return Object.assign(row, {name: log.head.names[row.key], full: log.head.full[row.key], family: 'type',
                               module: log.head.modules[log.nameModule[row.key]]});
}

function nameThreadRow(log, row) {
    const thread = log.head.threads[row.key];
    const name = thread ? thread.name || 'thread ' + thread.id : '(not known)';
    return Object.assign(row, {name, full: thread ? 'id ' + thread.id : '', family: 'other'});
}

function nameSizeRow(log, row) {
    const heap = log.head.heaps[row.key >> 6] || '';
    return Object.assign(row, {name: formatSizeClass(row.key & 63), full: '', heap, family: 'other'});
}

function namePlaceRow(log, table, row, text, place) {
    if (table === 'methods')
        return Object.assign(row, {name: log.name(place), full: log.fullName(place), place,
                                   family: familyOf(log, place), module: log.module(place)});
    if (table === 'lines')
        return Object.assign(row, {name: log.where(place), full: text, place, family: familyOf(log, place),
                                   method: log.name(place)});
    const family = familyOf(log, place);
    return Object.assign(row, {name: text, full: '', family, place});
}

// Sorted by a column; sizes in their own order to begin with.
function sortRows(rows, sort) {
    const by = SORTS[sort.id] || SORTS.bytes;
    const sign = sort.down ? -1 : 1;
    return rows.sort((a, b) => sign * by(a, b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const SORTS = {
    name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    bytes: (a, b) => a.bytes - b.bytes,
    allocs: (a, b) => a.allocs - b.allocs,
    totalBytes: (a, b) => a.totalBytes - b.totalBytes,
    totalAllocs: (a, b) => a.totalAllocs - b.totalAllocs,
    mean: (a, b) => a.bytes / a.allocs - b.bytes / b.allocs,
    size: (a, b) => (a.key & 63) - (b.key & 63) || a.key - b.key,
    fate: (a, b) => a.key - b.key,
    grew: (a, b) => growth(a, 'bytes') - growth(b, 'bytes'),
    totalGrew: (a, b) => growth(a, 'totalBytes') - growth(b, 'totalBytes'),
    old: (a, b) => a.oldBytes - b.oldBytes,
    new: (a, b) => a.bytes - a.oldBytes - (b.bytes - b.oldBytes),
    grewAllocs: (a, b) => growth(a, 'allocs') - growth(b, 'allocs'),
};

// New less old. Both are in the sum; old is apart as well.
function growth(row, measure) {
    const old = {bytes: 'oldBytes', allocs: 'oldAllocs', totalBytes: 'totalOldBytes', totalAllocs: 'totalOldAllocs'};
    return row[measure] - 2 * row[old[measure]];
}

function nameCell(row, extra) {
    return el('span', {class: 'name', title: row.full || row.name},
        el('i', {class: 'dot ' + (row.family || 'other'), 'aria-hidden': 'true'}),
        el('span', {class: 'name-text parts' + (row.family === 'own' ? ' own' : '')}, ...nameParts(row.name)),
        extra ? el('span', {class: 'faint'}, ' ' + extra) : null);
}

function columnsOf(app, table) {
    const whole = app.whole();
    const {total, what} = TABLES[table];
    if (app.diff())
        return diffColumns(app, table);
    const out = [{id: {sizes: 'size', lifetimes: 'fate'}[table] || 'name', title: what, grow: true,
                  cell: row => nameCell(row, extraOf(table, row))}];
    const noun = app.state.what === 'made' ? 'allocated' : app.noun();
    if (total)
        out.push(number('totalBytes', 'Total', row => formatBytes(row.totalBytes),
                        noun + ', here and in everything called from here'),
                 share('totalBytes', 'totalBytes', whole.bytes));
    out.push(number('bytes', total ? 'Self' : 'Bytes', row => formatBytes(row.bytes), 'bytes ' + noun + ', made here'));
    if (!total)
        out.push(share('bytes', 'bytes', whole.bytes));
    out.push(number('allocs', 'Objects', row => formatCount(row.allocs), 'objects ' + noun + ', made here'),
             minor(number('mean', 'Mean size', row => row.allocs ? formatBytes(row.bytes / row.allocs) : '',
                          'bytes of one object')));
    return out;
}

function extraOf(table, row) {
    if (table === 'lines')
        return row.method;
    if (table === 'sizes')
        return row.heap === 'small' ? '' : row.heap + ' heap';
    if (table === 'threads')
        return row.full;
    return row.module ? row.module.name : '';
}

function number(id, title, cell, hint) {
    return {id, title, numeric: true, width: '7.5em', cell, hint};
}

function minor(column) {
    return Object.assign(column, {minor: true});
}

function share(id, field, whole) {
    return {title: 'Share', numeric: true, width: '8.5em', minor: true,
            cell: row => el('span', {class: 'share'}, bar(whole ? row[field] / whole : 0, row.family),
                            el('span', {class: 'percent'}, formatShare(row[field], whole)))};
}

function diffColumns(app, table) {
    const {total, what} = TABLES[table];
    const delta = (field, measure) => row => {
        const value = growth(row, field);
        return el('span', {class: value > 0 ? 'grew' : value < 0 ? 'shrank' : 'faint'},
                  (value > 0 ? '▲ ' : value < 0 ? '▼ ' : '') + formatDelta(value, measure));
    };
    const out = [{id: 'name', title: what, grow: true, cell: row => nameCell(row, extraOf(table, row))},
                 number('grew', total ? 'Grew, self' : 'Grew', delta('bytes', 'bytes'), 'new less old')];
    if (total)
        out.push(number('totalGrew', 'Grew, total', delta('totalBytes', 'bytes'), 'with all that is called from here'));
    out.push(minor(number('old', 'Old', row => formatBytes(row.oldBytes))),
             minor(number('new', 'New', row => formatBytes(row.bytes - row.oldBytes))),
             minor(number('grewAllocs', 'Objects', delta('allocs', 'allocs'), 'new less old')));
    return out;
}

class TablesView {
    constructor(host, app) {
        this.app = app;
        this.bar = el('div', {class: 'toolbar'});
        this.filter = el('input', {type: 'search', class: 'filter', placeholder: 'Filter rows', value: app.state.rows,
                                   'aria-label': 'Filter rows', oninput: event => app.set({rows: event.target.value})});
        this.count = el('span', {class: 'faint', role: 'status'});
        this.host = el('div', {class: 'fill'});
        host.append(this.bar, this.host);
        this.update();
    }

    update() {
        const {app} = this;
        const {what} = app.state;
        const table = TABLES[app.state.table].has(app.log, what) ? app.state.table : 'types';
        if (table !== this.table || what !== this.what || !this.list) {
            this.table = table;
            this.what = what;
            if (this.list)
                this.list.dispose();
            replace(this.bar, choices('Table', Object.entries(TABLES).filter(([, t]) => t.has(app.log, what))
                .map(([id, t]) => [id, t.title]), table, id => app.set({table: id, sort: null, rows: ''}, true)),
                this.filter, this.count);
            replace(this.host);
            this.list = new List(this.host, TABLES[table].title, columnsOf(app, table), {
                sort: id => this.sort(id), open: row => this.open(row)});
        }
        this.list.set(columnsOf(app, table));
        if (document.activeElement !== this.filter)
            this.filter.value = app.state.rows;
        this.fill(table);
    }

    fill(table) {
        const {app} = this;
        const all = tableRows(app, table);
        const wanted = app.state.rows ? matcher(app.state.rows) : null;
        const texts = row => [row.name, row.full, row.method, row.module && row.module.name];
        const rows = wanted ? all.filter(row => texts(row).some(text => text && wanted(text))) : all;
        const sort = app.state.sort || defaultSort(app, table);
        this.list.show(sortRows(rows, sort), sort);
        const part = rows.reduce((sum, row) => sum + row.bytes, 0);
        this.count.textContent = `${formatCount(rows.length)} of ${formatCount(all.length)} rows, ` +
            `${formatBytes(part)} (${formatShare(part, app.whole().bytes)}) self`;
    }

    sort(id) {
        const {app} = this;
        const old = app.state.sort || defaultSort(app, this.table);
        app.set({sort: {id, down: old.id === id ? !old.down : id !== 'name' && id !== 'size'}});
    }

    open(row) {
        const {app} = this;
        if (this.table === 'types' && row.key >= 0)
            app.set({view: 'butterfly', subject: row.key}, true);
        else if (this.table === 'methods')
            app.set({view: 'butterfly', subject: app.log.places.name[row.place]}, true);
        else if (this.table === 'lines')
            app.showLine(row.place);
        else if (this.table === 'lifetimes')
            app.set({fate: app.state.fate === row.key ? -1 : row.key}, true);
        else if (this.table === 'threads')
            app.set({thread: app.state.thread === row.key ? -1 : row.key}, true);
        else if (this.table === 'namespaces' || this.table === 'modules')
            app.set({table: 'methods', rows: row.name[0] === '(' ? '' : row.name, sort: null}, true);
    }

    dispose() {
        this.list.dispose();
    }

    print(on) {
        return this.list.print(on);
    }
}

function defaultSort(app, table) {
    if (table === 'sizes')
        return {id: 'size', down: false};
    if (table === 'lifetimes')
        return {id: 'fate', down: false};
    if (app.diff())
        return {id: 'grew', down: true};
    const total = table === 'modules' || table === 'namespaces';
    return {id: total ? 'totalBytes' : app.state.measure, down: true};
}
