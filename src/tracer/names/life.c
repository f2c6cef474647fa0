/*
 * Memory of records: what was unloaded is given back, and made another record. See names_retire() in names.h for when.
 */
#include "names/internal.h"

#include "rcu/grace.h"
#include "base/memory.h"
#include "clr/com.h"
#include "clr/readytorun.h"

#include <string.h>

/* ---- memory of one kind ---- */

/* A record goes by its key on a list: it is in no table then. */
static void *take(struct names *names, struct names_kept *kept, size_t size)
{
    uintptr_t *block;

    pthread_mutex_lock(&names->making);
    block = (uintptr_t *)kept->first;
    if (block)
        kept->first = *block;
    pthread_mutex_unlock(&names->making);
    return block ? block : memory_pool_zalloc(&names->pool, 1, size);
}

static void give(struct names *names, struct names_kept *kept, void *block)
{
    pthread_mutex_lock(&names->making);
    *(uintptr_t *)block = kept->first;
    kept->first = (uintptr_t)block;
    pthread_mutex_unlock(&names->making);
}

struct names_class **names_args_take(struct names *names, uint32_t count)
{
    struct names_class **args;

    if (count > NAMES_ARGS_KEPT)
        return memory_zalloc(count, sizeof(struct names_class *));
    args = take(names, &names->kept_args[count], count * sizeof(struct names_class *));
    if (args)
        *args = NULL; /* the others were cleared when they were given back */
    return args;
}

static void args_give(struct names *names, struct names_class **args, uint32_t count)
{
    if (!args)
        return;
    if (count > NAMES_ARGS_KEPT) {
        memory_free(args);
        return;
    }
    memset(args, 0, count * sizeof(struct names_class *));
    give(names, &names->kept_args[count], args);
}

/* Text of what cannot be unloaded is the pool's. */
static void text_free(_Atomic(const char *) *text, bool collectible, const char *fallback)
{
    const char *made = exchange_acq_rel(text, NULL);

    if (collectible && made != fallback)
        memory_free((void *)(uintptr_t)made);
}

/* Takes the record with its number and nothing else in it. */
#define TAKE(names, kept, type) \
    __extension__({ \
        type *taken = take(names, kept, sizeof(type)); \
        uint32_t number = taken ? taken->life.number : 0; \
        if (taken) { \
            memset(taken, 0, sizeof(*taken)); \
            taken->life.number = number; \
        } \
        taken; \
    })

struct names_method_entry *names_method_take(struct names *names)
{
    return TAKE(names, &names->kept_methods, struct names_method_entry);
}

struct names_class_entry *names_class_take(struct names *names)
{
    return TAKE(names, &names->kept_classes, struct names_class_entry);
}

struct names_module_entry *names_module_take(struct names *names)
{
    return TAKE(names, &names->kept_modules, struct names_module_entry);
}

void names_method_give(struct names *names, struct names_method_entry *m)
{
    if (!m)
        return;
    store_release(&m->life.listed, false);
    text_free(&m->record.text, m->record.collectible, m->fallback);
    names_bodies_free(&m->record);
    args_give(names, m->record.arg, m->record.args);
    m->record.arg = NULL;
    give(names, &names->kept_methods, m);
}

void names_class_give(struct names *names, struct names_class_entry *c)
{
    if (!c)
        return;
    store_release(&c->life.listed, false);
    text_free(&c->record.text, c->record.collectible, c->fallback);
    args_give(names, c->record.arg, c->record.args);
    c->record.arg = NULL;
    give(names, &names->kept_classes, c);
}

void names_module_give(struct names *names, struct names_module_entry *m)
{
    if (!m)
        return;
    store_release(&m->life.listed, false);
    clr_release(m->record.import);
    readytorun_free(m->ready);
    m->ready = NULL;
    memory_free(m->record.name);
    memory_free(m->record.path);
    m->record.import = NULL;
    m->record.name = m->record.path = NULL;
    give(names, &names->kept_modules, m);
}

/* ---- what has gone ---- */

bool names_module_gone(const struct names_module *module)
{
    return module && module->collectible && load_acquire(&names_module_entry(module)->gone);
}

static bool args_gone(struct names_class *const *arg, uint32_t args)
{
    for (uint32_t i = 0; i < args; i++)
        if (names_class_gone(arg[i]))
            return true;
    return false;
}

bool names_class_gone(const struct names_class *class)
{
    return class && class->collectible &&
           (names_module_gone(class->module) || names_class_gone(class->element) ||
            args_gone(class->arg, class->args));
}

bool names_method_gone(const struct names_method *method)
{
    return method->collectible &&
           (names_module_gone(method->module) || names_class_gone(method->owner) ||
            args_gone(method->arg, method->args));
}

bool names_method_retired(const struct names_method *method)
{
    return names_method_entry(method)->life.retired;
}

bool names_class_retired(const struct names_class *class)
{
    return names_class_entry(class)->life.retired;
}

static void unlist(struct names_table *table, struct names_entry *entry)
{
    if (names_table_find(table, entry->key) == entry)
        names_table_remove(table, entry->key);
}

/* Every record of a kind that is one, and not retired. Caller holds names->making. */
#define EACH(records, type, var) \
    for (uint32_t at = 1; at <= load_relaxed(&(records)->count); at++) \
        for (type *var = container_of(names_record_at(records, at), type, record); \
             var && load_acquire(&var->life.listed) && !var->life.retired; var = NULL)

bool names_retire(struct names *names)
{
    bool some;

    pthread_mutex_lock(&names->making);
    some = names->unloads != names->retired;
    names->retired = names->unloads;
    if (some) {
        EACH(&names->methods, struct names_method_entry, m)
        {
            m->life.retired = names_method_gone(&m->record);
            if (m->life.retired && m->entry.key)
                unlist(&names->method_table, &m->entry);
        }
        EACH(&names->classes, struct names_class_entry, c)
        {
            c->life.retired = names_class_gone(&c->record);
            if (c->life.retired)
                unlist(&names->class_table, &c->entry);
        }
        EACH(&names->modules, struct names_module_entry, module)
        module->life.retired = load_acquire(&module->gone); /* it is in no table any more */
    }
    pthread_mutex_unlock(&names->making);
    if (some)
        grace_wait(); /* who found one of them has left its section */
    return some;
}

struct clr_metadata *names_metadata_take(struct names *names, struct names_module_entry *module)
{
    struct clr_metadata *import = module->record.import;

    if (!import || !module->record.collectible || names->config.types_by_name)
        return NULL;
    if (names_held(names)) { /* by who may have met it before it went */
        store_relaxed(&names->metadata_held, true);
        return NULL;
    }
    module->record.import = NULL;
    return import;
}

static struct clr_metadata *next_metadata(struct names *names)
{
    struct clr_metadata *import = NULL;

    pthread_mutex_lock(&names->making);
    for (uint32_t at = 1; !import && at <= load_relaxed(&names->modules.count); at++) {
        struct names_module_entry *module =
            container_of(names_record_at(&names->modules, at), struct names_module_entry, record);

        if (load_acquire(&module->life.listed) && names_module_gone(&module->record))
            import = names_metadata_take(names, module);
    }
    pthread_mutex_unlock(&names->making);
    return import;
}

void names_release_metadata(struct names *names)
{
    struct clr_metadata *import;

    if (LIKELY(!load_relaxed(&names->metadata_held)) || names_held(names))
        return;
    store_relaxed(&names->metadata_held, false);
    while ((import = next_metadata(names)))
        clr_release(import);
}

#define RETIRED(records, type, var) \
    for (uint32_t at = 1; at <= load_acquire(&(records)->count); at++) \
        for (type *var = container_of(names_record_at(records, at), type, record); \
             var && load_acquire(&var->life.listed) && var->life.retired; var = NULL)

void names_release(struct names *names)
{
    RETIRED(&names->methods, struct names_method_entry, m)
    {
        names_method_give(names, m);
        add_relaxed(&names->given.methods, 1);
    }
    RETIRED(&names->classes, struct names_class_entry, c)
    {
        names_class_give(names, c);
        add_relaxed(&names->given.classes, 1);
    }
    RETIRED(&names->modules, struct names_module_entry, module)
    {
        names_module_give(names, module);
        add_relaxed(&names->given.modules, 1);
    }
}

const struct names_given *names_given_back(const struct names *names)
{
    return &names->given;
}

void names_release_all(struct names *names)
{
    for (uint32_t at = 1; at <= load_relaxed(&names->methods.count); at++)
        names_method_give(names, container_of(names_record_at(&names->methods, at),
                                              struct names_method_entry, record));
    for (uint32_t at = 1; at <= load_relaxed(&names->classes.count); at++)
        names_class_give(names, container_of(names_record_at(&names->classes, at),
                                             struct names_class_entry, record));
    for (uint32_t at = 1; at <= load_relaxed(&names->modules.count); at++)
        names_module_give(names, container_of(names_record_at(&names->modules, at),
                                              struct names_module_entry, record));
}

void names_hold(struct names *names)
{
    atomic_fetch_add(&names->holders,
                     1); /* before what is held is looked up; pairs with names_held() */
}

void names_unhold(struct names *names)
{
    atomic_fetch_sub_explicit(&names->holders, 1, memory_order_release);
}

bool names_held(struct names *names)
{
    fence_full();
    return load_acquire(&names->holders) != 0;
}
