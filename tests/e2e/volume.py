#!/usr/bin/env python3
"""
The table of live objects beside the runtime's walk of the heap, after every collection of large programs: the C# and the
F# compiler, Kestrel under load, `dotnet build`, random replacement with pinned and large objects; each hook set, .NET 8, 9
and 10. A line per program, and one with the sum: fewer than 50 million objects, or one that differs, is a failure.

usage: tests/e2e/volume.py [-k TEXT]... [-j N] [--list]

-k TEXT  only programs whose line contains TEXT (several: any of them); the sum is not judged then
-j N     N at once (default: the processors, at most 4)

The SDK's compilers and build run on its own runtime; on the others the same compilers do, from packages (programs/Compilers).
"""
import argparse
import concurrent.futures
import os
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import matrix  # noqa: E402
import test_live  # noqa: E402
from harness import ENVIRONMENT, HOOKS, PROGRAM, SDK_FRAMEWORK  # noqa: E402

ENOUGH = 50_000_000
PATIENCE = 1800  # seconds a program may take


def checked(t, r, least):
    return test_live.checked(t, r, least, lines=False)  # minutes, of the largest


def with_gen0(size, **more):
    return dict(ENVIRONMENT, DOTNET_GCgen0size=hex(size), **{'DOTNET_' + name: value for name, value in more.items()})


def compilers(t, framework):
    """(command of the C# compiler, of the F# compiler)"""
    return [matrix.made_in(t.folder, command) for _, command, _ in matrix.compilers(t.folder, framework)]


def csc(t, framework):
    return compilers(t, framework)[0], with_gen0(0x80000, gcServer='0'), 150_000, checked


def fsc(t, framework):
    return compilers(t, framework)[1], with_gen0(0x400000), 1_000_000, checked


def kestrel(t, framework):
    return PROGRAM.command('WebServer', framework) + ['--scale', '20'], with_gen0(0x20000), 100_000, checked


def build(t, framework):
    return matrix.build_command(t.folder), with_gen0(0x400000), 100_000, test_live.checked_all


def replacement(t, framework):
    return PROGRAM.command('Replacer', framework) + ['--scale', '8', '--collect', '5'], ENVIRONMENT, 1_000_000, checked


def replacement_server(t, framework):
    return replacement(t, framework)[0], with_gen0(0x40000, gcServer='1', GCHeapCount='2'), 1_000_000, checked


# Name, what it runs, and whether that is of the SDK only.
WAYS = (('random replacement', replacement, False), ('random replacement, server collection', replacement_server, False),
        ('C# compiler', csc, False), ('Kestrel', kestrel, False), ('F# compiler', fsc, False), ('dotnet build', build, True))


def rows():
    return [('%-38s %-7s %s' % (name, framework, hooks), way, framework, hooks)
            for name, way, own in WAYS for framework in matrix.SETTINGS['framework'] for hooks in HOOKS
            if not own or framework == SDK_FRAMEWORK]


class Sum:
    def __init__(self):
        self.lock = threading.Lock()
        self.programs = self.failed = self.compared = self.skipped = 0

    def one(self, name, way, framework, hooks):
        t = harness.Test('volume.' + '-'.join(name.split()))
        start, compared, wrong = time.monotonic(), 0, None
        try:
            command, environment, least, checked = way(t, framework)
            recorded = t.record(command, '--live', '--check-live', '1', '--log', 'sites', hooks=hooks, env=environment, timeout=PATIENCE)
            compared = checked(t, recorded, least)['compared']
            t.finish()
        except harness.Skip as skip:
            with self.lock:
                self.skipped += 1
            print('skip %s  %s' % (name, skip), flush=True)
            return
        except Exception as error:  # the other programs go on
            wrong = '%s: %s' % (type(error).__name__, error)
        finally:
            t.close()
        if not wrong:
            shutil.rmtree(t.folder, ignore_errors=True)
        with self.lock:
            self.programs += 1
            self.failed += bool(wrong)
            self.compared += compared
            print('%-5s%s  %s, %.1f s%s' % ('FAIL' if wrong else 'ok', name, '; '.join(t.notes) or '-', time.monotonic() - start,
                                            '\n     ' + wrong.replace('\n', '\n     ') if wrong else ''), flush=True)


def main():
    parser = argparse.ArgumentParser(description='The table of live objects beside large heaps.')
    parser.add_argument('-k', action='append', default=[], metavar='TEXT')
    parser.add_argument('-j', type=int, default=min(4, os.cpu_count() or 1), metavar='N')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()
    wanted = [row for row in rows() if not arguments.k or any(text in row[0] for text in arguments.k)]
    if arguments.list:
        for row in wanted:
            print(row[0])
        return 0
    start, total = time.monotonic(), Sum()
    PROGRAM.build([(program, framework) for program in ('Replacer', 'WebServer') for framework in matrix.SETTINGS['framework']],
                  say=lambda text: print('     ' + text, flush=True))
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.j)) as pool:
        list(pool.map(lambda row: total.one(*row), wanted))
    few = not arguments.k and total.compared < ENOUGH and not total.skipped
    bad = total.failed or few or not total.programs + total.skipped
    print('%s: %d programs, %d failed, %d skipped, %d objects compared and equal%s, %.0f minutes' % (
        'FAIL' if bad else 'ok', total.programs, total.failed, total.skipped, total.compared, ', fewer than %d' % ENOUGH if few else '',
        (time.monotonic() - start) / 60))
    return 1 if bad else 0 if total.programs else 77


if __name__ == '__main__':
    sys.exit(main())
