"""How fast `report` reads a log, and in how much memory."""
import json
import os
import time

from runs import Child


def measure(bench, events, say):
    """A log of N events, written by tracing Tree without back-pressure, read once."""
    log = os.path.join(bench.logs, 'report.ndjson')
    say('a log of %s events for report' % '{:,}'.format(events))
    tree = ['dotnet', os.path.join(bench.out, 'programs/Tree.dll'), '--depth', '100', '--operations', str(events),
            '--repetitions', '1', '--seconds', '120']
    if os.path.exists(log):
        os.unlink(log)
    try:
        made = Child([bench.command, 'record', '--quiet', '--check', '0', '-o', log, '--', *tree], os.environ,
                     os.path.join(bench.out, 'output'), 300)
        status, _, _ = made.wait()
        if status:
            say('report: no log: ' + made.output()[-300:])
            return None
        size = os.path.getsize(log)
        start = time.perf_counter()
        read = Child([bench.command, 'report', '--format', 'json', '--top', '5', log], os.environ, os.path.join(bench.out, 'output'), 300)
        status, usage, wall = read.wait()
        if status:
            say('report failed: ' + read.output()[-300:])
            return None
        found = json.loads(read.output())['total']
        say('report: %.1f s for %s events' % (time.perf_counter() - start, '{:,}'.format(found['allocs'])))
        if found['allocs'] + found['lost'] < events:
            say('report: the log should hold %s events' % '{:,}'.format(events))
        events = found['allocs'] # what was in fact read
        return {'events': events, 'log_bytes': size, 'wall': wall, 'cpu': usage.ru_utime + usage.ru_stime,
                'rss': usage.ru_maxrss * 1024, 'events_s': events / wall}
    finally:
        if os.path.exists(log):
            os.unlink(log)
