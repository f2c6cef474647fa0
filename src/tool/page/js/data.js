// What is in the page's data, as arrays: the tree in preorder, the cells that its nodes are summed
// from, and the tables that they refer to. ../README.md has the format.

const KIND = {ROOT: 0, METHOD: 1, FOLDED: 2, TYPE: 3, SEVERAL: 4, LOST: 5, CUT: 6, DYNAMIC: 7, NONE: 8};
const OWNER = {FRAMEWORK: 0, PACKAGE: 1, OWN: 2};
const MAGIC = 'STPAGE1\n';

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function unpacked(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The column's numbers, each in seven bits a byte, into `out`; signed ones have their sign last.
function readVarints(bytes, at, count, signed, out) {
    for (let i = 0; i < count; i++) {
        let byte = bytes[at++];
        let value = byte & 127;
        for (let scale = 128; byte > 127; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * scale;
        }
        if (signed)
            value = value % 2 ? -(value + 1) / 2 : value / 2;
        out[i] = value;
    }
    return at;
}

function readDoubles(bytes, at, count, out) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, count * 8);
    for (let i = 0; i < count; i++)
        out[i] = view.getFloat64(i * 8, true);
}

// Columns are looked up by name, and decoded when they are asked for, into the array wanted.
class Columns {
    constructor(bytes) {
        for (let i = 0; i < MAGIC.length; i++)
            if (bytes[i] !== MAGIC.charCodeAt(i))
                throw new Error('the data of this page is damaged');
        const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
        let at = MAGIC.length + 4 + size;
        this.bytes = bytes;
        this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(MAGIC.length + 4, at)));
        this.places = new Map();
        for (const [name, form, count, length] of this.header.columns) {
            this.places.set(name, {form, count, at});
            at += length;
        }
        if (at !== bytes.length)
            throw new Error('the data of this page is cut');
    }

    count(name) {
        return this.places.has(name) ? this.places.get(name).count : 0;
    }

    // A column that is not there is empty: a log may have no allocations.
    read(name, make, signed) {
        const column = this.places.get(name);
        if (!column)
            return new make(0);
        const out = new make(column.count);
        if (column.form === 'd')
            readDoubles(this.bytes, column.at, column.count, out);
        else
            readVarints(this.bytes, column.at, column.count, signed, out);
        return out;
    }
}

// Where each subtree ends, and each node's parent and depth, from how many levels up a node begins.
function shapeOf(up) {
    const count = up.length;
    const end = new Uint32Array(count), parent = new Uint32Array(count), depth = new Uint32Array(count);
    for (let i = 1; i < count; i++) {
        let over = i - 1;
        for (let n = up[i]; n > 0; n--) {
            end[over] = i;
            over = parent[over];
        }
        parent[i] = over;
        depth[i] = depth[over] + 1;
    }
    for (let over = count - 1; ; over = parent[over]) {
        end[over] = count;
        if (over === 0)
            break;
    }
    return {count, end, parent, depth};
}

function readPlaces(columns) {
    return {
        count: columns.count('place_kind'),
        kind: columns.read('place_kind', Uint8Array),
        name: columns.read('place_name', Uint32Array),
        file: columns.read('place_file', Uint32Array),
        line: columns.read('place_line', Uint32Array),
        lineLast: columns.read('place_line_last', Uint32Array),
        frames: columns.read('place_count', Uint32Array),
    };
}

// Cells of node i are first[i] up to first[i + 1].
function firstCells(columns, place, kind) {
    const written = columns.read('cells', Int32Array);
    const first = new Uint32Array(written.length + 1);
    for (let i = 0; i < written.length; i++) {
        const value = written[i];
        const count = kind[place[i]] === KIND.TYPE
            ? 1 + (value % 2 ? -(value + 1) / 2 : value / 2) : value;
        first[i + 1] = first[i] + count;
    }
    return first;
}

function addUp(values) {
    for (let i = 1; i < values.length; i++)
        values[i] += values[i - 1];
    return values;
}

// What is written of a cell is its difference to the last one of the same type.
function readWeights(columns, place, first, estimated) {
    const count = first[first.length - 1];
    if (estimated)
        return {size: columns.read('size', Uint8Array), allocs: columns.read('allocs', Float64Array),
                bytes: columns.read('bytes', Float64Array)};
    const size = columns.read('size', Int32Array, true);
    const allocs = columns.read('allocs', Float64Array);
    const bytes = columns.read('bytes', Float64Array, true);
    const lastSize = new Int32Array(columns.count('place_kind'));
    const lastEach = new Float64Array(columns.count('place_kind'));
    const sizes = new Uint8Array(count);
    for (let node = 0; node + 1 < first.length; node++) {
        const of = place[node];
        for (let i = first[node]; i < first[node + 1]; i++) {
            allocs[i] += 1;
            bytes[i] += allocs[i] * lastEach[of];
            lastEach[of] = Math.floor(bytes[i] / allocs[i]);
            sizes[i] = lastSize[of] += size[i];
        }
    }
    return {size: sizes, allocs, bytes};
}

function readCells(columns, place, kind) {
    const first = firstCells(columns, place, kind);
    const {size, allocs, bytes} = readWeights(columns, place, first, columns.header.estimated);
    return {
        count: first[first.length - 1], first, size, allocs, bytes,
        thread: addUp(columns.read('thread', Int32Array, true)),
        slice: addUp(columns.read('slice', Int32Array, true)),
        side: columns.read('side', Uint8Array), // these only of a difference, and of estimates
        bytesVariance: columns.read('bytes_variance', Float64Array),
        allocsVariance: columns.read('allocs_variance', Float64Array),
        bytesSeen: columns.read('bytes_seen', Float64Array),
        allocsSeen: columns.read('allocs_seen', Float64Array),
    };
}

// A log as the page shows it.
class Log {
    constructor(bytes) {
        const columns = new Columns(bytes);
        const tree = shapeOf(columns.read('up', Uint32Array));
        tree.place = columns.read('place', Uint32Array);
        this.head = columns.header;
        this.places = readPlaces(columns);
        this.nameModule = columns.read('name_module', Uint32Array);
        this.nameOwner = columns.read('name_owner', Uint8Array);
        this.nameLined = columns.read('name_lined', Uint8Array);
        this.nameLack = columns.read('name_lack', Uint8Array);
        this.nameSpace = columns.read('name_space', Uint32Array);
        this.cells = readCells(columns, tree.place, this.places.kind);
        this.tree = tree;
        this.diff = this.head.sides.length > 1;
        this.live = Boolean(this.head.live);
        this.hasTime = this.head.slices > 1;
        this.owner = this.ownersOfPlaces();
        this.hasOwn = this.owner.some((owner, place) => owner === OWNER.OWN && !this.isType(place));
    }

    ownersOfPlaces() {
        const {places, nameOwner} = this;
        return Uint8Array.from({length: places.count}, (_, place) =>
            places.kind[place] === KIND.METHOD || places.kind[place] === KIND.TYPE
                ? nameOwner[places.name[place]] : OWNER.FRAMEWORK);
    }

    name(place) {
        return this.head.names[this.places.name[place]];
    }

    // A method, and why the place in it has no line.
    nameUnlined(place) {
        return [this.name(place), this.head.lacks[this.nameLack[this.places.name[place]]]].filter(text => text).join(' ');
    }

    // The name in full where it is another one.
    fullName(place) {
        return this.head.full[this.places.name[place]] || this.name(place);
    }

    module(place) {
        return this.head.modules[this.nameModule[this.places.name[place]]];
    }

    isType(place) {
        return place < this.places.count && this.places.kind[place] === KIND.TYPE;
    }

    file(place) {
        return this.head.files[this.places.file[place]] || '';
    }

    // ":12", or ":12-13" where it may be one of these lines.
    lineText(place) {
        const {line, lineLast} = this.places;
        return ':' + line[place] + (lineLast[place] ? '-' + lineLast[place] : '');
    }

    // "Basket.cs:12", or nothing where no source is known.
    where(place) {
        if (!this.places.line[place])
            return '';
        return fileName(this.file(place)) + this.lineText(place);
    }

    // Stack of a node of the whole tree, innermost first.
    stack(tree, node) {
        const out = [];
        for (; node > 0; node = tree.parent[node])
            out.push(tree.place[node]);
        return out;
    }
}

function fileName(path) {
    return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
