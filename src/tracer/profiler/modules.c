#include "profiler/modules.h"

#include "base/array.h"
#include "clr/com.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>
#include <time.h>

#define AT_ONCE       64u    /* that are asked for */
#define GONE_PAUSE_NS 100000 /* waits for a thread that asks about a module which is to go */
#define GONE_TRIES    20000  /* 2 s: then the wait ends; the thread does not run */

/* Guards profiler.loaded. The runtime is never called under it. */
static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;

static void loaded_add(struct profiler *p, uintptr_t module_id)
{
    pthread_mutex_lock(&loaded_lock);
    if (array_reserve(&p->loaded.id, &p->loaded.capacity, p->loaded.count + 1))
        p->loaded.id[p->loaded.count++] = module_id;
    pthread_mutex_unlock(&loaded_lock);
}

/* Where a module lies in the list; its end if it is not there. Under the lock. */
static size_t loaded_at(const struct profiler *p, uintptr_t module_id)
{
    size_t at = 0;

    while (at < p->loaded.count && p->loaded.id[at] != module_id)
        at++;
    return at;
}

void modules_gone(struct profiler *p, uintptr_t module_id)
{
    const struct timespec pause = {0, GONE_PAUSE_NS};
    size_t at;

    pthread_mutex_lock(&loaded_lock);
    at = loaded_at(p, module_id);
    if (at < p->loaded.count)
        p->loaded.id[at] = p->loaded.id[--p->loaded.count];
    pthread_mutex_unlock(&loaded_lock);
    /* Not while another thread asks the runtime about it. */
    for (unsigned i = 0; module_id && load_acquire(&p->loaded.asked) == module_id && i < GONE_TRIES;
         i++)
        nanosleep(&pause, NULL);
}

/*
 * The last module before place *at, which becomes its place; 0: none. It is not unloaded until the
 * next one is taken. One that is removed has the
 * last one in its place, which was seen then.
 */
static uintptr_t loaded_before(struct profiler *p, size_t *at)
{
    uintptr_t module_id = 0;

    pthread_mutex_lock(&loaded_lock);
    if (*at > p->loaded.count)
        *at = p->loaded.count;
    if (*at)
        module_id = p->loaded.id[--*at];
    store_release(&p->loaded.asked, module_id); /* under the lock: before it can go */
    pthread_mutex_unlock(&loaded_lock);
    return module_id;
}

static void describe(struct profiler *p, uintptr_t module_id)
{
    metadata_module_met(p->metadata, module_id);
}

void modules_meet(struct profiler *p, uintptr_t module_id)
{
    loaded_add(p, module_id);
    if (p->walk)
        walk_module_loaded(p->walk, module_id);
    metadata_module_loaded(p->metadata, module_id);
    if (options_every_object(&p->options)) /* sampled ones come off the fast path */
        corelib_loaded(&p->corelib, &p->runtime, module_id);
    if (options_values(&p->options) || p->options.exact_generics || load_acquire(&p->describes))
        describe(p, module_id);
}

void modules_all(struct profiler *p, void (*meet)(struct profiler *p, uintptr_t module_id))
{
    struct clr_info *info = p->runtime.info;
    struct clr_module_enum *modules;
    uintptr_t id[AT_ONCE];
    uint32_t count = 0;
    hresult result;

    if (info->vtbl->enum_modules(info, &modules) != S_OK)
        return; /* each is met when something of it is */
    do {
        result = modules->vtbl->next(modules, AT_ONCE, id, &count);
        for (uint32_t i = 0; result >= 0 && i < count; i++)
            meet(p, id[i]);
    } while (result == S_OK && count);
    clr_release(modules);
}

void modules_describe(struct profiler *p)
{
    uintptr_t module_id;
    size_t at = SIZE_MAX;

    store_release(&p->describes, true); /* modules_meet() describes later ones */
    while ((module_id = loaded_before(p, &at)))
        describe(p, module_id);
}
