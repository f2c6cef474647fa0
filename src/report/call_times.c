#include "report/call_times.h"

/* How often each method is on a thread's stack, by its number. */
struct active {
    uint32_t *count;
    size_t capacity;
};

/* NULL: no memory. */
static uint32_t *active(struct report_calls_thread *thread, uint32_t method)
{
    struct active *a = thread->user;

    if (!a && !(a = thread->user = memory_zalloc(1, sizeof(*a))))
        return NULL;
    while (method >= a->capacity) {
        size_t before = a->capacity;
        uint32_t *larger = array_grow(a->count, &a->capacity, sizeof(*larger));

        if (!larger)
            return NULL;
        memset(larger + before, 0, (a->capacity - before) * sizeof(*larger));
        a->count = larger;
    }
    return &a->count[method];
}

/* NULL: no memory. */
static struct report_call_time *time_of(struct report_call_times *times, uint32_t method)
{
    while (method >= times->capacity) {
        struct report_call_time *larger = array_grow(times->of, &times->capacity, sizeof(*larger));

        if (!larger)
            return NULL;
        times->of = larger;
    }
    for (; times->count <= method; times->count++)
        times->of[times->count] = (struct report_call_time){0, 0, 0, 0, 0};
    return &times->of[method];
}

static int on_entered(void *context, struct report_calls_thread *thread, struct report_call *call)
{
    struct report_call_times *times = context;
    struct report_call_time *time;
    uint32_t number = 0, *open;
    int err = report_defs_method(times->defs, call->method, (struct report_place){0, 0}, &number);

    if (err)
        return err;
    time = time_of(times, number);
    open = active(thread, number);
    if (!time || !open)
        return -ENOMEM;
    time->calls++;
    ++*open;
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
    uint64_t ns = t > call->t ? t - call->t : 0;

    time->self_ns += ns > call->inside ? ns - call->inside : 0;
    time->unwound += end == REPORT_CALL_UNWOUND;
    if (--*active(thread, call->row) == 0) { /* the outermost of them */
        time->total_ns += ns;
        if (ns > time->longest_ns)
            time->longest_ns = ns;
    }
    if (call > thread->open)
        call[-1].inside += ns;
    return 0;
}

static int on_missing(void *context, struct report_calls_thread *thread, uint64_t t, uint64_t count)
{
    struct report_call_times *times = context;

    (void)thread, (void)t;
    times->missing += count;
    return 0;
}

void report_call_times_init(struct report_call_times *times, struct report_defs *defs)
{
    *times = (struct report_call_times){
        .defs = defs,
        .calls = {
            .entered = on_entered, .ended = on_ended, .missing = on_missing, .context = times}};
}

void report_call_times_fini(struct report_call_times *times)
{
    for (size_t i = 0; i < times->calls.count; i++) {
        struct active *a = times->calls.threads[i].user;

        if (a)
            memory_free(a->count);
        memory_free(a);
    }
    report_calls_fini(&times->calls);
    memory_free(times->of);
}

int report_call_times_take(struct report_call_times *times, const struct report_batch *batch)
{
    return report_calls_take(&times->calls, batch);
}

void report_call_times_finish(struct report_call_times *times)
{
    for (size_t i = 0; i < times->calls.count; i++) {
        struct report_calls_thread *thread = &times->calls.threads[i];

        for (; thread->count; thread->count--)
            on_ended(times, thread, &thread->open[thread->count - 1], thread->t, REPORT_CALL_OPEN);
    }
}

const struct report_call_time *report_call_time_of(const struct report_call_times *times,
                                                   uint32_t method)
{
    return method < times->count && times->of[method].calls ? &times->of[method] : NULL;
}
