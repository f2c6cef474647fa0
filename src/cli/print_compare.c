#include "cli/print_compare.h"

#include "cli/reading.h"
#include "cli/text.h"

#include <stdio.h>
#include <string.h>

#define LABEL  36 /* columns of a row's name */
#define COLUMN 28 /* and of each log's value */

/* Text: a table with one column for each log. */

struct table {
    const struct report_checks *checks;
    size_t count;
    FILE *out;
};

static void row_begin(const struct table *t, const char *indent, const char *label)
{
    size_t used = strlen(indent);

    fputs(indent, t->out);
    used += text_elide(t->out, label, LABEL - used - 1);
    fprintf(t->out, "%*s", (int)(LABEL - used), "");
}

static void row_value(const struct table *t, const char *text)
{
    fprintf(t->out, "%*s", t->count > 1 ? COLUMN : 20, text);
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

static void print_depths(const struct report_checks *c, FILE *out)
{
    struct text_number count, shadow, snapshot;
    char frames[48];

    if (!c->depth_count)
        return;
    fprintf(out, "\n%-16s %14s %14s %14s %12s\n", "Frames", "stacks", "shadow, mean",
            "snapshot, mean", "ratio");
    for (size_t i = 0; i < c->depth_count; i++) {
        const struct report_depth *d = &c->depths[i];
        double stacks = d->count ? (double)d->count : 1;

        if (d->from == d->to)
            snprintf(frames, sizeof(frames), "%llu", (unsigned long long)d->from);
        else
            snprintf(frames, sizeof(frames), "%llu-%llu", (unsigned long long)d->from,
                     (unsigned long long)d->to);
        fprintf(out, "%-16s %14s %14s %14s", frames, text_count(&count, d->count),
                d->shadow_ns ? text_ns(&shadow, (double)d->shadow_ns / stacks) : "-",
                text_ns(&snapshot, (double)d->snapshot_ns / stacks));
        if (d->shadow_ns)
            fprintf(out, " %12.1f", (double)d->snapshot_ns / (double)d->shadow_ns);
        putc('\n', out);
    }
}

/* One mismatch, both stacks leaf first, rows aligned at the root: index i counts from there. */

#define AROUND_BELOW 3 /* equal frames shown below the first difference, towards the root */
#define AROUND_ABOVE 9 /* rows from it towards the leaves */
#define HALF         ((TEXT_WIDTH - 6) / 2)

static void print_cell(const struct report_checks *c, const uint32_t *stack, size_t size,
                       size_t index, FILE *out, bool pad)
{
    size_t used = 0;

    if (index < size)
        used = text_elide_method(out, report_method(&c->defs, stack[size - 1 - index])->name, HALF);
    if (pad)
        fprintf(out, "%*s", (int)(HALF - used), "");
}

static bool same_frame(const struct report_example *e, size_t index)
{
    return index < e->shadow_size && index < e->snapshot_size &&
           e->shadow[e->shadow_size - 1 - index] == e->snapshot[e->snapshot_size - 1 - index];
}

static void print_example(const struct report_checks *c, const struct report_example *e, FILE *out)
{
    size_t deeper = e->shadow_size > e->snapshot_size ? e->shadow_size : e->snapshot_size;
    size_t first = 0, low, high;
    char shadow[48];

    while (first < deeper && same_frame(e, first))
        first++;
    low = first > AROUND_BELOW ? first - AROUND_BELOW : 0;
    high = deeper - first > AROUND_ABOVE ? first + AROUND_ABOVE : deeper;
    fprintf(out, "\n%s, first seen in line %llu, offset %llu", e->cause,
            (unsigned long long)e->at.line, (unsigned long long)e->at.offset);
    if (e->refused[0])
        fprintf(out, "; the snapshot was refused: %s", e->refused);
    fprintf(out, "\n%s%s\n", e->repairs[0] ? "Repairs that had touched this stack: " : "",
            e->repairs[0] ? e->repairs : "No repair had touched this stack.");
    snprintf(shadow, sizeof(shadow), "shadow stack, %zu frames", e->shadow_size);
    fprintf(out, "  %-*s | snapshot, %zu frames\n", HALF, shadow, e->snapshot_size);
    if (high < deeper)
        fprintf(out, "  ... %zu more above\n", deeper - high);
    for (size_t i = high; i-- > low;) {
        fputs(i == first ? "> " : "  ", out);
        print_cell(c, e->shadow, e->shadow_size, i, out, true);
        fputs(i < e->snapshot_size ? " | " : " |", out);
        print_cell(c, e->snapshot, e->snapshot_size, i, out, false);
        putc('\n', out);
    }
    if (low)
        fprintf(out, "  ... %zu more, equal\n", low);
}

static void print_sentence(const struct report_checks *c, FILE *out)
{
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
    if (c->shadow.count && c->snapshot.count) {
        fprintf(out, ";\ncapturing it took %s on average, a snapshot %s",
                text_ns(&n, report_mean(&c->shadow)), text_ns(&m, report_mean(&c->snapshot)));
        if (report_mean(&c->shadow) > 0)
            fprintf(out, ": %.1f times as long",
                    report_mean(&c->snapshot) / report_mean(&c->shadow));
    } else if (c->snapshot.count) {
        fprintf(out, ";\na snapshot took %s on average", text_ns(&m, report_mean(&c->snapshot)));
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
    return c->sites;
}

/* Which instruction each frame was at, where the log has that. */
static void print_instructions(const struct table *t)
{
    uint64_t any = 0;

    for (size_t i = 0; i < t->count; i++)
        any |= t->checks[i].calls | t->checks[i].sites;
    if (!any)
        return;
    fputs("Instructions of equal stacks\n", t->out);
    row_of(t, "calls, equal or through native", calls_right, calls_all);
    row_of(t, "allocations, equal", sites_right, sites_all);
}

/* --check-threads. */
static void print_threads(const struct table *t)
{
    uint64_t any = 0;

    for (size_t i = 0; i < t->count; i++)
        any |= t->checks[i].stops;
    if (!any)
        return;
    row_count(t, "", "Stops of the whole runtime", offsetof(struct report_checks, stops));
    row_count(t, "  ", "threads walked", offsetof(struct report_checks, walked));
    row_count(t, "  ", "equal", offsetof(struct report_checks, walked_equal));
    row_count(t, "  ", "left, not yet returned", offsetof(struct report_checks, walked_leaving));
    row_count(t, "  ", "in an exception dispatch", offsetof(struct report_checks, walked_dispatching));
    row_count(t, "  ", "different", offsetof(struct report_checks, walked_mismatched));
    row_count(t, "  ", "no frames, or not walkable", offsetof(struct report_checks, walked_refused));
}

static void print_logs(const struct table *t, char *const *names)
{
    if (t->count == 1)
        return;
    fprintf(t->out, "%*s", LABEL, "");
    for (size_t i = 0; i < t->count; i++) {
        size_t columns = text_columns(names[i]);

        fprintf(t->out, "%*s", columns < COLUMN - 2 ? (int)(COLUMN - columns) : 2, "");
        text_elide(t->out, names[i], COLUMN - 2);
    }
    putc('\n', t->out);
}

void print_compare_text(const struct report_checks *checks, char *const *names, size_t count,
                        FILE *out)
{
    const struct table t = {checks, count, out};

    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            fprintf(out, "%s: ", names[i]);
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
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            fprintf(out, "\n%s:", names[i]);
        print_depths(&checks[i], out);
        for (size_t at = 0; at < checks[i].example_count; at++)
            print_example(&checks[i], &checks[i].examples[at], out);
        putc('\n', out);
        reading_completeness(&checks[i].log, out);
    }
}

/* JSON. */

static json_t *json_cost(const struct report_histogram *h)
{
    if (!h->count)
        return json_pack("{s:n, s:n, s:n}", "mean", "p50", "p99");
    return json_pack("{s:f, s:I, s:I}", "mean", report_mean(h), "p50",
                     (json_int_t)report_quantile(h, 0.5), "p99",
                     (json_int_t)report_quantile(h, 0.99));
}

static json_t *json_depths(const struct report_checks *c)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows && i < c->depth_count; i++) {
        const struct report_depth *d = &c->depths[i];
        double stacks = d->count ? (double)d->count : 1;

        json_array_append_new(rows,
                              json_pack("{s:I, s:I, s:I, s:f, s:f}", "from", (json_int_t)d->from,
                                        "to", (json_int_t)d->to, "count", (json_int_t)d->count,
                                        "shadow_ns", (double)d->shadow_ns / stacks, "snapshot_ns",
                                        (double)d->snapshot_ns / stacks));
    }
    return rows;
}

static json_t *json_stack(const struct report_checks *c, const uint32_t *stack, size_t size)
{
    json_t *names = json_array();

    for (size_t i = 0; names && i < size; i++)
        json_array_append_new(names, json_string(report_method(&c->defs, stack[i])->name));
    return names;
}

static json_t *json_words(const char *list)
{
    json_t *words = json_array();

    while (words && *list) {
        size_t size = strcspn(list, ",");

        json_array_append_new(words, json_stringn(list, size));
        list += size;
        list += strspn(list, ", ");
    }
    return words;
}

static json_t *json_examples(const struct report_checks *c)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < c->example_count; i++) {
        const struct report_example *e = &c->examples[i];
        json_t *example =
            json_pack("{s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "cause", reading_text_json(e->cause),
                      "line", (json_int_t)e->at.line, "offset", (json_int_t)e->at.offset, "first",
                      (json_int_t)e->first, "repairs", json_words(e->repairs), "shadow",
                      json_stack(c, e->shadow, e->shadow_size), "snapshot",
                      json_stack(c, e->snapshot, e->snapshot_size));

        if (example && e->refused[0])
            json_object_set_new(example, "refused", json_string(e->refused));
        json_array_append_new(list, example);
    }
    return list;
}

/* The five that other programs count on are there even when they are 0. */
static json_t *json_repairs(const struct report_checks *c)
{
    json_t *repairs = json_pack("{s:i, s:i, s:i, s:i, s:i}", "dead_on_enter", 0, "dead_on_leave", 0,
                                "orphan_leave", 0, "handler_cut", 0, "native_boundary", 0);

    if (repairs)
        json_object_update(repairs, c->repairs);
    return repairs;
}

static json_t *json_hooks(const struct report_checks *c)
{
    json_t *hooks = json_pack("{s:n, s:n}", "calls", "ns_per_pair");

    if (hooks && c->has_hooks)
        json_object_set_new(hooks, "calls", json_integer((json_int_t)c->hook_calls));
    if (hooks && c->hook_ns_per_pair > 0)
        json_object_set_new(hooks, "ns_per_pair", json_real(c->hook_ns_per_pair));
    return hooks;
}

static json_t *json_checks(const struct report_checks *c, const struct report_problems *problems)
{
    json_t *accuracy =
        c->compared ? json_real((double)c->equal / (double)c->compared) : json_null();

    return json_pack("{s:{s:I, s:I, s:O}, s:I, s:I, s:I, s:o, s:O, s:o, s:{s:o, s:o, s:o, s:o},"
                     " s:{s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:I, s:o, s:o}",
                     "snapshots", "taken", (json_int_t)c->taken, "refused", (json_int_t)c->refused,
                     "refused_by", c->refused_by, "compared", (json_int_t)c->compared, "equal",
                     (json_int_t)c->equal, "mismatched", (json_int_t)c->mismatched, "accuracy",
                     accuracy, "mismatched_by", c->mismatched_by, "repairs", json_repairs(c),
                     "cost", "hooks", json_hooks(c), "shadow_ns", json_cost(&c->shadow),
                     "snapshot_ns", json_cost(&c->snapshot), "by_depth", json_depths(c),
                     "instructions", "calls", (json_int_t)c->calls, "calls_equal",
                     (json_int_t)c->calls_equal, "calls_native", (json_int_t)c->calls_native,
                     "sites", (json_int_t)c->sites, "sites_equal", (json_int_t)c->sites_equal,
                     "sites_unknown", (json_int_t)c->sites_unknown, "threads", "stops", (json_int_t)c->stops,
                     "walked", (json_int_t)c->walked, "equal", (json_int_t)c->walked_equal, "leaving",
                     (json_int_t)c->walked_leaving, "dispatching", (json_int_t)c->walked_dispatching, "mismatched",
                     (json_int_t)c->walked_mismatched, "refused", (json_int_t)c->walked_refused, "allocs", (json_int_t)c->allocs,
                     "examples", json_examples(c), "log", reading_log_json(&c->log, problems));
}

int print_compare_json(const struct report_checks *checks, const struct report_problems *problems,
                       size_t count, FILE *out)
{
    json_t *json, *logs;

    if (count == 1) {
        json = json_checks(&checks[0], &problems[0]);
    } else {
        logs = json_array();
        for (size_t i = 0; logs && i < count; i++)
            json_array_append_new(logs, json_checks(&checks[i], &problems[i]));
        json = json_pack("{s:o}", "logs", logs);
    }
    if (!json)
        return -ENOMEM;
    json_dumpf(json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    putc('\n', out);
    json_decref(json);
    return 0;
}
