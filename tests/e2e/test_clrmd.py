"""
A dump of a heap, object by object, beside what ClrMD (Microsoft.Diagnostics.Runtime) finds in the same process right after it:
ClrMD reads the memory of the stopped process, and knows nothing of the dump, of sessions or of profilers.
"""
from collections import Counter

import readback
from control import Kept
from harness import HOOKS, each, needs, prepares, run, tool_json, until
from heapdump import HANDLE, STACK, WEAK
from test_heap import dump

NODES = 3000


def heap_reader():
    return readback.reader('HeapReader', 'ClrMD')


class Walk:
    """objects: {address: (bytes, method table, segment, name, [addresses])}; roots: Counter of (address, kind)."""

    def __init__(self, t, pid):
        result = run(['dotnet', heap_reader(), str(pid)], timeout=300)
        if result.status == 4:
            t.skip('ClrMD may not attach: ' + result.errors.strip())
        t.equal(result.status, 0, result)
        self.objects, self.free, self.roots, self.keys = {}, {}, Counter(), []
        for line in result.text.splitlines():
            kind, first, *more = line.split(' ')
            first = int(first, 16)
            if kind == 'object':
                at = more.index('refers')
                self.objects[first] = ((int(more[0]) + 7) // 8 * 8, more[1], more[2], ' '.join(more[3:at]), [int(r, 16) for r in more[at + 1:]])
            elif kind == 'free':
                self.free[first] = int(more[0])
            elif kind == 'root':
                self.roots[first, more[0]] += 1
            else:
                self.keys.append(first)  # of its value ClrMD says 0 under .NET 10


def reach(references, roots, without=None):
    """What these roots lead to, in a graph {address: addresses}, as if one object were not."""
    found, left = set(), list(roots)
    while left:
        address = left.pop()
        if address in found or address == without or address not in references:
            continue
        found.add(address)
        left += references[address]
    return found


def stands(pid):
    """Its main thread waits for the next line: nothing of the program's moves."""
    with open('/proc/%d/wchan' % pid, encoding='utf-8') as file:
        return 'pipe_read' in file.read()


@needs('Kept')
@prepares(heap_reader)
@each('concurrent', 0, 1)
def test_a_dump_is_the_heap_that_clrmd_finds(t, concurrent):
    # The session for rich debug info leaves dynamic methods that await their finalizers, which are no roots to ClrMD.
    program = Kept(t, '--check', '0', '--no-rich', '--hooks', HOOKS[concurrent], nodes=NODES, settings=['DOTNET_gcConcurrent=%d' % concurrent])
    heap_reader()
    program.does('collect')  # what the console needs is made
    until(lambda: stands(program.pid), 'the program waits for a line')
    found = dump(t, program)
    walk = Walk(t, program.pid)
    t.equal(program.close(), 0, 'exit status')

    # Objects. Behind a dump by events the runtime's own event source lets some be born; nothing else.
    born = set(walk.objects) - set(found.objects)
    t.equal(set(found.objects) - set(walk.objects), set(), 'objects that ClrMD does not find')
    t.equal({walk.objects[a][2] for a in born} - {'Generation0'}, set(), 'where new ones are')
    if not concurrent:
        t.equal(sorted((hex(a), walk.objects[a][3]) for a in born), [], 'objects that are not in the dump')
    t.equal(set(walk.free) & set(found.objects), set(), 'free space in the dump')

    # Their sizes, types and references.
    different = [(hex(a), walk.objects[a][:4], size) for a, (_, size, _) in found.objects.items() if walk.objects[a][0] != size]
    t.equal(different, [], 'sizes')
    pairs = {(walk.objects[a][1], name) for a, (name, _, _) in found.objects.items()}
    t.equal((len({table for table, _ in pairs}), len({name for _, name in pairs})), (len(pairs), len(pairs)), 'types are the same')
    names = {(walk.objects[a][3], name) for a, (name, _, _) in found.objects.items() if not set(name) & set('<+. `[') - {'.'}}
    t.true(len(names) > 20 and all(theirs == ours or '+' in theirs for theirs, ours in names), 'names')
    different = [(hex(a), walk.objects[a][3]) for a, (_, _, references) in found.objects.items()
                 if Counter(walk.objects[a][4]) != Counter(references) and not born & set(walk.objects[a][4])]
    t.equal(different, [], 'references')
    if not concurrent:
        t.equal(sum(len(o[4]) for o in walk.objects.values()), found.ended[1], 'references, in sum')

    # Roots. ClrMD does not look into frames of the runtime's own: the one that called Main holds an array.
    ours = Counter(a for a, kind, flags, _ in found.roots if not flags & WEAK)
    theirs = Counter(a for a, _ in walk.roots)
    strong = {a for a, kind, flags, _ in found.roots if kind == HANDLE and not flags & WEAK}
    t.equal({a for a, kind in walk.roots if kind.endswith('Handle')} - born, strong, 'objects that handles hold')
    own = [root for root in found.roots if not root[2] & WEAK and root[0] not in theirs]
    if not concurrent:
        t.equal({a for a in theirs if a not in ours}, set(), 'roots that the dump has not')
        t.equal([(kind, found.objects[a][0]) for a, kind, _, _ in own], [(STACK, 'System.Object[]')], 'roots that ClrMD has not')
    t.equal(sorted(walk.keys), sorted(key for key, _ in found.pairs), 'keys of dependent handles')

    # What is held, and what is retained: all that roots lead to, less what they lead to without it.
    references = {a: o[4] for a, o in walk.objects.items()}
    for key, value in found.pairs:
        references[key] = references[key] + [value]
    roots = list(theirs) + [a for a, _, _, _ in own]
    held = reach(references, roots) - born
    if not concurrent:
        t.equal(held, found.held(), 'objects that are held')
    said = tool_json('retained', '--format', 'json', '--names', 'raw', '--no-lines', program.path, t.path('heap'))
    if not concurrent:
        t.equal(said['total']['objects'], len(held), 'objects that retained counts')
        t.equal(said['total']['bytes'], sum(walk.objects[a][0] for a in held), 'bytes that retained counts')
    rows = {row.get('type'): row for row in said['types']}
    nodes = found.of('Kept.Node')
    head, = set(nodes) - {r for a in nodes for r in found.objects[a][2]}
    for name, address in [('Kept.Node', head)] + [(name, found.of(name)[0]) for name in ('Kept.Mark[]', 'Kept.Key', 'Kept.Common')]:
        lost = held - reach(references, roots, without=address)
        t.equal((rows[name]['retained_objects'], rows[name]['retained_bytes']), (len(lost), sum(walk.objects[a][0] for a in lost)),
                'what %s retains' % name)
    t.true(rows['Kept.Node']['retained_objects'] == 2 * NODES + 1 and rows['Kept.Mark[]']['retained_objects'] == NODES + 1, rows)
    sums = Counter()
    for a in set(walk.objects) - born:
        sums[walk.objects[a][1]] += walk.objects[a][0]
    table = {name: table for table, name in pairs}
    for row in said['types']:
        if not concurrent and row['type'] in table and all(a in held for a in found.of(row['type'])):
            t.equal(row['bytes'], sums[table[row['type']]], 'bytes of ' + row['type'])
