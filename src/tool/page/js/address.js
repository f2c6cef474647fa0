// The state of the page in its address, behind the #. Only what is not as at the beginning.

const START = Object.freeze({
    view: 'overview', mode: 'flame', zoom: 0, measure: 'bytes', fold: true, lines: false, query: '',
    from: null, to: null, thread: -1, subject: -1, table: 'types', tree: 'down', sort: null, rows: '',
    file: -1, line: 0, what: 'made', fate: -1, held: 'types', holder: -1,
});

const VIEWS = ['overview', 'flame', 'butterfly', 'tree', 'tables', 'source', 'heap'];

function weightsOf(log) {
    return log.live ? Object.keys(WEIGHTS) : ['made'];
}

function toAddress(state) {
    const out = new URLSearchParams();
    for (const key of Object.keys(START)) {
        const value = state[key];
        if (key === 'sort' ? !value : value === START[key])
            continue;
        if (key === 'sort')
            out.set('sort', (value.down ? '-' : '') + value.id);
        else if (key !== 'to' && key !== 'from')
            out.set(key, String(value));
    }
    if (state.from !== null)
        out.set('range', `${state.from}-${state.to}`);
    return out.toString();
}

// Ignores everything that is not a valid state: the address may have been typed by hand.
function fromAddress(text, log) {
    const given = new URLSearchParams(text);
    const state = {...START};
    const oneOf = (key, words) => {
        if (words.includes(given.get(key)))
            state[key] = given.get(key);
    };
    const whole = (key, limit) => {
        const value = Number(given.get(key) ?? NaN);
        if (Number.isInteger(value) && value >= 0 && value < limit)
            state[key] = value;
    };
    oneOf('view', VIEWS);
    oneOf('mode', ['flame', 'icicle', 'reversed']);
    oneOf('measure', ['bytes', 'allocs']);
    oneOf('table', Object.keys(TABLES));
    oneOf('tree', ['down', 'up']);
    oneOf('what', weightsOf(log));
    oneOf('held', Object.keys(HELD));
    whole('holder', 0x7fffffff);
    whole('fate', FATE.DIED + GENERATIONS.length * AGES);
    whole('zoom', 0x7fffffff);
    whole('thread', log.head.threads.length);
    whole('subject', log.head.names.length);
    whole('file', log.head.files.length);
    whole('line', 0x7fffffff);
    for (const key of ['fold', 'lines'])
        if (given.has(key))
            state[key] = given.get(key) === 'true';
    for (const key of ['query', 'rows'])
        state[key] = (given.get(key) || '').slice(0, 200);
    const sort = (given.get('sort') || '').match(/^(-?)([a-zA-Z]+)$/);
    if (sort && Object.hasOwn(SORTS, sort[2]))
        state.sort = {id: sort[2], down: sort[1] === '-'};
    const range = (given.get('range') || '').match(/^(\d{1,9})-(\d{1,9})$/);
    if (range && Number(range[1]) < Number(range[2]) && Number(range[2]) <= log.head.slices)
        Object.assign(state, {from: Number(range[1]), to: Number(range[2])});
    return state;
}
