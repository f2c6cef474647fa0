"""What is alive, in the page of `shadowtrace html`: each weight, view by view, against `report --view` of the same log."""
import json
import os
import re

import consumers
import test_page
from control import Kept
from harness import early, needs, one_line, tool, tool_json
from test_heap import dump
from test_live import PLAIN, kept

ALIVE, MISSED = (os.path.join(test_page.LOGS, name + '.ndjson') for name in ('alive', 'alive-missed'))

# The page's weights that are one view, and the member of rows in JSON that is its amount.
VIEWS = {'end': ('live_', 'young_'), 'peak': ('live_',), 'temporary': ('temporary_',), 'lifetimes': ('',)}

READ = test_page.OPEN + '''
    const out = [];
    for (const {url, states} of args.pages) {
        await open(url);
        out.push([]);
        for (const state of states) {
            await shown(`shadowtrace.set(${JSON.stringify({what: 'made', from: null, to: null, fate: -1, ...state})})`);
            await settle();
            out[out.length - 1].push(await shown(`(() => {
                const s = shadowtrace, tables = {};
                for (const table of ['types', 'methods', 'lines', 'lifetimes'])
                    tables[table] = s.rows(table).map(({name, full, key, bytes, allocs, oldBytes, oldAllocs, totalBytes, totalOldBytes}) =>
                        ({name, full, key, bytes, allocs, oldBytes, oldAllocs, totalBytes, totalOldBytes}));
                return {total: s.total(), tables, picture: s.picture(), reversed: s.reversed(), nearest: s.nearest(),
                        slices: Array.from(s.slices().bytes), head: {slice_ns: s.head.slice_ns, slices: s.head.slices, peak: s.head.live.peak.t},
                        meaning: document.getElementById('meaning').innerText, timed: !document.getElementById('time').hidden,
                        shown: document.getElementById('total').innerText};
            })()`));
        }
    }
    return {out, messages, requests};
'''


def report(log, view, *options):
    return tool_json('report', '--view', view, '--format', 'json', '--quiet', '--no-lines', *options, log)


def amount(row, words):
    return sum(row[word + 'bytes'] for word in words), sum(row[word + 'allocs'] for word in words)


def sums(rows, key, words):
    out = {}
    for row in rows:
        before, more = out.get(row[key] or '(none)', (0, 0)), amount(row, words)
        out[row[key] or '(none)'] = before[0] + more[0], before[1] + more[1]
    return {name: value for name, value in out.items() if any(value)}


def with_calls(rows):
    """What a tree has at and below each method; where it is within itself it counts once."""
    out, above = {}, []
    for row in rows:
        above.append({row['method']} | (above[row['parent']] if row['parent'] is not None else set()))
        if row['parent'] is None or row['method'] not in above[row['parent']]:
            out[row['method']] = out.get(row['method'], 0) + row['total_bytes']
    return out


def shown(rows, old=False):
    """The same of a table; old: less what was before, twice, for both are in the sum."""
    return {row['name']: (row['bytes'] - 2 * row['oldBytes'], row['allocs'] - 2 * row['oldAllocs'])
            for row in rows if old or row['bytes'] or row['allocs']}


def whole(page):
    total = page['total']
    return tuple(total[key] - 2 * total.get('old' + key.capitalize(), 0) for key in ('bytes', 'allocs'))


def agrees(t, log, page, view, words, *options):
    """Total, types, methods with what they call, the tree."""
    types = report(log, view, '--by', 'type', *options)
    what = ' '.join([os.path.basename(log), view, *options])
    t.equal(whole(page), amount(types['total'], words), what)
    old = view == 'grown'
    t.equal({name: value for name, value in shown(page['tables']['types'], old).items() if any(value)},
            sums(types['rows'], 'type', words), what + ': types')
    methods = sums(report(log, view, '--by', 'method', *options)['rows'], 'method', words)
    known = {name for name in methods if name[0] != '('}
    t.equal({name: value for name, value in shown(page['tables']['methods'], old).items() if name in known and any(value)},
            {name: value for name, value in methods.items() if name in known}, what + ': methods')
    if view != 'lifetimes':
        tree = {name: size for name, size in with_calls(report(log, view, '--by', 'tree', '--all-frames', *options)['rows']).items()
                if name and name[0] != '(' and size}
        found = {row['name']: row['totalBytes'] - 2 * row['totalOldBytes'] for row in page['tables']['methods']}
        t.true(tree or not any(whole(page)), what + ': an empty tree')
        t.equal({name: size for name, size in found.items() if name[0] != '(' and size}, tree, what + ': methods with what they call')
    if not old:
        t.equal(page['picture']['bytes'], whole(page)[0], what + ': picture')
        t.equal(sum(page['reversed']['children']), whole(page)[0], what + ': reversed')


def lifetimes_agree(t, log, page):
    names = 'gen 0', 'gen 1', 'gen 2', 'large', 'pinned'
    expected = {}
    for row in report(log, 'lifetimes')['rows']:
        name = row['fate'] if row['fate'] != 'died' else \
            'died in %s, having survived %d collection%s' % (names[row['generation']], row['age'],
                                                             '' if row['age'] == 1 else 's or more' if row['age'] == 15 else 's')
        expected[name] = row['bytes'], row['allocs']
    t.equal(shown(page['tables']['lifetimes']), {name: value for name, value in expected.items() if any(value)}, 'lifetimes')


def ms(slices, slice_ns):
    t, rest = divmod(slices * slice_ns, 1_000_000)
    assert not rest
    return '%dms' % t


def times(head):
    """Some ranges of slices: of the beginning, of the middle, to the end; those that the peak's collection begins or ends."""
    n, of_peak = head['slices'], -(-head['peak'] // head['slice_ns'])
    return sorted({(0, max(1, n // 3)), (n // 3, max(n // 3 + 1, n // 2)), (max(1, n // 2), n), (0, of_peak - 1), (1, of_peak),
                   (of_peak - 1, of_peak), (of_peak, n)} - {(0, n), (0, 0), (1, 1), (n, n)})


def pages_agree(t, browser, logs, every=1):
    """every: of the ranges of time each, or each third."""
    pages = [{'url': test_page.make(t, os.path.basename(log) + '.html', '--names=full', '--no-lines', log),
              'states': [{}] + [{'what': what} for what in VIEWS] + [{'what': 'alive'}]} for log in logs]
    found = consumers.browser_run(t, READ, {'pages': pages}, browser=browser)
    test_page.nobody_asked(t, found)
    later = []
    for log, page in zip(logs, found['out'], strict=True):
        made = tool_json('report', '--by', 'type', '--format', 'json', '--quiet', '--no-lines', log)['total']
        t.equal(page[0]['total'], {'bytes': made['bytes'], 'allocs': made['allocs']}, 'allocated')
        t.equal((page[0]['meaning'], page[0]['timed']), ('', page[0]['head']['slices'] > 1))
        for (view, words), one in zip(VIEWS.items(), page[1:], strict=False):
            agrees(t, log, one, view, words)
            t.true(one['meaning'] and not one['timed'], view)
        missed = report(log, 'peak')['collection'].get('missed', 0)
        for one in page[2], page[-1]:
            t.equal('none of %d others' % missed in one['meaning'], missed > 0, one['meaning'])
            t.equal('at most one collection a second' in one['meaning'], missed > 0, one['meaning'])
        lifetimes_agree(t, log, page[1 + list(VIEWS).index('lifetimes')])
        agrees(t, log, page[-1], 'live', ('live_',))
        t.equal(page[-1]['slices'][-1], page[-1]['total']['bytes'], 'the course ends with what is alive')
        later.append(page[0]['head'])
    pages = [{'url': page['url'], 'states': [{'what': 'alive', 'from': a, 'to': b} for a, b in times(head)[::every]]}
             for page, head in zip(pages, later, strict=True)]
    found = consumers.browser_run(t, READ, {'pages': pages}, browser=browser)
    test_page.nobody_asked(t, found)
    compared = 0
    for log, page, head in zip(logs, found['out'], later, strict=True):
        for (a, b), one in zip(times(head)[::every], page, strict=True):
            if a:
                agrees(t, log, one, 'grown', ('grown_',), '--from', ms(a, head['slice_ns']), '--to', ms(b, head['slice_ns']))
            else:
                agrees(t, log, one, 'live', ('live_',), '--at', ms(b, head['slice_ns']))
            compared += any(whole(one))
    t.true(compared > len(logs), 'only %d ranges in which anything is alive or grew' % compared)


@early
@consumers.each_browser
def test_a_log_that_can_be_added_up(t, browser):
    """Figures of the fixture, by head; the text that is shown; what the log does not know."""
    pages_agree(t, browser, [ALIVE, MISSED])
    url = test_page.make(t, 'again.html', '--names=full', '--no-lines', ALIVE)
    second = 1_000_000_000
    found = consumers.browser_run(t, test_page.OPEN + '''
        await open(args.url);
        const out = {};
        const choice = '#weights select';
        out.options = await shown(`[...document.querySelectorAll('${choice} option')].map(o => o.text)`);
        for (const what of ['end', 'peak', 'temporary', 'alive', 'lifetimes']) {
            await page.select(choice, what);
            await settle();
            out[what] = await shown(`({bytes: shadowtrace.total().bytes, meaning: document.getElementById('meaning').innerText,
                hash: location.hash, total: document.getElementById('total').innerText,
                threads: document.querySelector('#threads select')?.disabled})`);
        }
        await page.keyboard.press('5');
        await page.click('[data-value=lifetimes]');
        await settle();
        out.fates = await shown("[...document.querySelectorAll('.list-row .name-text')].map(e => e.innerText)");
        await page.focus('.list');
        await page.keyboard.press('Home');
        await page.keyboard.press('Enter');
        await settle();
        out.fate = await shown("[shadowtrace.total().bytes, shadowtrace.state().fate]");
        await open(args.url + '#what=alive&range=' + args.range + '&view=tables&table=types');
        out.grown = await shown("[shadowtrace.total(), document.querySelector('.list-head').innerText," +
            " [...document.querySelectorAll('.list-row')].map(e => e.innerText), document.getElementById('meaning').innerText]");
        for (const view of ['overview', 'flame', 'butterfly', 'tree', 'source']) {
            await shown(`shadowtrace.set({view: '${view}'})`);
            await settle();
        }
        await open(args.url + '#what=evil&fate=77777');
        out.nonsense = await shown('[shadowtrace.state().what, shadowtrace.state().fate]');
        return {out, messages, requests};
    ''', {'url': url, 'range': '65-170'}, browser=browser)
    test_page.nobody_asked(t, found)
    out = found['out']
    t.equal(out['options'], ['Allocated', 'Alive at the end', 'Peak', 'Alive, grown', 'Temporary', 'Lifetimes'])
    t.equal([out[what]['bytes'] for what in ('end', 'peak', 'temporary', 'alive', 'lifetimes')], [304, 100224, 192, 200, 190512])
    t.true('what=peak' in out['peak']['hash'] and 'alive at the peak' in out['peak']['total'], out['peak'])
    for what, words in dict(end=['objects allocated after it', 'collection 4 (generation 2', 'full one'],
                            peak=['left the most', 'collection 3'], temporary=['dead at the first collection']).items():
        t.equal([word for word in words if word not in out[what]['meaning'].replace('\u202f', ' ')], [], out[what]['meaning'])
        t.true(out[what]['threads'], 'threads can be chosen, though nobody knows whose objects are')
    t.equal(out['fates'], ['alive', 'died young'] + ['died in %s, having survived %s' % death for death in (
        ('gen 1', '1 collection'), ('gen 2', '3 collections'), ('large', '1 collection'), ('large', '2 collections'))])
    t.equal(out['fate'], [200, 1])
    total, head, rows, meaning = out['grown']
    t.equal((total['oldBytes'], total['bytes'] - total['oldBytes']), (90136, 100224), 'before and after (%d ns)' % second)
    t.true('Grew' in head and 'Grown:' in meaning, (head, meaning))
    t.equal((out['nonsense']), ['made', -1])


@consumers.each_browser
def test_what_is_estimated_has_the_ranges_of_report(t, browser):
    """A log whose objects are samples: each weight, and what has grown between two moments."""
    log = os.path.join(test_page.LOGS, 'alive-sampled.ndjson')
    url = test_page.make(t, 'sampled.html', '--names=full', '--no-lines', log)
    found = consumers.browser_run(t, test_page.OPEN + '''
        await open(args.url);
        const out = {};
        for (const what of args.whats) {
            await shown(`shadowtrace.set({what: '${what}', view: 'overview'})`);
            await settle();
            out[what] = await shown(`({range: shadowtrace.interval('bytes'), bytes: shadowtrace.total().bytes,
                facts: document.querySelector('.facts').innerText, total: document.getElementById('total').innerText})`);
        }
        await open(args.url + '#what=alive&range=65-170&view=overview');
        out.grown = await shown(`({range: shadowtrace.interval('bytes'), facts: document.querySelector('.facts').innerText})`);
        return {out, messages, requests};
    ''', {'url': url, 'whats': ['end', 'peak', 'temporary', 'alive', 'lifetimes']}, browser=browser)
    test_page.nobody_asked(t, found)
    asked = dict(end=('end', 'bytes'), peak=('peak', 'live_bytes'), temporary=('temporary', 'temporary_bytes'),
                 alive=('live', 'live_bytes'), lifetimes=('lifetimes', 'bytes'))
    for what, (view, member) in asked.items():
        total = tool_json('report', '--view', view, '--by', 'site', '--format', 'json', '--quiet', '--no-lines', log)['total']
        low, high = total[member + '_range']
        page = found['out'][what]
        t.true(abs(page['range']['low'] - low) <= 0.2 * (high - low) and abs(page['range']['high'] - high) <= 0.2 * (high - low),
               '%s: %s, report has %s' % (what, page, total))
        t.true('estimated' in page['facts'] and '\u2248' in page['total'], page)
    grown = found['out']['grown']['range']
    low, high = tool_json('report', '--view', 'grown', '--from', '2600ms', '--to', '6800ms', '--format', 'json', '--quiet', '--no-lines',
                          log)['total']['grown_bytes_range']
    t.true(grown['low'] < 0 < grown['high'] and abs(grown['low'] - low) + abs(grown['high'] - high) <= 0.2 * (high - low),
           '%s, report has %s' % (grown, (low, high)))


@early
@needs('Keeper', framework=PLAIN[0])
@consumers.each_browser
def test_a_program_that_keeps_in_every_way(t, browser):
    pages_agree(t, browser, [kept(t, PLAIN).path], every=3)


def test_pages_without_it_say_nothing_of_it(t):
    """A part, one thread, a difference, a log without --live: what is alive would be of something else."""
    other = os.path.join(test_page.LOGS, 'small.ndjson')
    urls = [test_page.make(t, 'part.html', '--from=warm', ALIVE), test_page.make(t, 'thread.html', '--thread=1', ALIVE),
            test_page.make(t, 'diff.html', '--diff', ALIVE, ALIVE), test_page.make(t, 'small.html', other)]
    found = consumers.browser_run(t, test_page.OPEN + '''
        const out = [];
        for (const url of args.urls) {
            await open(url + '#what=end');
            out.push(await shown("[shadowtrace.state().what, document.querySelectorAll('#weights select').length, shadowtrace.total().bytes]"));
        }
        return {out, messages, requests};
    ''', {'urls': urls})
    test_page.nobody_asked(t, found)
    t.equal([one[:2] for one in found['out']], [['made', 0]] * 4)
    t.true(all(one[2] for one in found['out']), found['out'])


def growing(t, name, grows):
    """The fixture, whose last collection says what grows: [site, collections, objects]."""
    path = t.path(name)
    total = '"gc":4,"depth":2,'
    with open(ALIVE, encoding='utf-8') as old, open(path, 'w', encoding='utf-8') as new:
        for line in old:
            new.write(line.replace(total, '"grows":%s,' % json.dumps(grows) + total))
    return path


@consumers.each_browser
def test_what_grows_stands_in_the_head(t, browser):
    """In the words of the report; several places one by one, behind the largest; and nothing where nothing grows."""
    one, two = growing(t, 'one.ndjson', [[1, 5, 50]]), growing(t, 'two.ndjson', [[3, 6, 8], [1, 5, 50]])
    said, = re.findall(r'^grows at each .*', tool('report', '--view', 'grown', '--no-lines', one).text, re.M)
    t.equal(said, 'grows at each of 5 full collections: +50 objects, Cache.Put')
    found = consumers.browser_run(t, test_page.OPEN + '''
        const out = [];
        for (const url of args.urls) {
            await open(url);
            out.push(await shown("[...document.querySelectorAll('#flags .warn')].map(e => [e.querySelector('summary') || e, " +
                "...e.querySelectorAll('li')].map(e => e.textContent))"));
        }
        return {out, messages, requests};
    ''', {'urls': [test_page.make(t, name + '.html', '--no-lines', log)
                    for name, log in (('none', ALIVE), ('one', one), ('two', two))]}, browser=browser)
    test_page.nobody_asked(t, found)
    other = 'grows at each of 6 full collections: +8 objects, Web.Handle'
    t.equal(found['out'], [[], [['⚠ ' + said]], [['⚠ %s; and 1 more' % said, said, other]]])


@needs('Kept')
@consumers.each_browser
def test_who_keeps_memory(t, browser):
    """Rows and ways of `html --heap` are those of `retained`."""
    program = Kept(t, '--check', '0', '--live', nodes=5000)
    dump(t, program)
    t.equal(program.close(), 0, 'exit status')
    heap = t.path('heap')

    def retained(*options):
        return tool_json('retained', '--format', 'json', *options, program.path, heap)

    url = test_page.make(t, 'heap.html', '--names=full', '--heap', heap, program.path)
    found = consumers.browser_run(t, test_page.OPEN + '''
        await open(args.url);
        const out = {tabs: await shown("[...document.querySelectorAll('#tabs button')].map(b => b.innerText)")};
        await page.click('[data-view=heap]');
        await settle();
        const rows = "[...document.querySelectorAll('.list-row')].map(e => e.innerText.split('\\\\n')[0])";
        const ways = "[...document.querySelectorAll('.ways table')].map(table => [...table.querySelectorAll('tbody tr')]" +
            ".map(row => [...row.cells].map(cell => cell.innerText)))";
        out.types = await shown(rows);
        out.heap = await shown("shadowtrace.head.heap");
        const number = await shown("shadowtrace.head.heap.types.findIndex(row => row.name === 'Kept.Load')");
        await shown(`document.querySelectorAll('.list-row')[${number}].click()`);
        await settle();
        out.load = await shown(ways);
        out.hash = await shown('location.hash');
        const value = await shown("shadowtrace.head.heap.types.findIndex(row => row.name === 'Kept.Value')");
        await shown(`shadowtrace.set({holder: ${value}})`);
        await settle();
        out.value = [await shown(ways), await shown("document.querySelector('.ways').innerText")];
        await page.click('[data-value=lines]');
        await settle();
        out.lines = await shown(rows);
        out.line = await shown(ways);
        await page.setViewport({width: 360, height: 800});
        await settle();
        out.narrow = await shown('document.documentElement.scrollWidth <= innerWidth');
        return {out, messages, requests};
    ''', {'url': url}, browser=browser)
    test_page.nobody_asked(t, found)
    out, said = found['out'], retained()
    t.equal(out['tabs'][-1], 'Retained')
    keys = 'objects', 'bytes', 'retained_objects'
    for rows, key in ('types', 'type'), ('lines', 'file'):
        t.equal([[row[one] for one in keys] + [row['retained']] for row in out['heap'][rows]],
                [[row[one] for one in keys] + [row['retained_bytes']] for row in said[rows]], rows)
        t.true(len(said[rows]) > 3 and any(key in row for row in said[rows]), said[rows])
    t.equal([row['name'] for row in out['heap']['types']], [row.get('type', '?') for row in said['types']])
    t.equal((out['heap']['objects'], out['heap']['bytes']), (said['total']['objects'], said['total']['bytes']))
    t.true(out['types'][0] and out['types'][0] in out['heap']['types'][0]['name'], out['types'])
    way, = retained('--type', 'Kept.Load')['paths']
    shown_way, = out['load']
    t.equal(shown_way[0], ['', 'static ' + way['root']['name'], ''], 'the root comes first')
    t.equal([row[1:] for row in shown_way[1:]],
            [[('.%s: ' % step['field'] if 'field' in step else '') + step['type'], 'Program.cs:%d' % step['line'] if 'line' in step else ''] for step in way['steps']], 'the way to a Load')
    t.true(not out['value'][0] and '--type PATTERN' in out['value'][1], 'of a row that retains little the page says who knows the ways')
    t.true('holder=' in out['hash'] and 'view=heap' in out['hash'], out['hash'])
    t.true(out['lines'] and out['line'] and out['narrow'], out['lines'])
    one_line(tool('html', '--heap', program.path, program.path, '-o', t.path('no.html')), 3, 'not a heap dump')
    one_line(tool('html', '--heap', heap, program.path, program.path, '-o', t.path('no.html')), 2, 'one log')
    one_line(tool('html', '--heap', heap, ALIVE, '-o', t.path('no.html')), 2, 'process')
