#include "report/call_times.h"

/* How often each method is on a thread's stack, by its number. NULL: no memory. */
static struct log_id_map *active(struct report_calls_thread *thread)
{
    if (!thread->user)
        thread->user = memory_zalloc(1, sizeof(struct log_id_map));
    return thread->user;
}

static uint32_t active_count(const struct log_id_map *active, uint32_t method)
{
    uint32_t known = log_id_map_get(active, method + 1); /* ids count from 1, numbers from 0 */

    return known ? known - 1 : 0;
}

static int active_set(struct log_id_map *active, uint32_t method, uint32_t count)
{
    return log_id_map_set(active, method + 1, count);
}

/* NULL: no memory. */
static struct report_call_time *time_of(struct report_call_times *times, uint32_t method)
{
    if (!array_reserve_zeroed(&times->of, &times->capacity, (size_t)method + 1))
        return NULL;
    if (times->count <= method)
        times->count = (size_t)method + 1;
    return &times->of[method];
}

static int on_entered(void *context, struct report_calls_thread *thread, struct report_call *call)
{
    struct report_call_times *times = context;
    struct report_call_time *time;
    struct log_id_map *open;
    uint32_t number = 0;
    int err = log_defs_method(times->defs, call->method, (struct log_place){0, 0}, &number);

    if (err)
        return err;
    time = time_of(times, number);
    open = active(thread);
    if (!time || !open || active_set(open, number, active_count(open, number) + 1))
        return -ENOMEM;
    time->calls++;
    call->row = number;
    call->level = 0;
    call->inside = 0;
    return 0;
}

static int on_ended(void *context, struct report_calls_thread *thread, struct report_call *call,
                    uint64_t t, enum report_call_end end)
{
    struct report_call_times *times = context;
    struct report_call_time *time = &times->of[call->row];
    struct report_call *caller = report_call_caller(thread, call);
    uint64_t ns = t > call->t ? t - call->t : 0;
    uint32_t others = active_count(thread->user, call->row) - 1;

    time->self_ns += ns > call->inside ? ns - call->inside : 0;
    time->unwound += end == REPORT_CALL_UNWOUND;
    (void)active_set(thread->user, call->row, others); /* it is there: that takes no memory */
    if (others == 0) {                                 /* the outermost of them */
        time->total_ns += ns;
        if (ns > time->longest_ns)
            time->longest_ns = ns;
    }
    if (caller)
        caller->inside += ns;
    return 0;
}

static int on_missing(void *context, struct report_calls_thread *thread, uint64_t t, uint64_t count)
{
    struct report_call_times *times = context;

    (void)thread, (void)t;
    times->missing += count;
    return 0;
}

void report_call_times_init(struct report_call_times *times, struct log_defs *defs)
{
    *times = (struct report_call_times){
        .defs = defs,
        .calls = {
            .entered = on_entered, .ended = on_ended, .missing = on_missing, .context = times}};
}

void report_call_times_fini(struct report_call_times *times)
{
    for (size_t i = 0; i < times->calls.count; i++) {
        struct log_id_map *active = times->calls.threads[i].user;

        if (active)
            log_id_map_free(active);
        memory_free(active);
    }
    report_calls_fini(&times->calls);
    memory_free(times->of);
}

int report_call_times_take(struct report_call_times *times, const struct log_batch *batch)
{
    return report_calls_take(&times->calls, batch);
}

void report_call_times_finish(struct report_call_times *times)
{
    for (size_t i = 0; i < times->calls.count; i++) {
        struct report_calls_thread *thread = &times->calls.threads[i];

        for (struct report_call *call = report_call_youngest(thread); call;
             call = report_call_caller(thread, call))
            on_ended(times, thread, call, thread->t, REPORT_CALL_OPEN);
        thread->size = thread->open = 0;
    }
}

const struct report_call_time *report_call_time_of(const struct report_call_times *times,
                                                   uint32_t method)
{
    return method < times->count && times->of[method].calls ? &times->of[method] : NULL;
}
