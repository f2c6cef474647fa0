#include "model/tree.h"

#include "base/order.h"

#include "model/links.h"
#include "model/matches.h"
#include "model/selected.h"

#include <math.h>

struct build {
    const struct model *model;
    const struct log_defs *defs;
    const struct model_shape *shape;
    struct selected selected;
    struct links links;
    uint32_t *callers; /* by path: how far its stack has come without it: links, and runs */
    uint32_t *runs;    /* NULL without fold_framework */
    uint32_t *cells;   /* that were let through */
    uint32_t *leaves;  /* beside them: their nodes */
    uint32_t cell_count;
    uint32_t *numbers; /* by link: its node in the tree */
};

/* ---- nodes ---- */

/* The stack of a frame's callers is on its way; now it is that of the frame. */
static int step(struct build *b, const struct report_frame *f, struct links_state *out)
{
    const struct links_state from = {b->callers[f->path], b->runs ? b->runs[f->path] : RUNS_NONE};

    return links_step(&b->links, from, f, out);
}

/* Each path's frame lies below that of its parent, once: parents come first. */
static int add_paths(struct build *b)
{
    int err = 0;

    for (uint32_t path = LOG_PATH_LOST; !err && path < b->defs->path_count; path++) {
        struct links_state state = {0, RUNS_NONE};
        struct report_frame f;

        if (selected_path(&b->selected, path) && !selected_outermost(&b->selected, path)) {
            report_frame_first(b->defs, path, LOG_NO_IL, &f);
            report_frame_outer(b->defs, &f);
            err = step(b, &f, &state);
        }
        b->callers[path] = state.link;
        if (b->runs)
            b->runs[path] = state.run;
    }
    return err;
}

static int cell_node(struct build *b, const struct report_cell *c, uint32_t *out)
{
    struct links_state state;
    struct report_frame f;
    uint32_t place;
    int err;

    if (report_frame_first(b->defs, c->path, c->il, &f)) {
        err = step(b, &f, &state);
        if (!err)
            err = links_end(&b->links, state, out);
    } else {
        err = places_none(&b->links.places, &place);
        if (!err)
            err = links_child(&b->links, 0, place, out);
    }
    if (!err && b->shape->types)
        err = places_type(&b->links.places, c->class_number, &place);
    return !err && b->shape->types ? links_child(&b->links, *out, place, out) : err;
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
        b->leaves[b->cell_count] = 0;
        if (b->shape->grain != MODEL_GRAIN_NONE)
            err = cell_node(b, model_cell(b->model, i), &b->leaves[b->cell_count]);
        b->cell_count++;
    }
    return err;
}

static int add_nodes(struct build *b)
{
    size_t paths = b->defs->path_count;
    int err;

    if (b->shape->grain == MODEL_GRAIN_NONE)
        return add_cells(b);
    b->callers = memory_alloc(paths * sizeof(*b->callers));
    if (b->links.fold_framework)
        b->runs = memory_alloc(paths * sizeof(*b->runs));
    if (!b->callers || (b->links.fold_framework && !b->runs))
        return -ENOMEM;
    err = add_paths(b);
    if (!err)
        err = add_cells(b);
    memory_free_all(b->callers, b->runs);
    b->callers = b->runs = NULL;
    return err ? err : links_finish(&b->links);
}

/* ---- what goes ---- */

/* Of links while some of them go. */
struct pruning {
    double *bytes;  /* totals */
    bool *used;     /* has cells: the beginning of a cycle that was folded may have none */
    uint32_t *into; /* what each becomes */
    double least;
};

static int look_at_links(const struct build *b, struct pruning *p)
{
    size_t count = b->links.count;

    p->bytes = memory_zalloc(count, sizeof(*p->bytes));
    p->used = memory_zalloc(count, sizeof(*p->used));
    if (!p->bytes || !p->used)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->cell_count; i++) {
        p->bytes[b->leaves[i]] += model_cell_weight(b->model, b->cells[i], MODEL_BYTES);
        p->used[b->leaves[i]] = true;
    }
    for (size_t i = count; i-- > 1;) {
        p->bytes[b->links.links[i].parent] += p->bytes[i];
        p->used[b->links.links[i].parent] |= p->used[i];
    }
    /* rounding must not make the root too small for itself; what has shrunk is not small */
    p->least = b->shape->min_share > 0 ? p->bytes[0] * fmin(b->shape->min_share, 1) : -INFINITY;
    return 0;
}

static bool stays(const struct pruning *p, size_t link)
{
    return link == 0 || (p->used[link] && p->bytes[link] >= p->least);
}

/* Links close up over those that go. */
static void close_up(struct build *b, struct pruning *p, struct model_tree *t)
{
    struct link *links = b->links.links;
    uint32_t kept = 1;

    p->into[0] = 0;
    for (size_t i = 1; i < b->links.count; i++) {
        struct link l = links[i];

        if (stays(p, i)) {
            p->into[i] = kept;
            links[kept++] = (struct link){p->into[l.parent], l.place};
            continue;
        }
        p->into[i] = p->into[l.parent];
        t->folded_nodes += p->used[i];
        if (stays(p, l.parent))
            t->folded_bytes += p->bytes[i];
    }
    kept = 1;
    for (size_t i = 1; i < b->links.count; i++)
        if (stays(p, i))
            p->bytes[kept++] = p->bytes[i];
    b->links.count = kept;
    for (uint32_t i = 0; i < b->cell_count; i++)
        b->leaves[i] = p->into[b->leaves[i]];
}

/* *bytes: the totals of the links that are left, to be freed. Returns: 0 or -ENOMEM. */
static int prune(struct build *b, double **bytes, struct model_tree *t)
{
    struct pruning p = {.bytes = NULL};
    int err = look_at_links(b, &p);

    if (!err && (p.least > 0 || b->shape->fold_recursion)) {
        p.into = memory_alloc(b->links.count * sizeof(*p.into));
        if (p.into)
            close_up(b, &p, t);
        else
            err = -ENOMEM;
    }
    memory_free_all(p.used, p.into);
    *bytes = p.bytes;
    return err;
}

/* ---- order ---- */

/* The root has no name: it comes first. */
static int by_name(const void *left, const void *right, void *context)
{
    const struct build *b = context;
    const struct model_place *p = &b->links.places.places[*(const uint32_t *)left],
                             *q = &b->links.places.places[*(const uint32_t *)right];
    int order = strcmp(model_place_name(b->defs, p), model_place_name(b->defs, q));

    if (!order && p->file && q->file)
        order = strcmp(p->file, q->file);
    return ORDERS(order, ORDER(p->line, q->line), ORDER(p->line_last, q->line_last),
                  ORDER(p->il, q->il), ORDER(p->kind, q->kind), ORDER(p->count, q->count),
                  ORDER(*(const uint32_t *)left, *(const uint32_t *)right));
}

/* Places get their numbers in the order of names: comparing siblings then takes no names. */
static int sort_places(struct build *b)
{
    size_t count = b->links.places.count;
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
        places[i] = b->links.places.places[sorted[i]];
    }
    for (size_t i = 0; !err && i < b->links.count; i++)
        b->links.links[i].place = ranks[b->links.links[i].place];
    if (!err) {
        memory_free(b->links.places.places);
        b->links.places.places = places;
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
    const struct link *links = f->build->links.links;

    return f->bytes[a] != f->bytes[b] ? ORDER(f->bytes[b], f->bytes[a])
                                      : ORDER(links[a].place, links[b].place);
}

static int make_families(struct families *f)
{
    const struct build *b = f->build;
    size_t count = b->links.count;

    f->first = memory_zalloc(count + 2, sizeof(*f->first));
    f->children = memory_alloc(count * sizeof(*f->children));
    if (!f->first || !f->children)
        return -ENOMEM;
    for (size_t i = 1; i < count; i++)
        f->first[b->links.links[i].parent + 2]++;
    for (size_t i = 2; i <= count; i++)
        f->first[i] += f->first[i - 1];
    for (size_t i = 1; i < count; i++)
        f->children[f->first[b->links.links[i].parent + 1]++] = (uint32_t)i;
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
    uint32_t *sizes = memory_alloc(b->links.count * sizeof(*sizes));

    b->numbers = memory_alloc(b->links.count * sizeof(*b->numbers));
    t->nodes = memory_alloc(b->links.count * sizeof(*t->nodes));
    if (!sizes || !b->numbers || !t->nodes) {
        memory_free(sizes);
        return -ENOMEM;
    }
    for (size_t i = 0; i < b->links.count; i++)
        sizes[i] = 1;
    for (size_t i = b->links.count; i-- > 1;)
        sizes[b->links.links[i].parent] += sizes[i];
    t->node_count = sizes[0];
    t->nodes[0] = (struct model_node){.end = t->node_count};
    b->numbers[0] = 0;
    for (uint32_t i = 0; i < b->links.count; i++) {
        uint32_t parent = b->numbers[i], next = parent + 1;

        for (uint32_t j = f->first[i]; j < f->first[i + 1]; j++) {
            uint32_t link = f->children[j];

            b->numbers[link] = next;
            t->nodes[next] = (struct model_node){.parent = parent,
                                                 .end = next + sizes[link],
                                                 .place = b->links.links[link].place,
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
    double *bytes;
    int err = prune(b, &bytes, t);

    f.bytes = bytes;
    if (!err)
        err = sort_places(b);
    if (!err)
        err = make_families(&f);
    memory_free(bytes);
    if (!err)
        err = place_nodes(b, &f, t);
    memory_free_all(f.first, f.children, b->links.links);
    b->links.links = NULL;
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
    int err = links_init(&b->links, b->model, b->shape);

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
    t->places = b->links.places.places;
    t->place_count = (uint32_t)b->links.places.count;
    b->links.places.places = NULL;
    t->texts = b->links.runs.names;
    t->text_count = (uint32_t)b->links.runs.name_count;
    b->links.runs.names = NULL;
    b->links.runs.name_count = 0;
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
    links_fini(&b.links);
    memory_free_all(b.callers, b.runs, b.cells, b.leaves, b.numbers);
    if (err)
        model_tree_free(t);
    else
        *out = t;
    return err;
}

void model_tree_free(struct model_tree *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->text_count; i++)
        memory_free(t->texts[i]);
    memory_free_all(t->nodes, t->places, t->texts, t->cells, t->first_cell);
    for (int weight = 0; weight < MODEL_WEIGHTS; weight++)
        memory_free_all(t->self[weight], t->total[weight]);
    memory_free(t);
}
