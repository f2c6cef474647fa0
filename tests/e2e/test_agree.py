"""
One log, read in every way that there is: the text and JSON of each view, the page's scripts, each export by its consumer.
They agree with the lines of the log and with each other, to the byte: in all, by type, by method (itself, and with what it
calls), by line, by thread, by size and over time.
"""
import glob
import json
import os
import re
import resource
import shutil
import threading

import harness
import readback
import test_compiler
from consumers import pprof
from harness import OUT, PROGRAM, each, early, heavy, lane, needs, prepares, tool, tool_json
from readback import Sums

LOGS = sorted(set(glob.glob(os.path.join(harness.ROOT, 'tests/fixtures/logs/*.ndjson'))) -
              {os.path.join(harness.ROOT, 'tests/fixtures/logs', name) for name in ('invalid.ndjson', 'version2.ndjson')})
SYMBOLS = os.path.join(harness.ROOT, 'tests/fuzz/corpus/symbols')
FLOAT_EXACT = 1 << 24  # PerfView's metrics are floats

FLAT = 'sites', 'types', 'methods', 'lines', 'modules', 'namespaces', 'threads', 'sizes', 'time'
VIEWS = ('overview', 'tree') + FLAT
TABLES = 'types', 'methods', 'lines', 'modules', 'namespaces', 'threads', 'sizes'  # what pages have the same of
REFUSED = {'threads': 'record without --log sites', 'time': 'record without --log sites', 'lines': 'has a source line',
           'modules': 'record without --stacks inline', 'namespaces': 'record without --stacks inline'}
READERS = {'speedscope': readback.read_speedscope, 'collapsed': readback.read_collapsed, 'otlp': readback.read_otlp,
           'rows': readback.read_rows}
NO_FRAME = '(no managed frame)'
NO_OWN_FRAME = '(no own frame)'  # what it is called where own code only was recorded
LOST, LOST_METHOD = '(callers not in the log)', '(unknown method)'  # of a damaged log; the second of a row by method
FOLDED = '(smaller ones)'


def name_of(log):
    return os.path.basename(log).replace('.ndjson', '')


def same(t, what, found, expected, slack=0, parts=2):
    """Two tables {name: [bytes, objects]}, but for rows of nothing. parts: 1 for bytes only."""
    found, expected = ({name: list(row[:parts]) for name, row in table.items() if any(row[:parts])} for table in (found, expected))
    nothing = [0] * parts
    wrong = [(name, found.get(name), expected.get(name)) for name in {*found, *expected}
             if any(abs(a - b) > slack for a, b in zip(found.get(name, nothing), expected.get(name, nothing)))]
    t.true(not wrong, '%s: name, found, expected, %d of %d: %s' % (what, len(wrong), len(expected), sorted(wrong, key=str)[:6]))


def put(table, name, row, prefix=''):
    sums = table.setdefault(name, [0, 0])
    sums[0] += row[prefix + 'bytes']
    sums[1] += row[prefix + 'allocs']


def as_line(row):
    return '%s:%d%s' % (row['file'], row['line'], '-%d' % row['line_last'] if 'line_last' in row else '') if row.get('line') else None


class Report:
    """All views of a log in JSON, and their Sums. What a log has nothing for is None."""

    def __init__(self, log, *options, views=VIEWS):
        self.log, self.options, self.views = log, options, {}
        for view in views:
            result = tool('report', '--view', view, '--format', 'json', '--all-frames', *options, log)
            refused = result.status == 2 and view in REFUSED and any(
                why in result.errors for why in (REFUSED[view], 'record without --stacks inline'))
            if result.status not in (0, 1) and not refused:
                raise AssertionError(str(result))
            self.views[view] = None if refused else json.loads(result.out)
        self.estimated = self['types']['total']['estimated']
        self.slack = 50 if self.estimated else 0  # rows of estimates are rounded, each by itself
        self.total = [self['types']['total'][key] for key in ('bytes', 'allocs')]
        self.sums = Sums()
        self.several = set()  # names, or lines, of more than one method: with calls they have more than each of them
        for row in self['types']['rows']:
            put(self.sums.types, row['type'], row)
        for row in self['methods']['rows']:
            name = row['method'] or NO_FRAME
            if name in self.sums.whole:
                self.several.add(name)
            put(self.sums.own, name, row)
            put(self.sums.whole, name, row, 'total_')
        for row in self['lines']['rows'] if self['lines'] else []:
            if as_line(row) in self.sums.lines:
                self.several.add(as_line(row))
            if as_line(row):
                put(self.sums.lines, as_line(row), row, 'total_')
        for row in self['threads']['rows'] if self['threads'] else []:
            put(self.sums.threads, row.get('thread'), row)

    def __getitem__(self, view):
        return self.views[view]

    def whole(self, table):
        """Of a table of methods, or lines, those that are of one method each."""
        return {name: row for name, row in table.items() if name not in self.several}


def of_lines(log):
    """Bytes and objects of a log that nothing was estimated or lost of, from its lines."""
    total = [0, 0]
    with open(log, encoding='utf-8') as file:
        for line in file:
            if '"kind":"alloc"' in line or '"kind":"site"' in line:
                record = json.loads(line)
                total[0] += record['bytes']
                total[1] += record.get('allocs', 1)
    return total


def of_tree(rows):
    """Sums of the view of a tree."""
    sums, above = Sums(), []
    for row in rows:
        name = (row['method'] or NO_FRAME).removesuffix(' [filter]')
        over = above[row['parent']] if row['parent'] is not None else frozenset()
        above.append(over | {name})
        put(sums.own, name, row)
        if name not in over:
            put(sums.whole, name, row, 'total_')
    sums.whole.pop('(all)', None)
    return sums


def views_agree(t, report):
    what = name_of(report.log)
    sites = Sums()
    for row in report['sites']['rows']:
        put(sites.types, row['type'], row)
        put(sites.own, row['method'] or NO_FRAME, row)
    for view, found in report.views.items():
        if not found:
            t.true(view in REFUSED, '%s has nothing for %s' % (what, view))
            continue
        t.equal([found['total'][key] for key in ('bytes', 'allocs')], report.total, '%s: total of %s' % (what, view))
        for i, key in enumerate(('bytes', 'allocs')):
            rows = sum(row[key] for row in found['rows'])
            t.true(abs(rows - report.total[i]) <= report.slack, '%s: %s of %s: %d of %d' % (what, key, view, rows, report.total[i]))
    if LOST in report.sums.own and LOST_METHOD in sites.own:
        sites.own[LOST] = sites.own.pop(LOST_METHOD)
    tree = of_tree(report['tree']['rows'])
    same(t, what + ': types of sites', sites.types, report.sums.types, report.slack)
    same(t, what + ': methods of sites', sites.own, report.sums.own, report.slack)
    same(t, what + ': methods of the tree', tree.own, report.sums.own, report.slack)
    for name, row in report.whole(tree.whole).items():  # a tree folds recursion: what is between has less than all of its calls
        t.true(row[0] <= report.sums.whole[name][0] + report.slack, '%s: %s with calls, of the tree: %s' % (what, name, row))


def merged_agree(t, report):
    """Callers of the heaviest type, callees of the heaviest methods: on top stands what the other views say of them."""
    what = name_of(report.log)

    def top(view, name):
        pattern = re.sub(r'[*?\[\]\\]', '?', name)
        rows = tool_json('report', '--view', view, '--format', 'json', *report.options, pattern, report.log)['rows']
        return [sum(row[key] for row in rows if row['depth'] == 0) for key in ('total_bytes', 'total_allocs')]

    named = {name: row for name, row in report.sums.types.items() if name and name[0] != '('}
    for name in sorted(named, key=named.get)[-1:]:
        t.equal(top('callers', name), named[name], '%s: callers of %s' % (what, name))
    named = {name: row for name, row in report.whole(report.sums.whole).items() if name[0] != '(' and name not in report.sums.types}
    for name in sorted(named, key=named.get)[-2:]:
        t.equal(top('callees', name), named[name], '%s: callees of %s' % (what, name))


NUMBER = r'([\d,]+)'


def text_agrees(t, report):
    """The text of each view has the total, and of the flat ones each row, in the order of JSON."""
    what = name_of(report.log)
    for view, found in report.views.items():
        if not found:
            continue
        text = tool('report', '--view', view, '--top', '0', '--wide', '--names', 'full', *report.options, report.log).text
        mixed = found['total'].get('mixed')  # then how many objects is as good as unknown, and not told
        for number in report.total[:1] if mixed else report.total:
            t.true(re.search(r'(?<![\d,])%s(?![\d,])' % re.escape('{:,}'.format(number)), text),
                   '%s: %d is not in %s: %s' % (what, number, view, text[:500]))
        if view not in FLAT or report.estimated:
            continue
        rows = [[int(number.replace(',', '')) for number in row]
                for row in re.findall(r'^ *(?:[\d.,]+ [mµ]?s +)?%s +<?[\d.]+%% +%s(?= |$)' % (NUMBER, NUMBER), text, re.M)]
        expected = [[row['bytes'], row['allocs']] for row in found['rows']]
        t.equal(len(rows), len(expected), '%s: rows of %s: %s' % (what, view, text[:1500]))
        if view == 'time':
            t.equal(rows, expected, '%s: %s' % (what, view))
        else:
            t.equal(sorted(rows), sorted(expected), '%s: %s' % (what, view))


def page_agrees(t, report, page, what=None):
    """page: what readback.read_pages() found of it in one state."""
    what = '%s: page: ' % (what or name_of(report.log))
    tables = {}
    for table, rows in page['tables'].items():
        tables[table] = {}
        for row in rows:
            key = row['name']
            if table == 'threads':
                key = page['threads'][row['key']]['id'] if row['key'] < len(page['threads']) else None
            elif table == 'sizes':
                key = (page['heaps'][row['key'] >> 6].replace('small', 'normal'), 1 << (row['key'] & 63))
            elif table == 'lines':
                key = row['full']
            elif key == NO_OWN_FRAME:
                key = NO_FRAME
            put(tables[table], key, row)
            if table in ('methods', 'lines', 'modules', 'namespaces'):
                put(tables.setdefault(table + ' with calls', {}), key, row, 'total_')
    total = [page['total'][key] for key in ('bytes', 'allocs')]
    slack = report.slack
    t.true(all(abs(a - b) <= (0.5 if slack else 0) for a, b in zip(total, report.total)), (what, total, report.total))
    for view in 'picture', 'reversed':
        t.true(all(abs(page[view][key] - whole) <= slack for key, whole in zip(('bytes', 'allocs'), report.total)), what + view)
        t.true(abs(sum(page[view]['children']) - report.total[0]) <= slack, '%s: children in %s' % (what, view))
    for table in 'types', 'threads', 'sizes':
        for i in 0, 1:
            t.true(abs(sum(row[i] for row in tables[table].values()) - report.total[i]) <= slack, what + table)
    same(t, what + 'types', tables['types'], report.sums.types, slack)
    same(t, what + 'methods', tables['methods'], report.sums.own, slack)
    same(t, what + 'methods with calls', report.whole(tables.get('methods with calls', {})), report.whole(report.sums.whole), slack)
    same(t, what + 'lines with calls', report.whole(tables.get('lines with calls', {})), report.whole(report.sums.lines), slack)
    if report['threads']:
        same(t, what + 'threads', tables['threads'], report.sums.threads, slack)
    sizes = {}
    for row in report['sizes']['rows']:
        put(sizes, (row.get('heap'), row.get('size_from')), row)
    same(t, what + 'sizes', tables['sizes'], sizes, slack)
    for table, member in ('modules', 'module'), ('namespaces', 'namespace'):
        for prefix, title in ('', ''), ('total_', ' with calls'):
            expected = {}
            for row in report[table]['rows'] if report[table] else []:
                if row[member] is not None and row[member][:1] != '(':
                    put(expected, row[member] or '(none)', row, prefix)
            found = {name: row for name, row in tables.get(table + title, {}).items() if name[0] != '(' or name == '(none)'}
            if report[table]:
                same(t, what + table + title, found, expected, slack)
    if report.views.get('overview'):
        own_lines_agree(t, report, page, what)


def own_lines_agree(t, report, page, what):
    """Bytes by line of own code, with those of no own frame."""
    overview, slack = report['overview'], report.slack
    t.true(abs(sum(row['bytes'] for row in page['nearest']) - report.total[0]) <= slack, what + 'own lines: total')
    expected, own = {}, 0
    for row in overview['rows']:
        line = as_line(row) + '  ' if row.get('line') else ''
        put(expected, NO_OWN_FRAME if row.get('no_own_frame') else line + row['method'], row)
        own += 0 if row.get('no_own_frame') else row['bytes']
    t.true(abs(sum(row[0] for row in expected.values()) - report.total[0]) <= slack, what + 'own lines: total of the report')
    if own * 100 < report.total[0] or overview['own_code']['stand_in']:
        return  # the page has packages, then
    found = {}
    for row in page['nearest']:
        put(found, NO_OWN_FRAME if row['key'] == -1 else row['full'], row)
    same(t, what + 'own lines', found, expected, slack)


def flat(name):
    return name.replace(';', ':')


def flatly(table):
    sums = {}
    for name, row in table.items():
        put(sums, flat(name), {'bytes': row[0], 'allocs': row[1]})
    return sums


def export_agrees(t, report, form, found, folded):
    """found: the Sums of an export. folded: smaller ones are at their callers, so that methods may lack as much."""
    what = '%s: %s: ' % (name_of(report.log), form)
    parts = 2 if form in ('pprof', 'speedscope', 'otlp', 'rows') else 1
    slack = report.slack
    if form == 'perfview':
        slack += report.total[0] // FLOAT_EXACT * len(report.sums.types)
    plain = flatly if form == 'collapsed' else dict
    t.true(all(abs(a - b) <= slack for a, b in zip(found.total[:parts], report.total)), (what, found.total, report.total))
    same(t, what + 'types', found.types, plain(report.sums.types), slack, parts)
    least = found.whole.pop(FOLDED, [0, 0])[0] if folded else 0
    found.own.pop(FOLDED, None)
    for table in found.own, found.whole:
        if NO_OWN_FRAME in table:
            table[NO_FRAME] = table.pop(NO_OWN_FRAME)
    if least:
        for table, expected in (found.own, report.sums.own), (report.whole(found.whole), report.whole(report.sums.whole)):
            expected = plain(expected)
            wrong = [(name, row, expected.get(name)) for name, row in expected.items()
                     if not row[0] - least - slack <= table.get(name, [0])[0] <= row[0] + slack]
            t.true(not wrong, '%smethods: %s' % (what, wrong[:5]))
            t.equal([name for name in table if name not in expected], [], what + 'methods')
        return
    same(t, what + 'methods', found.own, plain(report.sums.own), slack, parts)
    same(t, what + 'methods with calls', report.whole(found.whole), plain(report.whole(report.sums.whole)), slack, parts)
    if found.lines:  # these formats have no ranges of lines
        expected = {line: row for line, row in report.whole(report.sums.lines).items() if '-' not in line.rpartition(':')[2]}
        same(t, what + 'lines', report.whole(found.lines), expected, slack, parts)


def exports_agree(t, reports, *options, forms=(*readback.OF_ALL_LOGS, 'rows')):
    folded = not options
    made = [(report, form, readback.export(t, form, [report.log], *options,
                                           name=name_of(report.log) + ('-folded' if folded else '-whole')))
            for report in reports for form in forms]
    traces = [path for _, form, path in made if form in ('nettrace', 'perfview')]
    found = dict(zip(traces, readback.read_traces(t, traces), strict=True)) if traces else {}
    for report, form, path in made:
        if form == 'pprof':
            if report.total[1]:
                export_agrees(t, report, form, readback.read_pprof(t, path), folded)
        elif form in READERS:
            export_agrees(t, report, form, READERS[form](path), folded)
        else:
            t.equal(found[path].get('lost', 0), 0, '%s: lost' % path)
            export_agrees(t, report, form, readback.from_trace(found[path]), folded)
    return {form: path for _, form, path in made}, found


def page_of(t, log, *options, name=None):
    path = t.path('%s.html' % (name or name_of(log)))
    result = tool('html', '--names', 'full', *options, '-o', path, log)
    t.equal(result.status, 0, result)
    return path


def everything(t, reports):
    """Views, text and page of some logs; the exports are the caller's."""
    pages = readback.read_pages([{'path': page_of(t, report.log), 'states': [{}]} for report in reports])
    for report, (page,) in zip(reports, pages, strict=True):
        views_agree(t, report)
        merged_agree(t, report)
        text_agrees(t, report)
        page_agrees(t, report, page)


@prepares(readback.reader)
def test_fixtures(t):
    reports = [Report(log) for log in LOGS]
    for report in reports:
        if not report.estimated and name_of(report.log) != 'damaged':
            t.equal(report.total, of_lines(report.log), name_of(report.log) + ': its lines')
    everything(t, reports)
    exports_agree(t, reports, '--min-share', '0')


def test_own_lines(t):
    """Lines that are not known, or one of several; methods without lines, and stacks without own code."""
    logs = [os.path.join(harness.ROOT, 'tests/fixtures/logs', name + '.ndjson') for name in ('own-lines', 'several')]
    options = '--symbols', SYMBOLS
    read = readback.read_pages([{'path': page_of(t, log, *options), 'states': [{}]} for log in logs])
    for log, (page,) in zip(logs, read):
        page_agrees(t, Report(log, *options), page)
    (page,), (ranges,) = read
    t.true([row for row in ranges['nearest'] if row['full'].partition('  ')[0].endswith(':27-33')], ranges['nearest'])
    t.equal(sum(1 for row in page['nearest'] if row['key'] == -1 and row['bytes'] == 3000), 1, page['nearest'])
    t.equal([row['bytes'] for row in page['nearest'] if row['name'].endswith(' (optimised)')], [1000], page['nearest'])


_recording, _recorded = threading.Lock(), []


def compile_csharp(t):
    """A log of the C# compiler, the same for all tests."""
    with _recording:
        if not _recorded:
            record = test_compiler.compiled('elt3').record
            t.equal(record.status, 0, record)
            os.makedirs(os.path.join(OUT, 'export'), exist_ok=True)
            _recorded.append(shutil.copy(record.path, os.path.join(OUT, 'export', 'csc.ndjson')))
        return _recorded[0]


def filters(report):
    """Parts of a log, as options of `report` and `html`."""
    def heaviest(table):
        names = [name for name in table if name and name[0] != '(']
        return re.sub(r'[*?\[\]\\]', '?', max(names, key=table.get)) if names else '*'

    a_type, method, caller = (heaviest(table) for table in (report.sums.types, report.sums.own, report.whole(report.sums.whole)))
    yield from (('--type', a_type), ('--exclude', a_type), ('--method', method), ('--exclude', method), ('--below', caller))
    yield from (('--steady',), ('--physical',), ('--method', caller, '--exclude', a_type))
    yield '--own',
    if report['time']:
        yield '--from', '20%', '--to', '70%'


def parts_agree(t, log):
    """Filtered when the page is made, and in the page: by thread, by time, and by both. Sums are those of the same report."""
    pages, reports = [], []
    whole = page_of(t, log, '--slice', '1ms' if os.path.getsize(log) < 1e6 else '100ms', name='sliced-' + name_of(log))
    report = Report(log, views=TABLES + ('time',))
    (page,), = readback.read_pages([{'path': whole, 'states': [{}]}])
    states = []
    for number, thread in list(enumerate(page['threads']))[:3]:
        states.append(({'thread': number}, ('--thread', str(thread['id']))))
    if page['slice_count'] > 1:
        for begin, end in (0, 1), (1, page['slice_count']), (page['slice_count'] // 3, page['slice_count'] // 3 + 1):
            times = [number * page['slice_ns'] for number in (begin, end)]
            states.append(({'from': begin, 'to': end}, ('--from', '%dns' % times[0], '--to', '%dns' % times[1])))
        for number, thread in list(enumerate(page['threads']))[:1]:
            states.append((dict(states[-1][0], thread=number), (*states[-1][1], '--thread', str(thread['id']))))
    if report['time'] and states:
        pages.append({'path': whole, 'states': [state for state, _ in states]})
        reports.append([options for _, options in states])
    for number, options in enumerate(filters(report) if report.total[1] else ()):
        pages.append({'path': page_of(t, log, *options, name='part-%d-%s' % (number, name_of(log))), 'states': [{}]})
        reports.append([options])
    for found, asked in zip(readback.read_pages(pages), reports, strict=True):
        for page, options in zip(found, asked, strict=True):
            page_agrees(t, Report(log, *options, views=TABLES), page, '%s %s' % (name_of(log), ' '.join(options)))


# In `make check`: of events, by site, with whole stacks, sampled, damaged, with marks, with live objects, of own code.
DIFFERENT = ('small', 'sites', 'inline', 'sampled', 'damaged', 'marks', 'alive', 'own', 'lines')


@each('log', *DIFFERENT, full=('programs', [name_of(log) for log in LOGS]))
def test_parts(t, log):
    parts_agree(t, os.path.join(harness.ROOT, 'tests/fixtures/logs', log + '.ndjson'))


@needs('KnownAllocs')
def test_lines(t):
    """A program whose lines are known."""
    record = t.record(PROGRAM.command('KnownAllocs'))
    t.equal(record.status, 0, record)
    report = Report(record.path)
    t.true(report.sums.lines, 'no lines')
    everything(t, [report])
    exports_agree(t, [report], '--min-share', '0')


@lane('programs')
@early
def test_the_csharp_compiler(t):
    log = compile_csharp(t)
    report = Report(log)
    t.equal(report.total, of_lines(log), 'its lines')
    everything(t, [report])
    exports_agree(t, [report], '--min-share', '0')
    parts_agree(t, log)
    made, found = exports_agree(t, [report])
    single = readback.export(t, 'nettrace', [log], '--each', '--min-share', '0', name='each')
    (each_object,) = readback.read_traces(t, [single])
    sites, folded = len(report['sites']['rows']), found[made['nettrace']]['events']
    t.equal((each_object['bytes'], each_object['events'], each_object['lost']), (*report.total, 0))
    threads = {str(row['os']): row['bytes'] for row in report['threads']['rows']}
    t.equal(each_object['threads'], threads, 'threads of each object')
    same(t, 'each object', readback.from_trace(each_object).whole, report.sums.whole, parts=1)
    with open(readback.export(t, 'speedscope', [log], '--each', name='each'), encoding='utf-8') as file:
        profiles = json.load(file)['profiles'][2:]
    t.equal(sorted(sum(profile['weights']) for profile in profiles), sorted(threads.values()), 'threads of speedscope')
    t.true(len(threads) > 1 and each_object['last'] > 100, 'threads and times are lost')
    t.true(folded < sites, 'nothing is folded: %d, %d' % (folded, sites))
    t.true('as (smaller ones)' in found[made['perfview']]['notes'], found[made['perfview']]['notes'])
    top = pprof(t, '-top', made['pprof'])
    heaviest = max(report.sums.types, key=report.sums.types.get)
    t.true(heaviest in top.split('flat%')[1].splitlines()[1], top[:2000])
    t.note('%d objects, %d samples' % (report.total[1], folded))


@lane('fsharp')
@heavy
def test_the_fsharp_compiler(t):
    """Four million objects. With the default --min-share pprof has to be quick."""
    import matrix
    _, command, _ = matrix.compilers(t.folder)[1]
    record = t.record([part.replace('{made}', t.path('made')) for part in command], '--check', '0', '--log', 'sites', timeout=900)
    t.equal(record.status, 0, record)
    report = Report(record.path)
    t.equal(report.total, of_lines(record.path), 'its lines')
    everything(t, [report])
    made, found = exports_agree(t, [report])
    exports_agree(t, [report], '--min-share', '0', forms=('nettrace',))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    top = pprof(t, '-top', made['pprof'])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    t.true(max(report.sums.types, key=report.sums.types.get) in top, top[:2000])
    t.true(seconds <= 20, 'go tool pprof -top takes %.1f s of CPU' % seconds)
    t.note('%s objects, %s samples, pprof -top %.1f s of CPU' % (report.total[1], found[made['nettrace']]['events'], seconds))
