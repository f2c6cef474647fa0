// The fate of objects in a log recorded with --live: amounts by which nodes can be weighted, instead of
// the allocated amounts. ../live.c makes the cells.

const SIDE = {FATES: 2, SURVIVED: 3, DIED: 4, PEAK: 5};
const FATE = {NEW: 0, ALIVE: 1, DIED_YOUNG: 2, DIED: 3};
const AGES = 16; // of each generation, behind FATE.DIED
const GENERATIONS = ['gen 0', 'gen 1', 'gen 2', 'large', 'pinned'];

// made: what was allocated; the others are those of `report --view`, in the same words. noun: of the
// amount; timed: the range of the time line chooses.
const WEIGHTS = {
    made: {title: 'Allocated', noun: 'allocated', timed: true},
    end: {title: 'Alive at the end', noun: 'not known dead at the end'},
    peak: {title: 'Peak', noun: 'alive at the peak'},
    alive: {title: 'Alive, grown', noun: 'alive', timed: true},
    temporary: {title: 'Temporary', noun: 'dead at the first collection'},
    lifetimes: {title: 'Lifetimes', noun: 'allocated before the last collection'},
};

// How often a cell counts: -1, 0 or 1. Alive is what has survived less what has died up to a moment.
function liveFactor(cells, i, {what, to, fate}) {
    const side = cells.side[i], is = cells.size[i];
    switch (what) {
    case 'end':
        return side === SIDE.FATES && is <= FATE.ALIVE ? 1 : 0;
    case 'peak':
        return side === SIDE.PEAK ? 1 : 0;
    case 'temporary':
        return side === SIDE.FATES && is === FATE.DIED_YOUNG ? 1 : 0;
    case 'lifetimes':
        return side === SIDE.FATES && is !== FATE.NEW && (fate < 0 || is === fate) ? 1 : 0;
    default:
        return to !== null && cells.slice[i] >= to ? 0 : side === SIDE.SURVIVED ? 1 : side === SIDE.DIED ? -1 : 0;
    }
}

// As selfWeights. Of what has grown both moments are in the sum, as both sides of a difference.
function liveWeights(log, filter) {
    const {cells, tree} = log;
    const out = {bytes: new Float64Array(tree.count), allocs: new Float64Array(tree.count)};
    const grown = hasGrown(filter);
    const before = {...filter, to: filter.from};
    if (grown) {
        out.oldBytes = new Float64Array(tree.count);
        out.oldAllocs = new Float64Array(tree.count);
    }
    for (let node = 0; node < tree.count; node++)
        for (let i = cells.first[node]; i < cells.first[node + 1]; i++) {
            const now = liveFactor(cells, i, filter), old = grown ? liveFactor(cells, i, before) : 0;
            out.bytes[node] += (now + old) * cells.bytes[i];
            out.allocs[node] += (now + old) * cells.allocs[i];
            if (old) {
                out.oldBytes[node] += old * cells.bytes[i];
                out.oldAllocs[node] += old * cells.allocs[i];
            }
        }
    return out;
}

// Whether it is of two moments: a range that does not begin at the beginning.
function hasGrown({what, from}) {
    return what === 'alive' && from > 0;
}

// What is alive at the end of each slice.
function aliveBySlice(log) {
    const {cells, head} = log;
    const bytes = new Float64Array(head.slices), allocs = new Float64Array(head.slices);
    const filter = {what: 'alive', to: null};
    for (let i = 0; i < cells.count; i++) {
        const factor = liveFactor(cells, i, filter);
        bytes[cells.slice[i]] += factor * cells.bytes[i];
        allocs[cells.slice[i]] += factor * cells.allocs[i];
    }
    return {bytes: addUp(bytes), allocs: addUp(allocs)};
}

// What of a cell the amount is (of), and what is taken off it (less): an amount that is a difference
// of two is as uncertain as both. Of what has grown `ends` are both moments, which is another way.
function liveParts(cells, i, filter, ends) {
    const side = cells.side[i], is = cells.size[i];
    if (filter.what === 'temporary')
        return side !== SIDE.FATES || is === FATE.NEW ? [0, 0] : [1, is === FATE.DIED_YOUNG ? 0 : 1];
    if (!hasGrown(filter))
        return [liveFactor(cells, i, filter), 0];
    if (ends)
        return [liveFactor(cells, i, filter), liveFactor(cells, i, {...filter, to: filter.from})];
    if (cells.slice[i] < filter.from || filter.to !== null && cells.slice[i] >= filter.to)
        return [0, 0];
    return side === SIDE.SURVIVED ? [1, 0] : side === SIDE.DIED ? [0, 1] : [0, 0];
}

// Of an estimate of bytes alive, in square means: as report/estimate.c has it.
function aliveVariance(bytes, allocs, mean) {
    if (!(bytes > 0))
        return 0;
    if (!(allocs > 0))
        return bytes * mean;
    const size = bytes / allocs / mean;
    let each = size <= 1 ? size * size / Math.expm1(size) : 0.91;
    if (allocs < 1.5 && size >= 1.58) {
        let one = size;
        for (let k = 0; k < 50; k++)
            one = size * -Math.expm1(-one);
        each = size * size * Math.exp(-one);
    }
    return allocs * each * mean * mean;
}

// Both parts of an amount, node by node: {of, less}, each {value, variance}.
function liveSpread(log, filter, ends) {
    const {cells, tree, head} = log;
    const of = {value: 0, variance: 0}, less = {value: 0, variance: 0};
    for (let node = 0; node < tree.count; node++) {
        const sums = [0, 0, 0, 0];
        for (let i = cells.first[node]; i < cells.first[node + 1]; i++) {
            const [plus, minus] = liveParts(cells, i, filter, ends);
            sums[0] += plus * cells.bytes[i];
            sums[1] += plus * cells.allocs[i];
            sums[2] += minus * cells.bytes[i];
            sums[3] += minus * cells.allocs[i];
        }
        of.value += sums[0];
        of.variance += aliveVariance(sums[0], sums[1], head.live.mean);
        less.value += sums[2];
        less.variance += aliveVariance(sums[2], sums[3], head.live.mean);
    }
    return {of, less};
}

// As interval, of what is alive and its kin; null where all objects were followed.
function liveInterval(log, filter) {
    if (!log.head.live || !log.head.live.mean)
        return null;
    let {of, less} = liveSpread(log, filter, false);
    if (hasGrown(filter)) {
        const ends = liveSpread(log, filter, true);
        if (ends.of.variance + ends.less.variance < of.variance + less.variance)
            ({of, less} = ends);
    }
    const value = of.value - less.value;
    const whole = scoreInterval(of.value, of.variance, 0), gone = scoreInterval(less.value, less.variance, 0);
    const low = value - Math.hypot(of.value - whole.low, gone.high - less.value);
    return {low: filter.what === 'alive' ? low : Math.max(0, low),
            high: of.value || less.value ? value + Math.hypot(whole.high - of.value, less.value - gone.low) : -Math.log(0.025) * log.head.live.mean};
}

// Rows of the table of lifetimes: what became of objects, in the order in which they died.
function sumByFate(log, filter) {
    const {cells} = log;
    const rows = new Map();
    for (let i = 0; i < cells.count; i++) {
        if (!liveFactor(cells, i, filter))
            continue;
        const fate = cells.size[i];
        if (!rows.has(fate))
            rows.set(fate, emptyRow(fate));
        rows.get(fate).bytes += cells.bytes[i];
        rows.get(fate).allocs += cells.allocs[i];
    }
    return [...rows.values()];
}

// What grows at each of several full collections, by place, most objects first: the nearest own frame
// above the objects, as in `report --view grown`; without one the nearest of a package, or any.
function growingPlaces(log) {
    const {grows} = log.head.live;
    const is = (place, least) => log.places.kind[place] === KIND.METHOD && log.owner[place] >= least;
    const near = grows.length ? [OWNER.OWN, OWNER.PACKAGE, OWNER.FRAMEWORK].map(least => nearestPlaces(log, place => is(place, least))) : [];
    const rows = new Map();
    for (const [node, looks, objects] of grows) {
        const place = Math.max(0, near.map(places => places[node]).find(found => found >= 0));
        const row = rows.get(place) || {place, looks, objects: 0};
        rows.set(place, {place, looks: Math.min(row.looks, looks), objects: row.objects + objects});
    }
    return [...rows.values()].sort((a, b) => b.objects - a.objects);
}

function growingText(log, {place, looks, objects}) {
    const where = place && log.where(place), method = place ? log.name(place) : 'code outside of every method';
    return `grows at each of ${looks} full collections: ${where ? where + ', ' : ''}+${formatCount(objects)} object${objects === 1 ? '' : 's'}, ${method}`;
}

function fateName(fate) {
    if (fate < FATE.DIED)
        return ['new', 'alive', 'died young'][fate];
    const age = (fate - FATE.DIED) % AGES;
    return `died in ${GENERATIONS[Math.floor((fate - FATE.DIED) / AGES)]}, having survived ` +
        (age === AGES - 1 ? age + ' collections or more' : age === 1 ? '1 collection' : age + ' collections');
}

function collectionText({gc, depth, t}) {
    return `collection ${gc} (generation ${depth}, at ${formatTime(t)})`;
}

// What the present weight is, and which collection it rests on: two or three sentences.
function definitionOf(log, {what, from, fate}) {
    const {live} = log.head;
    if (what === 'made')
        return '';
    const [is, unknown] = live.words[hasGrown({what, from}) ? 'grown' : what];
    const {last, peak, recordings} = live;
    const of = what === 'peak' ? peak : last;
    const rests = !of.gc ? 'No collection ran.' : recordings > 1 ? `A sum of ${recordings} recordings.`
        : (what === 'alive' ? 'The last was ' : what === 'lifetimes' || what === 'temporary' ? 'Up to ' : 'After ') + collectionText(of) + '.' +
            (of.depth >= 2 ? ' It was a full one.' : of.full ? ` The last full one before it was ${of.full}.` : ' No full one ran before it.');
    const how = what !== 'alive' || !log.hasTime ? ''
        : hasGrown({what, from}) ? ' Before and after: the ends of the range.' : ' Drag over the time line: what has grown between two moments.';
    const missed = !live.missed || what !== 'alive' && what !== 'peak' ? ''
        : ` The log has sums of at most one collection a second, and none of ${formatCount(live.missed)} others: ` +
            (what === 'peak' ? 'each may have left more.' : 'a moment is that of the last one that it has.');
    return `${is} ${unknown} ${rests}${missed}${how}${fate >= 0 && what === 'lifetimes' ? ' Only: ' + fateName(fate) + '.' : ''}` +
        (live.why ? ` Not exact: ${clean(live.why)}.` : '');
}
