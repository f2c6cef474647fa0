"""The C# compiler of the SDK, on a small file against all reference assemblies: the program the tool is first shown on."""
import glob
import json
import os

import harness
from harness import HOOKS, PROGRAM, SHARED, each, early, full, lane, longer, needs, run

SOURCE = '''using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Sample;

public record Order(int Number, string Customer, decimal Price);

public interface IShop { IAsyncEnumerable<Order> Orders(); }

public static class Program
{
    static IEnumerable<Order> Make(int n)
    {
        for (int i = 0; i < n; i++)
            yield return new Order(i, $"customer {i % 7}", i * 1.5m);
    }

    public static async Task<int> Main(string[] args)
    {
        var totals = from o in Make(100) where o.Price > 3 group o by o.Customer into g
                     orderby g.Key select new { g.Key, Sum = g.Sum(o => o.Price) };
        foreach (var t in totals)
            Console.WriteLine($"{t.Key}: {t.Sum:F2}");
        await Task.Yield();
        try { return int.Parse(args[0]); }
        catch (FormatException e) when (e.Message.Length > 0) { return 1; }
        finally { Console.Error.WriteLine("done"); }
    }
}
'''


def compiler():
    root = os.path.dirname(os.path.dirname(harness.SDK))
    packs = sorted(glob.glob(os.path.join(root, 'packs/Microsoft.NETCore.App.Ref/*/ref/net*/')))
    return os.path.join(harness.SDK, 'Roslyn/bincore/csc.dll'), sorted(glob.glob(os.path.join(packs[-1], '*.dll')))


def command(t, folder):
    """A compilation, its response file and source in the same places every time."""
    csc, references = compiler()
    os.makedirs(t.path(folder))
    source, response = t.path('sample.cs'), t.path('references.rsp')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(SOURCE)
    with open(response, 'w', encoding='utf-8') as file:
        file.write(''.join('-r:"%s"\n' % r for r in references))
    made = t.path(folder, 'sample.dll')
    return ['dotnet', csc, '-nologo', '-noconfig', '-deterministic', '-debug:embedded', '-langversion:12',
            '-pathmap:%s=/made' % t.path(folder), '@' + response, '-out:' + made, source], made


def read(path):
    with open(path, 'rb') as file:
        return file.read()


class Compiled:
    """
    With and without the tracer; every stack compared. The runtime optimises methods 100 ms after it has compiled the last new one,
    and then what an inlined method allocates may have no instruction: on a busy machine that is 5 % of all. So it waits 4 s.
    """
    def __init__(self, t, hooks):
        plain, plain_made = command(t, 'plain')
        self.without = run(plain)
        t.equal(self.without.status, 0, str(self.without))
        traced, traced_made = command(t, 'traced')
        self.record = t.record(traced, hooks=hooks, check=1, timeout=600,
                               env=dict(harness.ENVIRONMENT, DOTNET_TC_CallCountingDelayMs='1000'))  # hexadecimal
        self.same = read(traced_made) == read(plain_made)


def compiled(hooks):
    """One recording for all that read it."""
    return SHARED.get('compiler.' + hooks, lambda t: Compiled(t, hooks))


@early
@longer('load')
@each('hooks', 'elt3', full=('programs', HOOKS))
def test_every_allocation_is_exact_and_the_output_the_same(t, hooks):
    made = compiled(hooks)
    r = made.record
    c = t.exact(r)
    t.true(c['compared'] > 100_000, '%d compared' % c['compared'])
    t.equal(r.out, made.without.out, 'stdout')
    t.true(made.same, 'the compiler wrote another assembly under the tracer')
    t.equal(r.log.header['hooks'], hooks, 'hooks')


@longer('load')
def test_every_line_has_its_place(t):
    """The report's top rows name their sites, and most allocations have an instruction."""
    r = compiled('elt3').record
    t.equal(r.status, 0, str(r))
    log = r.log
    t.equal(log.header['capture'], 'shadow')
    with_frames = [e for e in log.allocs if e['node']]
    placed = sum('il' in e for e in with_frames)
    t.true(placed > 0.97 * len(with_frames), '%d of %d allocations have an instruction' % (placed, len(with_frames)))
    t.note('%d of %d with their instruction' % (placed, len(with_frames)))
    rows = r.report('--by', 'method')['rows']
    t.equal(sum(row['bytes'] for row in rows), log.end['bytes'], 'bytes by method')
    t.true(any(row['method'].startswith('Microsoft.CodeAnalysis') for row in rows), 'no method of the compiler')
    t.equal(sum(row['allocs'] for row in r.report('--by', 'type')['rows']), len(log.allocs), 'allocations by type')
    t.equal(sum(row['allocs'] for row in r.report('--by', 'thread')['rows']), len(log.allocs), 'allocations by thread')
    t.equal(sum(row['allocs'] for row in r.report('--by', 'module')['rows']), len(log.allocs), 'allocations by module')
    for _, definition in log.methods.items():
        t.true(definition['name'] and '(' in definition['name'], 'a method without a name: %r' % definition)


@lane('programs')
@longer('load')
@early
def test_every_call_is_traced(t):
    """Some ten million: each enters, and leaves, ends in a tail call, is unwound, or is open at the end."""
    traced, _ = command(t, 'traced')
    r = t.record(traced, '--events', 'calls', '--call-buffer', '4G')
    t.equal(r.status, 0, str(r))
    t.true('LOST' not in r.errors, r.errors)
    said = json.loads(run(['tail', '-n', '1', r.path]).text)
    calls, sums = said['events']['calls'], said['calls']
    t.equal((calls['seen'], calls['lost'], sums['missing'], sums['ends_missing']), (calls['written'], 0, 0, 0))
    t.equal(sums['entered'], sums['left'] + sums['tail_calls'] + sums['unwound'] + sums['open'])
    t.true(sums['entered'] > 5_000_000 and sums['open'] < 1000, sums)
    # `validate` follows by its own count, depth never below 0: as after every test.
    rows = json.loads(harness.tool('replay', '--quiet', '--format', 'json', '--from', str(said['t'] // 2), '--to',
                                   str(said['t'] // 2 + 1000), r.path).text)['rows']
    t.true(rows, 'no call was open half-way')
    t.note('%d calls, %d open at the end' % (sums['entered'], sums['open']))


@needs('Steady')
@longer('load')
def test_calls_that_find_no_room_are_counted(t):
    """The compiler's ten million of them in the lane."""
    traced = full('load', PROGRAM.command('Steady'), command(t, 'traced')[0])
    r = t.record(traced, '--events', 'calls', '--call-buffer', '0')
    t.equal(r.status, 0, str(r))
    said = json.loads(run(['tail', '-n', '1', r.path]).text)
    calls, sums = said['events']['calls'], said['calls']
    t.equal(calls['seen'], calls['written'] + calls['lost'])
    t.true(calls['lost'] >= sums['missing'] and calls['written'] == sums['entered'], said) # the last may be untold
    t.equal('LOST' in r.errors, calls['lost'] > 0, r.errors)  # whether any is lost depends on how fast the writer is
    t.note('%d of %d lost' % (calls['lost'], calls['seen']))


@needs('Hello')
@longer('load')
def test_build_passes_its_environment_on(t):
    """What `env` prints is what `record` sets: a program started by any launcher with it is recorded. The compiler in the lane."""
    program, least = full('load', (PROGRAM.command('Hello'), 250), (command(t, 'traced')[0], 100_000))
    folder = t.path('env')
    os.makedirs(folder)
    printed = harness.tool('env', '-o', os.path.join(folder, 'log.ndjson'))
    t.equal(printed.status, 0, str(printed))
    script = 'eval "$1"; shift; exec "$@"'
    result = run(['sh', '-c', script, 'sh', printed.text] + program)
    t.equal(result.status, 0, str(result))
    t.equal(result.err, b'', 'stderr')
    log = harness.Log(os.path.join(folder, 'log.ndjson'))
    t.true(len(log.allocs) > least, '%d allocations' % len(log.allocs))
    t.equal(log.end['lost'], 0)
