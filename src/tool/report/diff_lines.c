/*
 * A line has another number in another build as soon as something was written above it. What it is known by there is its
 * method, and its place among the method's other lines that allocate the type.
 */
#include "report/diff_internal.h"

#include <stdlib.h>

#define ALIGNED_MAX (1u << 20) /* pairs of lines; where there are more, numbers decide */

/* A row of one side. */
struct row {
    struct key key;
    uint64_t build; /* of its module; 0: not known */
    uint32_t line;
    int side;
    size_t entry;
    double bytes;
};

/* How the lines up to here are best matched. */
struct step {
    double cost; /* bytes that changed, and one for each line with another number */
    enum { MATCHED, GONE, ADDED } last;
};

bool diff_line_of(const struct diff_log *log, const struct report_row *row,
                  struct report_diff_line *line, struct key *key)
{
    const struct report_defs *d = report_sites_defs(log->sites);

    *key = diff_key_of_text(report_class(d, row->class_number)->name);
    if (!log->among->line(log->among->context, log->number, row->line, line))
        return false;
    *key = diff_key_join(*key, diff_key_of_text(report_method(d, line->method)->name));
    if (line->file)
        *key = diff_key_join(*key, diff_key_of_text(line->file));
    return line->file;
}

/* Rows that have a line. Returns: how many; *out is to be freed, NULL without memory. */
static size_t gather(const struct report_diff *diff, const struct report_diff_logs *sides,
                     struct row **out)
{
    size_t count = 0;

    *out = memory_alloc((diff->count + 1) * sizeof(**out));
    for (size_t i = 0; *out && i < diff->count; i++) {
        struct row *row = &(*out)[count];
        struct report_diff_line line;
        struct report_row of;
        const struct diff_log log = diff_log_of(sides, diff_row_of(diff, sides, i, &of));
        const struct report_defs *d = report_sites_defs(log.sites);
        const struct amount *amounts = &diff->amounts[i * diff->logs];
        const char *build;

        if (!diff_line_of(&log, &of, &line, &row->key))
            continue;
        build = report_module(d, report_method(d, line.method)->module)->mvid;
        row->build = build ? diff_key_of_text(build).a : 0;
        row->line = line.line;
        row->side = log.side;
        row->entry = i;
        row->bytes = diff_mean_of(log.side == REPORT_DIFF_OLD ? amounts : amounts + sides[0].count,
                                  log.among->count);
        count++;
    }
    return count;
}

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->key.a != b->key.a)
        return a->key.a < b->key.a ? -1 : 1;
    if (a->key.b != b->key.b)
        return a->key.b < b->key.b ? -1 : 1;
    if (a->side != b->side)
        return a->side - b->side;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void by_number(struct report_diff *diff, const struct row *old, size_t olds,
                      const struct row *new, size_t news)
{
    for (size_t i = 0, k = 0; i < olds && k < news;) {
        if (old[i].line == new[k].line)
            diff_take(diff, new[k++].entry, old[i++].entry);
        else if (old[i].line < new[k].line)
            i++;
        else
            k++;
    }
}

/* The best of the three ways to this pair of lines. */
static struct step step_to(const struct step *at, size_t width, const struct row *old,
                           const struct row *new)
{
    double change = old->bytes > new->bytes ? old->bytes - new->bytes : new->bytes - old->bytes;
    struct step best = {at[-(ptrdiff_t)width - 1].cost + change + (old->line != new->line),
                        MATCHED};
    double gone = at[-(ptrdiff_t)width].cost + old->bytes, added = at[-1].cost + new->bytes;

    if (gone < best.cost)
        best = (struct step){gone, GONE};
    return added < best.cost ? (struct step){added, ADDED} : best;
}

/* As few bytes as possible changed, lines staying in their order. */
static int by_order(struct report_diff *diff, const struct row *old, size_t olds,
                    const struct row *new, size_t news)
{
    size_t width = news + 1, i = olds, k = news;
    struct step *steps = memory_alloc((olds + 1) * width * sizeof(*steps));

    if (!steps)
        return -ENOMEM;
    steps[0] = (struct step){0, MATCHED};
    for (size_t at = 1; at <= olds; at++)
        steps[at * width] = (struct step){steps[(at - 1) * width].cost + old[at - 1].bytes, GONE};
    for (size_t at = 1; at <= news; at++)
        steps[at] = (struct step){steps[at - 1].cost + new[at - 1].bytes, ADDED};
    for (size_t a = 1; a <= olds; a++)
        for (size_t b = 1; b <= news; b++)
            steps[a * width + b] = step_to(&steps[a * width + b], width, &old[a - 1], &new[b - 1]);
    while (i && k) {
        const struct step *step = &steps[i * width + k];

        i -= step->last != ADDED;
        k -= step->last != GONE;
        if (step->last == MATCHED)
            diff_take(diff, new[k].entry, old[i].entry);
    }
    memory_free(steps);
    return 0;
}

/* Rows of one method and type: those of the old side, then the new one's. */
static int join(struct report_diff *diff, const struct row *rows, size_t count)
{
    bool one_build = rows->build != 0;
    size_t olds = 0;

    for (size_t i = 0; i < count; i++) {
        olds += rows[i].side == REPORT_DIFF_OLD;
        one_build = one_build && rows[i].build == rows->build;
    }
    if (!one_build && olds < count && olds <= ALIGNED_MAX / (count - olds + 1))
        return by_order(diff, rows, olds, rows + olds, count - olds);
    by_number(diff, rows, olds, rows + olds, count - olds);
    return 0;
}

int diff_join_lines(struct report_diff *diff,
                    const struct report_diff_logs sides[REPORT_DIFF_SIDES])
{
    struct row *rows;
    size_t count = gather(diff, sides, &rows);
    int err = rows ? 0 : -ENOMEM;

    if (!err)
        qsort(rows, count, sizeof(*rows), by_place);
    for (size_t at = 0, next; !err && at < count; at = next) {
        for (next = at + 1; next < count && rows[next].key.a == rows[at].key.a &&
                            rows[next].key.b == rows[at].key.b;)
            next++;
        err = join(diff, &rows[at], next - at);
    }
    diff_close_up(diff);
    memory_free(rows);
    return err;
}
