"""Every thread stopped from outside: its shadow stack beside the snapshot, with and without a seed."""
import copy
import json
import os

import harness
import matrix
import test_compiler
from harness import FRAMEWORKS, HOOKS, PROGRAM, each, heavy, lane, needs, sampled


ABORTS = 'controlled-execution'


@sampled
@needs('Threads')
@needs('Threads', framework='net9.0')
@needs('Threads', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_threads_that_come_and_go(t, framework, hooks):
    for scale in 5, 50, 500:  # how often the tracer comes to stop them is a matter of the machine's load
        r = t.record(PROGRAM.command('Threads', framework) + ['--scale', str(scale), '--except', ABORTS], '--check-threads', '1',
                     hooks=hooks, check=0)
        t.equal(r.status, 0, str(r))
        numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks, share=0.1)
        t.true(not wrong, wrong)
        if numbers['equal'] > 100:
            break
    t.true(numbers['equal'] > 100, numbers)
    t.true(numbers['seeds']['same'] > 0, numbers)
    t.note(matrix.describe_threads(numbers))


def test_a_crash_of_the_runtime_is_told_from_one_of_the_tracer(t):
    """fixtures/crashes/aborted.json: of .NET 8.0.31 without a profiler."""
    with open(os.path.join(harness.ROOT, 'tests/fixtures/crashes/aborted.json'), encoding='utf-8') as file:
        known = json.load(file)

    def judged(change):
        report = copy.deepcopy(known)
        change(report['payload']['threads'][0])
        with open(t.path('crash.json'), 'w', encoding='utf-8') as file:
            json.dump(report, file)
        return harness.killed_by_an_abort(t.path('crash.json'))
    t.equal(judged(lambda thread: None), True, 'as it was')
    t.equal(judged(lambda thread: thread['stack_frames'].insert(4, {'native_module': 'libshadowtrace.so'})), False, 'with a frame of the tracer')
    t.equal(judged(lambda thread: thread.update(managed_exception_hresult='0x80004003')), False, 'another exception')
    t.equal(judged(lambda thread: thread.update(crashed='false')), False, 'no thread that crashed')


@sampled
@needs('Threads')
@needs('Threads', framework='net9.0')
@needs('Threads', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_threads_that_are_aborted(t, framework, hooks):
    command = PROGRAM.command('Threads', framework) + ['--scale', '5']
    for case in ABORTS, ABORTS + '-finally', ABORTS + '-filter':
        command += ['--case', case]
    r = t.record(command, '--check-threads', '1', hooks=hooks, check=0)
    t.equal(r.status, 0, str(r))
    numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks, share=0.1)
    t.true(not wrong, wrong)
    t.note(matrix.describe_threads(numbers))


@needs('Native')
@each('hooks', *HOOKS)
def test_threads_of_native_code_on_their_way_in(t, hooks):
    r = t.record(PROGRAM.command('Native') + ['--scale', '5'], '--check-threads', '1', hooks=hooks, check=0)
    t.equal(r.status, 0, str(r))
    numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks, share=1)
    t.true(not wrong, wrong)
    t.note(matrix.describe_threads(numbers))


@lane('programs')
@each('hooks', *HOOKS)
def test_the_compiler(t, hooks):
    traced, _ = test_compiler.command(t, 'traced')
    r = t.record(traced, '--check-threads', '2', hooks=hooks, check=0, timeout=600)
    t.equal(r.status, 0, str(r))
    numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks)
    t.true(not wrong, wrong)
    t.true(numbers['seeds']['same'] > 0, numbers)
    t.note(matrix.describe_threads(numbers))


@lane('programs')
@heavy
@needs('WebServer')
@each('hooks', *HOOKS)
def test_a_server_under_load(t, hooks):
    r = t.record(PROGRAM.command('WebServer', harness.SDK_FRAMEWORK) + ['--seconds', '5'], '--check-threads', '5', hooks=hooks,
                 check=0)
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks)
    t.true(not wrong, wrong)
    t.note(matrix.describe_threads(numbers) + ', ' + r.text.splitlines()[0])
