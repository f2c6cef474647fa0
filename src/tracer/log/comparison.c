#include "log/records.h"

#include <errno.h>
#include <stdio.h>

static json_t *depths_json(const struct agreement *a)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < AGREEMENT_DEPTHS; i++) {
        uint64_t count = load_relaxed(&a->depth[i].count);

        if (count)
            json_array_append_new(
                array,
                json_pack("{s:I, s:I, s:I, s:I, s:I}", "from", (json_int_t)agreement_depth_from(i),
                          "to", (json_int_t)agreement_depth_from(i + 1) - 1, "count",
                          (json_int_t)count, "shadow_ns",
                          (json_int_t)load_relaxed(&a->depth[i].shadow_ns), "snapshot_ns",
                          (json_int_t)load_relaxed(&a->depth[i].snapshot_ns)));
    }
    return array;
}

static json_t *refusals_json(const struct agreement_refusals *a)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < AGREEMENT_REFUSALS; i++) {
        uint32_t result = load_relaxed(&a->of[i].result);
        char hex[20] = "other";

        if (!load_relaxed(&a->of[i].count))
            continue;
        if (result)
            log_hex(hex, result, 8);
        log_set(object, hex, load_relaxed(&a->of[i].count));
    }
    return object;
}

/* Counters by the names of what they count; those that are 0 are left out. */
static json_t *named_json(const _Atomic(uint64_t) *counts, const char *const *names, size_t size)
{
    json_t *object = json_object();

    for (size_t i = 0; i < size; i++)
        log_set_any(object, names[i], load_relaxed(&counts[i]));
    return object;
}

json_t *log_repairs(const struct stack_totals *totals)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        log_set(object, stack_repair_name((enum stack_repair)i), totals->repairs[i]);
    return object;
}

/*
 * Members of a record, from one of the lists of log_counters.h: of `from` into `to`; an object of
 * counts is in a separate variable. COPY first copies a list's counters from `a` to `from`, if some
 * have to be computed or must be consistent.
 */
#define PUT(form, member, label) PUT_##form(member)
#define PUT_COUNT(member)        log_set(to, #member, load_relaxed(&from->member));
#define PUT_ANY(member)          log_set_any(to, #member, load_relaxed(&from->member));
#define PUT_BY(member)           json_object_set_new(to, #member, member);
#define PUT_WORD(member)         json_object_set_new(to, #member, json_string(member));
#define COPY(form, member, label) \
    SST_NUMBER_##form(store_relaxed(&from->member, load_relaxed(&a->member));)

/* The counts that check and end records share. */
json_t *log_put_snapshots(json_t *to, const struct agreement *a)
{
#define CAUSE(name, text) text,
    static const char *const causes[] = {SST_CAUSES(CAUSE)};
    struct agreement_snapshots {
        SST_COUNTERS_SNAPSHOTS(AGREEMENT_COUNTER)
    } copy, *from = &copy;
    json_t *refused_by = refusals_json(&a->refusals);
    json_t *mismatched_by = named_json(a->by_cause, causes, COUNT_OF(causes));
    uint64_t finished, begun;

    SST_COUNTERS_SNAPSHOTS(COPY)
    store_relaxed(&copy.compared, load_relaxed(&copy.equal) + load_relaxed(&copy.mismatched));
    finished = load_relaxed(&copy.compared) + load_relaxed(&copy.refused) +
               load_relaxed(&copy.ended_early);
    begun = load_relaxed(&a->begun); /* none with --capture snapshot: nothing is compared */
    store_relaxed(&copy.unfinished, begun > finished ? begun - finished : 0);
    store_relaxed(&copy.taken,
                  load_relaxed(&a->taken)); /* counted first: last, it is no less than its parts */
    SST_COUNTERS_SNAPSHOTS(PUT)
    return to;
}

/* Call instructions against the snapshot's. */
static json_t *instructions_json(const struct agreement *a)
{
    struct agreement_instructions {
        SST_COUNTERS_INSTRUCTIONS(AGREEMENT_COUNTER)
    } copy, *from = &copy;
    json_t *to = json_object();

    SST_COUNTERS_INSTRUCTIONS(COPY)
    for (unsigned i = 0; i < AGREEMENT_CALLS; i++)
        add_relaxed(&copy.calls, load_relaxed(&a->call[i]));
    store_relaxed(&copy.calls_equal, load_relaxed(&a->call[AGREEMENT_CALL_EQUAL]));
    store_relaxed(&copy.calls_native, load_relaxed(&a->call[AGREEMENT_CALL_RUNTIME]));
    SST_COUNTERS_INSTRUCTIONS(PUT)
    return to;
}

/* Registers of every frame against the snapshot's. */
static json_t *registers_json(const struct agreement *a)
{
#define CLASS(name, text, label) text,
    static const char *const ip[] = {SST_CLASSES_IP(CLASS)}, *const sp[] = {SST_CLASSES_SP(CLASS)},
                             *const fp[] = {SST_CLASSES_FP(CLASS)};

    return json_pack("{s:o, s:o, s:o}", "ip", named_json(a->call, ip, COUNT_OF(ip)), "sp",
                     named_json(a->sp, sp, COUNT_OF(sp)), "fp",
                     named_json(a->fp, fp, COUNT_OF(fp)));
}

static json_t *threads_json(const struct agreement_threads *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);

    SST_COUNTERS_THREADS(PUT)
    return to;
}

static json_t *seeds_json(const struct agreement_seeds *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);
    const char *missing = load_relaxed(&from->missing) ? "libunwind" : NULL;

    SST_COUNTERS_SEEDS(PUT)
    return to;
}

static json_t *calls_json(const struct agreement_calls *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);

    SST_COUNTERS_CALLS(PUT)
    return to;
}

static json_t *live_json(const struct agreement_live *from)
{
    json_t *to = json_object();

    SST_COUNTERS_LIVE(PUT)
    return to;
}

void log_write_check(struct log *log, const struct stack_totals *totals, uint64_t t)
{
    const struct agreement *a = log->config.agreement;
    uint64_t taken;
    json_t *line;

    if (!a)
        return;
    taken = load_relaxed(&a->taken) + load_relaxed(&a->threads.stops) +
            load_relaxed(&a->at_calls.taken) + load_relaxed(&a->live.walks) +
            load_relaxed(&a->live.compared);
    if (taken == log->reported_taken)
        return;
    line = json_pack("{s:s, s:I}", "kind", "check", "t", (json_int_t)t);
    if (line) {
        log_put_snapshots(line, a);
        json_object_set_new(line, "shadow", log_histogram(&a->shadow));
        json_object_set_new(line, "snapshot", log_histogram(&a->snapshot));
        log_set(line, "shadow_ns", load_relaxed(&a->shadow.sum));
        log_set(line, "snapshot_ns", load_relaxed(&a->snapshot.sum));
        json_object_set_new(line, "by_depth", depths_json(a));
        json_object_set_new(line, "instructions", instructions_json(a));
        json_object_set_new(line, "registers", registers_json(a));
        if (load_relaxed(&a->threads.stops))
            json_object_set_new(line, "threads", threads_json(&a->threads));
        if (load_relaxed(&a->seeds.tried) || load_relaxed(&a->seeds.missing))
            json_object_set_new(line, "seeds", seeds_json(&a->seeds));
        if (load_relaxed(&a->at_calls.taken))
            json_object_set_new(line, "calls", calls_json(&a->at_calls));
        if (load_relaxed(&a->live.walks))
            json_object_set_new(line, "live", live_json(&a->live));
        json_object_set_new(line, "repairs", log_repairs(totals));
    }
    if (!log_emit(log, SST_KIND_CHECK, line))
        log->reported_taken = taken;
}

int log_write_check_thread(struct log *log, struct log_thread *thread, uint64_t t)
{
    const struct agreement_thread *a = &thread->ring->checked;
    struct agreement_thread copy, *from = &copy;
    uint64_t sum;
    json_t *to;
    int err;

    SST_COUNTERS_CHECK_THREAD(COPY)
    store_relaxed(&copy.compared, load_relaxed(&a->compared)); /* last: no less than `equal` */
    sum = load_relaxed(&copy.compared) + load_relaxed(&copy.refused);
    if (sum == thread->reported_checks)
        return 0;
    err = log_know_thread(log, thread); /* a part may have begun since its last line */
    if (err)
        return err;
    to = json_pack("{s:s, s:I, s:I}", "kind", "check_thread", "t", (json_int_t)t, "thread",
                   (json_int_t)thread->ring->thread);
    if (to) {
        SST_COUNTERS_CHECK_THREAD(PUT)
    }
    err = log_emit(log, SST_KIND_CHECK_THREAD, to);
    if (!err)
        thread->reported_checks = sum;
    return err;
}
