/* Memory of records: what was unloaded becomes another record; metadata_retire() says when. */
#include "metadata/internal.h"

#include "rcu/grace.h"
#include "base/memory.h"
#include "clr/com.h"
#include "clr/readytorun.h"

#include <string.h>

/* ---- memory of one kind ---- */

/* A record goes by its key on a list: it is in no table then. */
static void *take(struct metadata *metadata, struct metadata_kept *kept, size_t size)
{
    uintptr_t *block;

    pthread_mutex_lock(&metadata->making);
    block = (uintptr_t *)kept->first;
    if (block)
        kept->first = *block;
    pthread_mutex_unlock(&metadata->making);
    return block ? block : memory_pool_zalloc(&metadata->pool, 1, size);
}

static void give(struct metadata *metadata, struct metadata_kept *kept, void *block)
{
    pthread_mutex_lock(&metadata->making);
    *(uintptr_t *)block = kept->first;
    kept->first = (uintptr_t)block;
    pthread_mutex_unlock(&metadata->making);
}

struct metadata_class **metadata_args_take(struct metadata *metadata, uint32_t count)
{
    struct metadata_class **args;

    if (count > METADATA_ARGS_KEPT)
        return memory_zalloc(count, sizeof(struct metadata_class *));
    args = take(metadata, &metadata->kept_args[count], count * sizeof(struct metadata_class *));
    if (args)
        *args = NULL; /* the others were cleared when they were given back */
    return args;
}

static void args_give(struct metadata *metadata, struct metadata_class **args, uint32_t count)
{
    if (!args)
        return;
    if (count > METADATA_ARGS_KEPT) {
        memory_free(args);
        return;
    }
    memset(args, 0, count * sizeof(struct metadata_class *));
    give(metadata, &metadata->kept_args[count], args);
}

/* Text of what cannot be unloaded is the pool's. */
static void text_free(_Atomic(const char *) *text, bool collectible, const char *fallback)
{
    const char *made = exchange_acq_rel(text, NULL);

    if (collectible && made != fallback)
        memory_free((void *)(uintptr_t)made);
}

/* A record with its number and nothing else in it. */
static void *record_take(struct metadata *metadata, struct metadata_kind *kind, size_t size)
{
    struct metadata_entry *entry = take(metadata, &kind->kept, size);
    uint32_t number = entry ? entry->number : 0;

    if (!entry)
        return NULL;
    memset(entry, 0, size);
    entry->number = number;
    return entry;
}

struct metadata_method_entry *metadata_method_take(struct metadata *metadata)
{
    return record_take(metadata, &metadata->methods, sizeof(struct metadata_method_entry));
}

struct metadata_class_entry *metadata_class_take(struct metadata *metadata)
{
    return record_take(metadata, &metadata->classes, sizeof(struct metadata_class_entry));
}

struct metadata_module_entry *metadata_module_take(struct metadata *metadata)
{
    return record_take(metadata, &metadata->modules, sizeof(struct metadata_module_entry));
}

void metadata_method_give(struct metadata *metadata, struct metadata_method_entry *m)
{
    if (!m)
        return;
    store_release(&m->entry.listed, false);
    text_free(&m->record.text, m->record.collectible, m->fallback);
    if (metadata->config.forget)
        metadata->config.forget(&m->record);
    args_give(metadata, m->record.arg, m->record.args);
    m->record.arg = NULL;
    give(metadata, &metadata->methods.kept, m);
}

void metadata_class_give(struct metadata *metadata, struct metadata_class_entry *c)
{
    if (!c)
        return;
    store_release(&c->entry.listed, false);
    text_free(&c->record.text, c->record.collectible, c->fallback);
    args_give(metadata, c->record.arg, c->record.args);
    c->record.arg = NULL;
    give(metadata, &metadata->classes.kept, c);
}

void metadata_module_give(struct metadata *metadata, struct metadata_module_entry *m)
{
    if (!m)
        return;
    store_release(&m->entry.listed, false);
    clr_release(m->record.import);
    readytorun_free(m->ready);
    m->ready = NULL;
    memory_free(m->record.name);
    memory_free(m->record.path);
    m->record.import = NULL;
    m->record.name = m->record.path = NULL;
    give(metadata, &metadata->modules.kept, m);
}

/* ---- what has gone ---- */

bool metadata_module_gone(const struct metadata_module *module)
{
    return module && module->collectible && load_acquire(&metadata_module_entry(module)->gone);
}

static bool args_gone(struct metadata_class *const *arg, uint32_t args)
{
    for (uint32_t i = 0; i < args; i++)
        if (metadata_class_gone(arg[i]))
            return true;
    return false;
}

bool metadata_class_gone(const struct metadata_class *class)
{
    return class && class->collectible &&
           (metadata_module_gone(class->module) || metadata_class_gone(class->element) ||
            args_gone(class->arg, class->args));
}

bool metadata_method_gone(const struct metadata_method *method)
{
    return method->collectible &&
           (metadata_module_gone(method->module) || metadata_class_gone(method->owner) ||
            args_gone(method->arg, method->args));
}

bool metadata_method_retired(const struct metadata_method *method)
{
    return metadata_method_entry(method)->entry.retired;
}

bool metadata_class_retired(const struct metadata_class *class)
{
    return metadata_class_entry(class)->entry.retired;
}

/* Every record of a kind that is one. */
#define EACH(kind, type, var) \
    for (uint32_t at = 1; at <= load_acquire(&(kind)->records.count); at++) \
        for (type *var = container_of(metadata_record_at(&(kind)->records, at), type, entry); \
             var && load_acquire(&var->entry.listed); var = NULL)

/* What has gone leaves its table, if it is still there. Caller holds `making`. */
static void retire(struct metadata_kind *kind, struct metadata_entry *entry, bool gone)
{
    entry->retired |= gone;
    if (gone && metadata_table_find(&kind->table, entry->key) == entry)
        metadata_table_remove(&kind->table, entry->key);
}

bool metadata_unloaded(struct metadata *metadata)
{
    return load_relaxed(&metadata->unloads) != metadata->retired;
}

bool metadata_retire(struct metadata *metadata)
{
    bool some;

    pthread_mutex_lock(&metadata->making);
    some = metadata_unloaded(metadata);
    metadata->retired = load_relaxed(&metadata->unloads);
    if (some) {
        EACH(&metadata->methods, struct metadata_method_entry, m)
        retire(&metadata->methods, &m->entry, metadata_method_gone(&m->record));
        EACH(&metadata->classes, struct metadata_class_entry, c)
        retire(&metadata->classes, &c->entry, metadata_class_gone(&c->record));
        EACH(&metadata->modules, struct metadata_module_entry, module)
        module->entry.retired = load_acquire(&module->gone); /* it is in no table any more */
    }
    pthread_mutex_unlock(&metadata->making);
    if (some)
        grace_wait(); /* who found one of them has left its section */
    return some;
}

struct clr_metadata *metadata_import_take(struct metadata *metadata,
                                          struct metadata_module_entry *module)
{
    struct clr_metadata *import = module->record.import;

    if (!import || !module->record.collectible || metadata->config.types_by_name)
        return NULL;
    if (metadata_held(metadata)) { /* by who may have met it before it went */
        store_relaxed(&metadata->metadata_held, true);
        return NULL;
    }
    module->record.import = NULL;
    return import;
}

static struct clr_metadata *next_metadata(struct metadata *metadata)
{
    struct clr_metadata *import = NULL;

    pthread_mutex_lock(&metadata->making);
    EACH(&metadata->modules, struct metadata_module_entry, module)
    if (!import && metadata_module_gone(&module->record))
        import = metadata_import_take(metadata, module);
    pthread_mutex_unlock(&metadata->making);
    return import;
}

void metadata_release_imports(struct metadata *metadata)
{
    struct clr_metadata *import;

    if (LIKELY(!load_relaxed(&metadata->metadata_held)) || metadata_held(metadata))
        return;
    store_relaxed(&metadata->metadata_held, false);
    while ((import = next_metadata(metadata)))
        clr_release(import);
}

/* Frees what was retired, or all. */
static void release(struct metadata *metadata, bool all)
{
    EACH(&metadata->methods, struct metadata_method_entry, m)
    if (all || m->entry.retired) {
        metadata_method_give(metadata, m);
        add_relaxed(&metadata->given.methods, 1);
    }
    EACH(&metadata->classes, struct metadata_class_entry, c)
    if (all || c->entry.retired) {
        metadata_class_give(metadata, c);
        add_relaxed(&metadata->given.classes, 1);
    }
    EACH(&metadata->modules, struct metadata_module_entry, module)
    if (all || module->entry.retired) {
        metadata_module_give(metadata, module);
        add_relaxed(&metadata->given.modules, 1);
    }
}

void metadata_release(struct metadata *metadata)
{
    release(metadata, false);
}

void metadata_release_all(struct metadata *metadata)
{
    release(metadata, true);
}

const struct metadata_given *metadata_given_back(const struct metadata *metadata)
{
    return &metadata->given;
}

void metadata_hold(struct metadata *metadata)
{
    atomic_fetch_add(&metadata->holders,
                     1); /* before what is held is looked up; pairs with metadata_held() */
}

void metadata_unhold(struct metadata *metadata)
{
    atomic_fetch_sub_explicit(&metadata->holders, 1, memory_order_release);
}

bool metadata_held(struct metadata *metadata)
{
    fence_full();
    return load_acquire(&metadata->holders) != 0;
}
