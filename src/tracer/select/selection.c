#include "select/selection.h"

#include "base/hash.h"
#include "base/memory.h"
#include "clr/event_mask.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>
#include <shadowtrace/log_reader.h>

#include <string.h>
#include <uchar.h>

#define BATCH      64
#define NESTED_MAX 64
#define TYPE_NAME  256 /* characters of a name that are looked at */

/* The first .NET whose framework is itself compiled as runtime async. */
#define FRAMEWORK_AWAITS 11

struct selection_missed {
    struct selection_missed *next;
    uintptr_t module_id;
    uint32_t token;
};

/* The function being compiled on this thread for which the mapper was not asked yet; 0: none. Two
 * of its low bits: */
static _Thread_local uintptr_t compiling;
#define COUNTED   ((uintptr_t)1) /* in selection.wanted */
#define SUSPENDED ((uintptr_t)2) /* not, while this thread loads a module */
#define FUNCTION  (~(COUNTED | SUSPENDED))

/* Dynamic methods being compiled on this thread: one may have to run another to be compiled. */
static _Thread_local unsigned dynamic;

void selection_init(struct selection *s, const struct clr_runtime *runtime,
                    struct metadata *metadata, const struct options *options,
                    struct clr_guard *guard)
{
    bool elt2 = options_elt2(options), async = runtime->major >= 10;

    memset(s, 0, sizeof(*s));
    s->info = runtime->info;
    s->metadata = metadata;
    s->options = options;
    s->keeps_precompiled = options_few(options);
    s->named = options->own ? &options->own_code : &options->only;
    s->spares_unmanaged_callers = elt2 && !async;
    s->spares_async = elt2 && async;
    s->spares_thunks = runtime->major >= FRAMEWORK_AWAITS;
    s->has_async = async;
    s->corelib_without = runtime->major < FRAMEWORK_AWAITS;
    store_relaxed(&s->async, runtime->major >= FRAMEWORK_AWAITS);
    /* Only the plain Enter hook of ELT3 asks. */
    s->begins = options_beginnings(options) && !elt2 && !options_records(options, OPTIONS_CALLS);
    if (s->begins && !clr_spare_word(runtime)) {
        s->begins = false;
        store_relaxed(&guard->beginnings, 1);
    }
    s->up = true;
    pthread_mutex_init(&s->lock, NULL);
}

/* Can a method's name match, if it begins with `type`, up to a backtick, and goes on with what
 * cannot be told here? */
static bool may_match(const struct options_patterns *patterns, const char *type)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->pattern[i], *name = type;

        while (*name && *name != '`' && *pattern && *pattern == *name) {
            pattern++;
            name++;
        }
        if (!*name || *name == '`' || *pattern == '*' || *pattern == '?')
            return true;
    }
    return false;
}

/* The outermost of the types that a type is nested in, which may be itself. */
static uint32_t outermost(struct clr_metadata *import, uint32_t type)
{
    uint32_t outer;

    for (unsigned depth = 0; depth < NESTED_MAX; depth++) {
        if (import->vtbl->get_nested_class_props(import, type, &outer) != S_OK ||
            !clr_token_row(outer))
            break;
        type = outer;
    }
    return type;
}

static bool type_ask(const struct selection *s, struct clr_metadata *import, uint32_t type)
{
    clr_wchar wide[TYPE_NAME];
    char name[CLR_UTF8_SIZE(TYPE_NAME)];
    uint32_t length = 0;

    if (import->vtbl->get_type_def_props(import, outermost(import, type), wide, TYPE_NAME, &length,
                                         NULL, NULL) != S_OK ||
        length < 2 || length > TYPE_NAME)
        return true;                                         /* not to be told from here */
    clr_utf16_to_utf8(name, sizeof(name), wide, length - 1); /* it counts the NUL */
    return may_match(s->named, name);
}

/* What was found once is kept: the module's number, the type's row and the answer in one word; 0:
 * nothing. */
static bool type_may_match(struct selection *s, const struct metadata_module *module, uint32_t type)
{
    uint64_t key = ((uint64_t)module->id << 24 | (type & 0xffffff)) << 1;
    _Atomic(uint64_t) *at = &s->types[hash_word(key) >> 32 & (SELECTION_TYPES - 1)];
    uint64_t known = load_relaxed(at);

    if ((known & ~UINT64_C(1)) != key) {
        known = key | type_ask(s, module->import, type);
        store_relaxed(at, known);
    }
    return known & 1;
}

bool selection_define(const struct selection *s, uintptr_t function_id,
                      struct selection_definition *out)
{
    uint32_t args;

    return s->info->vtbl->get_function_info2(s->info, function_id, 0, &out->class_id,
                                             &out->module_id, &out->token, 0, &args, NULL) == S_OK;
}

/* The type that defines a function, 0 not to be told. The runtime knows it sooner than the
 * metadata. */
static uint32_t type_of(const struct selection *s, const struct selection_definition *function,
                        struct clr_metadata *import)
{
    uintptr_t module_id = 0, parent;
    uint32_t type = 0, args;

    if (function->class_id &&
        s->info->vtbl->get_class_id_info2(s->info, function->class_id, &module_id, &type, &parent,
                                          0, &args, NULL) == S_OK &&
        module_id == function->module_id)
        return type;
    if (import->vtbl->get_method_props(import, function->token, &type, NULL, 0, NULL, NULL, NULL,
                                       NULL, NULL, NULL) != S_OK)
        return 0;
    return type;
}

/* What is not known to be somebody else's may be own. */
static bool is_own(const struct metadata_module *module)
{
    return !module || module->owner == SST_OWNER_OWN || module->owner == SST_OWNER_UNKNOWN;
}

/*
 * Where nothing of others' code is hooked by name. Without samples their modules are described
 * here, for their classes are met where less may be asked; before samples begin, all are.
 */
static bool is_others(struct selection *s, uintptr_t module_id)
{
    _Atomic(uintptr_t) *at = &s->others[hash_word(module_id) >> 32 & (SELECTION_OTHERS - 1)];
    struct metadata_module *module;

    if (load_relaxed(at) == module_id)
        return true;
    if (!s->options->runtime_samples || !metadata_module_is_others(s->metadata, module_id)) {
        if (metadata_module_get(s->metadata, module_id, &module) || is_own(module))
            return false;
        if (module->collectible)
            return true;
    }
    store_relaxed(at, module_id);
    return true;
}

bool selection_may_want(struct selection *s, const struct selection_definition *function)
{
    struct metadata_module *module;
    uint32_t type;

    if (!s->keeps_precompiled)
        return true;
    if (s->options->own && !s->named->count)
        return !is_others(s, function->module_id);
    if (metadata_module_get(s->metadata, function->module_id, &module) ||
        (s->options->own && is_own(module)))
        return true;
    if (!module->import)
        return true;
    type = type_of(s, function, module->import);
    return !type || type_may_match(s, module, type);
}

/*
 * What methods of runtime async await is compiled after the first of them. In CoreLib of .NET 10
 * only what suspends them is one itself.
 */
static bool returns_continuation(struct selection *s, const struct metadata_method *method)
{
    if (method->suspends || (!(method->module && method->module->corelib && s->corelib_without) &&
                             metadata_method_async(method))) {
        store_relaxed(&s->async, true);
        return true;
    }
    return load_relaxed(&s->async) && metadata_method_awaited(s->metadata, method);
}

/* Does the runtime fail with this method hooked, or hide it from snapshots? */
static bool spares(struct selection *s, struct metadata_method *method)
{
    if (s->spares_thunks && metadata_method_thunk(s->metadata, method)) {
        store_relaxed(&method->spared, true); /* not counted: no stack of the runtime's has it */
        return true;
    }
    if (!method->suspends &&
        !(s->spares_unmanaged_callers && metadata_method_unmanaged_callers(method)) &&
        !(s->spares_async && returns_continuation(s, method)))
        return false;
    if (!atomic_exchange(&method->spared, true))
        add_relaxed(&s->spared, 1);
    return true;
}

bool selection_continues(struct selection *s, const struct metadata_method *method)
{
    return s->has_async && returns_continuation(s, method);
}

bool selection_wants(struct selection *s, struct metadata_method *method)
{
    const struct options_patterns *named = s->named, *exclude = &s->options->exclude;
    bool wanted = !s->keeps_precompiled || (s->options->own && is_own(method->module));
    const char *name;

    if (method->hidden || load_relaxed(&method->spared) || spares(s, method))
        return false;
    if (!named->count && !exclude->count)
        return wanted;
    name = metadata_method_resolve(s->metadata, method);
    wanted |= options_match(named, name);
    return wanted && !options_match(exclude, name);
}

/* Under the lock, after a change of what it depends on. */
static void flag_update(struct selection *s)
{
    bool up = !s->loading || s->wanted;

    if (up != s->up && clr_event_mask_change(s->info, COR_PRF_MONITOR_ENTERLEAVE,
                                             up ? COR_PRF_MONITOR_ENTERLEAVE : 0) == S_OK)
        s->up = up;
}

/* A change of the two counts, which belongs to these bits of this thread's. */
static void counts_change(struct selection *s, int loading, int wanted, uintptr_t clear,
                          uintptr_t set)
{
    pthread_mutex_lock(&s->lock);
    if (loading > 0 || s->loading) /* else the end of a load that began before us */
        s->loading += (unsigned)loading;
    s->wanted += (unsigned)wanted;
    flag_update(s);
    pthread_mutex_unlock(&s->lock);
    compiling = (compiling & ~clear) | set;
}

void selection_load_started(struct selection *s)
{
    if (!s->keeps_precompiled)
        return;
    if (compiling & COUNTED) /* what it compiles goes on when the module is there */
        counts_change(s, 1, -1, COUNTED, SUSPENDED);
    else
        counts_change(s, 1, 0, 0, 0);
}

void selection_load_finished(struct selection *s)
{
    if (!s->keeps_precompiled)
        return;
    if (compiling & SUSPENDED)
        counts_change(s, -1, 1, SUSPENDED, COUNTED);
    else
        counts_change(s, -1, 0, 0, 0);
}

/* The record of a function that is to be hooked, NULL for any other. */
static struct metadata_method *wanted_method(struct selection *s, uintptr_t function_id)
{
    struct selection_definition definition;
    struct metadata_method *method;

    if (!selection_define(s, function_id, &definition) || !selection_may_want(s, &definition) ||
        metadata_method_map(s->metadata, function_id, &method) || !method->module ||
        !selection_wants(s, method))
        return NULL;
    return method;
}

static void compile_ended(struct selection *s)
{
    if (compiling & COUNTED)
        counts_change(s, 0, -1, COUNTED, 0);
    compiling = 0;
}

void selection_compile_started(struct selection *s, uintptr_t function_id)
{
    compile_ended(s); /* another one, which had to wait for this one */
    if (!s->keeps_precompiled)
        return;
    compiling = function_id;
    if (wanted_method(s, function_id))
        counts_change(s, 0, 1, 0, COUNTED);
}

void selection_mapped(struct selection *s)
{
    compile_ended(s);
}

void selection_compile_finished(struct selection *s, uintptr_t function_id)
{
    bool missed = (compiling & FUNCTION) == function_id;
    struct selection_missed *entry;
    struct metadata_method *method;

    compile_ended(s);
    method = missed ? wanted_method(s, function_id) : NULL;
    entry = method ? memory_zalloc(1, sizeof(*entry)) : NULL;
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

void selection_dynamic_started(void)
{
    dynamic++;
}

void selection_dynamic_finished(void)
{
    dynamic -= dynamic > 0; /* the first may have begun before anything was told */
}

bool selection_may_inline(const struct selection *s, uintptr_t function_id)
{
    struct selection_definition function;
    struct metadata_module *module;

    return !dynamic || !s->keeps_calls || !selection_define(s, function_id, &function) ||
           metadata_module_get(s->metadata, function.module_id, &module) || !is_own(module);
}

bool selection_patch(struct selection *s)
{
    uintptr_t modules[BATCH];
    uint32_t tokens[BATCH], count = 0;

    pthread_mutex_lock(&s->lock);
    while (s->missed && count < BATCH) {
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
