"""
Samples that the runtime itself takes (--sampler runtime): what the log of a program of known amounts says of it. Estimates
are of chance: a test fails at what happens once in a million runs, and the lane sampler counts in 50 recordings how often
ranges hold.
"""
import json
import math
import os
import signal
import subprocess

import consumers
import harness
from control import Living
from harness import PROGRAM, SHADOWED, SHARED, on_full_disk, each, full, longer, needs, one_line, tool, until
from test_first_screen import DATABASE

MEAN = 102400
SEEDS = full('sampler', 1, 50)


def told(result):
    """What the program says that it did, by method."""
    return {row['method']: row for row in map(json.loads, filter(lambda line: line.startswith('{'), result.text.splitlines()))}


def weight(size, mean):
    return size / -math.expm1(-size / mean)


def chance(bytes_, size, mean, allocs):
    """
    Of `allocs` objects of that size, sampled one by one, as few or as many samples as give that estimate, whichever is
    the less likely: the binomial distribution's tail. A spread alone knows nothing of rows of few or nearly certain samples.
    """
    p, q = -math.expm1(-size / mean), math.exp(-size / mean)
    samples = round(bytes_ * p / size)
    if samples > allocs:
        return 0.0

    def tail(at, step):
        term = math.exp(math.lgamma(allocs + 1) - math.lgamma(at + 1) - math.lgamma(allocs - at + 1)
                        + at * math.log(p) - (allocs - at) * size / mean)
        total = 0.0
        while 0 <= at <= allocs and total + term > total:
            total += term
            term *= (allocs - at) / (at + 1) * p / q if step > 0 else at / (allocs - at + 1) * q / p
            at += step
        return total

    return min(tail(samples, -1), tail(samples, 1))


def rows_of(report):
    """Rows by method of the program, summed over what stands below it."""
    found = {}
    for row in report['rows']:
        for name in row['stack']:
            method = name.split('(')[0]
            if method.startswith('Sampled.Program.') and '.Run' not in method and '+' not in method:
                found.setdefault(method, []).append(row)
                break
    return found


def recorded(name, *options, framework=None, arguments=()):
    def make(t):
        r = t.record(PROGRAM.command('Sampled', framework) + list(arguments), *options)
        t.equal(r.status, 0, 'exit status\n%s' % r)
        return r
    return SHARED.get('sampled.' + name, make)


def plain(t):
    return recorded('plain', '--sample', 'auto', '--check', '1')


@longer('sampler')
@needs('Sampled')
@each('sample', 'auto', '200K')
def test_estimates_hold_what_the_program_did(t, sample):
    """From 24 bytes to 10 MB, in every heap, thinned and not: unbiased, and in the ranges that the report gives."""
    mean, more = {'auto': (MEAN, []), '200K': (200 << 10, ['--megabytes', '40'])}[sample]
    held = cases = 0
    bias = {}
    for seed in range(SEEDS):
        r = plain(t) if seed == 0 and sample == 'auto' else t.record(PROGRAM.command('Sampled') + more, '--sample', sample)
        known, rows = told(r), rows_of(r.report('--by', 'site', '--names=raw'))
        for method, row in known.items():
            found = rows.get(method, [])
            t.true(found, 'no sample of %s' % method)
            bytes_ = sum(f['bytes'] for f in found)
            if not method.endswith('.Mixed'):
                size = row['bytes'] / row['allocs']
                t.true(chance(bytes_, size, mean, row['allocs']) > 1e-7,
                       '%s: %d bytes estimated of %d' % (method, bytes_, row['bytes']))
                bias.setdefault(method, []).append(bytes_ / row['bytes'])
            if len(found) == 1 and found[0]['sampled'] >= 10:
                low, high = found[0]['bytes_range']
                held += low <= row['bytes'] * 1.001 and row['bytes'] <= high * 1.001
                cases += 1
    t.true(cases >= 10 * SEEDS, '%d cases' % cases)
    # of one recording all ranges may miss, by chance: the lane judges
    t.true(held >= 0.94 * cases or SEEDS < 50, '%d of %d ranges hold' % (held, cases))
    t.note('%d of %d ranges hold' % (held, cases))
    for method, of in bias.items() if SEEDS >= 50 else ():
        t.true(abs(sum(of) / len(of) - 1) < 0.01 + 4 * 0.1 / math.sqrt(SEEDS), '%s: bias %f' % (method, sum(of) / len(of) - 1))
        t.note('%s: bias %+.2f %%' % (method.rsplit('.', 1)[1], 100 * (sum(of) / len(of) - 1)))


@needs('Sampled')
@each('sampler', 'runtime', 'exact')
def test_samples_leave_the_fast_path_of_boxes_to_the_runtime(t, sampler):
    """Exactly every box is met, for which CoreLib's fast path is closed and compiled anew; a sample is one of those that miss it."""
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '1'],
                 '--own', '--sample', '100K', '--sampler', sampler, '--events', 'alloc,jit')
    t.equal(r.log.header['sampler'], sampler, 'header\n%s' % r)
    names = {m['id']: m['name'] for m in r.log.methods.values()}
    compiled = [names[j['method']] for j in r.log.others if j['kind'] == 'jit' and 'method' in j]
    found = [name for name in compiled if name.startswith('System.RuntimeTypeHandle.InternalAllocNoChecks(')]
    t.equal(len(found) > 0, sampler == 'exact', found)


@needs('Sampled')
def test_the_log_and_reports_say_who_took_the_samples(t):
    r = plain(t)
    t.equal(r.log.header['sampler'], 'runtime', 'header')
    sampling = r.log.end['sampling']
    t.equal(sampling['sampler'], 'runtime', 'end')
    t.equal(sampling['told'], r.log.end['seen'], 'samples')
    t.true(0 < sampling['since'] < r.log.end['t'] and 'failed' not in sampling, 'when it began: %s' % sampling)
    total = r.report()['total']
    t.equal((total['sampler'], total['unsampled_most']), ('runtime', round(-math.log(0.025) * MEAN)), 'report')
    text = ' '.join(tool('report', r.path).text.split())
    t.true('samples of the runtime' in text, text[:600])
    for a in r.log.allocs:
        t.true(abs(a['weight'] - weight(a['bytes'], MEAN)) < 1e-6 * a['weight'], 'the weight of %s' % a)


def late(t, *options):
    """Late, recorded; it works once samples count. Returns: it, and what it had allocated when it waited, when it went on, at its end."""
    program = Living(t, PROGRAM.command('Late'), '--check', '0', '--sample', 'auto', *options, stdin=subprocess.PIPE)
    until(lambda: os.path.exists(program.path), 'a log')
    program.says(b'"kind":"sampling"')
    program.process.stdin.write(b'\n')
    program.process.stdin.flush()
    t.equal(program.close(), 0, 'exit status: %s' % program.err)
    return (program, *map(int, program.out.split()[-3:]))


def attached_late(t, framework):
    """The same, attached to while it waits. Returns: the log's path, and the bytes."""
    program = t.start(PROGRAM.command('Late', framework), stdin=subprocess.PIPE)
    t.equal(program.stdout.readline(), b'waits\n', 'what it says')
    path = t.path('attached.ndjson')
    beside = t.start([harness.TOOL, 'attach', '-o', path, str(program.pid)])
    until(lambda: os.path.exists(path) and b'"kind":"sampling"' in open(path, 'rb').read(), 'samples')
    out, _ = program.communicate(b'\n', harness.PATIENCE)
    beside.communicate(timeout=harness.PATIENCE)
    t.equal((program.returncode, beside.returncode), (0, 0), 'exit statuses')
    return (path, *map(int, out.split()))


def told_before(path):
    """Of a log: what its end and its record say of it, which is the same, and what the report does."""
    log = harness.Log(path)
    line = next(r for r in log.others if r['kind'] == 'sampling')
    end = log.end['sampling']
    assert all(end.get(key) == line.get(key) for key in ('since', 'before', 'before_most', 'own')), (end, line)
    return end, harness.tool_json('report', '--format=json', path)['total'], ' '.join(tool('report', path).text.split())


@needs('Late')
@needs('Late', framework='net9.0')
@needs('Late', framework='net11.0')
@each('framework', 'net10.0', 'net9.0', 'net11.0')
def test_what_came_before_samples_count_is_exact(t, framework):
    """No thread of the program allocates while it is attached to: it counts the same bytes, and those of the session's start."""
    path, waits, works, _ = attached_late(t, framework)
    sampling, total, text = told_before(path)
    # Being attached to makes the runtime allocate, too: 240 or 496 bytes now and then come once samples count.
    later = works - sampling['before'] - sampling['own']
    t.true(0 <= later <= 1000 and sampling['before'] >= waits, 'it waited with %d, worked with %d: %s' % (waits, works, sampling))
    t.note('%d bytes came later' % later)
    t.equal(total['before_sampling'], {'since_ns': sampling['since'], 'bytes': sampling['before'], 'exact': True}, 'report')
    t.true('Exactly {:,} bytes were allocated before that'.format(sampling['before']) in text, text[:600])


@needs('Late', framework='net8.0')
def test_what_came_before_is_bounded_where_the_oldest_runtime_does_not_say_it(t):
    """It tells the bytes of whole blocks, of which each thread has one of 8 KB."""
    path, _, works, _ = attached_late(t, 'net8.0')
    sampling, total, text = told_before(path)
    t.true('before' not in sampling and works <= sampling['before_most'] <= works + (32 * 8 << 10), (works, sampling))
    t.equal(total['before_sampling'], {'since_ns': sampling['since'], 'bytes': sampling['before_most'], 'exact': False}, 'report')
    t.true('At most {:,} bytes were allocated before that'.format(sampling['before_most']) in text, text[:600])


@needs('Late')
def test_no_range_is_of_the_whole_run_where_sampling_began_late(t):
    program, _, works, _ = late(t)
    sampling, total, text = told_before(program.path)
    t.true(0 < sampling['before'] + sampling['own'] <= works, 'it worked with %d: %s' % (works, sampling))
    t.equal(total['before_sampling']['bytes'], sampling['before'], 'report')
    t.true(text.startswith('Since sampling began: About') and 'the exact bytes lie between' not in text, text[:600])
    t.true('the exact bytes since it began lie between' in text, text[:600])
    t.true('{:,} bytes before sampling began'.format(sampling['before']) in program.err, program.err)


@needs('Late')
def test_ranges_and_what_came_before_account_for_all_of_a_program(t):
    held = 0
    for _ in range(SEEDS):
        program, _, _, ends = late(t)
        sampling = program.log.end['sampling']
        low, high = harness.tool_json('report', '--format=json', program.path)['total']['bytes_range']
        held += low <= ends - sampling['own'] - sampling['before'] <= high
    # 95 of 100 do; so few only in one of a thousand runs
    t.true(held >= 0.95 * SEEDS - 3.1 * math.sqrt(0.95 * 0.05 * SEEDS) - 0.5, '%d of %d ranges hold' % (held, SEEDS))
    t.note('%d of %d ranges hold' % (held, SEEDS))


@needs('Sampled')
def test_stacks_and_instructions_of_samples_are_those_of_snapshots(t):
    c = t.exact(plain(t))
    t.true(c['compared'] > 500, '%d compared' % c['compared'])


@needs('Sampled')
def test_objects_are_counted_only_where_they_are_of_one_size(t):
    r = plain(t)
    rows = rows_of(r.report('--by', 'site', '--names=raw'))
    t.true(all(row.get('mixed') and 'allocs_range' not in row for row in rows['Sampled.Program.Mixed']), rows['Sampled.Program.Mixed'])
    for method, row in told(r).items():
        if method.endswith('.Mixed') or len(rows[method]) != 1:
            continue
        found = rows[method][0]
        t.true('mixed' not in found, '%s is of one size: %s' % (method, found))
        t.true(found['allocs_range'][0] * 0.3 <= row['allocs'] <= found['allocs_range'][1] * 3, '%s: %s' % (found, row))
    line = next(line for line in tool('report', '--by', 'type', r.path).text.splitlines() if line.endswith('byte[]'))
    t.equal(line.split()[2], '-', line)


@needs('Sampled')
@each('sample', '1M', '200K')
def test_thinning_keeps_large_objects_certain(t, sample):
    """To a higher mean with the probability of each size: a plain coin would lose large arrays."""
    mean = {'1M': 1 << 20, '200K': 200 << 10}[sample]
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '40'], '--sample', sample, '--check', '0')
    t.equal(r.log.header['sampler'], 'runtime', 'header')
    known = told(r)
    largest = [a for a in r.log.allocs if a['bytes'] > 10 << 20]
    t.equal(len(largest), known['Sampled.Program.TenMegabytes']['allocs'], 'arrays of 10 MB')
    t.true(len(r.log.allocs) < r.log.end['sampling']['told'], 'some are left out')
    for a in r.log.allocs:
        t.true(abs(a['weight'] - weight(a['bytes'], mean)) < 1e-6 * a['weight'], 'the weight of %s' % a)
    rows = rows_of(r.report('--by', 'site', '--names=raw'))
    for method, row in known.items():
        if method.endswith('.Mixed'):
            continue
        bytes_ = sum(f['bytes'] for f in rows.get(method, []))
        t.true(chance(bytes_, row['bytes'] / row['allocs'], mean, row['allocs']) > 1e-7,
               '%s: %d bytes estimated of %d' % (method, bytes_, row['bytes']))


@needs('Ticker')
@each('options', ['--sample', '4K'], ['--sample', 'auto', '--sampler', 'exact'])
def test_all_allocations_are_met_where_the_runtime_takes_too_few_samples(t, options):
    r = t.record(PROGRAM.command('Ticker') + ['--seconds', '1'], '--check', '0', *options)
    t.equal(r.log.header['sampler'], 'exact', 'header')
    t.true('sampling' not in r.log.end, 'end')
    t.true('sampled events' in tool('report', r.path).text if r.log.allocs else True, 'report')


@needs('Hello')
def test_a_short_program_ends_in_order_before_the_sampler_begins_or_soon_after(t):
    r = t.record(PROGRAM.command('Hello'), '--sample', 'auto')
    t.equal(r.status, 0, 'exit status\n%s' % r)
    sampling = r.log.end['sampling']
    t.equal((sampling['told'], 'failed' in sampling), (len(r.log.allocs), False), 'samples')
    t.true('since' in sampling or not r.log.allocs, 'samples before it began: %s' % sampling)
    t.true(20_000 < sampling['before'] < 2_000_000, 'what it allocated: %s' % sampling)


@needs('Ticker')
def test_the_mean_can_be_raised_but_not_below_the_runtimes_own(t):
    ticker = Living(t, PROGRAM.command('Ticker') + harness.ENDLESS, '--check', '0', '--sample', 'auto')
    pid = str(ticker.wait())
    for less in '4K', '0':
        refused = tool('ctl', pid, 'sample', less)
        one_line(refused, 3, 'the runtime takes the samples of this process, one in 102400 bytes', '--sampler exact')
    t.equal(tool('ctl', pid, 'sample', '10M').status, 0, 'a higher mean')
    ticker.says(b'"kind":"config"')
    ticker.end()
    config = [r for r in ticker.log_so_far.others if r['kind'] == 'config']
    t.equal([c['sample'] for c in config], [10 << 20], 'the change is in the log')


@needs('Sampled')
def test_sums_of_sites_say_the_same(t):
    r = recorded('sites', '--sample', 'auto', '--log', 'sites', '--check', '0')
    known = told(r)
    rows = rows_of(r.report('--by', 'site', '--names=raw'))
    for method, row in known.items():
        if method.endswith('.Mixed'):
            continue
        bytes_ = sum(f['bytes'] for f in rows.get(method, []))
        t.true(chance(bytes_, row['bytes'] / row['allocs'], MEAN, row['allocs']) > 1e-7,
               '%s: %d bytes estimated of %d' % (method, bytes_, row['bytes']))


@needs('Sampled')
def test_snapshots_can_be_the_stacks(t):
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '5'], '--sample', 'auto', '--capture', 'snapshot')
    t.equal((r.status, r.log.header['sampler'], r.log.header['hooks']), (0, 'runtime', 'none'), 'how')
    t.true(set(told(r)) - {'Sampled.Program.Mixed'} <= set(rows_of(r.report('--by', 'site', '--names=raw'))) | {
        method for method, row in told(r).items() if row['bytes'] < 40 << 20}, 'methods')
    t.has_stacks(r.log)


@needs('Sampled', framework='net8.0')
@needs('Sampled', framework='net9.0')
@each('framework', 'net8.0', 'net9.0')
def test_ticks_of_older_runtimes_are_approximate(t, framework):
    """Weighed with what the tick says: with 102,400 each, arrays of 100 KB would be half of what they are."""
    r = recorded('ticks.' + framework, '--sampler', 'runtime', '--check', '1', framework=framework)
    t.equal(r.log.header['sampler'], 'ticks', 'header')
    total = r.report()['total']
    t.equal((total['sampler'], total['approximate'], 'bytes_range' in total), ('ticks', True, False), 'report')
    text = ' '.join(tool('report', r.path).text.split())
    t.true(' Approximate, from ' in text and '95% range' not in text, text[:600])
    t.exact(r)
    rows, known = rows_of(r.report('--by', 'site', '--names=raw')), told(r)
    for method in 'Small', 'Kilobyte', 'NearlyLarge', 'Large', 'Megabyte', 'TenMegabytes':
        row = known['Sampled.Program.' + method]
        bytes_ = sum(f['bytes'] for f in rows.get('Sampled.Program.' + method, []))
        t.true(0.8 <= bytes_ / row['bytes'] <= 1.2, '%s: %d of %d' % (method, bytes_, row['bytes']))


@needs('Hello', framework='net9.0')
def test_older_runtimes_are_not_sampled_by_themselves(t):
    r = t.record(PROGRAM.command('Hello', 'net9.0'), '--sample', 'auto')
    t.equal(r.log.header['sampler'], 'exact', 'header')


# ---- stacks of samples

@needs('Sampled')
def test_the_framework_stays_precompiled_and_stacks_are_those_of_own_code(t):
    """--own with samples: nothing asks for ObjectAllocated, and stacks equal the snapshot's hooked frames."""
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '5'], '--own', '--sample', 'auto', '--check', '1', *SHADOWED)
    t.exact(r)
    own = {m for m, d in r.log.methods.items() if r.log.modules.get(d.get('module'), {}).get('owner') == 'own'}
    t.true(all(set(r.log.stack(a['node'])) <= own for a in r.log.allocs), 'frames of own code only')


def frames_of(log, node):
    """(name, is it from a snapshot) of each frame, the innermost first."""
    found = []
    while node:
        found.append((log.methods[log.nodes[node]['method']]['name'], log.nodes[node].get('snapshot', False)))
        node = log.nodes[node]['parent']
    return found


@needs('Sampled')
def test_frames_of_the_framework_come_from_snapshots_and_are_marked(t):
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '5'], '--own', '--sample', 'auto', '--check', '1',
                 '--framework-frames', 'snapshot')
    t.exact(r)
    frames = r.log.end['sampling']['frames']
    t.equal((frames['added'], frames['differed']), (len(r.log.allocs) - frames['refused'], 0), 'snapshots')
    strings = [frames_of(r.log, a['node']) for a in r.log.allocs if r.log.type(a) == 'System.String']
    strings = [f for f in strings if any(name.startswith('Sampled.Program.Text(') for name, _ in f)]
    t.true(strings, 'strings')
    for f in strings:
        t.true(f[0][0].startswith('System.String.') and f[0][1], 'the framework allocates it: %s' % f)
    for a in r.log.allocs:
        for name, snapshot in frames_of(r.log, a['node']):
            t.equal(snapshot, not name.startswith('Sampled.'), name)


@needs('Sampled')
def test_frames_of_the_framework_are_walked_between_those_of_own_code(t):
    """The same paths without a snapshot, and all frames are compared."""
    r = t.record(PROGRAM.command('Sampled') + ['--megabytes', '5'], '--own', '--sample', 'auto', '--check', '1')
    t.exact(r)
    walks = r.log.end['walks']
    t.equal((walks['taken'], walks['fallbacks_by'].get('hooked')), (len(r.log.allocs) - walks['fallbacks'], None), 'walks')
    strings = [frames_of(r.log, a['node']) for a in r.log.allocs if r.log.type(a) == 'System.String']
    strings = [[name for name, _ in f] for f in strings if any(name.startswith('Sampled.Program.Text(') for name, _ in f)]
    t.true(strings and all(f[0].startswith('System.String.') for f in strings), 'the framework allocates them: %s' % strings[:1])
    t.equal({f[-1] for f in strings}, {'System.Threading.Thread.StartCallback()'}, 'down to where the thread begins')


# ---- what is alive

# What a view says of all that is alive at the end: that nothing was there before, or came since, is known of this program.
ALIVE_BY = {'live': 'live_bytes', 'end': 'bytes', 'grown': 'grown_bytes'}


def alive_by(r, view):
    """By method: bytes, and between what they are."""
    report = harness.tool_json('report', '--view', view, '--by', 'method', '--format=json', '--names', 'full', r.path)
    assert (report['total']['exact'], report['total']['why'].startswith('it is estimated from samples')) == (False, True), report['total']
    found = {}
    for row in report['rows']:
        name = (row['method'] or '').split('(')[0]
        assert name not in found, 'one row of %s' % name
        value = row['live_bytes'] + row.get('young_bytes', 0)
        low, high = row.get(ALIVE_BY[view] + '_range', (0, 0))
        assert low <= value <= high, row
        found[name] = value, low, high
    return found


@longer('sampler')
@needs('Sampled')
def test_what_is_alive_is_estimated_with_concurrent_collection_on(t):
    held = cases = 0
    bias = {}
    for _ in range(SEEDS):
        r = t.record(PROGRAM.command('Sampled') + ['--keep'], '--sample', 'auto', '--live', '--check', '0')
        t.equal(r.status, 0, 'exit status\n%s' % r)
        t.true('concurrent' not in r.log.header, 'concurrent collection is on')
        alive = r.log.end['sampling']['alive']
        # one that comes while those that are alive are looked at is counted, and not followed
        t.true(alive['followed'] > 0 and alive['missed'] <= alive['followed'] // 50, alive)
        for view in ALIVE_BY:
            found = alive_by(r, view)
            t.true('95% range' in tool('report', '--view', view, '--by', 'method', r.path).text, 'ranges')
            for method, row in told(r).items():
                if method.endswith('.Mixed'):
                    continue
                size = row['bytes'] / row['allocs']
                # the framework allocates it, inlined or not
                text = method.endswith('.Text')
                name = next((name for name in found if name.startswith('System.String.')), method) if text else method
                estimate, low, high = found.get(name, (0, 0, 0))
                if name in found and view == 'live':
                    held += low <= row['live'] * 1.001 and row['live'] <= high * 1.001
                    cases += 1
                if row['live'] and view == 'live':
                    bias.setdefault(method, []).append(estimate / row['live'])
                t.true(chance(estimate, size, MEAN, round(row['live'] / size)) > 1e-7,
                       '%s, %s: %d bytes alive estimated, %d are' % (view, method, estimate, row['live']))
    t.true(held >= 0.93 * cases or SEEDS < 50, '%d of %d ranges hold' % (held, cases))
    t.note('%d of %d ranges hold' % (held, cases))
    for method, of in bias.items() if SEEDS >= 50 else ():
        t.true(abs(sum(of) / len(of) - 1) < 0.02 + 4 * 0.1 / math.sqrt(SEEDS), '%s: bias %f' % (method, sum(of) / len(of) - 1))
        t.note('%s: bias %+.2f %%' % (method.rsplit('.', 1)[1], 100 * (sum(of) / len(of) - 1)))


# ---- for production

@needs('Sampled')
def test_always_on_is_bounded_and_says_what_it_does(t):
    # without a log that it could read it goes on allocating
    ticker = Living(t, PROGRAM.command('Sampled') + ['--log', '/nowhere/log'], '--always-on', '--sums-every', '100ms',
                    '--keep', '2', log='log.ndjson.zst')
    pid = str(ticker.wait())
    until(lambda: ticker.client().ask('status')['written'] > 0, 'samples')
    for _ in range(4):
        until(lambda: tool('ctl', pid, 'rotate').status == 0, 'a new part')  # not while a name is missing
    until(lambda: os.path.getsize(ticker.path) and harness.tool_json('report', '--format=json', ticker.path)['total']['allocs'],
          'samples in the last part')
    ticker.end(signal.SIGKILL)
    parts = sorted(name for name in os.listdir(os.path.dirname(ticker.path)))
    t.equal(parts, ['log.ndjson.zst', 'log.ndjson.zst.1', 'log.ndjson.zst.2'], 'files')
    report = harness.tool_json('report', '--format=json', ticker.path)
    t.true(report['total']['estimated'] and report['total']['sampler'] == 'runtime', 'report')
    t.unchecked.update(os.path.join(os.path.dirname(ticker.path), name) for name in parts)


@needs('WebServer')
def test_samples_of_own_code_have_complete_paths(t):
    """As --always-on takes them: own code has hooks, and what lies between its frames, and below them, is walked."""
    server = Living(t, PROGRAM.command('WebServer') + ['--scale', '1000000', '--pad', '20000', '--until', 'eof'], '--own', '--sample', 'auto',
                    '--sampler', 'runtime', '--framework-frames', 'walk', '--check', '1', stdin=subprocess.PIPE)
    server.wait()
    until(lambda: server.client().ask('status')['written'] >= 200, 'samples')
    _, errors = server.process.communicate(timeout=harness.PATIENCE)
    t.equal(server.process.returncode, 0, errors)
    log = server.log
    end, paths = log.end, [log.names(a['node']) for a in log.allocs if a['node']]
    own = [path for path in paths if any(name.startswith('WebServer.') for name in path)]
    ends = '<Main>(', 'Thread.StartCallback(', 'Thread.StartHelper'
    t.equal([path for path in own if not any(name in path[-1] for name in ends)][:3], [], 'from elsewhere')
    t.true(len(own) > 20 and any(name.startswith('Microsoft.AspNetCore.') for path in own for name in path), '%d of own code' % len(own))
    t.equal((end['snapshots']['mismatched'], end['walks']['fallbacks']), (0, 0), end)
    t.note('%d compared' % end['snapshots']['compared'])


@needs('WebServer')
def test_without_the_compressor_what_runs_always_is_recorded_and_it_is_said(t):
    """It is looked for when there is something to pack; --compress alone asks for it at the start, and declines."""
    folder = t.path('libraries')
    os.makedirs(folder)
    open(os.path.join(folder, 'libzstd.so.1'), 'wb').close()  # found first, and none
    command = ['env', 'LD_LIBRARY_PATH=' + folder] + PROGRAM.command('WebServer') + ['--scale', '10', '--pad', '20000']
    found = t.record(command, '--always-on', '--sums-every', '10ms', log='log.ndjson.zst')
    t.equal(found.status, 0, str(found))
    said = [line for line in found.errors.splitlines() if 'libzstd' in line]
    t.equal([line.split('without compression: ')[-1] for line in said],
            ['libzstd.so.1 (package libzstd1) cannot be loaded'], found.errors)
    t.true(harness.tool_json('report', '--format=json', found.path)['total']['allocs'] > 0, 'a report')
    t.equal(tool('validate', found.path).status, 0, 'validate')
    with open(found.path, 'rb') as file:
        t.true(b'"kind":"end"' in file.read(), 'lines as they are')
    declined = t.record(command, '--compress', log='log.ndjson.zst')
    t.true('--compress: libzstd.so.1 (package libzstd1) cannot be loaded' in declined.errors, declined.errors)
    t.true(not os.path.exists(declined.path), 'a log')


@needs('WebServer')
def test_a_full_disk_does_not_harm_what_runs_always(t):
    """What was written stays readable; one line reports what was not. As many requests as fill the disk on a busy machine."""
    command = PROGRAM.command('WebServer') + ['--scale', '40', '--pad', '20000']
    result, path = on_full_disk(t, '--always-on', '--no-lines', '--sums-every', '10ms', '--', *command, size='12k')
    t.equal(result.status, 0, str(result))
    t.equal(result.text.splitlines()[-1], 'ok', 'what the program says')
    said = [line for line in result.errors.splitlines() if 'No space left' in line]
    t.equal(len(said), 1, 'one line about the disk\n%s' % result)
    report = harness.tool_json('report', '--format=json', '--no-lines', path)
    t.true(report['total']['allocs'] and not report['total'].get('complete'), 'a report of the rest: %s' % report['total'])
    t.equal(tool('validate', path).status, 0, 'validate')


@needs('WebServer', 'Sampled')
@each('program', 'WebServer --scale 1000000 --pad 20000', 'Sampled --rounds 1000000')
def test_a_signal_that_ends_what_runs_always_loses_no_more_than_the_last_sums(t, program):
    """A server sees to the signal, and its log has an end; what does not is ended by it."""
    def total():
        return harness.tool_json('report', '--format=json', '--no-lines', r.path)['total']

    name, *arguments = program.split()
    r = Living(t, PROGRAM.command(name) + arguments, '--always-on', '--sums-every', '200ms', log='log.ndjson.zst')
    r.wait()
    # Some 20 MB: a server that starts has allocated a tenth of that before it sees to signals.
    until(lambda: r.client().ask('status')['written'] > 200, 'samples')
    before = r.client().ask('status')['written']
    until(lambda: total().get('sampled', 0) >= before, 'their sums in the log')
    status = r.end(signal.SIGTERM)
    t.unchecked.add(r.path)
    last = consumers.last_record(r.path)
    t.true(total()['sampled'] >= before, 'samples in the log, %d were there before: %s' % (before, total()))
    if name == 'WebServer':
        t.equal((status, r.out.splitlines()[-1]), (0, 'ok'), 'the server')
        t.equal((last['kind'], last.get('lost'), last.get('written')), ('end', 0, total()['sampled']), 'the end of its log')
    else:
        t.equal(status, 128 + signal.SIGTERM, 'the program')


@needs('Sampled')
def test_the_mean_rises_when_sampling_takes_more_than_its_budget(t):
    """Each sample is compared with a snapshot, of many threads: that is more than one in a hundred."""
    r = t.record(PROGRAM.command('Sampled') + ['--threads', '4', '--rounds', '3'], '--sample', 'auto', '--check', '1',
                 '--native', '--budget', '1')
    means, at = [MEAN] + [c['sample'] for c in r.log.others if c['kind'] == 'config'], 0
    t.true(len(means) > 1 and means == sorted(means), 'changes of the mean: %s' % means)
    with open(r.path, encoding='utf-8') as file:
        for record in map(json.loads, file):
            at += record['kind'] == 'config'
            if record['kind'] == 'alloc':  # a sample may be on its way while the mean changes
                near = means[max(0, at - 1):at + 2]
                t.true(any(math.isclose(record['weight'], weight(record['bytes'], mean), rel_tol=1e-6) for mean in near),
                       '%s has a weight of none of the means %s' % (record, near))


# ---- with programs that are hard on stacks

@needs('Rules', 'Exceptions', 'Unload', 'Threads', 'WebServer')
@each('program', 'Rules --scale 100', 'Exceptions --scale 2000', 'Unload --scale 10', 'Threads --scale 20', 'WebServer --scale 4')
def test_shadow_stacks_at_samples_are_the_hooked_frames_of_snapshots(t, program):
    """Exceptions, code that is unloaded, threads of native code, a server: each sample is compared."""
    name, *arguments = program.split()
    r = t.record(PROGRAM.command(name) + arguments, '--own', '--sample', 'auto', '--check', '1')
    c = t.exact(r)
    t.true(r.log.header['sampler'] == 'runtime' and c['compared'] > 0, 'samples')


@harness.publishes(lambda: [DATABASE])
def test_shadow_stacks_at_samples_of_a_database_are_the_hooked_frames_of_snapshots(t):
    """EF Core calls back into own code, and own async code is resumed by the framework."""
    program = PROGRAM.publish(*DATABASE)
    r = t.record([program, t.path('blogging.db')], '--own', '--sample', 'auto', '--check', '1')
    c = t.exact(r)
    t.true(r.log.header['sampler'] == 'runtime' and c['compared'] > 20, 'samples')
    t.note('%d samples' % c['compared'])


@needs('Rules')
def test_snapshots_at_samples_end_in_time_while_exceptions_fly(t):
    r = t.record(PROGRAM.command('Rules') + ['--scale', '100'], '--sample', 'auto', '--capture', 'snapshot')
    t.equal((r.status, r.log.end['lost']), (0, 0), 'exit status and losses\n%s' % r)
