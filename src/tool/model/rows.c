#include "model/rows.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* ---- keys ---- */

static bool by_line(enum model_key key)
{
    return key == MODEL_BY_LINE || key == MODEL_BY_LINE_TYPE || key == MODEL_BY_OWN;
}

static bool by_place(enum model_key key)
{
    return key == MODEL_BY_METHOD || by_line(key) || key == MODEL_BY_MODULE ||
           key == MODEL_BY_NAMESPACE;
}

bool model_rows_inclusive(const struct model_rows *r)
{
    return by_place(r->options.key) && r->options.key != MODEL_BY_LINE_TYPE;
}

/* Sizes and slices of time: all, the lesser first. */
static bool in_key_order(const struct model_rows *r)
{
    return r->options.key == MODEL_BY_SIZE || r->options.key == MODEL_BY_SLICE;
}

static bool has_totals(const struct model_rows *r)
{
    return model_rows_inclusive(r) && !r->options.no_totals;
}

INDEX_OF_BYTES(row_kind, struct model_row, key);
INDEX_OF_BYTES(passed_kind, struct model_row_passed, row);
INDEX_OF_BYTES(type_kind, struct model_row_type, class_number);

/* Returns: NONE without memory. */
static uint32_t row_of(struct model_rows *r, const struct model_row *row)
{
    uint32_t number;
    int added = index_add(&r->index, &row_kind, &r->rows, &r->count, &r->capacity, row, &number);

    if (added < 0 ||
        (added && !array_reserve_zeroed(&r->sums, &r->sum_capacity, (r->count + 1) * r->stride)))
        return NONE;
    r->rows[number].sums = number + 1;
    return number;
}

static double *sums_at(const struct model_rows *r, uint32_t row)
{
    return &r->sums[(size_t)(row + 1) * r->stride];
}

/* Weights that the tree has not are 0 for all rows. */
static void choose_weights(struct model_rows *r)
{
    for (int w = 0; w < MODEL_WEIGHTS; w++)
        if (r->tree->self[w]) {
            r->weights[r->weight_count] = (enum model_weight)w;
            r->column[w] = (uint8_t)++r->weight_count;
        }
    r->stride = r->weight_count * (has_totals(r) ? 2 : 1);
}

static bool in_method(const struct model_place *p)
{
    return p->kind != MODEL_PLACE_ROOT && p->kind != MODEL_PLACE_NONE;
}

/* The row of what a frame at that place is of, and of a type. Returns: NONE without memory. */
static uint32_t place_row(struct model_rows *r, const struct model_place *p, uint32_t class_number)
{
    struct model_row row = {.place = p, .cell = UINT32_MAX, .class_number = class_number};
    bool method = p->kind == MODEL_PLACE_METHOD;

    switch (r->options.key) {
    case MODEL_BY_LINE_TYPE:
        row.key[2] = class_number;
        /* fall through */
    case MODEL_BY_LINE:
    case MODEL_BY_OWN:
        row.key[2] |= (uint64_t)p->line_last << 32;
        row.key[1] = (uint64_t)(uintptr_t)p->file;
        row.key[0] = p->line;
        /* fall through */
    case MODEL_BY_METHOD:
        row.what = in_method(p) ? p->method + 1 : 0;
        if (!r->options.join_methods || !p->file)
            row.key[0] |= (uint64_t)row.what << 32;
        if (p->kind == MODEL_PLACE_LOST)
            row.key[1] = 1;
        break;
    case MODEL_BY_MODULE:
        row.what = in_method(p);
        row.what += method ? log_method(model_defs(r->tree->model), p->method)->module : 0;
        row.key[0] = row.what;
        break;
    case MODEL_BY_NAMESPACE:
        row.what = method ? namespaces_of(&r->names, p->method) + 1 : 0;
        row.key[0] = row.what;
        if (method && !row.what)
            return NONE;
        break;
    default:
        break;
    }
    return row_of(r, &row);
}

/* The row that a cell belongs to by itself, whatever its path. */
static uint32_t cell_row(struct model_rows *r, uint32_t node, const struct report_cell *cell)
{
    struct model_row row = {.cell = UINT32_MAX};

    switch (r->options.key) {
    case MODEL_BY_SITE:
        row.what = cell->path;
        row.il = cell->il;
        row.class_number = cell->class_number;
        row.depth = r->tree->nodes[node].depth;
        row.key[0] = (uint64_t)(node ? node : cell->path) << 32 | cell->class_number;
        row.key[1] = node ? 0 : (uint32_t)cell->il;
        break;
    case MODEL_BY_TYPE:
        row.key[0] = row.what = cell->class_number;
        break;
    case MODEL_BY_THREAD:
        row.key[0] = row.what = cell->thread;
        break;
    case MODEL_BY_PROCESS:
        row.key[0] = row.what = cell->process;
        break;
    case MODEL_BY_SLICE:
        row.key[0] = row.what = cell->slice;
        break;
    case MODEL_BY_SIZE:
        row.what = cell->size;
        row.heap = cell->heap;
        row.key[0] = (uint64_t)cell->heap << 8 | cell->size;
        break;
    default:
        break;
    }
    return row_of(r, &row);
}

/* ---- what a path's allocations belong to ---- */

static const struct model_place *place_of(const struct model_rows *r, uint32_t node)
{
    const struct model_tree *t = r->tree;

    return &t->places[t->nodes[node].place];
}

/* Of a type that is a leaf: the frame that makes it. */
static uint32_t frame_of(const struct model_rows *r, uint32_t node)
{
    return place_of(r, node)->kind == MODEL_PLACE_TYPE ? r->tree->nodes[node].parent : node;
}

static int find_near(struct model_rows *r)
{
    const struct model *m = r->tree->model;
    int err = model_near_init(&r->rule, model_defs(m), model_own_code(m), model_source_lines(m));

    r->rule.any = r->options.key != MODEL_BY_OWN;
    return err ? err : model_near_nodes(&r->rule, r->tree, &r->near, &r->passed);
}

/* ---- adding up ---- */

static int add_type(struct model_rows *r, uint32_t row, size_t cell)
{
    const struct model_row_type key = {row, model_cell(r->tree->model, cell)->class_number, 0, 0};
    uint32_t number;

    if (index_add(&r->type_index, &type_kind, &r->types, &r->type_count, &r->type_capacity, &key,
                  &number) < 0)
        return -ENOMEM;
    r->types[number].bytes += model_cell_weight(r->tree->model, cell, MODEL_BYTES);
    r->types[number].allocs += model_cell_weight(r->tree->model, cell, MODEL_ALLOCS);
    return 0;
}

/* Generated code that the row's line goes before. */
static int add_passed(struct model_rows *r, uint32_t row, uint32_t node, uint32_t cell)
{
    const struct model_row_passed key = {place_of(r, r->passed[node]), row, 0, 0};
    uint32_t number;

    if (index_add(&r->passed_index, &passed_kind, &r->all_passed, &r->passed_count,
                  &r->passed_capacity, &key, &number) < 0)
        return -ENOMEM;
    r->all_passed[number].bytes += model_cell_weight(r->tree->model, cell, MODEL_BYTES);
    return 0;
}

const struct model_row_passed *model_row_passed(const struct model_rows *r,
                                                const struct model_row *row)
{
    const struct model_row_passed *most = NULL;

    for (size_t i = 0; i < r->passed_count; i++)
        if (r->all_passed[i].row + 1 == row->sums &&
            (!most || r->all_passed[i].bytes > most->bytes))
            most = &r->all_passed[i];
    return most;
}

static int add_cell(struct model_rows *r, uint32_t row, uint32_t cell)
{
    if (row == NONE)
        return -ENOMEM;
    for (unsigned i = 0; i < r->weight_count; i++)
        sums_at(r, row)[i] += model_cell_weight(r->tree->model, cell, r->weights[i]);
    if (r->rows[row].cell == UINT32_MAX)
        r->rows[row].cell = cell;
    if (r->of_cells)
        r->of_cells[cell] = row;
    return model_rows_inclusive(r) ? add_type(r, row, cell) : 0;
}

/* The row of a cell, which is of that node. */
static uint32_t row_of_cell(struct model_rows *r, uint32_t node, uint32_t cell)
{
    const struct report_cell *c = model_cell(r->tree->model, cell);

    if (!by_place(r->options.key))
        return cell_row(r, node, c);
    return place_row(r, place_of(r, r->near ? r->near[node] : frame_of(r, node)),
                     r->options.key == MODEL_BY_LINE_TYPE ? c->class_number : 0);
}

/* Each has a row, also those in which nothing was made. */
static int add_slices(struct model_rows *r)
{
    struct model_row row = {.cell = UINT32_MAX};

    for (unsigned i = 0; i < model_slice_count(r->tree->model); i++) {
        row.key[0] = row.what = i;
        if (row_of(r, &row) == NONE)
            return -ENOMEM;
    }
    return 0;
}

static int add_cells(struct model_rows *r)
{
    const bool each = !model_rows_inclusive(r); /* else all cells of a node are of one row */
    const struct model_tree *t = r->tree;
    int err = 0;

    for (uint32_t node = 0; !err && node < t->node_count; node++) {
        uint32_t from = t->first_cell[node], to = t->first_cell[node + 1], row = 0;

        for (uint32_t i = from; !err && i < to; i++) {
            if (each || i == from)
                row = row_of_cell(r, node, t->cells[i]);
            err = add_cell(r, row, t->cells[i]);
            if (!err && r->passed && r->passed[node])
                err = add_passed(r, row, node, t->cells[i]);
        }
    }
    return err;
}

static void add_total(struct model_rows *r, uint32_t row, uint32_t node, uint32_t *end)
{
    const struct model_tree *t = r->tree;

    *end = t->nodes[node].end;
    for (unsigned i = 0; i < r->weight_count; i++)
        sums_at(r, row)[r->weight_count + i] += t->total[r->weights[i]][node];
}

/* What is below frames: a row within itself counts once. */
static int add_totals(struct model_rows *r)
{
    const struct model_tree *t = r->tree;
    uint32_t *rows = memory_alloc((t->place_count + 1) * sizeof(*rows)); /* by place; NONE */
    uint32_t *ends = NULL; /* by row: behind the outermost subtree that it is open in */
    size_t capacity = 0;
    int err = rows ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < t->place_count; i++)
        rows[i] = NONE;
    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        uint32_t *row = &rows[t->nodes[i].place];

        if ((r->near && r->near[i] != i) || frame_of(r, i) != i)
            continue; /* it has no line, or is not own, or no frame */
        if (*row == NONE)
            *row = place_row(r, place_of(r, i), 0);
        if (*row == NONE || !array_reserve_zeroed(&ends, &capacity, r->count))
            err = -ENOMEM;
        else if (i >= ends[*row])
            add_total(r, *row, i, &ends[*row]);
    }
    for (uint32_t i = 0; !err && i < r->count; i++)
        if (!r->rows[i].what && !r->rows[i].key[1]) /* of no frame */
            memcpy(sums_at(r, i) + r->weight_count, sums_at(r, i),
                   r->weight_count * sizeof(*r->sums));
    memory_free_all(rows, ends);
    return err;
}

double model_row_self(const struct model_rows *r, const struct model_row *row, enum model_weight w)
{
    return row->sums && r->column[w] ? sums_at(r, row->sums - 1)[r->column[w] - 1] : 0;
}

double model_row_total(const struct model_rows *r, const struct model_row *row, enum model_weight w)
{
    return row->sums && r->column[w] && has_totals(r)
               ? sums_at(r, row->sums - 1)[r->weight_count + r->column[w] - 1]
               : 0;
}

void model_row_weights(const struct model_rows *r, const struct model_row *row, bool total,
                       double out[MODEL_WEIGHTS])
{
    for (int w = 0; w < MODEL_WEIGHTS; w++)
        out[w] = total ? model_row_total(r, row, (enum model_weight)w)
                       : model_row_self(r, row, (enum model_weight)w);
}

/* ---- order ---- */

ORDERED_BY(type_order, struct model_row_type, ORDER(x->row, y->row), ORDER(y->bytes, x->bytes),
           ORDER(x->class_number, y->class_number))

static bool by_total(const struct model_rows *r)
{
    return r->options.sort == MODEL_SORT_TOTAL && model_rows_inclusive(r);
}

static double weight_of(const struct model_rows *r, const struct model_row *row)
{
    if (r->options.sort == MODEL_SORT_ALLOCS)
        return model_row_self(r, row, MODEL_ALLOCS);
    return by_total(r) ? model_row_total(r, row, MODEL_BYTES) : model_row_self(r, row, MODEL_BYTES);
}

/* Whether it has the least bytes and share asked for. */
static bool passes(const struct model_rows *r, const struct model_row *row)
{
    double all = r->tree->total[MODEL_BYTES][0];
    double bytes =
        by_total(r) ? model_row_total(r, row, MODEL_BYTES) : model_row_self(r, row, MODEL_BYTES);

    if (r->options.signed_bytes)
        bytes = fabs(bytes);
    return bytes >= r->options.min_share * fabs(all) && bytes >= (double)r->options.min_bytes;
}

/* Rows of own lines always have the one of what has no own frame, whatever `top` is. */
static bool always_shown(const struct model_rows *r, const struct model_row *row)
{
    return model_row_foreign(r, row) && passes(r, row);
}

/* What a row is sorted by, read once: its sums lie elsewhere, and far apart. */
struct rank {
    double weight, total, self;
    uint32_t row;
    bool passes;
};

static struct rank rank_of(const struct model_rows *r, uint32_t number)
{
    const struct model_row *row = &r->rows[number];
    struct rank rank = {.row = number, .passes = passes(r, row)};

    if (in_key_order(r))
        return rank;
    rank.weight = weight_of(r, row);
    rank.total = model_row_total(r, row, MODEL_BYTES);
    rank.self = model_row_self(r, row, MODEL_BYTES);
    return rank;
}

static int rank_order(const void *a, const void *b, void *context)
{
    const struct model_row *rows = context;
    const struct rank *x = a, *y = b;
    int order = ORDERS(ORDER(y->passes, x->passes), ORDER(y->weight, x->weight),
                       ORDER(y->total, x->total), ORDER(y->self, x->self));

    for (int i = 0; !order && i < 3; i++)
        order = ORDER(rows[x->row].key[i], rows[y->row].key[i]);
    return order;
}

static int sort_rows(struct model_rows *r)
{
    struct rank *ranks = memory_alloc((r->count + 1) * sizeof(*ranks));
    struct model_row *sorted = memory_alloc((r->count + 1) * sizeof(*sorted));
    int err = ranks && sorted ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < r->count; i++)
        ranks[i] = rank_of(r, i);
    if (!err && r->count)
        qsort_r(ranks, r->count, sizeof(*ranks), rank_order, r->rows);
    for (size_t i = 0; !err && i < r->count; i++)
        sorted[i] = r->rows[ranks[i].row];
    if (!err) {
        memory_free(r->rows);
        r->rows = sorted;
        r->capacity = r->count + 1;
        sorted = NULL;
    }
    memory_free_all(ranks, sorted);
    return err;
}

/* The rows that are always shown stand behind the first `top` ones. */
static void keep_shown(struct model_rows *r)
{
    size_t top = (size_t)r->options.top;

    for (size_t i = top; top && i < r->count; i++) {
        struct model_row row = r->rows[i];

        if (!always_shown(r, &row))
            continue;
        memmove(&r->rows[top + 1], &r->rows[top], (i - top) * sizeof(row));
        r->rows[top] = row;
    }
}

static int put_in_order(struct model_rows *r)
{
    int err;

    SORT(r->types, r->type_count, type_order);
    for (size_t i = 0; i < r->type_count; i++) {
        struct model_row *row = &r->rows[r->types[i].row];

        row->first_type = row->type_count ? row->first_type : i;
        row->type_count++;
    }
    err = sort_rows(r);
    if (!err)
        keep_shown(r);
    return err;
}

int model_rows_init(struct model_rows *r, const struct model_tree *t,
                    const struct model_rows_options *options)
{
    int err = 0;

    *r = (struct model_rows){.tree = t, .options = *options};
    choose_weights(r);
    if (options->key == MODEL_BY_NAMESPACE)
        err = namespaces_init(&r->names, model_defs(t->model));
    if (!err && by_line(options->key))
        err = find_near(r);
    if (!err && options->of_cells &&
        !(r->of_cells = memory_zalloc(model_cell_count(t->model) + 1, sizeof(*r->of_cells))))
        err = -ENOMEM;
    if (!err && options->key == MODEL_BY_SLICE)
        err = add_slices(r);
    if (!err)
        err = add_cells(r);
    if (!err && has_totals(r))
        err = add_totals(r);
    return err ? err : put_in_order(r);
}

void model_rows_fini(struct model_rows *r)
{
    memory_free_all(r->rows, r->sums, r->types, r->near, r->of_cells, r->passed, r->all_passed);
    index_free(&r->passed_index);
    index_free(&r->index);
    index_free(&r->type_index);
    namespaces_fini(&r->names);
    model_near_fini(&r->rule);
    *r = (struct model_rows){.tree = NULL};
}

int model_rows_of_cells(const struct model_rows *r, uint32_t **out)
{
    size_t cells = model_cell_count(r->tree->model);
    uint32_t *now = memory_alloc((r->count + 1) * sizeof(*now)); /* by number as rows came */

    *out = memory_alloc((cells + 1) * sizeof(**out));
    if (!now || !*out) {
        memory_free(now);
        return -ENOMEM;
    }
    now[0] = 0;
    for (size_t i = 0; i < r->count; i++)
        now[r->rows[i].sums - 1] = (uint32_t)i;
    for (size_t i = 0; i < cells; i++)
        (*out)[i] = now[r->of_cells[i]];
    memory_free(now);
    return 0;
}

size_t model_rows_shown(const struct model_rows *r)
{
    uint64_t top = in_key_order(r) ? 0 : r->options.top;
    size_t shown = 0;

    while (shown < r->count && (!top || shown < top) && passes(r, &r->rows[shown]))
        shown++;
    return shown + (top && shown == top && shown < r->count && always_shown(r, &r->rows[shown]));
}

bool model_row_foreign(const struct model_rows *r, const struct model_row *row)
{
    return r->options.key == MODEL_BY_OWN && !row->what;
}

enum model_near_lack model_row_lack(const struct model_rows *r, const struct model_row *row)
{
    if (!r->near || !row->place || !row->what || row->place->file)
        return MODEL_NEAR_LACKS_NOTHING;
    return model_near_lack(&r->rule, row->place->method);
}
