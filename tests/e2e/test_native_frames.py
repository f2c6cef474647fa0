"""--native: runs of unmanaged frames as native frames, with symbols, between the managed frames of logged snapshots."""
import json
import os
import harness
from harness import HOOKS, PROGRAM, each, needs, sampled, without

CALL = 'libe2enative.so!e2e_call'
DEEP = 'libe2enative.so!e2e_call_deep'
CALLBACK = 'Torture.Program.AlternateUnmanaged(System.Int32)'
CALLER = 'Torture.Program.Alternate(System.Int32)'


def frames_of(shown):
    return [frame.get('native') or frame['method'] for frame in shown['stack']]


@sampled
@needs('Native')
@needs('Native', framework='net8.0')
@each('framework', 'net8.0', 'net10.0', 'net11.0')
@each('hooks', *HOOKS)
def test_native_functions_lie_between_the_methods(t, framework, hooks):
    r = t.record(PROGRAM.command('Native', framework), '--native', '--capture', 'both', hooks=hooks)
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    c = r.compare()
    t.equal(c['mismatched'], 0, harness.show_mismatch(r.log))
    frames = frames_of(c['native'])
    spared = framework == 'net8.0' and hooks == 'elt2'  # methods for unmanaged callers are not hooked, and left out
    callback = [] if spared else [CALLBACK]
    at = frames.index(DEEP) - 1
    expected = [CALLER] + 4 * [DEEP] + callback + [CALL, CALLER]
    t.equal(frames[at:at + len(expected)], expected, frames)
    images = {i['id']: os.path.basename(i['path']) for i in r.log.others if i['kind'] == 'image'}
    t.true('libe2enative.so' in images.values() and len(set(images.values())) == len(images), images)
    runs = [run for s in r.log.snapshots for run in s.get('native', [])]
    t.true(all(0 < len(run['frames']) <= 64 and (run.get('more') is None or len(run['frames']) == 64) for run in runs), 'runs')
    t.equal([s for s in r.log.snapshots if any(run['at'] > len(s['stack']) for run in s.get('native', []))], [], 'places')
    t.note('%d runs in %d snapshots' % (len(runs), len(r.log.snapshots)))


@needs('Native')
def test_of_snapshots_alone_too(t):
    r = t.record(PROGRAM.command('Native'), '--native', '--capture', 'snapshot')
    t.true(any(run['frames'] for s in r.log.snapshots for run in s.get('native', [])), 'no native frames')
    t.true(CALL in frames_of(r.compare()['native']), 'not by name')


@needs('Native')
def test_of_differences_too(t):
    r = t.record(PROGRAM.command('Native'), '--native', check=1, hooks='elt3', env=without('handler_cut'))
    c = r.compare()
    shown = [e for e in c['examples'] if e['snapshot']]
    t.true(shown, c['mismatched_by'])
    for e in shown:
        run = e['native'][-1]
        t.equal(run['at'], len(e['snapshot']), e)
        t.true(any(frame.startswith('libhostpolicy.so') for frame in run['frames']), e)
    t.equal(r.log.snapshots, [], 'stacks that are equal')


@needs('Native')
def test_without_libunwind_one_line_says_so(t):
    os.mkdir(t.path('none'))
    with open(t.path('none', 'libunwind-x86_64.so.8'), 'w'):
        pass  # found first, and no library
    r = t.record(['env', 'LD_LIBRARY_PATH=' + t.path('none')] + PROGRAM.command('Native'), '--native', '--capture', 'both')
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    t.true('libunwind' in r.log.header.get('no_native', ''), r.log.header)
    t.equal([s for s in r.log.snapshots if 'native' in s], [], 'native frames')
    t.equal(len([line for line in r.errors.splitlines() if 'without native frames: libunwind' in line]), 1, r.errors)
