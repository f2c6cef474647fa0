#include "browse/ranking.h"

#include "model/near.h"
#include "views/ranges.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

bool ranking_has_total(enum ranking_kind kind)
{
    return kind == RANKING_METHODS || kind == RANKING_LINES || kind == RANKING_OWN_LINES ||
           kind == RANKING_MODULES || kind == RANKING_NAMESPACES;
}

bool ranking_has_bars(enum ranking_kind kind)
{
    return kind == RANKING_SIZES || kind == RANKING_TIME;
}

/* Which row each place belongs to: places of one row have equal keys. */
struct key {
    const void *text;
    uint32_t number, line;
};

struct making {
    const struct data *data;
    struct ranking *ranking;
    const struct target *only; /* module or namespace; NULL all */
    struct key *keys;          /* by place */
    uint32_t *row_of;          /* by place */
    uint32_t *near; /* of lines, by node: the one that its allocations count for; 0 none */
};

static bool of_lines(enum ranking_kind kind)
{
    return kind == RANKING_LINES || kind == RANKING_OWN_LINES;
}

static uint32_t module_of(const struct making *m, uint32_t method)
{
    return report_method(model_defs(m->data->model), method)->module;
}

static bool is_meant(const struct making *m, uint32_t method)
{
    return !m->only || (m->only->kind == TARGET_MODULE
                            ? module_of(m, method)
                            : namespaces_of(m->data->namespaces, method)) == m->only->number;
}

/* Whether a place has a row; then its key and what the row is of. */
static bool key_of(const struct making *m, const struct model_place *p, struct key *key,
                   struct ranking_row *row)
{
    bool method = p->kind == MODEL_PLACE_METHOD;

    *row = (struct ranking_row){.own = p->own};
    data_target(p, &row->target);
    switch (m->ranking->kind) {
    case RANKING_TYPES:
        *key = (struct key){NULL, p->method, 0};
        row->target.file = NULL;
        return p->kind == MODEL_PLACE_TYPE;
    case RANKING_METHODS:
        *key = (struct key){NULL, p->method, 0};
        return method && is_meant(m, p->method);
    case RANKING_LINES:
    case RANKING_OWN_LINES:
        if (!method) { /* the root stands for what has no own frame */
            *key = (struct key){NULL, UINT32_MAX, 0};
            return p->kind == MODEL_PLACE_ROOT && m->ranking->kind == RANKING_OWN_LINES;
        }
        *key = (struct key){p->file, p->file ? 0 : p->method, p->line};
        row->target.kind = p->file ? TARGET_LINE : TARGET_METHOD;
        return true;
    case RANKING_MODULES:
    case RANKING_NAMESPACES:
        row->target.kind = m->ranking->kind == RANKING_MODULES ? TARGET_MODULE : TARGET_NAMESPACE;
        row->target.file = NULL;
        if (method)
            *key = (struct key){NULL,
                                m->ranking->kind == RANKING_MODULES
                                    ? module_of(m, p->method)
                                    : namespaces_of(m->data->namespaces, p->method),
                                0};
        row->target.number = method ? key->number : 0;
        return method;
    default:
        return false;
    }
}

static int compare_keys(const void *left, const void *right, void *context)
{
    const struct making *m = context;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct key *a = &m->keys[i], *b = &m->keys[j];

    return a->text != b->text       ? ORDER((uintptr_t)a->text, (uintptr_t)b->text)
           : a->number != b->number ? ORDER(a->number, b->number)
           : a->line != b->line     ? ORDER(a->line, b->line)
                                    : ORDER(i, j);
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->text == b->text && a->number == b->number && a->line == b->line;
}

static int row_add(struct ranking *t, const struct ranking_row *row)
{
    if (!array_reserve(&t->rows, &t->capacity, t->count + 1))
        return -ENOMEM;
    t->rows[t->count++] = *row;
    return 0;
}

/* Rows for all places that have one. sorted: memory for as many numbers as there are places. */
static int make_rows(struct making *m, uint32_t *sorted)
{
    const struct model_tree *tree = m->data->plain;
    struct ranking_row row;
    size_t count = 0;
    int err = 0;

    for (uint32_t i = 0; i < tree->place_count; i++) {
        m->row_of[i] = NO_ROW;
        if (key_of(m, &tree->places[i], &m->keys[i], &row))
            sorted[count++] = i;
    }
    if (count)
        qsort_r(sorted, count, sizeof(*sorted), compare_keys, m);
    for (size_t i = 0; i < count && !err; i++) {
        struct key key;

        key_of(m, &tree->places[sorted[i]], &key, &row);
        if (!i || !same_key(&m->keys[sorted[i - 1]], &key))
            err = row_add(m->ranking, &row);
        m->row_of[sorted[i]] = (uint32_t)m->ranking->count - 1;
    }
    return err;
}

/* Adds what each node makes itself to a row. */
static void add_self(const struct making *m)
{
    const struct model_tree *tree = m->data->plain;

    for (uint32_t i = 0; i < tree->node_count; i++) {
        bool type = tree->places[tree->nodes[i].place].kind == MODEL_PLACE_TYPE;
        uint32_t of = i, row;

        if (m->near)
            of = m->near[i];
        else if (type && m->ranking->kind != RANKING_TYPES)
            of = tree->nodes[i].parent; /* what a method makes is a leaf below it */
        row = m->row_of[tree->nodes[of].place];
        if (row != NO_ROW)
            data_add(m->ranking->rows[row].self, tree->self, i);
    }
}

/* Callers come before what they call, so a row is open as long as nodes lie in its subtree. */
static int sum_nodes(const struct making *m)
{
    const struct model_tree *tree = m->data->plain;
    uint32_t *open_until = memory_zalloc(m->ranking->count + 1, sizeof(*open_until));

    if (!open_until)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct model_node *node = &tree->nodes[i];
        uint32_t row = m->row_of[node->place];

        if (row == NO_ROW || i < open_until[row] || (m->near && (!i || m->near[i] != i)))
            continue;
        data_add(m->ranking->rows[row].total, tree->total, i);
        open_until[row] = node->end;
    }
    memory_free(open_until);
    add_self(m);
    return 0;
}

static int find_near(struct making *m)
{
    const struct model *model = m->data->model;
    struct model_near rule;
    int err =
        model_near_init(&rule, model_defs(model), model_own_code(model), model_source_lines(model));

    rule.any = m->ranking->kind == RANKING_LINES;
    if (!err)
        err = model_near_nodes(&rule, m->data->plain, &m->near);
    model_near_fini(&rule);
    return err;
}

/* Leaves out lines that nothing counts for. What has no own frame is below none. */
static void keep_lines(struct ranking *t)
{
    size_t used = 0;

    for (size_t i = 0; i < t->count; i++) {
        struct ranking_row *row = &t->rows[i];

        if (row->target.kind == TARGET_NONE)
            memcpy(row->total, row->self, sizeof(row->total));
        if (row->total[MODEL_ALLOCS] > 0)
            t->rows[used++] = *row;
    }
    t->count = used;
}

/* Namespaces of all places, so that asking for them does not fail any more. */
static int find_namespaces(const struct data *d)
{
    const struct model_tree *tree = d->plain;

    for (uint32_t i = 0; i < tree->place_count; i++)
        if (tree->places[i].kind == MODEL_PLACE_METHOD &&
            namespaces_of(d->namespaces, tree->places[i].method) == NAMESPACES_NONE)
            return -ENOMEM;
    return 0;
}

static int make_from_places(struct making *m)
{
    const struct model_tree *tree = m->data->plain;
    bool named =
        m->ranking->kind == RANKING_NAMESPACES || (m->only && m->only->kind == TARGET_NAMESPACE);
    uint32_t *sorted = memory_alloc((tree->place_count + 1) * sizeof(*sorted));
    int err;

    m->keys = memory_zalloc(tree->place_count + 1, sizeof(*m->keys));
    m->row_of = memory_alloc((tree->place_count + 1) * sizeof(*m->row_of));
    err = sorted && m->keys && m->row_of ? 0 : -ENOMEM;
    if (!err && of_lines(m->ranking->kind))
        err = find_near(m);
    if (!err && named)
        err = find_namespaces(m->data);
    if (!err)
        err = make_rows(m, sorted);
    if (!err)
        err = sum_nodes(m);
    if (!err && m->near)
        keep_lines(m->ranking);
    memory_free_all(sorted, m->keys, m->row_of, m->near);
    return err;
}

/* Of rows by number those with anything; of time all that the filter lets through, for its gaps. */
static void keep_used(const struct data *d, struct ranking *t)
{
    const struct model_filter *f = &d->filter->model;
    size_t used = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->kind == RANKING_TIME ? !f->has_slices || (i >= f->from_slice && i < f->to_slice)
                                    : t->rows[i].self[MODEL_ALLOCS] > 0)
            t->rows[used++] = t->rows[i];
    t->count = used;
}

/* How many rows there may be, and which one a cell is of. */
static uint32_t rows_of_cells(const struct data *d, enum ranking_kind kind)
{
    return kind == RANKING_THREADS ? (uint32_t)model_defs(d->model)->thread_count + 1
           : kind == RANKING_SIZES ? SST_HEAP_COUNT << 8
                                   : model_slice_count(d->model);
}

static uint32_t row_of_cell(const struct report_cell *cell, enum ranking_kind kind)
{
    return kind == RANKING_THREADS ? cell->thread
           : kind == RANKING_SIZES ? (uint32_t)cell->heap << 8 | cell->size
                                   : cell->slice;
}

/* Threads, sizes, time: what cells are of by themselves, whatever their path. */
static int make_from_cells(const struct data *d, struct ranking *t)
{
    const struct model_tree *tree = d->plain;
    struct ranking_row row = {.target.kind = t->kind == RANKING_THREADS ? TARGET_THREAD
                                             : t->kind == RANKING_TIME  ? TARGET_SLICE
                                                                        : TARGET_NONE};
    uint32_t count =
        t->kind == RANKING_TIME && model_untimed(d->model) ? 0 : rows_of_cells(d, t->kind);
    int err = 0;

    for (; row.target.number < count && !err; row.target.number++)
        err = row_add(t, &row);
    for (uint32_t i = 0; i < tree->cell_count && count && !err; i++) {
        double *self = t->rows[row_of_cell(model_cell(d->model, tree->cells[i]), t->kind)].self;

        for (int weight = 0; weight < DATA_SUMS; weight++)
            self[weight] += model_cell_weight(d->model, tree->cells[i], (enum model_weight)weight);
    }
    keep_used(d, t);
    return err;
}

static int make_logs(const struct data *d, struct ranking *t)
{
    int err = 0;

    for (uint32_t i = 0; i < d->log_count && !err; i++) {
        struct ranking_row row = {.target = {.number = i}};

        memcpy(row.self, d->logs[i].weight, sizeof(row.self));
        err = row_add(t, &row);
    }
    return err;
}

int ranking_make(const struct data *d, enum ranking_kind kind, const struct target *only,
                 struct ranking *out)
{
    struct making m = {.data = d, .ranking = out, .only = only};
    int err;

    *out = (struct ranking){.kind = kind};
    err = kind == RANKING_LOGS                                ? make_logs(d, out)
          : kind == RANKING_THREADS || ranking_has_bars(kind) ? make_from_cells(d, out)
                                                              : make_from_places(&m);
    if (err) {
        ranking_fini(out);
        return err;
    }
    if (!ranking_has_total(kind))
        for (size_t i = 0; i < out->count; i++)
            memcpy(out->rows[i].total, out->rows[i].self, sizeof(out->rows[i].self));
    ranking_sort(d, out, d->sort, false);
    return 0;
}

void ranking_fini(struct ranking *t)
{
    memory_free(t->rows);
    *t = (struct ranking){.count = 0};
}

/* What qsort is to know. */
struct sorting {
    int weight;
    bool total, own_order;
};

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorting *s = context;
    const struct ranking_row *a = left, *b = right;
    double x = s->total ? a->total[s->weight] : a->self[s->weight];
    double y = s->total ? b->total[s->weight] : b->self[s->weight];

    if (s->own_order)
        return ORDER(a->target.number, b->target.number);
    return x != y ? ORDER(y, x)
           : a->total[MODEL_BYTES] != b->total[MODEL_BYTES]
               ? ORDER(b->total[MODEL_BYTES], a->total[MODEL_BYTES])
           : a->target.number != b->target.number ? ORDER(a->target.number, b->target.number)
                                                  : ORDER(a->target.line, b->target.line);
}

void ranking_sort(const struct data *d, struct ranking *t, enum model_weight weight, bool total)
{
    struct sorting s = {weight == MODEL_ALLOCS, total, ranking_has_bars(t->kind)};

    (void)d;
    if (t->count)
        qsort_r(t->rows, t->count, sizeof(*t->rows), compare_rows, &s);
}

static void thread_name(const struct data *d, uint32_t number, struct buffer *b)
{
    const struct report_thread *thread;

    if (!number) {
        buffer_text(b, "(thread not in the log)");
        return;
    }
    thread = &model_defs(d->model)->threads[number - 1];
    buffer_format(b, "%u", thread->id);
    if (thread->os)
        buffer_format(b, "  os %u", thread->os);
    if (thread->name)
        buffer_format(b, "  %s", thread->name);
}

const char *ranking_name(const struct data *d, const struct ranking *t,
                         const struct ranking_row *row, struct buffer *b)
{
    char time[32];

    if (t->kind == RANKING_OWN_LINES && row->target.kind == TARGET_NONE)
        return MODEL_NEAR_NONE;
    if (t->kind == RANKING_LINES || t->kind == RANKING_OWN_LINES || t->kind == RANKING_TYPES ||
        t->kind == RANKING_METHODS)
        return data_target_text(d, &row->target, b);
    if (t->kind == RANKING_SIZES)
        return range_of_sizes(row->target.number & 0xff, b);
    buffer_clear(b);
    if (t->kind == RANKING_THREADS)
        thread_name(d, row->target.number, b);
    else if (t->kind == RANKING_NAMESPACES)
        buffer_text(b, *namespaces_text(d->namespaces, row->target.number)
                           ? namespaces_text(d->namespaces, row->target.number)
                           : "(none)");
    else if (t->kind == RANKING_TIME)
        buffer_text(b, range_time(row->target.number * model_slice_ns(d->model), time));
    else if (t->kind == RANKING_LOGS)
        buffer_text(b, path_base_name(d->logs[row->target.number].path));
    else
        buffer_text(b, report_module(model_defs(d->model), row->target.number)->name);
    return b->failed ? "?" : b->data;
}
