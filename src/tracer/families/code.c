/*
 * families/code.c - code as it comes and goes: compilations, modules, assemblies, classes; and threads.
 */
#include "families/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/text.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define NAME_MAX_UNITS 512

void families_jit_started(struct families *f, uintptr_t function)
{
    struct families_thread *t = families_records(f, OPTIONS_JIT) ? families_thread(f) : NULL;

    if (!t)
        return;
    if (t->jits < FAMILIES_NESTED) {
        t->jit[t->jits].function = function;
        t->jit[t->jits].started = clock_ticks();
    }
    t->jits++;
}

/* Where the runtime keeps no metadata it still knows a name. */
static void put_dynamic_name(struct families *f, struct families_draft *draft, uintptr_t function)
{
    struct clr_info *info = f->config.info;
    char text[CLR_TEXT_UTF8_SIZE(NAME_MAX_UNITS)] = "";
    clr_wchar name[NAME_MAX_UNITS];
    const uint8_t *signature;
    uint32_t size, length = 0;
    uintptr_t module;

    if (f->config.info_version >= 8 &&
        info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size,
                                              NAME_MAX_UNITS, &length, name) == S_OK)
        clr_text_utf8(text, sizeof(text), name,
                      clr_text_length(name, length < NAME_MAX_UNITS ? length : NAME_MAX_UNITS));
    buffer_text(&draft->members, ",\"dynamic\":true");
    families_text(draft, "name", text);
}

/* Which code this is of the method's: the callbacks do not say, but who compiles it and how often does. */
static const char *tier_name(uint32_t version, uintptr_t rejit, bool empty_stack)
{
    if (rejit)
        return "rejit";
    if (version == 1)
        return "first";
    return empty_stack ? "tier1" : "again";
}

static void jit_post(struct families *f, uintptr_t function, uint64_t started, hresult status,
                     bool dynamic, uintptr_t rejit)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_JIT, "jit");
    struct names_method *method = NULL;

    draft.has_node = true;
    if (started)
        families_number(&draft, "ns", families_ns(started, clock_ticks()));
    if (dynamic) {
        put_dynamic_name(f, &draft, function);
    } else if (!names_method_map(f->config.names, function, &method)) {
        uint32_t version = add_relaxed(&method->compiled, 1) + 1;
        bool empty = !f->config.node(f->config.context);

        names_method_resolve(f->config.names, method);
        draft.method = method;
        families_number(&draft, "version", version);
        families_text(&draft, "tier", tier_name(version, rejit, empty));
    }
    families_status(&draft, status);
    families_post(f, &draft);
}

static void jit_finished(struct families *f, uintptr_t function, hresult status, bool dynamic,
                         uintptr_t rejit)
{
    struct families_thread *t = families_records(f, OPTIONS_JIT) ? families_thread(f) : NULL;
    uint64_t started = 0;

    if (!families_records(f, OPTIONS_JIT))
        return;
    if (t && t->jits && --t->jits < FAMILIES_NESTED && t->jit[t->jits].function == function)
        started = t->jit[t->jits].started;
    jit_post(f, function, started, status, dynamic, rejit);
}

void families_jit_finished(struct families *f, uintptr_t function, hresult status, bool dynamic)
{
    jit_finished(f, function, status, dynamic, 0);
}

void families_rejit_finished(struct families *f, uintptr_t function, uintptr_t rejit,
                             hresult status)
{
    jit_finished(f, function, status, false, rejit ? rejit : 1);
}

void families_jit_ended(struct families *f, struct families_thread *t)
{
    (void)f;
    t->jits = 0;
}

void families_dynamic_unloaded(struct families *f, uintptr_t function)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_JIT, "jit");

    (void)function; /* of a method that is gone: it has no name any more */
    if (!families_records(f, OPTIONS_JIT))
        return;
    buffer_text(&draft.members, ",\"dynamic\":true,\"unloaded\":true");
    families_post(f, &draft);
}

enum thing { MODULE, ASSEMBLY, DOMAIN };

/* The runtime's name of a thing, as UTF-8; "" when it gives none. */
static void name_of(struct families *f, enum thing thing, uintptr_t id, char *text, size_t size,
                    uint32_t *flags, uintptr_t *assembly)
{
    struct clr_info *info = f->config.info;
    clr_wchar name[NAME_MAX_UNITS];
    uint32_t length = 0;
    uintptr_t other, another;
    hresult result;

    *flags = 0;
    *assembly = 0;
    *text = '\0';
    if (thing == MODULE)
        result = info->vtbl->get_module_info2(info, id, NULL, NAME_MAX_UNITS, &length, name,
                                              assembly, flags);
    else if (thing == ASSEMBLY)
        result = info->vtbl->get_assembly_info(info, id, NAME_MAX_UNITS, &length, name, &other,
                                               &another);
    else
        result = info->vtbl->get_app_domain_info(info, id, NAME_MAX_UNITS, &length, name, &other);
    if (result == S_OK)
        clr_text_utf8(text, size, name,
                      clr_text_length(name, length < NAME_MAX_UNITS ? length : NAME_MAX_UNITS));
}

static void load_post(struct families *f, enum thing thing, uintptr_t id, const char *event,
                      hresult status)
{
    static const char *const things[] = {"module", "assembly", "domain"};
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_MODULES, "load");
    char text[CLR_TEXT_UTF8_SIZE(NAME_MAX_UNITS)];
    uintptr_t assembly;
    uint32_t flags;

    if (!families_records(f, OPTIONS_MODULES))
        return;
    draft.has_node = true;
    families_text(&draft, "event", event);
    families_text(&draft, "what", things[thing]);
    name_of(f, thing, id, text, sizeof(text), &flags, &assembly);
    families_text(&draft, "name", text);
    if (assembly) {
        uint32_t ignored;

        name_of(f, ASSEMBLY, assembly, text, sizeof(text), &ignored, &assembly);
        families_text(&draft, "assembly", text);
    }
    if (flags & COR_PRF_MODULE_COLLECTIBLE)
        buffer_text(&draft.members, ",\"collectible\":true");
    if (flags & COR_PRF_MODULE_DYNAMIC)
        buffer_text(&draft.members, ",\"dynamic\":true");
    families_status(&draft, status);
    families_post(f, &draft);
}

void families_module_loaded(struct families *f, uintptr_t module, hresult status)
{
    load_post(f, MODULE, module, "loaded", status);
}

void families_module_unloading(struct families *f, uintptr_t module)
{
    load_post(f, MODULE, module, "unloaded", S_OK);
}

void families_assembly_loaded(struct families *f, uintptr_t assembly, hresult status)
{
    load_post(f, ASSEMBLY, assembly, "loaded", status);
}

void families_assembly_unloading(struct families *f, uintptr_t assembly)
{
    load_post(f, ASSEMBLY, assembly, "unloaded", S_OK);
}

void families_domain_created(struct families *f, uintptr_t domain, hresult status)
{
    load_post(f, DOMAIN, domain, "loaded", status);
}

static void class_post(struct families *f, uintptr_t class_id, const char *event, hresult status)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_CLASSES, "class_load");
    struct names_class *class;

    if (!families_records(f, OPTIONS_CLASSES))
        return;
    draft.has_node = true;
    families_text(&draft, "event", event);
    if (!names_class_get(f->config.names, class_id, &class)) {
        names_class_resolve(f->config.names, class);
        draft.class = class;
    }
    families_status(&draft, status);
    families_post(f, &draft);
}

void families_class_loaded(struct families *f, uintptr_t class_id, hresult status)
{
    class_post(f, class_id, "loaded", status);
}

void families_class_unloading(struct families *f, uintptr_t class_id)
{
    class_post(f, class_id, "unloaded", S_OK);
}

/* ThreadIDs are used again, numbers are not. */
static uint32_t thread_number(struct families *f, uintptr_t thread_id, bool ends)
{
    struct families_managed **link, *found, *gone = NULL;
    uint32_t number = 0;

    pthread_mutex_lock(&f->lock);
    for (link = &f->managed; *link && (*link)->thread_id != thread_id;)
        link = &(*link)->next;
    found = *link;
    if (!found && !ends && (found = memory_zalloc(1, sizeof(*found)))) {
        found->thread_id = thread_id;
        found->number = ++f->managed_count;
        *link = found;
    }
    if (found)
        number = found->number;
    if (found && ends) {
        gone = found;
        *link = gone->next;
    }
    pthread_mutex_unlock(&f->lock);
    memory_free(gone);
    return number;
}

/* With `key`: a member more, `text` or else `value`. */
static void thread_post(struct families *f, uintptr_t thread, const char *event, const char *key,
                        const char *text, uint64_t value)
{
    struct families_draft draft = FAMILIES_DRAFT(draft, OPTIONS_THREADS, "managed_thread");
    uint32_t number;

    if (!families_records(f, OPTIONS_THREADS))
        return;
    number = thread_number(f, thread, !strcmp(event, "destroyed"));
    draft.has_node = true;
    draft.members.failed = !number; /* there was no memory to number it: an event of nobody */
    families_text(&draft, "event", event);
    families_number(&draft, "id", number);
    if (text)
        families_text(&draft, key, text);
    else if (key)
        families_number(&draft, key, value);
    families_post(f, &draft);
}

void families_thread_created(struct families *f, uintptr_t thread)
{
    thread_post(f, thread, "created", NULL, NULL, 0);
}

void families_thread_assigned(struct families *f, uintptr_t thread, uint32_t os)
{
    thread_post(f, thread, "assigned", "os", NULL, os);
}

void families_thread_named(struct families *f, uintptr_t thread, const char *name)
{
    thread_post(f, thread, "named", "name", name, 0);
}

void families_thread_destroyed(struct families *f, uintptr_t thread)
{
    thread_post(f, thread, "destroyed", NULL, NULL, 0);
}

/* Many in a second: no payload. */
void families_transition(struct families *f, uintptr_t function, bool to_native, int32_t reason)
{
    struct event event = {.ticks = clock_ticks()};
    struct event_ring *ring;
    bool returns = reason == COR_PRF_TRANSITION_RETURN;

    if (!families_records(f, OPTIONS_TRANSITIONS))
        return;
    families_seen(f, OPTIONS_TRANSITIONS);
    ring = load_relaxed(&f->config.hub->stopped) ? NULL : f->config.ring(f->config.context);
    if (!ring) {
        families_lose(f, OPTIONS_TRANSITIONS,
                      load_relaxed(&f->config.hub->stopped) ? EVENT_LOST_STOPPED
                                                            : EVENT_LOST_NO_RING);
        return;
    }
    event.bytes_kind =
        event_pack(to_native ? returns ? EVENT_TO_NATIVE_RETURN : EVENT_TO_NATIVE_CALL
                   : returns ? EVENT_TO_MANAGED_RETURN
                             : EVENT_TO_MANAGED_CALL,
                   EVENT_HEAP_NORMAL, EVENT_TRANSITION);
    event.subject = (uintptr_t)families_method(f, function);
    event.node = f->config.node(f->config.context);
    if (event_post(ring, &event))
        families_lose(f, OPTIONS_TRANSITIONS, EVENT_LOST_RING_FULL);
}
