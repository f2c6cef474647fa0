#include "heap/dominators.h"

#include "base/memory.h"

#include <errno.h>

/*
 * All by number of the depth-first search, which counts from 0, node 0. Bounds: number 0 has no
 * parent that is looked at; semi, label and above of a number are at most it.
 */
struct search {
    const struct heap_edges *edges;
    uint32_t count;
    uint32_t *number; /* by node; HEAP_NO_PLACE */
    uint32_t *node;   /* by number */
    uint32_t *parent; /* in the search's tree; then the way up that path compression shortens */
    uint32_t *above;  /* the dominator */
    uint32_t *semi, *label;
    uint32_t *from_first, *from; /* who refers to it, as struct heap_edges */
    uint32_t *target;            /* by edge: the number of what it leads to */
    uint32_t *stack;
};

/* Allocates one array of the search after the other. */
static int allocate(struct search *s, uint32_t nodes)
{
    uint32_t **const arrays[] = {&s->number, &s->node,  &s->parent, &s->above,
                                 &s->semi,   &s->label, &s->stack};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = memory_alloc((size_t)nodes * sizeof(uint32_t));
        if (!*arrays[i])
            return -ENOMEM;
    }
    s->from_first = memory_zalloc((size_t)nodes + 1, sizeof(uint32_t));
    s->target = memory_alloc(((size_t)s->edges->first[nodes] + 1) * sizeof(uint32_t));
    return s->from_first && s->target ? 0 : -ENOMEM;
}

static void visit(struct search *s, uint32_t node, uint32_t parent)
{
    s->number[node] = s->count;
    s->node[s->count] = node;
    s->parent[s->count] = parent;
    s->count++;
}

/*
 * Depth first; the way back is that of parents, and semi has where each goes on. Each edge is met
 * once: what turn() wants to know of it is noted here, where its other end is at hand.
 */
static void number_nodes(struct search *s)
{
    const uint32_t *first = s->edges->first, *to = s->edges->to;
    uint32_t *next = s->semi, at = 0;

    for (uint32_t i = 0; i < s->edges->nodes; i++)
        s->number[i] = HEAP_NO_PLACE;
    visit(s, 0, 0);
    next[0] = first[0];
    for (;;) {
        uint32_t end = first[s->node[at] + 1], edge = next[at], number = HEAP_NO_PLACE;

        for (; edge < end && (number = s->number[to[edge]]) != HEAP_NO_PLACE; edge++) {
            s->target[edge] = number;
            s->from_first[number]++;
        }
        if (edge < end) {
            uint32_t child = s->count;

            s->target[edge] = child;
            s->from_first[child]++;
            next[at] = edge + 1;
            visit(s, to[edge], at);
            next[child] = first[to[edge]];
            at = child;
        } else if (at) {
            at = s->parent[at];
        } else {
            break;
        }
    }
}

/* The edges turned round, by number; none to node 0. from_first has how many each node gets. */
static int turn(struct search *s)
{
    const uint32_t *first = s->edges->first;
    uint32_t sum = 0;

    s->from_first[0] = 0;
    for (uint32_t n = 0; n <= s->count; n++) { /* to where each one's end */
        sum += n < s->count ? s->from_first[n] : 0;
        s->from_first[n] = sum;
    }
    s->from = memory_alloc(((size_t)sum + 1) * sizeof(*s->from));
    if (!s->from)
        return -ENOMEM;
    for (uint32_t n = s->count; n-- > 0;) { /* and back to where they begin */
        uint32_t end = first[s->node[n] + 1];

        for (uint32_t edge = first[s->node[n]]; edge < end; edge++)
            if (s->target[edge])
                s->from[--s->from_first[s->target[edge]]] = n;
    }
    return 0;
}

/*
 * Of the numbers from `n` up to, but without, the first one below `linked`: the label whose semi is
 * least. The way there is shortened for the next time.
 */
static uint32_t least(struct search *s, uint32_t n, uint32_t linked)
{
    uint32_t depth = 0, top = n;

    if (s->parent[n] < linked)
        return s->label[n];
    do {
        s->stack[depth++] = top;
        top = s->parent[top];
    } while (s->parent[top] >= linked);
    while (depth) {
        uint32_t below = s->stack[--depth];

        s->parent[below] = s->parent[top];
        if (s->semi[s->label[top]] < s->semi[s->label[below]])
            s->label[below] = s->label[top];
        top = below;
    }
    return s->label[n];
}

static void dominate(struct search *s)
{
    for (uint32_t n = 0; n < s->count; n++) {
        s->above[n] = s->parent[n];
        s->semi[n] = n;
        s->label[n] = n;
    }
    for (uint32_t n = s->count; n-- > 1;) {
        uint32_t semi = s->above[n];

        for (uint32_t i = s->from_first[n]; i < s->from_first[n + 1]; i++) {
            uint32_t other = s->semi[least(s, s->from[i], n + 1)];

            semi = other < semi ? other : semi;
        }
        s->semi[n] = semi;
    }
    for (uint32_t n = 1; n < s->count; n++)
        while (s->above[n] > s->semi[n])
            s->above[n] = s->above[s->above[n]];
}

/* ---- the tree in its own order ---- */

/* Sums from below: the search's numbers rise from the dominator to what it dominates. */
static void place_nodes(struct search *s, struct heap_dominators *out)
{
    uint32_t *size = s->label, *next = s->semi;

    for (uint32_t n = 0; n < s->count; n++)
        size[n] = 1;
    for (uint32_t n = s->count; n-- > 1;)
        size[s->above[n]] += size[n];
    next[0] = 1; /* where the next of those below goes */
    for (uint32_t i = 0; i < s->edges->nodes; i++)
        out->place[i] = HEAP_NO_PLACE;
    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t above = s->above[n], place = n ? next[above] : 0;

        if (n)
            next[above] += size[n];
        next[n] = place + 1;
        out->node[place] = s->node[n];
        out->above[place] = n ? out->place[s->node[above]] : 0;
        out->below[place] = size[n];
        out->place[s->node[n]] = place;
    }
}

static void retain(const uint32_t *units, struct heap_dominators *d)
{
    for (uint32_t p = 0; p < d->count; p++)
        d->retained[p] = (uint64_t)units[d->node[p]] * SST_HEAP_UNIT;
    for (uint32_t p = d->count; p-- > 1;)
        d->retained[d->above[p]] += d->retained[p];
}

static int make_tree(struct search *s, const uint32_t *units, struct heap_dominators *out)
{
    out->count = s->count;
    memory_free_all(s->from, s->from_first, s->target, s->stack, s->parent, s->number);
    s->from = s->from_first = s->target = s->stack = s->parent = s->number = NULL;
    out->node = memory_alloc((size_t)s->count * sizeof(*out->node));
    out->above = memory_alloc((size_t)s->count * sizeof(*out->above));
    out->below = memory_alloc((size_t)s->count * sizeof(*out->below));
    out->retained = memory_alloc((size_t)s->count * sizeof(*out->retained));
    out->place = memory_alloc((size_t)s->edges->nodes * sizeof(*out->place));
    if (!out->node || !out->above || !out->below || !out->retained || !out->place)
        return -ENOMEM;
    place_nodes(s, out);
    retain(units, out);
    return 0;
}

int heap_dominators_find(const struct heap_edges *edges, const uint32_t *units,
                         struct heap_dominators *out)
{
    struct search s = {.edges = edges};
    int err = allocate(&s, edges->nodes);

    *out = (struct heap_dominators){.count = 0};
    if (!err) {
        number_nodes(&s);
        err = turn(&s);
    }
    if (!err) {
        dominate(&s);
        err = make_tree(&s, units, out);
    }
    memory_free_all(s.number, s.node, s.parent, s.above, s.semi, s.label, s.stack, s.from_first,
                    s.from, s.target);
    return err;
}

void heap_dominators_free(struct heap_dominators *d)
{
    memory_free_all(d->node, d->above, d->below, d->retained, d->place);
    *d = (struct heap_dominators){.count = 0};
}
