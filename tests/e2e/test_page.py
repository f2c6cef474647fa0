"""The page that `shadowtrace html` makes, in browsers: what it shows adds up to the log, and what it can be asked to do."""
import collections
import glob
import json
import os

import consumers
import harness
from harness import early, one_line, run, tool, tool_json

LOGS = os.path.join(os.path.dirname(harness.HERE), 'fixtures', 'logs')

# Firefox reports an internal font, for the marker of what can be opened.
HARMLESS = ('file:', 'about:', 'data:font/')

# What puppeteer runs first: the page is there when its hook is, and it said nothing and asked for nothing by then.
OPEN = '''
    const open = async (url) => {
        await page.goto('about:blank');
        await page.goto(url);
        try {
            await page.waitForFunction('window.shadowtrace', {timeout: 90000});
        } catch (error) {
            throw new Error(url + ': ' + await page.evaluate('document.body.innerText') + messages.join());
        }
    };
    const shown = (expression) => page.evaluate(expression);
    const settle = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
'''


def make(t, name, *arguments):
    path = t.path(name)
    result = tool('html', *arguments, '-o', path)
    t.equal(result.status, 0, str(result))
    return 'file://' + path


def nobody_asked(t, found):
    t.equal([url for url in found['requests'] if not url.startswith(HARMLESS)], [], 'requests')
    t.equal(found['messages'], [], 'messages')


class Made:
    """A log that is written by hand, so that everything the page is to say of it can be said beforehand."""

    def __init__(self):
        self.lines = [{'kind': 'header', 'format': 'shadowtrace', 'version': 1, 'pid': 7, 'executable': '/usr/bin/dotnet',
                       'command': ['dotnet', 'shop.dll', '--fast'], 'runtime': '10.0.12', 'hooks': 'elt3',
                       'capture': 'shadow', 'options': {}, 'clock': 1, 'started': '2026-11-21T10:00:00Z', 'tracer': '0.1.0'}]
        self.ids = collections.Counter()
        self.known = {}
        self.allocs = []  # (t, thread, stack of method names outermost first, type, bytes)

    def add(self, **line):
        self.lines.append(line)

    def id_of(self, kind, key, **more):
        if (kind, key) not in self.known:
            self.ids[kind] += 1
            self.known[kind, key] = self.ids[kind]
            self.add(kind=kind, id=self.ids[kind], **more)
        return self.known[kind, key]

    def module(self, name):
        path = '/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/%s.dll' % name if name.startswith('System') \
            else '/home/me/shop/%s.dll' % name
        return self.id_of('module', name, name=name, path=path)

    def method(self, name):
        return self.id_of('method', name, name=name, module=self.module('System.Linq' if name.startswith('System') else 'shop'))

    def node(self, stack):
        parent = self.node(stack[:-1]) if len(stack) > 1 else 0
        more = {'il': 3} if parent else {'call': 'native'}
        return self.id_of('node', tuple(stack), parent=parent, method=self.method(stack[-1]), **more)

    def alloc(self, t, thread, stack, type_name, size):
        self.id_of('thread', thread, os=4000 + len(thread), name=thread)
        type_id = self.id_of('class', type_name, name=type_name, module=self.module('shop'))
        self.add(kind='alloc', t=t, thread=self.known['thread', thread], bytes=size, node=self.node(stack), il=9,
                 **{'class': type_id})
        self.allocs.append((t, thread, stack, type_name, size))

    def mark(self, t, text):
        self.add(kind='mark', t=t, text=text)

    def write(self, t, name, end=True):
        if end:
            self.add(kind='end', t=10_000_000_000, seen=len(self.allocs), written=len(self.allocs), lost=0, lost_by={},
                     bytes=self.total(), threads=self.ids['thread'], nodes=self.ids['node'] + 1, nodes_refused=0, repairs={},
                     hooks={'calls': 7, 'ns_per_pair': 0, 'missed': 0}, names_failed=0, log_bytes=1)
        path = t.path(name)
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(json.dumps(line, separators=(',', ':')) + '\n' for line in self.lines)
        return path

    def total(self, holds=lambda *_: True):
        return sum(alloc[4] for alloc in self.allocs if holds(*alloc))


MAIN, WORK, LINQ, WHERE = 'Shop.Program.Main()', 'Shop.Basket.Add(System.Int32)', 'System.Linq.E.Select(System.Int32)', \
    'System.Linq.E.Where(System.Int32)'


def shop(more=0):
    """Ten seconds; recursion, a run of framework frames, two threads, marks."""
    log = Made()
    second = 1_000_000_000
    log.mark(2 * second, 'warm')
    for i in range(100):
        at = i * second // 10
        log.alloc(at, 'main', [MAIN, WORK, LINQ, WHERE, WORK], 'Shop.Item', 64 + more)
        log.alloc(at + 1, 'main', [MAIN, WORK], 'System.Byte[]', 104 + 8 * i)
        if i % 4 == 0:
            log.alloc(at + 2, 'worker', [LINQ, WHERE], 'System.String', 48)
    return log


def inclusive(log):
    sums = collections.Counter()
    for _, _, stack, _, size in log.allocs:
        for method in set(stack):
            sums[method] += size
    return sums


def fixtures():
    """Logs that can be read, and what report says of them."""
    for path in sorted(glob.glob(os.path.join(LOGS, '*.ndjson'))):
        if run([harness.TOOL, 'report', '--no-lines', path]).status == 0:
            yield path


def by_name(rows, key):
    sums = collections.Counter()
    for row in rows:
        sums[row[key] or '(none)'] += row['bytes']
    return {name: size for name, size in sums.items() if size}


READ = OPEN + '''
    const out = [];
    for (const url of args.urls) {
        await open(url);
        out.push(await shown(`(() => {
            const s = shadowtrace, rows = table => s.rows(table).map(row => ({name: row.name, bytes: row.bytes,
                allocs: row.allocs, totalBytes: row.totalBytes}));
            const tables = Object.fromEntries(['types', 'methods', 'lines', 'modules', 'namespaces', 'threads', 'sizes']
                .map(table => [table, rows(table)]));
            const sum = values => Array.from(values).reduce((a, b) => a + b, 0);
            return {total: s.total(), tables, picture: s.picture(), reversed: s.reversed(), slices: sum(s.slices().bytes),
                    intervals: {bytes: s.interval('bytes'), allocs: s.interval('allocs')}, nearest: sum(s.nearest().map(row => row.bytes)), estimated: s.head.estimated,
                    complete: s.head.sides[0].complete, flags: document.getElementById('flags').innerText};
        })()`));
    }
    return {out, messages, requests};
'''


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


@early
@consumers.each_browser
def test_every_view_adds_up_to_the_log(t, browser):
    logs = list(fixtures())
    t.true(len(logs) > 10, logs)
    urls = [make(t, os.path.basename(path) + '.html', '--names=raw', '--no-lines', path) for path in logs]
    found = consumers.browser_run(t, READ, {'urls': urls}, browser=browser)
    nobody_asked(t, found)
    for path, page in zip(logs, found['out']):
        name = os.path.basename(path)
        types = tool_json('report', '--by=type', '--format=json', '--names=raw', '--no-lines', path)
        methods = tool_json('report', '--by=method', '--format=json', '--names=raw', '--no-lines', path)
        total, tables = types['total'], page['tables']
        t.equal(page['estimated'], total['estimated'], name)
        t.equal([round(page['total'][key]) for key in ('bytes', 'allocs')], [total['bytes'], total['allocs']], name)
        if total['estimated']:
            known = [key for key in ('bytes', 'allocs') if key + '_range' in total]  # not of objects of several sizes
            t.equal([[round(page['intervals'][key][end]) for end in ('low', 'high')] for key in known],
                    [total[key + '_range'] for key in known], name)
            total = page['total']
        else:
            t.equal(page['total'], {'bytes': total['bytes'], 'allocs': total['allocs']}, name)
        t.equal(page['complete'], types['log']['complete'], name)
        t.equal('not complete' in page['flags'], not types['log']['complete'], name)
        for table in 'types', 'threads', 'sizes':
            t.true(close(sum(row['bytes'] for row in tables[table]), total['bytes']), '%s: %s' % (name, table))
        t.true(all(close(page[view]['bytes'], total['bytes']) for view in ('picture', 'reversed')), name)
        t.true(close(sum(page['reversed']['children']), total['bytes']), name)
        t.true(close(page['slices'], total['bytes']), '%s: slices' % name)
        if not page['estimated']:
            t.equal(by_name(tables['types'], 'name'), by_name(types['rows'], 'type'), name)
            known = {row['method'] for row in methods['rows'] if row['method'] and row['method'][0] != '('}
            t.equal({k: v for k, v in by_name(tables['methods'], 'name').items() if k in known},
                    {k: v for k, v in by_name(methods['rows'], 'method').items() if k in known}, name)


# The same as a person does it: clicks, keys, drags.
DRIVE = OPEN + '''
    await open(args.url);
    const out = {};
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); await settle(); };
    out.total = await shown('shadowtrace.total()');
    out.methods = await shown("shadowtrace.rows('methods').map(row => [row.name, row.bytes, row.totalBytes])");
    out.overview = await shown("document.querySelector('.tops').innerText");

    await press('2');
    out.view = await shown('location.hash');
    const main = await shown('shadowtrace.box(1, 0)');
    await page.mouse.click(main.x, main.y);
    await settle();
    out.zoomed = await shown('[location.hash, shadowtrace.selected(), shadowtrace.box(1, 0).width > innerWidth / 2]');
    await page.mouse.move(main.x, main.y);
    out.tip = await shown("document.querySelector('.tip').innerText");
    await page.goBack();
    await settle();
    out.back = await shown('location.hash');
    await page.focus('canvas[role=img]');
    await press('ArrowUp');
    out.up = await shown('shadowtrace.selected()');
    await press('Enter');
    out.entered = await shown('shadowtrace.state().zoom > 0');
    await press('Escape', 'Escape');
    out.escaped = await shown('shadowtrace.state().zoom');
    await press('c');
    out.copied = await shown('shadowtrace.copied()');
    await press('f');
    out.unfolded = await shown('[shadowtrace.state().fold, shadowtrace.boxes().length]');
    await press('f');
    out.folded = await shown('[shadowtrace.state().fold, shadowtrace.boxes().length]');
    await page.click('.as-table summary');
    await settle();
    out.text = await shown("document.querySelector('.as-table table').innerText");

    await press('/');
    await page.keyboard.type('Basket.Add');
    await settle();
    out.matched = await shown("document.getElementById('matched').innerText");
    out.query = await shown('location.hash');
    await press('Escape', 'b');
    out.measure = await shown('shadowtrace.state().measure');
    await press('b');
    await press('?');
    out.help = await shown("document.querySelector('dialog').open");
    await press('Escape');

    const time = await shown("(() => { const r = document.querySelector('.time-area').getBoundingClientRect();" +
        " return {x: r.x, y: r.y, width: r.width, height: r.height}; })()");
    await page.mouse.move(time.x + time.width * 0.25, time.y + 20);
    await page.mouse.down();
    await page.mouse.move(time.x + time.width * 0.5, time.y + 20, {steps: 4});
    await page.mouse.up();
    await settle();
    out.range = await shown('(() => { const s = shadowtrace.state(), h = shadowtrace.head; return {from: s.from * h.slice_ns,' +
        ' to: s.to * h.slice_ns, total: shadowtrace.total(), picture: shadowtrace.picture().bytes,' +
        ' hash: location.hash, types: shadowtrace.rows("types").reduce((a, r) => a + r.bytes, 0)}; })()');
    await shown("document.querySelector('.mark-tick').click()");
    await settle();
    out.mark = await shown('[shadowtrace.state().from * shadowtrace.head.slice_ns, shadowtrace.total().bytes]');
    await shown("shadowtrace.set({from: null, to: null})");

    const worker = await shown("[...document.querySelectorAll('#threads option')].find(o => o.text.startsWith('worker')).value");
    await page.select('#threads select', worker);
    await settle();
    out.thread = await shown('[shadowtrace.total().bytes, location.hash]');
    await page.select('#threads select', '-1');

    await press('5');
    await page.click('[data-value=methods]');
    await page.type('.filter', 'Linq');
    await settle();
    out.rows = await shown("[...document.querySelectorAll('.list-row .name-text')].map(e => e.innerText)");
    await shown("[...document.querySelectorAll('.list-head button')].find(b => b.innerText.startsWith('Method')).click()");
    out.sorted = await shown("[...document.querySelectorAll('.list-row .name-text')].map(e => e.innerText)");
    await page.focus('.list');
    await press('Enter');
    out.opened = await shown('[shadowtrace.state().view, document.querySelector(".subject b").innerText]');
    out.butterfly = await shown("shadowtrace.butterfly(shadowtrace.head.names[shadowtrace.state().subject])");

    await shown("shadowtrace.set({view: 'tables', table: 'modules', rows: '', sort: null})");
    await page.focus('.list');
    await press('Home', 'Enter');
    out.module = await shown("[shadowtrace.state().table, shadowtrace.state().rows, " +
        "[...document.querySelectorAll('.list-row .name-text')].map(e => e.innerText)]");

    await press('4');
    await page.focus('.list');
    out.tree = await shown("[...document.querySelectorAll('.list-row .name-text')].map(e => e.innerText)");
    await press('Home', 'ArrowLeft');
    out.closed = await shown("document.querySelectorAll('.list-row').length");
    await press('ArrowRight');
    out.reopened = await shown("document.querySelectorAll('.list-row').length");

    await page.goto('about:blank');
    await open(args.url + '#view=flame&mode=icicle&fold=false&query=Main&range=0-10&zoom=1');
    out.restored = await shown('shadowtrace.state()');
    await open(args.url + '#view=nothing&zoom=99999&range=9-3&sort=evil&thread=77&table=__proto__');
    out.nonsense = await shown('shadowtrace.state()');
    const dark = await shown("getComputedStyle(document.body).backgroundColor");
    await page.click('#theme');
    out.theme = [dark, await shown("getComputedStyle(document.body).backgroundColor")];
    out.widths = [];
    for (const width of [360, 1024, 3840]) {
        await page.setViewport({width, height: 800});
        for (const view of ['overview', 'flame', 'butterfly', 'tree', 'tables']) {
            await shown(`shadowtrace.set({view: '${view}'})`);
            await settle();
            out.widths.push([width, view, await shown('document.documentElement.scrollWidth <= innerWidth')]);
        }
    }
    out.messages = messages;
    out.requests = requests;
    return out;
'''


@consumers.each_browser
def test_what_a_person_does(t, browser):
    log = shop()
    url = make(t, 'shop.html', '--names=full', log.write(t, 'shop.ndjson'))
    found = consumers.browser_run(t, DRIVE, {'url': url}, browser=browser)
    nobody_asked(t, found)
    total, sums = log.total(), inclusive(log)
    t.equal(found['total'], {'bytes': total, 'allocs': len(log.allocs)})
    t.equal({name.split('(')[0]: whole for name, _, whole in found['methods']},
            {name.split('(')[0]: whole for name, whole in sums.items()}, 'totals of methods, recursion once')
    t.true('Shop.Basket.Add' in found['overview'].split('\n')[0], found['overview'])
    t.equal(found['view'], '#view=flame')
    t.true('zoom=' in found['zoomed'][0] and found['zoomed'][2], found['zoomed'])
    t.true('objects' in found['tip'], found['tip'])
    t.equal(found['back'], '#view=flame')
    t.true('Basket.Add' in found['up'], found['up'])
    t.equal((found['entered'], found['escaped']), (True, 0))
    t.equal(found['copied'].split('\n'), ['   at ' + WORK, '   at ' + MAIN])
    t.true(found['unfolded'][0] is False and found['folded'][0] is True, found['folded'])
    t.true(found['unfolded'][1] == found['folded'][1] + 1, 'a run of two frames is one box: %s' % found['unfolded'])
    t.true('[System.Linq, 2 frames]' in found['text'] and 'own code' in found['text'], found['text'])
    t.true('%.1f' % (100 * sums[WORK] / total) in found['matched'], found['matched'])
    t.true('query=Basket.Add' in found['query'], found['query'])
    t.equal((found['measure'], found['help']), ('allocs', True))
    r = found['range']
    t.true(0 < r['from'] < r['to'] < 10_000_000_000 and 'range=' in r['hash'], r)
    inside = log.total(lambda at, *_: r['from'] <= at < r['to'])
    t.equal((r['total']['bytes'], r['picture'], r['types']), (inside, inside, inside), 'in the range')
    t.equal(found['mark'][1], log.total(lambda at, *_: at >= found['mark'][0]), 'behind the mark')
    t.true(found['mark'][0] <= 2_000_000_000, found['mark'])
    t.equal(found['thread'][0], log.total(lambda _, thread, *__: thread == 'worker'))
    t.equal([len(found['rows']), found['sorted']], [2, sorted(found['rows'])])
    t.equal(found['opened'][0], 'butterfly')
    t.equal(found['butterfly']['callers']['bytes'], sums[LINQ if 'Select' in found['opened'][1] else WHERE])
    t.equal(found['module'][:2], ['methods', 'shop'])
    t.equal(sorted(name.split('(')[0] for name in found['module'][2]), sorted(name.split('(')[0] for name in (MAIN, WORK)))
    t.true(len(found['tree']) > 4 and found['closed'] == 1 < found['reopened'], found['tree'])
    s = found['restored']
    t.equal((s['view'], s['mode'], s['fold'], s['query'], s['from'], s['to'], s['zoom']),
            ('flame', 'icicle', False, 'Main', 0, 10, 1))
    s = found['nonsense']
    t.equal((s['view'], s['from'], s['sort'], s['thread'], s['table']), ('overview', None, None, -1, 'types'))
    t.true(found['theme'][0] != found['theme'][1], found['theme'])
    t.equal([row for row in found['widths'] if not row[2]], [], 'wider than the window')


# What it looks like to a printer, and on the screen before and after.
PRINT = OPEN + '''
    const out = {papers: {}, white: {}, controls: {}};
    const canvases = `[...document.querySelectorAll('.picture canvas')].map(c => [c.width, c.height])`;
    for (const [name, address] of Object.entries(args.views)) {
        await open(args.url + address);
        await shown("document.documentElement.dataset.theme = 'dark'");
        const before = await shown(canvases);
        await shown("dispatchEvent(new Event('beforeprint'))");
        if (args.emulates)
            await page.emulateMediaType('print');
        out.papers[name] = await shown(`({text: document.getElementById('printed').textContent,
            rows: document.querySelectorAll('.list-row').length, canvases: ${canvases}, boxes: shadowtrace.boxes()})`);
        out.white[name] = await shown(`[...document.querySelectorAll('.picture canvas')].map(c =>
            [...c.getContext('2d').getImageData(c.width - 1, 0, 1, 1).data])`);
        if (args.emulates) {
            out.controls[name] = await shown(`[...document.querySelectorAll('button, input, select')].filter(control =>
                control.offsetParent && !control.closest('.tops, .path, .crumbs, .marks, .list-head')).map(c => c.outerHTML)`);
            out.white[name].push(await shown("getComputedStyle(document.body).backgroundColor"));
            await page.emulateMediaType(null);
        }
        await shown("dispatchEvent(new Event('afterprint'))");
        const after = await shown(canvases + `.concat([document.getElementById('printed').textContent])`);
        out.papers[name].same = JSON.stringify(after) === JSON.stringify([...before, '']);
    }
    out.pdf = Buffer.from(await page.pdf()).toString('latin1', 0, 4);
    out.messages = messages;
    out.requests = requests;
    return out;
'''


@consumers.each_browser
def test_on_paper(t, browser):
    """White, without controls; the choices are written in words, and what does not fit is named."""
    log = shop()
    log.alloc(9_910_000_000, 'main', ['Shop.Deep.D%d()' % i for i in range(99)], 'Shop.Item', 1_000_000)
    for i in range(250):
        log.alloc(9_920_000_000 + i, 'main', [MAIN], 'Shop.Many%d' % i, 64)
    log.alloc(9_990_000_000, 'main', [MAIN, LINQ, WHERE], 'Shop.Item', 1_000_000)
    url = make(t, 'paper.html', '--names=full', log.write(t, 'paper.ndjson'))
    found = consumers.browser_run(t, PRINT, {'url': url, 'emulates': browser == 'chromium', 'views': {
        'overview': '', 'part': '#view=flame&mode=icicle&range=0-10&query=Basket', 'deep': '#view=flame&fold=false',
        'butterfly': '#view=butterfly', 'tree': '#view=tree', 'types': '#view=tables'}}, browser=browser)
    nobody_asked(t, found)
    for name, words in dict(
            overview=['Overview', 'bytes'], part=['Flame graph', 'icicle', 'only 0.00', 'search "Basket"', 'matched: '],
            deep=['all frames', 'levels 0 to 59 of 101'], butterfly=['Callers', 'framework folded'],
            tree=['Tree', 'from Main'], types=['Tables, types', 'the first 200 of 253 rows']).items():
        paper = found['papers'][name]
        t.equal([word for word in words if word not in paper['text'].replace('\u202f', ' ')], [], paper['text'])
        t.true(paper['same'], '%s: the screen is as before' % name)
        t.equal([color for color in found['white'][name] if color not in ([255] * 4, 'rgb(255, 255, 255)')], [], name)
        t.equal(found['controls'].get(name, []), [], name)
    t.equal(found['papers']['types']['rows'], 200)
    t.equal([size[1] for size in found['papers']['deep']['canvases']], [60 * 20 * 2], 'levels that a page has room for')
    part = found['papers']['part']
    t.equal([size[1] for size in part['canvases']], [len(part['boxes']) * 20 * 2], 'all levels')
    t.equal(found['pdf'], '%PDF')


@consumers.each_browser
def test_a_difference(t, browser):
    old, new = shop(), shop(more=8)
    for i in range(10):
        new.alloc(9_950_000_000 + i, 'main', [MAIN, 'Shop.Program.Fresh()'], 'System.Byte[]', 1000)
    url = make(t, 'diff.html', '--diff', '--names=full', old.write(t, 'old.ndjson'), new.write(t, 'new.ndjson'))
    found = consumers.browser_run(t, OPEN + '''
        await open(args.url + '#view=flame');
        const flame = await shown("[shadowtrace.total(), document.querySelector('.legend').innerText]");
        await page.click('.as-table summary');
        await shown("shadowtrace.set({view: 'tables', table: 'methods'})");
        await settle();
        const rows = await shown("[...document.querySelectorAll('.list-row')].map(e => e.innerText)");
        return {flame, rows, types: await shown("shadowtrace.rows('types').map(r => [r.name, r.oldBytes, r.bytes - r.oldBytes])"),
                messages, requests};
    ''', {'url': url}, browser=browser)
    nobody_asked(t, found)
    total, legend = found['flame']
    t.equal((total['oldBytes'], total['bytes'] - total['oldBytes']), (old.total(), new.total()))
    t.true('▲ grew' in legend and '▼ shrank' in legend, legend)
    t.equal({name: (before, now) for name, before, now in found['types']},
            {name: tuple(log.total(lambda *a, name=name: a[3] == name) for log in (old, new))
             for name in ('Shop.Item', 'System.Byte[]', 'System.String')})
    t.true('Fresh' in found['rows'][0] and '▲' in found['rows'][0], found['rows'])


EVIL = '</script><script>window.evil = 1</script><img src=x onerror="window.evil=2">"\'&amp;\u202e\u2066\x1b[2J\u2028'


@consumers.each_browser
def test_hostile_names_do_nothing(t, browser):
    log = Made()
    log.lines[0]['command'] = ['dotnet', EVIL]
    log.lines[0]['runtime'] = EVIL
    log.mark(5, EVIL)
    for at in range(2):
        log.alloc(at * 6_000_000_000, EVIL, ['A.B' + EVIL, 'A.C' + EVIL + '()'], EVIL, 64)
        log.alloc(at * 6_000_000_000, 'x' + EVIL, ['A.B' + EVIL], 'toString', 64)
        log.alloc(at * 6_000_000_000, 'main', ['__proto__', 'constructor'], '__proto__', 64)
    log.lines[1:1] = [{'kind': 'module', 'id': 99, 'name': EVIL, 'path': EVIL}]
    url = make(t, 'evil.html', '--title', EVIL, log.write(t, 'evil.ndjson'))
    found = consumers.browser_run(t, OPEN + '''
        await open(args.url);
        const texts = [];
        for (const view of ['overview', 'flame', 'butterfly', 'tree', 'tables', 'source']) {
            await shown(`shadowtrace.set({view: '${view}', query: '</script>'})`);
            await settle();
            await shown("document.querySelectorAll('details').forEach(d => d.open = true)");
            await settle();
            texts.push(await shown('document.body.innerText'));
        }
        let sent = 'sent';
        try {
            await shown("fetch('http://127.0.0.1:9/')");
        } catch (error) {
            sent = 'refused';
        }
        await shown("(() => { const s = document.createElement('script'); s.textContent = 'window.evil = 3';" +
            " document.body.append(s); })()");
        return {evil: await shown('window.evil'), images: await shown('document.images.length'), texts, sent,
                total: await shown('shadowtrace.total().bytes'), title: await shown('document.title'), requests};
    ''', {'url': url}, browser=browser)
    t.equal((found.get('evil'), found['images'], found['sent'], found['total']), (None, 0, 'refused', 6 * 64))
    for text in found['texts'] + [found['title']]:
        bad = sorted(set(text) & set('\u202e\u2066\x1b\u2028\x00'))
        t.equal(bad, [], text)
    t.equal([url for url in found['requests'] if not url.startswith(HARMLESS + ('http://127.0.0.1:9/',))], [])


@consumers.each_browser
def test_processes_are_named_each_below_the_one_that_started_it(t, browser):
    logs = [Made(), Made()]
    for log, pid in zip(logs, (10, 12)):
        log.lines[0].update(pid=pid, born=pid * 10)
        log.alloc(0, 'main', ['A.B'], 'C', 64)
    logs[1].lines[0]['parents'] = [{'pid': 11, 'born': 110, 'name': 's\x1bh'}, {'pid': 10, 'born': 100, 'name': 'dotnet'}]
    url = make(t, 'page.html', *[log.write(t, '%d.ndjson' % i) for i, log in enumerate(logs)])
    found = consumers.browser_run(t, OPEN + '''
        await open(args.url);
        const items = await shown("[...document.querySelectorAll('.processes li')].map(item => [item.innerText, " +
            "parseFloat(getComputedStyle(item).paddingLeft) > 0])");
        return {items, terms: await shown("[...document.querySelectorAll('.about dt')].map(dt => dt.innerText)"), requests, messages};
    ''', {'url': url}, browser=browser)
    nobody_asked(t, found)
    t.equal(found['items'], [['shop (pid 10) dotnet shop.dll --fast', False], ['s\\u001bh > shop (pid 12) dotnet shop.dll --fast', True]])
    t.true('Processes' in found['terms'] and 'Command' not in found['terms'], found['terms'])


def test_a_stack_of_a_hundred_thousand_frames(t):
    log = Made()
    method = log.method('Deep.Down()')
    depth = 100_000
    for i in range(depth):
        log.add(kind='node', id=i + 1, parent=i, method=method, **({'il': 1} if i else {'call': 'native'}))
    log.ids['node'] = depth
    type_id = log.id_of('class', 'T', name='T')
    log.id_of('thread', 'main', os=1)
    log.add(kind='alloc', t=5, thread=1, bytes=64, node=depth, il=9, **{'class': type_id})
    log.allocs.append((5, 'main', [], 'T', 64))
    url = make(t, 'deep.html', log.write(t, 'deep.ndjson'))
    found = consumers.browser_run(t, OPEN + '''
        await open(args.url + '#view=flame&mode=icicle');
        const boxes = await shown('shadowtrace.boxes().length');
        for (const view of ['overview', 'butterfly', 'tree', 'tables', 'flame']) {
            await shown(`shadowtrace.set({view: '${view}', mode: 'reversed'})`);
            await settle();
        }
        return {boxes, total: await shown('shadowtrace.reversed().bytes'), messages, requests};
    ''', {'url': url})
    nobody_asked(t, found)
    t.equal((found['boxes'], found['total']), (depth + 2, 64))


def test_pages_are_made_whole_or_not_at_all(t):
    log = shop().write(t, 'shop.ndjson')
    page = t.path('page.html')
    t.equal(tool('html', log, '-o', page).status, 0)
    with open(page, 'rb') as file:
        first = file.read()
    one_line(tool('html', log, '-o', page), 2, 'exists')
    t.equal(tool('html', log, '-o', '-').out, first, 'the same page on standard output')
    one_line(tool('html', log), 2, '-o FILE')
    one_line(tool('html', '--diff', log, '-o', t.path('a.html')), 2, 'two logs')
    one_line(tool('html', '--min-share=much', log, '-o', t.path('a.html')), 2, 'percentage')
    one_line(tool('html', '--method=NoSuchThing', log, '-o', t.path('a.html')), 2, 'NoSuchThing')
    one_line(tool('html', t.path('none.ndjson'), '-o', t.path('a.html')), 3, 'none.ndjson')
    one_line(tool('html', log, '-o', '/dev/full'), 3, 'cannot write')
    t.equal([name for name in os.listdir(t.folder) if name.startswith('a.html')], [], 'what is left of pages that failed')
