"""A log of shadowtrace, read with nothing but the standard library and its own definition of every rule it checks."""
import collections
import json
import re


class LogError(AssertionError):
    pass


def plain(name):
    """A method's name without parameters and type arguments: Ns.List<T>.Add(T) -> Ns.List.Add."""
    name = name.split('(', 1)[0]
    shorter = None
    while shorter != name:
        shorter, name = name, re.sub(r'(?<=[\w>\]])<[^<>]*>', '', name)
    return name


class Log:
    """
    All records of one log. A damaged or missing line is an error unless cut is allowed: then only the last line may be.
    Checks while reading: the header comes first, ids are defined before use, no line follows the end.
    """

    def __init__(self, path, cut=False):
        self.path = str(path)
        self.header = self.end = None
        self.modules, self.classes, self.methods, self.threads, self.nodes = {}, {}, {}, {}, {}
        self.inlined = {}
        self.allocs, self.sites, self.snapshots, self.mismatches = [], [], [], []
        self.checks, self.lost, self.repairs, self.others = [], {}, {}, []
        self.lines = 0
        self._stacks = {0: ()}
        with open(path, 'rb') as file:
            data = file.read()
        lines = data.split(b'\n')
        rest = lines.pop()
        if rest and not cut:
            raise LogError('%s: the last line does not end' % self.path)
        for number, (line, record) in enumerate(self._records(lines), 1):
            try:
                if record['kind'] == 'alloc' and self.header and not self.end:  # most of them
                    if record['thread'] not in self.threads or record['class'] not in self.classes or (
                            record.get('node') and record['node'] not in self.nodes):
                        raise LogError('of %r something is not defined yet' % record)
                    self.allocs.append(record)
                else:
                    self._take(record)
            except (KeyError, LogError) as error:
                raise LogError('%s:%d: %s: %r' % (self.path, number, error, line[:200]))
        self.lines = len(lines)

    def _records(self, lines):
        """(line, record), each. A thousand at once take half the time of one by one; one that is no JSON is looked for."""
        for at in range(0, len(lines), 1000):
            some = lines[at:at + 1000]
            try:
                records = json.loads(b'[%s]' % b','.join(some))
            except ValueError:
                records = []
            if len(records) != len(some):
                records = []
                for number, line in enumerate(some, at + 1):
                    try:
                        records.append(json.loads(line))
                    except ValueError as error:
                        raise LogError('%s:%d: %s: %r' % (self.path, number, error, line[:200]))
            yield from zip(some, records)

    def _take(self, r):
        kind = r['kind']
        if self.end is not None:
            raise LogError('a record after the end')
        if self.header is None:
            if kind != 'header':
                raise LogError('does not begin with a header')
            self.header = r
        elif kind == 'alloc':
            self._defined(self.threads, r['thread'])
            self._defined(self.classes, r['class'])
            if r.get('node'):
                self._defined(self.nodes, r['node'])
            self._inlined(r)
            self.allocs.append(r)
        elif kind == 'node':
            self._defined(self.methods, r['method'])
            if r['parent'] != 0:
                self._defined(self.nodes, r['parent'])
            self._inlined(r)
            self.nodes[r['id']] = r
        elif kind == 'inlined':
            self._defined(self.methods, r['method'])
            if 'parent' in r:
                self._defined(self.inlined, r['parent'])
            self._define(self.inlined, r)
        elif kind == 'method':
            if 'module' in r:
                self._defined(self.modules, r['module'])
            self._define(self.methods, r)
        elif kind == 'class':
            self._define(self.classes, r)
        elif kind == 'module':
            self._define(self.modules, r)
        elif kind == 'thread':
            self._define(self.threads, r)
        elif kind == 'site':
            self._defined(self.classes, r['class'])
            if r['node']:
                self._defined(self.nodes, r['node'])
            self._inlined(r)
            self.sites.append(r)
        elif kind == 'snapshot':
            self._defined(self.threads, r['thread'])
            for method in r.get('stack', []):
                self._defined(self.methods, method)
            self.snapshots.append(r)
        elif kind == 'check':
            self.checks.append(r)
        elif kind == 'mismatch':
            for method in r['shadow'] + r['snapshot']:
                self._defined(self.methods, method)
            self.mismatches.append(r)
        elif kind == 'lost':
            self.lost[r['reason']] = r['count']
        elif kind == 'repair':
            self.repairs[r['reason']] = r['count']
        elif kind == 'end':
            self.end = r
        elif kind == 'header':
            raise LogError('a second header')
        else:
            self.others.append(r)

    @staticmethod
    def _defined(table, number):
        if number not in table:
            raise LogError('%r is not defined yet' % number)

    def _inlined(self, r):
        if 'inlined' in r:
            self._defined(self.inlined, r['inlined'])

    @staticmethod
    def _define(table, r):
        table.setdefault(r['id'], {}).update(r)

    def pool(self):
        """Numbers of the threads of the runtime's pool that were there at the end."""
        return {number for number, r in self.threads.items() if r.get('name', '').startswith('.NET TP ') and 'end' not in r}

    def uncompared(self):
        """{number of a thread: allocations without a comparison}, of those that have some. For --check 1."""
        compared = {r['thread']: r['compared'] + r['refused'] for r in self.others if r['kind'] == 'check_thread'}
        left = collections.Counter(a['thread'] for a in self.allocs)
        left.subtract(compared)
        return {thread: count for thread, count in left.items() if count}

    def frames(self, event):
        """(method id, il or None, il_last or None, whether it was inlined) of an event's stack, leaf first."""
        node, at = event['node'], event
        while node:
            yield from self._inlined_frames(at)
            yield self.nodes[node]['method'], at.get('il', at.get('il0')), at.get('il_last'), False
            at = self.nodes[node]
            node = at['parent']

    def _inlined_frames(self, r):
        frame = self.inlined.get(r.get('inlined'))
        while frame:
            yield frame['method'], frame.get('il'), frame.get('il_last'), True
            frame = self.inlined.get(frame.get('parent'))

    def stack(self, node):
        """Method ids of a node's stack, leaf first: of the machine's, without inlined methods."""
        found = self._stacks.get(node)
        if found is None:
            above, at = [], node
            while at not in self._stacks:
                above.append(self.nodes[at]['method'])
                at = self.nodes[at]['parent']
            found = tuple(above) + self._stacks[at]
            if len(found) < 500:
                self._stacks[node] = found
        return found

    def names(self, node):
        """The stack of a node as texts, leaf first."""
        return [self.methods[m]['name'] for m in self.stack(node)]

    def type(self, event):
        return self.classes[event['class']]['name']

    @property
    def check(self):
        """The last word on comparisons."""
        return self.checks[-1] if self.checks else None

