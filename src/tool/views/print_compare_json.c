#include "views/print_compare.h"
#include "views/print_native.h"
#include "views/print_profile.h"

#include "views/print_costs.h"
#include "command/print_json.h"
#include "command/reading.h"

#include <string.h>

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

/* Means, as by depth; in the order of the text. */
static json_t *json_threads(const struct report_checks *c)
{
    json_t *rows = json_array();
    uint32_t *order;
    size_t count = print_costs_order(c, &order);

    for (size_t i = 0; rows && i < count; i++) {
        const struct report_thread_checks *t = &c->threads[order[i]];
        const struct report_thread *thread = &c->defs.threads[order[i]];
        double compared = t->compared ? (double)t->compared : 1;
        json_t *row = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "thread", (json_int_t)thread->id, "os",
            (json_int_t)thread->os, "compared", (json_int_t)t->compared, "equal",
            (json_int_t)t->equal, "mismatched", (json_int_t)(t->compared - t->equal), "refused",
            (json_int_t)t->refused, "shadow_ns", (double)t->shadow_ns / compared, "snapshot_ns",
            (double)t->snapshot_ns / compared);

        if (row && thread->name)
            json_object_set_new(row, "name", reading_text_json(thread->name));
        json_array_append_new(rows, row);
    }
    memory_free(order);
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

        if (example && e->thread)
            json_object_set_new(example, "thread", json_integer(c->defs.threads[e->thread - 1].id));
        if (example && e->class_number)
            json_object_set_new(example, "type",
                                reading_text_json(report_class(&c->defs, e->class_number)->name));
        if (example && e->native_count)
            json_object_set_new(example, "native",
                                print_native_runs(c, e->natives, e->native_count));
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

/* A section with all counts of its list, those that the log has not as 0. */
static json_t *json_section(const struct report_checks *c, const char *name,
                            const struct sst_counter *counters, size_t count)
{
    json_t *section = json_object();

    for (size_t i = 0; i < count; i++)
        if (counters[i].form == SST_FORM_COUNT)
            json_object_set_new(section, counters[i].key, json_integer(0));
    json_object_update(section, json_object_get(c->sections, name));
    return section;
}

static json_t *json_costs(const struct report_checks *c)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "hooks", json_hooks(c), "shadow_ns",
                     json_cost(&c->shadow), "snapshot_ns", json_cost(&c->snapshot), "by_depth",
                     json_depths(c));
}

static json_t *json_checks(const struct report_checks *c, const struct report_problems *problems)
{
    json_t *accuracy =
        c->compared ? json_real((double)c->equal / (double)c->compared) : json_null();
    static const char *const asked_for[] = {"registers", "seeds", "calls"};
    static const struct sst_counter instructions[] = {SST_COUNTERS_INSTRUCTIONS(SST_COUNTER)};
    static const struct sst_counter threads[] = {SST_COUNTERS_THREADS(SST_COUNTER)};
    json_t *json;

    json = json_pack("{s:{s:I, s:I, s:O}, s:I, s:I, s:I, s:o, s:O, s:o, s:o, s:o, s:o, s:I, s:o,"
                     " s:o, s:o}",
                     "snapshots", "taken", (json_int_t)c->taken, "refused", (json_int_t)c->refused,
                     "refused_by", c->refused_by, "compared", (json_int_t)c->compared, "equal",
                     (json_int_t)c->equal, "mismatched", (json_int_t)c->mismatched, "accuracy",
                     accuracy, "mismatched_by", c->mismatched_by, "repairs", json_repairs(c),
                     "cost", json_costs(c), "instructions",
                     json_section(c, "instructions", instructions, COUNT_OF(instructions)),
                     "threads", json_section(c, "threads", threads, COUNT_OF(threads)), "allocs",
                     (json_int_t)c->allocs, "by_thread", json_threads(c), "examples",
                     json_examples(c), "log", reading_log_json(&c->log, problems));
    if (json && c->ended_early)
        json_object_set_new(json_object_get(json, "snapshots"), "ended_early",
                            json_integer((json_int_t)c->ended_early));
    if (json && report_profile_any(&c->profile))
        json_object_set_new(json, "profile", print_profile_json(&c->profile, &c->defs, false));
    if (json && c->native_stack.native_count)
        json_object_set_new(json, "native", print_native_json(c));
    for (size_t i = 0; json && i < COUNT_OF(asked_for); i++)
        if (json_object_get(c->sections, asked_for[i]))
            json_object_set(json, asked_for[i], json_object_get(c->sections, asked_for[i]));
    return json;
}

int print_compare_json(const struct report_checks *checks, const struct report_problems *problems,
                       size_t count, const struct report_diff_sum *sites, FILE *out)
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
    if (json && sites)
        json_object_set_new(json, "sites",
                            json_pack("{s:I, s:I, s:I, s:I}", "same", (json_int_t)sites->same,
                                      "changed", (json_int_t)sites->changed, "only_first",
                                      (json_int_t)sites->only[REPORT_DIFF_OLD], "only_second",
                                      (json_int_t)sites->only[REPORT_DIFF_NEW]));
    if (!json)
        return -ENOMEM;
    print_json_value(json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    putc('\n', out);
    json_decref(json);
    return 0;
}
