#include "heap/graph.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND (HEAP_KIND(SST_HEAP_OBJECTS) | HEAP_KIND(SST_HEAP_PAIRS) | HEAP_KIND(SST_HEAP_SITES))

/* Takes all records of one chunk. */
typedef int take_chunk(struct heap_dump *d, struct heap_records *r, struct heap_graph *g);

static int each_chunk(struct heap_dump *d, struct heap_graph *graph, uint32_t kinds,
                      take_chunk *take)
{
    struct heap_records r;
    int got;

    while ((got = heap_dump_next(d, kinds, &r)) > 0) {
        int err = take(d, &r, graph);

        if (err)
            return err;
    }
    return got;
}

/* ---- first: which objects there are, and everything that needs no numbers of them ---- */

static int take_addresses(struct heap_dump *d, struct heap_records *records,
                          struct heap_graph *graph)
{
    struct heap_object o;
    int got, err = 0;

    while (!err && (got = heap_next_object(records, &o)) > 0) {
        uint64_t last =
            graph->addresses.count ? graph->addresses.address[graph->addresses.count] : 0;

        graph->seen.references += o.references;
        if (heap_skip_references(records, &o))
            got = -EBADMSG;
        else if (o.address != last)
            err = heap_addresses_add(&graph->addresses, o.address);
        graph->seen.objects++;
        if (got < 0)
            break;
    }
    if (!err && got < 0)
        err = heap_damaged(d, records, "an object's record");
    return err;
}

static int add_name(struct heap_names *n, const struct heap_name_record *record, uint64_t most)
{
    size_t size = record->size;

    if (record->number > most)
        return -EBADMSG;
    if (n->size + size + 2 > UINT32_MAX ||
        !array_reserve_zeroed(&n->names, &n->capacity, (size_t)record->number + 1) ||
        !array_reserve(&n->text, &n->text_capacity, n->size + size + 2))
        return -ENOMEM;
    if (!n->size)
        n->text[n->size++] = '\0';
    if (n->count <= record->number)
        n->count = (size_t)record->number + 1;
    n->names[record->number] = (struct heap_name){record->id, size ? (uint32_t)n->size : 0};
    if (!size)
        return 0;
    memcpy(n->text + n->size, record->name, size);
    n->size += size;
    n->text[n->size++] = '\0';
    return 0;
}

static int take_names(struct heap_dump *d, struct heap_records *records, struct heap_names *names)
{
    struct heap_name_record record;
    int got, err = 0;

    while (!err && (got = heap_next_name(records, &record)) > 0)
        err = add_name(names, &record, d->size); /* each takes more than one byte: no large gaps */
    if (err == -EBADMSG || (!err && got < 0))
        err = heap_damaged(d, records, "a name's record");
    return err;
}

/* Returns: where the text is in field_text; 0 none; -ENOMEM, -EFBIG. */
static int64_t add_text(struct heap_graph *g, const char *text, size_t size)
{
    size_t at;

    if (g->field_size + size + 2 > UINT32_MAX)
        return -EFBIG;
    if (!array_reserve(&g->field_text, &g->text_capacity, g->field_size + size + 2))
        return -ENOMEM;
    if (!g->field_size)
        g->field_text[g->field_size++] = '\0';
    at = g->field_size;
    memcpy(g->field_text + at, text, size);
    g->field_text[at + size] = '\0';
    g->field_size += size + 1;
    return size ? (int64_t)at : 0;
}

static int take_fields(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    struct heap_field_record record;
    int64_t at;
    int got;

    while ((got = heap_next_field(records, &record)) > 0) {
        at = add_text(graph, record.name, record.size);
        if (at < 0)
            return (int)at;
        if (!array_reserve(&graph->fields, &graph->field_capacity, graph->field_count + 1))
            return -ENOMEM;
        graph->fields[graph->field_count++] = (struct heap_field){
            record.class_number, record.first, record.stride, record.slot, (uint32_t)at};
    }
    return got < 0 ? heap_damaged(d, records, "a field's record") : 0;
}

static int take_first(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    switch (records->kind) {
    case SST_HEAP_OBJECTS:
        return take_addresses(d, records, graph);
    case SST_HEAP_CLASSES:
        return take_names(d, records, &graph->class_names);
    case SST_HEAP_NAMES:
        return take_names(d, records, &graph->names);
    case SST_HEAP_FIELDS:
        return take_fields(d, records, graph);
    default: /* later */
        return 0;
    }
}

/* ---- then: what each object is, how many references it has; roots, pairs, sites ---- */

/* In edges.first[i + 1] until all are counted: the references of node i. */
static void count_edge(struct heap_graph *g, uint32_t node)
{
    g->edges.first[node + 1]++;
}

static int take_sizes(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    struct heap_object o;
    int got;

    while ((got = heap_next_object(records, &o)) > 0) {
        uint32_t node = heap_addresses_find(&graph->addresses, o.address);

        graph->edges.first[node + 1] += (uint32_t)o.references;
        if (!graph->classes[node] && !graph->units[node]) {
            graph->classes[node] = o.class_number;
            graph->units[node] = (uint32_t)o.units;
        }
        if (heap_skip_references(records, &o)) {
            got = -EBADMSG;
            break;
        }
    }
    return got < 0 ? heap_damaged(d, records, "an object's record") : 0;
}

static int take_pairs(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    uint64_t pair[2];
    int got;

    while ((got = heap_next_pair(records, pair)) > 0) {
        struct heap_pair found = {heap_addresses_find(&graph->addresses, pair[0]),
                                  heap_addresses_find(&graph->addresses, pair[1])};

        graph->seen.pairs++;
        if (!found.key || !found.value) {
            graph->outside++;
            continue;
        }
        if (!array_reserve(&graph->pairs, &graph->pair_capacity, graph->pair_count + 1))
            return -ENOMEM;
        graph->pairs[graph->pair_count++] = found;
        count_edge(graph, found.key);
    }
    return got < 0 ? heap_damaged(d, records, "a pair's record") : 0;
}

static int take_sites(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    struct heap_site_record site;
    int got;

    if (!graph->sites)
        graph->sites = memory_zalloc(graph->edges.nodes, sizeof(*graph->sites));
    if (!graph->sites)
        return -ENOMEM;
    while ((got = heap_next_site(records, &site)) > 0) {
        graph->seen.sites++;
        graph->sites[heap_addresses_find(&graph->addresses, site.address)] = site.site;
    }
    graph->sites[0] = 0;
    return got < 0 ? heap_damaged(d, records, "a site's record") : 0;
}

static int take_second(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    switch (records->kind) {
    case SST_HEAP_OBJECTS:
        return take_sizes(d, records, graph);
    case SST_HEAP_PAIRS:
        return take_pairs(d, records, graph);
    case SST_HEAP_SITES:
        return take_sites(d, records, graph);
    default:
        return 0;
    }
}

/* ---- roots, once sizes are known: an interior one may be anywhere in its object ---- */

static uint32_t root_object(const struct heap_graph *g, const struct heap_root_record *record)
{
    uint32_t node = heap_addresses_find(&g->addresses, record->address);

    if (node || !(record->flags & SST_HEAP_ROOT_INTERIOR))
        return node;
    node = heap_addresses_before(&g->addresses, record->address);
    if (!node)
        return 0;
    return record->address - g->addresses.address[node] < (uint64_t)g->units[node] * SST_HEAP_UNIT
               ? node
               : 0;
}

static int take_roots(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    struct heap_root_record record;
    int got;

    while ((got = heap_next_root(records, &record)) > 0) {
        uint32_t node = root_object(graph, &record);

        graph->seen.roots++;
        if (!record.address) /* a handle or a variable that is null */
            continue;
        graph->weak += (record.flags & SST_HEAP_ROOT_WEAK) != 0;
        if (record.flags & SST_HEAP_ROOT_WEAK)
            continue;
        if (!node) {
            graph->outside++;
            continue;
        }
        if (!array_reserve(&graph->roots, &graph->root_capacity, graph->root_count + 1))
            return -ENOMEM;
        graph->roots[graph->root_count++] =
            (struct heap_root){node, record.name, 0, record.kind, record.flags};
    }
    return got < 0 ? heap_damaged(d, records, "a root's record") : 0;
}

/* The array that a static field is in. A box holds its field, too, but is its value. */
static int add_keeper(struct heap_graph *g, const struct heap_static_record *record)
{
    uint32_t node = heap_addresses_before(&g->addresses, record->place);

    if (!node || g->addresses.address[node] == record->object ||
        record->place - g->addresses.address[node] >= (uint64_t)g->units[node] * SST_HEAP_UNIT)
        return 0;
    if (!array_reserve(&g->keepers, &g->keeper_capacity, g->keeper_count + 1))
        return -ENOMEM;
    g->keepers[g->keeper_count++] = node;
    return 0;
}

static int add_static(struct heap_graph *g, const struct heap_static_record *record, uint32_t node)
{
    int64_t at = add_text(g, record->name, record->size);

    if (at < 0)
        return (int)at;
    if (!array_reserve(&g->statics, &g->static_capacity, g->static_count + 1) ||
        !array_reserve(&g->roots, &g->root_capacity, g->root_count + 1))
        return -ENOMEM;
    g->statics[g->static_count++] =
        (struct heap_static){record->class_number, (uint32_t)at, record->flags};
    g->roots[g->root_count++] =
        (struct heap_root){node, 0, (uint32_t)g->static_count, SST_HEAP_ROOT_STATIC, 0};
    return add_keeper(g, record);
}

/* A field may hold no object of the heap: an enum is kept elsewhere. */
static int take_statics(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    struct heap_static_record record;
    int got, err = 0;

    while (!err && (got = heap_next_static(records, &record)) > 0) {
        uint32_t node = heap_addresses_find(&graph->addresses, record.object);

        graph->seen.statics++;
        if (node)
            err = add_static(graph, &record, node);
    }
    if (!err && got < 0)
        err = heap_damaged(d, records, "a static field's record");
    return err;
}

/* What the end record counted is what there was; an object may have come in several records. */
static int take_end(struct heap_dump *d, struct heap_records *records,
                    const struct heap_graph *graph)
{
    struct heap_counts said;

    if (heap_next_counts(records, &said) <= 0 || said.objects > graph->seen.objects ||
        said.objects < graph->addresses.count || said.references != graph->seen.references ||
        said.roots != graph->seen.roots || said.pairs != graph->seen.pairs ||
        said.sites != graph->seen.sites || said.statics != graph->seen.statics)
        return heap_damaged(d, records, "it does not have what its end record counts");
    return 0;
}

static int take_third(struct heap_dump *d, struct heap_records *records, struct heap_graph *graph)
{
    if (records->kind == SST_HEAP_END)
        return take_end(d, records, graph);
    return records->kind == SST_HEAP_STATICS ? take_statics(d, records, graph)
                                             : take_roots(d, records, graph);
}

const struct heap_root_kind heap_root_kinds[] = {
    [SST_HEAP_ROOT_OTHER] = {5, "held by the runtime"},
    [SST_HEAP_ROOT_STACK] = {1, "a variable on a stack"},
    [SST_HEAP_ROOT_FINALIZER] = {4, "waiting to be finalized"},
    [SST_HEAP_ROOT_HANDLE] = {2, "a strong handle"},
    [SST_HEAP_ROOT_STATIC] = {0, "a static field"},
};

unsigned heap_root_rank(const struct heap_root *root)
{
    return root->kind == SST_HEAP_ROOT_STACK && !root->name ? HEAP_RANK_NAMELESS
                                                            : heap_root_kinds[root->kind].rank;
}

ORDERED_BY(root_order, struct heap_root, ORDER(x->object, y->object),
           ORDER(heap_root_rank(x), heap_root_rank(y)), ORDER(x->name, y->name),
           ORDER(x->field, y->field), ORDER(x->flags, y->flags))

ORDERED_BY(pair_order, struct heap_pair, ORDER(x->key, y->key), ORDER(x->value, y->value))

ORDERED_BY(node_order, uint32_t, ORDER(*x, *y))

/* The first slot of a class and place wins; a later dump may have more than one. */
ORDERED_BY(field_order, struct heap_field, ORDER(x->class_number, y->class_number),
           ORDER(x->slot, y->slot), ORDER(x->at, y->at))

static void settle_names(struct heap_graph *g)
{
    size_t kept = 0;

    SORT(g->fields, g->field_count, field_order);
    SORT(g->keepers, g->keeper_count, node_order);
    for (size_t i = 0; i < g->keeper_count; i++)
        if (!kept || g->keepers[kept - 1] != g->keepers[i])
            g->keepers[kept++] = g->keepers[i];
    g->keeper_count = kept;
}

/* Sorted, each object's first one counts as an edge. */
static void settle_roots(struct heap_graph *g)
{
    SORT(g->roots, g->root_count, root_order);
    SORT(g->pairs, g->pair_count, pair_order);
    for (size_t i = 0; i < g->root_count; i++)
        if (!i || g->roots[i].object != g->roots[i - 1].object)
            count_edge(g, 0);
}

/* ---- at last: the references ---- */

/* From counts to where each node's begin; first[i] then moves on as they are filled in. */
static int make_room(struct heap_graph *g)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i <= g->edges.nodes; i++) {
        sum += g->edges.first[i];
        g->edges.first[i] = (uint32_t)sum;
    }
    if (sum > UINT32_MAX - 1)
        return -EFBIG;
    g->edges.to = memory_alloc((size_t)(sum + 1) * sizeof(*g->edges.to));
    return g->edges.to ? 0 : -ENOMEM;
}

/* Only in a file that changed meanwhile can there be more than were counted. */
static void put_edge(struct heap_graph *g, uint32_t from, uint32_t to)
{
    if (g->edges.first[from] < g->edges.first[g->edges.nodes])
        g->edges.to[g->edges.first[from]++] = to;
}

/*
 * References are looked up some at a time: their pages, then their addresses are asked of memory
 * before any is waited for.
 */
#define AHEAD 32

struct ahead {
    uint32_t node[AHEAD];
    uint64_t address[AHEAD];
    size_t count;
};

static void look_up(struct heap_graph *g, struct ahead *ahead)
{
    uint32_t from[AHEAD];

    for (size_t i = 0; i < ahead->count; i++)
        from[i] = heap_addresses_page(&g->addresses, ahead->address[i]);
    for (size_t i = 0; i < ahead->count; i++) {
        uint32_t to = heap_addresses_find_from(&g->addresses, ahead->address[i], from[i]);

        g->outside += !to;
        put_edge(g, ahead->node[i], to);
    }
    ahead->count = 0;
}

static void add_ahead(struct heap_graph *g, struct ahead *ahead, uint32_t node, uint64_t address)
{
    heap_addresses_prefetch(&g->addresses, address);
    ahead->node[ahead->count] = node;
    ahead->address[ahead->count++] = address;
    if (ahead->count == AHEAD)
        look_up(g, ahead);
}

static int take_references(struct heap_dump *d, struct heap_records *records,
                           struct heap_graph *graph)
{
    struct ahead ahead = {.count = 0};
    struct heap_object o;
    int got = 0;

    if (records->kind != SST_HEAP_OBJECTS)
        return 0;
    while (got >= 0 && (got = heap_next_object(records, &o)) > 0) {
        uint32_t node = heap_addresses_find(&graph->addresses, o.address);
        uint64_t address;

        while ((got = heap_next_reference(records, &o, &address)) > 0)
            add_ahead(graph, &ahead, node, address);
    }
    look_up(graph, &ahead);
    return got < 0 ? heap_damaged(d, records, "an object's references") : 0;
}

static int fill(struct heap_dump *d, struct heap_graph *graph)
{
    int err = each_chunk(d, graph, HEAP_KIND(SST_HEAP_OBJECTS), take_references);

    if (err)
        return err;
    for (size_t i = 0; i < graph->pair_count; i++)
        put_edge(graph, graph->pairs[i].key, graph->pairs[i].value);
    for (size_t i = 0; i < graph->root_count; i++)
        if (!i || graph->roots[i].object != graph->roots[i - 1].object)
            put_edge(graph, 0, graph->roots[i].object);
    for (uint32_t i = graph->edges.nodes; i; i--) /* back to where they begin */
        graph->edges.first[i] = graph->edges.first[i - 1];
    graph->edges.first[0] = 0;
    return 0;
}

int heap_graph_read(struct heap_dump *d, struct heap_graph *graph)
{
    int err;

    *graph = (struct heap_graph){.weak = 0};
    err = each_chunk(d, graph, HEAP_EVERY, take_first);
    if (!err)
        err = heap_addresses_finish(&graph->addresses);
    if (err)
        return err;
    if (graph->seen.references > UINT32_MAX / 2)
        return -EFBIG;
    graph->edges.nodes = (uint32_t)graph->addresses.count + 1;
    graph->edges.first = memory_zalloc((size_t)graph->edges.nodes + 1, sizeof(*graph->edges.first));
    graph->classes = memory_zalloc(graph->edges.nodes, sizeof(*graph->classes));
    graph->units = memory_zalloc(graph->edges.nodes, sizeof(*graph->units));
    if (!graph->edges.first || !graph->classes || !graph->units)
        return -ENOMEM;
    err = each_chunk(d, graph, SECOND, take_second);
    if (!err)
        err = each_chunk(d, graph, HEAP_KIND(SST_HEAP_ROOTS) | HEAP_KIND(SST_HEAP_STATICS),
                         take_third);
    if (err)
        return err;
    settle_roots(graph);
    settle_names(graph);
    err = make_room(graph);
    return err ? err : fill(d, graph);
}

void heap_graph_free(struct heap_graph *g)
{
    heap_addresses_free(&g->addresses);
    memory_free_all(g->edges.first, g->edges.to, g->classes, g->units, g->sites, g->roots, g->pairs,
                    g->class_names.names, g->class_names.text, g->names.names, g->names.text,
                    g->statics, g->fields, g->field_text, g->keepers);
    *g = (struct heap_graph){.weak = 0};
}

static bool root_before(const void *element, const void *key)
{
    return ((const struct heap_root *)element)->object < *(const uint32_t *)key;
}

const struct heap_root *heap_graph_root(const struct heap_graph *g, uint32_t object)
{
    size_t at = order_first(g->roots, g->root_count, sizeof(*g->roots), root_before, &object);

    return at < g->root_count && g->roots[at].object == object ? &g->roots[at] : NULL;
}

static bool pair_before(const void *element, const void *key)
{
    return pair_order(element, key) < 0;
}

bool heap_graph_pair(const struct heap_graph *g, uint32_t key, uint32_t value)
{
    struct heap_pair wanted = {key, value};
    size_t at = order_first(g->pairs, g->pair_count, sizeof(*g->pairs), pair_before, &wanted);

    return at < g->pair_count && !pair_order(&g->pairs[at], &wanted);
}

const struct heap_name *heap_name(const struct heap_names *n, uint32_t number)
{
    return number && number < n->count ? &n->names[number] : NULL;
}

/* ---- names of fields ---- */

bool heap_graph_keeps(const struct heap_graph *g, uint32_t object)
{
    return g->keeper_count &&
           bsearch(&object, g->keepers, g->keeper_count, sizeof(*g->keepers), node_order);
}

static bool field_before(const void *element, const void *key)
{
    return ((const struct heap_field *)element)->class_number < *(const uint32_t *)key;
}

static bool is_field(const struct heap_field *f, uint32_t slot)
{
    if (!f->stride)
        return f->slot == slot;
    return slot >= f->first && (slot - f->first) % f->stride == f->slot;
}

const char *heap_field_name(const struct heap_graph *g, uint32_t class_number, uint32_t slot)
{
    size_t at =
        order_first(g->fields, g->field_count, sizeof(*g->fields), field_before, &class_number);

    for (; slot && at < g->field_count && g->fields[at].class_number == class_number; at++)
        if (is_field(&g->fields[at], slot))
            return g->field_text + g->fields[at].at;
    return NULL;
}

ORDERED_BY(step_order, struct heap_step, ORDER(x->from, y->from), ORDER(x->to, y->to))

static bool step_before(const void *element, const void *key)
{
    return step_order(element, key) < 0;
}

static bool has_steps(const struct heap_step *steps, size_t count, uint32_t from)
{
    struct heap_step wanted = {from, 0, 0};
    size_t at = order_first(steps, count, sizeof(*steps), step_before, &wanted);

    return at < count && steps[at].from == from;
}

/* All steps from `from` to that node; the first slot that leads there is the one. */
static void set_slots(struct heap_step *steps, size_t count, uint32_t from, uint32_t to,
                      uint32_t slot)
{
    struct heap_step wanted = {from, to, 0};
    size_t at = order_first(steps, count, sizeof(*steps), step_before, &wanted);

    for (; at < count && !step_order(&steps[at], &wanted); at++)
        if (!steps[at].slot)
            steps[at].slot = slot;
}

static int take_slots(struct heap_records *r, const struct heap_graph *graph,
                      struct heap_step *steps, size_t count)
{
    struct heap_object o;
    uint64_t address;
    int got;

    while ((got = heap_next_object(r, &o)) > 0) {
        uint32_t from = o.slotted ? heap_addresses_find(&graph->addresses, o.address) : 0;

        if (!from || !has_steps(steps, count, from)) {
            if (heap_skip_references(r, &o))
                return -EBADMSG;
            continue;
        }
        while ((got = heap_next_reference(r, &o, &address)) > 0)
            set_slots(steps, count, from, heap_addresses_find(&graph->addresses, address),
                      (uint32_t)o.slot);
        if (got < 0)
            break;
    }
    return got;
}

int heap_slots_find(struct heap_dump *d, const struct heap_graph *graph, struct heap_step *steps,
                    size_t count)
{
    struct heap_records r;
    int got;

    SORT(steps, count, step_order);
    while ((got = heap_dump_next(d, HEAP_KIND(SST_HEAP_OBJECTS), &r)) > 0)
        if (r.kind == SST_HEAP_OBJECTS && take_slots(&r, graph, steps, count) < 0)
            return heap_damaged(d, &r, "an object's record");
    return got;
}

uint32_t heap_slot_of(const struct heap_step *steps, size_t count, uint32_t from, uint32_t to)
{
    struct heap_step wanted = {from, to, 0};
    size_t at = order_first(steps, count, sizeof(*steps), step_before, &wanted);

    return at < count && !step_order(&steps[at], &wanted) ? steps[at].slot : 0;
}
