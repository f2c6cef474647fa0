#include "views/print_compare.h"

#include "command/json_tree.h"
#include "command/print_complete.h"
#include "views/print_costs.h"
#include "views/print_native.h"
#include "views/print_profile.h"

#include <math.h>
#include <string.h>

static void json_cost(const struct report_histogram *h, const char *key, struct json_writer *w)
{
    jw_object(w, key);
    if (h->count) {
        jw_real(w, "mean", report_mean(h));
        jw_unsigned(w, "p50", report_quantile(h, 0.5));
        jw_unsigned(w, "p99", report_quantile(h, 0.99));
    } else {
        jw_null(w, "mean");
        jw_null(w, "p50");
        jw_null(w, "p99");
    }
    jw_end(w);
}

/* Of sums in ns. */
static void json_means(uint64_t shadow, uint64_t snapshot, uint64_t count, struct json_writer *w)
{
    double captures = count ? (double)count : 1;

    jw_real(w, "shadow_ns", (double)shadow / captures);
    jw_real(w, "snapshot_ns", (double)snapshot / captures);
}

static void json_depths(const struct report_checks *c, struct json_writer *w)
{
    jw_array(w, "by_depth");
    for (size_t i = 0; i < c->depth_count; i++) {
        const struct report_depth *d = &c->depths[i];

        jw_line_object(w, 3, NULL);
        jw_unsigned(w, "from", d->from);
        jw_unsigned(w, "to", d->to);
        jw_unsigned(w, "count", d->count);
        json_means(d->shadow_ns, d->snapshot_ns, d->count, w);
        jw_end(w);
    }
    jw_end(w);
}

/* In the order of the text. */
static void json_threads(const struct report_checks *c, struct json_writer *w)
{
    uint32_t *order;
    size_t count = print_costs_order(c, &order);

    jw_line_array(w, 1, "by_thread");
    for (size_t i = 0; i < count; i++) {
        const struct report_thread_checks *t = &c->threads[order[i]];
        const struct log_thread_def *thread = &c->defs.threads[order[i]];

        jw_line_object(w, 2, NULL);
        jw_unsigned(w, "thread", thread->id);
        jw_unsigned(w, "os", thread->os);
        jw_unsigned(w, "compared", t->compared);
        jw_unsigned(w, "equal", t->equal);
        jw_unsigned(w, "mismatched", t->compared - t->equal);
        jw_unsigned(w, "refused", t->refused);
        json_means(t->shadow_ns, t->snapshot_ns, t->compared, w);
        jw_text_if(w, "name", thread->name);
        jw_end(w);
    }
    jw_end(w);
    memory_free(order);
}

static void json_stack(const struct report_checks *c, const char *key, const uint32_t *stack,
                       size_t size, struct json_writer *w)
{
    jw_array(w, key);
    for (size_t i = 0; i < size; i++)
        jw_text(w, NULL, log_method(&c->defs, stack[i])->name);
    jw_end(w);
}

/* The rules of a list that are parted by commas. */
static void json_repairs_of(const char *list, struct json_writer *w)
{
    char rule[sizeof(((struct report_mismatch *)NULL)->repairs)];

    jw_array(w, "repairs");
    while (*list) {
        size_t size = strcspn(list, ",");

        snprintf(rule, sizeof(rule), "%.*s", (int)size, list);
        jw_text(w, NULL, rule);
        list += size;
        list += strspn(list, ", ");
    }
    jw_end(w);
}

static void json_mismatch(const struct report_checks *c, const struct report_mismatch *m,
                          struct json_writer *w)
{
    jw_line_object(w, 2, NULL);
    jw_text(w, "cause", m->cause);
    jw_unsigned(w, "line", m->at.line);
    jw_unsigned(w, "offset", m->at.offset);
    jw_unsigned(w, "first", m->first);
    json_repairs_of(m->repairs, w);
    json_stack(c, "shadow", m->shadow, m->shadow_size, w);
    json_stack(c, "snapshot", m->snapshot, m->snapshot_size, w);
    if (m->thread)
        jw_unsigned(w, "thread", c->defs.threads[m->thread - 1].id);
    if (m->class_number)
        jw_text(w, "type", log_class(&c->defs, m->class_number)->name);
    if (m->native_count)
        print_native_runs_json(c, m->natives, m->native_count, w);
    if (m->refused[0])
        jw_text(w, "refused", m->refused);
    jw_end(w);
}

static void json_hooks(const struct report_checks *c, struct json_writer *w)
{
    jw_object(w, "hooks");
    if (c->has_hooks)
        jw_unsigned(w, "calls", c->hook_calls);
    else
        jw_null(w, "calls");
    jw_real(w, "ns_per_pair", c->hook_ns_per_pair > 0 ? c->hook_ns_per_pair : NAN);
    jw_end(w);
}

static bool is_counted(const struct sst_counter *counters, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (counters[i].form == SST_FORM_COUNT && strcmp(counters[i].key, key) == 0)
            return true;
    return false;
}

/* All counts of a list, those that the log does not have as 0, then what else the log has. */
static void json_counts(const char *key, const struct sst_counter *counters, size_t count,
                        json_t *counts, struct json_writer *w)
{
    const char *name;
    json_t *one;

    jw_line_object(w, 1, key);
    for (size_t i = 0; i < count; i++)
        if (counters[i].form == SST_FORM_COUNT)
            jw_unsigned(w, counters[i].key, log_count_in(counts, counters[i].key));
    json_object_foreach(counts, name, one)
    {
        if (!is_counted(counters, count, name))
            jw_tree(w, name, one);
    }
    jw_end(w);
}

static void json_snapshots(const struct report_checks *c, struct json_writer *w)
{
    jw_line_object(w, 1, "snapshots");
    jw_unsigned(w, "taken", c->taken);
    jw_unsigned(w, "refused", c->refused);
    jw_tree(w, "refused_by", c->refused_by);
    if (c->ended_early)
        jw_unsigned(w, "ended_early", c->ended_early);
    if (c->unfinished)
        jw_unsigned(w, "unfinished", c->unfinished);
    jw_end(w);
    jw_unsigned(w, "compared", c->compared);
    jw_unsigned(w, "equal", c->equal);
    jw_unsigned(w, "mismatched", c->mismatched);
    jw_real(w, "accuracy", c->compared ? (double)c->equal / (double)c->compared : NAN);
    jw_tree(w, "mismatched_by", c->mismatched_by);
}

static void json_costs(const struct report_checks *c, struct json_writer *w)
{
    jw_line_object(w, 1, "cost");
    json_hooks(c, w);
    json_cost(&c->shadow, "shadow_ns", w);
    json_cost(&c->snapshot, "snapshot_ns", w);
    json_depths(c, w);
    jw_end(w);
}

/* Sections that are there if they were asked for when the log was recorded. */
static void json_asked_for(const struct report_checks *c, struct json_writer *w)
{
    static const char *const sections[] = {"registers", "seeds", "calls", "live", "walks"};

    for (size_t i = 0; i < COUNT_OF(sections); i++)
        if (json_object_get(c->sections, sections[i]))
            json_counts(sections[i], NULL, 0, json_object_get(c->sections, sections[i]), w);
}

static void json_checks(const struct report_checks *c, const struct log_problems *problems,
                        struct json_writer *w)
{
    static const struct sst_counter instructions[] = {SST_COUNTERS_INSTRUCTIONS(SST_COUNTER)};
    static const struct sst_counter threads[] = {SST_COUNTERS_THREADS(SST_COUNTER)};
    /* The repairs that other programs count on are there even when they are 0. */
    static const struct sst_counter repairs[] = {{SST_FORM_COUNT, "dead_on_enter", NULL},
                                                 {SST_FORM_COUNT, "dead_on_leave", NULL},
                                                 {SST_FORM_COUNT, "orphan_leave", NULL},
                                                 {SST_FORM_COUNT, "handler_cut", NULL},
                                                 {SST_FORM_COUNT, "native_boundary", NULL}};

    json_snapshots(c, w);
    json_counts("repairs", repairs, COUNT_OF(repairs), c->repairs, w);
    json_costs(c, w);
    json_counts("instructions", instructions, COUNT_OF(instructions),
                json_object_get(c->sections, "instructions"), w);
    json_counts("threads", threads, COUNT_OF(threads), json_object_get(c->sections, "threads"), w);
    jw_unsigned(w, "allocs", c->allocs);
    json_threads(c, w);
    jw_line_array(w, 1, "examples");
    for (size_t i = 0; i < c->mismatch_count; i++)
        json_mismatch(c, &c->mismatches[i], w);
    jw_end(w);
    jw_line(w, 1);
    print_log_json(&c->log, problems, "log", w);
    if (report_profile_any(&c->profile)) {
        jw_line_object(w, 1, "profile");
        print_profile_members(&c->profile, &c->defs, NULL, w);
        jw_end(w);
    }
    if (c->native_stack.native_count)
        print_native_json(c, w);
    json_asked_for(c, w);
}

static void json_sites(const struct diff_sum *sites, struct json_writer *w)
{
    jw_line_object(w, 1, "sites");
    jw_unsigned(w, "same", sites->same);
    jw_unsigned(w, "changed", sites->changed);
    jw_unsigned(w, "only_first", sites->only[DIFF_OLD]);
    jw_unsigned(w, "only_second", sites->only[DIFF_NEW]);
    jw_end(w);
}

int print_compare_json(const struct report_checks *checks, const struct log_problems *problems,
                       size_t count, const struct diff_sum *sites, FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    if (count > 1)
        jw_array(&w, "logs");
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            jw_object(&w, NULL);
        json_checks(&checks[i], &problems[i], &w);
        if (count > 1)
            jw_end(&w);
    }
    if (count > 1)
        jw_end(&w);
    if (sites)
        json_sites(sites, &w);
    jw_end(&w);
    return jw_finish(&w);
}
