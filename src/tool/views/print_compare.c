#include "views/print_compare.h"

#include "views/print_costs.h"
#include "views/print_mismatch.h"
#include "views/print_profile.h"
#include "views/print_native.h"
#include "command/reading.h"
#include "terminal/text.h"

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

/* ---- counters and what they are by, as report/checks.h has them in sections ---- */

/* What a name is in words. to: room for them. */
typedef void in_words(const char *name, char to[80]);

static void own_name(const char *name, char to[80])
{
    text_clean(to, 80, name);
}

/* HRESULTs that DoStackSnapshot gives. */
static void refusal(const char *name, char to[80])
{
    static const struct {
        const char *code, *text;
    } known[] = {
        {"0x80131360", "(unsafe then)"},    {"0x80004005", "(no managed frame)"},
        {"0x8013135e", "(no such thread)"}, {"0x8013135f", "(unmanaged context)"},
        {"0x80131361", "(stopped)"},        {"0x80131363", "(not allowed here)"},
        {"0x80131364", "(unsafe then)"},
    };

    own_name(name, to);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcasecmp(known[i].code, name) == 0)
            snprintf(to, 80, "%s %s", known[i].code, known[i].text);
}

static void class_of_register(const char *name, char to[80])
{
#define CLASS(enumerator, text, label) {text, label},
    static const char *const known[][2] = {SST_CLASSES_IP(CLASS) SST_CLASSES_SP(CLASS)
                                               SST_CLASSES_FP(CLASS)};

    own_name(name, to);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(known[i][0], name) == 0)
            snprintf(to, 80, "%s", known[i][1]);
}

/* A section, or an object in it; NULL: the log has none. */
static json_t *part(const struct report_checks *c, const char *section, const char *key)
{
    json_t *of = json_object_get(c->sections, section);

    return key ? json_object_get(of, key) : of;
}

/* A row of what each log has by that name: counts, or words. */
static void row_of_name(const struct table *t, const char *indent, const char *label,
                        const char *section, const char *key, const char *name)
{
    struct text_number n;
    char text[32];

    row_begin(t, indent, label);
    for (size_t i = 0; i < t->count; i++) {
        const json_t *value = json_object_get(part(&t->checks[i], section, key), name);

        row_value(t, json_is_string(value)
                         ? text_clean(text, sizeof(text), json_string_value(value))
                         : text_count(&n, (uint64_t)json_integer_value(value)));
    }
    putc('\n', t->out);
}

/* Has any of the logs something by that name that is not 0? */
static bool any_by(const struct table *t, const char *section, const char *key, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < t->count; i++) {
        const json_t *value = json_object_get(part(&t->checks[i], section, key), name);

        any = any || json_is_string(value) || json_integer_value(value) || json_object_size(value);
    }
    return any;
}

/* A row for each name that any log has there, if it is not 0 in all. Returns: how many rows. */
static size_t rows_of_part(const struct table *t, const char *indent, const char *section,
                           const char *key, in_words *words)
{
    const char *name;
    json_t *count;
    size_t rows = 0;
    char label[80];

    for (size_t log = 0; log < t->count; log++) {
        json_object_foreach(part(&t->checks[log], section, key), name, count)
        {
            if ((log > 0 && json_object_get(part(&t->checks[0], section, key), name)) ||
                !any_by(t, section, key, name))
                continue;
            words(name, label);
            row_of_name(t, indent, label, section, key, name);
            rows++;
        }
    }
    return rows;
}

static void rows_of_counters(const struct table *t, const char *section,
                             const struct sst_counter *counters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sst_counter *c = &counters[i];
        bool any = any_by(t, section, NULL, c->key);

        if (!c->label || (!any && c->form != SST_FORM_COUNT))
            continue;
        if (c->form != SST_FORM_BY) {
            row_of_name(t, i ? "  " : "", c->label, section, NULL, c->key);
            continue;
        }
        if (*c->label)
            fprintf(t->out, "  %s\n", c->label);
        rows_of_part(t, "    ", section, c->key,
                     strcmp(c->key, "refused_by") == 0      ? refusal
                     : strcmp(c->key, "mismatched_by") == 0 ? own_name
                                                            : class_of_register);
    }
}

/* A section by its list; nothing if no log has it. The first counter is its heading. */
#define PRINT_SECTION(t, section, list) \
    do { \
        static const struct sst_counter counters[] = {list(SST_COUNTER)}; \
\
        if (any_section(t, section)) \
            rows_of_counters(t, section, counters, COUNT_OF(counters)); \
    } while (0)

static bool any_section(const struct table *t, const char *section)
{
    bool any = false;

    for (size_t i = 0; i < t->count; i++)
        any = any || json_object_size(part(&t->checks[i], section, NULL));
    return any;
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

/* "of whole": what is right, beside what there is of it but for what is not known. */
static void row_of_right(const struct table *t, const char *label, const char *const right[2],
                         const char *all, const char *unknown)
{
    struct text_number n, m;
    char text[72];

    row_begin(t, "  ", label);
    for (size_t i = 0; i < t->count; i++) {
        const json_t *counts = part(&t->checks[i], "instructions", NULL);
        uint64_t whole = report_count_in(counts, all) - report_count_in(counts, unknown);

        snprintf(
            text, sizeof(text), "%s of %s",
            text_count(&n, report_count_in(counts, right[0]) + report_count_in(counts, right[1])),
            text_count(&m, whole));
        row_value(t, whole ? text : "-");
    }
    putc('\n', t->out);
}

/* Which instruction each frame was at, where the log has that. */
static void print_instructions(const struct table *t)
{
    static const char section[] = "instructions";

    if (!any_by(t, section, NULL, "calls") && !any_by(t, section, NULL, "sites"))
        return;
    fputs("Instructions of equal stacks\n", t->out);
    row_of_right(t, "calls, equal or through native",
                 (const char *const[]){"calls_equal", "calls_native"}, "calls", "");
    row_of_right(t, "allocations, equal", (const char *const[]){"sites_equal", ""}, "sites",
                 "sites_unknown");
    if (any_by(t, section, NULL, "sites_unknown")) /* nothing was claimed of these: none is wrong */
        row_of_name(t, "    ", "in handlers: none is logged", section, NULL, "sites_unknown");
}

static void print_registers(const struct table *t)
{
#define REGISTER(list, member, label) {SST_FORM_BY, #member, label},
    static const struct sst_counter registers[] = {SST_REGISTERS(REGISTER)};

    if (any_by(t, "registers", NULL, "ip"))
        fputs("Registers of each frame of equal stacks, beside the snapshot's\n", t->out);
    rows_of_counters(t, "registers", registers, COUNT_OF(registers));
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
    struct text_number n;

    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            text_print(out, names[i]);
            fputs(": ", out);
        }
        print_sentence(&checks[i], out);
    }
    putc('\n', out);
    print_logs(&t, names);
    row_begin(&t, "", "Allocations in the log");
    for (size_t i = 0; i < count; i++)
        row_value(&t, text_count(&n, checks[i].allocs));
    putc('\n', out);
    PRINT_SECTION(&t, "snapshots", SST_COUNTERS_SNAPSHOTS);
    print_accuracy(&t);
    print_instructions(&t);
    print_registers(&t);
    PRINT_SECTION(&t, "threads", SST_COUNTERS_THREADS);
    PRINT_SECTION(&t, "seeds", SST_COUNTERS_SEEDS);
    PRINT_SECTION(&t, "calls", SST_COUNTERS_CALLS);
    fputs("Cost: mean, median, 99%\n", out);
    row_cost(&t, "shadow stack, one capture", offsetof(struct report_checks, shadow));
    row_cost(&t, "snapshot, one capture", offsetof(struct report_checks, snapshot));
    print_hooks(&t);
    fputs("Repairs of the shadow stack\n", out);
    if (!rows_of_part(&t, "  ", "repairs", NULL, own_name))
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
        if (report_profile_any(&checks[i].profile)) {
            fputs("\nSampled stacks, the shadow stacks beside suspending and walking\n", out);
            print_profile_text(&checks[i].profile, &checks[i].defs, PROFILE_METHODS, out);
        }
        print_native_text(&checks[i], &terminal, out);
        for (size_t at = 0; at < checks[i].mismatch_count; at++)
            print_mismatch(&checks[i], &checks[i].mismatches[at], &terminal, out);
        putc('\n', out);
        reading_completeness(&checks[i].log, out);
    }
}
