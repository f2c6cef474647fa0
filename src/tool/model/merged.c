#include "model/merged.h"

#include "base/order.h"

/* A node of the tree that a row stands for: a caller of the method's nodes, or one below them. */
struct entry {
    uint32_t node;
    uint32_t sums; /* callers: number of its sums; see model_merged.sums */
};

struct row {
    struct model_merged_row shown;
    uint32_t first_entry, entry_count;
    uint32_t first_child, child_count;
    bool open;
};

struct model_merged {
    const struct model_tree *tree;
    enum model_direction direction;
    struct row *rows;
    size_t row_count, row_capacity;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    /*
     * What comes through an entry of callers: self, then total, of each column that the tree has.
     */
    double *sums;
    size_t sums_count, sums_capacity;
    unsigned columns;
    enum model_weight column[MODEL_WEIGHTS];
    struct found {
        uint32_t group, node, from; /* from: entry of the row that is opened */
    } * found;
    size_t found_count, found_capacity;
};

/* ---- sums ---- */

static double *sums_at(const struct model_merged *g, uint32_t number)
{
    return &g->sums[(size_t)number * 2 * g->columns];
}

static int new_sums(struct model_merged *g, uint32_t *out)
{
    size_t width = 2 * g->columns;

    if (!array_reserve(&g->sums, &g->sums_capacity, (g->sums_count + 1) * width))
        return -ENOMEM;
    *out = (uint32_t)g->sums_count++;
    memset(sums_at(g, *out), 0, width * sizeof(double));
    return 0;
}

static void add_node(const struct model_merged *g, uint32_t node, double self[MODEL_WEIGHTS],
                     double total[MODEL_WEIGHTS])
{
    for (unsigned i = 0; i < g->columns; i++) {
        self[g->column[i]] += g->tree->self[g->column[i]][node];
        total[g->column[i]] += g->tree->total[g->column[i]][node];
    }
}

/* What an entry adds to its row. */
static void add_entry(const struct model_merged *g, const struct entry *e,
                      struct model_merged_row *to)
{
    if (g->direction == MODEL_CALLEES) {
        add_node(g, e->node, to->self, to->total);
        return;
    }
    for (unsigned i = 0; i < g->columns; i++) {
        to->self[g->column[i]] += sums_at(g, e->sums)[2 * i];
        to->total[g->column[i]] += sums_at(g, e->sums)[2 * i + 1];
    }
}

/* ---- the start ---- */

/* A node of the method, `outer` if no caller is one. */
static int add_start(struct model_merged *g, uint32_t node, bool outer)
{
    struct row *row = &g->rows[0];
    struct entry *e;

    if (outer) {
        if (!array_reserve(&g->entries, &g->entry_capacity, g->entry_count + 1) ||
            new_sums(g, &g->entries[g->entry_count].sums))
            return -ENOMEM;
        g->entries[g->entry_count++].node = node;
        row->entry_count++;
    }
    e = &g->entries[g->entry_count - 1];
    for (unsigned i = 0; i < g->columns; i++) {
        enum model_weight weight = g->column[i];

        sums_at(g, e->sums)[2 * i] += g->tree->self[weight][node];
        row->shown.self[weight] += g->tree->self[weight][node];
        if (outer) {
            sums_at(g, e->sums)[2 * i + 1] = g->tree->total[weight][node];
            row->shown.total[weight] += g->tree->total[weight][node];
        }
    }
    return 0;
}

static int start(struct model_merged *g, const uint32_t *places, size_t count)
{
    const struct model_tree *t = g->tree;
    bool *wanted = memory_zalloc(t->place_count, sizeof(*wanted));
    uint32_t end = 0; /* of the outermost node that this one lies in */
    int err = wanted && array_reserve(&g->rows, &g->row_capacity, 1) ? 0 : -ENOMEM;

    if (!err) {
        g->rows[g->row_count++] = (struct row){.shown.place = count ? places[0] : 0};
        for (size_t i = 0; i < count; i++)
            wanted[places[i]] = true;
    }
    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        if (!wanted[t->nodes[i].place])
            continue;
        err = add_start(g, i, i >= end);
        if (i >= end)
            end = t->nodes[i].end;
    }
    memory_free(wanted);
    return err;
}

struct model_merged *model_merged_new(const struct model_tree *t, const uint32_t *places,
                                      size_t count, enum model_direction direction)
{
    struct model_merged *g = memory_zalloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->tree = t;
    g->direction = direction;
    for (int weight = 0; weight < MODEL_WEIGHTS; weight++)
        if (t->self[weight])
            g->column[g->columns++] = (enum model_weight)weight;
    if (start(g, places, count)) {
        model_merged_free(g);
        return NULL;
    }
    return g;
}

void model_merged_free(struct model_merged *g)
{
    if (!g)
        return;
    memory_free_all(g->rows, g->entries, g->sums, g->found);
    memory_free(g);
}

/* ---- opening ---- */

/* Places that one row is of: folded frames of one name, however many; they lie side by side. */
static uint32_t group_of(const struct model_merged *g, uint32_t node)
{
    const struct model_place *places = g->tree->places;
    uint32_t place = g->tree->nodes[node].place;

    while (place && places[place].kind == MODEL_PLACE_FOLDED &&
           places[place - 1].kind == MODEL_PLACE_FOLDED &&
           places[place - 1].name == places[place].name)
        place--;
    return place;
}

static int find_one(struct model_merged *g, uint32_t node, uint32_t from)
{
    if (!array_reserve(&g->found, &g->found_capacity, g->found_count + 1))
        return -ENOMEM;
    g->found[g->found_count++] = (struct found){group_of(g, node), node, from};
    return 0;
}

/* The nodes that the row's children are of. */
static int find(struct model_merged *g, const struct row *row)
{
    const struct model_node *nodes = g->tree->nodes;
    int err = 0;

    g->found_count = 0;
    for (uint32_t i = row->first_entry; !err && i < row->first_entry + row->entry_count; i++) {
        uint32_t node = g->entries[i].node;

        if (g->direction == MODEL_CALLERS) {
            err = nodes[node].parent ? find_one(g, nodes[node].parent, i) : 0;
            continue;
        }
        for (uint32_t child = node + 1; !err && child < nodes[node].end; child = nodes[child].end)
            err = find_one(g, child, i);
    }
    return err;
}

ORDERED_BY(by_group, struct found, ORDER(x->group, y->group), ORDER(x->node, y->node),
           ORDER(x->from, y->from))

/* Callers: what came through several entries comes through the one that called them. */
static int add_found(struct model_merged *g, const struct found *f, bool same)
{
    struct entry e = {.node = f->node};

    if (same)
        e = g->entries[g->entry_count - 1];
    else if (!array_reserve(&g->entries, &g->entry_capacity, g->entry_count + 1) ||
             (g->direction == MODEL_CALLERS && new_sums(g, &e.sums)))
        return -ENOMEM;
    else
        g->entries[g->entry_count++] = e;
    for (unsigned i = 0; g->direction == MODEL_CALLERS && i < 2 * g->columns; i++)
        sums_at(g, e.sums)[i] += sums_at(g, g->entries[f->from].sums)[i];
    return 0;
}

/* The row of those of `found` that are one group; the last of its places, with most frames. */
static int add_row(struct model_merged *g, uint32_t parent, const struct found *found, size_t count)
{
    struct row row = {.shown = {.parent = parent}, .first_entry = (uint32_t)g->entry_count};
    int err = array_reserve(&g->rows, &g->row_capacity, g->row_count + 1) ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < count; i++)
        err = add_found(g, &found[i], i && found[i].node == found[i - 1].node);
    for (size_t i = 0; i < count; i++)
        if (g->tree->nodes[found[i].node].place > row.shown.place)
            row.shown.place = g->tree->nodes[found[i].node].place;
    if (err)
        return err;
    row.entry_count = (uint32_t)g->entry_count - row.first_entry;
    for (uint32_t i = 0; i < row.entry_count; i++)
        add_entry(g, &g->entries[row.first_entry + i], &row.shown);
    g->rows[g->row_count++] = row;
    return 0;
}

/* Rows were made in the order of their places, which is that of names. */
ORDERED_BY(by_weight, struct row, ORDER(y->shown.total[MODEL_BYTES], x->shown.total[MODEL_BYTES]),
           ORDER(x->shown.place, y->shown.place))

int model_merged_open(struct model_merged *g, uint32_t row, uint32_t *first, uint32_t *count)
{
    size_t before = g->row_count, next;
    int err = g->rows[row].open ? 0 : find(g, &g->rows[row]);

    if (!err && !g->rows[row].open) {
        SORT(g->found, g->found_count, by_group);
        for (size_t i = 0; !err && i < g->found_count; i = next) {
            for (next = i; next < g->found_count && g->found[next].group == g->found[i].group;)
                next++;
            err = add_row(g, row, &g->found[i], next - i);
        }
        SORT(&g->rows[before], g->row_count - before, by_weight);
        if (err)
            g->row_count = before;
        g->rows[row].first_child = (uint32_t)before;
        g->rows[row].child_count = (uint32_t)(g->row_count - before);
        g->rows[row].open = !err;
    }
    *first = g->rows[row].first_child;
    *count = g->rows[row].child_count;
    return err;
}

const struct model_merged_row *model_merged_row(const struct model_merged *g, uint32_t row)
{
    return &g->rows[row].shown;
}

uint32_t model_merged_count(const struct model_merged *g)
{
    return (uint32_t)g->row_count;
}
