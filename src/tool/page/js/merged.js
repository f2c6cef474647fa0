// Trees from the other end: the callers of some nodes, or what they call, merged by method, level by
// level as they are opened. To make all of them at once takes seconds and a gigabyte.

const CALLERS = 'callers', CALLEES = 'callees';

// nodes: of the whole tree, none below another one of them. Row 0 stands for all of them.
class Merged {
    constructor(log, weights, nodes, direction, options) {
        this.log = log;
        this.tree = log.tree;
        this.weights = weights;
        this.direction = direction;
        this.measure = options.measure;
        this.fold = options.fold;
        this.byLine = options.byLine || false;
        this.key = options.keys;
        this.groups = options.groups;
        this.firstIsNode = options.firstIsNode; // the first level are the nodes, not their callers
        this.values = direction === CALLERS && options.self ? weights.self : weights.total;
        this.rows = [this.newRow(-1, options.place, nodes, nodes)];
    }

    // origins weigh; cursors are where in their stacks the row is.
    newRow(parent, place, origins, cursors) {
        const row = {parent, place, origins, cursors, children: null, weight: 0, frames: 1};
        const values = this.values[this.measure];
        for (const node of origins)
            row.weight += values[node];
        return row;
    }

    root() {
        return 0;
    }

    parent(row) {
        return this.rows[row].parent;
    }

    place(row) {
        return this.rows[row].place;
    }

    frames(row) {
        return this.rows[row].frames;
    }

    weight(row) {
        return this.rows[row].weight;
    }

    // What ends here: it has no callers, or calls nothing that allocates.
    self(row) {
        return this.weight(row) - this.children(row).reduce((sum, child) => sum + this.weight(child), 0);
    }

    value(row, measure) {
        let sum = 0;
        for (const node of this.rows[row].origins)
            sum += this.values[measure][node];
        return sum;
    }

    children(row) {
        const of = this.rows[row];
        if (!of.children) {
            const found = new Map();
            if (this.direction === CALLERS)
                this.findCallers(row, of, found);
            else
                this.findCallees(of, found);
            of.children = this.addRows(row, found);
        }
        return of.children;
    }

    addRows(parent, found) {
        const made = [];
        for (const [place, {origins, cursors, frames}] of found) {
            const row = this.newRow(parent, place, origins, cursors);
            row.frames = frames;
            if (row.weight > 0)
                made.push(row);
        }
        made.sort((a, b) => b.weight - a.weight || a.place - b.place);
        return made.map(row => this.rows.push(row) - 1);
    }

    collect(found, place, origin, cursor, frames) {
        let of = found.get(place);
        if (!of)
            found.set(place, of = {origins: [], cursors: [], frames: 1});
        of.origins.push(origin);
        of.cursors.push(cursor);
        of.frames = Math.max(of.frames, frames);
    }

    findCallers(row, of, found) {
        const {parent, place} = this.tree;
        for (let i = 0; i < of.cursors.length; i++) {
            let at = row === 0 && this.firstIsNode ? of.cursors[i] : parent[of.cursors[i]];
            if (at === 0)
                continue;
            if (!this.fold || !isFoldable(this.log, place[at])) {
                this.collect(found, this.key[place[at]], of.origins[i], at, 1);
                continue;
            }
            const group = this.groups.place(groupName(this.log, place[at]));
            let frames = 1;
            for (; parent[at] && isFoldable(this.log, place[parent[at]]); frames++)
                at = parent[at];
            this.collect(found, group, of.origins[i], at, frames);
        }
    }

    findCallees(of, found) {
        const {end, place} = this.tree;
        for (const node of of.cursors)
            for (let child = node + 1; child < end[node]; child = end[child])
                if (this.values[this.measure][child] > 0)
                    this.collect(found, this.key[place[child]], child, child, 1);
    }
}

// The outermost nodes whose place is marked: what is below them is theirs.
function outermost(tree, marked) {
    const out = [];
    for (let i = 1; i < tree.count;) {
        if (marked[tree.place[i]]) {
            out.push(i);
            i = tree.end[i];
        } else {
            i++;
        }
    }
    return out;
}

// Nodes that weigh something themselves.
function leaves(self, measure) {
    const out = [];
    for (let i = 1; i < self[measure].length; i++)
        if (self[measure][i] > 0)
            out.push(i);
    return out;
}

// A tree in arrays, to be walked in the same way.
class Whole {
    constructor(tree, weights, measure, byLine) {
        this.byLine = byLine; // a node is of one line only
        this.tree = tree;
        this.weights = weights;
        this.total = weights.total[measure];
        this.own = weights.self[measure];
    }

    root() {
        return 0;
    }

    parent(node) {
        return node ? this.tree.parent[node] : -1;
    }

    place(node) {
        return this.tree.place[node];
    }

    frames(node) {
        return this.tree.frames ? this.tree.frames[node] : 1;
    }

    weight(node) {
        return this.total[node];
    }

    self(node) {
        return this.own[node];
    }

    value(node, measure) {
        return this.weights.total[measure][node];
    }

    children(node) {
        const {end} = this.tree;
        const out = [];
        for (let child = node + 1; child < end[node]; child = end[child])
            if (this.total[child] > 0)
                out.push(child);
        return out.sort((a, b) => this.total[b] - this.total[a] || a - b);
    }
}
