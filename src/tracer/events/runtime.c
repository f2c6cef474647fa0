/*
 * events/runtime.c - what the runtime does to the whole process: collections, suspensions,
 * finalizers queued.
 *
 * A collection or suspension is one event, at its end, so that there are no halves to pair. Those
 * still open at the end of the process did not happen as far as the log goes.
 */
#include "events/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#define GENERATIONS 5 /* COR_PRF_GC_GENERATION */
#define RANGES      512

/* Bytes in use by generation, as the runtime's table of bounds has it. */
static void sizes_read(struct events *ev, uint64_t bytes[GENERATIONS])
{
    struct clr_gc_generation_range small[RANGES], *range = small;
    struct clr_info *info = ev->config.runtime->info;
    uint32_t count = 0, max = RANGES;

    for (unsigned i = 0; i < GENERATIONS; i++)
        bytes[i] = 0;
    if (info->vtbl->get_generation_bounds(info, max, &count, small) != S_OK)
        return;
    if (count > max) { /* a heap of many regions */
        max = count + RANGES;
        range = memory_alloc(max * sizeof(*range));
        if (!range || info->vtbl->get_generation_bounds(info, max, &count, range) != S_OK)
            count = 0;
    }
    for (uint32_t i = 0; i < count && i < max; i++)
        if ((unsigned)range[i].generation < GENERATIONS)
            bytes[range[i].generation] += range[i].range_length;
    if (range != small)
        memory_free(range);
}

void events_gc_started(struct events *ev, int32_t generations, const int32_t *collected,
                       int32_t reason)
{
    struct events_gc gc = {.started = clock_ticks(), .induced = reason == COR_PRF_GC_INDUCED};

    if (!events_records(ev, OPTIONS_GC))
        return;
    for (int32_t i = 0; i < generations && i < GENERATIONS; i++)
        if (collected[i])
            gc.generations |= 1u << i;
    sizes_read(ev, gc.before);
    pthread_mutex_lock(&ev->lock);
    gc.number = ++ev->gc_count;
    if (ev->gcs < COUNT_OF(ev->gc))
        ev->gc[ev->gcs] = gc;
    ev->gcs++;
    pthread_mutex_unlock(&ev->lock);
}

static void put_sizes(struct events_draft *draft, const char *key, const uint64_t *bytes)
{
    buffer_format(&draft->members, ",\"%s\":[", key);
    for (unsigned i = 0; i < GENERATIONS; i++)
        buffer_format(&draft->members, "%s%llu", i ? "," : "", (unsigned long long)bytes[i]);
    buffer_char(&draft->members, ']');
}

static void put_generations(struct events_draft *draft, uint32_t mask)
{
    const char *separator = "";

    buffer_text(&draft->members, ",\"generations\":[");
    for (unsigned i = 0; i < GENERATIONS; i++) {
        if (!(mask >> i & 1))
            continue;
        buffer_format(&draft->members, "%s%u", separator, i);
        separator = ",";
    }
    buffer_char(&draft->members, ']');
}

/* Collections that are inside of one another end in reverse order. */
void events_gc_finished(struct events *ev)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_GC, "gc");
    struct events_gc gc = {0};
    uint64_t after[GENERATIONS];
    bool known = false;

    if (!events_records(ev, OPTIONS_GC))
        return;
    pthread_mutex_lock(&ev->lock);
    if (ev->gcs && --ev->gcs < COUNT_OF(ev->gc)) {
        gc = ev->gc[ev->gcs];
        known = true;
    }
    pthread_mutex_unlock(&ev->lock);
    if (!known)
        return;
    sizes_read(ev, after);
    events_number(&draft, "gc", gc.number);
    events_number(&draft, "ns", events_ns(gc.started, clock_ticks()));
    events_text(&draft, "reason", gc.induced ? "induced" : "other");
    put_generations(&draft, gc.generations);
    put_sizes(&draft, "before", gc.before);
    put_sizes(&draft, "after", after);
    events_post(ev, &draft);
}

void events_finalizer_queued(struct events *ev, uint32_t flags, uintptr_t object)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_FINALIZERS, "finalizer");
    struct clr_info *info;
    uintptr_t class_id;

    if (!events_records(ev, OPTIONS_FINALIZERS))
        return;
    info = ev->config.runtime->info;
    if (info->vtbl->get_class_from_object(info, object, &class_id) == S_OK)
        draft.class = events_class(ev, class_id);
    if (flags & COR_PRF_FINALIZER_CRITICAL)
        buffer_text(&draft.members, ",\"critical\":true");
    events_post(ev, &draft);
}

static const char *reason_name(int32_t reason)
{
    static const char *const names[] = {
        [COR_PRF_SUSPEND_OTHER] = "other",
        [COR_PRF_SUSPEND_FOR_GC] = "gc",
        [COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN] = "appdomain_shutdown",
        [COR_PRF_SUSPEND_FOR_CODE_PITCHING] = "code_pitching",
        [COR_PRF_SUSPEND_FOR_SHUTDOWN] = "shutdown",
        [COR_PRF_SUSPEND_FOR_INPROC_DEBUGGER] = "debugger",
        [COR_PRF_SUSPEND_FOR_GC_PREP] = "gc_prep",
        [COR_PRF_SUSPEND_FOR_REJIT] = "rejit",
        [COR_PRF_SUSPEND_FOR_PROFILER] = "profiler",
    };

    return (uint32_t)reason < COUNT_OF(names) && names[reason] ? names[reason] : "unknown";
}

static void suspension_post(struct events *ev, const struct events_suspension *s, bool aborted)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_SUSPEND, "suspend");

    events_text(&draft, "reason", reason_name(s->reason));
    events_number(&draft, "ns", events_ns(s->started, clock_ticks()));
    if (s->stopped)
        events_number(&draft, "stop_ns", events_ns(s->started, s->stopped));
    if (aborted)
        buffer_text(&draft.members, ",\"aborted\":true");
    events_post(ev, &draft);
}

/* The present suspension, which is over for the next one to begin; started 0: there was none. */
static struct events_suspension suspension_take(struct events *ev)
{
    struct events_suspension s;

    pthread_mutex_lock(&ev->lock);
    s = ev->suspension;
    ev->suspension = (struct events_suspension){0};
    pthread_mutex_unlock(&ev->lock);
    return s;
}

void events_suspend_started(struct events *ev, int32_t reason)
{
    if (!events_records(ev, OPTIONS_SUSPEND))
        return;
    pthread_mutex_lock(&ev->lock);
    ev->suspension = (struct events_suspension){.started = clock_ticks(), .reason = reason};
    pthread_mutex_unlock(&ev->lock);
}

void events_suspend_finished(struct events *ev)
{
    if (!events_records(ev, OPTIONS_SUSPEND))
        return;
    pthread_mutex_lock(&ev->lock);
    ev->suspension.stopped = clock_ticks();
    pthread_mutex_unlock(&ev->lock);
}

void events_suspend_aborted(struct events *ev)
{
    struct events_suspension s;

    if (!events_records(ev, OPTIONS_SUSPEND))
        return;
    s = suspension_take(ev);
    if (s.started)
        suspension_post(ev, &s, true);
}

/* The runtime gives its lock back before it says so: another suspension may begin by then. */
void events_resume_started(struct events *ev)
{
    struct events_thread *t;
    struct events_suspension s;

    if (!events_records(ev, OPTIONS_SUSPEND))
        return;
    s = suspension_take(ev);
    t = events_thread();
    if (t) {
        t->resuming = s;
    } else if (s.started) {
        events_seen(ev, OPTIONS_SUSPEND);
        events_lose(ev, OPTIONS_SUSPEND, EVENT_LOST_NO_MEMORY);
    }
}

void events_resume_finished(struct events *ev)
{
    struct events_thread *t = events_records(ev, OPTIONS_SUSPEND) ? events_thread() : NULL;

    if (!t || !t->resuming.started)
        return;
    suspension_post(ev, &t->resuming, false);
    t->resuming.started = 0;
}
