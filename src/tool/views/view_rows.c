#include "views/view_rows.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* ---- keys ---- */

INDEX_OF_BYTES(row_kind, struct view_row, key);
INDEX_OF_BYTES(type_kind, struct view_type, class_number);

static uint32_t row_of(struct view_rows *r, const struct view_row *row)
{
    uint32_t number;

    return index_add(&r->index, &row_kind, &r->rows, &r->count, &r->capacity, row, &number) < 0
               ? NONE
               : number;
}

static uint32_t module_of(const struct view_rows *r, const struct model_place *p)
{
    return p->kind == MODEL_PLACE_METHOD ? report_method(r->view->read.defs, p->method)->module : 0;
}

static bool in_method(const struct model_place *p)
{
    return p->kind != MODEL_PLACE_ROOT && p->kind != MODEL_PLACE_NONE;
}

/* The row of what a frame at that place is of. Returns: NONE without memory. */
static uint32_t place_row(struct view_rows *r, const struct model_place *p)
{
    struct view_row row = {.place = p, .cell = UINT32_MAX};

    switch (r->kind) {
    case VIEW_LINES:
    case VIEW_OWN:
    case VIEW_OVERVIEW:
        row.key[1] = (uint64_t)(uintptr_t)p->file;
        row.key[0] = p->line;
        /* fall through */
    case VIEW_METHODS:
        row.what = in_method(p) ? p->method + 1 : 0;
        row.key[0] |= (uint64_t)row.what << 32;
        if (p->kind == MODEL_PLACE_LOST)
            row.key[1] = 1;
        break;
    case VIEW_MODULES:
        row.what = in_method(p) ? module_of(r, p) + 1 : 0;
        row.key[0] = row.what;
        break;
    case VIEW_NAMESPACES:
        row.what = p->kind == MODEL_PLACE_METHOD ? namespaces_of(&r->names, p->method) + 1 : 0;
        row.key[0] = row.what;
        if (p->kind == MODEL_PLACE_METHOD && !row.what)
            return NONE;
        break;
    default:
        break;
    }
    return row_of(r, &row);
}

/* The row that a cell belongs to by itself, whatever its path. */
static uint32_t cell_row(struct view_rows *r, uint32_t node, const struct report_cell *cell)
{
    struct view_row row = {.cell = UINT32_MAX};

    switch (r->kind) {
    case VIEW_SITES:
        row.what = node;
        row.key[0] = (uint64_t)node << 32 | cell->class_number;
        break;
    case VIEW_TYPES:
        row.key[0] = row.what = cell->class_number;
        break;
    case VIEW_THREADS:
        row.key[0] = row.what = cell->thread;
        break;
    case VIEW_PROCESSES:
        row.key[0] = row.what = cell->process;
        break;
    case VIEW_SIZES:
        row.what = cell->size;
        row.heap = cell->heap;
        row.key[0] = (uint64_t)cell->heap << 8 | cell->size;
        break;
    default: /* time */
        row.key[0] = row.what = cell->slice;
        break;
    }
    return row_of(r, &row);
}

/* ---- what a path's allocations belong to ---- */

static const struct model_place *place_of(const struct view_rows *r, uint32_t node)
{
    const struct model_tree *t = r->view->tree;

    return &t->places[t->nodes[node].place];
}

static bool by_line(enum view_kind kind)
{
    return kind == VIEW_LINES || kind == VIEW_OWN || kind == VIEW_OVERVIEW;
}

static int find_near(struct view_rows *r)
{
    const struct loading *read = &r->view->read;
    int err = model_near_init(&r->rule, read->defs, read->own, read->lines);

    r->rule.any = r->kind == VIEW_LINES;
    return err ? err : model_near_nodes(&r->rule, r->view->tree, &r->near);
}

static bool by_place(enum view_kind kind)
{
    return kind == VIEW_METHODS || by_line(kind) || kind == VIEW_MODULES || kind == VIEW_NAMESPACES;
}

bool view_rows_inclusive(enum view_kind kind)
{
    return by_place(kind);
}

/* ---- adding up ---- */

static int add_type(struct view_rows *r, uint32_t row, size_t cell)
{
    const struct view_type key = {row, model_cell(r->view->read.model, cell)->class_number, 0, 0};
    uint32_t number;

    if (index_add(&r->type_index, &type_kind, &r->types, &r->type_count, &r->type_capacity, &key,
                  &number) < 0)
        return -ENOMEM;
    r->types[number].bytes += model_cell_weight(r->view->read.model, cell, MODEL_BYTES);
    r->types[number].allocs += model_cell_weight(r->view->read.model, cell, MODEL_ALLOCS);
    return 0;
}

static int add_cell(struct view_rows *r, uint32_t row, uint32_t cell)
{
    if (row == NONE)
        return -ENOMEM;
    for (int w = 0; w < MODEL_WEIGHTS; w++)
        r->rows[row].self[w] += model_cell_weight(r->view->read.model, cell, (enum model_weight)w);
    if (r->rows[row].cell == UINT32_MAX)
        r->rows[row].cell = cell;
    if (r->of_cells)
        r->of_cells[cell] = row;
    return by_place(r->kind) ? add_type(r, row, cell) : 0;
}

static int add_cells(struct view_rows *r)
{
    const struct model_tree *t = r->view->tree;
    int err = 0;

    for (uint32_t node = 0; !err && node < t->node_count; node++) {
        uint32_t from = t->first_cell[node], to = t->first_cell[node + 1], row = 0;

        if (from < to && by_place(r->kind))
            row = place_row(r, place_of(r, r->near ? r->near[node] : node));
        for (uint32_t i = from; !err && i < to; i++) {
            if (!by_place(r->kind))
                row = cell_row(r, node, model_cell(r->view->read.model, t->cells[i]));
            err = add_cell(r, row, t->cells[i]);
        }
    }
    return err;
}

static void add_total(struct view_rows *r, uint32_t row, uint32_t node, uint32_t *end)
{
    const struct model_tree *t = r->view->tree;

    *end = t->nodes[node].end;
    for (int w = 0; w < MODEL_WEIGHTS; w++)
        r->rows[row].total[w] += t->total[w] ? t->total[w][node] : 0;
}

/* What is below frames: a row within itself counts once. */
static int add_totals(struct view_rows *r)
{
    const struct model_tree *t = r->view->tree;
    uint32_t *rows = memory_alloc((t->place_count + 1) * sizeof(*rows)); /* by place; NONE */
    uint32_t *ends = NULL; /* by row: behind the outermost subtree that it is open in */
    size_t capacity = 0;
    int err = rows ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < t->place_count; i++)
        rows[i] = NONE;
    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        uint32_t *row = &rows[t->nodes[i].place];

        if (r->near && r->near[i] != i) /* it has no line, or is not own */
            continue;
        if (*row == NONE)
            *row = place_row(r, place_of(r, i));
        if (*row == NONE || !array_reserve_zeroed(&ends, &capacity, r->count))
            err = -ENOMEM;
        else if (i >= ends[*row])
            add_total(r, *row, i, &ends[*row]);
    }
    for (size_t i = 0; !err && i < r->count; i++)
        if (!r->rows[i].what && !r->rows[i].key[1]) /* of no frame */
            memcpy(r->rows[i].total, r->rows[i].self, sizeof(r->rows[i].total));
    memory_free_all(rows, ends);
    return err;
}

/* ---- order ---- */

ORDERED_BY(type_order, struct view_type, ORDER(x->row, y->row), ORDER(y->bytes, x->bytes),
           ORDER(x->class_number, y->class_number))

static double weight_of(const struct view_rows *r, const struct view_row *row, bool second)
{
    enum view_sort sort = r->view->sort;
    bool total = sort == VIEW_SORT_TOTAL && view_rows_inclusive(r->kind);

    if (second)
        return row->total[MODEL_BYTES];
    return sort == VIEW_SORT_ALLOCS ? row->self[MODEL_ALLOCS]
           : total                  ? row->total[MODEL_BYTES]
                                    : row->self[MODEL_BYTES];
}

/* Whether --min-bytes and --min-share let it through. */
static bool passes(const struct view_rows *r, const struct view_row *row)
{
    const struct view *v = r->view;
    double least = v->min_share * fabs(v->sum[MODEL_BYTES]), bytes = row->self[MODEL_BYTES];

    if (v->sort == VIEW_SORT_TOTAL && view_rows_inclusive(r->kind))
        bytes = row->total[MODEL_BYTES];
    if (v->question == REPORT_LIVE_GROWN) /* or shrunk */
        bytes = fabs(bytes);
    return bytes >= least && bytes >= (double)v->min_bytes;
}

/* Rows of own lines always have the one of what has no own frame, whatever --top is. */
static bool always_shown(const struct view_rows *r, const struct view_row *row)
{
    return view_row_foreign(r, row) && passes(r, row);
}

static int row_order(const void *a, const void *b, void *context)
{
    const struct view_rows *r = context;
    const struct view_row *x = a, *y = b;
    int order = ORDER(passes(r, y), passes(r, x));

    if (!order && r->kind != VIEW_TIME && r->kind != VIEW_SIZES) {
        order = ORDER(weight_of(r, y, false), weight_of(r, x, false));
        order = order ? order : ORDER(weight_of(r, y, true), weight_of(r, x, true));
    }
    order = order ? order : ORDER(x->key[0], y->key[0]);
    return order ? order : ORDER(x->key[1], y->key[1]);
}

static void put_in_order(struct view_rows *r)
{
    SORT(r->types, r->type_count, type_order);
    for (size_t i = 0; i < r->type_count; i++) {
        struct view_row *row = &r->rows[r->types[i].row];

        row->first_type = row->type_count ? row->first_type : i;
        row->type_count++;
    }
    for (size_t i = 0; i < r->count; i++)
        r->rows[i].number = (uint32_t)i;
    if (r->count)
        qsort_r(r->rows, r->count, sizeof(*r->rows), row_order, r);
    for (size_t i = r->view->top; r->view->top && i < r->count; i++) {
        struct view_row row = r->rows[i];

        if (!always_shown(r, &row))
            continue;
        memmove(&r->rows[r->view->top + 1], &r->rows[r->view->top],
                (i - r->view->top) * sizeof(row));
        r->rows[r->view->top] = row;
    }
}

int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind)
{
    int err = 0;

    *r = (struct view_rows){.view = v, .kind = kind};
    if (kind == VIEW_NAMESPACES)
        err = namespaces_init(&r->names, v->read.defs);
    if (!err && by_line(kind))
        err = find_near(r);
    if (!err && (v->question == REPORT_LIVE_LIFETIMES || v->question == REPORT_LIVE_GROWN) &&
        !(r->of_cells = memory_zalloc(model_cell_count(v->read.model) + 1, sizeof(*r->of_cells))))
        err = -ENOMEM;
    if (!err)
        err = add_cells(r);
    if (!err && view_rows_inclusive(kind) && !v->question)
        err = add_totals(r);
    if (!err)
        put_in_order(r);
    return err;
}

void view_rows_fini(struct view_rows *r)
{
    memory_free_all(r->rows, r->types, r->near, r->of_cells);
    index_free(&r->index);
    index_free(&r->type_index);
    namespaces_fini(&r->names);
    model_near_fini(&r->rule);
}

int view_rows_of_cells(const struct view_rows *r, uint32_t **out)
{
    size_t cells = model_cell_count(r->view->read.model);
    uint32_t *now = memory_alloc((r->count + 1) * sizeof(*now)); /* by number as rows came */

    *out = memory_alloc((cells + 1) * sizeof(**out));
    if (!now || !*out) {
        memory_free(now);
        return -ENOMEM;
    }
    now[0] = 0;
    for (size_t i = 0; i < r->count; i++)
        now[r->rows[i].number] = (uint32_t)i;
    for (size_t i = 0; i < cells; i++)
        (*out)[i] = now[r->of_cells[i]];
    memory_free(now);
    return 0;
}

size_t view_rows_shown(const struct view_rows *r)
{
    uint64_t top = r->kind == VIEW_TIME || r->kind == VIEW_SIZES ? 0 : r->view->top;
    size_t shown = 0;

    while (shown < r->count && (!top || shown < top) && passes(r, &r->rows[shown]))
        shown++;
    return shown + (top && shown == top && shown < r->count && always_shown(r, &r->rows[shown]));
}

bool view_row_foreign(const struct view_rows *r, const struct view_row *row)
{
    return (r->kind == VIEW_OWN || r->kind == VIEW_OVERVIEW) && !row->what;
}

enum model_near_lack view_row_lack(const struct view_rows *r, const struct view_row *row)
{
    if (!r->near || !row->place || !row->what || row->place->file)
        return MODEL_NEAR_LACKS_NOTHING;
    return model_near_lack(&r->rule, row->place->method);
}
