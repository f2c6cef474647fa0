"""
Large programs, each recorded and judged, and one sum of what was compared: of volume.py and walk_volume.py. A line per row;
one that fails does not stop the others.
"""
import argparse
import collections
import concurrent.futures
import os
import shutil
import threading
import time

import harness

# judged(t) records with the Test t, raises if something is wrong, and returns how many were compared.
Row = collections.namedtuple('Row', 'name judged')


class Sum:
    def __init__(self, prefix):
        self.prefix = prefix
        self.lock = threading.Lock()
        self.programs = self.failed = self.compared = self.skipped = 0

    def one(self, row):
        t = harness.Test('%s.%s' % (self.prefix, '-'.join(row.name.split())))
        start, compared, wrong = time.monotonic(), 0, None
        try:
            compared = row.judged(t)
        except harness.Skip as skip:
            with self.lock:
                self.skipped += 1
            print('skip %s  %s' % (row.name, skip), flush=True)
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
            print('%-5s%s  %s, %.1f s%s' % ('FAIL' if wrong else 'ok', row.name, '; '.join(t.notes) or '-', time.monotonic() - start,
                                            '\n     ' + wrong.replace('\n', '\n     ') if wrong else ''), flush=True)


def run(prefix, description, rows, programs, enough, what):
    """
    The command of such a table: its exit status. programs: (program, framework) pairs to build; enough: fewer compared than
    this is a failure, if all rows ran; what: the noun for what is compared.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('-k', action='append', default=[], metavar='TEXT')
    parser.add_argument('-j', type=int, default=min(4, os.cpu_count() or 1), metavar='N')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()
    wanted = [row for row in rows if not arguments.k or any(text in row.name for text in arguments.k)]
    if arguments.list:
        for row in wanted:
            print(row.name)
        return 0
    start, total = time.monotonic(), Sum(prefix)
    harness.PROGRAM.build(programs, say=lambda text: print('     ' + text, flush=True))
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.j)) as pool:
        list(pool.map(total.one, wanted))
    few = not arguments.k and total.compared < enough and not total.skipped
    bad = total.failed or few or not total.programs + total.skipped
    print('%s: %d programs, %d failed, %d skipped, %d %s compared and equal%s, %.0f minutes' % (
        'FAIL' if bad else 'ok', total.programs, total.failed, total.skipped, total.compared, what,
        ', fewer than %d' % enough if few else '', (time.monotonic() - start) / 60))
    return 1 if bad else 0 if total.programs else 77
