#include "metadata/internal.h"

#include "base/framework.h"
#include "owner/owner.h"
#include "rcu/grace.h"
#include "base/memory.h"
#include "base/peek.h"
#include "base/path.h"
#include "base/thread.h"
#include "clr/com.h"
#include "clr/pe.h"
#include "clr/scope.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ARGS_SMALL 8  /* type arguments asked for without memory of their own */
#define DEPTH_MAX  64 /* of type arguments in type arguments */

/* ---- tables ---- */

/* The caller knows that what has this key is loaded, or excludes metadata_release(). */
static struct metadata_entry *table_find(const struct metadata_table *table, uintptr_t key)
{
    struct grace_section section = grace_enter();
    struct metadata_entry *found = metadata_table_find(table, key);

    grace_leave(section);
    return found;
}

bool metadata_reclaim(struct metadata *metadata)
{
    struct metadata_table *table[] = {&metadata->methods.table, &metadata->classes.table,
                                      &metadata->modules.table};
    struct metadata_slots *outgrown[COUNT_OF(table)];
    bool some = false;

    pthread_mutex_lock(&metadata->making);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        outgrown[i] = metadata_table_outgrown(table[i]);
        some |= outgrown[i] != NULL;
    }
    pthread_mutex_unlock(&metadata->making);
    if (some)
        grace_wait(); /* every reader has left its section */
    for (size_t i = 0; i < COUNT_OF(table); i++)
        metadata_slots_free(outgrown[i]);
    return some;
}

/*
 * Lists a finished record, on the table in place of one with the same key, unless key is 0.
 * Returns: whether there was memory. Caller holds `making`.
 */
static bool list(struct metadata *metadata, struct metadata_kind *kind,
                 struct metadata_entry *entry, uintptr_t key, uint32_t *id)
{
    if (key && metadata_table_room(&kind->table))
        return false;
    if (!entry->number)
        entry->number = metadata_records_reserve(&kind->records, &metadata->pool);
    if (!entry->number)
        return false;
    *id = ++kind->ids;
    entry->key = key;
    if (key)
        metadata_table_put(&kind->table, entry);
    metadata_records_add(&kind->records, entry->number, entry);
    store_release(&entry->listed, true);
    return true;
}

/* The entry of a record by its number. */
static struct metadata_entry *entry_at(const struct metadata_kind *kind, uint32_t number,
                                       bool *listed)
{
    struct metadata_entry *entry = metadata_record_at(&kind->records, number);

    *listed = entry && load_acquire(&entry->listed);
    return entry;
}

/* ---- asking the runtime ---- */

void metadata_failed(struct metadata *metadata, hresult hr)
{
    store_relaxed(&metadata->last_failure, hr);
    add_relaxed(&metadata->failures, 1);
}

uint64_t metadata_progress(const struct metadata *metadata)
{
    return load_relaxed(&metadata->progress);
}

void metadata_progressed(struct metadata *metadata)
{
    store_relaxed(&metadata->progress, load_relaxed(&metadata->progress) + 1);
}

uint64_t metadata_failures(const struct metadata *metadata, hresult *last)
{
    if (last)
        *last = load_relaxed(&metadata->last_failure);
    return load_relaxed(&metadata->failures);
}

/*
 * The file of a module (kind MODULE) or the simple name of an assembly, as UTF-8.
 * Returns: the text, "" if the runtime gives none, NULL without memory; *hr is what the runtime
 *          said.
 */
enum what { MODULE_FILE, ASSEMBLY_NAME };

struct module_facts {
    uintptr_t assembly;
    uint32_t flags;
};

static hresult ask_text(struct metadata *metadata, enum what what, uintptr_t id, clr_wchar *text,
                        uint32_t max, uint32_t *length, struct module_facts *facts)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t domain, module;

    *length = 0;
    if (what == ASSEMBLY_NAME)
        return info->vtbl->get_assembly_info(info, id, max, length, text, &domain, &module);
    return info->vtbl->get_module_info2(info, id, NULL, max, length, text, &facts->assembly,
                                        &facts->flags);
}

static char *get_text(struct metadata *metadata, enum what what, uintptr_t id,
                      struct module_facts *facts, hresult *hr)
{
    clr_wchar small[256], *text = small;
    uint32_t length, max = COUNT_OF(small);
    char *out;

    *hr = ask_text(metadata, what, id, text, max, &length, facts);
    if (*hr >= 0 && length > max && length < 1u << 16) {
        max = length;
        text = memory_alloc(max * sizeof(*text));
        if (!text)
            return NULL;
        *hr = ask_text(metadata, what, id, text, max, &length, facts);
    }
    if (*hr < 0 || length > max)
        length = 0;
    out = clr_utf16_copy(text, length);
    if (text != small)
        memory_free(text);
    return out;
}

/* Ids of type arguments, as two of the runtime's calls give them. */
struct arg_ids {
    uint32_t count;
    uintptr_t *id;
    uintptr_t small[ARGS_SMALL];
};

static bool args_grow(struct arg_ids *ids)
{
    if (ids->count > UINT16_MAX)
        return false;
    ids->id = memory_alloc(ids->count * sizeof(*ids->id));
    return ids->id;
}

static void args_fini(struct arg_ids *ids)
{
    if (ids->id != ids->small)
        memory_free(ids->id);
}

/* "?method 0x06000001"; by hand, for every method that is compiled has one. */
static void write_fallback(char out[METADATA_FALLBACK_SIZE], const char *kind, uint32_t token)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = strlen(kind);

    memcpy(out, kind, at);
    for (unsigned shift = 32; shift; shift -= 4)
        out[at++] = digits[token >> (shift - 4) & 15];
    out[at] = '\0';
}

/* ---- modules ---- */

/* CoreLib's, when the first is asked for: each is looked for among all its types. */
static void find_types(struct metadata_module_entry *m)
{
    static const clr_wchar *const types[METADATA_TOKENS] = {
        [METADATA_CANON] = u"System.__Canon",
        [METADATA_STRING] = u"System.String",
        [METADATA_ASYNC_HELPERS] = u"System.Runtime.CompilerServices.AsyncHelpers",
        [METADATA_HIDDEN] = u"System.Runtime.EH",
        [METADATA_HIDDEN + 1] = u"System.Runtime.StackFrameIterator",
        [METADATA_HIDDEN + 2] = u"System.Runtime.ExceptionServices.InternalCalls",
    };
    struct clr_metadata *import = m->record.import;

    for (size_t i = 0; import && i < METADATA_TOKENS; i++) {
        uint32_t token = 0;

        if (import->vtbl->find_type_def_by_name(import, types[i], mdTokenNil, &token) < 0)
            token = 0;
        store_relaxed(&m->token[i], token); /* the same, whichever thread comes first */
    }
    store_release(&m->tokens_known, true);
}

/* Which of the types of CoreLib known by token a type is; METADATA_TOKENS: none. */
static size_t known_type(struct metadata_module *module, uint32_t type)
{
    struct metadata_module_entry *m = metadata_module_entry(module);
    size_t i = 0;

    if (!load_acquire(&m->tokens_known))
        find_types(m);
    while (i < METADATA_TOKENS && (!type || load_relaxed(&m->token[i]) != type))
        i++;
    return i;
}

/* The file's name without folder and extension, for a module whose assembly has no name to tell. */
static char *name_of_path(const char *path)
{
    char *name = memory_strdup(path_base_name(path));
    char *dot = name ? strrchr(name, '.') : NULL;

    if (dot && dot != name)
        *dot = '\0';
    return name;
}

static void describe_build(struct metadata_module *m)
{
    struct clr_guid id;

    if (!m->import || m->import->vtbl->get_scope_props(m->import, NULL, 0, NULL, &id) < 0)
        return;
    (void)snprintf(m->mvid, sizeof(m->mvid), "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                   id.data1, id.data2, id.data3, id.data4[0], id.data4[1], id.data4[2], id.data4[3],
                   id.data4[4], id.data4[5], id.data4[6], id.data4[7]);
}

/* Of own code: the PDB that it was built with. */
static void describe_pdb(struct clr_info *info, struct metadata_module *m)
{
    bool flat;
    const uint8_t *image =
        m->owner == SST_OWNER_OWN ? clr_scope_image(info, m->module_id, &flat) : NULL;
    struct clr_pe_pdb pdb;

    if (!image)
        return;
    clr_pe_find_pdb(image, flat, &pdb);
    m->has_pdb = pdb.known;
    memcpy(m->pdb_id, pdb.id, sizeof(m->pdb_id));
    m->pdb_packed = pdb.packed;
    m->packed_size = pdb.packed_size;
    m->pdb_size = pdb.size;
}

/* What a module is, without its metadata. The two texts are the caller's, also of a failure. */
static int module_ask(struct metadata *metadata, uintptr_t module_id, struct metadata_module *out)
{
    struct module_facts facts = {0, 0};
    hresult hr;

    out->module_id = module_id;
    out->path = get_text(metadata, MODULE_FILE, module_id, &facts, &hr);
    if (hr < 0) {
        metadata_failed(metadata, hr);
        return -EINVAL;
    }
    out->collectible = facts.flags & COR_PRF_MODULE_COLLECTIBLE;
    out->name = get_text(metadata, ASSEMBLY_NAME, facts.assembly, NULL, &hr);
    if (out->path && out->name && !*out->name) {
        memory_free(out->name);
        out->name = name_of_path(out->path);
    }
    if (!out->path || !out->name)
        return -ENOMEM;
    out->corelib = strcmp(out->name, FRAMEWORK_CORELIB) == 0;
    out->owner = (uint8_t)owners_ask(metadata->config.owners, out->path, out->name);
    return 0;
}

static int module_describe(struct metadata *metadata, uintptr_t module_id,
                           struct metadata_module_entry **out)
{
    struct metadata_module_entry *m = metadata_module_take(metadata);
    hresult hr;
    int err;

    if (!m)
        return -ENOMEM;
    err = module_ask(metadata, module_id, &m->record);
    if (err) {
        metadata_module_give(metadata, m);
        return err;
    }
    hr = clr_scope_open(metadata->config.info, module_id, m->record.path, &m->record.import);
    if (hr < 0)
        metadata_failed(metadata, hr);
    describe_build(&m->record);
    describe_pdb(metadata->config.info, &m->record);
    *out = m;
    return 0;
}

bool metadata_module_is_others(struct metadata *metadata, uintptr_t module_id)
{
    struct metadata_entry *found = table_find(&metadata->modules.table, module_id);
    struct metadata_module asked = {0}, *module = &asked;
    bool others;

    if (found)
        module = &container_of(found, struct metadata_module_entry, entry)->record;
    else if (module_ask(metadata, module_id, &asked))
        module = NULL;
    others = module && !module->collectible && module->owner != SST_OWNER_OWN &&
             module->owner != SST_OWNER_UNKNOWN;
    memory_free_all(asked.path, asked.name);
    return others;
}

/* Modules loaded now; an id of an unloaded one is looked up again. */
int metadata_module_get(struct metadata *metadata, uintptr_t module_id,
                        struct metadata_module **out)
{
    struct metadata_entry *found = table_find(&metadata->modules.table, module_id);
    struct metadata_module_entry *m = NULL;
    int err;

    if (!found) {
        err = module_describe(metadata, module_id, &m);
        if (err)
            return err;
        pthread_mutex_lock(&metadata->making);
        /* another thread may have been faster */
        found = table_find(&metadata->modules.table, module_id);
        if (!found && list(metadata, &metadata->modules, &m->entry, module_id, &m->record.id)) {
            found = &m->entry;
            m = NULL;
        }
        pthread_mutex_unlock(&metadata->making);
        metadata_module_give(metadata, m);
        if (!found)
            return -ENOMEM;
    }
    *out = &container_of(found, struct metadata_module_entry, entry)->record;
    return 0;
}

void metadata_module_loaded(struct metadata *metadata, uintptr_t module_id)
{
    struct module_facts facts;
    hresult hr;
    char *path = get_text(metadata, MODULE_FILE, module_id, &facts, &hr);

    if (path)
        owners_loaded(metadata->config.owners, path);
    memory_free(path);
}

void metadata_module_unloaded(struct metadata *metadata, uintptr_t module_id)
{
    struct clr_metadata *import = NULL;
    struct metadata_module_entry *module;
    struct metadata_entry *found;

    pthread_mutex_lock(&metadata->making);
    found = table_find(&metadata->modules.table, module_id);
    if (found) {
        module = container_of(found, struct metadata_module_entry, entry);
        store_release(&module->gone, true);
        metadata_table_remove(&metadata->modules.table, module_id);
        add_relaxed(&metadata->unloads, 1);
        import = metadata_import_take(metadata, module);
    }
    add_relaxed(&metadata->epoch, 1); /* acquire: a reader that sees it sees the module gone */
    pthread_mutex_unlock(&metadata->making);
    clr_release(import);
}

uint32_t metadata_epoch(const struct metadata *metadata)
{
    return load_acquire(&metadata->epoch);
}

const _Atomic(uint32_t) *metadata_epoch_word(const struct metadata *metadata)
{
    return &metadata->epoch;
}

/* ---- what records are made of ---- */

static int class_get(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                     unsigned depth, struct metadata_class **out);

/* Records of type arguments; an entry is NULL where the runtime does not say. */
static int args_get(struct metadata *metadata, const struct arg_ids *ids, unsigned depth,
                    struct metadata_class ***out)
{
    struct metadata_class **arg;

    *out = NULL;
    if (!ids->count)
        return 0;
    arg = metadata_args_take(metadata, ids->count);
    if (!arg)
        return -ENOMEM;
    *out = arg; /* its record gives it back */
    for (uint32_t i = 0; i < ids->count; i++) {
        if (ids->id[i] && class_get(metadata, ids->id[i], 0, depth + 1, &arg[i]) == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

static bool args_collectible(struct metadata_class *const *arg, uint32_t args)
{
    for (uint32_t i = 0; i < args; i++)
        if (arg[i] && arg[i]->collectible)
            return true;
    return false;
}

/* What the runtime did not say one time it may say another: that is no difference. */
static bool maybe_same(const void *a, const void *b)
{
    return a == b || !a || !b;
}

static bool args_same(struct metadata_class *const *a, struct metadata_class *const *b,
                      uint32_t args)
{
    for (uint32_t i = 0; i < args; i++)
        if (!maybe_same(a[i], b[i]))
            return false;
    return true;
}

/* ---- classes ---- */

#define PARENT_AT 16 /* bytes from a ClassID, the address of a MethodTable, to its parent's */

/* Compares where the runtime keeps a type's parent with what it says, when it first says one. */
static void parent_place_learn(struct metadata *metadata, uintptr_t class_id, uintptr_t parent)
{
    uintptr_t found = 0;

    if (!parent || load_relaxed(&metadata->parent_place) != PARENT_UNKNOWN)
        return;
    store_relaxed(&metadata->parent_place,
                  peek(&found, class_id + PARENT_AT, sizeof(found)) && found == parent
                      ? PARENT_KNOWN
                      : PARENT_ELSEWHERE);
}

/*
 * The parent of a type that has no metadata: .NET 11 makes one, derived from Continuation, for each
 * layout of a suspended method. 0: not known.
 */
static uintptr_t parent_of(struct metadata *metadata, uintptr_t class_id)
{
    uintptr_t parent = 0;

    if (load_relaxed(&metadata->parent_place) != PARENT_KNOWN ||
        !peek(&parent, class_id + PARENT_AT, sizeof(parent)))
        return 0;
    return parent;
}

/*
 * A type that is no array, by definition and arguments; one without metadata is described as its
 * parent. object: one of the type, which then has a record in any case; 0: none.
 */
static int class_describe_definition(struct metadata *metadata, struct metadata_class *c,
                                     uintptr_t object, unsigned depth)
{
    struct clr_info *info = metadata->config.info;
    struct arg_ids ids = {0, NULL, {0}};
    uintptr_t module_id = 0, parent = 0, class_id = c->class_id;
    size_t type;
    hresult hr;
    int err = -EINVAL;

    ids.id = ids.small;
    hr = info->vtbl->get_class_id_info2(info, class_id, &module_id, &c->token, &parent, ARGS_SMALL,
                                        &ids.count, ids.small);
    if (hr == CORPROF_E_DATAINCOMPLETE && (class_id = parent_of(metadata, class_id)))
        hr = info->vtbl->get_class_id_info2(info, class_id, &module_id, &c->token, &parent,
                                            ARGS_SMALL, &ids.count, ids.small);
    if (hr >= 0 && ids.count > ARGS_SMALL) {
        if (!args_grow(&ids))
            return -ENOMEM;
        hr = info->vtbl->get_class_id_info2(info, class_id, &module_id, &c->token, &parent,
                                            ids.count, &ids.count, ids.id);
    }
    if (hr < 0) { /* also of pointers, by-refs, type variables: they have no records */
        if (hr != CORPROF_E_CLASSID_IS_COMPOSITE)
            metadata_failed(metadata, hr);
        if (object) {
            ids.count = 0;
            c->token = 0;
            c->collectible = true;
            err = 0;
        }
        goto out;
    }
    parent_place_learn(metadata, class_id, parent);
    err = metadata_module_get(metadata, module_id, &c->module);
    if (err == -EINVAL)
        err = 0; /* then module stays NULL */
    c->args = ids.count;
    if (!err)
        err = args_get(metadata, &ids, depth, &c->arg);
    if (err)
        goto out;
    c->collectible = !c->module || c->module->collectible || args_collectible(c->arg, c->args);
    if (c->module && c->module->corelib) {
        type = known_type(c->module, c->token);
        c->canon = type == METADATA_CANON;
        c->variable_size = type == METADATA_STRING;
    }
out:
    args_fini(&ids);
    return err;
}

#define PLAIN_ARRAY_DATA \
    16 /* bytes from the ObjectID of a T[] to its elements; T[*] has its bounds between */

static bool has_bounds(struct metadata *metadata, uintptr_t object)
{
    struct clr_info *info = metadata->config.info;
    uint32_t size;
    int32_t low;
    uint8_t *data;

    return object &&
           info->vtbl->get_array_object_info(info, object, 1, &size, &low, &data) == S_OK &&
           (uintptr_t)data - object != PLAIN_ARRAY_DATA;
}

static int class_describe(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                          unsigned depth, struct metadata_class_entry **out)
{
    struct clr_info *info = metadata->config.info;
    struct metadata_class_entry *entry = metadata_class_take(metadata);
    struct metadata_class *c;
    uintptr_t element = 0;
    int err = 0;

    if (!entry)
        return -ENOMEM;
    c = &entry->record;
    c->class_id = class_id;
    /* S_FALSE says that it is no array. */
    if (info->vtbl->is_array_class(info, class_id, &entry->element_type, &element, &c->rank) ==
        S_OK) {
        c->rank = c->rank ? c->rank : 1;
        c->bounded = c->rank == 1 && has_bounds(metadata, object);
        c->variable_size = true;
        if (element)
            err = class_get(metadata, element, 0, depth + 1, &c->element);
        if (err == -EINVAL)
            err = 0; /* of pointers: element_type says so */
        c->collectible = c->element && c->element->collectible;
        c->module = c->element ? c->element->module : NULL;
    } else {
        c->rank = 0;
        err = class_describe_definition(metadata, c, object, depth);
    }
    if (err) {
        metadata_class_give(metadata, entry);
        return err;
    }
    write_fallback(entry->fallback, "?class 0x", c->token);
    *out = entry;
    return 0;
}

static bool class_same(const struct metadata_class *a, const struct metadata_class *b)
{
    return a->module == b->module && a->token == b->token && a->rank == b->rank &&
           maybe_same(a->element, b->element) && a->args == b->args &&
           args_same(a->arg, b->arg, a->args);
}

/* Puts a class on the table unless it is known. Returns the record that counts; NULL: no memory. */
static struct metadata_class *class_publish(struct metadata *metadata,
                                            struct metadata_class_entry *mine, uint32_t epoch)
{
    struct metadata_entry *found;
    struct metadata_class *c;

    store_relaxed(&mine->record.epoch, epoch);
    pthread_mutex_lock(&metadata->making);
    found = table_find(&metadata->classes.table, mine->record.class_id);
    c = found ? &container_of(found, struct metadata_class_entry, entry)->record : NULL;
    if (c && class_same(c, &mine->record)) {
        store_relaxed(&c->epoch, epoch);
    } else {
        c = &mine->record;
        if (list(metadata, &metadata->classes, &mine->entry, c->class_id, &c->id))
            mine = NULL;
        else
            c = NULL;
    }
    pthread_mutex_unlock(&metadata->making);
    metadata_class_give(metadata, mine);
    return c;
}

static int class_get(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                     unsigned depth, struct metadata_class **out)
{
    uint32_t epoch = load_acquire(&metadata->epoch); /* before the runtime is asked */
    struct metadata_class_entry *mine = NULL;
    int err;

    *out = metadata_class_find(metadata, class_id);
    if (*out)
        return 0;
    if (depth > DEPTH_MAX)
        return -EINVAL;
    err = class_describe(metadata, class_id, object, depth, &mine);
    if (err)
        return err;
    if (mine->record.collectible || mine->entry.number)
        metadata_class_resolve(metadata,
                               &mine->record); /* the resolver may have passed its number */
    *out = class_publish(metadata, mine, epoch);
    return *out ? 0 : -ENOMEM;
}

int metadata_class_get(struct metadata *metadata, uintptr_t class_id, struct metadata_class **out)
{
    return class_get(metadata, class_id, 0, 0, out);
}

int metadata_class_of(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                      struct metadata_class **out)
{
    return class_get(metadata, class_id, object, 0, out);
}

const struct metadata_class *metadata_class_at(const struct metadata *metadata, uint32_t number,
                                               bool *listed)
{
    struct metadata_entry *entry = entry_at(&metadata->classes, number, listed);

    return entry ? &container_of(entry, struct metadata_class_entry, entry)->record : NULL;
}

const struct metadata_module *metadata_module_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed)
{
    struct metadata_entry *entry = entry_at(&metadata->modules, number, listed);

    return entry ? &container_of(entry, struct metadata_module_entry, entry)->record : NULL;
}

const struct metadata_method *metadata_method_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed)
{
    struct metadata_entry *entry = entry_at(&metadata->methods, number, listed);

    return entry ? &container_of(entry, struct metadata_method_entry, entry)->record : NULL;
}

struct metadata_class *metadata_class_find(struct metadata *metadata, uintptr_t class_id)
{
    struct grace_section section = grace_enter(); /* what was found stays until it is looked at */
    struct metadata_entry *found = metadata_table_find(&metadata->classes.table, class_id);
    struct metadata_class *c =
        found ? &container_of(found, struct metadata_class_entry, entry)->record : NULL;

    /* What was met in this epoch is loaded; what was not may have given its id to another. */
    if (c && c->collectible && load_relaxed(&c->epoch) != load_acquire(&metadata->epoch))
        c = NULL;
    grace_leave(section);
    return c;
}

void metadata_module_met(struct metadata *metadata, uintptr_t module_id)
{
    struct metadata_module *module;

    metadata_module_get(metadata, module_id,
                        &module); /* if this fails, it is tried again when needed */
}

/* ---- methods ---- */

/* Which of the types of CoreLib known by token has the method; METADATA_TOKENS: none. */
static size_t method_type(const struct metadata_method *m)
{
    uint32_t type = 0;

    if (!m->module || !m->module->corelib)
        return METADATA_TOKENS;
    if (m->owner)
        type = m->owner->token;
    else if (!m->module->import ||
             m->module->import->vtbl->get_method_props(m->module->import, m->token, &type, NULL, 0,
                                                       NULL, NULL, NULL, NULL, NULL, NULL) < 0)
        return METADATA_TOKENS;
    return known_type(m->module, type);
}

/* Whether it stands for more than one type: System.__Canon is in it. */
static bool class_shared(const struct metadata_class *c)
{
    bool shared = !c || c->canon || (c->element && class_shared(c->element));

    for (uint32_t i = 0; c && i < c->args && !shared; i++)
        shared = class_shared(c->arg[i]);
    return shared;
}

static bool method_shared(const struct metadata_method *m)
{
    bool shared = class_shared(m->owner);

    for (uint32_t i = 0; i < m->args && !shared; i++)
        shared = class_shared(m->arg[i]);
    return shared;
}

static bool asks_unmanaged_callers(const struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    const void *value;
    uint32_t size;

    return import && import->vtbl->get_custom_attribute_by_name(
                         import, method->token,
                         u"System.Runtime.InteropServices.UnmanagedCallersOnlyAttribute", &value,
                         &size) == S_OK;
}

static int method_describe(struct metadata *metadata, uintptr_t function_id,
                           struct metadata_method_entry **out)
{
    struct metadata_method_entry *entry = metadata_method_take(metadata);
    struct clr_info *info = metadata->config.info;
    struct arg_ids ids = {0, NULL, {0}};
    uintptr_t class_id = 0, module_id = 0;
    struct metadata_method *m;
    size_t type;
    hresult hr;
    int err;

    if (!entry)
        return -ENOMEM;
    m = &entry->record;
    m->function_id = function_id;
    ids.id = ids.small;
    hr = info->vtbl->get_function_info2(info, function_id, 0, &class_id, &module_id, &m->token,
                                        ARGS_SMALL, &ids.count, ids.small);
    err = hr >= 0 && ids.count > ARGS_SMALL && !args_grow(&ids) ? -ENOMEM : 0;
    if (!err && hr >= 0 && ids.count > ARGS_SMALL)
        hr = info->vtbl->get_function_info2(info, function_id, 0, &class_id, &module_id, &m->token,
                                            ids.count, &ids.count, ids.id);
    if (!err && hr < 0) {
        metadata_failed(metadata, hr);
        err = -EINVAL;
    }
    if (!err && metadata_module_get(metadata, module_id, &m->module) == -ENOMEM)
        err = -ENOMEM;
    if (!err && class_id && class_get(metadata, class_id, 0, 0, &m->owner) == -ENOMEM)
        err = -ENOMEM;
    m->args = ids.count;
    if (!err)
        err = args_get(metadata, &ids, 0, &m->arg);
    if (!err) {
        m->collectible = !m->module || m->module->collectible ||
                         (m->owner && m->owner->collectible) || args_collectible(m->arg, m->args);
        type = method_type(m);
        /* The snapshot hides these, and the hooks must leave them alone. */
        m->hidden = type >= METADATA_HIDDEN && type < METADATA_TOKENS;
        m->suspends = type == METADATA_ASYNC_HELPERS && metadata_method_async(m);
        m->unmanaged_callers = m->collectible && asks_unmanaged_callers(m);
        m->shared = method_shared(m);
        /* Of code shared by instantiations nobody says whether one of them can be unloaded. */
        entry->recheck = m->collectible || !m->owner;
        for (uint32_t i = 0; i < m->args; i++)
            entry->recheck |= !m->arg[i];
        write_fallback(entry->fallback, "?method 0x", m->token);
        *out = entry;
    }
    args_fini(&ids);
    if (err)
        metadata_method_give(metadata, entry);
    return err;
}

static bool method_same(const struct metadata_method *a, const struct metadata_method *b)
{
    return a->module == b->module && a->token == b->token && maybe_same(a->owner, b->owner) &&
           a->args == b->args && args_same(a->arg, b->arg, a->args);
}

/* As class_publish. */
static struct metadata_method *method_publish(struct metadata *metadata,
                                              struct metadata_method_entry *mine, uint32_t epoch)
{
    struct metadata_entry *found;
    struct metadata_method *m;

    store_relaxed(&mine->epoch, epoch);
    pthread_mutex_lock(&metadata->making);
    found = table_find(&metadata->methods.table, mine->record.function_id);
    m = found ? &container_of(found, struct metadata_method_entry, entry)->record : NULL;
    if (!m || !method_same(m, &mine->record)) {
        m = &mine->record;
        if (list(metadata, &metadata->methods, &mine->entry, m->function_id, &m->id))
            mine = NULL;
        else
            m = NULL;
    }
    pthread_mutex_unlock(&metadata->making);
    metadata_method_give(metadata, mine);
    return m;
}

bool metadata_method_unmanaged_callers(const struct metadata_method *method)
{
    return method->collectible ? method->unmanaged_callers : asks_unmanaged_callers(method);
}

static int method_make(struct metadata *metadata, uintptr_t function_id, uint32_t epoch,
                       struct metadata_method **out)
{
    struct metadata_method_entry *mine = NULL;
    int err = method_describe(metadata, function_id, &mine);

    if (err)
        return err;
    if (mine->record.collectible)
        metadata_method_resolve(metadata, &mine->record); /* before the resolver can see it */
    *out = method_publish(metadata, mine, epoch);
    return *out ? 0 : -ENOMEM;
}

/* The record of a function that is met again for sure if it has this id. */
static struct metadata_method *lasting_method(struct metadata *metadata, uintptr_t function_id)
{
    struct grace_section section = grace_enter(); /* as metadata_class_find */
    struct metadata_entry *found = metadata_table_find(&metadata->methods.table, function_id);
    struct metadata_method_entry *m =
        found ? container_of(found, struct metadata_method_entry, entry) : NULL;
    struct metadata_method *lasting = m && !m->recheck ? &m->record : NULL;

    grace_leave(section);
    return lasting;
}

int metadata_method_map(struct metadata *metadata, uintptr_t function_id,
                        struct metadata_method **out)
{
    uint32_t epoch = load_acquire(&metadata->epoch);
    int err;

    *out = lasting_method(metadata, function_id);
    if (*out)
        return 0;
    err = method_make(metadata, function_id, epoch, out);
    if (err == -ENOMEM) /* once more: a method without a record is missing from every stack */
        err = method_make(metadata, function_id, epoch, out);
    if (err == -ENOMEM)
        metadata_failed(metadata, E_OUTOFMEMORY);
    return err;
}

int metadata_method_exact(struct metadata *metadata, const struct metadata_method *shared,
                          uintptr_t class_id, const uintptr_t *args, uint32_t count,
                          struct metadata_method **out)
{
    struct metadata_method_entry *entry = metadata_method_take(metadata);
    struct metadata_method *m;
    int err = 0;

    *out = NULL;
    if (!entry)
        return -ENOMEM;
    m = &entry->record;
    m->function_id = shared->function_id;
    m->token = shared->token;
    m->module = shared->module;
    m->hooked = shared->hooked;
    m->continues = shared->continues;
    m->unmanaged_callers = shared->unmanaged_callers;
    m->owner = shared->owner;
    m->args = count;
    m->arg = count ? metadata_args_take(metadata, count) : NULL;
    if (count && !m->arg)
        err = -ENOMEM;
    if (!err && class_id)
        err = class_get(metadata, class_id, 0, 0, &m->owner);
    for (uint32_t i = 0; !err && i < count; i++)
        err = class_get(metadata, args[i], 0, 0, &m->arg[i]);
    if (err) {
        metadata_method_give(metadata, entry);
        return err;
    }
    m->collectible = shared->collectible || !m->owner || m->owner->collectible ||
                     args_collectible(m->arg, m->args);
    write_fallback(entry->fallback, "?method 0x", m->token);
    metadata_method_resolve(metadata, m);
    pthread_mutex_lock(&metadata->making);
    if (list(metadata, &metadata->methods, &entry->entry, 0, &m->id))
        *out = m;
    pthread_mutex_unlock(&metadata->making);
    if (*out)
        return 0;
    metadata_method_give(metadata, entry);
    return -ENOMEM;
}

struct metadata_method *metadata_method_find(struct metadata *metadata, uintptr_t function_id)
{
    struct grace_section section = grace_enter(); /* as metadata_class_find */
    struct metadata_entry *found = metadata_table_find(&metadata->methods.table, function_id);
    uint32_t epoch = load_acquire(&metadata->epoch);
    struct metadata_method_entry *entry =
        found ? container_of(found, struct metadata_method_entry, entry) : NULL;
    struct metadata_method *m = entry ? &entry->record : NULL;

    if (m && m->collectible && load_relaxed(&entry->epoch) != epoch) {
        if (metadata_method_gone(m))
            m = NULL; /* whatever has this id now was never mapped */
        else
            store_relaxed(&entry->epoch, epoch);
    }
    grace_leave(section);
    return m;
}

/* ---- all of it ---- */

int metadata_new(const struct metadata_config *config, struct metadata **out)
{
    struct metadata *metadata = memory_zalloc(1, sizeof(*metadata));

    *out = NULL;
    if (!metadata)
        return -ENOMEM;
    metadata->config = *config;
    pthread_mutex_init(&metadata->making, NULL);
    if (metadata_table_init(&metadata->methods.table) ||
        metadata_table_init(&metadata->classes.table) ||
        metadata_table_init(&metadata->modules.table)) {
        metadata_free(metadata);
        return -ENOMEM;
    }
    *out = metadata;
    return 0;
}

void metadata_free(struct metadata *metadata)
{
    if (!metadata)
        return;
    if (metadata->started)
        thread_join(metadata->thread);
    metadata_table_fini(&metadata->methods.table);
    metadata_table_fini(&metadata->classes.table);
    metadata_table_fini(&metadata->modules.table);
    metadata_table_fini(&metadata->cells);
    metadata_release_all(metadata);
    memory_pool_free(&metadata->pool);
    memory_free(metadata->names);
    memory_free(metadata->memo);
    memory_free(metadata->callees);
    memory_free(metadata->calls);
    memory_free(load_relaxed(&metadata->steps));
    pthread_mutex_destroy(&metadata->making);
    memory_free(metadata);
}
