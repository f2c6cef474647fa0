"""
Sequence points of a portable PDB, read for the tests independently of src/tool/symbols; trusts the file.
Source: dotnet/runtime docs/design/specs/PortablePdb-Metadata.md.
"""
import bisect
import struct

HIDDEN = 0xfeefee


class Blob:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def unsigned(self):
        first = self.data[self.at]
        size = 1 if first < 0x80 else 2 if first < 0xc0 else 4
        value = int.from_bytes(self.data[self.at:self.at + size], 'big') & (0x7f, 0x3fff, 0, 0x1fffffff)[size - 1]
        self.at += size
        return value

    def signed(self):
        start = self.at
        value = self.unsigned()
        bits = {1: 6, 2: 13, 4: 28}[self.at - start]
        return (value >> 1) - (1 << bits if value & 1 else 0)


class Pdb:
    """lines[method token]: [(il, document or None if hidden, line, column)], by il."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        version = struct.unpack_from('<I', data, 12)[0]
        at = 16 + version
        count = struct.unpack_from('<HH', data, at)[1]
        at += 4
        streams = {}
        for _ in range(count):
            offset, size = struct.unpack_from('<II', data, at)
            end = data.index(b'\0', at + 8)
            streams[data[at + 8:end].decode()] = data[offset:offset + size]
            at = at + 8 + (end - at - 8) // 4 * 4 + 4
        self.blobs = streams['#Blob']
        tables = streams['#~']
        heaps, valid = tables[6], struct.unpack_from('<Q', tables, 8)[0]
        at = 24
        rows = {}
        for table in range(64):
            if valid >> table & 1:
                rows[table] = struct.unpack_from('<I', tables, at)[0]
                at += 4
        guid, blob = ('<I' if heaps & 2 else '<H'), ('<I' if heaps & 4 else '<H')
        document = '<I' if rows.get(0x30, 0) > 0xffff else '<H'
        self.documents = [None]
        for _ in range(rows.get(0x30, 0)):
            name = struct.unpack_from(blob, tables, at)[0]
            at += struct.calcsize(blob) * 2 + struct.calcsize(guid) * 2
            self.documents.append(self._name(name))
        self.lines = {}
        for row in range(1, rows.get(0x31, 0) + 1):
            first = struct.unpack_from(document, tables, at)[0]
            at += struct.calcsize(document)
            points = struct.unpack_from(blob, tables, at)[0]
            at += struct.calcsize(blob)
            if points:
                self.lines[0x06000000 + row] = list(self._points(Blob(self._blob(points)), first))

    def _blob(self, offset):
        blob = Blob(self.blobs[offset:offset + 4])
        size = blob.unsigned()
        return self.blobs[offset + blob.at:offset + blob.at + size]

    def _name(self, offset):
        blob = Blob(self._blob(offset)[1:])
        separator = chr(self._blob(offset)[0]).strip('\0')
        parts = []
        while blob.more():
            part = blob.unsigned()
            parts.append(self._blob(part).decode() if part else '')
        return separator.join(parts)

    def _points(self, blob, document):
        blob.unsigned()
        if not document:
            document = blob.unsigned()
        il = 0
        line = column = None
        first = True
        while blob.more():
            delta = blob.unsigned()
            if not delta and not first:
                document = blob.unsigned()
                continue
            first = False
            il += delta
            lines = blob.unsigned()
            columns = blob.signed() if lines else blob.unsigned()
            if not lines and not columns:
                yield il, None, 0, 0
                continue
            if line is None:
                line, column = blob.unsigned(), blob.unsigned()
            else:
                line += blob.signed()
                column += blob.signed()
            yield il, self.documents[document], line, column

    def line(self, token, il, last=None):
        """
        (document, line, column) of the statement that holds il; None: no statement, or only hidden code, or
        the statements up to `last` are of more than one line.
        """
        points = self.lines.get(token, [])
        at = bisect.bisect_right([p[0] for p in points], il) - 1
        while at >= 0 and points[at][1] is None:
            at -= 1
        if at < 0 or any(il < p[0] <= (last or il) and p[1] is not None and p[1:3] != points[at][1:3] for p in points):
            return None
        return points[at][1:]
