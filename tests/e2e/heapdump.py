"""A reader of heap dumps (include/shadowtrace/heap_dump.h) that shares nothing with the command's."""
import struct

OBJECTS, ROOTS, PAIRS, SITES, CLASSES, NAMES, END, FIELDS, STATICS = range(1, 10)
WEAK = 2
STACK, FINALIZER, HANDLE = 1, 2, 3
UNIT = 8
MASK = (1 << 64) - 1


def checksum(data):
    total = 0xcbf29ce484222325
    for at in range(0, len(data), 8):
        total = (total ^ int.from_bytes(data[at:at + 8], 'little')) * 0x9e3779b97f4a7c15 & MASK
        total ^= total >> 29
    return (total ^ len(data)) * 0x9e3779b97f4a7c15 & MASK


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def number(self):
        total = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            total |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return total

    def signed(self):
        folded = self.number()
        return folded >> 1 ^ -(folded & 1)

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()


class Dump:
    """
    objects: {address: (class name, bytes, [addresses])}; roots: [(address, kind, flags, method)]; sites: {address: id};
    slots: {address: [unit of each reference, None: not looked for, 0: not in the object]};
    fields: {class: {(first, stride, slot): name}}; statics: [(place, address, class, flags, name)].
    """

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        magic, version, size, self.pid, self.clock, self.t, self.collection, check = struct.unpack_from('<8sII5Q', data)
        assert (magic, version, size) == (b'SSTHEAP\n', 2, 56) and check == checksum(data[:48]), 'head'
        self.objects, self.roots, self.pairs, self.sites, self.classes, self.names = {}, [], [], {}, {}, {}
        self.slots, self.fields, self.statics = {}, {}, []
        self.ended = None
        at = size
        while at < len(data):
            assert not self.ended, 'the end is the last'
            kind, count, check = struct.unpack_from('<IIQ', data, at)
            records = data[at + 16:at + 16 + count]
            assert len(records) == count and checksum(records) == check, 'chunk at %d' % at
            self._chunk(kind, Numbers(records))
            at += 16 + count
        names = dict.fromkeys([0], '?')
        names.update(self.classes)
        self.objects = {a: (names.get(c, '?'), s, r) for a, (c, s, r) in self.objects.items()}
        self.roots = [(a, kind, flags, self.names.get(name)) for a, kind, flags, name in self.roots]
        self.fields = {names.get(c, '?'): f for c, f in self.fields.items()}
        self.statics = [(place, a, names.get(c, '?'), flags, name) for place, a, c, flags, name in self.statics]
        references = sum(len(r) for _, _, r in self.objects.values())
        assert self.ended == (len(self.objects), references, len(self.roots), len(self.pairs), len(self.sites), len(self.statics)), self.ended

    def _chunk(self, kind, n):
        before = 0
        while n.more():
            if kind == OBJECTS:
                before += n.signed()
                start, number, size = before, n.number(), n.number()
                references, slots, last = [], [], 1
                count = n.number()
                for _ in range(count >> 1):
                    references.append((start + n.signed()) * UNIT)
                    at = n.number() if count & 1 else None
                    if at:
                        at = last + (at - 1 >> 1 ^ -(at - 1 & 1))
                        last = at + 1
                    slots.append(at)
                self.objects.setdefault(start * UNIT, (number, size * UNIT, []))[2].extend(references)
                self.slots.setdefault(start * UNIT, []).extend(slots)
                before += size
            elif kind == ROOTS:
                self.roots.append((n.number(), n.number(), n.number(), n.number()))
            elif kind == PAIRS:
                self.pairs.append((n.number() * UNIT, n.number() * UNIT))
            elif kind == SITES:
                before += n.number()
                self.sites[before * UNIT] = n.number()
            elif kind in (CLASSES, NAMES):
                number, _, text = n.number(), n.number(), n.text()
                (self.classes if kind == CLASSES else self.names)[number] = text
            elif kind == FIELDS:
                number, place = n.number(), (n.number(), n.number(), n.number())
                self.fields.setdefault(number, {})[place] = n.text()
            elif kind == STATICS:
                self.statics.append((n.number(), n.number() * UNIT, n.number(), n.number(), n.text()))
            else:
                assert kind == END, kind
                self.ended = tuple(n.number() for _ in range(6))

    def name(self, address, index):
        """What the slot of an object's reference is called; None: nobody says."""
        fields, at = self.fields.get(self.objects[address][0], {}), self.slots[address][index]
        for (first, stride, slot), name in fields.items():
            if at and (at == slot if not first else at >= first and (at - first) % stride == slot):
                return name
        return None

    def of(self, name):
        """Addresses of the objects of a class."""
        return [a for a, (c, _, _) in self.objects.items() if c == name]

    def held(self):
        """Addresses of all objects that a root leads to."""
        found, left = set(), [a for a, _, flags, _ in self.roots if not flags & WEAK and a in self.objects]
        values = {}
        for key, value in self.pairs:
            values.setdefault(key, []).append(value)
        while left:
            address = left.pop()
            if address in found or address not in self.objects:
                continue
            found.add(address)
            left += self.objects[address][2] + values.get(address, [])
        return found
