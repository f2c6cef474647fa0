#include "model/tree.h"

#include "base/order.h"

#include "model/matches.h"
#include "model/places.h"
#include "model/selected.h"

/* A node while the tree is made: parents have lower numbers than their children. */
struct link {
    uint32_t parent, place;
};

struct build {
    const struct model *model;
    const struct report_defs *defs;
    const struct model_shape *shape;
    struct selected selected;
    struct places places;
    struct link *links;
    size_t count, capacity;
    struct index index;
    uint32_t *callers; /* by path: the node of its caller */
    uint32_t *cells;   /* that were let through */
    uint32_t *leaves;  /* beside them: their nodes */
    uint32_t cell_count;
    uint32_t *numbers; /* by link: its node in the tree */
};

/* ---- nodes ---- */

static uint64_t link_hash(const void *record)
{
    const struct link *l = record;

    return hash_mix((uint64_t)l->parent << 32 | l->place, 0);
}

static bool link_equal(const void *record, const void *key)
{
    const struct link *have = record, *want = key;

    return have->parent == want->parent && have->place == want->place;
}

/* The node of a place below another. */
static int child(struct build *b, uint32_t parent, uint32_t place, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(struct link), link_hash, link_equal};
    const struct link key = {parent, place};
    int added = index_add(&b->index, &kind, &b->links, &b->count, &b->capacity, &key, out);

    return added < 0 ? added : 0;
}

/* The node of a frame: that of its caller has been made. */
static int frame_node(struct build *b, const struct report_frame *f, uint32_t *out)
{
    uint32_t place;
    int err = places_frame(&b->places, f, &place);

    return err ? err : child(b, b->callers[f->path], place, out);
}

/* Each path's frame lies below that of its parent, once: parents come first. */
static int add_paths(struct build *b)
{
    int err = 0;

    for (uint32_t path = REPORT_PATH_LOST; !err && path < b->defs->path_count; path++) {
        struct report_frame f;

        b->callers[path] = 0;
        if (!selected_path(&b->selected, path) || selected_outermost(&b->selected, path))
            continue;
        report_frame_first(b->defs, path, REPORT_NO_IL, &f);
        report_frame_outer(b->defs, &f);
        err = frame_node(b, &f, &b->callers[path]);
    }
    return err;
}

static int cell_node(struct build *b, const struct model_cell *c, uint32_t *out)
{
    struct report_frame f;
    uint32_t place;
    int err;

    if (report_frame_first(b->defs, c->path, c->il, &f)) {
        err = frame_node(b, &f, out);
    } else {
        err = places_none(&b->places, &place);
        if (!err)
            err = child(b, 0, place, out);
    }
    if (!err && b->shape->types)
        err = places_type(&b->places, c->class_number, &place);
    return !err && b->shape->types ? child(b, *out, place, out) : err;
}

static int add_cells(struct build *b)
{
    size_t count = 0;
    int err = 0;

    for (size_t i = 0; i < model_cell_count(b->model); i++)
        count += selected_cell(&b->selected, i);
    b->cells = memory_alloc((count + 1) * sizeof(*b->cells));
    b->leaves = memory_alloc((count + 1) * sizeof(*b->leaves));
    if (!b->cells || !b->leaves)
        return -ENOMEM;
    for (size_t i = 0; !err && i < model_cell_count(b->model); i++) {
        if (!selected_cell(&b->selected, i))
            continue;
        b->cells[b->cell_count] = (uint32_t)i;
        err = cell_node(b, model_cell(b->model, i), &b->leaves[b->cell_count++]);
    }
    return err;
}

static int add_nodes(struct build *b)
{
    const struct link root = {0, 0};
    int err;

    if (!array_reserve(&b->links, &b->capacity, 1))
        return -ENOMEM;
    b->links[b->count++] = root; /* not in the index: it is nobody's child */
    b->callers = memory_alloc(b->defs->path_count * sizeof(*b->callers));
    if (!b->callers)
        return -ENOMEM;
    err = add_paths(b);
    if (!err)
        err = add_cells(b);
    memory_free(b->callers);
    b->callers = NULL;
    index_free(&b->index);
    return err;
}

/* ---- what is too small ---- */

static double *bytes_of_links(const struct build *b)
{
    double *bytes = memory_zalloc(b->count, sizeof(*bytes));

    for (uint32_t i = 0; bytes && i < b->cell_count; i++)
        bytes[b->leaves[i]] += model_cell_weight(b->model, b->cells[i], MODEL_BYTES);
    for (size_t i = b->count; bytes && i-- > 1;)
        bytes[b->links[i].parent] += bytes[i];
    return bytes;
}

/* Links close up over the small ones, which go into their parents. `into`: where each went. */
static void close_up(struct build *b, double *bytes, double least, uint32_t *into,
                     struct model_tree *t)
{
    uint32_t kept = 1;

    into[0] = 0;
    for (size_t i = 1; i < b->count; i++) {
        struct link l = b->links[i];

        if (bytes[i] < least) {
            into[i] = into[l.parent];
            t->folded_nodes++;
            if (bytes[l.parent] >= least)
                t->folded_bytes += bytes[i];
        } else {
            into[i] = kept;
            b->links[kept++] = (struct link){into[l.parent], l.place};
        }
    }
    kept = 1;
    for (size_t i = 1; i < b->count; i++)
        if (bytes[i] >= least)
            bytes[kept++] = bytes[i];
    b->count = kept;
}

static int prune(struct build *b, double *bytes, struct model_tree *t)
{
    double least = bytes[0] * b->shape->min_share;
    uint32_t *into;

    if (!(least > 0))
        return 0;
    into = memory_alloc(b->count * sizeof(*into));
    if (!into)
        return -ENOMEM;
    close_up(b, bytes, least < bytes[0] ? least : bytes[0], into, t);
    for (uint32_t i = 0; i < b->cell_count; i++)
        b->leaves[i] = into[b->leaves[i]];
    memory_free(into);
    return 0;
}

/* ---- order ---- */

/* The root's is empty: it comes first. */
static const char *place_name(const struct build *b, const struct model_place *p)
{
    return p->kind == MODEL_PLACE_METHOD ? report_method(b->defs, p->method)->name
           : p->kind == MODEL_PLACE_TYPE ? report_class(b->defs, p->method)->name
           : p->name                     ? p->name
                                         : "";
}

static int by_name(const void *left, const void *right, void *context)
{
    const struct build *b = context;
    const struct model_place *p = &b->places.places[*(const uint32_t *)left],
                             *q = &b->places.places[*(const uint32_t *)right];
    int order = strcmp(place_name(b, p), place_name(b, q));

    if (!order && p->file && q->file)
        order = strcmp(p->file, q->file);
    return order                ? order
           : p->line != q->line ? ORDER(p->line, q->line)
           : p->il != q->il     ? ORDER(p->il, q->il)
           : p->kind != q->kind ? ORDER(p->kind, q->kind)
                                : ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* Places get their numbers in the order of names: comparing siblings then takes no names. */
static int sort_places(struct build *b)
{
    size_t count = b->places.count;
    uint32_t *sorted = memory_alloc(count * sizeof(*sorted));
    uint32_t *ranks = memory_alloc(count * sizeof(*ranks));
    struct model_place *places = memory_alloc(count * sizeof(*places));
    int err = sorted && ranks && places ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < count; i++)
        sorted[i] = (uint32_t)i;
    if (!err)
        qsort_r(sorted, count, sizeof(*sorted), by_name, b);
    for (size_t i = 0; !err && i < count; i++) {
        ranks[sorted[i]] = (uint32_t)i;
        places[i] = b->places.places[sorted[i]];
    }
    for (size_t i = 0; !err && i < b->count; i++)
        b->links[i].place = ranks[b->links[i].place];
    if (!err) {
        memory_free(b->places.places);
        b->places.places = places;
        places = NULL;
    }
    memory_free_all(sorted, ranks, places);
    return err;
}

/* Children of links: those of link i are [first[i], first[i + 1]) of `children`. */
struct families {
    const struct build *build;
    const double *bytes;
    uint32_t *first, *children;
};

static int by_weight(const void *left, const void *right, void *context)
{
    const struct families *f = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct link *links = f->build->links;

    return f->bytes[a] != f->bytes[b] ? ORDER(f->bytes[b], f->bytes[a])
                                      : ORDER(links[a].place, links[b].place);
}

static int make_families(struct families *f)
{
    const struct build *b = f->build;
    size_t count = b->count;

    f->first = memory_zalloc(count + 2, sizeof(*f->first));
    f->children = memory_alloc(count * sizeof(*f->children));
    if (!f->first || !f->children)
        return -ENOMEM;
    for (size_t i = 1; i < count; i++)
        f->first[b->links[i].parent + 2]++;
    for (size_t i = 2; i <= count; i++)
        f->first[i] += f->first[i - 1];
    for (size_t i = 1; i < count; i++)
        f->children[f->first[b->links[i].parent + 1]++] = (uint32_t)i;
    for (size_t i = 0; i < count; i++) {
        size_t size = f->first[i + 1] - f->first[i];

        if (size > 1)
            qsort_r(&f->children[f->first[i]], size, sizeof(*f->children), by_weight, f);
    }
    return 0;
}

/* ---- the tree ---- */

/* Links get their numbers in preorder, and the tree its nodes. */
static int place_nodes(struct build *b, const struct families *f, struct model_tree *t)
{
    uint32_t *sizes = memory_alloc(b->count * sizeof(*sizes));

    b->numbers = memory_alloc(b->count * sizeof(*b->numbers));
    t->nodes = memory_alloc(b->count * sizeof(*t->nodes));
    if (!sizes || !b->numbers || !t->nodes) {
        memory_free(sizes);
        return -ENOMEM;
    }
    for (size_t i = 0; i < b->count; i++)
        sizes[i] = 1;
    for (size_t i = b->count; i-- > 1;)
        sizes[b->links[i].parent] += sizes[i];
    t->node_count = sizes[0];
    t->nodes[0] = (struct model_node){.end = t->node_count};
    b->numbers[0] = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t parent = b->numbers[i], next = parent + 1;

        for (uint32_t j = f->first[i]; j < f->first[i + 1]; j++) {
            uint32_t link = f->children[j];

            b->numbers[link] = next;
            t->nodes[next] = (struct model_node){.parent = parent,
                                                 .end = next + sizes[link],
                                                 .place = b->links[link].place,
                                                 .depth = t->nodes[parent].depth + 1};
            next += sizes[link];
        }
    }
    memory_free(sizes);
    return 0;
}

static int order_nodes(struct build *b, struct model_tree *t)
{
    struct families f = {.build = b};
    double *bytes = bytes_of_links(b);
    int err = bytes ? prune(b, bytes, t) : -ENOMEM;

    f.bytes = bytes;
    if (!err)
        err = sort_places(b);
    if (!err)
        err = make_families(&f);
    memory_free(bytes);
    if (!err)
        err = place_nodes(b, &f, t);
    memory_free_all(f.first, f.children, b->links);
    b->links = NULL;
    return err;
}

static int weigh_nodes(const struct build *b, struct model_tree *t, enum model_weight weight)
{
    double *self, *total;

    if (weight > MODEL_ALLOCS && !model_has_weight(b->model, weight))
        return 0;
    t->self[weight] = self = memory_zalloc(t->node_count, sizeof(*self));
    t->total[weight] = total = memory_alloc(t->node_count * sizeof(*total));
    if (!self || !total)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->cell_count; i++)
        self[b->leaves[i]] += model_cell_weight(b->model, b->cells[i], weight);
    memcpy(total, self, t->node_count * sizeof(*total));
    for (uint32_t i = t->node_count; i-- > 1;)
        total[t->nodes[i].parent] += total[i];
    return 0;
}

/* Cells by their nodes, in the order of the model. */
static int deal_cells(struct build *b, struct model_tree *t)
{
    t->cells = memory_alloc((b->cell_count + 1) * sizeof(*t->cells));
    t->first_cell = memory_zalloc(t->node_count + 2, sizeof(*t->first_cell));
    if (!t->cells || !t->first_cell)
        return -ENOMEM;
    t->cell_count = b->cell_count;
    for (uint32_t i = 0; i < b->cell_count; i++)
        t->first_cell[b->leaves[i] + 2]++;
    for (uint32_t i = 2; i <= t->node_count; i++)
        t->first_cell[i] += t->first_cell[i - 1];
    for (uint32_t i = 0; i < b->cell_count; i++)
        t->cells[t->first_cell[b->leaves[i] + 1]++] = b->cells[i];
    return 0;
}

static int make(struct build *b, struct model_tree *t)
{
    int err = places_init(&b->places, b->model, b->shape->grain);

    if (!err)
        err = add_nodes(b);
    if (!err)
        err = order_nodes(b, t);
    for (uint32_t i = 0; !err && i < b->cell_count; i++)
        b->leaves[i] = b->numbers[b->leaves[i]];
    for (int weight = 0; !err && weight < MODEL_WEIGHTS; weight++)
        err = weigh_nodes(b, t, (enum model_weight)weight);
    if (!err)
        err = deal_cells(b, t);
    if (err)
        return err;
    t->places = b->places.places;
    t->place_count = (uint32_t)b->places.count;
    b->places.places = NULL;
    return 0;
}

int model_tree_new(const struct model *m, const struct model_filter *filter,
                   const struct model_shape *shape, struct model_tree **out, char *why,
                   size_t why_size)
{
    struct build b = {.model = m, .defs = model_defs(m), .shape = shape};
    struct model_tree *t = memory_zalloc(1, sizeof(*t));
    int err;

    *out = NULL;
    if (!t)
        return -ENOMEM;
    t->model = m;
    err = selected_init(&b.selected, m, filter, why, why_size);
    if (!err) {
        selected_mark(&b.selected);
        err = make(&b, t);
    }
    selected_fini(&b.selected);
    places_fini(&b.places);
    index_free(&b.index);
    memory_free_all(b.links, b.callers, b.cells, b.leaves, b.numbers);
    if (err)
        model_tree_free(t);
    else
        *out = t;
    return err;
}

int model_tree_find(const struct model_tree *t, const struct model_globs *globs, uint32_t **places,
                    size_t *count, char *why, size_t why_size)
{
    return matches_places(model_defs(t->model), globs, t->places, t->place_count, places, count,
                          why, why_size);
}

void model_tree_free(struct model_tree *t)
{
    if (!t)
        return;
    memory_free_all(t->nodes, t->places, t->cells, t->first_cell);
    for (int weight = 0; weight < MODEL_WEIGHTS; weight++)
        memory_free_all(t->self[weight], t->total[weight]);
    memory_free(t);
}
