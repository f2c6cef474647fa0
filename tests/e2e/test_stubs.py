"""The stubs of ELT3 as they lie in a recorded process: with the distance of the thread's stack written into them."""
import re

from control import Living
from harness import LIBRARY, PROGRAM, UNTIL_EOF, each, needs, run

# `mov %fs:DISTANCE,%rax` or `,%r9`, with two prefixes that mean nothing: as long as the two loads that it replaces.
SHORTER = re.compile(rb'\x66\x66\x64[\x48\x4c]\x8b[\x04\x0c]\x25(....)', re.S)
LOADS = re.compile(rb'[\x48\x4c]\x8b[\x05\x0d]....\x64[\x48\x4d]\x8b[\x00\x09]', re.S)


def changed(pid):
    """[(as it is in the file, as it is in the process)] of places in the library's code."""
    with open('/proc/%d/maps' % pid, encoding='utf-8') as maps:
        parts = [[int(part, 16) for part in found.groups()] for found in (
            re.match(r'(\w+)-(\w+) r-xp (\w+) .*/libshadowtrace\.so$', line) for line in maps) if found]
    places = []
    for start, end, offset in parts:
        with open(LIBRARY, 'rb') as file:
            file.seek(offset)
            linked = file.read(end - start)
        with open('/proc/%d/mem' % pid, 'rb') as memory:
            memory.seek(start)
            loaded = memory.read(len(linked))
        at = 0
        while at < len(linked):
            if linked[at] != loaded[at]:
                places.append((linked[at:at + 11], loaded[at:at + 11]))
                at += 10
            at += 1
    return places


@needs('Ticker')
@each('hooks', 'elt3', 'elt2')
def test_the_stubs_know_where_a_threads_stack_hangs(t, hooks):
    symbols = {line.split()[-1]: int(line.split()[0], 16) for line in run(['nm', '--defined-only', LIBRARY]).text.splitlines()}
    notes = symbols['hook_places_end'] - symbols['hook_places']
    recording = Living(t, PROGRAM.command('Ticker') + UNTIL_EOF, '--hooks', hooks, stdin=-1)
    places = changed(recording.wait())
    t.equal(recording.close(), 0)
    t.equal(len(places), notes // 4 if hooks == 'elt3' else 0, 'places written')
    for linked, loaded in places:
        t.true(LOADS.fullmatch(linked) and SHORTER.fullmatch(loaded), '%s became %s' % (linked.hex(), loaded.hex()))
    t.true(len({SHORTER.fullmatch(loaded).group(1) for _, loaded in places}) == (hooks == 'elt3'), 'several distances')
