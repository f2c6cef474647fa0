"""Every allocation and every call of a program that marks its lines (see there): on the right line."""
import collections
import os
import re

from harness import ENVIRONMENT, HOOKS, PROGRAM, PROGRAMS, SDK_FRAMEWORK, each, publishes, sampled, sampled_in_pairs
from logfile import plain
from portable_pdb import Pdb

SOURCE = os.path.join(PROGRAMS, 'Lines', 'Program.cs')
BUILDS = {'release': [], 'debug': ['Optimize=false']}
TIERS = ('tiered', 'optimised', 'not-inlined')
# Helpers of the runtime written in C#: what they allocate is their caller's.
HELPERS = ('System.Runtime.CompilerServices.CastHelpers.', 'System.RuntimeTypeHandle.')
# Made at first use of a literal, for an exception's stack trace, for an array's initial content.
INCIDENTAL = {'System.String', 'System.SByte[]', 'System.RuntimeType', 'System.RuntimeFieldInfoStub'}


class Mark:
    def __init__(self, text, rounds):
        self.name, kind, count = re.fullmatch(r'(\*|.*?)(?:([*=?])(\d*))?', text.strip()).groups()
        self.any = kind == '?'
        self.count = 0 if self.any else int(count) if kind == '=' else rounds * int(count or 1)


def marks(rounds):
    """{kind: {line: [Mark]}}"""
    found = {kind: collections.defaultdict(list) for kind in 'LFCNS'}
    with open(SOURCE, encoding='utf-8') as file:
        text = file.read()
    first = text.index('using System;')
    for number, line in enumerate(text.splitlines(), 1):
        for kind, items in re.findall(r'// ([LFCNS]): (.*?)(?= // |$)', line):
            if number > text.count('\n', 0, first):
                found[kind][number] += [Mark(item, rounds) for item in items.split(';')]
    found['L']['Elsewhere.cs', 5000] = [Mark('B', rounds)]
    found['L']['Elsewhere.cs', 5001] = [Mark('C', rounds), Mark('D', rounds)]
    return found


def short(name):
    return re.sub(r'\bLines\.', '', name)


class Own:
    """The frames of the program's own methods: where in the source each is."""

    def __init__(self, log, pdb):
        self.log, self.pdb = log, pdb
        self.modules = {i for i, d in log.modules.items() if d['name'] == 'Lines'}
        self.frames = {}

    def line(self, method, il):
        """A line of the source, (file, line) of another one, or the method's name if it has no line."""
        found = self.pdb.line(self.log.methods[method]['token'], il) if il is not None and il >= 0 else None
        if not found:
            return self.log.methods[method]['name']
        file = os.path.basename(found[0])
        return found[1] if file == 'Program.cs' else (file, found[1])

    def of(self, event):
        """[(method, line, il, whether it is the youngest)], nearest first."""
        key = event['node'], event.get('il'), event.get('inlined')
        if key not in self.frames:
            frames, youngest = [], True
            for number, il, _, _ in self.log.frames(event):
                method = self.log.methods[number]
                if method.get('module') in self.modules:
                    frames.append((number, self.line(number, il), il, youngest))
                youngest = youngest and not frames and method['name'].startswith(HELPERS)
            self.frames[key] = frames
        return self.frames[key]


def differences(what, marked, found, rounds, unplaced):
    """found: {line: {il: Counter(name)}}; unplaced: the marks of what may be found without a line."""
    wrong = []
    left = {m.name: m.count or 10**9 for m in unplaced}
    for line in sorted(set(marked) | set(found), key=str):
        wanted = collections.Counter()
        for mark in marked.get(line, []):
            if not mark.any:
                wanted[mark.name] += mark.count
        free = {mark.name for mark in marked.get(line, []) if mark.any}
        if '*' in wanted:
            continue
        seen = sum(found.get(line, {}).values(), collections.Counter())
        if what == 'framework':
            # Its code that is inlined, as Substring once it is optimised, may have no line: once a round, at the most.
            most = rounds + 1 if isinstance(line, str) else rounds / 2
            bad = {n for n in (seen | wanted).keys() - free if not wanted[n] <= seen[n] < wanted[n] + most}
        else:
            bad = {n for n in seen | wanted if seen[n] != wanted[n]} - free - (INCIDENTAL - set(wanted))
            # What only the compiler knows of may have no line; the framework's, inlined, is not marked.
            bad = {n for n in bad if n in wanted or '.<' not in n and not (n.startswith('System.') and seen[n] < 5)}
            if isinstance(line, str):
                bad = {n for n in bad if seen[n] > left.get(n, 0)}
        for name in sorted(bad):
            wrong.append('%s, line %s: %d x %s, expected %d (il %s)' % (
                what, line, seen[name], name, wanted[name],
                ', '.join('%s: %d' % (il, c[name]) for il, c in found.get(line, {}).items() if c[name])))
    return wrong


def check(t, record, folder):
    t.equal(record.status, 0, record)
    printed = record.text.splitlines()
    t.equal(printed[-1], 'ok', record)
    rounds = int(printed[0].split()[1])
    marked = marks(rounds)
    log = record.log
    own = Own(log, Pdb(os.path.join(folder, 'Lines.pdb')))
    tables = {kind: collections.defaultdict(lambda: collections.defaultdict(collections.Counter)) for kind in 'LFC'}
    chains = collections.defaultdict(set)
    chained = {m.name for ms in marked['S'].values() for m in ms}
    types = {m.name for ms in marked['F'].values() for m in ms}
    for event in log.allocs:
        frames = own.of(event)
        if not frames:
            continue
        method, line, il, youngest = frames[0]
        name = short(log.type(event))
        if youngest or name in types:
            tables['L' if youngest else 'F'][line][il][name] += 1
        if log.methods[method]['name'].startswith('Lines.Called.') and len(frames) > 1:
            tables['C'][frames[1][1]][frames[1][2]][plain(log.methods[method]['name']).split('.')[-1]] += 1
        if name in chained:
            chains[name].add(tuple(line for _, line, _, _ in frames))
    wrong = []
    for line in marked['F']: # the framework's code may be inlined
        for il, names in tables['L'].get(line, {}).items():
            for name in types & set(names) - {m.name for m in marked['L'].get(line, [])}:
                tables['F'][line][il][name] += names.pop(name)
    for what, kind in ('allocations', 'L'), ('calls', 'C'), ('framework', 'F'):
        wrong += differences(what, marked[kind], tables[kind], rounds, sum(marked['N'].values(), []))
    for name in chained:
        lines = {line for line, ms in marked['S'].items() if any(m.name == name for m in ms)}
        for chain in chains[name] or [()]:
            if not lines <= set(chain):
                wrong.append('stack of %s: lines %s, expected %s' % (name, chain, sorted(lines)))
    t.note('%d lines' % len(set(tables['L']) | set(tables['C'])))
    return wrong


def published(build='release', framework=SDK_FRAMEWORK, **_):
    """What PROGRAM.publish takes."""
    runtime = [] if framework == SDK_FRAMEWORK else ['E2EBringRuntime=true']
    return ('Lines', 'lines-%s-%s' % (build, framework), 'E2EFramework=' + framework, *runtime, *BUILDS[build])


def run_marked_lines(t, hooks, build, tiers, framework):
    program = PROGRAM.publish(*published(build, framework))
    env = dict(ENVIRONMENT)
    if tiers == 'optimised':
        env['DOTNET_TieredCompilation'] = '0'
    else:
        # Guesses whom a call reaches, and inlines it: then its line is that of the call. Moves what is seldom run to
        # where the map gives it to another statement: then it has none.
        env['DOTNET_TieredPGO'] = '0'
    r = t.record([program], *(['--no-inline'] if tiers == 'not-inlined' else []), hooks=hooks, env=env)
    wrong = check(t, r, os.path.dirname(program))
    if wrong:
        raise AssertionError('%d lines differ:\n%s' % (len(wrong), '\n'.join(wrong)))


@sampled_in_pairs
@publishes(lambda **cell: [published(**cell)])
@each('hooks', *HOOKS)
@each('build', *BUILDS)
@each('tiers', *TIERS)
def test_marked_lines(t, hooks, build, tiers):
    run_marked_lines(t, hooks, build, tiers, SDK_FRAMEWORK)


@sampled
@publishes(lambda **cell: [published(**cell)])
@each('framework', 'net8.0', 'net9.0')
@each('hooks', *HOOKS)
@each('build', *BUILDS)
@each('tiers', *TIERS)
def test_marked_lines_of_older_runtimes(t, framework, hooks, build, tiers):
    run_marked_lines(t, hooks, build, tiers, framework)
