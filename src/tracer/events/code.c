/*
 * events/code.c - code as it comes and goes: compilations, modules, assemblies, classes; and
 * threads.
 */
#include "events/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define NAME_MAX_UNITS 512

void events_jit_started(struct events *ev, uintptr_t function)
{
    struct events_thread *t = events_records(ev, OPTIONS_JIT) ? events_thread() : NULL;

    if (!t)
        return;
    if (t->jits < EVENTS_NESTED) {
        t->jit[t->jits].function = function;
        t->jit[t->jits].started = clock_ticks();
    }
    t->jits++;
}

/* What the runtime has written, of `length` units with the NUL. */
static void put_utf8(char *text, size_t size, const clr_wchar *name, uint32_t length)
{
    clr_utf16_to_utf8(text, size, name,
                      clr_utf16_length(name, length < NAME_MAX_UNITS ? length : NAME_MAX_UNITS));
}

/* Where the runtime keeps no metadata it still knows a name. */
static void put_dynamic_name(struct events *ev, struct events_draft *draft, uintptr_t function)
{
    struct clr_info *info = ev->config.runtime->info;
    char text[CLR_UTF8_SIZE(NAME_MAX_UNITS)] = "";
    clr_wchar name[NAME_MAX_UNITS];
    const uint8_t *signature;
    uint32_t size, length = 0;
    uintptr_t module;

    if (ev->config.runtime->info_version >= 8 &&
        info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size,
                                              NAME_MAX_UNITS, &length, name) == S_OK)
        put_utf8(text, sizeof(text), name, length);
    buffer_text(&draft->members, ",\"dynamic\":true");
    events_text(draft, "name", text);
}

/* Which code of the method this is: callbacks do not say; who compiles it and how often does. */
static const char *tier_name(uint32_t version, uintptr_t rejit, bool empty_stack)
{
    if (rejit)
        return "rejit";
    if (version == 1)
        return "first";
    return empty_stack ? "tier1" : "again";
}

static void jit_post(struct events *ev, uintptr_t function, uint64_t started, hresult status,
                     bool dynamic, uintptr_t rejit)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_JIT, "jit");
    struct metadata_method *method = NULL;

    if (started)
        events_number(&draft, "ns", events_ns(started, clock_ticks()));
    if (dynamic) {
        put_dynamic_name(ev, &draft, function);
    } else if (!metadata_method_map(ev->config.metadata, function, &method)) {
        uint32_t version = add_relaxed(&method->compiled, 1) + 1;
        bool empty = !context_now();

        metadata_method_resolve(ev->config.metadata, method);
        draft.method = method;
        events_number(&draft, "version", version);
        events_text(&draft, "tier", tier_name(version, rejit, empty));
    }
    events_status(&draft, status);
    events_post(ev, &draft);
}

static void jit_finished(struct events *ev, uintptr_t function, hresult status, bool dynamic,
                         uintptr_t rejit)
{
    struct events_thread *t = events_records(ev, OPTIONS_JIT) ? events_thread() : NULL;
    uint64_t started = 0;

    if (!events_records(ev, OPTIONS_JIT))
        return;
    if (t && t->jits && --t->jits < EVENTS_NESTED && t->jit[t->jits].function == function)
        started = t->jit[t->jits].started;
    jit_post(ev, function, started, status, dynamic, rejit);
}

void events_jit_finished(struct events *ev, uintptr_t function, hresult status, bool dynamic)
{
    jit_finished(ev, function, status, dynamic, 0);
}

void events_rejit_finished(struct events *ev, uintptr_t function, uintptr_t rejit, hresult status)
{
    jit_finished(ev, function, status, false, rejit ? rejit : 1);
}

void events_dynamic_unloaded(struct events *ev)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_JIT, "jit");

    if (!events_records(ev, OPTIONS_JIT))
        return;
    draft.has_node = false;
    buffer_text(&draft.members, ",\"dynamic\":true,\"unloaded\":true");
    events_post(ev, &draft);
}

/* The runtime's name of a thing, as UTF-8; "" when it gives none. */
static void name_of(struct events *ev, enum events_thing thing, uintptr_t id, char *text,
                    size_t size, uint32_t *flags, uintptr_t *assembly)
{
    struct clr_info *info = ev->config.runtime->info;
    clr_wchar name[NAME_MAX_UNITS];
    uint32_t length = 0;
    uintptr_t other, another;
    hresult result;

    *flags = 0;
    *assembly = 0;
    *text = '\0';
    if (thing == EVENTS_MODULE)
        result = info->vtbl->get_module_info2(info, id, NULL, NAME_MAX_UNITS, &length, name,
                                              assembly, flags);
    else if (thing == EVENTS_ASSEMBLY)
        result = info->vtbl->get_assembly_info(info, id, NAME_MAX_UNITS, &length, name, &other,
                                               &another);
    else
        result = info->vtbl->get_app_domain_info(info, id, NAME_MAX_UNITS, &length, name, &other);
    if (result == S_OK)
        put_utf8(text, size, name, length);
}

void events_load(struct events *ev, enum events_thing thing, uintptr_t id, bool loaded,
                 hresult status)
{
    static const char *const things[] = {"module", "assembly", "domain"};
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_MODULES, "load");
    char text[CLR_UTF8_SIZE(NAME_MAX_UNITS)];
    uintptr_t assembly;
    uint32_t flags;

    if (!events_records(ev, OPTIONS_MODULES))
        return;
    events_text(&draft, "event", loaded ? "loaded" : "unloaded");
    events_text(&draft, "what", things[thing]);
    name_of(ev, thing, id, text, sizeof(text), &flags, &assembly);
    events_text(&draft, "name", text);
    if (assembly) {
        uint32_t ignored;

        name_of(ev, EVENTS_ASSEMBLY, assembly, text, sizeof(text), &ignored, &assembly);
        events_text(&draft, "assembly", text);
    }
    if (flags & COR_PRF_MODULE_COLLECTIBLE)
        buffer_text(&draft.members, ",\"collectible\":true");
    if (flags & COR_PRF_MODULE_DYNAMIC)
        buffer_text(&draft.members, ",\"dynamic\":true");
    events_status(&draft, status);
    events_post(ev, &draft);
}

void events_class_load(struct events *ev, uintptr_t class_id, bool loaded, hresult status)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_CLASSES, "class_load");

    if (!events_records(ev, OPTIONS_CLASSES))
        return;
    events_text(&draft, "event", loaded ? "loaded" : "unloaded");
    draft.class = events_class(ev, class_id);
    events_status(&draft, status);
    events_post(ev, &draft);
}

/* ThreadIDs are used again, numbers are not. */
static uint32_t thread_number(struct events *ev, uintptr_t thread_id, bool ends)
{
    struct events_managed **link, *found, *gone = NULL;
    uint32_t number = 0;

    pthread_mutex_lock(&ev->lock);
    for (link = &ev->managed; *link && (*link)->thread_id != thread_id;)
        link = &(*link)->next;
    found = *link;
    if (!found && !ends && (found = memory_zalloc(1, sizeof(*found)))) {
        found->thread_id = thread_id;
        found->number = ++ev->managed_count;
        *link = found;
    }
    if (found)
        number = found->number;
    if (found && ends) {
        gone = found;
        *link = gone->next;
    }
    pthread_mutex_unlock(&ev->lock);
    memory_free(gone);
    return number;
}

/* With `key`: a member more, `text` or else `value`. */
static void thread_post(struct events *ev, uintptr_t thread, const char *event, const char *key,
                        const char *text, uint64_t value)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_THREADS, "managed_thread");
    uint32_t number;

    if (!events_records(ev, OPTIONS_THREADS))
        return;
    number = thread_number(ev, thread, !strcmp(event, "destroyed"));
    draft.members.failed = !number; /* there was no memory to number it: an event of nobody */
    events_text(&draft, "event", event);
    events_number(&draft, "id", number);
    if (text)
        events_text(&draft, key, text);
    else if (key)
        events_number(&draft, key, value);
    events_post(ev, &draft);
}

void events_thread_created(struct events *ev, uintptr_t thread)
{
    thread_post(ev, thread, "created", NULL, NULL, 0);
}

void events_thread_assigned(struct events *ev, uintptr_t thread, uint32_t os)
{
    thread_post(ev, thread, "assigned", "os", NULL, os);
}

void events_thread_named(struct events *ev, uintptr_t thread, const char *name)
{
    thread_post(ev, thread, "named", "name", name, 0);
}

void events_thread_destroyed(struct events *ev, uintptr_t thread)
{
    thread_post(ev, thread, "destroyed", NULL, NULL, 0);
}

/* Many in a second: no payload. */
void events_transition(struct events *ev, uintptr_t function, bool to_native, int32_t reason)
{
    struct event event = {.ticks = clock_ticks()};
    struct event_ring *ring;
    bool returns = reason == COR_PRF_TRANSITION_RETURN;

    if (!events_records(ev, OPTIONS_TRANSITIONS))
        return;
    events_seen(ev, OPTIONS_TRANSITIONS);
    ring = load_relaxed(&ev->config.hub->stopped) ? NULL : thread_ring();
    if (!ring) {
        events_lose(ev, OPTIONS_TRANSITIONS,
                    load_relaxed(&ev->config.hub->stopped) ? EVENT_LOST_STOPPED
                                                           : EVENT_LOST_NO_RING);
        return;
    }
    event.bytes_kind =
        event_pack(to_native ? returns ? EVENT_TO_NATIVE_RETURN : EVENT_TO_NATIVE_CALL
                   : returns ? EVENT_TO_MANAGED_RETURN
                             : EVENT_TO_MANAGED_CALL,
                   EVENT_HEAP_NORMAL, EVENT_TRANSITION);
    event.subject = (uintptr_t)events_method(ev, function);
    event.node = context_now();
    if (event_post(ring, &event))
        events_lose(ev, OPTIONS_TRANSITIONS, EVENT_LOST_RING_FULL);
}
