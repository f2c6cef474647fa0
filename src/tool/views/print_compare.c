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

#define LEAST_WIDTH     80 /* its tables have no narrower form: such terminals wrap */
#define PROFILE_METHODS 20 /* shown of sampled stacks */

struct table {
    const struct report_checks *checks;
    size_t count;
    size_t label, column; /* columns of a row's name, and of each log's value */
    FILE *out;
};

struct cell {
    struct text_number number;
    char text[72];
};

/* A log's value in a row. of: what the row is of. to: room for it. */
typedef const char *in_cell(const struct report_checks *c, const void *of, struct cell *to);

static void print_row(const struct table *t, const char *indent, const char *label, in_cell *value,
                      const void *of)
{
    size_t used = strlen(indent);
    struct cell cell;

    fputs(indent, t->out);
    used += text_elide(t->out, label, t->label - used - 1);
    fprintf(t->out, "%*s", (int)(t->label - used), "");
    for (size_t i = 0; i < t->count; i++)
        fprintf(t->out, "%*s", (int)t->column, value(&t->checks[i], of, &cell));
    putc('\n', t->out);
}

/* ---- counters and what they are by, as report/checks.h has them in sections ---- */

/* What a name is in words. to: room for them. */
typedef void in_words(const char *name, char to[80]);

static void own_name(const char *name, char to[80])
{
    text_clean(to, 80, name);
}

/* A code, and what it is in words. */
struct words {
    const char *code, *text;
};

/* Its words, after the code where `both`; without any the code itself. */
static void find_words(const struct words *known, size_t count, bool both, const char *name,
                       char to[80])
{
    own_name(name, to);
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(known[i].code, name) == 0)
            snprintf(to, 80, "%s%s%s", both ? known[i].code : "", both ? " " : "", known[i].text);
}

/* HRESULTs that DoStackSnapshot gives. */
static void refusal(const char *name, char to[80])
{
    static const struct words known[] = {
        {"0x80131360", "(unsafe then)"},    {"0x80004005", "(no managed frame)"},
        {"0x8013135e", "(no such thread)"}, {"0x8013135f", "(unmanaged context)"},
        {"0x80131361", "(stopped)"},        {"0x80131363", "(not allowed here)"},
        {"0x80131364", "(unsafe then)"},
    };

    find_words(known, COUNT_OF(known), true, name, to);
}

#define WORDS(enumerator, text, label) {text, label},

static void class_of_register(const char *name, char to[80])
{
    static const struct words known[] = {SST_CLASSES_IP(WORDS) SST_CLASSES_SP(WORDS)
                                             SST_CLASSES_FP(WORDS)};

    find_words(known, COUNT_OF(known), false, name, to);
}

static void reason_of_walk(const char *name, char to[80])
{
    static const struct words known[] = {SST_WALK_REASONS(WORDS)};

    find_words(known, COUNT_OF(known), false, name, to);
}

/* A section, or an object in it; NULL: the log has none. */
static json_t *part(const struct report_checks *c, const char *section, const char *key)
{
    json_t *of = json_object_get(c->sections, section);

    return key ? json_object_get(of, key) : of;
}

/* Where a count, or a word, is; key NULL: in the section itself. */
struct place {
    const char *section, *key, *name;
};

static const char *of_name(const struct report_checks *c, const void *of, struct cell *to)
{
    const struct place *p = of;
    const json_t *value = json_object_get(part(c, p->section, p->key), p->name);

    if (json_is_string(value))
        return text_clean(to->text, 32, json_string_value(value));
    return text_count(&to->number, (uint64_t)json_integer_value(value));
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
            print_row(t, indent, label, of_name, &(struct place){section, key, name});
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
            print_row(t, i ? "  " : "", c->label, of_name, &(struct place){section, NULL, c->key});
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

static const char *allocations(const struct report_checks *c, const void *of, struct cell *to)
{
    (void)of;
    return text_count(&to->number, c->allocs);
}

/* of: the offset of a histogram. */
static const char *cost(const struct report_checks *c, const void *of, struct cell *to)
{
    const void *at = (const char *)c + *(const size_t *)of;
    const struct report_histogram *h = at;
    struct text_number mean, median, high;

    if (!h->count)
        return "-";
    snprintf(to->text, sizeof(to->text), "%s  %s  %s", text_ns(&mean, report_mean(h)),
             text_ns(&median, (double)report_quantile(h, 0.5)),
             text_ns(&high, (double)report_quantile(h, 0.99)));
    return to->text;
}

static const char *hook_calls(const struct report_checks *c, const void *of, struct cell *to)
{
    (void)of;
    return c->has_hooks ? text_count(&to->number, c->hook_calls) : "-";
}

static const char *hook_cost(const struct report_checks *c, const void *of, struct cell *to)
{
    (void)of;
    snprintf(to->text, sizeof(to->text), "%.1f ns", c->hook_ns_per_pair);
    return c->hook_ns_per_pair > 0 ? to->text : "-";
}

static const char *accuracy(const struct report_checks *c, const void *of, struct cell *to)
{
    (void)of;
    snprintf(to->text, sizeof(to->text), "%.9g",
             c->compared ? (double)c->equal / (double)c->compared : 0.0);
    return c->compared ? to->text : "-";
}

/* What a log's own stacks are: those that snapshots are compared with. */
static const char *own_stack(const struct report_checks *c)
{
    return part(c, "walks", NULL) ? "walked stack" : "shadow stack";
}

static void print_walks(const struct table *t)
{
    static const struct sst_counter counters[] = {SST_COUNTERS_WALKS(SST_COUNTER)};
    static const char section[] = "walks";

    if (!any_by(t, section, NULL, "taken") && !any_by(t, section, NULL, "fallbacks"))
        return;
    for (size_t i = 0; i < COUNT_OF(counters); i++)
        if (counters[i].form == SST_FORM_COUNT)
            print_row(t, i ? "  " : "", counters[i].label, of_name,
                      &(struct place){section, NULL, counters[i].key});
    (void)rows_of_part(t, "    ", section, "fallbacks_by", reason_of_walk);
}

static void print_sentence(const struct report_checks *c, FILE *out)
{
    uint64_t shadow = report_quantile(&c->shadow, 0.5),
             snapshot = report_quantile(&c->snapshot, 0.5);
    struct text_number a, b, n, m;

    if (!c->compared && c->refused && c->refused == c->taken)
        fputs("Nothing was compared: every snapshot was refused", out);
    else if (!c->compared && c->taken)
        fputs("Nothing was compared: the stacks of this log are snapshots themselves", out);
    else if (!c->compared)
        fputs("Nothing was compared: the log has no comparison (record with --check N)", out);
    else if (c->equal == c->compared)
        fprintf(out, "The %s equalled the snapshot in all of %s comparisons", own_stack(c),
                text_count(&a, c->compared));
    else
        fprintf(out, "The %s differed from the snapshot in %s of %s comparisons (accuracy %.6g)",
                own_stack(c), text_count(&a, c->mismatched), text_count(&b, c->compared),
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

struct right {
    const char *equal, *native, *all, *unknown;
};

/* "of whole": what is right, beside what there is of it but for what is not known. */
static const char *of_right(const struct report_checks *c, const void *of, struct cell *to)
{
    const struct right *r = of;
    const json_t *counts = part(c, "instructions", NULL);
    uint64_t whole = log_count_in(counts, r->all) - log_count_in(counts, r->unknown);
    uint64_t right = log_count_in(counts, r->equal) + log_count_in(counts, r->native);
    struct text_number n, m;

    snprintf(to->text, sizeof(to->text), "%s of %s", text_count(&n, right), text_count(&m, whole));
    return whole ? to->text : "-";
}

/* Which instruction each frame was at, where the log has that. */
static void print_instructions(const struct table *t)
{
    static const char section[] = "instructions";

    if (!any_by(t, section, NULL, "calls") && !any_by(t, section, NULL, "sites"))
        return;
    fputs("Instructions of equal stacks\n", t->out);
    print_row(t, "  ", "calls, equal or through native", of_right,
              &(struct right){"calls_equal", "calls_native", "calls", ""});
    print_row(t, "  ", "allocations, equal", of_right,
              &(struct right){"sites_equal", "", "sites", "sites_unknown"});
    if (any_by(t, section, NULL, "sites_unknown")) /* nothing was claimed of these: none is wrong */
        print_row(t, "    ", "in handlers: none is logged", of_name,
                  &(struct place){section, NULL, "sites_unknown"});
}

static void print_registers(const struct table *t)
{
#define REGISTER(list, member, label) {SST_FORM_BY, #member, label},
    static const struct sst_counter registers[] = {SST_REGISTERS(REGISTER)};

    if (any_by(t, "registers", NULL, "ip"))
        fputs("Registers of each frame of equal stacks, compared with the snapshot's\n", t->out);
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

static void print_sites(const struct diff_sum *sites, FILE *out)
{
    struct text_number same, changed, first, second;

    fprintf(out,
            "Call sites by path, instruction and type: %s allocate the same in both, %s do not,\n"
            "%s are in the first log only, %s in the second.",
            text_count(&same, sites->same), text_count(&changed, sites->changed),
            text_count(&first, sites->only[DIFF_OLD]), text_count(&second, sites->only[DIFF_NEW]));
    if (sites->changed + sites->only[DIFF_OLD] + sites->only[DIFF_NEW])
        fputs(" `shadowtrace diff --exact` lists them.", out);
    putc('\n', out);
}

void print_compare_text(const struct report_checks *checks, const struct print_stack *stacks,
                        char *const *names, size_t count, const struct diff_sum *sites, FILE *out)
{
    const struct terminal own = terminal_of(out),
                          terminal = {own.width < LEAST_WIDTH ? LEAST_WIDTH : own.width,
                                      own.colour};
    const struct table t = {checks, count, count > 1 && terminal.width < TEXT_WIDTH ? 28 : 36,
                            count > 1 ? terminal.width < 92 ? 26 : 28 : 20, out};
    bool walked = false;

    for (size_t i = 0; i < count; i++) {
        walked = walked || part(&checks[i], "walks", NULL);
        text_part(out, "", count > 1 ? names[i] : NULL, ": ");
        print_sentence(&checks[i], out);
    }
    putc('\n', out);
    print_logs(&t, names);
    print_row(&t, "", "Allocations in the log", allocations, NULL);
    print_walks(&t);
    PRINT_SECTION(&t, "snapshots", SST_COUNTERS_SNAPSHOTS);
    print_row(&t, "  ", "accuracy (equal / compared)", accuracy, NULL);
    print_instructions(&t);
    print_registers(&t);
    PRINT_SECTION(&t, "threads", SST_COUNTERS_THREADS);
    PRINT_SECTION(&t, "seeds", SST_COUNTERS_SEEDS);
    PRINT_SECTION(&t, "calls", SST_COUNTERS_CALLS);
    PRINT_SECTION(&t, "live", SST_COUNTERS_LIVE);
    fputs("Cost: mean, median, 99%\n", out);
    print_row(&t, "  ", walked ? "own stack, one capture" : "shadow stack, one capture", cost,
              &(size_t){offsetof(struct report_checks, shadow)});
    print_row(&t, "  ", "snapshot, one capture", cost,
              &(size_t){offsetof(struct report_checks, snapshot)});
    print_row(&t, "  ", "hooks: calls", hook_calls, NULL);
    print_row(&t, "  ", "hooks: a pair of enter and leave", hook_cost, NULL);
    fputs("Repairs of the shadow stack\n", out);
    if (!rows_of_part(&t, "  ", "repairs", NULL, own_name))
        fputs("  none\n", out);
    if (sites)
        print_sites(sites, out);
    print_costs_by_depth(checks, count, &terminal, out);
    for (size_t i = 0; i < count; i++) {
        text_part(out, "\n", count > 1 ? names[i] : NULL, ":");
        print_costs_by_thread(&checks[i], &terminal, out);
        if (report_profile_any(&checks[i].profile)) {
            fputs("\nSampled stacks: shadow stacks compared with suspending and walking\n", out);
            print_profile_text(&checks[i].profile, &stacks[i], PROFILE_METHODS, out);
        }
        print_native_text(&checks[i], &stacks[i], &terminal, out);
        for (size_t at = 0; at < checks[i].mismatch_count; at++)
            print_mismatch(&checks[i].mismatches[at], &checks[i], &stacks[i], &terminal, out);
        putc('\n', out);
        reading_completeness(&checks[i].log, out);
    }
}
