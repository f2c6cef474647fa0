#include "cli/print_compare.h"

#include "cli/print_costs.h"
#include "cli/print_example.h"
#include "cli/print_profile.h"
#include "cli/print_forms.h"
#include "cli/print_native.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <stdio.h>
#include <string.h>

/* Text: a table with one column for each log. */

#define PROFILE_METHODS 20 /* shown of sampled stacks */

struct table {
    const struct report_checks *checks;
    size_t count;
    size_t label, column; /* columns of a row's name, and of each log's value */
    FILE *out;
};

static struct table table_of(const struct report_checks *checks, size_t count,
                             const struct terminal *terminal, FILE *out)
{
    size_t label = count > 1 && terminal->width < TEXT_WIDTH ? 28 : 36;

    return (struct table){checks, count, label, count > 1 ? terminal->width < 92 ? 26 : 28 : 20,
                          out};
}

static void row_begin(const struct table *t, const char *indent, const char *label)
{
    size_t used = strlen(indent);

    fputs(indent, t->out);
    used += text_elide(t->out, label, t->label - used - 1);
    fprintf(t->out, "%*s", (int)(t->label - used), "");
}

static void row_value(const struct table *t, const char *text)
{
    fprintf(t->out, "%*s", (int)t->column, text);
}

/* A row of counts, found by the member's offset in struct report_checks. */
static void row_count(const struct table *t, const char *indent, const char *label, size_t offset)
{
    struct text_number n;

    row_begin(t, indent, label);
    for (size_t i = 0; i < t->count; i++) {
        const void *at = (const char *)&t->checks[i] + offset;

        row_value(t, text_count(&n, *(const uint64_t *)at));
    }
    putc('\n', t->out);
}

/* Has any of the logs such a count? */
static bool any_of(const struct table *t, size_t offset)
{
    uint64_t any = 0;

    for (size_t i = 0; i < t->count; i++)
        any |= *(const uint64_t *)(const void *)((const char *)&t->checks[i] + offset);
    return any != 0;
}

static json_t *tally(const struct report_checks *c, size_t offset)
{
    const void *at = (const char *)c + offset;

    return *(json_t *const *)at;
}

/*
 * A row for every name that any of the logs has in the tally at `offset`, if it is not 0 in all of
 * them. Returns: how many.
 */
static size_t rows_of_tally(const struct table *t, const char *indent, size_t offset,
                            const char *(*explain)(const char *name))
{
    const char *key;
    json_t *count;
    struct text_number n;
    size_t rows = 0;
    char label[80];

    for (size_t log = 0; log < t->count; log++) {
        json_object_foreach(tally(&t->checks[log], offset), key, count)
        {
            bool before = log > 0 && json_object_get(tally(&t->checks[0], offset), key);
            json_int_t sum = 0;

            for (size_t i = 0; i < t->count; i++)
                sum += json_integer_value(json_object_get(tally(&t->checks[i], offset), key));
            if (before || sum == 0)
                continue;
            snprintf(label, sizeof(label), "%.40s%s%s", key, explain && *explain(key) ? " " : "",
                     explain ? explain(key) : "");
            row_begin(t, indent, label);
            for (size_t i = 0; i < t->count; i++) {
                json_t *value = json_object_get(tally(&t->checks[i], offset), key);

                row_value(t, text_count(&n, (uint64_t)json_integer_value(value)));
            }
            putc('\n', t->out);
            rows++;
        }
    }
    return rows;
}

/* HRESULTs that DoStackSnapshot gives. */
static const char *explain_refusal(const char *name)
{
    static const struct {
        const char *code, *text;
    } known[] = {
        {"0x80131360", "(unsafe then)"},    {"0x80004005", "(no managed frame)"},
        {"0x8013135e", "(no such thread)"}, {"0x8013135f", "(unmanaged context)"},
        {"0x80131361", "(stopped)"},        {"0x80131363", "(not allowed here)"},
        {"0x80131364", "(unsafe then)"},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcasecmp(known[i].code, name) == 0)
            return known[i].text;
    return "";
}

static void row_cost(const struct table *t, const char *label, size_t offset)
{
    char text[64];

    row_begin(t, "  ", label);
    for (size_t i = 0; i < t->count; i++) {
        const void *at = (const char *)&t->checks[i] + offset;
        const struct report_histogram *h = at;
        struct text_number mean, median, high;

        if (h->count)
            snprintf(text, sizeof(text), "%s  %s  %s", text_ns(&mean, report_mean(h)),
                     text_ns(&median, (double)report_quantile(h, 0.5)),
                     text_ns(&high, (double)report_quantile(h, 0.99)));
        row_value(t, h->count ? text : "-");
    }
    putc('\n', t->out);
}

static void print_hooks(const struct table *t)
{
    struct text_number n;
    char text[64];

    row_begin(t, "  ", "hooks: calls");
    for (size_t i = 0; i < t->count; i++)
        row_value(t, t->checks[i].has_hooks ? text_count(&n, t->checks[i].hook_calls) : "-");
    putc('\n', t->out);
    row_begin(t, "  ", "hooks: a pair of enter and leave");
    for (size_t i = 0; i < t->count; i++) {
        snprintf(text, sizeof(text), "%.1f ns", t->checks[i].hook_ns_per_pair);
        row_value(t, t->checks[i].hook_ns_per_pair > 0 ? text : "-");
    }
    putc('\n', t->out);
}

static void print_sentence(const struct report_checks *c, FILE *out)
{
    uint64_t shadow = report_quantile(&c->shadow, 0.5),
             snapshot = report_quantile(&c->snapshot, 0.5);
    struct text_number a, b, n, m;

    if (!c->compared)
        fputs(c->refused && c->refused == c->taken
                  ? "Nothing was compared: every snapshot was refused"
              : c->taken
                  ? "Nothing was compared: the stacks of this log are snapshots themselves"
                  : "Nothing was compared: the log has no comparison (record with --check N)",
              out);
    else if (c->equal == c->compared)
        fprintf(out, "The shadow stack equalled the snapshot in all of %s comparisons",
                text_count(&a, c->compared));
    else
        fprintf(
            out,
            "The shadow stack differed from the snapshot in %s of %s comparisons (accuracy %.6g)",
            text_count(&a, c->mismatched), text_count(&b, c->compared),
            (double)c->equal / (double)c->compared);
    if (c->shadow.count && c->snapshot.count) { /* one slow capture moves a mean by a factor */
        fprintf(out, ";\nthe median capture took %s, the median snapshot %s",
                text_ns(&n, (double)shadow), text_ns(&m, (double)snapshot));
        if (shadow > 0)
            fprintf(out, ": %.1f times as long", (double)snapshot / (double)shadow);
    } else if (c->snapshot.count) {
        fprintf(out, ";\nthe median snapshot took %s", text_ns(&m, (double)snapshot));
    }
    fputs(".\n", out);
}

static void print_accuracy(const struct table *t)
{
    char text[32];

    row_begin(t, "  ", "accuracy (equal / compared)");
    for (size_t i = 0; i < t->count; i++) {
        const struct report_checks *c = &t->checks[i];

        snprintf(text, sizeof(text), "%.9g",
                 c->compared ? (double)c->equal / (double)c->compared : 0.0);
        row_value(t, c->compared ? text : "-");
    }
    putc('\n', t->out);
}

static void row_of(const struct table *t, const char *label,
                   uint64_t (*value)(const struct report_checks *),
                   uint64_t (*whole)(const struct report_checks *))
{
    struct text_number n, m;
    char text[72];

    row_begin(t, "  ", label);
    for (size_t i = 0; i < t->count; i++) {
        snprintf(text, sizeof(text), "%s of %s", text_count(&n, value(&t->checks[i])),
                 text_count(&m, whole(&t->checks[i])));
        row_value(t, whole(&t->checks[i]) ? text : "-");
    }
    putc('\n', t->out);
}

static uint64_t calls_right(const struct report_checks *c)
{
    return c->calls_equal + c->calls_native;
}

static uint64_t calls_all(const struct report_checks *c)
{
    return c->calls;
}

static uint64_t sites_right(const struct report_checks *c)
{
    return c->sites_equal;
}

static uint64_t sites_all(const struct report_checks *c)
{
    return c->sites - c->sites_unknown;
}

/* Which instruction each frame was at, where the log has that. */
static void print_instructions(const struct table *t)
{
    uint64_t any = 0, unknown = 0;

    for (size_t i = 0; i < t->count; i++)
        any |= t->checks[i].calls | t->checks[i].sites;
    if (!any)
        return;
    fputs("Instructions of equal stacks\n", t->out);
    row_of(t, "calls, equal or through native", calls_right, calls_all);
    row_of(t, "allocations, equal", sites_right, sites_all);
    for (size_t i = 0; i < t->count; i++)
        unknown |= t->checks[i].sites_unknown;
    if (unknown) /* nothing was claimed of these, so nothing can be wrong */
        row_count(t, "    ", "in handlers: none is logged",
                  offsetof(struct report_checks, sites_unknown));
}

/* --check-threads. */
static void print_threads(const struct table *t)
{
    if (!any_of(t, offsetof(struct report_checks, stops)))
        return;
    row_count(t, "", "Stops of the whole runtime", offsetof(struct report_checks, stops));
    row_count(t, "  ", "threads walked", offsetof(struct report_checks, walked));
    row_count(t, "  ", "equal", offsetof(struct report_checks, walked_equal));
    row_count(t, "  ", "on its way out or in", offsetof(struct report_checks, walked_leaving));
    row_count(t, "  ", "in an exception dispatch",
              offsetof(struct report_checks, walked_dispatching));
    row_count(t, "  ", "different", offsetof(struct report_checks, walked_mismatched));
    row_count(t, "  ", "no frames, or not walkable",
              offsetof(struct report_checks, walked_refused));
    if (any_of(t, offsetof(struct report_checks, walked_ended_early)))
        row_count(t, "  ", "walk ended before the oldest frame",
                  offsetof(struct report_checks, walked_ended_early));
}

static void print_logs(const struct table *t, char *const *names)
{
    if (t->count == 1)
        return;
    fprintf(t->out, "%*s", (int)t->label, "");
    for (size_t i = 0; i < t->count; i++) {
        size_t columns = text_columns(names[i]);

        fprintf(t->out, "%*s", columns < t->column - 2 ? (int)(t->column - columns) : 2, "");
        text_elide(t->out, names[i], t->column - 2);
    }
    putc('\n', t->out);
}

static void print_sites(const struct report_diff_sum *sites, FILE *out)
{
    struct text_number same, changed, first, second;

    fprintf(out,
            "Call sites by path, instruction and type: %s allocate the same in both, %s do not,\n"
            "%s are in the first log only, %s in the second.",
            text_count(&same, sites->same), text_count(&changed, sites->changed),
            text_count(&first, sites->only[REPORT_DIFF_OLD]),
            text_count(&second, sites->only[REPORT_DIFF_NEW]));
    if (sites->changed + sites->only[REPORT_DIFF_OLD] + sites->only[REPORT_DIFF_NEW])
        fputs(" `shadowtrace diff --exact` lists them.", out);
    putc('\n', out);
}

void print_compare_text(const struct report_checks *checks, char *const *names, size_t count,
                        const struct report_diff_sum *sites, FILE *out)
{
    const struct terminal terminal = terminal_of(out);
    const struct table t = table_of(checks, count, &terminal, out);

    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            text_print(out, names[i]);
            fputs(": ", out);
        }
        print_sentence(&checks[i], out);
    }
    putc('\n', out);
    print_logs(&t, names);
    row_count(&t, "", "Allocations in the log", offsetof(struct report_checks, allocs));
    row_count(&t, "", "Snapshots taken", offsetof(struct report_checks, taken));
    row_count(&t, "  ", "compared", offsetof(struct report_checks, compared));
    row_count(&t, "  ", "equal", offsetof(struct report_checks, equal));
    row_count(&t, "  ", "different", offsetof(struct report_checks, mismatched));
    rows_of_tally(&t, "    ", offsetof(struct report_checks, mismatched_by), NULL);
    row_count(&t, "  ", "refused by the runtime, no frames",
              offsetof(struct report_checks, refused));
    rows_of_tally(&t, "    ", offsetof(struct report_checks, refused_by), explain_refusal);
    if (any_of(&t, offsetof(struct report_checks, ended_early)))
        row_count(&t, "  ", "ended before the oldest frame",
                  offsetof(struct report_checks, ended_early));
    print_accuracy(&t);
    print_instructions(&t);
    print_threads(&t);
    fputs("Cost: mean, median, 99%\n", out);
    row_cost(&t, "shadow stack, one capture", offsetof(struct report_checks, shadow));
    row_cost(&t, "snapshot, one capture", offsetof(struct report_checks, snapshot));
    print_hooks(&t);
    fputs("Repairs of the shadow stack\n", out);
    if (!rows_of_tally(&t, "  ", offsetof(struct report_checks, repairs), NULL))
        fputs("  none\n", out);
    if (sites)
        print_sites(sites, out);
    print_costs_by_depth(checks, count, &terminal, out);
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            putc('\n', out);
            text_print(out, names[i]);
            putc(':', out);
        }
        print_costs_by_thread(&checks[i], &terminal, out);
        print_forms(&checks[i], out);
        if (report_profile_any(&checks[i].profile)) {
            fputs("\nSampled stacks, the shadow stacks beside suspending and walking\n", out);
            print_profile_text(&checks[i].profile, &checks[i].defs, PROFILE_METHODS, out);
        }
        print_native_text(&checks[i], &terminal, out);
        for (size_t at = 0; at < checks[i].example_count; at++)
            print_example(&checks[i], &checks[i].examples[at], &terminal, out);
        putc('\n', out);
        reading_completeness(&checks[i].log, out);
    }
}
