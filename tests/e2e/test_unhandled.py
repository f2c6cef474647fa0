"""
A program that an unhandled exception ends: record, report, validate and the page say which one; the program's own words and exit
status stay what they are. Other ends are not taken for it.
"""
import json
import signal

from harness import PROGRAM, TOOL, each, needs, run, tool

SAID = 'ended by an unhandled exception; its log can be read up to there'
LONG = '0123456789\u00fc\U0001f600'


def own_words(text):
    """What the program wrote before the stack trace, whose frames are as many as are not inlined."""
    return [line for line in text.splitlines() if not line.startswith(('shadowtrace: ', '   at '))]


def lines_of(log, kind):
    with open(log, 'rb') as file:
        return [json.loads(line) for line in file if line.startswith(b'{"kind":"%s"' % kind.encode())]


def ends(t, kind, message, *options, framework=None, type='Odd'):
    command = [*PROGRAM.command('Unhandled', framework), kind]
    log = t.path('%s-%s.ndjson' % (kind, ''.join(options).strip('-') or 'all'))
    plain = run(command)
    recorded = run([TOOL, 'record', '-o', log, *options, '--', *command])
    what = '%s %s %s' % (kind, framework, ' '.join(options))
    t.equal(recorded.status, plain.status if plain.status >= 0 else 128 - plain.status, what)
    if message is not None:
        t.equal(own_words(recorded.errors), own_words(plain.errors), what)
        t.true(SAID in recorded.errors, (what, recorded.errors))
        last = lines_of(log, 'unhandled')[-1]
        t.equal((last['type'], last.get('message', '')), (type, message), what)
    else:
        t.true(SAID not in recorded.errors, (what, recorded.errors))
    return log, recorded


def validate(t, log):
    return run([TOOL, 'validate', log]).text


@needs('Unhandled')
def test_an_unhandled_exception_is_said(t):
    log, _ = ends(t, 'main', 'on the main thread')
    for said in validate(t, log), tool('report', log).text:
        t.true('an unhandled exception ended the program, Odd: on the main thread' in said, said)
    tool('html', '--no-lines', log, '-o', t.path('page.html'))
    for kind, message in (('thread', 'on a thread'), ('async-void', 'in async void'), ('finalizer', 'in a finalizer'),
                          ('first-chance', 'outer'), ('rethrown', 'thrown again')):
        ends(t, kind, message, '--own')


@needs('Unhandled')
def test_any_message_is_one_line(t):
    for kind, message in (('control', 'a\ufffdb\x1b[31mc\r\nd\u202ee"\\'), ('long', (LONG * 20)[:236]), ('surrogates', 'x\ufffdy\ufffdz')):
        command = [*PROGRAM.command('Unhandled'), kind]
        log = t.path(kind + '.ndjson')
        recorded = run([TOOL, 'record', '--own', '-o', log, '--', *command])
        t.equal(recorded.status, 128 + signal.SIGABRT, kind)
        said = lines_of(log, 'unhandled')[-1]['message']
        t.equal(said[:len(message)], message[:len(said)], kind)
        t.true(len(said.encode('utf-16-le')) <= 512, kind)
        ours = [line for line in recorded.errors.splitlines() if line.startswith('shadowtrace: ')]
        t.true(ours[0].endswith(SAID) and ours[1].startswith('shadowtrace:     Odd: '), ours)
        t.true('\x1b' not in ''.join(ours) and '\u202e' not in ''.join(ours), ours)


@needs('Unhandled', framework='net9.0')
@needs('Unhandled', framework='net8.0')
@each('framework', 'net9.0', 'net8.0')
def test_on_other_runtimes(t, framework):
    for kind, message in ('main', 'on the main thread'), ('thread', 'on a thread'), ('finalizer', 'in a finalizer'):
        ends(t, kind, message, '--own', framework=framework)


@needs('Unhandled')
def test_other_ends_are_not_taken_for_it(t):
    """Exceptions that were caught in Main's frame, and then: a kill, FailFast, a full stack, exit in a handler of the exception."""
    for kind, options in (('killed-after-catch', []), ('killed-after-catch', ['--own']), ('fail-fast-in-catch', ['--own']),
                          ('overflow', ['--own']), ('exit-in-handler', ['--own']), ('caught-in-main', ['--own'])):
        log, recorded = ends(t, kind, None, *options)
        t.true('an unhandled exception' not in validate(t, log), kind)
        if kind in ('exit-in-handler', 'caught-in-main'):
            t.equal(len(lines_of(log, 'end')), 1, kind)
