"""The hooks of ELT3 as they lie in a recorded process: with the distance of a thread's words written into them."""
import re
import struct

from control import Living
from harness import LIBRARY, PROGRAM, UNTIL_EOF, each, needs, run

ABSOLUTE = 0x25  # ModR/M's SIB byte of an operand that is a distance and nothing else


def parts_of(pid):
    """[(first address, end, place in the file, whether it is code)] of the library."""
    with open('/proc/%d/maps' % pid, encoding='utf-8') as maps:
        found = [re.match(r'(\w+)-(\w+) r-(.)p (\w+) .*/libshadowtrace\.so$', line) for line in maps]
    return [(int(one[1], 16), int(one[2], 16), int(one[4], 16), one[3] == 'x') for one in found if one]


def code(pid):
    """(where it is loaded, as it is in the file, as it is in the process); a separate part was written to."""
    parts = sorted(part for part in parts_of(pid) if part[3])
    start, end, offset = parts[0][0], parts[-1][1], parts[0][2]
    with open(LIBRARY, 'rb') as file, open('/proc/%d/mem' % pid, 'rb') as memory:
        file.seek(offset)
        linked = file.read(end - start)
        memory.seek(start)
        return start, linked, memory.read(len(linked))


def places(pid):
    """Addresses that the notes of the hooks name."""
    symbols = {line.split()[-1]: int(line.split()[0], 16) for line in run(['nm', '--defined-only', LIBRARY]).text.splitlines()}
    base = min(part[0] for part in parts_of(pid))
    with open('/proc/%d/mem' % pid, 'rb') as memory:
        memory.seek(base + symbols['hook_places'])
        notes = memory.read(symbols['hook_places_end'] - symbols['hook_places'])
    return [base + symbols['hook_places'] + 4 * i + to for i, (to,) in enumerate(struct.iter_unpack('<i', notes))]


@needs('Ticker')
@each('hooks', 'elt3', 'elt2')
def test_the_hooks_know_where_a_threads_words_lie(t, hooks):
    recording = Living(t, PROGRAM.command('Ticker') + UNTIL_EOF, '--hooks', hooks, stdin=-1)
    pid = recording.wait()
    start, linked, loaded = code(pid)
    at = [place - start for place in places(pid)]
    t.equal(recording.close(), 0)
    t.true(len(at) > 10, '%d places' % len(at))
    changed = {i for i, (before, after) in enumerate(zip(linked, loaded)) if before != after}
    if hooks == 'elt2':
        t.equal(changed, set(), 'bytes written')
        return
    t.equal(changed - {place + i for place in at for i in range(4)}, set(), 'bytes written elsewhere')
    distances = set()
    for place in at:
        t.equal(loaded[place - 1], ABSOLUTE, 'before the distance at %d' % place)
        before, after = (struct.unpack_from('<i', text, place)[0] for text in (linked, loaded))
        distances.add(after - before)
    t.equal(len(distances), 1, 'distances')
    t.true(max(distances) < 0, 'words behind the thread pointer')
