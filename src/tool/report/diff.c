#include "report/diff.h"

#include "base/order.h"
#include "report/diff_inlined.h"
#include "report/diff_lines.h"

struct change {
    struct report_change change;
    bool noise; /* may have come from what the logs of one side differ by */
};

struct report_diff {
    struct change *changes;
    size_t count;
    bool several;
    uint64_t inlined; /* rows that were joined with others */
};

/* ---- rows ---- */

static struct diff_key thread_key(const struct report_defs *d, uint32_t thread)
{
    const struct report_thread *t = thread ? &d->threads[thread - 1] : NULL;

    if (!t)
        return diff_key_of_text("thread not recorded");
    return t->name ? diff_key_of_text(t->name)
                   : diff_key_of_number(diff_key_of_text("thread"), t->id);
}

static struct diff_key row_key(const struct diff_log *log, const struct report_row *row,
                               enum report_by by, bool exact, const struct diff_key *paths)
{
    const struct report_defs *d = report_sites_defs(log->sites);
    struct diff_key key = diff_key_of_text("no frame");
    struct report_diff_line line;

    switch (by) {
    case REPORT_BY_SITE:
        key = diff_key_join(paths[row->path],
                            diff_key_of_text(report_class(d, row->class_number)->name));
        return exact ? diff_key_of_number(key, (uint32_t)row->il) : key;
    case REPORT_BY_TYPE:
        return diff_key_of_text(report_class(d, row->class_number)->name);
    case REPORT_BY_METHOD:
        return row->path == REPORT_PATH_EMPTY
                   ? key
                   : diff_key_of_text(report_method(d, row->method)->name);
    case REPORT_BY_MODULE:
        return row->path == REPORT_PATH_EMPTY
                   ? key
                   : diff_key_of_text(report_module(d, row->module)->name);
    case REPORT_BY_LINE: /* not exact, it is one side's: diff_join_lines finds its like */
        return diff_line_of(log, row, &line, &key)
                   ? diff_key_of_number(exact ? key : diff_key_of_number(key, (uint64_t)log->side),
                                        line.line)
                   : key;
    default:
        return thread_key(d, row->thread);
    }
}

static int add_log(struct diff_rows *rows, struct diff_paths *paths, size_t log, enum report_by by,
                   bool exact)
{
    const struct diff_log from = diff_log_of(rows, log);
    int err =
        by == REPORT_BY_SITE ? diff_paths_make(paths, report_sites_defs(from.sites), exact) : 0;

    for (size_t i = 0; !err && i < report_sites_count(from.sites); i++) {
        struct report_row row;
        struct diff_amount *to;
        struct diff_key key;

        report_sites_row(from.sites, i, &row);
        key = row_key(&from, &row, by, exact, paths->keys);
        to = diff_rows_add(rows, &key);
        if (!to) {
            err = -ENOMEM;
            break;
        }
        to += log;
        to->allocs += row.allocs;
        to->bytes += row.bytes;
        to->low += row.bytes_range.low;
        to->high += row.bytes_range.high;
        report_spread_add(&to->spread, &row.spread);
        to->row = to->row == REPORT_DIFF_NONE ? i : to->row;
    }
    memory_free(paths->keys);
    paths->keys = NULL;
    if (exact)
        diff_paths_fini(paths); /* else they are wanted for what is inlined */
    return err;
}

/* The rows of all logs, by what they have in common. paths: zeroed, one for each log. */
static int make_rows(struct diff_rows *rows, struct diff_paths *paths, enum report_by by,
                     bool exact, uint64_t *inlined)
{
    int err = 0;

    for (size_t log = 0; !err && log < rows->logs; log++)
        err = add_log(rows, &paths[log], log, by, exact);
    if (!err && by == REPORT_BY_SITE && !exact)
        err = diff_join_inlined(rows, paths, inlined);
    if (!err && by == REPORT_BY_LINE && !exact)
        err = diff_join_lines(rows);
    return err;
}

/* ---- sides ---- */

/* One side of a row, from what its logs have of it. */
static void join_side(const struct diff_amount *logs, size_t count, struct report_diff_side *side)
{
    double allocs = 0, bytes = 0, min = 0, max = 0;

    *side = (struct report_diff_side){.row = REPORT_DIFF_NONE};
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
        if (a->row != REPORT_DIFF_NONE &&
            (side->row == REPORT_DIFF_NONE || a->bytes > logs[side->log].bytes)) {
            side->row = a->row;
            side->log = i;
        }
    }
    side->spread = max - min;
    side->allocs = count == 1 ? logs->allocs : (uint64_t)(allocs / (double)count + 0.5);
    side->bytes = count == 1 ? logs->bytes : (uint64_t)(bytes / (double)count + 0.5);
}

/* Rows are a log's largest first: the earlier of two, and the newer log's before the older's. */
static size_t rank(const struct report_change *c)
{
    size_t newer = c->side[REPORT_DIFF_NEW].row, older = c->side[REPORT_DIFF_OLD].row;

    return newer != REPORT_DIFF_NONE ? 2 * newer : 2 * older + 1;
}

static int by_change(const void *left, const void *right)
{
    const struct change *l = left, *r = right;
    const struct report_diff_side *a = l->change.side, *b = r->change.side;
    uint64_t bytes_a = report_distance(a[0].bytes, a[1].bytes),
             bytes_b = report_distance(b[0].bytes, b[1].bytes);
    uint64_t allocs_a = report_distance(a[0].allocs, a[1].allocs);
    uint64_t allocs_b = report_distance(b[0].allocs, b[1].allocs);

    if (l->noise != r->noise)
        return ORDER(l->noise, r->noise);
    if (bytes_a != bytes_b)
        return ORDER(bytes_b, bytes_a);
    return allocs_a != allocs_b ? ORDER(allocs_b, allocs_a)
                                : ORDER(rank(&l->change), rank(&r->change));
}

static int join(struct report_diff *diff, const struct diff_rows *rows)
{
    diff->changes = memory_zalloc(rows->count + 1, sizeof(*diff->changes));
    if (!diff->changes)
        return -ENOMEM;
    diff->count = rows->count;
    diff->several = rows->logs > REPORT_DIFF_SIDES;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_amount *logs = diff_amounts(rows, i);
        struct change *c = &diff->changes[i];

        for (int side = 0; side < REPORT_DIFF_SIDES; side++) {
            join_side(logs, rows->sides[side].count, &c->change.side[side]);
            logs += rows->sides[side].count;
        }
        c->noise = diff->several && !report_change_certain(&c->change);
    }
    qsort(diff->changes, diff->count, sizeof(*diff->changes), by_change);
    return 0;
}

int report_diff_new(const struct report_diff_logs sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out)
{
    struct report_diff *diff = memory_zalloc(1, sizeof(*diff));
    struct diff_paths *paths;
    struct diff_rows rows;
    int err = -ENOMEM;

    *out = NULL;
    diff_rows_init(&rows, sides);
    paths = memory_zalloc(rows.logs, sizeof(*paths));
    if (diff && paths)
        err = make_rows(&rows, paths, by, exact, &diff->inlined);
    for (size_t log = 0; paths && log < rows.logs; log++)
        diff_paths_fini(&paths[log]);
    memory_free(paths);
    if (!err)
        err = join(diff, &rows);
    diff_rows_fini(&rows);
    if (!err)
        *out = diff;
    else
        report_diff_free(diff);
    return err;
}

void report_diff_free(struct report_diff *diff)
{
    if (diff)
        memory_free(diff->changes);
    memory_free(diff);
}

bool report_diff_several(const struct report_diff *diff)
{
    return diff->several;
}

size_t report_diff_count(const struct report_diff *diff)
{
    return diff->count;
}

const struct report_change *report_diff_change(const struct report_diff *diff, size_t index)
{
    return &diff->changes[index].change;
}

void report_diff_sum(const struct report_diff *diff, struct report_diff_sum *out)
{
    *out = (struct report_diff_sum){0, 0, {0, 0}, diff->inlined};
    for (size_t i = 0; i < diff->count; i++) {
        const struct report_diff_side *old = &diff->changes[i].change.side[REPORT_DIFF_OLD];
        const struct report_diff_side *new = &diff->changes[i].change.side[REPORT_DIFF_NEW];

        if (new->row == REPORT_DIFF_NONE)
            out->only[REPORT_DIFF_OLD]++;
        else if (old->row == REPORT_DIFF_NONE)
            out->only[REPORT_DIFF_NEW]++;
        else if (old->allocs == new->allocs && old->bytes == new->bytes)
            out->same++;
        else
            out->changed++;
    }
}

bool report_change_certain(const struct report_change *change)
{
    const struct report_diff_side *a = &change->side[0], *b = &change->side[1];
    double apart = a->spread > b->spread ? a->spread : b->spread;

    return a->high + apart < b->low || b->high + apart < a->low;
}
