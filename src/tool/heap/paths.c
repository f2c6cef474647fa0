#include "heap/paths.h"

#include "base/order.h"
#include "readers/index.h"

#include <string.h>

struct shape {
    uint64_t shape;
    struct heap_sum sum; /* as struct heap_path's */
    uint32_t object;
};

INDEX_OF(shape_kind, struct shape, ((const struct shape *)record)->shape,
         ((const struct shape *)record)->shape == ((const struct shape *)key)->shape);

struct search {
    const struct heap_graph *g;
    const struct heap_dominators *d;
    const struct heap_grouping *wanted;
    uint32_t *up;    /* by node: where the shortest way to it comes from */
    uint32_t *queue; /* nodes, the nearest first */
    uint32_t count;  /* of them */
    uint64_t *shape; /* by node */
    struct shape *shapes;
    size_t shape_count, capacity;
    struct index index;
};

static int allocate(struct search *s)
{
    size_t nodes = s->g->edges.nodes;

    s->up = memory_alloc(nodes * sizeof(*s->up));
    s->queue = memory_alloc(nodes * sizeof(*s->queue));
    s->shape = memory_alloc(nodes * sizeof(*s->shape));
    return s->up && s->queue && s->shape ? 0 : -ENOMEM;
}

static void release(struct search *s)
{
    memory_free_all(s->up, s->queue, s->shape, s->shapes);
    index_free(&s->index);
}

static void reach(struct search *s, uint32_t from, uint32_t to)
{
    if (s->up[to] != HEAP_NO_PLACE)
        return;
    s->up[to] = from;
    s->queue[s->count++] = to;
}

/* Breadth first, from what is in the queue since `first`. Returns: where the next one will be. */
static uint32_t walk_on(struct search *s, uint32_t first)
{
    const struct heap_edges *e = &s->g->edges;

    for (; first < s->count; first++) {
        uint32_t node = s->queue[first];

        for (uint32_t edge = e->first[node]; edge < e->first[node + 1]; edge++)
            reach(s, node, e->to[edge]);
    }
    return first;
}

/* First from roots that say who holds; what they do not reach, from the others. */
static void walk(struct search *s)
{
    const struct heap_edges *e = &s->g->edges;
    uint32_t first = 1;

    for (uint32_t node = 0; node < e->nodes; node++)
        s->up[node] = HEAP_NO_PLACE;
    s->up[0] = 0;
    s->queue[s->count++] = 0;
    for (unsigned nameless = 0; nameless < 2; nameless++) {
        for (uint32_t edge = e->first[0]; edge < e->first[1]; edge++) {
            const struct heap_root *root = heap_graph_root(s->g, e->to[edge]);

            if (nameless || (root && heap_root_rank(root) < HEAP_RANK_NAMELESS))
                reach(s, 0, e->to[edge]);
        }
        first = walk_on(s, first);
    }
}

static uint64_t root_shape(const struct heap_graph *g, uint32_t node)
{
    const struct heap_root *root = heap_graph_root(g, node);
    uint64_t shape = root ? hash_mix(root->kind, root->name) : 0;

    if (root && root->field) {
        const struct heap_static *field = &g->statics[root->field - 1];
        const char *text = g->field_text + field->at;

        shape = hash_mix(hash_mix(shape, field->class_number), hash_bytes(text, strlen(text)));
    }
    return shape;
}

/* One or two types that come again and again in a row are as if they came once. */
static void shape_nodes(struct search *s)
{
    const uint32_t *class_of = s->g->classes;

    s->shape[0] = 0;
    for (uint32_t i = 1; i < s->count; i++) {
        uint32_t node = s->queue[i], above = s->up[node], second = s->up[above];
        uint32_t class_number = class_of[node];

        if (!above)
            s->shape[node] = hash_mix(root_shape(s->g, node), class_number);
        else if (class_of[above] == class_number)
            s->shape[node] = s->shape[above];
        else if (second && class_of[second] == class_number)
            s->shape[node] = s->shape[second];
        else
            s->shape[node] = hash_mix(s->shape[above], class_number);
    }
}

/* The shape of a node, created if needed. */
static int shape_of(struct search *s, uint32_t node, struct shape **out)
{
    struct shape key = {.shape = s->shape[node], .object = node};
    uint32_t number;
    int added =
        index_add(&s->index, &shape_kind, &s->shapes, &s->shape_count, &s->capacity, &key, &number);

    if (added < 0)
        return added;
    *out = &s->shapes[number];
    return 0;
}

static bool is_wanted(const struct search *s, uint32_t node)
{
    return heap_group(s->wanted, node) == 1;
}

static int sum_shapes(struct search *s, struct heap_sum *all)
{
    uint32_t covered = 0;
    struct shape *found = NULL;

    for (uint32_t i = 1; i < s->count; i++) { /* the nearest makes the shape */
        uint32_t node = s->queue[i];

        if (!is_wanted(s, node))
            continue;
        if (shape_of(s, node, &found))
            return -ENOMEM;
        found->sum.objects++;
        found->sum.bytes += (uint64_t)s->g->units[node] * SST_HEAP_UNIT;
    }
    for (uint32_t p = 1; p < s->d->count; p++) {
        if (p < covered || !is_wanted(s, s->d->node[p]))
            continue;
        if (shape_of(s, s->d->node[p], &found))
            return -ENOMEM;
        found->sum.retained_objects += s->d->below[p];
        found->sum.retained_bytes += s->d->retained[p];
        covered = p + s->d->below[p];
    }
    for (size_t i = 0; i < s->shape_count; i++) {
        const struct heap_sum *sum = &s->shapes[i].sum;

        all->objects += sum->objects;
        all->bytes += sum->bytes;
        all->retained_objects += sum->retained_objects;
        all->retained_bytes += sum->retained_bytes;
    }
    return 0;
}

ORDERED_BY(shape_order, struct shape, ORDER(y->sum.retained_bytes, x->sum.retained_bytes),
           ORDER(y->sum.objects, x->sum.objects), ORDER(x->object, y->object))

static int take_steps(const struct search *s, struct heap_path *path)
{
    size_t length = 0, kept, at;

    for (uint32_t node = path->object; node; node = s->up[node])
        length++;
    kept = length < HEAP_STEPS_MAX ? length : HEAP_STEPS_MAX;
    path->steps = memory_alloc(kept * sizeof(*path->steps));
    if (!path->steps)
        return -ENOMEM;
    path->step_count = kept;
    path->skipped = length - kept;
    path->skipped_before = kept / 2;
    at = length;
    for (uint32_t node = path->object; node; node = s->up[node]) {
        at--;
        if (at < path->skipped_before)
            path->steps[at] = node;
        else if (at >= path->skipped_before + path->skipped)
            path->steps[at - path->skipped] = node;
    }
    return 0;
}

static int take_paths(struct search *s, size_t most, struct heap_paths *out)
{
    size_t count = s->shape_count < most ? s->shape_count : most;

    out->shapes = s->shape_count;
    out->paths = memory_zalloc(count + 1, sizeof(*out->paths));
    if (!out->paths)
        return -ENOMEM;
    for (; out->count < count; out->count++) {
        struct heap_path *path = &out->paths[out->count];

        path->sum = s->shapes[out->count].sum;
        path->object = s->shapes[out->count].object;
        if (take_steps(s, path))
            return -ENOMEM;
    }
    return 0;
}

int heap_paths_find(const struct heap_graph *g, const struct heap_dominators *dominators,
                    const struct heap_grouping *wanted, size_t most, struct heap_paths *out)
{
    struct search s = {.g = g, .d = dominators, .wanted = wanted};
    int err = allocate(&s);

    *out = (struct heap_paths){.count = 0};
    if (!err) {
        walk(&s);
        shape_nodes(&s);
        err = sum_shapes(&s, &out->sum);
    }
    if (!err)
        SORT(s.shapes, s.shape_count, shape_order);
    if (!err)
        err = take_paths(&s, most, out);
    release(&s);
    return err;
}

/* Groups are shapes + 1: an object that no root holds is in none. */
static int group_all(struct search *s)
{
    uint32_t *keys = memory_zalloc(s->g->edges.nodes, sizeof(*keys)), *groups = NULL;
    struct heap_sum *sums = NULL;
    struct shape *found;
    int err = keys ? 0 : -ENOMEM;

    for (uint32_t i = 1; !err && i < s->count; i++) {
        err = shape_of(s, s->queue[i], &found);
        keys[s->queue[i]] = err ? 0 : (uint32_t)(found - s->shapes) + 1;
    }
    if (!err) {
        groups = memory_alloc((s->shape_count + 1) * sizeof(*groups));
        sums = memory_alloc((s->shape_count + 1) * sizeof(*sums));
        err = groups && sums ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; !err && i <= s->shape_count; i++)
        groups[i] = i;
    if (!err) {
        const struct heap_grouping by = {keys, groups, (uint32_t)s->shape_count + 1,
                                         (uint32_t)s->shape_count + 1};

        err = heap_sums(s->g, s->d, &by, sums);
    }
    for (size_t i = 0; !err && i < s->shape_count; i++)
        s->shapes[i].sum = sums[i + 1];
    memory_free_all(keys, groups, sums);
    return err;
}

int heap_paths_all(const struct heap_graph *g, const struct heap_dominators *dominators,
                   struct heap_paths *out)
{
    struct search s = {.g = g, .d = dominators};
    int err = allocate(&s);

    *out = (struct heap_paths){.count = 0};
    if (!err) {
        walk(&s);
        shape_nodes(&s);
        err = group_all(&s);
    }
    if (!err)
        err = take_paths(&s, SIZE_MAX, out);
    release(&s);
    return err;
}

void heap_paths_free(struct heap_paths *p)
{
    for (size_t i = 0; i < p->count; i++)
        memory_free(p->paths[i].steps);
    memory_free(p->paths);
    *p = (struct heap_paths){.count = 0};
}
