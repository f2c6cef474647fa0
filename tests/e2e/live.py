"""
What is alive, read from a log's own lines (live_site, live, live_total) with nothing of the command; and the judge that
holds it against what tests/e2e/programs/Keeper says of itself.
"""
import bisect
import collections
import json
import re

from logfile import plain


class Moment:
    """After one collection: by (method, type) objects and bytes alive, those that died, and those allocated until then."""

    def __init__(self, total):
        self.total = total
        self.alive = collections.defaultdict(lambda: [0, 0])
        self.died = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.made = collections.defaultdict(lambda: [0, 0])


class Live:
    """
    One log, or the parts of a rotated one in order. own: the module whose method is looked for, the nearest on the stack;
    sites without one stand under the method None. moments: {number of a collection: Moment}.
    """

    def __init__(self, paths, own):
        self.own = own
        self.header = self.end = None
        self.modules, self.classes, self.methods, self.nodes = {}, {}, {}, {}
        self.sites, self.moments, self.lines, self.marks = {}, {}, collections.Counter(), {}
        self.alive, self.died, self.made = {}, {}, {}
        self.allocs = []  # (t, node, class, objects, bytes) that no moment has taken yet
        self.sums = False  # they are of sites: those before a live_total were made before it
        self._keys = {}
        self.last = None
        self.opened = 0  # parts that begin with what is alive
        self.early = []  # sites of which more is alive than the lines before say was allocated
        opening, decode = False, json.JSONDecoder().raw_decode  # json.loads asks each line's encoding
        for path in paths:
            with open(path, encoding='utf-8', newline='\n') as file:
                for line in file:
                    r = decode(line)[0]
                    kind = r['kind']
                    self.lines[kind] += 1
                    if kind == 'live_site':
                        self._take(kind, r)
                        r['site'] = r['id']
                    if kind == 'live' or 'gc' in r and kind == 'live_site':
                        if r.get('opening') and not opening:
                            self.alive.clear()
                            self.opened += 1
                        opening = bool(r.get('opening'))
                        self._live(r)
                    elif kind != 'live_site':
                        opening = opening and kind in ('node', 'method', 'class', 'module', 'inlined', 'symbols')
                        self._take(kind, r)
        self._finish()

    def _take(self, kind, r):
        if kind == 'alloc':
            self.allocs.append((r['t'], r.get('node', 0), r['class'], 1, r['bytes']))
        elif kind == 'site':
            self.allocs.append((0, r['node'], r['class'], r['allocs'], r['bytes']))
        elif kind in ('module', 'class', 'method'):
            getattr(self, {'module': 'modules', 'class': 'classes', 'method': 'methods'}[kind]).setdefault(r['id'], {}).update(r)
        elif kind == 'node':
            self.nodes[r['id']] = r
        elif kind == 'live_site':
            if r['id'] in self.sites and not r.get('unloaded'):
                old = self.sites[r['id']]
                if (old['node'], old['class'], old.get('il')) != (r['node'], r['class'], r.get('il')):
                    raise AssertionError('live_site %d is two' % r['id'])
            self.sites.setdefault(r['id'], r)
        elif kind == 'mark':
            self.marks[r['text']] = r['t']
        elif kind == 'live_total':
            self._total(r)
        elif kind == 'header':
            self.header = r
            self.sums = r['options'].get('log') == 'sites'
        elif kind == 'end':
            self.end = r

    def _live(self, r):
        if r['site'] not in self.sites:
            raise AssertionError('live line of a site that is not defined: %r' % r)
        alive = self.alive.setdefault(r['site'], [0, 0])
        alive[0] += r.get('survived', 0)
        alive[1] += r.get('survived_bytes', 0)
        for generation, age, objects, size in r.get('died', []):
            alive[0] -= objects
            alive[1] -= size
            died = self.died.setdefault(r['site'], {}).setdefault((generation, age), [0, 0])
            died[0] += objects
            died[1] += size

    def key(self, node, class_id):
        """(nearest own method, type)"""
        found = self._keys.get((node, class_id))
        if found is None:
            at, method = node, None
            while at and method is None:
                of = self.methods[self.nodes[at]['method']]
                if self.modules.get(of.get('module'), {}).get('name') == self.own:
                    method = plain(of['name'])
                at = self.nodes[at]['parent']
            found = self._keys[node, class_id] = method, self.classes[class_id]['name']
        return found

    def _total(self, r):
        sums = [sum(alive[i] for alive in self.alive.values()) for i in (0, 1)]
        if sums != [r['allocs'], r['bytes']]:
            raise AssertionError('gc %d: live_total says %d objects, %d bytes; the lines add up to %s' % (
                r['gc'], r['allocs'], r['bytes'], sums))
        moment = Moment(r)
        for site, (objects, size) in self.alive.items():
            if objects < 0 or size < 0 or bool(objects) != bool(size):
                raise AssertionError('gc %d: site %r: %d objects, %d bytes' % (r['gc'], self.sites[site], objects, size))
            entry = moment.alive[self.key(self.sites[site]['node'], self.sites[site]['class'])]
            entry[0] += objects
            entry[1] += size
        for site, died in self.died.items():
            into = moment.died[self.key(self.sites[site]['node'], self.sites[site]['class'])]
            for cell, (objects, size) in died.items():
                into[cell][0] += objects
                into[cell][1] += size
        if self.sums:
            self._make(len(self.allocs), moment)
        self.moments[r['gc']] = self.last = moment

    def _make(self, before, moment):
        """The first allocations of those that are left were made before the moment."""
        for _, node, class_id, objects, size in self.allocs[:before]:
            entry = self.made.setdefault(self.key(node, class_id), [0, 0])
            entry[0] += objects
            entry[1] += size
        del self.allocs[:before]
        moment.made.update({key: list(value) for key, value in self.made.items()})

    def _finish(self):
        """Lines of allocations stand where their threads' were written: which were before a collection, their t says."""
        self.allocs.sort(key=lambda a: a[0])
        for moment in self.moments.values():
            if not self.sums:
                self._make(bisect.bisect_left(self.allocs, moment.total['t'], key=lambda a: a[0]), moment)
            for key, (objects, _) in moment.alive.items():
                if objects > moment.made[key][0]:
                    self.early.append('gc %d: %s: %d alive of %s allocated' % (moment.total['gc'], key, objects, moment.made[key]))


# Of these all that is made is written down by Keeper, of others (arrays that a list outgrew) only what may live.
WHOLLY = re.compile(r'Keeping\.(Item|Node|Key|Held|Part|Thing|Copied|Finalized|Lazarus|Work|Trouble)')


def printed(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def matched(row, found):
    return [key for key in found if key[0] and re.fullmatch(row['method'], key[0]) and re.fullmatch(row['type'], key[1])]


def judge(said, live):
    """said: the lines of Keeper. (how many numbers are equal, what is wrong)"""
    moments = {row['moment']: row for row in said if row['kind'] == 'moment'}
    rows = collections.defaultdict(list)
    for row in said:
        if row['kind'] == 'alive':
            rows[row['moment']].append(row)
    equal, wrong = 0, []
    if not moments:
        wrong.append('the program named no moment')
    for number, moment in moments.items():
        found = live.moments.get(moment['gc'])
        where = 'moment %d (%s), gc %d: ' % (number, moment['name'], moment['gc'])
        if not found:
            wrong.append(where + 'not in the log')
            continue
        if not found.total['exact']:
            wrong.append(where + 'not exact: %s' % found.total.get('why'))
        if found.total['depth'] < moment['depth']:
            wrong.append(where + 'depth %d' % found.total['depth'])
        told = set()
        for row in rows[number]:
            keys = matched(row, set(found.alive) | set(found.made))
            told.update(keys)

            def check(what, has, expected, row=row):
                nonlocal equal
                if has == expected:
                    equal += 1
                else:
                    wrong.append('%s%s of %s: %s %r, the program says %r' % (where, row['type'], row['method'], what, has, expected))
            check('alive', [sum(found.alive[key][i] for key in keys if key in found.alive) for i in (0, 1)], [row['objects'], row['bytes']])
            if WHOLLY.fullmatch(row['type'].replace('\\', '')):
                check('made', [sum(found.made[key][i] for key in keys) for i in (0, 1)], [row['made'], row['made_bytes']])
            if 'died' in row and WHOLLY.fullmatch(row['type'].replace('\\', '')):
                died = collections.defaultdict(lambda: [0, 0])
                for key in keys:
                    for (generation, age), (objects, size) in found.died.get(key, {}).items():
                        died[generation, age][0] += objects
                        died[generation, age][1] += size
                expected = collections.defaultdict(lambda: [0, 0])
                for generation, age, objects, size in row['died']:
                    expected[generation, min(age, 15)][0] += objects
                    expected[generation, min(age, 15)][1] += size
                if died or expected:
                    check('died', dict(died), dict(expected))
        for key in sorted(set(found.alive) - told, key=str):
            if found.alive[key][0] and key[0] and key[1].startswith('Keeping.') and any(
                    re.fullmatch(row['method'], key[0]) for row in rows[number]):
                wrong.append('%s%d %s of %s are alive in the log only' % (where, found.alive[key][0], key[1], key[0]))
    return equal, wrong


def of_report(report, *members):
    """Rows by site of a view, summed by (nearest method of Keeper, type) like Moment.alive: {key: [number, …]}."""
    found = collections.defaultdict(lambda: [0] * len(members))
    for row in report['rows']:
        method = next((plain(frame) for frame in row['stack'] if frame.startswith('Keeping.')), None)
        for i, member in enumerate(members):
            found[method, row['type']][i] += row.get(member, 0)
    return {key: value for key, value in found.items() if any(value)}


def own(sums):
    """Without what lies under no method of Keeper, and what is nothing."""
    return {key: list(value) for key, value in sums.items() if key[0] and any(value)}
