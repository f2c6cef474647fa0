/*
 * families/runtime.c - what the runtime does to the whole process: collections, suspensions, finalizers queued.
 *
 * A collection or suspension is one event, at its end, so that there are no halves to pair. Those still open at the end
 * of the process did not happen as far as the log goes.
 */
#include "families/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#define GENERATIONS 5 /* COR_PRF_GC_GENERATION */
#define RANGES      512

/* Bytes in use by generation, as the runtime's table of bounds has it. */
static void sizes_read(struct families *f, uint64_t bytes[GENERATIONS])
{
    struct clr_gc_generation_range small[RANGES], *range = small;
    struct clr_info *info = f->config.info;
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

void families_gc_started(struct families *f, int32_t generations, const int32_t *collected,
                         int32_t reason)
{
    struct families_gc gc = {.started = clock_ticks(), .induced = reason == COR_PRF_GC_INDUCED};

    if (!families_records(f, OPTIONS_GC))
        return;
    for (int32_t i = 0; i < generations && i < GENERATIONS; i++)
        if (collected[i])
            gc.generations |= 1u << i;
    sizes_read(f, gc.before);
    pthread_mutex_lock(&f->lock);
    gc.number = ++f->gc_count;
    if (f->gcs < COUNT_OF(f->gc))
        f->gc[f->gcs] = gc;
    f->gcs++;
    pthread_mutex_unlock(&f->lock);
}

static void put_sizes(struct families_draft *draft, const char *key, const uint64_t *bytes)
{
    buffer_format(&draft->members, ",\"%s\":[", key);
    for (unsigned i = 0; i < GENERATIONS; i++)
        buffer_format(&draft->members, "%s%llu", i ? "," : "", (unsigned long long)bytes[i]);
    buffer_char(&draft->members, ']');
}

static void put_generations(struct families_draft *draft, uint32_t mask)
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
void families_gc_finished(struct families *f)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_GC, "gc");
    struct families_gc gc = {0};
    uint64_t after[GENERATIONS];
    bool known = false;

    if (!families_records(f, OPTIONS_GC))
        return;
    pthread_mutex_lock(&f->lock);
    if (f->gcs && --f->gcs < COUNT_OF(f->gc)) {
        gc = f->gc[f->gcs];
        known = true;
    }
    pthread_mutex_unlock(&f->lock);
    if (!known)
        return;
    sizes_read(f, after);
    draft.has_node = true;
    families_number(&draft, "gc", gc.number);
    families_number(&draft, "ns", families_ns(gc.started, clock_ticks()));
    families_text(&draft, "reason", gc.induced ? "induced" : "other");
    put_generations(&draft, gc.generations);
    put_sizes(&draft, "before", gc.before);
    put_sizes(&draft, "after", after);
    families_post(f, &draft);
}

void families_finalizer_queued(struct families *f, uint32_t flags, uintptr_t object)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_FINALIZERS, "finalizer");
    struct clr_info *info;
    struct names_class *class;
    uintptr_t class_id;

    if (!families_records(f, OPTIONS_FINALIZERS))
        return;
    info = f->config.info;
    if (info->vtbl->get_class_from_object(info, object, &class_id) == S_OK &&
        !names_class_get(f->config.names, class_id, &class)) {
        names_class_resolve(f->config.names, class);
        draft.class = class;
    }
    if (flags & COR_PRF_FINALIZER_CRITICAL)
        buffer_text(&draft.members, ",\"critical\":true");
    families_post(f, &draft);
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

static void suspension_post(struct families *f, const struct families_suspension *s, bool aborted)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_SUSPEND, "suspend");

    draft.has_node = true;
    families_text(&draft, "reason", reason_name(s->reason));
    families_number(&draft, "ns", families_ns(s->started, clock_ticks()));
    if (s->stopped)
        families_number(&draft, "stop_ns", families_ns(s->started, s->stopped));
    if (aborted)
        buffer_text(&draft.members, ",\"aborted\":true");
    families_post(f, &draft);
}

/* The present suspension, which is over for the next one to begin; started 0: there was none. */
static struct families_suspension suspension_take(struct families *f)
{
    struct families_suspension s;

    pthread_mutex_lock(&f->lock);
    s = f->suspension;
    f->suspension = (struct families_suspension){0};
    pthread_mutex_unlock(&f->lock);
    return s;
}

void families_suspend_started(struct families *f, int32_t reason)
{
    if (!families_records(f, OPTIONS_SUSPEND))
        return;
    pthread_mutex_lock(&f->lock);
    f->suspension = (struct families_suspension){.started = clock_ticks(), .reason = reason};
    pthread_mutex_unlock(&f->lock);
}

void families_suspend_finished(struct families *f)
{
    if (!families_records(f, OPTIONS_SUSPEND))
        return;
    pthread_mutex_lock(&f->lock);
    f->suspension.stopped = clock_ticks();
    pthread_mutex_unlock(&f->lock);
}

void families_suspend_aborted(struct families *f)
{
    struct families_suspension s;

    if (!families_records(f, OPTIONS_SUSPEND))
        return;
    s = suspension_take(f);
    if (s.started)
        suspension_post(f, &s, true);
}

/* The runtime gives its lock back before it says that it is done: another suspension may begin by then. */
void families_resume_started(struct families *f)
{
    struct families_thread *t;
    struct families_suspension s;

    if (!families_records(f, OPTIONS_SUSPEND))
        return;
    s = suspension_take(f);
    t = families_thread(f);
    if (t) {
        t->resuming = s;
    } else if (s.started) {
        families_seen(f, OPTIONS_SUSPEND);
        families_lose(f, OPTIONS_SUSPEND, EVENT_LOST_NO_MEMORY);
    }
}

void families_resume_finished(struct families *f)
{
    struct families_thread *t = families_records(f, OPTIONS_SUSPEND) ? families_thread(f) : NULL;

    if (!t || !t->resuming.started)
        return;
    suspension_post(f, &t->resuming, false);
    t->resuming.started = 0;
}
