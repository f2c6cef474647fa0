#include "views/print_costs.h"

#include "terminal/text.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOGS    2
#define LABEL   12 /* columns of "10001-20000" */
#define THREADS 12 /* rows */

/* A row of the depths that any of the logs has; log[i] is NULL where that one has none. */
struct depth_row {
    const struct report_depth *any, *log[LOGS];
};

static double mean_of(const struct report_depth *d, bool snapshot)
{
    return d && d->count ? (double)(snapshot ? d->snapshot_ns : d->shadow_ns) / (double)d->count
                         : 0;
}

static bool comes_before(const struct report_depth *a, const struct report_depth *b)
{
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

/* The depth that a log has next, or NULL. */
static const struct report_depth *depth_at(const struct report_checks *c, size_t at)
{
    return at < c->depth_count ? &c->depths[at] : NULL;
}

/* Both lists are by depth: merge them. Returns whether there is a row. */
static bool next_row(const struct report_checks *checks, size_t count, size_t at[LOGS],
                     struct depth_row *row)
{
    const struct report_depth *least = NULL;

    memset(row, 0, sizeof(*row));
    for (size_t i = 0; i < count; i++) {
        const struct report_depth *d = depth_at(&checks[i], at[i]);

        if (d && (!least || comes_before(d, least)))
            least = d;
    }
    for (size_t i = 0; least && i < count; i++) {
        const struct report_depth *d = depth_at(&checks[i], at[i]);

        if (d && !comes_before(least, d)) {
            row->log[i] = d;
            at[i]++;
        }
    }
    row->any = least;
    return least != NULL;
}

static void print_label(const struct depth_row *row, FILE *out)
{
    unsigned long long from = row->any->from, to = row->any->to;
    char frames[48];

    if (from == to)
        snprintf(frames, sizeof(frames), "%llu", from);
    else if (to >= UINT32_MAX - 1)
        snprintf(frames, sizeof(frames), "%llu-", from);
    else
        snprintf(frames, sizeof(frames), "%llu-%llu", from, to);
    fprintf(out, "%-*s", LABEL, frames);
}

/* Columns of a log's figures: stacks, each mean, ratio. Two logs fit side by side in 80 columns. */
struct columns {
    int stacks, mean, ratio;
};

static struct columns columns_of(size_t count, const struct terminal *terminal)
{
    const struct columns one = {15, 15, 12}, wide = {13, 11, 8}, narrow = {10, 9, 6};

    return count == 1 ? one : terminal->width >= TEXT_WIDTH ? wide : narrow;
}

static void print_figures(const struct report_depth *d, const struct columns *columns, FILE *out)
{
    struct text_number stacks, shadow, snapshot;
    double a = mean_of(d, false), b = mean_of(d, true);
    char ratio[32] = "-";

    if (a > 0)
        snprintf(ratio, sizeof(ratio), "%.1f", b / a);
    fprintf(out, "%*s%*s%*s%*s", columns->stacks, d ? text_count(&stacks, d->count) : "-",
            columns->mean, a > 0 ? text_ns(&shadow, a) : "-", columns->mean,
            b > 0 ? text_ns(&snapshot, b) : "-", columns->ratio, ratio);
}

static void print_table(const struct report_checks *checks, size_t count,
                        const struct columns *columns, FILE *out)
{
    size_t at[LOGS] = {0, 0};
    struct depth_row row;

    fprintf(out, "%-*s", LABEL, "Frames");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%*s%*s%*s%*s", columns->stacks, "stacks", columns->mean,
                count > 1 ? "shadow" : "shadow, mean", columns->mean,
                count > 1 ? "snapshot" : "snapshot, mean", columns->ratio, "ratio");
    putc('\n', out);
    while (next_row(checks, count, at, &row)) {
        print_label(&row, out);
        for (size_t i = 0; i < count; i++)
            print_figures(row.log[i], columns, out);
        putc('\n', out);
    }
}

/* Plot: one line for each row of the table, a mark at the logarithm of each mean. */

struct scale {
    int low, high; /* powers of ten, in ns */
    size_t step;   /* columns for each */
};

static bool scale_of(const struct report_checks *checks, size_t count, size_t width,
                     struct scale *s)
{
    double least = 0, most = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < 2 * checks[i].depth_count; row++) {
            double ns = mean_of(&checks[i].depths[row / 2], row % 2);

            if (ns <= 0)
                continue;
            least = least > 0 && least < ns ? least : ns;
            most = ns > most ? ns : most;
        }
    if (least <= 0)
        return false;
    s->low = (int)floor(log10(least));
    s->high = (int)ceil(log10(most));
    s->high += s->high == s->low;
    s->step = (width - LABEL - 8) / (size_t)(s->high - s->low);
    return s->step >= 4;
}

static void mark(char *line, const struct scale *s, double ns, char letter)
{
    char *at;

    if (ns <= 0)
        return;
    at = &line[(size_t)((log10(ns) - s->low) * (double)s->step + 0.5)];
    *at = *at == ' ' || *at == ':' || *at == letter ? letter : '*';
}

static void print_line(const struct scale *s, const struct depth_row *row, size_t count, FILE *out)
{
    static const char letters[LOGS][2] = {{'o', 'x'}, {'O', 'X'}};
    char line[512];
    size_t last = (size_t)(s->high - s->low) * s->step;

    memset(line, ' ', sizeof(line));
    for (size_t at = 0; at <= last; at += s->step)
        line[at] = ':';
    for (size_t i = 0; i < count; i++) {
        mark(line, s, mean_of(row->log[i], false), letters[i][0]);
        mark(line, s, mean_of(row->log[i], true), letters[i][1]);
    }
    line[last + 1] = '\0';
    print_label(row, out);
    fprintf(out, "%s\n", line);
}

static void print_scale(const struct scale *s, FILE *out)
{
    struct text_number n;

    fprintf(out, "%*s", LABEL, "");
    for (int power = s->low; power <= s->high; power++) {
        const char *text = text_ns(&n, pow(10, power));

        fprintf(out, "%-*s", power < s->high ? (int)s->step : 0, text);
    }
    putc('\n', out);
}

void print_costs_by_depth(const struct report_checks *checks, size_t count,
                          const struct terminal *terminal, FILE *out)
{
    const struct columns columns = columns_of(count, terminal);
    size_t at[LOGS] = {0, 0}, rows = 0;
    struct depth_row row;
    struct scale scale;

    for (size_t i = 0; i < count; i++)
        rows += checks[i].depth_count;
    if (!rows)
        return;
    putc('\n', out);
    print_table(checks, count, &columns, out);
    if (!scale_of(checks, count, terminal->width, &scale))
        return;
    fprintf(out, "\n%-*s%s\n", LABEL, "Mean cost",
            count > 1 ? "o x shadow stack and snapshot of the first log, O X of the second, * of "
                        "several"
                      : "o shadow stack, x snapshot");
    while (next_row(checks, count, at, &row))
        print_line(&scale, &row, count, out);
    print_scale(&scale, out);
}

/* Threads. */

static uint64_t different(const struct report_thread_checks *t)
{
    return t->compared - t->equal;
}

static int by_comparisons(const void *left, const void *right, void *context)
{
    const struct report_checks *c = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct report_thread_checks *x = &c->threads[a], *y = &c->threads[b];

    return ORDERS(ORDER(different(y), different(x)), ORDER(y->compared, x->compared), ORDER(a, b));
}

size_t print_costs_order(const struct report_checks *c, uint32_t **out)
{
    uint32_t *order = memory_alloc((c->thread_count + 1) * sizeof(*order));
    size_t count = 0;

    *out = order;
    for (size_t i = 0; order && i < c->thread_count; i++)
        if (c->threads[i].compared || c->threads[i].refused)
            order[count++] = (uint32_t)i;
    if (count) {
        void *context = (void *)(uintptr_t)c; /* by_comparisons only reads it */

        qsort_r(order, count, sizeof(*order), by_comparisons, context);
    }
    return count;
}

static void print_thread(const struct report_checks *c, uint32_t number, size_t label, FILE *out)
{
    const struct report_thread_checks *t = &c->threads[number];
    const struct log_thread_def *thread = &c->defs.threads[number];
    struct text_number compared, differ, refused, shadow, snapshot;
    double count = t->compared ? (double)t->compared : 1;
    size_t used;
    char name[160];

    snprintf(name, sizeof(name), "%u%s%.100s", thread->id, thread->name ? " " : "",
             thread->name ? thread->name : "");
    used = text_elide(out, name, label - 1);
    fprintf(out, "%*s%13s%11s%11s%12s%12s\n", (int)(label - used), "",
            text_count(&compared, t->compared), text_count(&differ, different(t)),
            text_count(&refused, t->refused),
            t->shadow_ns ? text_ns(&shadow, (double)t->shadow_ns / count) : "-",
            t->snapshot_ns ? text_ns(&snapshot, (double)t->snapshot_ns / count) : "-");
}

void print_costs_by_thread(const struct report_checks *c, const struct terminal *terminal,
                           FILE *out)
{
    uint32_t *order;
    size_t count = print_costs_order(c, &order);
    size_t label = terminal->width >= 84 ? 25 : terminal->width - 59;

    if (count) {
        fprintf(out, "\n%-*s%13s%11s%11s%12s%12s\n", (int)label, "Thread", "compared", "different",
                "refused", "shadow", "snapshot");
        for (size_t i = 0; i < count && i < THREADS; i++)
            print_thread(c, order[i], label, out);
        if (count > THREADS)
            fprintf(out, "... %zu more threads\n", count - THREADS);
    }
    memory_free(order);
}
