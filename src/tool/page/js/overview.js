// The first screen: where it is allocated, of what types, and by which path.

const OVERVIEW_ROWS = 8;

class OverviewView {
    constructor(host, app) {
        this.app = app;
        this.host = el('div', {class: 'overview'});
        host.append(el('div', {class: 'fill scroll'}, this.host));
        this.update();
    }

    update() {
        const {app} = this;
        replace(this.host, this.facts(), ...(app.diff() ? [this.change()] : this.lines()), this.types(), this.path(), this.more());
    }

    facts() {
        const {app} = this;
        const whole = app.whole();
        const near = measure => {
            const between = interval(app.log, app.filter(), measure);
            return between ? `, ${formatMeasure(between.low, measure)} to ${formatMeasure(between.high, measure)}` : '';
        };
        const fact = (value, what, hint) => el('div', {class: 'fact', title: hint || ''}, el('b', {}, value), el('span', {}, what));
        if (app.diff())
            return el('section', {class: 'facts'}, ...this.diffFacts(fact, whole, near));
        const seconds = app.seconds();
        return el('section', {class: 'facts'},
            fact((app.estimated() ? '≈ ' : '') + formatBytes(whole.bytes),
                 app.noun() + (app.estimated() ? ', estimated' : '') + near('bytes'), formatCount(whole.bytes) + ' bytes'),
            mixes(app.log, app.filter())
                ? fact('–', 'objects', 'of several sizes: samples of bytes say too little of their number')
                : fact((app.estimated() ? '≈ ' : '') + formatObjects(whole.allocs), 'objects' + near('allocs'), formatCount(whole.allocs)),
            ...this.beforeSampling(fact),
            seconds && app.state.what === 'made' ? fact(formatBytes(whole.bytes / seconds) + '/s', 'over ' + formatTime(seconds * 1e9)) : null,
            fact(formatBytes(whole.allocs ? whole.bytes / whole.allocs : 0), 'mean size'),
            app.log.hasOwn ? fact(formatShare(app.ownTotal().bytes, whole.bytes), 'under own code',
                                  'made by own code, or by what it calls') : null);
    }

    // What was allocated before samples counted is in none of the other figures.
    beforeSampling(fact) {
        const before = this.app.log.head.sides[0].before_sampling;
        if (!before || this.app.state.what !== 'made')
            return [];
        const known = before.bytes !== undefined;
        return [fact(known ? (before.exact ? '' : '≤ ') + formatBytes(before.bytes) : '?', 'before sampling began',
                     (known ? formatCount(before.bytes) + ' bytes, ' : '') + 'in none of the other figures')];
    }

    diffFacts(fact, whole, near) {
        const old = whole.oldBytes, now = whole.bytes - whole.oldBytes;
        const oldCount = whole.oldAllocs, nowCount = whole.allocs - whole.oldAllocs;
        return [fact(formatBytes(old), ...this.words(0)), fact(formatBytes(now), ...this.words(1)),
                fact((now > old ? '▲ ' : now < old ? '▼ ' : '') + formatDelta(now - old, 'bytes'),
                     'bytes, ' + (old ? formatShare(Math.abs(now - old), old) : '–') + near('bytes')),
                fact((nowCount > oldCount ? '▲ ' : nowCount < oldCount ? '▼ ' : '') +
                     formatDelta(nowCount - oldCount, 'allocs'), 'objects')];
    }

    // Of the two that are compared.
    words(which) {
        return this.app.log.diff ? [['old', 'new'][which]] : [['alive before', 'alive after'][which], 'at the ends of the range'];
    }

    // Own lines, and those of packages; where no line is known, methods.
    lines() {
        const {app} = this;
        return [app.nearestRows(), app.packageRows()].filter(found => found).map(found => this.nearest(found));
    }

    nearest(own) {
        const {app} = this;
        const rows = own.rows.filter((row, i) => i < OVERVIEW_ROWS || row.place === undefined);
        const open = ({place}) => place === undefined ? app.set({view: 'tables', table: 'methods', rows: '', sort: null}, true)
            : app.sources.has(place) ? app.showLine(place) : app.openPlace(place);
        return this.panel(own.title, own.hint, rows, 'totalBytes', open, {table: own.table});
    }

    types() {
        const {app} = this;
        const rows = sortRows(tableRows(app, 'types'), {id: app.diff() ? 'grew' : app.state.measure, down: true});
        return this.panel('Types', app.state.what === 'made' ? 'what is allocated' : app.noun(), rows.slice(0, OVERVIEW_ROWS), 'bytes',
            row => app.set({view: 'butterfly', subject: row.key}, true), {table: 'types'});
    }

    change() {
        const {app} = this;
        const rows = tableRows(app, app.hasLines ? 'lines' : 'methods')
            .filter(row => !app.log.hasOwn || row.family === 'own' || !app.hasLines)
            .filter(row => growth(row, 'totalBytes'))
            .sort((a, b) => Math.abs(growth(b, 'totalBytes')) - Math.abs(growth(a, 'totalBytes')));
        return this.panel(app.hasLines ? 'Own lines that changed most' : 'Methods that changed most',
            'with all that they call', rows.slice(0, OVERVIEW_ROWS), 'totalBytes',
            row => app.openPlace(row.place), {table: app.hasLines ? 'lines' : 'methods'});
    }

    panel(title, hint, rows, field, open, more) {
        const {app} = this;
        const measure = app.state.measure;
        const by = measure === 'bytes' ? field : field === 'bytes' ? 'allocs' : 'totalAllocs';
        const whole = app.whole()[measure];
        const value = row => app.diff() ? (growth(row, by) > 0 ? '▲ ' : growth(row, by) < 0 ? '▼ ' : '') +
            formatDelta(growth(row, by), measure) : formatMeasure(row[by], measure);
        return el('section', {class: 'panel'}, el('h2', {}, title, el('small', {}, ' ' + hint)),
            rows.length ? el('ol', {class: 'tops'}, ...rows.map(row => el('li', {}, el('button', {
                type: 'button', title: row.full || row.name, onclick: () => open(row)},
                el('span', {class: 'tops-name'}, el('span', {class: 'parts' + (row.family === 'own' ? ' own' : '')}, ...nameParts(row.name)),
                   row.method ? el('small', {class: 'cut'}, row.method) : null),
                el('span', {class: 'tops-value'}, value(row)),
                el('span', {class: 'percent'}, app.diff() ? '' : formatShare(row[by], whole)),
                bar(whole ? row[by] / whole : 0, row.family)))))
                : el('p', {class: 'faint'}, 'Nothing in this selection.'),
            button('All ' + TABLES[more.table].title.toLowerCase(), '', () =>
                app.set({view: 'tables', ...more, rows: '', sort: null}, true), {class: 'more'}));
    }

    // The path needs the tree of the picture, which a large log takes a moment to make: it comes
    // when the rest of the screen stands.
    path() {
        const section = el('section', {class: 'panel'}, el('h2', {}, 'Hottest path'), el('p', {class: 'faint'}, '…'));
        if (this.app.has('p-picture'))
            this.fillPath(section);
        else
            requestAnimationFrame(() => setTimeout(() => section.isConnected && this.fillPath(section), 0));
        return section;
    }

    // The heaviest child of the heaviest child, as long as it has at least a fifth of its parent.
    fillPath(section) {
        const {app} = this;
        const tree = app.picture();
        const whole = app.whole()[app.state.measure];
        const out = [];
        for (let node = 0; out.length < 60;) {
            const [first] = tree.children(node);
            if (first === undefined || tree.weight(first) * 5 < tree.weight(node))
                break;
            out.push(node = first);
        }
        const short = out.length > 14 ? [...out.slice(0, 4), -1, ...out.slice(-9)] : out;
        replace(section, el('h2', {}, 'Hottest path', el('small', {}, ' the heaviest callee of each')),
            el('ol', {class: 'path'}, ...short.map(node => node < 0 ? el('li', {class: 'faint'}, `… ${out.length - 13} frames …`)
                : el('li', {}, el('button', {type: 'button', title: app.fullLabel(tree, node),
                    onclick: () => app.set({view: 'flame', mode: app.state.mode === 'reversed' ? 'flame' : app.state.mode,
                                            zoom: node}, true)},
                    el('i', {class: 'dot ' + familyOf(app.log, tree.place(node)), 'aria-hidden': 'true'}),
                    el('span', {class: 'tops-name' + (familyOf(app.log, tree.place(node)) === 'own' ? ' own' : '')},
                       app.label(tree, node)),
                    el('span', {class: 'percent'}, formatShare(tree.weight(node), whole)))))),
            button('Flame graph', '', () => app.set({view: 'flame'}, true), {class: 'more'}));
    }

    more() {
        const {app} = this;
        return el('section', {class: 'panel'}, el('h2', {}, app.log.diff ? 'What is compared' : 'Recording'),
            ...app.log.head.sides.map((side, i) => el('div', {},
                app.log.diff ? el('h3', {}, i ? 'New' : 'Old') : null,
                el('dl', {class: 'about'}, ...this.aboutOf(side).flatMap(([term, text]) =>
                    text ? [el('dt', {}, term), el('dd', {}, text)] : [])))));
    }

    // Each below the one that started it, as far as the logs say.
    tree(processes) {
        return el('ul', {class: 'processes'}, ...processes.map(one => {
            const item = el('li', {}, [...one.through || [], one.name].map(clean).join(' > ') + ` (pid ${one.pid})`,
                            el('small', {}, ' ' + clean(one.command || '')));
            item.style.paddingLeft = Math.min(one.depth, 20) + 'em';
            return item;
        }));
    }

    aboutOf(side) {
        const {head} = this.app.log;
        return [['Command', side.processes ? '' : clean((side.command || []).join(' '))],
                ['Processes', side.processes && this.tree(side.processes)], ['Log', side.files.map(clean).join(', ')],
                ['Runtime', side.runtime && '.NET ' + clean(side.runtime)], ['Started', clean(side.started || '')],
                ['Threads', head.threads.length && !this.app.log.diff ? formatCount(head.threads.length) : ''],
                ['Only', head.filters.map(clean).join(', ')],
                ['Complete', side.complete ? 'yes: every recorded allocation is here' : 'no: ' + side.gaps.map(clean).join('; ')],
                ['Made by', 'shadowtrace ' + head.tool]];
    }
}
