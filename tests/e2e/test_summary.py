"""What record says at its end, and how the command prints: whole lines, the terminal's width."""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import harness
from harness import ENVIRONMENT, PROGRAM, needs, run, tool


@needs('KnownAllocs')
def test_a_sampled_recording_tells_what_the_program_made(t):
    """Estimated from the weights; as report has it, and not the bytes of the sampled objects."""
    command = PROGRAM.command('KnownAllocs')
    for log in 'events', 'sites':
        r = t.record(command, '--sample', '2000', '--log', log, check=0)
        found = re.search(r': about ([\d,]+) allocations?, ([\d.]+) ([KM]B), estimated from ([\d,]+) sampled, none lost', r.errors)
        t.true(found, r)
        allocs, sampled = (int(found.group(i).replace(',', '')) for i in (1, 4))
        size = float(found.group(2)) * {'KB': 1e3, 'MB': 1e6}[found.group(3)]
        t.equal(sampled, r.log.end['seen'], 'sampled')
        total = r.report()['total']
        t.true(abs(allocs - total['allocs']) < 0.01 * allocs, '%d objects, report has %d' % (allocs, total['allocs']))
        t.true(abs(size - total['bytes']) < 0.02 * size, '%d bytes, report has %d' % (size, total['bytes']))
        t.true(size > 1.1 * r.log.end['bytes'], '%d bytes, of the sampled %d' % (size, r.log.end['bytes']))


@needs('Spawner', 'Hello')
def test_of_several_processes_each_tells_its_command_line(t):
    hello = PROGRAM.command('Hello')
    r = t.record(PROGRAM.command('Spawner') + ['--scale', '2'] + hello, check=0)
    t.equal(r.errors.count('shadowtrace:     ' + ' '.join(hello)[:60]), 2, r)
    t.equal(r.errors.count('Hello (.NET'), 2, r)
    t.true('dotnet' not in t.record(hello, check=0).errors.replace(harness.ROOT, ''), 'one process needs no telling apart')


@needs('Hello')
def test_notes_fall_between_lines(t):
    """stdout and stderr in one file: the note about PDBs, and that of a broken one, each a separate line."""
    folder = t.path('moved')
    os.mkdir(folder)
    made = os.path.dirname(PROGRAM.command('Hello')[-1])
    for name in os.listdir(made):
        if name.startswith('Hello.') and os.path.isfile(os.path.join(made, name)):
            shutil.copy(os.path.join(made, name), folder)
    with open(os.path.join(folder, 'Hello.pdb'), 'r+b') as file:
        file.write(b'XXXX')
    r = t.record(['dotnet', os.path.join(folder, 'Hello.dll')], check=0)
    for words in ['--top', '0'], ['--top', '0', '--by', 'line'], ['--top', '0', '--format', 'json'], ['gone'], ['--by', 'line'], \
            ['--top', '0']:
        if words == ['gone']:  # the rest without one, which is said at the end
            os.unlink(os.path.join(folder, 'Hello.pdb'))
            continue
        apart = tool('report', *words, r.path)
        if words[0] == '--top':
            t.true(apart.errors.startswith('shadowtrace report: '), apart)
        together = subprocess.run([harness.TOOL, 'report', *words, r.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=ENVIRONMENT, check=True).stdout.decode()
        t.equal(sorted(together.splitlines()), sorted((apart.text + apart.errors).splitlines()), 'lines of %s' % words)


@needs('Hello')
def test_tables_are_as_wide_as_the_terminal(t):
    r = t.record(PROGRAM.command('Hello'), check=0)
    full = ['--top', '0', '--names', 'full']
    for words in [*(['report', '--by', key, *full] for key in ('site', 'method', 'line')), ['diff', r.path]]:
        widths = {}
        for columns in 80, 200:
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
            termios_now = termios.tcgetattr(slave)
            termios_now[1] &= ~termios.OPOST
            termios.tcsetattr(slave, termios.TCSANOW, termios_now)
            process = subprocess.Popen([harness.TOOL, *words, '--links', 'never', r.path] if words[0] == 'report' else
                                       [harness.TOOL, *words, r.path], stdout=slave, stderr=subprocess.DEVNULL,
                                       env=dict(ENVIRONMENT, TERM='dumb'))
            os.close(slave)
            text = b''
            try:
                while True:
                    text += os.read(master, 65536)
            except OSError:
                pass
            process.wait(harness.PATIENCE)
            os.close(master)
            rows = [line for line in text.decode().splitlines() if re.match(r' +[\d,]+ |      at ', line)]
            t.true(rows or words[0] == 'diff', text)
            widths[columns] = max([len(line) for line in rows] or [0])
        t.true(widths[80] <= 80 and (widths[200] > 120 or words[0] == 'diff'), '%s: %s' % (words, widths))


@needs('Hello')
def test_validate_takes_quiet(t):
    r = t.record(PROGRAM.command('Hello'), check=0)
    result = tool('validate', '--quiet', r.path)
    t.equal((result.status, result.errors), (0, ''), result)


def test_a_program_that_ignores_hang_ups_can_be_tested(t):
    """make check under nohup: programs that tests start do not ignore the signals that the tests ignore."""
    result = run(['sh', '-c', 'trap "" HUP INT QUIT; exec python3 -c "import sys; sys.path.insert(0, %r); import harness; '
                              'print(harness.run([%r, %r, %r]).text)"' % (harness.HERE, 'grep', 'SigIgn', '/proc/self/status')])
    ignored = int(result.text.split()[1], 16)
    t.equal(ignored & 0b111, 0, result)
