#include "events/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

static_assert((int)EVENT_FAMILIES == (int)OPTIONS_FAMILIES, "event.h knows how many there are");

struct events *events_new(const struct events_config *config)
{
    struct events *ev = memory_zalloc(1, sizeof(*ev));

    if (ev) {
        ev->config = *config;
        ev->messages.runtime = config->runtime;
        ev->messages.metadata = config->metadata;
        pthread_mutex_init(&ev->lock, NULL);
    }
    return ev;
}

void events_mask(const struct options *o, uint32_t *low, uint32_t *high)
{
    static const struct {
        enum options_family family;
        uint32_t low, high;
    } needs[] = {
        {OPTIONS_THREADS, COR_PRF_MONITOR_THREADS, 0},
        {OPTIONS_MODULES,
         COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |
             COR_PRF_MONITOR_APPDOMAIN_LOADS,
         0},
        {OPTIONS_CLASSES, COR_PRF_MONITOR_CLASS_LOADS, 0},
        {OPTIONS_JIT, COR_PRF_MONITOR_JIT_COMPILATION,
         COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS},
        {OPTIONS_EXCEPTIONS, COR_PRF_MONITOR_EXCEPTIONS, 0},
        {OPTIONS_GC, 0, COR_PRF_HIGH_BASIC_GC},
        {OPTIONS_SUSPEND, COR_PRF_MONITOR_SUSPENDS, 0},
        {OPTIONS_TRANSITIONS, COR_PRF_MONITOR_CODE_TRANSITIONS, 0},
        {OPTIONS_FINALIZERS, COR_PRF_MONITOR_GC, 0},
    };

    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        if (!options_records(o, needs[i].family))
            continue;
        *low |= needs[i].low;
        *high |= needs[i].high;
    }
}

void events_seen(struct events *ev, enum options_family family)
{
    add_relaxed(&ev->config.hub->family_seen[family], 1);
}

void events_lose(struct events *ev, enum options_family family, enum event_lost reason)
{
    add_relaxed(&ev->config.hub->family_lost[family][reason], 1);
}

struct events_thread *events_thread(void)
{
    struct stack *s = stack_current();
    struct thread *t = s ? thread_of(s) : NULL;

    if (t && !t->events)
        t->events = memory_zalloc(1, sizeof(*t->events));
    return t ? t->events : NULL;
}

/* The draft as a payload; NULL when memory ran out. */
static struct event_family *payload_of(const struct events_draft *draft)
{
    size_t size = draft->members.size;
    struct event_family *payload =
        draft->members.failed ? NULL : memory_alloc(sizeof(*payload) + size);

    if (!payload)
        return NULL;
    payload->family = draft->family;
    payload->has_node = draft->has_node;
    payload->kind = draft->kind;
    payload->class = (uintptr_t)draft->class;
    payload->method = (uintptr_t)draft->method;
    payload->size = (uint32_t)size;
    if (size)
        memcpy(payload->members, draft->members.data, size);
    return payload;
}

static enum event_lost post(struct events *ev, const struct events_draft *draft)
{
    struct event event = {.ticks = clock_ticks(),
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_FAMILY)};
    struct event_ring *ring;
    struct event_family *payload;

    if (load_relaxed(&ev->config.hub->stopped))
        return EVENT_LOST_STOPPED;
    ring = thread_ring();
    if (!ring)
        return EVENT_LOST_NO_RING;
    payload = payload_of(draft);
    if (!payload)
        return EVENT_LOST_NO_MEMORY;
    if (draft->has_node)
        event.node = context_now();
    event.subject = (uintptr_t)payload;
    if (!event_post(ring, &event))
        return EVENT_LOST_REASONS;
    memory_free(payload);
    return EVENT_LOST_RING_FULL;
}

void events_post(struct events *ev, struct events_draft *draft)
{
    enum event_lost lost = post(ev, draft);

    events_seen(ev, draft->family);
    if (lost != EVENT_LOST_REASONS)
        events_lose(ev, draft->family, lost);
    buffer_free(&draft->members);
}

const struct metadata_method *events_method(struct events *ev, uintptr_t function)
{
    struct metadata_method *method;

    if (!function || metadata_method_map(ev->config.metadata, function, &method))
        return NULL;
    metadata_method_resolve(ev->config.metadata, method);
    return method;
}

const struct metadata_class *events_class(struct events *ev, uintptr_t class_id)
{
    struct metadata_class *class = NULL;

    if (class_id && !metadata_class_get(ev->config.metadata, class_id, &class))
        metadata_class_resolve(ev->config.metadata, class);
    return class;
}

void events_text(struct events_draft *draft, const char *key, const char *text)
{
    buffer_format(&draft->members, ",\"%s\":", key);
    buffer_json_string(&draft->members, text);
}

void events_number(struct events_draft *draft, const char *key, uint64_t value)
{
    buffer_format(&draft->members, ",\"%s\":%llu", key, (unsigned long long)value);
}

void events_status(struct events_draft *draft, hresult status)
{
    if (status != S_OK)
        buffer_format(&draft->members, ",\"status\":\"0x%08x\"", (unsigned)status);
}

uint64_t events_ns(uint64_t from_ticks, uint64_t to_ticks)
{
    return to_ticks > from_ticks ? clock_duration_ns(to_ticks - from_ticks) : 0;
}
