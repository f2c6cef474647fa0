"""
What is made of a log, read back by whom it is made for: each export by its consumer, the page by its own scripts, views from
their JSON and their text. What each of them says is a Sums.
"""
import collections
import glob
import json
import os
import re

import consumers
import harness
from harness import BUILDING, NO_PACKAGE, OUT, Skip, run, tool, tool_json

ENDINGS = {'pprof': '.pb.gz', 'speedscope': '.speedscope.json', 'nettrace': '.nettrace', 'perfview': '.perfView.xml.zip',
           'collapsed': '.collapsed', 'heaptrack': '.heaptrack.gz', 'otlp': '.otlp.pb', 'rows': '.rows.ndjson'}

# heaptrack's is for logs with --live: test_live_exports.py. Rows are of all sites: nothing is folded.
OF_ALL_LOGS = tuple(form for form in ENDINGS if form not in ('heaptrack', 'rows'))


class Sums:
    """What allocates how much, as {name: [bytes, objects]}: types, methods themselves, methods with what they call."""

    def __init__(self):
        self.total, self.count = [0, 0], 0
        self.types, self.own, self.whole, self.lines, self.threads = ({} for _ in range(5))

    @staticmethod
    def _put(table, name, size, objects):
        sums = table.setdefault(name, [0, 0])
        sums[0] += size
        sums[1] += objects

    def add(self, stack, type_name, size, objects=0, lines=()):
        """One sample; the innermost frame of its stack is the first. lines: their 'file:line'."""
        self.count += 1
        self.total[0] += size
        self.total[1] += objects
        self._put(self.types, type_name, size, objects)
        self._put(self.own, stack[0], size, objects)
        for name in set(stack):
            self._put(self.whole, name, size, objects)
        for line in {line for line in lines if line}:
            self._put(self.lines, line, size, objects)


def export(t, form, logs, *options, name=None):
    made = t.path((name or os.path.basename(logs[0]).replace('.ndjson', '')) + ENDINGS[form])
    result = tool('export', '--format', form, '-o', made, *options, *logs)
    t.equal(result.status, 0, result)
    t.equal(result.out, b'', result)
    return made


def exact(log, *options):
    """What the log's report says: bytes, objects, and both by type."""
    report = tool_json('report', '--by', 'type', '--format', 'json', *options, log)
    rows = {row['type']: (row['bytes'], row['allocs']) for row in report['rows']}
    return report['total']['bytes'], report['total']['allocs'], rows


def reader(name='TraceReader', library='TraceEvent'):
    """Our program around that library, from NuGet: its path; built once for all runners."""
    source, folder = os.path.join(harness.HERE, 'dotnet', name), os.path.join('dotnet', name)
    with harness.PROGRAM.once(folder, sorted(glob.glob(os.path.join(source, '*.cs*')))) as there:
        folder = os.path.join(OUT, folder)
        result = None if there else run(
            ['nice', 'dotnet', 'build', '-c', 'Release', '-nologo', '-v', 'q', '-o', os.path.join(folder, 'out'),
             '-p:BaseIntermediateOutputPath=%s/' % os.path.join(folder, 'obj'), source] + harness.PROGRAM.server.properties(),
            timeout=600, env=BUILDING)
        if result and result.status:
            for reason in NO_PACKAGE:
                if reason in result.text:
                    raise Skip('%s is not available: NuGet says %s' % (library, reason))
            raise AssertionError('tests/e2e/dotnet/%s does not build\n%s' % (name, result))
    return os.path.join(folder, 'out', name + '.dll')


def read_traces(t, paths, *options):
    result = run(['dotnet', reader(), *options, *paths], timeout=300, cwd=t.folder)
    t.equal(result.status, 0, result)
    return json.loads(result.out)


def from_trace(found):
    """The Sums of what read_traces found: bytes only."""
    sums = Sums()
    sums.total[0], sums.count = found['bytes'], found.get('events', found.get('samples'))
    sums.types = {name.removeprefix('Type ') if 'samples' in found else name: [size, 0] for name, size in found['types'].items()}
    for name, (own, whole) in found['methods'].items():
        name = re.sub(r'^shadowtrace\.(?=\()', '', name)  # a name that is not a method needs a namespace
        sums.own[name], sums.whole[name] = [own, 0], [whole, 0]
    return sums


def read_pprof(t, *paths):
    """All samples, as pprof prints them; of a log with --live, what they allocated."""
    text = consumers.pprof(t, '-raw', *paths)
    head, rest = text.split('\nLocations\n')
    t.true('alloc_objects/count alloc_space/bytes[dflt]' in head, head[:500])
    places = {}
    for number, name, file, line in re.findall(r'^ +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*) (\S*):(\d+)(?::\d+)? s=\d+\(.*\)$', rest, re.M):
        places[number] = (name, '%s:%s' % (file, line) if int(line) else '')
    sums = Sums()
    for objects, size, stack, label in re.findall(
            r'^ +(\d+) +(\d+)(?: +\d+ +\d+)?: ([\d ]+)\n(?: +(?:own:\[.*\] )?type:\[(.*)\]\n)?', head + '\n', re.M):
        leaf, *frames = [places[number] for number in stack.split()]
        t.equal(label, leaf[0], 'the label of a sample')
        sums.add([name for name, _ in frames], leaf[0], int(size), int(objects), [line for _, line in frames])
    return sums


def read_speedscope(path):
    with open(path, encoding='utf-8') as file:
        made = json.load(file)
    frames = [(frame['name'], '%s:%d' % (frame['file'], frame['line']) if frame.get('line') else '')
              for frame in made['shared']['frames']]
    sums = Sums()
    bytes_, objects = made['profiles'][:2]
    assert bytes_['samples'] == objects['samples'], path
    for stack, size, count in zip(bytes_['samples'], bytes_['weights'], objects['weights'], strict=True):
        *stack, leaf = [frames[number] for number in stack]
        sums.add([name for name, _ in reversed(stack)], leaf[0], size, count, [line for _, line in stack])
    assert [bytes_['endValue'], objects['endValue']] == sums.total, path
    return sums


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def _varints(data):
    values, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


def _fields(data):
    """Of a message of Protocol Buffers: {number: [a whole number or bytes, ...]}."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
        else:
            size, at = (8, at) if tag & 7 == 1 else _varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, 'it is cut'
        fields[tag >> 3].append(value)
    return fields


def read_otlp(path):
    """By the numbers of the fields in profiles.proto, v1development of August 2026."""
    with open(path, 'rb') as file:
        data = _fields(file.read())
    resource, = data[1]
    scope, = _fields(resource)[2]
    dictionary = _fields(data[2][0])
    strings = [text.decode() for text in dictionary[5]]
    mappings, locations, functions, links, attributes, stacks = (
        [_fields(entry) for entry in dictionary[number]] for number in (1, 2, 3, 4, 6, 7))
    for table in mappings, locations, functions, attributes, stacks:
        assert not table[0], 'entry 0 is empty'
    assert (strings[0], len(strings)) == ('', len(set(strings))) and len(links) == 1, strings[:3]
    places = []
    for location in locations:
        line = _fields(location[3][0]) if location else {}
        function = functions[line[1][0]] if location else {}
        name = strings[function[1][0]] if function else ''
        places.append((name, '%s:%d' % (strings[function[3][0]], line[2][0]) if line.get(2) else ''))
    values = []
    for profile in map(_fields, _fields(scope)[2]):
        kind = _fields(profile[1][0])
        assert len(profile[7][0]) == 16 and any(profile[7][0]), 'its id'
        samples = {sample[1][0]: _varints(sample[4][0])[0] for sample in map(_fields, profile[2])}
        assert len(samples) == len(profile[2]), 'a stack is there once'
        values.append(((strings[kind[1][0]], strings[kind[2][0]]), samples))
    assert [kind for kind, _ in values[:2]] == [('alloc_space', 'By'), ('alloc_objects', '{object}')], values
    sums = Sums()
    for stack, size in values[0][1].items():
        leaf, *frames = [places[number] for number in _varints(stacks[stack][1][0])]
        sums.add([name for name, _ in frames], leaf[0], size, values[1][1].get(stack, 0), [line for _, line in frames])
    return sums


def read_rows(path):
    """Stacks put together again from their parents."""
    tables = {kind: {} for kind in ('method', 'type', 'frame', 'stack')}
    sums = Sums()
    with open(path, encoding='utf-8') as file:
        for line in file:
            row = json.loads(line)
            if row['kind'] in tables:
                tables[row['kind']][row['id']] = row
            if row['kind'] != 'allocated':
                continue
            names, lines, at = [], [], row['stack']
            while at:
                stack = tables['stack'][at]
                frame = tables['frame'][stack['frame']]
                names.append(tables['method'][frame['method']]['name'])
                lines.append('%s:%d' % (frame['file'], frame['line']) if frame.get('line') else '')
                at = stack.get('parent')
            sums.add(names, tables['type'][row['type']]['name'], row['bytes'], row['allocs'], lines)
    return sums


def read_collapsed(path):
    """Names as it writes them: `;` is `:`."""
    sums = Sums()
    with open(path, encoding='utf-8') as file:
        for line in file:
            stack, size = line.rstrip('\n').rsplit(' ', 1)
            *frames, leaf = stack.split(';')
            sums.add(frames[::-1], re.fullmatch(r'\[(.*)\]', leaf).group(1), int(size))
    return sums


def read_pages(pages):
    """What pages sum up in some states, without a browser: [{'path':…, 'states': [what shadowtrace.set() takes, …]}, …]."""
    result = run([consumers.program('node'), os.path.join(consumers.NODE, 'page.cjs')], stdin=json.dumps(pages).encode())
    if result.status:
        raise AssertionError(str(result))
    return json.loads(result.out)
