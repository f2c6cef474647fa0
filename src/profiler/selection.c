#include "profiler/selection.h"

#include "base/memory.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>
#include <uchar.h>

#define BATCH 64

struct selection_missed {
    struct selection_missed *next;
    uintptr_t module_id;
    uint32_t token;
};

/* The function being compiled on this thread for which the mapper was not asked yet; 0: none. */
static _Thread_local uintptr_t compiling;

void selection_init(struct selection *s, struct clr_info *info, struct names *names,
                    const struct options *options)
{
    memset(s, 0, sizeof(*s));
    s->info = info;
    s->names = names;
    s->options = options;
    s->keeps_precompiled = options->only.count > 0;
    pthread_mutex_init(&s->lock, NULL);
}

bool selection_wants(struct selection *s, struct names_method *method)
{
    const struct options_patterns *only = &s->options->only, *exclude = &s->options->exclude;
    const char *name;

    if (method->hidden || (s->spares_unmanaged_callers && names_method_unmanaged_callers(method)))
        return false;
    if (!only->count && !exclude->count)
        return true;
    name = names_method_resolve(s->names, method);
    return (!only->count || options_match(only, name)) && !options_match(exclude, name);
}

/* Under the lock. */
static void flag_set(struct selection *s, bool up)
{
    struct clr_info *info = s->info;
    uint32_t low, high;

    if (info->vtbl->get_event_mask2(info, &low, &high) != S_OK)
        return;
    low &= ~(uint32_t)COR_PRF_MONITOR_ENTERLEAVE;
    if (up)
        low |= COR_PRF_MONITOR_ENTERLEAVE;
    info->vtbl->set_event_mask2(info, low, high);
}

void selection_load_started(struct selection *s)
{
    if (!s->keeps_precompiled)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->loading++ == 0)
        flag_set(s, false);
    pthread_mutex_unlock(&s->lock);
}

void selection_load_finished(struct selection *s)
{
    if (!s->keeps_precompiled)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->loading && --s->loading == 0)
        flag_set(s, true);
    pthread_mutex_unlock(&s->lock);
}

void selection_compile_started(uintptr_t function_id)
{
    compiling = function_id;
}

void selection_mapped(void)
{
    compiling = 0;
}

void selection_compile_finished(struct selection *s, uintptr_t function_id)
{
    bool missed = compiling == function_id;
    struct names_method *method;
    struct selection_missed *entry;

    compiling = 0;
    if (!missed || names_method_map(s->names, function_id, &method) || !method->module ||
        !selection_wants(s, method))
        return;
    entry = memory_zalloc(1, sizeof(*entry));
    if (!entry)
        return;
    entry->module_id = method->module->module_id;
    entry->token = method->token;
    add_relaxed(&s->missed_count, 1);
    pthread_mutex_lock(&s->lock);
    entry->next = s->missed;
    s->missed = entry;
    pthread_mutex_unlock(&s->lock);
}

bool selection_mend(struct selection *s)
{
    uintptr_t modules[BATCH];
    uint32_t tokens[BATCH], count = 0;

    pthread_mutex_lock(&s->lock);
    while (s->missed && !s->loading &&
           count < BATCH) { /* not while the flag is down: it would be missed again */
        struct selection_missed *entry = s->missed;

        modules[count] = entry->module_id;
        tokens[count++] = entry->token;
        s->missed = entry->next;
        memory_free(entry);
    }
    pthread_mutex_unlock(&s->lock);
    if (count)
        s->info->vtbl->request_rejit(s->info, count, modules, tokens);
    return count > 0;
}
