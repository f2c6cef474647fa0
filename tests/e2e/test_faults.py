"""The system refuses what the tracer asks of it: the program never notices, and what is lost is said (faults.py)."""
import socket
import subprocess
import time

import faults
from harness import PATIENCE, PROGRAM, UNTIL_EOF, needs, until

FOREVER = faults.FOREVER


def run(t, form, kind, first, last=None, **more):
    """A run whose fault fired, and in which all held."""
    faults.build()
    found = faults.Run(form, kind, first, first if last is None else last, **more)
    t.true(found.fired, 'no call %s %d' % (kind, first))
    if found.problem:
        raise AssertionError(str(found))
    return found


@needs('Hello', 'Threads', 'Kept')
def test_no_single_and_no_lasting_fault_harms_the_program(t):
    """A few of all (faults.py tries each way to one: `make check-all`)."""
    faults.build()
    for form, kinds in (('plain', faults.KINDS), ('rich', ('malloc', 'mmap', 'write')), ('live', ('malloc', 'mmap'))):
        calls = faults.Run(form)
        t.equal(calls.problem, None, form + ' without a fault')
        for kind in kinds:
            tally = faults.Tally()
            faults.all_runs(form, kind, calls.calls[kind], 0, lambda n: (n, FOREVER), 2, tally)
            t.equal([str(f) for f in tally.failed], [], '%s.%s' % (form, kind))
            t.true(tally.fired, 'no fault fired in %s.%s' % (form, kind))
            t.note('%s %s %d' % (form, kind, tally.fired))


@needs('Hello')
def test_a_fault_that_does_harm_is_seen(t):
    """The negative control: the same faults in the runtime itself, and a log that lost a line."""
    faults.build()
    found = faults.Run('plain', 'malloc', 1, FOREVER, aim='libcoreclr')
    t.true(found.fired and 'the program: exit status' in (found.problem or ''), str(found))

    class Cut(faults.Run):
        def _read(self):
            with open(self.log, 'rb') as file:
                lines = file.readlines()
            lines.remove(next(line for line in lines if b'"alloc"' in line))
            with open(self.log, 'wb') as file:
                file.writelines(lines)
            return super()._read()

    t.true('does not validate' in (Cut('plain').problem or ''), 'a log without one of its lines passed')


@needs('Hello')
def test_without_its_threads_it_declines_and_leaves_no_log(t):
    for first in 1, 2:  # the one that asks for names, and the writer
        found = run(t, 'plain', 'thread', first)
        t.equal(found.status.get('state'), 'declined', 'thread %d: %s' % (first, found.status))
        t.true('no thread could be started' in found.status['reason'], found.status)


@needs('Hello')
def test_a_socket_that_cannot_be_had_is_said(t):
    for kind, first, why in (('socket', 1, 'cannot make an event descriptor: Too many open files'),
                             ('socket', 2, 'cannot make a socket: Too many open files'),
                             ('thread', 3, 'cannot start the thread of the socket: Resource temporarily unavailable')):
        found = run(t, 'plain', kind, first)
        t.equal(found.status.get('state'), 'ended', found.status)
        t.equal(found.status.get('uncontrolled'), why, found.status)
        t.true('control' not in found.status, found.status)


@needs('Ticker')
def test_out_of_descriptors_the_socket_is_looked_at_four_times_a_second(t):
    faults.build()
    environment = faults.faulty(t.folder, t.path('log.ndjson'), None, 'socket', 3, FOREVER)  # accept4, for good
    process = t.start(['env'] + ['%s=%s' % pair for pair in environment.items()] + PROGRAM.command('Ticker') +
                      UNTIL_EOF, stdin=subprocess.PIPE)
    until(lambda: faults.status_in(t.path('status')).get('control'), 'a status')
    start = time.monotonic()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(faults.status_in(t.path('status'))['control'])
        until(lambda: faults.counts_of(t.path('counts'))[1] > 3, 'four refusals')
        output, errors = process.communicate(timeout=PATIENCE)
        seconds = time.monotonic() - start
    t.equal((process.returncode, output.split(b'\n')[-2], errors), (0, b'ok', b''), 'the program')
    _, fired, *_ = faults.counts_of(t.path('counts'))
    t.true(fired, 'nobody was refused')
    t.true(fired <= 4 * seconds + 2, '%d refused in %.1f s' % (fired, seconds))
    t.note('%d refused in %.1f s' % (fired, seconds))
