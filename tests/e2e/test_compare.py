"""shadowtrace compare and diff: what they say of real recordings, alone and side by side."""
import os
import subprocess

import harness
import test_compiler
from control import Living
from harness import ENVIRONMENT, HOOKS, PROGRAM, UNTIL_EOF, each, needs, one_line, run, tool, tool_json


@needs('Threads')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_each_thread_has_its_share_of_the_comparisons(t, hooks):
    r = t.record(PROGRAM.command('Threads') + ['--case', 'short-threads', '--scale', '15'], hooks=hooks, check=1)
    c = t.exact(r)
    threads = c['by_thread']
    t.true(len(threads) > 10, '%d threads' % len(threads))
    for key in 'compared', 'equal', 'mismatched':
        t.equal(sum(row[key] for row in threads), c[key], key)
    t.equal(sum(row['refused'] for row in threads), c['snapshots']['refused'], 'refused')
    counts = {}
    for alloc in r.log.allocs:
        counts[alloc['thread']] = counts.get(alloc['thread'], 0) + 1
    t.equal({row['thread']: row['compared'] + row['refused'] for row in threads}, counts, 'allocations of each thread')
    for row in threads:
        t.true(not row['compared'] or row['snapshot_ns'] > 0, row)


@needs('KnownAllocs')
def test_both_kinds_of_hooks_side_by_side(t):
    settled = dict(ENVIRONMENT, DOTNET_TieredCompilation='0')  # what is inlined when depends on the machine's load
    logs = [t.record(PROGRAM.command('KnownAllocs'), '--capture', 'both', hooks=hooks, env=settled).path for hooks in HOOKS]
    both = tool_json('compare', '--format=json', *logs)
    for path, side in zip(logs, both['logs']):
        t.equal(side['log']['file'], path, 'file')
        t.equal((side['equal'], side['accuracy']), (side['compared'], 1), 'equal')
        t.true(side['compared'] > 100 and side['cost']['by_depth'] and side['by_thread'], 'figures')
    sites = both['sites']
    # Sites are taken by the instructions of all their frames, and two runs differ in a few: a thread that comes
    # first fills the runtime's caches, and which of several calls made an object can be told once more stubs lead on.
    t.true(sites['same'] > 5 * (sites['changed'] + sites['only_first'] + sites['only_second']), sites)
    totals = tool_json('diff', '--format=json', '--by', 'type', '--type', 'Known.*', *logs)
    t.equal((totals['changed'], totals['change']), (0, {'allocs': 0, 'bytes': 0}), 'what the program itself allocates')
    result = tool('compare', *logs)
    t.equal((result.status, result.errors), (0, ''), str(result))
    t.equal(result.text.count('The shadow stack equalled the snapshot in all of'), 2, str(result))
    wide = [line for line in result.text.splitlines()[4:] if len(line) > 100]
    t.equal(wide, [], 'lines of more than 100 columns')
    t.true('\033' not in result.text, 'colours in a file')


@needs('KnownAllocs', 'Hello')
def test_two_recordings_of_one_program_do_not_differ_where_it_allocates(t):
    logs = [t.record(PROGRAM.command('KnownAllocs'), hooks=hooks).path for hooks in HOOKS]
    for by in 'site', 'type', 'method', 'line':
        d = tool_json('diff', '--format=json', '--by', by, '--type', 'Known.*', *logs)
        t.equal((d['changed'], d['change']), (0, {'allocs': 0, 'bytes': 0}), by)
        t.true(d['same'] > 3, 'by %s: %d are the same' % (by, d['same']))
    other = t.record(PROGRAM.command('Hello')).path
    d = tool_json('diff', '--format=json', logs[0], other)
    t.equal(sum(row['bytes'] for row in d['rows']), d['change']['bytes'], 'sum of the changes')
    t.equal(d['change']['bytes'], d['new']['bytes'] - d['old']['bytes'], 'change')


SOURCE = '''
public class Item { public long a, b; }

public static class Shop
{
    static object[] kept = new object[64];

    public static void Main()
    {
        for (int i = 0; i < 2000; i++)
        {
            kept[i % 8] = new Item();
            kept[8 + i % 8] = new byte[100];
            kept[16 + i % 8] = new byte[40];
            kept[24 + i % 8] = new Item();
        }
    }
}
'''
CHANGED = (SOURCE.replace('\npublic class', '\n// Written above\n// all the rest.\npublic class')
           .replace('kept[8 +', 'if (i == 2000)\n                return;\n            kept[8 +').replace('byte[100]', 'byte[140]'))


def build(t, name, source):
    csc, references = test_compiler.compiler()
    os.makedirs(t.path(name))
    made, text = t.path(name, 'shop.dll'), t.path(name, 'Shop.cs')
    with open(text, 'w', encoding='utf-8') as file:
        file.write(source)
    result = run(['dotnet', csc, '-nologo', '-noconfig', '-optimize', '-debug:portable', '-out:' + made, text] + ['-r:' + r for r in references])
    t.equal(result.status, 0, str(result))
    return ['dotnet', 'exec', '--runtimeconfig', PROGRAM.command('Hello')[-1].replace('.dll', '.runtimeconfig.json'), made]


@needs('Hello')
def test_of_two_builds_the_line_that_changed_is_first(t):
    """Every line of the newer one has another number; in one of them an array is 40 bytes longer."""
    old, new = build(t, 'old', SOURCE), build(t, 'new', CHANGED)
    logs = [t.record(command, check=0).path for command in (old, old, new)]
    line = next(n for n, text in enumerate(CHANGED.splitlines(), 1) if 'byte[140]' in text)
    for sides in [logs[0], logs[2]], logs[:2] + ['--'] + logs[2:]:
        d = tool_json('diff', '--format=json', '--by=line', *sides)
        first = d['rows'][0]
        t.equal((first['method'], os.path.basename(first['file']), first['line'], first['type']), ('Shop.Main()', 'Shop.cs', line, 'System.Byte[]'))
        t.equal((first['bytes'], first['allocs'], first['certain']), (80000, 0, True), first)
        t.equal([row for row in d['rows'][1:] if row['method'] == 'Shop.Main()'], [], 'lines that only moved')
        t.true(d['same'] > 3, d['same'])
    exact = tool_json('diff', '--format=json', '--by=line', '--exact', logs[0], logs[2])['rows']
    t.equal(len([row for row in exact if row['method'] == 'Shop.Main()']), 8, 'by their numbers all four are gone, and four are new')
    text = tool('diff', '--by=line', logs[0], logs[2])
    t.equal(text.errors, '', str(text))
    t.true('  Shop.cs:%d  Shop.Main  byte[]' % line in text.text, str(text))


@needs('KnownAllocs')
def test_folded_stacks_hold_every_byte(t):
    r = t.record(PROGRAM.command('KnownAllocs'))
    result = tool('export', '--format=collapsed', '--names=raw', '--min-share=0', '--output=-', r.path)
    t.equal((result.status, result.errors), (0, ''), str(result))
    old = tool('report', '--format=folded', r.path)
    t.equal((old.status, sorted(old.text.splitlines())), (0, sorted(result.text.splitlines())), str(old))
    t.true('export --format collapsed' in old.errors, str(old))
    total = 0
    for line in result.text.splitlines():
        stack, count = line.rsplit(' ', 1)
        t.true(stack.endswith(']') and ';[' in stack, line)
        total += int(count)
    t.equal(total, r.log.end['bytes'], 'bytes')


def marked(t, *options):
    """Two marks set while Ticker allocates; its log."""
    ticker = Living(t, PROGRAM.command('Ticker') + UNTIL_EOF + ['--threads', '2'], '--check', '0', *options,
                    stdin=subprocess.PIPE)
    pid = str(ticker.wait())
    for text in 'begin', 'end':
        ticker.ticks()
        t.equal(tool('ctl', pid, 'mark', text).status, 0, 'mark')
    ticker.ticks()
    t.equal(ticker.close(), 0, 'exit status')
    return ticker.path


def ticks(path, *options):
    return sum(row['allocs'] for row in
               tool_json('report', '--format=json', '--no-lines', '--by=type', '--type=Ticker.Tick', *options, path)['rows'])


@needs('Ticker')
def test_marks_cut_a_report(t):
    path = marked(t)
    log = harness.Log(path, cut=True)
    tick = [c for c, d in log.classes.items() if d['name'] == 'Ticker.Tick']
    begin, end = [r['t'] for r in log.others if r['kind'] == 'mark']
    times = [a['t'] for a in log.allocs if a['class'] in tick]
    t.equal(ticks(path, '--from=begin', '--to=end'), sum(begin <= time < end for time in times), 'between')
    t.equal(ticks(path, '--to=begin'), sum(time < begin for time in times), 'before')
    t.equal(ticks(path, '--from=end'), sum(time >= end for time in times), 'behind')
    one_line(tool('report', '--from=nothing', path), 2, 'no mark "nothing"; there are "begin", "end"')


@needs('Ticker')
def test_marks_cut_a_log_of_sites(t):
    path = marked(t, '--log', 'sites')
    parts = [ticks(path, '--to=begin'), ticks(path, '--from=begin', '--to=end'), ticks(path, '--from=end')]
    t.equal(sum(parts), ticks(path), 'all parts')
    t.true(min(parts) > 0, 'parts: %s' % parts)
