// Sums over cells: what weighs how much under the present filter. A filter is {from, to, thread,
// what, fate}: slices [from, to) or null, the number of a thread or -1, and which weight (live.js).

const NO_FILTER = Object.freeze({from: null, to: null, thread: -1, what: 'made', fate: -1});

// self.bytes[i] and self.allocs[i] of each node of the whole tree; old and new apart in a
// difference: self.oldBytes, self.oldAllocs are of the first side and contained in the others.
function selfWeights(log, filter) {
    if (filter.what !== 'made')
        return liveWeights(log, filter);
    const {cells, tree, live} = log;
    const out = {bytes: new Float64Array(tree.count), allocs: new Float64Array(tree.count)};
    const from = filter.from === null ? -1 : filter.from;
    const to = filter.from === null ? Infinity : filter.to;
    if (log.diff) {
        out.oldBytes = new Float64Array(tree.count);
        out.oldAllocs = new Float64Array(tree.count);
    }
    for (let node = 0; node < tree.count; node++)
        for (let i = cells.first[node]; i < cells.first[node + 1]; i++) {
            if (cells.slice[i] < from || cells.slice[i] >= to)
                continue;
            if (filter.thread >= 0 && cells.thread[i] !== filter.thread)
                continue;
            if (live && cells.side[i] >= SIDE.FATES)
                continue;
            out.bytes[node] += cells.bytes[i];
            out.allocs[node] += cells.allocs[i];
            if (log.diff && cells.side[i] === 0) {
                out.oldBytes[node] += cells.bytes[i];
                out.oldAllocs[node] += cells.allocs[i];
            }
        }
    return out;
}

// A node's own and what is below it.
function totalsOf(tree, self) {
    const total = Float64Array.from(self);
    for (let i = tree.count - 1; i > 0; i--)
        total[tree.parent[i]] += total[i];
    return total;
}

// Weights of a tree under a filter: self and total for each measure that the log has.
function weigh(tree, self) {
    const out = {self, total: {}};
    for (const measure in self)
        out.total[measure] = totalsOf(tree, self[measure]);
    return out;
}

// What a row of a table adds up.
function emptyRow(key) {
    return {key, bytes: 0, allocs: 0, oldBytes: 0, oldAllocs: 0,
            totalBytes: 0, totalAllocs: 0, totalOldBytes: 0, totalOldAllocs: 0};
}

// A node's sums, to the columns that are named; `old` ones are there in a comparison only.
function addTo(row, bytes, allocs, oldBytes, oldAllocs, sums, node) {
    row[bytes] += sums.bytes[node];
    row[allocs] += sums.allocs[node];
    if (sums.oldBytes) {
        row[oldBytes] += sums.oldBytes[node];
        row[oldAllocs] += sums.oldAllocs[node];
    }
}

function addSelf(row, self, node) {
    addTo(row, 'bytes', 'allocs', 'oldBytes', 'oldAllocs', self, node);
}

function addTotal(row, total, node) {
    addTo(row, 'totalBytes', 'totalAllocs', 'totalOldBytes', 'totalOldAllocs', total, node);
}

// Rows by what keyOf says of a place (a number below `count`, or -1: none). Self is what the frame
// allocates itself: the types right below it. A key that is on a stack twice counts once.
function sumByKey(log, weights, keyOf, count) {
    const {tree, places} = log;
    const rows = new Array(count);
    const covered = new Uint32Array(count);
    const keys = Int32Array.from({length: places.count}, (_, place) => keyOf(place));
    const rowOf = key => rows[key] || (rows[key] = emptyRow(key));
    for (let node = 0; node < tree.count; node++) {
        const key = keys[tree.place[node]];
        const isType = places.kind[tree.place[node]] === KIND.TYPE;
        if (key >= 0 && node >= covered[key]) {
            covered[key] = tree.end[node];
            addTotal(rowOf(key), weights.total, node);
        }
        const self = isType ? keys[tree.place[tree.parent[node]]] : key;
        if (self >= 0)
            addSelf(rowOf(self), weights.self, node);
    }
    return rows.filter(row => row && (row.bytes || row.totalBytes || row.allocs || row.totalAllocs));
}

function sumByType(log, weights) {
    const {tree, places} = log;
    const rows = new Map();
    for (let node = 0; node < tree.count; node++) {
        const place = tree.place[node];
        const key = places.kind[place] === KIND.TYPE ? places.name[place] : -1;
        if (key < 0 && !weights.self.allocs[node])
            continue;
        if (!rows.has(key))
            rows.set(key, emptyRow(key));
        addSelf(rows.get(key), weights.self, node);
    }
    return [...rows.values()].filter(row => row.allocs || row.bytes);
}

// Of cells that pass the filter, by what keyOf says of a cell.
function sumCells(log, filter, keyOf) {
    const {cells} = log;
    const rows = new Map();
    for (let i = 0; i < cells.count; i++) {
        if (!passes(log, filter, i))
            continue;
        const key = keyOf(i);
        let row = rows.get(key);
        if (!row)
            rows.set(key, row = emptyRow(key));
        row.bytes += cells.bytes[i];
        row.allocs += cells.allocs[i];
        if (log.diff && cells.side[i] === 0) {
            row.oldBytes += cells.bytes[i];
            row.oldAllocs += cells.allocs[i];
        }
    }
    return [...rows.values()];
}

function sumByThread(log, filter) {
    return sumCells(log, filter, i => log.cells.thread[i]);
}

function sumBySize(log, filter) {
    return sumCells(log, filter, i => log.cells.size[i]);
}

// Bytes and objects by slice, of one thread or all.
function sumBySlice(log, thread) {
    const {cells, head, live} = log;
    const bytes = new Float64Array(head.slices), allocs = new Float64Array(head.slices);
    for (let i = 0; i < cells.count; i++) {
        if (thread >= 0 && cells.thread[i] !== thread || live && cells.side[i] >= SIDE.FATES)
            continue;
        bytes[cells.slice[i]] += cells.bytes[i];
        allocs[cells.slice[i]] += cells.allocs[i];
    }
    return {bytes, allocs};
}

function passes(log, filter, cell) {
    const slice = log.cells.slice[cell];
    return (filter.from === null || (slice >= filter.from && slice < filter.to)) &&
        (filter.thread < 0 || log.cells.thread[cell] === filter.thread) &&
        !(log.live && log.cells.side[cell] >= SIDE.FATES);
}

// Sums of an estimate; null where all was counted.
function estimate(log, filter, measure) {
    const {cells} = log;
    const variances = cells[measure + 'Variance'];
    let value = 0, variance = 0, seen = 0;
    if (!log.head.estimated || filter.what !== 'made')
        return null;
    for (let i = 0; i < cells.count; i++) {
        if (!passes(log, filter, i))
            continue;
        value += cells[measure][i];
        variance += variances[i];
        seen += cells[measure + 'Seen'][i];
    }
    return {value, variance, seen};
}

// Of an estimate: {low, high}, between which the exact figure is in about 95 of 100 cases, as
// report/estimate.c has it; null where all was counted, or nothing is known of the error.
function interval(log, filter, measure) {
    if (filter.what !== 'made')
        return measure === 'bytes' ? liveInterval(log, filter) : null;
    const sums = estimate(log, filter, measure);
    return sums && !log.head.approximate ? scoreInterval(sums.value, sums.variance, sums.seen) : null;
}

function scoreInterval(value, variance, seen) {
    if (!(variance > 0))
        return {low: value, high: value};
    const z = 1.959964, k = value * value / variance;
    const middle = k + z * z / 2, reach = z * Math.sqrt(k + z * z / 4);
    return {low: Math.max(seen, value / k * (middle - reach)), high: value / k * (middle + reach)};
}

// Does an estimate rest on objects of more than one size, so that nobody knows how many there are?
// As report/estimate.c has it.
function mixes(log, filter) {
    const bytes = estimate(log, filter, 'bytes'), allocs = estimate(log, filter, 'allocs');
    if (!bytes || !(bytes.variance > 0) || !(allocs.variance > 0))
        return false;
    return allocs.value ** 2 / allocs.variance < 0.85 * bytes.value ** 2 / bytes.variance;
}

// What the nodes weigh together whose place is marked, or lies below one that is: each stack once.
function matchedTotal(tree, total, marked) {
    let sum = 0;
    for (let i = 0; i < tree.count;) {
        if (marked[tree.place[i]]) {
            sum += total[i];
            i = tree.end[i];
        } else {
            i++;
        }
    }
    return sum;
}

// Places whose short name, or file and line, has the text; `*` stands for any text.
function markPlaces(log, text) {
    const marked = new Uint8Array(log.places.count);
    const wanted = matcher(text);
    const names = log.head.names.map(wanted);
    for (let place = 1; place < log.places.count; place++)
        marked[place] = names[log.places.name[place]] ||
            (log.places.line[place] && wanted(log.where(place))) ? 1 : 0;
    return marked;
}

// Small letters match large ones; a capital letter only itself.
function matcher(text) {
    const exact = /[A-Z]/.test(text);
    const wanted = exact ? text : text.toLowerCase();
    if (wanted.includes('*')) {
        const pattern = wanted.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
        const expression = new RegExp(pattern.join('.*'), exact ? '' : 'i');
        return name => expression.test(name);
    }
    return exact ? name => name.includes(wanted) : name => name.toLowerCase().includes(wanted);
}
