// Trees made of the whole one: lines of a method joined, runs of framework frames folded, recursion
// folded. Each has `to`: which of its nodes a node of the whole tree became.

const FREE = 0;

// Nodes by parent and key, in a hash table of numbers.
class Children {
    constructor(most) {
        let size = 1024;
        while (size < most * 2)
            size *= 2;
        this.slots = new Uint32Array(size);
        this.parent = new Uint32Array(most);
        this.key = new Uint32Array(most);
        this.count = 1; // the root
    }

    // The node below `parent` with that key, created if needed.
    at(parent, key) {
        const mask = this.slots.length - 1;
        let slot = Math.imul(Math.imul(parent, 0x9e3779b1) ^ (key + 0x7f4a7c15), 0x85ebca6b);
        slot ^= slot >>> 15;
        for (slot &= mask; this.slots[slot] !== FREE; slot = (slot + 1) & mask) {
            const node = this.slots[slot];
            if (this.parent[node] === parent && this.key[node] === key)
                return node;
        }
        this.slots[slot] = this.count;
        this.parent[this.count] = parent;
        this.key[this.count] = key;
        return this.count++;
    }
}

// Places of a derived tree: those of the log, then groups: [namespace, number of frames].
class Groups {
    constructor(log) {
        this.first = log.places.count;
        this.names = [];
        this.numbers = new Map();
    }

    place(name) {
        if (!this.numbers.has(name)) {
            this.numbers.set(name, this.names.length);
            this.names.push(name);
        }
        return this.first + this.numbers.get(name);
    }
}

// Of a method; '' where it has none.
function namespaceOf(log, place) {
    return log.head.namespaces[log.nameSpace[log.places.name[place]]];
}

function groupName(log, place) {
    return namespaceOf(log, place) || log.module(place).name || '(no namespace)';
}

// The first place of each method, for each place: what is the same when lines do not count.
function methodPlaces(log) {
    const first = new Map(), {kind, name} = log.places;
    return Uint32Array.from({length: log.places.count}, (_, place) => {
        const key = kind[place] * 0x1000000 + name[place];
        if (!first.has(key))
            first.set(key, place);
        return first.get(key);
    });
}

function isFoldable(log, place) {
    return log.places.kind[place] === KIND.METHOD && log.owner[place] === OWNER.FRAMEWORK;
}

// Children of node i are list[first[i]] up to list[first[i + 1]], the heaviest first.
function childLists(made, total) {
    const {count, parent} = made;
    const first = new Uint32Array(count + 2), list = new Uint32Array(count);
    for (let i = 1; i < count; i++)
        first[parent[i] + 2]++;
    for (let i = 2; i < count + 2; i++)
        first[i] += first[i - 1];
    for (let i = 1; i < count; i++)
        list[first[parent[i] + 1]++] = i;
    for (let i = 0; i < count; i++)
        sortHeaviest(list, first[i], first[i + 1], total);
    return {first, list};
}

// What comes from the whole tree is nearly in order: that is fast, but for long lists.
function sortHeaviest(list, from, to, total) {
    if (to - from > 64) {
        list.subarray(from, to).sort((a, b) => total[b] - total[a] || a - b);
        return;
    }
    for (let i = from + 1; i < to; i++) {
        const node = list[i];
        let at = i;
        for (; at > from && total[list[at - 1]] < total[node]; at--)
            list[at] = list[at - 1];
        list[at] = node;
    }
}

// The number of each node where children come right behind their parent, the heaviest first.
function inPreorder(made, total) {
    const {count, parent} = made;
    const {first, list} = childLists(made, total);
    const number = new Uint32Array(count), opened = first.slice(0, count);
    for (let node = 0, done = 1; done < count;) {
        if (opened[node] === first[node + 1]) {
            node = parent[node];
            continue;
        }
        node = list[opened[node]++];
        number[node] = done++;
    }
    return number;
}

function ordered(made, number, keys) {
    const {count} = made;
    const parent = new Uint32Array(count), place = new Uint32Array(count);
    const depth = new Uint32Array(count), end = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
        parent[number[i]] = number[made.parent[i]];
        place[number[i]] = keys[i];
    }
    for (let i = 1; i < count; i++)
        depth[i] = depth[parent[i]] + 1;
    for (let i = count - 1; i >= 0; i--) {
        end[i] = Math.max(end[i], i + 1);
        if (i)
            end[parent[i]] = Math.max(end[parent[i]], end[i]);
    }
    return {count, parent, place, depth, end};
}

// Framework frames below a group belong to it, as far as no other code is between.
function deriveNodes(log, shape, groups) {
    const {tree} = log;
    const made = new Children(tree.count);
    const method = shape.lines ? null : methodPlaces(log);
    const to = new Uint32Array(tree.count), run = new Uint32Array(tree.count);
    const groupOf = new Map();
    for (let node = 1; node < tree.count; node++) {
        const over = tree.parent[node];
        const place = tree.place[node];
        if (shape.fold && isFoldable(log, place)) {
            run[node] = run[over] + 1;
            if (!run[over]) {
                if (!groupOf.has(place))
                    groupOf.set(place, groups.place(groupName(log, place)));
                to[node] = made.at(to[over], groupOf.get(place));
            } else {
                to[node] = to[over];
            }
            continue;
        }
        to[node] = made.at(to[over], method ? method[place] : place);
    }
    return {made, to, run};
}

// How many frames a group stands for: the fewest are not told, the most are.
function longestRuns(tree, to, run, count) {
    const out = new Uint32Array(count);
    for (let node = 1; node < tree.count; node++)
        if (run[node] > out[to[node]])
            out[to[node]] = run[node];
    return out;
}

// shape: {lines, fold}; groups: gets the places of runs. Nodes do not depend on what is filtered.
function derive(log, shape, groups) {
    const {tree} = log;
    const {made, to, run} = deriveNodes(log, shape, groups);
    const total = new Float64Array(made.count);
    const {cells} = log;
    for (let node = 0; node < tree.count; node++)
        for (let i = cells.first[node]; i < cells.first[node + 1]; i++)
            if (!log.live || cells.side[i] < SIDE.FATES)
                total[to[node]] += cells.bytes[i];
    for (let i = made.count - 1; i > 0; i--)
        total[made.parent[i]] += total[i];
    const number = inPreorder(made, total);
    const out = ordered(made, number, made.key);
    for (let i = 0; i < tree.count; i++)
        to[i] = number[to[i]];
    out.to = to;
    out.frames = shape.fold ? longestRuns(tree, to, run, made.count) : null;
    return out;
}

// Self weights of a derived tree from those of the whole one.
function carry(derived, self) {
    const out = {};
    for (const measure in self) {
        const from = self[measure], sums = new Float64Array(derived.count);
        for (let i = 0; i < from.length; i++)
            sums[derived.to[i]] += from[i];
        out[measure] = sums;
    }
    return out;
}
