"""Names of what holds an object (`retained`): static fields, fields, handles, in each way that a program holds one."""
import fnmatch
import os
import subprocess

from control import Living
from harness import HOOKS, PROGRAM, PROGRAMS, each, lane, needs, one_line, tool, tool_json
from heapdump import Dump

FRAMEWORKS = 'net9.0', 'net8.0'


def matches(text, pattern):
    return fnmatch.fnmatchcase(text, pattern.replace('[', '[[]'))


def recorded(t, *options, framework=None, settings=(), hooks=None):
    """What the program says it holds: [(type, line, chain)]; log, dump."""
    heap = t.path('%d.heap' % t.records)
    r = t.record(['env', *settings] + PROGRAM.command('Holder', *[framework] if framework else []), '--live', '--heap-at-exit', heap,
                 *options, check=0, **{'hooks': hooks} if hooks else {})
    t.equal(r.status, 0, r.errors)
    with open(os.path.join(PROGRAMS, 'Holder', 'Program.cs'), encoding='utf-8') as file:
        lines = {text.split('// ')[-1].strip(): number for number, text in enumerate(file, 1) if '; // ' in text}
    said = [line.split('|') for line in r.text.splitlines() if '|' in line]
    t.true(len(said) > 15, r.text)
    return [(name, lines[member], chain) for name, member, chain in said], r.path, heap


def asked(name, log, heap):
    return tool_json('retained', '--format', 'json', '--names', 'short', '--type', 'Held.' + name, log, heap)['paths'][0]


def judge(t, said, log, heap, lines=True):
    for name, line, chain in said:
        way = asked(name, log, heap)
        t.true(matches(way['chain'], chain), '%s: %s, not %s' % (name, way['chain'], chain))
        t.equal([other for other, _, another in said if another != chain and matches(way['chain'], another)], [], 'others it would be')
        if lines:
            last = way['steps'][-1]
            t.equal((os.path.basename(last.get('file', '')), last.get('line')), ('Program.cs', line), 'the line of ' + name)
    found = Dump(heap)
    lost = [(hex(a), found.objects[a][0]) for a, slots in found.slots.items() for i, slot in enumerate(slots)
            if slot and found.name(a, i) is None]
    t.equal(lost, [], 'fields without a name')
    plain = {found.objects[a][0][-1] for a, slots in found.slots.items() if None in slots}
    t.equal(plain, {']'}, 'only of arrays of references no slots are written')
    return found


@needs('Holder')
def test_each_way_to_hold_an_object_is_named(t):
    said, log, heap = recorded(t)
    found = judge(t, said, log, heap)
    t.equal({name for _, _, kind, flags, name in found.statics if flags and kind == 'Held.Program'}, {'own'}, 'thread statics')
    way = asked('ByDictionary', log, heap)
    t.equal((way['root'], way['steps'][1]['field'], way['steps'][2]['field']),
            ({'kind': 'static', 'name': 'Cache.Items'}, '_entries', '[i].value'), 'the way as JSON')
    t.equal([asked(name, log, heap)['root'].get('handle') for name in ('ByHandle', 'ByPinned', 'ByEvent')], ['strong', 'pinned', None],
            'kinds of handles')
    text = tool('retained', '--names', 'short', '--type', 'ByTimer', log, heap).text
    t.true('static Program.timer\n' in text and '._state: ByTimer' in text, text)
    raw = tool_json('retained', '--format', 'json', '--names', 'raw', '--type', 'Held.ByProperty', log, heap)['paths'][0]
    t.equal(raw['root']['name'], 'Held.Singles.<Current>k__BackingField', 'the name as metadata has it')
    # What grew: nothing. What does not belong together is refused.
    same = tool_json('retained', '--format', 'json', '--diff', heap, log, heap)
    t.equal([row for row in same['types'] + same['paths'] if row['old'] != row['new']], [], 'what grew between a dump and itself')
    t.true(any(row['path'] == 'static Held.Cache.Items -> System.Collections.Generic.Dictionary<,>._entries -> [i].value -> Held.ByDictionary'
               for row in same['paths']), same['paths'][:9])
    one_line(tool('retained', log), 2, 'a heap dump is missing, and the program has ended; `shadowtrace record --live --heap-at-exit')
    one_line(tool('retained', log, t.path('nowhere')), 3, 'does not exist, and the program has ended')


@needs('Holder')
def test_a_dump_by_events_names_them_too(t):
    """Collections beside the program: the runtime reports the heap by events, in another order, without live objects and lines."""
    program = Living(t, ['env', 'DOTNET_gcConcurrent=1'] + PROGRAM.command('Holder'), '--check', '0', stdin=subprocess.PIPE)
    said = []
    for line in iter(program.process.stdout.readline, b'ok\n'):
        t.true(line, 'the program has ended')
        said.append(line.decode().rstrip().split('|'))
    program.wait()
    result = tool('ctl', str(program.pid), 'heap', '-o', t.path('heap'))
    t.equal(result.status, 0, result)
    one_line(tool('retained', program.path), 2, '; `shadowtrace ctl %d heap -o log.heap` writes one' % program.pid)
    # The runtime crashes over types that it named in an earlier dump by events and that were unloaded since.
    one_line(tool('ctl', str(program.pid), 'heap', '-o', t.path('again')), 1, 'the dump before has types that can be unloaded')
    program.process.stdin.close()
    t.equal(program.process.wait(), 0, 'exit status')
    judge(t, said, program.path, t.path('heap'), lines=False)


@needs('Holder', framework='net8.0')
@needs('Holder', framework='net9.0')
@lane('live')
@each('framework', *FRAMEWORKS)
def test_each_way_to_hold_an_object_on_older_runtimes(t, framework):
    judge(t, *recorded(t, framework=framework))
    judge(t, *recorded(t, framework=framework, settings=['DOTNET_gcServer=1'], hooks=HOOKS[1]))
