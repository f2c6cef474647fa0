"""Where the processor raised an exception: the statement that the runtime names, too."""
import collections
import re

from harness import ENVIRONMENT, FRAMEWORKS, PROGRAM, each, needs, run, sampled_in_pairs

PROGRAMS = ('FaultLines', 'FaultLinesDebug')
CASES = 13
ROUNDS = 3


@sampled_in_pairs
@needs(*PROGRAMS)
@needs(*PROGRAMS, framework='net8.0')
@needs(*PROGRAMS, framework='net9.0')
@each('framework', *FRAMEWORKS)
@each('program', *PROGRAMS)
@each('tiered', '1', '0')
def test_exceptions_of_the_processor_have_the_statement(t, framework, program, tiered):
    """Of optimised code the runtime names the statement before, if the first instruction of one fails: not asked there."""
    command = PROGRAM.command(program, framework)
    r = t.record(command, hooks='elt3' if tiered == '1' else 'elt2', env=dict(ENVIRONMENT, DOTNET_TieredCompilation=tiered))
    t.equal(r.status, 0, str(r))
    told = collections.Counter()
    for line in (r if tiered == '1' else run(command, env=ENVIRONMENT)).text.splitlines():
        name, method, il = line.split()
        told[name, method, int(il)] += 1
    t.equal(sum(told.values()), CASES * ROUNDS, 'faults')
    found = collections.Counter()
    methods = {method for _, method, _ in told}
    for a in r.log.allocs:
        name = r.log.type(a)
        if name not in ('System.NullReferenceException', 'System.DivideByZeroException'):
            continue
        method = re.sub(r'[<(].*', '', r.log.methods[r.log.nodes[a['node']]['method']]['name']).split('.')[-1]
        if method in methods:
            found[name, method, a.get('il')] += 1
    t.equal(sorted(map(str, (found - told).items())), [], 'elsewhere than the runtime says')
    t.equal(sorted(map(str, (told - found).items())), [], 'not found where the runtime says')
