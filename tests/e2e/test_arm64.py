"""Programs for arm64 under qemu-user: every stack equals the runtime's snapshot, as on x86-64."""
import os
import re
import shutil

import arm64
import guest
import matrix
import test_calls
import test_compiler
import test_live
import test_negative
import test_threads
import test_values
from harness import ROOT, Record, heavy, needs, one_line, run
from selection import each, lane

FRAMEWORKS = 'net9.0', 'net10.0', 'net11.0'
HOOKS = 'elt3', 'elt2'
NEGATIVE = 'build/aarch64/negative/libshadowtrace.so'
NOT_HERE = {'suspended_stub'}  # the runtime's code that allocates keeps a frame on this CPU
UNIT = ('hooks/aarch64/test_slow_call', 'code/aarch64/test_cpu_code', 'clr/aarch64/test_function',
        *('stack/' + name[:-2] for name in sorted(os.listdir(os.path.join(ROOT, 'tests/unit/stack'))) if name.startswith('test_')))


@lane('arm64')
@each('program', *UNIT)
def test_what_depends_on_the_cpu(t, program):
    path = os.path.join(arm64.ARM64, 'unit', program)
    result = run(arm64.emulator(os.path.relpath(path, ROOT)) + [path])
    t.equal(result.status, 0, result)
    t.true('PASSED' in result.text + result.errors, result)


@lane('arm64')
@heavy
@needs('program')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
@each('program', 'Hello', 'Exceptions', 'Threads', 'Async', 'Boundaries')
def test_every_stack_is_equal(t, framework, hooks, program):
    t.exact(arm64.record(t, framework, arm64.command(framework, program), '--hooks', hooks, '--check', '1'))


@lane('arm64')
@heavy
@each('hooks', *HOOKS)
def test_the_compiler_is_exact(t, hooks):
    words, _ = test_compiler.command(t, 'made')
    t.exact(arm64.record(t, 'net10.0', arm64.compiler('net10.0') + words[2:], '--hooks', hooks, '--check', '1'))


@lane('arm64')
@heavy
@needs('Exceptions')
@each('hooks', *HOOKS)
def test_at_many_calls(t, hooks):
    words = arm64.command('net10.0', 'Exceptions')
    test_calls.equal_at_calls(t, arm64.record(t, 'net10.0', words, '--hooks', hooks, '--check-calls', '10', '--check', '0'), 1000)


@lane('arm64')
@heavy
@needs('Threads')
@each('hooks', *HOOKS)
def test_threads_that_come_and_go(t, hooks):
    words = arm64.command('net10.0', 'Threads') + ['--scale', '5', '--except', test_threads.ABORTS]
    r = arm64.record(t, 'net10.0', words, '--hooks', hooks, '--check-threads', '1', '--check', '0')
    numbers, wrong = matrix.judge_threads(r.compare(), r.log.checks, share=0.1)
    t.true(not wrong, wrong)
    t.true(numbers['equal'] > 100, numbers)
    t.note(matrix.describe_threads(numbers))


@lane('arm64')
@heavy
@needs('Replacer')
@each('hooks', *HOOKS)
def test_live_objects_are_those_of_the_heap(t, hooks):
    words = arm64.command('net10.0', 'Replacer') + ['--collect', '5']
    test_live.checked(t, arm64.record(t, 'net10.0', words, '--hooks', hooks, *test_live.CHECKED), 10_000)


@lane('arm64')
@needs('Values')
def test_the_trace_agrees_with_what_the_program_prints(t):
    test_values.agrees(t, arm64.record(t, 'net10.0', arm64.command('net10.0', 'Values'), *test_values.TRACED, '--check', '1'))


def by_a_library_without(t, framework, program, arguments, options, env):
    return arm64.record(t, framework, arm64.command(framework, program) + arguments, *options, env=env,
                        library=os.path.join(ROOT, NEGATIVE), made=('NEGATIVE=1', NEGATIVE))


@lane('arm64')
@heavy
@needs('Rules')
@needs('Dynamic')
@needs('RuntimeAsync')
@needs('Rules', framework='net9.0')
@each('rule', *(rule for rule, row in test_negative.RULES.items() if row[0] in FRAMEWORKS and rule not in NOT_HERE))
def test_without(t, rule):
    test_negative.differs_without(t, rule, by_a_library_without)


@lane('arm64')
@needs('Hello')
def test_the_command_of_this_cpu_records(t):
    """It starts a script, because without binfmt_misc it cannot start a program for arm64."""
    tool = os.path.join(arm64.ARM64, 'shadowtrace')
    emulator = arm64.emulator(os.path.relpath(tool, ROOT), os.path.relpath(arm64.LIBRARY, ROOT))
    script, log = t.path('hello.sh'), t.path('log.ndjson')
    with open(script, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nexec "%s"\n' % '" "'.join(emulator + arm64.command('net10.0', 'Hello')))
    os.chmod(script, 0o755)
    result = run(emulator + [tool, 'record', '--check', '1', '-o', log, '--', script], env=arm64.environment('net10.0'), timeout=1800)
    t.exact(Record(result, t.folder, log))
    refused = run(emulator + [tool, 'record', '--', shutil.which('dotnet')])
    one_line(refused, 3, 'dotnet is a program for x86-64, and ', ' is for AArch64')


# Its own budget would end most samples: an emulated processor takes tens of milliseconds for each.
ATTACHED = '''Sampled --log /tmp/attached.ndjson --megabytes 1 >/tmp/said & program=$!
until shadowtrace list | grep -q "^ *$program "; do sleep 1; done
shadowtrace attach --budget 0 -o /tmp/attached.ndjson $program && wait $program && tail -n 1 /tmp/said'''


@lane('arm64')
@heavy
@needs('Hello')
@needs('Exceptions')
@needs('Threads')
@needs('Sampled')
@each('pages', *guest.KERNELS)
def test_under_a_real_kernel(t, pages):
    """Its signals, its pages; a process is attached to by its id."""
    def recorded(program, hooks, *more):
        log = '%s-%s.ndjson' % (program, hooks)
        return ' '.join(['shadowtrace record --hooks', hooks, '-o /tmp/' + log, *more, '--', program]), [log]

    steps = {'%s-%s' % (program, hooks): recorded(program, hooks, '--check 1') for program in ('Hello', 'Exceptions') for hooks in HOOKS}
    steps['threads'] = recorded('Threads', 'elt3', '--check 0 --check-threads 1')
    steps['attached'] = ATTACHED, ['attached.ndjson', 'said']
    steps['pages'] = 'getconf PAGESIZE || grep KernelPageSize /proc/self/smaps | head -n 1', []
    found = guest.boot(t, pages, 'net10.0', ['Hello', 'Exceptions', 'Threads', 'Sampled'], steps)
    for program in 'Hello', 'Exceptions':
        for hooks in HOOKS:
            t.exact(found['%s-%s' % (program, hooks)])
    numbers, wrong = matrix.judge_threads(found['threads'].compare(), found['threads'].log.checks, share=0.1)
    t.true(not wrong, wrong)
    t.note(matrix.describe_threads(numbers))
    attached = found['attached']
    t.equal((attached.status, attached.text), (0, 'ok\n'), attached)
    having = t.has_stacks(attached.log)
    places = {attached.log.names(a['node'])[0].split('(')[0] for a in having if 'il' in a}
    t.true({'Sampled.Program.' + name for name in ('WarmUp', 'Megabyte', 'TenMegabytes')} <= places, places)
    t.true(re.search(r'\b%d\b' % int(pages), found['pages'].text) or str(int(pages) * 1024) in found['pages'].text, found['pages'])
