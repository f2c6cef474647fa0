"""
Names come from the traced program, from the log, or from the file's name: all can be hostile. Every printer gets hostile
names of each kind, and its output may contain nothing that a terminal could act on.
"""
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import threading

import harness
from harness import ENVIRONMENT, PROGRAM, needs, run, tool

FORBIDDEN = set(map(chr, list(range(0x20)) + list(range(0x7f, 0xa0)) + [0x61c, 0x200e, 0x200f, 0x2028, 0x2029] +
                    list(range(0x202a, 0x202f)) + list(range(0x2066, 0x206a)))) - {'\n'}
EVIL = '\x1b[2J\x9b1m\x7f\u061c\u202e\u2066\u2028\u200f\x85\r\x07\nFORGED\t'  # a sample of each kind
EVIL_FILE = EVIL.replace('\n', '') + '\udcff\udc80'  # with bytes that are no UTF-8
LINK = re.compile('\x1b\\]8;;(file://[!-~]*)?\x1b\\\\')


def clean(result, links=False):
    """Neither stdout nor stderr holds what a terminal acts on, nor a line that a name began."""
    for what, data in (('stdout', result.out), ('stderr', result.err)):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise AssertionError('%s is no UTF-8: %s\n%r' % (what, error, result.command))
        if links:
            text = LINK.sub('', text)
        for number, line in enumerate(text.split('\n')):
            bad = sorted(set(line) & FORBIDDEN)
            if bad or line.startswith('FORGED'):
                raise AssertionError('%s of %r, line %d, holds %s:\n%r' % (what, result.command, number + 1, bad, line[:300]))
    return result


def spoil(value, keys, key=None):
    """The same JSON with every text under one of these keys made hostile, at both of its ends."""
    if isinstance(value, dict):
        return {k: spoil(v, keys, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, keys, key) for v in value]
    return EVIL + value + EVIL if isinstance(value, str) and (keys is None or key in keys) else value


# What of each kind of record is free text. Of values, all is.
TEXTS = {'header': ('command', 'executable', 'runtime', 'tracer'), 'class': ('name',), 'method': ('name',),
         'module': ('name',), 'thread': ('name',), 'managed_thread': ('name',), 'mark': ('text',), 'jit': ('name',),
         'load': ('name', 'assembly'), 'suspend': ('reason',), 'gc': ('reason',), 'exception': ('message',),
         'image': ('path', 'build_id'), 'mismatch': ('refused', 'repairs', 'cause')}
MORE = [{'kind': 'mark', 't': 1, 'text': 'here'}, {'kind': 'image', 'id': 1, 'path': '/nowhere/libx.so', 'base': 65536},
        {'kind': EVIL, 'x': 1}, {'kind': 'lost', 't': 1, 'reason': EVIL, 'count': 3}, {'kind': 'alloc', EVIL: EVIL},
        {'kind': 'mismatch', 't': 1, 'thread': 1, 'class': 1, 'cause': 'shadow_extra', 'first': 0, 'shadow': [1, 2],
         'snapshot': [2], 'native': [{'at': 1, 'frames': [[1, '0x1a2b'], [0, '0x77']]}], 'refused': '0x1', 'repairs': ['x']}]


def spoilt_log(source, target, module):
    """Records of a real log, each text of which is hostile now; damaged lines, and further kinds and losses."""
    seen = {}
    with open(source, encoding='utf-8') as log, open(target, 'w', encoding='utf-8', errors='surrogateescape') as out:
        for line in list(log) + [json.dumps(more) for more in MORE]:
            record = json.loads(line)
            kind = record['kind']
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] > 50 and kind in ('calls', 'transition', 'class_load', 'jit', 'load', 'values', 'sample'):
                continue  # more of the same
            if kind == 'symbols':
                continue  # the hostile PDB in a folder is to be used
            if kind == 'module' and record['name'] == 'Families':
                record['path'] = module
            if kind == 'end':
                record.setdefault('events', {})[EVIL] = {'seen': 9, 'written': 2, 'lost': 7}
                record['lost_by'] = {EVIL: 3}
                record['file'] = {'moved': EVIL}
                record['not_written'] = {EVIL: 3}
                out.write('"' + EVIL + '\udcff"\n{"kind":"' + EVIL.replace('\n', '') + '\n')
                for more in MORE:
                    out.write(json.dumps(spoil(more, TEXTS.get(more['kind'], ())), separators=(',', ':')) + '\n')
            record = spoil(record, None if kind == 'values' else TEXTS.get(kind, ()))
            record['kind'] = kind
            out.write(json.dumps(record, ensure_ascii=False, separators=(',', ':')) + '\n')
            if kind == 'end':
                break


def spoilt_program(t):
    """Families.dll with a PDB whose source file has a hostile name and text. Returns: the module's path, that name, text."""
    made = os.path.dirname(PROGRAM.command('Families')[-1])
    source = os.path.join(harness.PROGRAMS, 'Families', 'Program.cs')
    name = '\x1b[2J\u202e.cs'.encode()
    assert len(name) == len(b'Program.cs')
    with open(source, 'rb') as file:
        plain = file.read()
    text = plain.replace(b'{', b'{ // ' + EVIL.replace('\n', '').encode() + b'\xff\xc0\x80\xed\xa0\x80')
    with open(os.path.join(made, 'Families.pdb'), 'rb') as file:
        pdb = file.read()
    for old, new in ((b'Program.cs', name), (hashlib.sha256(plain).digest(), hashlib.sha256(text).digest())):
        assert pdb.count(old) == 1
        pdb = pdb.replace(old, new)
    with open(os.path.join(made, 'Families.dll'), 'rb') as file:
        dll = file.read()
    # The assembly records the PDB's hash, taken with 20 bytes of zeros for the PDB's own id.
    own = pdb.index(dll[dll.index(b'RSDS') + 4:][:16])
    at = dll.index(b'SHA256\0') + 7
    dll = dll[:at] + hashlib.sha256(pdb[:own] + bytes(20) + pdb[own + 20:]).digest() + dll[at + 32:]
    for path, data in (t.path('Families.dll'), dll), (t.path('Families.pdb'), pdb):
        with open(path, 'wb') as file:
            file.write(data)
    with open(t.path('text.cs'), 'wb') as file:
        file.write(text)
    return t.path('Families.dll'), os.fsdecode(name), t.path('text.cs')


@needs('Families')
def test_no_name_in_a_log_reaches_the_terminal_as_it_is(t):
    module, document, text = spoilt_program(t)
    real = t.record(PROGRAM.command('Families'), '--events', 'all', '--calls', 'Families.*', '--args', 'Families.*',
                    '--returns', 'Families.*', '--profile', '100', '--profile-snapshot', check=1)
    t.equal(real.status, 0, real)
    folder = tempfile.mkdtemp(dir=t.path())
    log = os.path.join(folder, EVIL_FILE + '.ndjson')
    spoilt_log(real.path, log, module)
    t.unchecked.add(log)
    printers = [['report', '--by', by] for by in ('site', 'type', 'method', 'thread', 'module', 'line')]
    printers += [p + more for p in printers for more in (['--wide', '--names=raw', '--top', '0', '--depth', '0', '--links', 'always'],
                                                        ['--format', 'json'])]
    printers += [['report', what, '--format', f] for what in ('--exceptions', '--gc', '--jit', '--suspensions', '--calls',
                                                              '--profile') for f in ('text', 'json')]
    printers += [['report', '--format', 'folded'], ['report', '--profile', '--format', 'folded'],
                 ['report', '--from', EVIL + 'here' + EVIL], ['report', '--from', EVIL], ['report', '--urls'],
                 ['report', '--format', 'json', '--inline-stacks'],
                 ['profile', '--format', 'json', '--inline-stacks'], ['diff', real.path, '--format', 'json', '--inline-stacks'],
                 ['events', 'exceptions', '--format', 'json', '--inline-stacks'], ['profile', '--source', 'snapshot', '--format', 'folded'],
                 ['report', '--steady'], ['report', '--physical', '--top', '0'], ['diff', real.path, real.path, '--', log],
                 ['replay', '--limit', '0'], ['replay', '--interleaved', '--limit', '0'], ['replay', '--format', 'json'],
                 ['replay', '--from', EVIL], ['compare'], ['compare', '--format', 'json'], ['compare', log], ['diff', real.path],
                 ['diff', real.path, '--format', 'json'], ['diff', real.path, '--wide', '--by', 'type'],
                 ['validate'], ['validate', '--format', 'json'], ['validate', '--schema', log]]
    shown = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda words: tool(*words, log), printers))
    for words, result in zip(printers, results):
        clean(result, links='always' in words)
        t.true(result.status in (0, 1, 2, 3) and (result.out or result.err), result)
        shown += result.out.count(b'FORGED')
    t.true(shown > 500, 'only %d hostile names were shown at all' % shown)
    for words in [], ['--all'], ['--format', 'json'], ['--source', text]:
        result = clean(tool('annotate', '--symbols', t.path(), *words, log, document))
        t.true(result.out or words == [], result)
    t.true(b'?[2J' in clean(tool('annotate', '--all', '--source', text, log, document)).out, 'the source text was not shown')
    rows = json.loads(tool('report', '--format', 'json', '--by', 'type', log).out)['rows']
    t.true(all(r['type'].startswith(EVIL) and r['type'].endswith(EVIL) for r in rows), 'JSON keeps what names mean')
    t.note('%d printers' % len(printers))


def test_no_argument_reaches_the_terminal_as_it_is(t):
    """Names of files, options and their values, in what is said against them."""
    folder = tempfile.mkdtemp(dir=t.path())
    missing, rubbish = (os.path.join(folder, EVIL_FILE + more) for more in ('.none', '.rubbish'))
    with open(rubbish, 'wb') as file:
        file.write(EVIL.encode() + b'\xff\n' * 30)
    os.mkdir(os.path.join(folder, EVIL_FILE))
    for command in 'report', 'replay', 'compare', 'validate', 'annotate', 'diff':
        for path in missing, rubbish, folder + '/' + EVIL_FILE:
            clean(tool(command, path, *([path] if command in ('annotate', 'diff') else [])))
        for option in '--format', '--by', '--top', '--thread', '--jobs', '--schema', '--symbols', '--' + EVIL, '-' + EVIL_FILE:
            clean(tool(command, option, EVIL_FILE, missing))
            clean(tool(command, option + '=' + EVIL_FILE, missing))
    for words in (['record', '--', missing], ['record', '--', rubbish], ['record', '-o', missing + '/x', '--', 'true'],
                  ['record', '--hooks', EVIL_FILE, '--', 'true'], ['record', '--' + EVIL_FILE, '--', 'true'],
                  ['record', '--events', EVIL_FILE, '--', 'true'], ['record', EVIL_FILE], [EVIL_FILE], ['-' + EVIL_FILE],
                  ['help', EVIL_FILE], ['dump', EVIL_FILE], ['ctl', '1', EVIL_FILE], ['ctl', '1', 'sample', EVIL_FILE],
                  ['top', '--view', EVIL_FILE, '1'], ['list', EVIL_FILE], ['env', '--' + EVIL_FILE],
                  ['env', '-o', '/tmp/' + EVIL], ['env', '--only', EVIL_FILE], ['env', '--only', EVIL, '--format', 'json'],
                  ['env', '--only', EVIL, '--format', 'systemd'], ['env', '--only', EVIL, '--format', 'docker'],
                  ['env', '--only', EVIL, '--format', 'runsettings']):
        result = clean(tool(*words))
        t.true(result.out or result.err, result)


def test_what_env_prints_for_a_shell_keeps_its_meaning(t):
    """Control characters are written as escapes that the shell and systemd turn back."""
    pattern = "it's 100% \\" + EVIL + ' é'
    folder = t.path(EVIL.replace('\t', '\n'))
    os.mkdir(folder)
    library = shutil.copy(harness.LIBRARY, folder)
    result = tool('env', '--only', pattern, env=dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=library))
    clean(result)
    for shell in 'sh', 'bash':
        said = run([shell, '-c', result.text + 'printf %s "$SHADOWTRACE_OPTIONS|$CORECLR_PROFILER_PATH"'])
        options, path = said.out.decode().split('|')
        t.equal((json.loads(options)['only'], path), ([pattern], library), result)


STATUS = '''
import json, os, sys
folder = json.loads(os.environ['SHADOWTRACE_OPTIONS'])['status']
for pid, status in enumerate(json.loads(sys.argv[1])):
    with open('%s/%d.json' % (folder, 4194000 + pid), 'w') as file:
        json.dump(status, file)
'''


def test_what_processes_report_reaches_the_terminal_clean(t):
    """The summary of record; a process may write what it likes into its status file."""
    log = os.path.join(t.path(), EVIL.replace('\n', '') + '.ndjson')
    with open(log, 'w', encoding='utf-8') as file:
        file.write('\n')
    t.unchecked.add(log)
    one = {'state': 'ended', 'executable': '/x/' + EVIL, 'command': [EVIL], 'log': EVIL, 'reason': EVIL, 'runtime': EVIL, 'seen': 3,
           'bytes': 5, 'lost': 1, 'unverified': True, 'uncontrolled': EVIL, 'no_native': EVIL,
           'events': {EVIL: {'seen': 3, 'lost': 1}}, 'values': {'lost': 1, 'posted': 1},
           'file': {'moved': EVIL}, 'not_written': {EVIL: 2},
           'unmatched': [{'option': EVIL, 'pattern': EVIL, 'near': [EVIL]}]}
    states = [dict(one, state=state) for state in ('ended', 'failed', 'declined', 'recording', EVIL)]
    states += [dict(one, executable='/usr/bin/dotnet', command=['dotnet', EVIL + '.dll']), dict(one, log=log, file={})]
    result = clean(run([harness.TOOL, 'record', '--', sys.executable, '-c', STATUS, json.dumps(states)], cwd=t.path()))
    t.equal(result.status, 0, result)
    t.true(result.err.count(b'FORGED') > 20 and b'shadowtrace report' in result.err, result)


FRAMES = {'ok': True, 'version': 1, 't': 5, 'copy_ns': 5, 'methods': [{'id': 1, 'name': EVIL, 'path': '/' + EVIL, 'token': 1}],
          'threads': [{'os': 4, 'name': EVIL, 'depth': 1, 'exact': True, 'tries': 1, 'frames': [[1, 3]]}]}
REPLIES = {
    'dump': FRAMES, 'rotate': {'ok': True, 'version': 1, 'log': EVIL}, 'mark': {'ok': True, 'version': 1},
    'status': {'ok': True, 'version': 1, 'name': EVIL, 'runtime': EVIL, 'hooks': EVIL, 'log': EVIL, 'pid': 7, 'written': 5},
    'set': {'ok': True, 'version': 1, 'paused': False, 'only': [EVIL], 'sample': 3},
    'sites': {'ok': True, 'version': 1, 't': 5, 'since': 1, 'sites': 1, 'other': {'bytes': 0, 'allocs': 0},
              'rows': [{'node': 1, 'il': 1, 'type': EVIL, 'bytes': 5, 'allocs': 1, 'stack': [EVIL, EVIL]}]},
    'alive': {'ok': True, 'version': 1, 't': 5, 'gc': 1, 'full': 1, 'objects': 1, 'bytes': 5, 'exact': True, 'sites': 1,
              'grows': [{'type': EVIL, 'collections': 5, 'objects': 7, 'method': EVIL, 'il': 1, 'token': 1, 'path': EVIL}],
              'rows': [{'node': 1, 'il': 1, 'type': EVIL, 'bytes': 5, 'allocs': 1, 'stack': [EVIL, EVIL]}]}}


@contextlib.contextmanager
def socket_of_this_process(replies):
    """This process as a traced one, in a separate folder; the environment in which it is found."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
        os.mkdir(os.path.join(place, 'shadowtrace'), 0o700)
        listener.bind(os.path.join(place, 'shadowtrace', '%d.sock' % os.getpid()))
        listener.listen(8)

        def serve(client):
            with client, client.makefile('rb') as lines, contextlib.suppress(OSError):
                for line in lines:
                    reply = replies(json.loads(line))
                    for piece in [reply] if isinstance(reply, bytes) else reply:
                        client.sendall(piece)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        yield dict(ENVIRONMENT, XDG_RUNTIME_DIR=place)
        listener.shutdown(socket.SHUT_RDWR)


def test_what_a_living_process_says_reaches_the_terminal_clean(t):
    pid = str(os.getpid())
    commands = [['list'], ['list', '--format', 'json'], ['dump', pid], ['dump', '--format', 'json', pid],
                ['dump', '--no-lines', '--all', pid], ['ctl', pid, 'status'], ['ctl', pid, 'rotate'], ['ctl', pid, 'start'],
                ['ctl', pid, 'mark', EVIL], ['ctl', pid, 'only', EVIL]]
    with socket_of_this_process(lambda r: json.dumps(REPLIES[r['command']]).encode() + b'\n') as env:
        for words in commands:
            result = clean(tool(*words, env=env))
            t.equal(result.status, 0, result)
            t.true(b'FORGED' in result.out or 'mark' in words, result)
        with concurrent.futures.ThreadPoolExecutor() as pool:  # each looks twice, a second apart
            for result in pool.map(lambda view: tool('top', '--once', '--view', view, '--filter', 'FORGED', pid, env=env),
                                   ('sites', 'types', 'threads', 'alive', 'alive-types')):
                t.true(b'grows at each of 5' in result.out, result)
                t.true(clean(result).out.count(b'FORGED') >= 2, result)
    with socket_of_this_process(lambda r: json.dumps({'ok': False, 'version': 1, 'error': EVIL}).encode() + b'\n') as env:
        for words in commands:
            result = clean(tool(*words, env=env))
            t.true(b'FORGED' in result.out + result.err, result)
