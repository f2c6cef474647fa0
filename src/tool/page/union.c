#include "page/union.h"

#include "base/order.h"

/* ---- What is the same ---- */

static uint64_t name_hash(const void *record)
{
    const struct union_name *n = record;

    return hash_mix(hash_bytes(n->full, strlen(n->full)), (uint64_t)n->module << 1 | n->type);
}

static bool name_equal(const void *record, const void *key)
{
    const struct union_name *have = record, *want = key;

    return have->module == want->module && have->type == want->type &&
           strcmp(have->full, want->full) == 0;
}

static uint64_t thread_number(const struct union_thread *t)
{
    return (uint64_t)t->process << 32 | t->id;
}

static uint64_t thread_hash(const void *record)
{
    const struct union_thread *t = record;

    return hash_mix(hash_bytes(t->name, strlen(t->name)), thread_number(t));
}

static bool thread_equal(const void *record, const void *key)
{
    const struct union_thread *have = record, *want = key;

    return thread_number(have) == thread_number(want) && strcmp(have->name, want->name) == 0;
}

static const struct index_kind name_kind = {sizeof(struct union_name), name_hash, name_equal};
static const struct index_kind thread_kind = {sizeof(struct union_thread), thread_hash,
                                              thread_equal};
INDEX_OF_TEXT(module_kind, struct union_module);
INDEX_OF_TEXT(space_kind, struct union_space);
INDEX_OF_TEXT(file_kind, struct union_file);
INDEX_OF_BYTES(place_kind, struct union_place, count);
INDEX_OF_BYTES(node_kind, struct union_node, place);
INDEX_OF_BYTES(cell_kind, struct union_cell, side);

/* The number of what a key says, added if it is new: ADD(u, names, name, &key, &number). */
#define ADD(u, table, word, key, number) \
    index_add(&(u)->table##_index, &word##_kind, &(u)->table, &(u)->table##_count, \
              &(u)->table##_capacity, (key), (number))

int union_init(struct page_union *u)
{
    const struct union_file no_file = {""};
    const struct union_module no_module = {"", MODEL_FRAMEWORK};
    const struct union_space no_space = {""};
    uint32_t number;

    *u = (struct page_union){0};
    return ADD(u, files, file, &no_file, &number) < 0 ||
                   ADD(u, modules, module, &no_module, &number) < 0 ||
                   ADD(u, spaces, space, &no_space, &number) < 0
               ? -ENOMEM
               : 0;
}

#define FREE_TABLE(record, table) \
    memory_free(u->table); \
    index_free(&u->table##_index);

void union_fini(struct page_union *u)
{
    UNION_TABLES(FREE_TABLE)
    memory_free_all(u->order, u->first_cell, u->cell_order, u->growing);
}

/* ---- Adding ---- */

/* The module of a method or class, 0 for none. */
static int add_module(struct page_union *u, const struct side *s, uint32_t module, uint32_t *out)
{
    const struct log_def *def = log_module(model_defs(s->read.model), module);
    const struct union_module key = {module ? def->name : "",
                                     model_own_of_module(s->read.own, module)};

    *out = 0;
    return module ? ADD(u, modules, module, &key, out) : 0;
}

static int add_space(struct page_union *u, struct side *s, uint32_t method, uint32_t *out)
{
    uint32_t number = namespaces_of(&s->spaces, method);
    struct union_space key;

    if (number == NAMESPACES_NONE)
        return -ENOMEM;
    key.name = namespaces_text(&s->spaces, number);
    return ADD(u, spaces, space, &key, out);
}

static int add_name(struct page_union *u, struct side *s, const struct model_place *place,
                    uint32_t *out)
{
    const struct log_defs *d = model_defs(s->read.model);
    struct union_name key = {.full = place->name ? place->name : "(all)", .owner = MODEL_FRAMEWORK};
    const struct log_def *def = NULL;

    key.shown = key.full;
    if (place->kind == MODEL_PLACE_METHOD) {
        def = log_method(d, place->method);
        key.full = names_method(s->read.others, place->method);
        key.shown = names_method(s->read.names, place->method);
        key.owner = model_own_of_method(s->read.own, place->method);
        if (add_space(u, s, place->method, &key.space) < 0)
            return -ENOMEM;
    } else if (place->kind == MODEL_PLACE_TYPE) {
        def = log_class(d, place->method);
        key.full = names_class(s->read.others, place->method);
        key.shown = names_class(s->read.names, place->method);
        key.owner = model_own_of_module(s->read.own, def->module);
        key.type = true;
    }
    if (def && add_module(u, s, def->module, &key.module) < 0)
        return -ENOMEM;
    if (ADD(u, names, name, &key, out) < 0)
        return -ENOMEM;
    if (place->kind == MODEL_PLACE_METHOD && !u->names[*out].lined) {
        const struct model_near near = {.defs = d, .lines = s->read.lines};

        u->names[*out].lined = source_line_any(s->read.lines, place->method);
        u->names[*out].lack = model_near_lack(&near, place->method);
    }
    return 0;
}

static int add_place(struct page_union *u, struct side *s, const struct model_place *p,
                     uint32_t *out)
{
    const struct union_file file = {p->file ? p->file : ""};
    struct union_place key = {
        .kind = p->kind, .line = p->line, .line_last = p->line_last, .count = p->count};

    if (ADD(u, files, file, &file, &key.file) < 0 || add_name(u, s, p, &key.name) < 0)
        return -ENOMEM;
    return ADD(u, places, place, &key, out);
}

static int add_thread(struct page_union *u, const struct side *s, uint32_t thread, uint32_t *out)
{
    const struct log_defs *d = model_defs(s->read.model);
    struct union_thread key = {0, 0, ""};

    if (thread) {
        key.id = d->threads[thread - 1].id;
        if (!u->compares && model_processes(s->read.model)->count > 1)
            key.process = d->threads[thread - 1].recording;
        key.name = d->threads[thread - 1].name ? d->threads[thread - 1].name : "";
    }
    return ADD(u, threads, thread, &key, out);
}

static int add_cell(struct page_union *u, const struct side *s, unsigned side, uint32_t node,
                    uint32_t cell)
{
    const struct report_cell *c = model_cell(s->read.model, cell);
    struct union_cell key = {.node = node,
                             .slice = c->slice,
                             .size = (uint8_t)(c->heap << 6 | c->size),
                             .side = (uint8_t)side};
    uint32_t number;

    if (!(model_cell_weight(s->read.model, cell, MODEL_ALLOCS) > 0))
        return 0; /* of what became of objects only: live.c */
    if (add_thread(u, s, c->thread, &key.thread) < 0 || ADD(u, cells, cell, &key, &number) < 0)
        return -ENOMEM;
    for (int w = 0; w < MODEL_WEIGHTS; w++)
        u->cells[number].weight[w] += model_cell_weight(s->read.model, cell, (enum model_weight)w);
    return 0;
}

static int add_nodes(struct page_union *u, const struct side *s, unsigned side,
                     const uint32_t *places, uint32_t *to)
{
    const struct model_tree *t = s->tree;

    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct union_node key = {.parent = i ? to[t->nodes[i].parent] : 0,
                                       .place = places[t->nodes[i].place]};

        if (ADD(u, nodes, node, &key, &to[i]) < 0)
            return -ENOMEM;
        for (uint32_t c = t->first_cell[i]; c < t->first_cell[i + 1]; c++)
            if (add_cell(u, s, side, to[i], t->cells[c]))
                return -ENOMEM;
    }
    return 0;
}

int union_add(struct page_union *u, struct side *s, unsigned side, uint32_t *nodes)
{
    const struct model_tree *t = s->tree;
    uint32_t *places = memory_alloc(sizeof(*places) * t->place_count);
    int err = places ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < t->place_count; i++)
        err = add_place(u, s, &t->places[i], &places[i]) < 0 ? -ENOMEM : 0;
    if (!err)
        err = add_nodes(u, s, side, places, nodes);
    memory_free(places);
    return err;
}

int union_weigh(struct page_union *u, const struct union_cell *key, double bytes, double allocs)
{
    uint32_t number;

    if (!(allocs > 0))
        return 0;
    if (ADD(u, cells, cell, key, &number) < 0)
        return -ENOMEM;
    u->cells[number].weight[MODEL_BYTES] += bytes;
    u->cells[number].weight[MODEL_ALLOCS] += allocs;
    u->cells[number].weight[MODEL_SEEN_BYTES] += bytes;
    u->cells[number].weight[MODEL_SAMPLED] += allocs;
    return 0;
}

/* ---- Order ---- */

static int by_weight(const void *a, const void *b, void *of)
{
    const struct union_node *nodes = of;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return ORDERS(ORDER(nodes[right].bytes, nodes[left].bytes), ORDER(left, right));
}

/* Children of node i are list[first[i]] up to list[first[i + 1]]; first: two more than nodes. */
static void list_children(const struct page_union *u, uint32_t *first, uint32_t *list)
{
    size_t count = u->nodes_count;

    for (size_t i = 1; i < count; i++)
        first[u->nodes[i].parent + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 1; i < count; i++)
        list[first[u->nodes[i].parent + 1]++] = (uint32_t)i;
    for (size_t i = 0; i < count; i++)
        if (first[i + 1] - first[i] > 1)
            qsort_r(list + first[i], first[i + 1] - first[i], sizeof(*list), by_weight, u->nodes);
}

/* `next` ends as the place in `list` behind each node's children. */
static void preorder(struct page_union *u, uint32_t *next, const uint32_t *first,
                     const uint32_t *list)
{
    uint32_t node = 0, done = 0;

    u->order[done++] = 0;
    while (done < u->nodes_count) {
        if (next[node] == first[node + 1]) {
            node = u->nodes[node].parent;
            continue;
        }
        node = list[next[node]++];
        u->order[done++] = node;
    }
}

static int order_nodes(struct page_union *u)
{
    size_t count = u->nodes_count;
    uint32_t *first = memory_zalloc(count + 2, sizeof(*first));
    uint32_t *next = memory_alloc(sizeof(*next) * (count + 2));
    uint32_t *list = memory_alloc(sizeof(*list) * (count + 1));
    int err = first && next && list ? 0 : -ENOMEM;

    u->order = memory_alloc(sizeof(*u->order) * (count + 1));
    if (!u->order)
        err = -ENOMEM;
    if (!err) {
        list_children(u, first, list);
        memcpy(next, first, sizeof(*next) * (count + 2));
        preorder(u, next, first, list);
    }
    memory_free_all(first, next, list);
    return err;
}

static int by_time(const void *a, const void *b, void *of)
{
    const struct union_cell *cells = of;
    const struct union_cell *left = &cells[*(const uint32_t *)a],
                            *right = &cells[*(const uint32_t *)b];

    return ORDERS(ORDER(left->side, right->side), ORDER(left->slice, right->slice),
                  ORDER(left->thread, right->thread), ORDER(left->size, right->size));
}

static int order_cells(struct page_union *u)
{
    uint32_t *first = u->first_cell = memory_zalloc(u->nodes_count + 2, sizeof(*first));

    u->cell_order = memory_alloc(sizeof(*u->cell_order) * (u->cells_count + 1));
    if (!first || !u->cell_order)
        return -ENOMEM;
    for (size_t i = 0; i < u->cells_count; i++)
        first[u->cells[i].node + 2]++;
    for (size_t i = 2; i < u->nodes_count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < u->cells_count; i++)
        u->cell_order[first[u->cells[i].node + 1]++] = (uint32_t)i;
    for (size_t i = 0; i < u->nodes_count; i++)
        if (first[i + 1] - first[i] > 1)
            qsort_r(u->cell_order + first[i], first[i + 1] - first[i], sizeof(*first), by_time,
                    u->cells);
    return 0;
}

/* Parents were added before their children. */
static void add_up(struct page_union *u)
{
    for (size_t i = 0; i < u->cells_count; i++)
        if (u->cells[i].side < PAGE_FATES)
            u->nodes[u->cells[i].node].bytes += u->cells[i].weight[MODEL_BYTES];
    for (size_t i = u->nodes_count; i-- > 1;)
        u->nodes[u->nodes[i].parent].bytes += u->nodes[i].bytes;
    for (size_t i = 0; i < u->nodes_count; i++) {
        u->places[u->nodes[i].place].uses++;
        u->places[u->nodes[i].place].bytes += u->nodes[i].bytes;
    }
}

int union_finish(struct page_union *u)
{
    int err;

    add_up(u);
    err = order_nodes(u);
    return err ? err : order_cells(u);
}
