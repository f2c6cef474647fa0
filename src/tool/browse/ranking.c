#include "browse/ranking.h"

#include "model/rows.h"
#include "views/ranges.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ranking_has_total(enum model_key key)
{
    return key == MODEL_BY_METHOD || key == MODEL_BY_LINE || key == MODEL_BY_OWN ||
           key == MODEL_BY_MODULE || key == MODEL_BY_NAMESPACE;
}

bool ranking_has_bars(enum model_key key)
{
    return key == MODEL_BY_SIZE || key == MODEL_BY_SLICE;
}

static int row_add(struct ranking *t, const struct ranking_row *row)
{
    if (!array_reserve(&t->rows, &t->capacity, t->count + 1))
        return -ENOMEM;
    t->rows[t->count++] = *row;
    return 0;
}

/* ---- rows of the model ---- */

static struct target target_of(const struct data *d, enum model_key key,
                               const struct model_row *row)
{
    const uint32_t number = row->what ? row->what - 1 : 0;
    struct target target;

    switch (key) {
    case MODEL_BY_TYPE:
        return (struct target){.kind = TARGET_TYPE, .number = row->what};
    case MODEL_BY_MODULE:
        return (struct target){.kind = row->what ? TARGET_MODULE : TARGET_NONE, .number = number};
    case MODEL_BY_NAMESPACE:
        if (!row->what)
            return (struct target){.kind = TARGET_NONE};
        return (struct target){.kind = TARGET_NAMESPACE, /* the rows have their own numbers */
                               .number = namespaces_of(d->namespaces, row->place->method)};
    case MODEL_BY_THREAD:
        return (struct target){.kind = TARGET_THREAD, .number = row->what};
    case MODEL_BY_SLICE:
        return (struct target){.kind = TARGET_SLICE, .number = row->what};
    case MODEL_BY_SIZE:
        return (struct target){.number = (uint32_t)row->heap << 8 | row->what};
    case MODEL_BY_LINE:
    case MODEL_BY_OWN:
    case MODEL_BY_METHOD:
        break;
    default:
        return (struct target){.number = row->what};
    }
    if (!row->what || row->place->kind != MODEL_PLACE_METHOD)
        return (struct target){.kind = TARGET_NONE};
    data_target(row->place, &target);
    if (key != MODEL_BY_METHOD && row->place->file)
        target.kind = TARGET_LINE;
    return target;
}

/* Of methods those of one module or namespace. */
static bool is_meant(const struct data *d, const struct target *only, const struct model_row *row)
{
    if (!only)
        return true;
    if (!row->what)
        return false;
    return only->number == (only->kind == TARGET_MODULE
                                ? log_method(model_defs(d->model), row->what - 1)->module
                                : namespaces_of(d->namespaces, row->what - 1));
}

/* Of time all that the filter lets through, for its gaps; of others what has anything. */
static bool is_shown(const struct data *d, const struct model_rows *rows,
                     const struct model_row *row)
{
    const struct model_filter *f = &d->filter->model;

    if (rows->options.key == MODEL_BY_SLICE)
        return !model_untimed(d->model) &&
               (!f->has_slices || (row->what >= f->from_slice && row->what < f->to_slice));
    return model_row_self(rows, row, MODEL_ALLOCS) > 0 ||
           model_row_total(rows, row, MODEL_ALLOCS) > 0;
}

static void weigh(const struct model_rows *rows, const struct model_row *from,
                  struct ranking_row *to)
{
    for (int w = 0; w < DATA_SUMS; w++) {
        to->self[w] = model_row_self(rows, from, (enum model_weight)w);
        to->total[w] = model_row_total(rows, from, (enum model_weight)w);
    }
}

static int make_rows(const struct data *d, struct ranking *t, const struct target *only)
{
    const struct model_rows_options options = {.key = t->key, .join_methods = true};
    struct model_rows rows;
    int err = model_rows_init(&rows, d->plain, &options);

    for (size_t i = 0; !err && i < rows.count; i++) {
        const struct model_row *from = &rows.rows[i];
        struct ranking_row row = {.target = target_of(d, t->key, from)};

        if (!is_meant(d, only, from) || !is_shown(d, &rows, from) ||
            (t->key == MODEL_BY_LINE && row.target.kind == TARGET_NONE))
            continue;
        if (row.target.kind == TARGET_NAMESPACE && row.target.number == NAMESPACES_NONE)
            err = -ENOMEM;
        if (from->place)
            row.place = *from->place;
        row.own = t->key != MODEL_BY_TYPE && row.place.own;
        row.lack = model_row_lack(&rows, from);
        weigh(&rows, from, &row);
        err = err ? err : row_add(t, &row);
    }
    model_rows_fini(&rows);
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

int ranking_make(const struct data *d, enum view_kind kind, const struct target *only,
                 struct ranking *out)
{
    int err;

    *out = (struct ranking){.kind = kind,
                            .key = kind == RANKING_LOGS ? MODEL_BY_NOTHING : view_key(kind)};
    err = kind == RANKING_LOGS ? make_logs(d, out) : make_rows(d, out, only);
    if (err) {
        ranking_fini(out);
        return err;
    }
    if (!ranking_has_total(out->key))
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
    return ORDERS(ORDER(y, x), ORDER(b->total[MODEL_BYTES], a->total[MODEL_BYTES]),
                  ORDER(a->target.number, b->target.number), ORDER(a->target.line, b->target.line),
                  ORDER(a->target.line_last, b->target.line_last));
}

void ranking_sort(const struct data *d, struct ranking *t, enum model_weight weight, bool total)
{
    struct sorting s = {weight == MODEL_ALLOCS, total, ranking_has_bars(t->key)};

    (void)d;
    if (t->count)
        qsort_r(t->rows, t->count, sizeof(*t->rows), compare_rows, &s);
}

static void thread_name(const struct data *d, uint32_t number, struct buffer *b)
{
    const struct log_thread_def *thread;

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

/* Without a line the reason is behind the method. */
static const char *target_name(const struct data *d, const struct ranking_row *row,
                               struct buffer *b)
{
    const char *text = data_target_text(d, &row->target, b);

    if (row->lack == MODEL_NEAR_LACKS_NOTHING)
        return text;
    buffer_char(b, ' ');
    buffer_text(b, model_near_words[row->lack]);
    return b->failed ? "?" : b->data;
}

const char *ranking_name(const struct data *d, const struct ranking *t,
                         const struct ranking_row *row, struct buffer *b)
{
    const struct log_defs *defs = model_defs(d->model);
    const uint32_t number = row->target.number;
    char time[32];

    buffer_clear(b);
    switch (t->key) {
    case MODEL_BY_TYPE:
    case MODEL_BY_METHOD:
    case MODEL_BY_LINE:
    case MODEL_BY_OWN:
        if (row->target.kind != TARGET_NONE)
            return target_name(d, row, b);
        if (t->key == MODEL_BY_OWN)
            return MODEL_NEAR_NONE;
        return row->place.name ? row->place.name : log_no_frame(defs);
    case MODEL_BY_SIZE:
        return range_of_sizes(number & 0xff, b);
    case MODEL_BY_THREAD:
        thread_name(d, number, b);
        break;
    case MODEL_BY_SLICE:
        buffer_text(b, range_time(number * model_slice_ns(d->model), time));
        break;
    case MODEL_BY_MODULE:
        if (row->target.kind == TARGET_NONE)
            return log_no_frame(defs);
        buffer_text(b, log_module(defs, number)->name);
        break;
    case MODEL_BY_NAMESPACE:
        if (row->target.kind == TARGET_NONE)
            return log_no_frame(defs);
        buffer_text(b, *namespaces_text(d->namespaces, number)
                           ? namespaces_text(d->namespaces, number)
                           : "(none)");
        break;
    default:
        buffer_text(b, t->kind == RANKING_LOGS ? path_base_name(d->logs[number].path) : "");
        break;
    }
    return b->failed ? "?" : b->data;
}
