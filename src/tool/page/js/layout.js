// Where the boxes of a picture are: rows of boxes by depth, at least half a pixel wide each.

const LEAST_WIDTH = 0.5;

class Rows {
    constructor() {
        this.rows = [];
    }

    add(depth, node, x, width) {
        while (this.rows.length <= depth)
            this.rows.push({node: [], x: [], width: []});
        const row = this.rows[depth];
        row.node.push(node);
        row.x.push(x);
        row.width.push(width);
    }

    // The box at a point: {node, x, width}, or null.
    at(depth, x) {
        const row = this.rows[depth];
        if (!row)
            return null;
        let low = 0, high = row.x.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (row.x[middle] <= x)
                low = middle + 1;
            else
                high = middle;
        }
        const i = low - 1;
        return i >= 0 && x < row.x[i] + row.width[i]
            ? {node: row.node[i], x: row.x[i], width: row.width[i]} : null;
    }

    find(node) {
        for (let depth = 0; depth < this.rows.length; depth++) {
            const i = this.rows[depth].node.indexOf(node);
            if (i >= 0)
                return {depth, x: this.rows[depth].x[i], width: this.rows[depth].width[i]};
        }
        return null;
    }
}

// The way from the root to a node, the root first.
function lineage(tree, node) {
    const out = [];
    for (; node >= 0; node = tree.parent(node))
        out.push(node);
    return out.reverse();
}

// `zoom` and what it is called by as wide as the picture, what is below it by weight. No row beyond
// `most`; a tree in arrays is passed through without lists of children.
function layOut(tree, zoom, width, most) {
    const rows = new Rows();
    const line = lineage(tree, zoom);
    line.forEach((node, depth) => rows.add(depth, node, 0, width));
    const weight = tree.weight(zoom);
    if (weight > 0) {
        if (tree instanceof Whole)
            layArrays(rows, tree, zoom, width / weight, line.length, most);
        else
            layLevels(rows, tree, zoom, width / weight, line.length, most);
    }
    return rows;
}

function layArrays(rows, tree, zoom, scale, base, most) {
    const {end, depth} = tree.tree;
    const {total} = tree;
    const next = [0]; // where the next child begins, by depth below zoom
    const last = end[zoom], shallow = depth[zoom] + 1;
    for (let node = zoom + 1; node < last;) {
        const level = depth[node] - shallow;
        const x = next[level], width = total[node] * scale;
        next[level] = x + width;
        if (width < LEAST_WIDTH || level + base >= most) {
            node = end[node];
            continue;
        }
        rows.add(base + level, node, x, width);
        next[level + 1] = x;
        node++;
    }
}

function layLevels(rows, tree, zoom, scale, base, most) {
    let level = [{node: zoom, x: 0}];
    for (let depth = base; level.length && depth < most; depth++) {
        const below = [];
        for (const {node, x} of level) {
            let at = x;
            for (const child of tree.children(node)) {
                const width = tree.weight(child) * scale;
                if (width >= LEAST_WIDTH) {
                    rows.add(depth, child, at, width);
                    below.push({node: child, x: at});
                }
                at += width;
            }
        }
        level = below;
    }
}
