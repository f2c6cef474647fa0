// What the views have in common: the log, the state, and what is made from both. Trees and sums are
// kept until what they are made of changes.

const KEEP_UNTIL = { // which kept things each change of state makes old; all that begin with a word
    from: ['w-', 'p-', 'r-', 'b-'], to: ['w-', 'p-', 'r-', 'b-'], thread: ['w-', 'p-', 'r-', 'b-'],
    what: ['w-', 'p-', 'r-', 'b-'], fate: ['w-', 'p-', 'r-', 'b-'],
    measure: ['p-', 'r-', 'b-'], fold: ['t-', 'p-', 'r-', 'b-'], lines: ['t-', 'p-', 'r-', 'b-'], subject: ['b-'],
};

class App {
    constructor(log) {
        this.log = log;
        this.kept = new Map();
        this.groups = new Groups(log);
        this.sources = new Sources(log);
        this.hasLines = log.places.line.some(line => line);
        this.state = fromAddress(location.hash.slice(1), log);
        this.marked = null;
        this.printing = false;
        this.mark();
    }

    has(key) {
        return this.kept.has(key);
    }

    keep(key, make) {
        if (!this.kept.has(key))
            this.kept.set(key, make());
        return this.kept.get(key);
    }

    // ---- State

    // push: a step that the browser's back button takes back.
    set(patch, push) {
        const changed = Object.keys(patch).filter(key => patch[key] !== this.state[key]);
        if (!changed.length)
            return;
        this.change(patch, changed);
        const address = toAddress(this.state);
        const url = address ? '#' + address : location.pathname + location.search;
        try {
            history[push ? 'pushState' : 'replaceState'](null, '', url);
        } catch {
            location.replace('#' + address); // a browser that forbids it for files
        }
        this.show(changed);
    }

    change(patch, changed) {
        Object.assign(this.state, patch);
        for (const key of changed)
            for (const prefix of KEEP_UNTIL[key] || [])
                for (const kept of [...this.kept.keys()])
                    if (kept.startsWith(prefix))
                        this.kept.delete(kept);
        if (changed.includes('query'))
            this.mark();
    }

    // The address was changed by hand, or by going back.
    follow() {
        const state = fromAddress(location.hash.slice(1), this.log);
        const changed = Object.keys(state).filter(key => state[key] !== this.state[key] && key !== 'sort');
        this.change(state, changed);
        this.show(changed);
    }

    mark() {
        this.marked = this.state.query ? markPlaces(this.log, this.state.query) : null;
        if (this.marked) {
            const groups = new Uint8Array(this.marked.length + 4096);
            groups.set(this.marked);
            const wanted = matcher(this.state.query);
            this.groups.names.forEach((name, i) => groups[this.marked.length + i] = wanted(name) ? 1 : 0);
            this.marked = groups;
        }
    }

    // ---- Sums and trees

    filter() {
        const {from, to, thread, what, fate} = this.state;
        return from === null && thread < 0 && what === 'made' ? NO_FILTER : {from, to, thread, what, fate};
    }

    // Whether two amounts are compared: of two logs, or of two moments.
    diff() {
        return this.log.diff || hasGrown(this.state);
    }

    // What the amounts are of.
    noun() {
        return WEIGHTS[this.state.what].noun;
    }

    estimated() {
        const {estimated, live} = this.log.head;
        return this.state.what === 'made' ? estimated : !!(live && live.mean);
    }

    bySlice() {
        return this.state.what === 'alive' ? aliveBySlice(this.log) : sumBySlice(this.log, this.state.thread);
    }

    weights() {
        return this.keep('w-weights', () => weigh(this.log.tree, selfWeights(this.log, this.filter())));
    }

    // What all of it weighs.
    whole() {
        const {total} = this.weights();
        return Object.fromEntries(Object.keys(total).map(measure => [measure, total[measure][0]]));
    }

    picture() {
        const {fold, lines, measure} = this.state;
        return this.keep('p-picture', () => {
            if (!fold && (lines || !this.hasLines))
                return new Whole(this.log.tree, this.weights(), measure, lines);
            const tree = this.keep('t-derived', () => derive(this.log, {fold, lines}, this.groups));
            return new Whole(tree, weigh(tree, carry(tree, this.weights().self)), measure, lines);
        });
    }

    keys() {
        return this.keep('keys-methods-of-places', () => methodPlaces(this.log));
    }

    reversed() {
        const {fold, lines, measure} = this.state;
        return this.keep('r-reversed', () => new Merged(this.log, this.weights(),
            leaves(this.weights().self, measure), CALLERS, {
                measure, fold, keys: lines ? this.keep('keys-none', () =>
                    Uint32Array.from({length: this.log.places.count}, (_, place) => place)) : this.keys(),
                groups: this.groups, firstIsNode: true, self: true, place: 0, byLine: lines}));
    }

    // Callers and callees of a name: of a type only callers.
    butterfly(subject) {
        const {measure, fold} = this.state;
        return this.keep('b-' + subject, () => {
            const {log} = this;
            const marked = new Uint8Array(log.places.count);
            let place = 0;
            for (let i = log.places.count - 1; i > 0; i--)
                if (log.places.name[i] === subject)
                    marked[place = i] = 1;
            const nodes = outermost(log.tree, marked);
            const options = {measure, keys: this.keys(), groups: this.groups, place: this.keys()[place]};
            return {place, callers: new Merged(log, this.weights(), nodes, CALLERS, {...options, fold}),
                    callees: log.isType(place) ? null
                        : new Merged(log, this.weights(), nodes, CALLEES, {...options, fold: false})};
        });
    }

    methodRows() {
        return this.keep('w-methods', () => tableRows(this, 'methods'));
    }

    // Names of methods and types, the heaviest first.
    subjects() {
        return this.keep('w-subjects', () => [...this.methodRows().map(row => [row.totalBytes, this.log.places.name[row.place]]),
            ...tableRows(this, 'types').filter(row => row.key >= 0).map(row => [row.bytes, row.key])]
            .sort((a, b) => b[0] - a[0]).map(([, name]) => name));
    }

    heaviestMethod() {
        const own = this.nearestRows().rows.find(row => row.place !== undefined);
        if (own)
            return this.log.places.name[own.place];
        return this.subjects()[0] || 0;
    }

    // Rows that answer where it is allocated: the nearest own frame above each object gets it.
    nearestRows() {
        return this.keep('w-nearest-' + this.state.measure, () => nearestOwn(this));
    }

    // The same one step nearer to the objects, where packages allocate a good part of them.
    packageRows() {
        return this.keep('w-packages-' + this.state.measure, () => {
            const {log} = this;
            if (!log.hasOwn)
                return null;
            const rows = nearestSums(this, place => log.places.kind[place] === KIND.METHOD && log.owner[place] !== OWNER.FRAMEWORK);
            const inPackages = rows.filter(row => row.key >= 0 && log.owner[row.key] === OWNER.PACKAGE).reduce((sum, row) => sum + row.bytes, 0);
            return inPackages < this.whole().bytes / 10 ? null
                : nearestNamed(this, rows, 'Own code and packages', 'the nearest such frame above each object');
        });
    }

    ownTotal() {
        return this.keep('w-own', () => {
            const marked = Uint8Array.from(this.log.owner, (owner, place) =>
                owner === OWNER.OWN && this.log.places.kind[place] === KIND.METHOD ? 1 : 0);
            const {total} = this.weights();
            return {bytes: matchedTotal(this.log.tree, total.bytes, marked)};
        });
    }

    seconds() {
        const {head} = this.log;
        const {from, to} = this.state;
        if (from === null)
            return head.duration_ns / 1e9;
        return (Math.min(to * head.slice_ns, head.duration_ns) - from * head.slice_ns) / 1e9;
    }

    // ---- Names and numbers of nodes

    label(tree, node) {
        const place = tree.place(node);
        return labelOf(this.log, this.groups, place, tree.frames(node));
    }

    fullLabel(tree, node) {
        const place = tree.place(node);
        return place < this.log.places.count && place ? this.log.fullName(place) : this.label(tree, node);
    }

    // "Basket.cs:12", with its folder; without the line where all lines of a method are one node.
    where(tree, place) {
        const {log} = this;
        if (place >= log.places.count || !log.places.line[place])
            return '';
        return log.file(place) + (tree.byLine ? log.lineText(place) : '');
    }

    amount(tree, node) {
        return formatMeasure(tree.weight(node), this.state.measure);
    }

    // What it weighed before, and weighs now.
    changed(tree, node) {
        const old = tree.value(node, this.state.measure === 'bytes' ? 'oldBytes' : 'oldAllocs');
        return [old, tree.weight(node) - old];
    }

    changeText(tree, node) {
        const [before, now] = this.changed(tree, node);
        return now > before ? '▲' + formatDelta(now - before, this.state.measure)
            : now < before ? '▼' + formatDelta(now - before, this.state.measure) : '=';
    }

    describe(tree, node) {
        const place = tree.place(node);
        const {log} = this;
        const whole = this.whole()[this.state.measure];
        const known = place > 0 && place < log.places.count;
        const where = this.where(tree, place);
        const module = known && log.places.kind[place] === KIND.METHOD ? log.module(place).name : '';
        const self = known ? this.selfOf(tree, node) : 0;
        const numbers = [`${formatBytes(tree.value(node, 'bytes'))} in ${formatCount(tree.value(node, 'allocs'))} objects`,
                         formatShare(tree.weight(node), whole) + ' of all'];
        if (self > 0 && self < tree.weight(node))
            numbers.push('self ' + formatMeasure(self, this.state.measure));
        if (this.diff())
            numbers.push(...this.describeChange(tree, node));
        return [el('b', {class: 'full-name'}, this.fullLabel(tree, node)),
                where || module ? el('span', {class: 'faint'}, [where, module].filter(text => text).join('  ·  ')) : null,
                el('span', {}, numbers.join('  ·  '))].filter(part => part);
    }

    // What a frame allocates itself: the types right below it.
    selfOf(tree, node) {
        if (tree instanceof Merged)
            return 0;
        let sum = tree.self(node);
        for (const child of tree.children(node))
            if (this.log.isType(tree.place(child)))
                sum += tree.weight(child);
        return sum;
    }

    describeChange(tree, node) {
        const [before, now] = this.changed(tree, node);
        const {measure} = this.state;
        return [`${formatMeasure(before, measure)} → ${formatMeasure(now, measure)} (${this.changeText(tree, node)})`];
    }

    matchText() {
        if (!this.marked)
            return '';
        const {measure} = this.state;
        const whole = this.whole()[measure];
        const matched = matchedTotal(this.log.tree, this.weights().total[measure], this.marked);
        return `matched: ${formatMeasure(matched, measure)}, ${formatShare(matched, whole)}`;
    }

    // ---- What is done with a place or a node

    canOpen(place) {
        const {kind, count} = this.log.places;
        return place > 0 && place < count && (kind[place] === KIND.METHOD || kind[place] === KIND.TYPE);
    }

    openPlace(place) {
        this.set({view: 'butterfly', subject: this.log.places.name[place]}, true);
    }

    showLine(place) {
        if (this.sources.has(place))
            this.set({view: 'source', file: this.log.places.file[place], line: this.log.places.line[place]}, true);
        else
            this.openPlace(place);
    }

    // As text, innermost frame first.
    async copyStack(tree, node) {
        const line = lineage(tree, node).filter(at => tree.place(at) > 0);
        const merged = tree instanceof Merged && tree.direction === CALLERS;
        const order = merged ? line : line.reverse();
        const text = order.map(at => {
            const place = tree.place(at);
            const where = this.where(tree, place).replace(/:(\d+)(-\d+)?$/, ':line $1');
            return this.log.isType(place) ? this.fullLabel(tree, at)
                : '   at ' + this.fullLabel(tree, at) + (where ? ' in ' + where : '');
        }).join('\n');
        this.copied = text;
        this.say(await copyText(text) ? `Copied ${order.length} frames.` : 'The browser does not let pages copy.');
    }

    theme() {
        return THEMES[this.dark() ? 'dark' : 'light'];
    }

    dark() {
        if (this.printing)
            return false;
        const chosen = document.documentElement.dataset.theme;
        return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    }

    fills() {
        return this.keep('fills', () => new Fills(this.log, this.groups));
    }
}

// Each object counts for a line of own code by the rule of model/near.h; what has no own frame has a
// row, too. Where own code makes less than 1 % and no line of it is known, code that is not of the
// framework stands in for it, then any.
function nearestOwn(app) {
    const {log} = app;
    const {places} = log;
    const whole = app.whole().bytes;
    const kinds = Uint8Array.from({length: places.count}, (_, place) =>
        places.kind[place] === KIND.METHOD ? log.owner[place] : 255);
    const byOwn = nearestSums(app, place => kinds[place] === OWNER.OWN);
    const found = byOwn.filter(row => row.key >= 0);
    const own = found.reduce((sum, row) => sum + row.bytes, 0);
    if (own >= whole / 100 || found.some(row => places.line[row.key]))
        return nearestNamed(app, byOwn, 'Own code', 'the nearest own frame above each object');
    const few = own ? 'own code has less than 1 % of the bytes: ' : '';
    const byPackage = nearestSums(app, place => kinds[place] === OWNER.OWN || kinds[place] === OWNER.PACKAGE);
    if (byPackage.some(row => row.key >= 0))
        return nearestNamed(app, byPackage, 'Nearest code that is not framework', few + 'the nearest such frame above each object');
    return nearestNamed(app, nearestSums(app, place => kinds[place] !== 255), 'Methods', few + 'that allocate');
}

function nearestNamed(app, rows, title, hint) {
    const {log} = app;
    for (const row of rows) {
        const place = row.key;
        if (place < 0) {
            Object.assign(row, {name: title === 'Own code' ? '(no own frame)' : '(no such frame)', family: 'framework',
                                full: 'made on stacks without such a frame: all methods'});
            continue;
        }
        row.place = place;
        const where = log.where(place);
        Object.assign(row, {name: where || (app.hasLines ? log.nameUnlined(place) : log.name(place)), method: where ? log.name(place) : '', family: familyOf(log, place),
                            full: (where ? log.file(place) + log.lineText(place) + '  ' : '') + log.fullName(place)});
    }
    return {title: app.hasLines ? title + ': lines' : title, hint, table: app.hasLines ? 'lines' : 'methods',
            rows: rows.sort((a, b) => app.state.measure === 'bytes' ? b.bytes - a.bytes : b.allocs - a.allocs)};
}

function nearestSums(app, wanted) {
    const {tree, places} = app.log;
    const {self} = app.weights();
    const near = nearestPlaces(app.log, wanted);
    const sums = Object.keys(self).map(measure => [measure, self[measure], new Float64Array(places.count + 1)]);
    for (let node = 0; node < tree.count; node++)
        if (self.allocs[node])
            for (const [, from, to] of sums)
                to[near[node] >= 0 ? near[node] : places.count] += from[node];
    return rowsOfPlaces(sums, places.count);
}

// By node: the place of the nearest wanted frame, it or a caller, as in model/near.c; -1 if none is.
function nearestPlaces(log, wanted) {
    const {tree, places} = log;
    const is = Uint8Array.from({length: places.count}, (_, place) =>
        !wanted(place) ? 0 : places.kind[place] === KIND.METHOD && log.nameLined[places.name[place]] ? 2 : 1);
    const near = new Int32Array(tree.count);
    near[0] = -1;
    for (let node = 1; node < tree.count; node++) {
        const place = tree.place[node], outer = near[tree.parent[node]];
        const keeps = is[place] === 2 || is[place] === 1 && !(outer >= 0 && is[outer] === 2);
        near[node] = keeps ? place : outer;
    }
    return near;
}

// A row of each place with objects; what is of no place stands behind them, and has key -1.
function rowsOfPlaces(sums, count) {
    const rows = [];
    const objects = sums.find(([measure]) => measure === 'allocs')[2];
    for (let place = 0; place <= count; place++) {
        if (!objects[place])
            continue;
        const row = emptyRow(place < count ? place : -1);
        for (const [measure, , to] of sums)
            row[measure] = to[place];
        rows.push(row);
    }
    for (const row of rows) {
        row.totalBytes = row.bytes;
        row.totalAllocs = row.allocs;
        row.totalOldBytes = row.oldBytes;
        row.totalOldAllocs = row.oldAllocs;
    }
    return rows;
}
