#include "model/diff.h"

#include "base/order.h"
#include "model/diff_inlined.h"
#include "model/diff_lines.h"

struct change {
    struct diff_change change;
    bool noise; /* may have come from what the logs of one side differ by */
};

struct diff {
    struct change *changes;
    size_t count;
    bool several;
    uint64_t inlined; /* rows that were joined with others */
};

/* ---- rows ---- */

static struct diff_key thread_key(const struct log_defs *d, uint32_t thread)
{
    const struct log_thread_def *t = thread ? &d->threads[thread - 1] : NULL;

    if (!t)
        return diff_key_of_text("thread not recorded");
    return t->name ? diff_key_of_text(t->name)
                   : diff_key_of_number(diff_key_of_text("thread"), t->id);
}

static enum model_key key_of(const struct diff_rows *rows)
{
    return diff_log_of(rows, 0).rows->options.key;
}

static bool is_of_lines(enum model_key key)
{
    return key == MODEL_BY_LINE_TYPE || key == MODEL_BY_OWN;
}

static struct diff_key row_key(const struct diff_log *log, const struct model_row *row, bool exact,
                               const struct diff_key *paths)
{
    const struct log_defs *d = log->defs;
    struct diff_key key = diff_key_of_text("no frame");

    switch (log->rows->options.key) {
    case MODEL_BY_SITE:
        key = diff_key_join(paths[row->what],
                            diff_key_of_text(log_class(d, row->class_number)->name));
        return exact ? diff_key_of_number(key, (uint32_t)row->il) : key;
    case MODEL_BY_TYPE:
        return diff_key_of_text(log_class(d, row->what)->name);
    case MODEL_BY_METHOD:
        return row->what ? diff_key_of_text(log_method(d, row->what - 1)->name) : key;
    case MODEL_BY_MODULE:
        return row->what ? diff_key_of_text(log_module(d, row->what - 1)->name) : key;
    case MODEL_BY_NAMESPACE:
        return row->what ? diff_key_of_text(namespaces_text(&log->rows->names, row->what - 1))
                         : key;
    case MODEL_BY_LINE_TYPE: /* not exact, it is one side's: diff_join_lines finds its like */
    case MODEL_BY_OWN:
        return diff_line_of(log, row, &key)
                   ? diff_key_of_number(exact ? key : diff_key_of_number(key, (uint64_t)log->side),
                                        diff_line_number(row->place))
                   : key;
    default:
        return thread_key(d, row->what);
    }
}

static void add_row(struct diff_amount *to, const struct diff_log *log, size_t number)
{
    double weights[MODEL_WEIGHTS];
    struct report_amount range;

    model_row_weights(log->rows, &log->rows->rows[number], false, weights);
    range = report_estimate_interval(weights[MODEL_BYTES], weights[MODEL_BYTES_VARIANCE],
                                     weights[MODEL_SEEN_BYTES]);
    to->allocs += report_whole(weights[MODEL_ALLOCS]);
    to->bytes += report_whole(weights[MODEL_BYTES]);
    to->low += range.low;
    to->high += range.high;
    report_spread_add(&to->spread, &(struct report_spread){weights[MODEL_BYTES_VARIANCE],
                                                           weights[MODEL_ALLOCS_VARIANCE],
                                                           weights[MODEL_SEEN_BYTES]});
    to->row = to->row == DIFF_NONE ? number : to->row;
}

static int add_log(struct diff_rows *rows, struct diff_paths *paths, size_t log, bool exact)
{
    const struct diff_log from = diff_log_of(rows, log);
    int err = key_of(rows) == MODEL_BY_SITE ? diff_paths_make(paths, from.defs, exact) : 0;

    for (size_t i = 0; !err && i < from.rows->count; i++) {
        struct diff_key key = row_key(&from, &from.rows->rows[i], exact, paths->keys);
        struct diff_amount *to = diff_rows_add(rows, &key);

        if (to)
            add_row(to + log, &from, i);
        else
            err = -ENOMEM;
    }
    memory_free(paths->keys);
    paths->keys = NULL;
    if (exact)
        diff_paths_fini(paths); /* else they are wanted for what is inlined */
    return err;
}

/* The rows of all logs, by what they have in common. paths: zeroed, one for each log. */
static int make_rows(struct diff_rows *rows, struct diff_paths *paths, bool exact,
                     uint64_t *inlined)
{
    int err = 0;

    for (size_t log = 0; !err && log < rows->logs; log++)
        err = add_log(rows, &paths[log], log, exact);
    if (!err && !exact && key_of(rows) == MODEL_BY_SITE)
        err = diff_join_inlined(rows, paths, inlined);
    if (!err && !exact && is_of_lines(key_of(rows)))
        err = diff_join_lines(rows);
    if (!err && !exact && is_of_lines(key_of(rows)))
        err = diff_join_unlined(rows, inlined);
    return err;
}

/* ---- sides ---- */

/* One side of a row, from what its logs have of it. */
static void join_side(const struct diff_amount *logs, size_t count, struct diff_side *side)
{
    double allocs = 0, bytes = 0, min = 0, max = 0;

    *side = (struct diff_side){.row = DIFF_NONE};
    for (size_t i = 0; i < count; i++) {
        const struct diff_amount *a = &logs[i];
        double value = (double)a->bytes;

        allocs += (double)a->allocs;
        bytes += value;
        side->mixed |= report_estimate_mixes(value, a->spread.bytes_variance, (double)a->allocs,
                                             a->spread.allocs_variance);
        min = i == 0 || value < min ? value : min;
        max = i == 0 || value > max ? value : max;
        side->low = i == 0 || a->low < side->low ? a->low : side->low;
        side->high = i == 0 || a->high > side->high ? a->high : side->high;
        if (a->row != DIFF_NONE && (side->row == DIFF_NONE || a->bytes > logs[side->log].bytes)) {
            side->row = a->row;
            side->log = i;
        }
    }
    side->spread = max - min;
    side->allocs = count == 1 ? logs->allocs : (uint64_t)(allocs / (double)count + 0.5);
    side->bytes = count == 1 ? logs->bytes : (uint64_t)(bytes / (double)count + 0.5);
}

/* Rows are a log's largest first: the earlier of two, and the newer log's before the older's. */
static size_t rank(const struct diff_change *c)
{
    size_t newer = c->side[DIFF_NEW].row, older = c->side[DIFF_OLD].row;

    return newer != DIFF_NONE ? 2 * newer : 2 * older + 1;
}

static int by_change(const void *left, const void *right)
{
    const struct change *l = left, *r = right;
    const struct diff_side *a = l->change.side, *b = r->change.side;
    uint64_t bytes_a = diff_distance(a[0].bytes, a[1].bytes),
             bytes_b = diff_distance(b[0].bytes, b[1].bytes);
    uint64_t allocs_a = diff_distance(a[0].allocs, a[1].allocs);
    uint64_t allocs_b = diff_distance(b[0].allocs, b[1].allocs);

    return ORDERS(ORDER(l->noise, r->noise), ORDER(bytes_b, bytes_a), ORDER(allocs_b, allocs_a),
                  ORDER(rank(&l->change), rank(&r->change)));
}

static int join(struct diff *diff, const struct diff_rows *rows)
{
    diff->changes = memory_zalloc(rows->count + 1, sizeof(*diff->changes));
    if (!diff->changes)
        return -ENOMEM;
    diff->count = rows->count;
    diff->several = rows->logs > DIFF_SIDES;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_amount *logs = diff_amounts(rows, i);
        struct change *c = &diff->changes[i];

        for (int side = 0; side < DIFF_SIDES; side++) {
            join_side(logs, rows->sides[side].count, &c->change.side[side]);
            logs += rows->sides[side].count;
        }
        c->noise = diff->several && !diff_change_certain(&c->change);
    }
    qsort(diff->changes, diff->count, sizeof(*diff->changes), by_change);
    return 0;
}

int diff_new(const struct diff_logs sides[DIFF_SIDES], bool exact, struct diff **out)
{
    struct diff *diff = memory_zalloc(1, sizeof(*diff));
    struct diff_paths *paths;
    struct diff_rows rows;
    int err = -ENOMEM;

    *out = NULL;
    diff_rows_init(&rows, sides);
    paths = memory_zalloc(rows.logs, sizeof(*paths));
    if (diff && paths)
        err = make_rows(&rows, paths, exact, &diff->inlined);
    for (size_t log = 0; paths && log < rows.logs; log++)
        diff_paths_fini(&paths[log]);
    memory_free(paths);
    if (!err)
        err = join(diff, &rows);
    diff_rows_fini(&rows);
    if (!err)
        *out = diff;
    else
        diff_free(diff);
    return err;
}

void diff_free(struct diff *diff)
{
    if (diff)
        memory_free(diff->changes);
    memory_free(diff);
}

bool diff_several(const struct diff *diff)
{
    return diff->several;
}

size_t diff_count(const struct diff *diff)
{
    return diff->count;
}

const struct diff_change *diff_change(const struct diff *diff, size_t index)
{
    return &diff->changes[index].change;
}

void diff_sum(const struct diff *diff, struct diff_sum *out)
{
    *out = (struct diff_sum){0, 0, {0, 0}, diff->inlined};
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_side *old = &diff->changes[i].change.side[DIFF_OLD];
        const struct diff_side *new = &diff->changes[i].change.side[DIFF_NEW];

        if (new->row == DIFF_NONE)
            out->only[DIFF_OLD]++;
        else if (old->row == DIFF_NONE)
            out->only[DIFF_NEW]++;
        else if (old->allocs == new->allocs && old->bytes == new->bytes)
            out->same++;
        else
            out->changed++;
    }
}

bool diff_change_certain(const struct diff_change *change)
{
    const struct diff_side *a = &change->side[0], *b = &change->side[1];
    double apart = a->spread > b->spread ? a->spread : b->spread;

    return a->high + apart < b->low || b->high + apart < a->low;
}
