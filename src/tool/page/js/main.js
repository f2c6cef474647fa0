// The page around the views: its head, search, filters, keys; and how it begins.

const VIEW_CLASSES = {overview: OverviewView, flame: FlameView, butterfly: ButterflyView, tree: TreeView,
                      tables: TablesView, source: SourceView, heap: HeapView};
const VIEW_TITLES = {overview: 'Overview', flame: 'Flame graph', butterfly: 'Callers', tree: 'Tree',
                     tables: 'Tables', source: 'Source', heap: 'Retained'};

class Page {
    constructor(app) {
        this.app = app;
        this.byId = id => document.getElementById(id);
        app.show = changed => this.show(changed);
        app.say = text => this.say(text);
        this.help = makeHelp();
        this.makeHead();
        if (app.log.hasTime)
            this.time = new TimeLine(this.byId('time'), app);
        this.byId('time').hidden = !app.log.hasTime;
        addEventListener('keydown', event => this.key(event));
        addEventListener('popstate', () => app.follow());
        addEventListener('hashchange', () => app.follow());
        addEventListener('beforeprint', () => this.print(true));
        addEventListener('afterprint', () => this.print(false));
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.repaint());
        this.show(Object.keys(START));
    }

    // ---- Head

    makeHead() {
        const {app} = this;
        const {head} = app.log;
        document.title = clean(head.title) + ' – shadowtrace';
        this.byId('title').textContent = clean(head.title);
        this.drawFlags();
        this.tabs = VIEWS.filter(view => this.has(view)).map((view, i) =>
            button(VIEW_TITLES[view], `key ${i + 1}`, () => app.set({view}, true), {'data-view': view}));
        replace(this.byId('tabs'), ...this.tabs);
        const search = this.search = this.byId('search');
        search.value = app.state.query;
        search.addEventListener('input', () => app.set({query: search.value}));
        search.addEventListener('keydown', event => this.searchKey(event));
        replace(this.byId('weights'), ...this.weightChoice());
        replace(this.byId('threads'), ...this.threadChoice());
        this.byId('theme').addEventListener('click', () => this.switchTheme());
        this.byId('help').addEventListener('click', () => this.help.showModal());
    }

    // What must not be overlooked: that a log is not whole, what grows, that numbers are estimates.
    drawFlags() {
        const {head} = this.app.log;
        const flags = [];
        head.sides.forEach((side, i) => {
            const whose = head.sides.length > 1 ? (i ? 'New: ' : 'Old: ') : '';
            if (!side.complete)
                flags.push(el('details', {class: 'flag warn'}, el('summary', {}, '⚠ ' + whose + 'log is not complete'),
                    el('ul', {}, ...side.gaps.map(gap => el('li', {}, clean(gap))))));
            if (side.sampling)
                flags.push(el('details', {class: 'flag warn'}, el('summary', {}, '≈ ' + whose + 'since sampling began'),
                    el('p', {}, clean(side.sampling))));
        });
        if (this.app.log.live)
            flags.push(...this.growthFlags());
        if (head.approximate)
            flags.push(el('span', {class: 'flag', title: 'from ticks of the runtime, which are not random: nothing has an interval'}, '≈ approximate'));
        else if (head.estimated)
            flags.push(el('span', {class: 'flag', title: (head.sampler === 'runtime' ? 'from samples of the runtime' : 'a sample was recorded') +
                '; intervals hold 95 of 100 times'}, '≈ estimated'));
        if (head.filters.length)
            flags.push(el('span', {class: 'flag', title: 'the page was made of a part of the log'},
                          'only ' + head.filters.map(clean).join(', ')));
        if (!this.app.log.hasTime)
            flags.push(el('span', {class: 'flag faint', title: 'recorded with --log sites, or within one slice of time'}, 'no time line'));
        replace(this.byId('flags'), ...flags);
    }

    // The first place in full; if there are more, all of them after it.
    growthFlags() {
        const {app} = this;
        const places = growingPlaces(app.log);
        const [first, ...more] = places.map(row => '⚠ ' + growingText(app.log, row));
        if (!first)
            return [];
        if (!more.length)
            return [el('span', {class: 'flag warn'}, first)];
        return [el('details', {class: 'flag warn'}, el('summary', {}, `${first}; and ${more.length} more`),
            el('ul', {}, ...places.map(row => el('li', {}, growingText(app.log, row)))))];
    }

    threadChoice() {
        const {app} = this;
        const {threads} = app.log.head;
        if (threads.length < 2)
            return [];
        const sums = new Map(sumByThread(app.log, NO_FILTER).map(row => [row.key, row.bytes]));
        const order = threads.map((_, i) => i).filter(i => sums.has(i)).sort((a, b) => sums.get(b) - sums.get(a));
        return [this.threads = el('select', {'aria-label': 'Thread', onchange: event =>
            app.set({thread: Number(event.target.value)}, true)},
            el('option', {value: '-1'}, 'All threads'),
            ...order.map(i => el('option', {value: String(i)},
                `${threads[i].name || 'thread ' + threads[i].id}  ${formatBytes(sums.get(i))}`)))];
    }

    weightChoice() {
        const {app} = this;
        if (!app.log.live)
            return [];
        return [this.weight = el('select', {'aria-label': 'What is shown of objects', onchange: event =>
            app.set({what: event.target.value, fate: -1, zoom: 0}, true)},
            ...weightsOf(app.log).map(what => el('option', {value: what}, WEIGHTS[what].title)))];
    }

    // Which weight, and what it means; without time where it has none.
    showWeight() {
        const {app} = this;
        const {state, log} = app;
        if (this.weight)
            this.weight.value = state.what;
        const text = definitionOf(log, state);
        this.byId('meaning').textContent = text;
        this.byId('meaning').hidden = !text;
        this.byId('time').hidden = !log.hasTime || !WEIGHTS[state.what].timed;
    }

    // ---- Views

    show(changed) {
        const {app} = this;
        const {view} = app.state;
        for (const tab of this.tabs) {
            if (tab.dataset.view === view)
                tab.setAttribute('aria-current', 'page');
            else
                tab.removeAttribute('aria-current');
        }
        const whole = app.whole();
        const what = app.log.live ? ' ' + app.noun() : '';
        this.byId('total').textContent = app.diff() ? '' :
            `${app.estimated() ? '≈ ' : ''}${formatBytes(whole.bytes)} · ${formatObjects(whole.allocs)} objects${what}`;
        this.showWeight();
        replace(this.byId('measure'), choices('Measure', [['bytes', 'Bytes'], ['allocs', 'Objects']], app.state.measure,
                                              measure => app.set({measure}, true)));
        if (this.threads) {
            this.threads.value = String(app.state.thread);
            this.threads.disabled = app.state.what !== 'made'; // it is known by code, not by thread
        }
        if (document.activeElement !== this.search)
            this.search.value = app.state.query;
        this.byId('matched').textContent = app.matchText();
        if (this.time && (changed.some(key => ['from', 'to', 'thread', 'measure', 'what'].includes(key)) || !this.view))
            this.time.update();
        this.showView(view);
    }

    // Source and heap only if the page was made with them.
    has(view) {
        const {head} = this.app.log;
        return view === 'source' ? head.sources.length > 0 : view !== 'heap' || Boolean(head.heap);
    }

    showView(view) {
        const shown = this.has(view) ? view : 'overview';
        if (shown === this.shown) {
            this.view.update();
            return;
        }
        if (this.view && this.view.dispose)
            this.view.dispose();
        this.shown = shown;
        const host = this.byId('view');
        host.className = 'view-' + shown;
        replace(host);
        this.view = new VIEW_CLASSES[shown](host, this.app);
    }

    repaint() {
        if (this.time)
            this.time.draw();
        this.view.update();
    }

    // Paper is light, and has no controls that tell what is chosen.
    print(on) {
        this.app.printing = on;
        const cut = this.view.print ? this.view.print(on) : [];
        this.byId('printed').textContent = on ? [...chosenText(this.app, this.shown), ...cut].join('; ') : '';
        for (const flag of this.byId('flags').querySelectorAll('details'))
            flag.open = on;
        if (this.time)
            this.time.draw();
    }

    switchTheme() {
        const root = document.documentElement;
        root.dataset.theme = this.app.dark() ? 'light' : 'dark';
        this.repaint();
    }

    say(text) {
        const said = this.byId('said');
        said.textContent = text;
        said.classList.add('shown');
        clearTimeout(this.saidFor);
        this.saidFor = setTimeout(() => said.classList.remove('shown'), 3000);
    }

    // ---- Keys

    searchKey(event) {
        if (event.key === 'Escape') {
            this.search.value = '';
            this.app.set({query: ''});
            this.search.blur();
        } else if (event.key === 'Enter') {
            this.app.set({view: ['overview', 'source', 'butterfly'].includes(this.app.state.view) ? 'flame' : this.app.state.view}, true);
            this.search.blur();
        } else {
            return;
        }
        take(event);
    }

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest('input, select, textarea, dialog'))
            return;
        const {app} = this;
        const {state} = app;
        const number = '1234567'.indexOf(event.key);
        if (event.key === '/')
            this.search.focus();
        else if (event.key === '?')
            this.help.showModal();
        else if (number >= 0 && this.tabs[number])
            app.set({view: this.tabs[number].dataset.view}, true);
        else if (event.key === 'b')
            app.set({measure: state.measure === 'bytes' ? 'allocs' : 'bytes'}, true);
        else if (event.key === 'f')
            app.set({fold: !state.fold, zoom: 0}, true);
        else if (event.key === 'Escape')
            app.set(state.zoom ? {zoom: 0} : {query: '', from: null, to: null}, true);
        else if (event.key === 'c' && this.view.flame)
            app.copyStack(this.view.tree(), Math.max(0, this.view.flame.selected));
        else
            return;
        event.preventDefault();
    }
}

// Names were written by others: what would change how a line is shown is taken out once.
function cleanNames(head) {
    head.names = head.names.map(clean);
    head.full = head.full.map(clean);
    head.files = head.files.map(clean);
    for (const list of [head.modules, head.threads])
        for (const entry of list)
            entry.name = clean(entry.name || '');
    for (const mark of head.marks)
        mark.text = clean(mark.text);
    if (head.heap)
        cleanHeap(head.heap);
    for (const source of head.sources)
        source.lines = source.lines.map(([number, text]) => [number, clean(text.replace(/\t/g, '    '))]);
}

// For tests, and for the curious at the browser's console: what the page shows, to be read.
function readable(app, page, times) {
    return Object.freeze({
        head: app.log.head,
        times,
        state: () => ({...app.state}),
        set: patch => app.set(patch, true),
        total: () => app.whole(),
        rows: table => tableRows(app, table).map(row => ({...row, module: undefined, place: undefined})),
        nearest: () => app.nearestRows().rows.map(row => ({...row})),
        picture: () => summary(app.picture()),
        reversed: () => summary(app.reversed()),
        butterfly: name => {
            const {callers, callees} = app.butterfly(app.log.head.names.indexOf(name));
            return {callers: summary(callers), callees: callees && summary(callees)};
        },
        slices: () => app.bySlice(),
        meaning: () => definitionOf(app.log, app.state),
        interval: measure => interval(app.log, app.filter(), measure),
        matched: () => app.matchText(),
        boxes: () => page.view.flame ? page.view.flame.boxes.rows.map(row => row.node.length) : null,
        box: (depth, i) => boxOf(app, page.view.flame, depth, i),
        selected: () => page.view.flame && page.view.flame.selected >= 0
            ? app.fullLabel(page.view.flame.tree, page.view.flame.selected) : null,
        copied: () => app.copied,
        redraw: () => {
            page.view.flame.lay();
            page.view.flame.draw();
        },
        nodes: () => app.log.tree.count,
        cells: () => app.log.cells.count,
    });
}

function boxOf(app, flame, depth, i) {
    const row = flame.boxes.rows[depth];
    const edge = flame.canvas.getBoundingClientRect();
    return {name: app.label(flame.tree, row.node[i]), node: row.node[i], x: edge.left + row.x[i] + row.width[i] / 2,
            y: edge.top + flame.topOf(depth) + ROW / 2, width: row.width[i]};
}

function summary(tree) {
    return {bytes: tree.value(tree.root(), 'bytes'), allocs: tree.value(tree.root(), 'allocs'),
            children: tree.children(tree.root()).map(node => tree.weight(node))};
}

async function begin() {
    const started = performance.now();
    const said = document.getElementById('loading');
    try {
        const packed = bytesOfBase64(document.getElementById('data').textContent.trim());
        const log = new Log(await unpacked(packed));
        document.getElementById('data').remove();
        cleanNames(log.head);
        const decoded = performance.now();
        const app = new App(log);
        said.remove();
        document.body.classList.remove('starting');
        const page = new Page(app);
        const now = performance.now(); // since the browser began to load the file
        const times = {decoded: decoded - started, ready: now - started, shown: now};
        window.shadowtrace = readable(app, page, times);
    } catch (error) {
        said.textContent = 'This page cannot be shown: ' + error.message +
            '. It needs a browser of 2023 or later (DecompressionStream), and a file that was copied whole.';
        throw error;
    }
}

begin();
