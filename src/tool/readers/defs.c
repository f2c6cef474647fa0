#include "readers/defs.h"

#include "base/base64.h"

#include <stdio.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE  ((size_t)1 << PAGE_SHIFT)
#define BLOCK      ((size_t)64 << 10)

#define WORD(name, text) text,

/* Ids. */

#define IDS_FOR_PAGE  256 /* ids that must be there for each page */
#define MIGRATE_PAGES 16  /* the first ones: ids that came before their page move into it */

/* The slot of an id, or a free one. Call only when there is a table. */
static struct log_far_id *far_slot(const struct log_id_map *ids, uint32_t id)
{
    size_t at = (size_t)hash_mix(id, 0) & ids->far_mask;

    while (ids->far[at].id && ids->far[at].id != id)
        at = (at + 1) & ids->far_mask;
    return &ids->far[at];
}

uint32_t log_id_map_get(const struct log_id_map *ids, uint32_t id)
{
    size_t page = id >> PAGE_SHIFT;
    uint32_t value = 0;

    if (LIKELY(page < ids->page_count && ids->pages[page]))
        value = ids->pages[page][id & (PAGE_SIZE - 1)];
    return LIKELY(value || !ids->far_used) ? value : far_slot(ids, id)->value;
}

static int far_set(struct log_id_map *ids, uint32_t id, uint32_t value)
{
    struct log_far_id *slot;

    if (!ids->far || ids->far_used > ids->far_mask / 2) {
        size_t size = ids->far ? 2 * (ids->far_mask + 1) : 8;
        struct log_id_map larger = {.far_mask = size - 1};

        larger.far = memory_zalloc(size, sizeof(*larger.far));
        if (!larger.far)
            return -ENOMEM;
        for (size_t i = 0; ids->far && i <= ids->far_mask; i++)
            if (ids->far[i].id)
                *far_slot(&larger, ids->far[i].id) = ids->far[i];
        memory_free(ids->far);
        ids->far = larger.far;
        ids->far_mask = larger.far_mask;
    }
    slot = far_slot(ids, id);
    ids->far_used += !slot->id;
    *slot = (struct log_far_id){id, value};
    return 0;
}

/* What came before its page. Once nothing is left outside, look-ups end in the pages. */
static void far_migrate(struct log_id_map *ids, size_t page)
{
    size_t left = 0;

    for (size_t i = 0; ids->far && i <= ids->far_mask; i++) {
        const struct log_far_id *slot = &ids->far[i];

        if (slot->id && slot->id >> PAGE_SHIFT == page)
            ids->pages[page][slot->id & (PAGE_SIZE - 1)] = slot->value;
        else if (slot->id)
            left += slot->id >> PAGE_SHIFT >= MIGRATE_PAGES ||
                    slot->id >> PAGE_SHIFT >= ids->page_count ||
                    !ids->pages[slot->id >> PAGE_SHIFT];
    }
    if (left)
        return;
    memory_free(ids->far);
    ids->far = NULL;
    ids->far_mask = ids->far_used = 0;
}

static int page_make(struct log_id_map *ids, size_t page)
{
    if (!array_reserve_zeroed(&ids->pages, &ids->page_count, page + 1))
        return -ENOMEM;
    if (!(ids->pages[page] = memory_zalloc(PAGE_SIZE, sizeof(uint32_t))))
        return -ENOMEM;
    if (page < MIGRATE_PAGES)
        far_migrate(ids, page);
    return 0;
}

int log_id_map_set(struct log_id_map *ids, uint32_t id, uint32_t number)
{
    size_t page = id >> PAGE_SHIFT;
    bool paged = page < ids->page_count && ids->pages[page];
    struct log_far_id *far = ids->far_used ? far_slot(ids, id) : NULL;

    if (far && far->id && !(paged && ids->pages[page][id & (PAGE_SIZE - 1)])) {
        far->value = number + 1;
        return 0;
    }
    if (!paged && page >= ids->count / IDS_FOR_PAGE) {
        ids->count++;
        return far_set(ids, id, number + 1);
    }
    if (!paged && page_make(ids, page))
        return -ENOMEM;
    ids->count += !ids->pages[page][id & (PAGE_SIZE - 1)];
    ids->pages[page][id & (PAGE_SIZE - 1)] = number + 1;
    return 0;
}

void log_id_map_free(struct log_id_map *ids)
{
    for (size_t i = 0; i < ids->page_count; i++)
        memory_free(ids->pages[i]);
    memory_free_all(ids->pages, ids->far);
    memset(ids, 0, sizeof(*ids));
}

/* Strings: each text once, at an address that stays. */

static bool string_equal(const void *record, const void *key)
{
    const struct log_string *have = record, *want = key;

    return have->size == want->size && memcmp(have->text, want->text, want->size) == 0;
}

static uint64_t string_hash(const void *record)
{
    const struct log_string *s = record;

    return hash_bytes(s->text, s->size);
}

static const struct index_kind string_kind = {sizeof(struct log_string), string_hash, string_equal};

static char *string_room(struct log_defs *d, size_t size)
{
    char *block;

    if (size <= d->block_left) {
        block = d->blocks[d->block_count - 1] + (BLOCK - d->block_left);
        d->block_left -= size;
        return block;
    }
    if (!array_reserve(&d->blocks, &d->block_capacity, d->block_count + 1))
        return NULL;
    block = memory_alloc(size > BLOCK ? size : BLOCK);
    if (!block)
        return NULL;
    d->blocks[d->block_count++] = block;
    d->block_left = size > BLOCK ? 0 : BLOCK - size;
    return block;
}

static int intern(struct log_defs *d, const char *text, size_t size, struct log_string **out)
{
    const struct log_string key = {text, (uint32_t)size, 0};
    uint32_t number;
    size_t slot = 0;
    char *copy;

    if (index_reserve(&d->string_index, &string_kind, d->strings))
        return -ENOMEM;
    number = index_find(&d->string_index, &string_kind, d->strings, string_hash(&key), &key, &slot);
    if (number != INDEX_NONE) {
        *out = &d->strings[number];
        return 0;
    }
    copy = array_reserve(&d->strings, &d->string_capacity, d->string_count + 1)
               ? string_room(d, size + 1)
               : NULL;
    if (!copy)
        return -ENOMEM;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *out = &d->strings[d->string_count];
    **out = (struct log_string){copy, (uint32_t)size, 0};
    index_put(&d->string_index, slot, (uint32_t)d->string_count++);
    return 0;
}

/* The text alone, of one that ends with a NUL. */
static int intern_text(struct log_defs *d, const char *text, const char **out)
{
    struct log_string *string;
    int err = intern(d, text, strlen(text), &string);

    if (!err)
        *out = string->text;
    return err;
}

/* Tables of modules, classes, methods. Names are interned: equal text, equal address. */

static bool def_equal(const void *record, const void *key)
{
    const struct log_def *have = record, *want = key;

    return have->name == want->name && have->path == want->path && have->module == want->module &&
           have->token == want->token && have->mvid == want->mvid && have->defined == want->defined;
}

static uint64_t def_hash(const void *record)
{
    const struct log_def *def = record;

    return hash_mix(hash_mix((uintptr_t)def->name, (uintptr_t)def->path ^ (uintptr_t)def->mvid),
                    (uint64_t)def->module << 32 | def->token);
}

static int table_add(struct log_table *t, const struct log_def *def, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(*def), def_hash, def_equal};
    int added = index_add(&t->index, &kind, &t->defs, &t->count, &t->capacity, def, out);

    return added < 0 ? added : 0;
}

static void table_free(struct log_table *t)
{
    memory_free(t->defs);
    index_free(&t->index);
    log_id_map_free(&t->ids);
}

/*
 * An id that is used and not defined (yet): a separate entry that says so. A definition may still
 * come.
 */
static int table_placeholder(struct log_defs *d, struct log_table *table, uint32_t id,
                             struct log_place at, uint32_t *out)
{
    struct log_def def = {.path = ""};
    char text[64];
    int err;

    log_problem(d->problems, at, "%s %u is used but not defined", table->what, id);
    d->undefined++;
    snprintf(text, sizeof(text), "(%s %u, not in the log)", table->what, id);
    err = intern_text(d, text, &def.name);
    if (!err)
        err = table_add(table, &def, out);
    return err ? err : log_id_map_set(&table->ids, id, *out);
}

static int table_number(struct log_defs *d, struct log_table *table, uint32_t id,
                        struct log_place at, uint32_t *out)
{
    uint32_t found = id ? log_id_map_get(&table->ids, id) : 1;

    if (LIKELY(found)) {
        *out = found - 1;
        return 0;
    }
    return table_placeholder(d, table, id, at, out);
}

static int table_init(struct log_defs *d, struct log_table *table, const char *what)
{
    struct log_def none = {.path = "", .defined = true};
    uint32_t number;
    char text[32];
    int err;

    table->what = what;
    snprintf(text, sizeof(text), "(unknown %s)", what);
    err = intern_text(d, text, &none.name);
    return err ? err : table_add(table, &none, &number);
}

/* Paths. */

static bool path_equal(const void *record, const void *key)
{
    const struct log_call_path *have = record, *want = key;

    return have->parent == want->parent && have->method == want->method && have->il == want->il &&
           have->filter == want->filter && have->begun == want->begun;
}

static uint64_t path_hash(const void *record)
{
    const struct log_call_path *path = record;

    return hash_mix((uint64_t)path->parent << 32 | path->method,
                    (uint64_t)(uint32_t)path->il << 1 | path->filter | (uint64_t)path->begun << 33);
}

int log_defs_path_add(struct log_defs *d, const struct log_call_path *path, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(*path), path_hash, path_equal};
    int added =
        index_add(&d->path_index, &kind, &d->paths, &d->path_count, &d->path_capacity, path, out);

    if (added > 0)
        d->paths[*out].goes_on = path->begun || d->paths[path->parent].goes_on;
    return added < 0 ? added : 0;
}

/* From the leaf down to a path that is known, then up again: paths may be a million frames deep. */
int log_defs_plain(struct log_defs *d, uint32_t *path)
{
    uint32_t at = *path, made = at, *todo = NULL;
    size_t count = 0, capacity = 0;
    int err = 0;

    if (d->paths[at].goes_on && !array_reserve_zeroed(&d->plain, &d->plain_capacity, d->path_count))
        return -ENOMEM;
    for (; !err && d->paths[at].goes_on && !d->plain[at]; at = d->paths[at].parent)
        if (array_reserve(&todo, &capacity, count + 1))
            todo[count++] = at;
        else
            err = -ENOMEM;
    if (!err)
        made = d->paths[at].goes_on ? d->plain[at] - 1 : at;
    while (!err && count) {
        struct log_call_path plain = d->paths[todo[--count]];

        plain.parent = made;
        plain.begun = 0;
        err = log_defs_path_add(d, &plain, &made);
        if (!err)
            d->plain[todo[count]] = made + 1;
    }
    if (!err)
        *path = made;
    memory_free(todo);
    return err;
}

int log_defs_method_named(struct log_defs *d, const char *name, uint32_t *out)
{
    struct log_def def = {.path = "", .defined = true};
    int err = intern_text(d, name, &def.name);

    if (!err)
        err = intern_text(d, "", &def.path);
    return err ? err : table_add(&d->methods, &def, out);
}

int log_defs_init(struct log_defs *d, struct log_problems *problems)
{
    const struct log_call_path empty = {.il = LOG_NO_IL};
    const struct log_call_path lost = {.parent = LOG_PATH_LOST, .il = LOG_NO_IL};
    uint32_t number;
    int err;

    memset(d, 0, sizeof(*d));
    d->problems = problems;
    err = table_init(d, &d->modules, "module");
    if (!err)
        err = table_init(d, &d->classes, "class");
    if (!err)
        err = table_init(d, &d->methods, "method");
    if (!err)
        err = log_defs_path_add(d, &empty, &number);
    if (!err)
        err = log_defs_path_add(d, &lost, &number);
    return err;
}

static void pdb_free(struct log_pdb *pdb)
{
    memory_free(pdb->bytes);
    *pdb = (struct log_pdb){.module = pdb->module};
}

void log_defs_fini(struct log_defs *d)
{
    table_free(&d->modules);
    table_free(&d->classes);
    table_free(&d->methods);
    for (size_t i = 0; i < d->pdb_count; i++)
        pdb_free(&d->pdbs[i]);
    memory_free_all(d->threads, d->pdbs);
    log_id_map_free(&d->thread_ids);
    memory_free_all(d->paths, d->plain, d->frames, d->leaf_first);
    index_free(&d->path_index);
    log_id_map_free(&d->path_ids);
    log_id_map_free(&d->frame_ids);
    for (size_t i = 0; i < d->block_count; i++)
        memory_free(d->blocks[i]);
    memory_free_all(d->blocks, d->strings);
    index_free(&d->string_index);
    memset(d, 0, sizeof(*d));
}

/* Records. */

int log_defs_unusable(const struct log_defs *d, const struct log_record *record, const char *key)
{
    log_problem(d->problems, record->at, "%s: member \"%s\" is missing or not what it should be",
                log_kind_name(record->kind), key);
    return -EBADMSG;
}

static const char *const owners[] = {"", SST_OWNERS(WORD)};
static const char *const sorts[] = {"", SST_SORTS(WORD)};

/* 0: no word, or one of a later version. */
static uint8_t number_of(const char *word, const char *const *words, uint8_t count)
{
    while (--count && strcmp(word, words[count]) != 0)
        ;
    return count;
}

/* A member of a record, and the result of reading it. */
struct member {
    const char *key;
    int err;
};

/* The result for a member that may be missing. */
static int optional(int err)
{
    return err == -ENOENT ? 0 : err;
}

/* Returns: the key of the first unusable member; NULL: all are usable. */
static const char *bad_key(const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].err)
            return members[i].key;
    return NULL;
}

static int add_named(struct log_defs *d, const struct log_record *record)
{
    struct log_table *const tables[] = {[SST_KIND_MODULE] = &d->modules,
                                        [SST_KIND_CLASS] = &d->classes,
                                        [SST_KIND_METHOD] = &d->methods},
                            *t = tables[record->kind];
    const char *name = NULL, *path = "", *mvid = NULL, *owner = "", *sort = "";
    struct log_def def = {.defined = true};
    struct log_string *text;
    uint32_t id = 0, module = 0, number = 0, found;
    const struct member members[] = {
        {"id", log_member_id(record->json, "id", 1, &id)},
        {"name", log_member_text(record->json, "name", &name)},
        {"path", optional(log_member_text(record->json, "path", &path))},
        {"mvid", optional(log_member_text(record->json, "mvid", &mvid))},
        {"owner", optional(log_member_text(record->json, "owner", &owner))},
        {"sort", optional(log_member_text(record->json, "sort", &sort))},
        {"module", optional(log_member_id(record->json, "module", 1, &module))},
        {"token", optional(log_member_id(record->json, "token", 0, &def.token))}};
    const char *bad = bad_key(members, COUNT_OF(members));
    int err;

    if (bad)
        return log_defs_unusable(d, record, bad);
    err = table_number(d, &d->modules, module, record->at, &def.module);
    if (!err)
        err = intern_text(d, path, &def.path);
    if (!err && mvid)
        err = intern_text(d, mvid, &def.mvid);
    if (!err)
        err = intern(d, name, strlen(name), &text);
    if (err)
        return err;
    def.name = text->text;
    def.owner = number_of(owner, owners, SST_OWNER_COUNT);
    def.sort = number_of(sort, sorts, SST_SORT_COUNT);
    found = log_id_map_get(&t->ids, id);
    if (found && !t->defs[found - 1].defined) { /* used before: that entry gets its name now */
        t->defs[found - 1] = def;
        number = found - 1;
    } else {
        err = table_add(t, &def, &number);
        if (!err)
            err = log_id_map_set(&t->ids, id, number);
        if (!err && def.owner)
            t->defs[number].owner = def.owner;
        if (!err && def.sort)
            t->defs[number].sort = def.sort;
    }
    if (!err && t == &d->methods && !text->method)
        text->method = number;
    return err;
}

/* The first of a module counts. Returns: NULL: no memory. */
static struct log_pdb *pdb_of(struct log_defs *d, uint32_t module)
{
    for (size_t i = 0; i < d->pdb_count; i++)
        if (d->pdbs[i].module == module)
            return &d->pdbs[i];
    if (!array_reserve(&d->pdbs, &d->pdb_capacity, d->pdb_count + 1))
        return NULL;
    d->pdbs[d->pdb_count] = (struct log_pdb){.module = module};
    return &d->pdbs[d->pdb_count++];
}

static int add_symbols(struct log_defs *d, const struct log_record *r)
{
    const char *pdb = NULL, *packed = NULL;
    uint32_t id = 0, module = 0;
    struct log_pdb *kept;
    uint64_t size = 0;
    const struct member members[] = {
        {"module", log_member_id(r->json, "module", 1, &id)},
        {"pdb", optional(log_member_text(r->json, "pdb", &pdb))},
        {"packed", optional(log_member_text(r->json, "packed", &packed))},
        {"size", optional(log_member_count(r->json, "size", &size))}};
    const char *bad = bad_key(members, COUNT_OF(members));
    int err;

    if (!bad && !pdb == !packed)
        bad = "pdb";
    err = bad ? log_defs_unusable(d, r, bad) : table_number(d, &d->modules, id, r->at, &module);
    if (err)
        return err;
    pdb = pdb ? pdb : packed;
    kept = pdb_of(d, module);
    if (!kept)
        return -ENOMEM;
    if (kept->bytes)
        return 0;
    kept->packed = packed != NULL;
    kept->unpacked_size = size;
    kept->bytes = memory_alloc(strlen(pdb) / 4 * 3 + 1);
    if (!kept->bytes)
        return -ENOMEM;
    if (base64_read(pdb, strlen(pdb), kept->bytes, &kept->size))
        return 0;
    pdb_free(kept);
    return log_defs_unusable(d, r, packed ? "packed" : "pdb");
}

const struct log_pdb *log_defs_pdb(const struct log_defs *d, uint32_t module)
{
    for (size_t i = 0; i < d->pdb_count; i++)
        if (d->pdbs[i].module == module && d->pdbs[i].bytes)
            return &d->pdbs[i];
    return NULL;
}

static int thread_number(struct log_defs *d, uint32_t id, uint32_t *out)
{
    uint32_t found = log_id_map_get(&d->thread_ids, id);

    if (!found) {
        if (!array_reserve(&d->threads, &d->thread_capacity, d->thread_count + 1) ||
            log_id_map_set(&d->thread_ids, id, (uint32_t)d->thread_count))
            return -ENOMEM;
        d->threads[d->thread_count++] =
            (struct log_thread_def){.id = id, .recording = (uint32_t)d->recording.number};
        found = (uint32_t)d->thread_count;
    }
    *out = found - 1;
    return 0;
}

static int add_thread(struct log_defs *d, const struct log_record *record)
{
    struct log_thread_def *thread;
    const char *name = NULL;
    uint32_t id = 0, os = 0, number;
    int err;

    if (log_member_id(record->json, "id", 1, &id))
        return log_defs_unusable(d, record, "id");
    if (log_member_id(record->json, "os", 0, &os) == -EBADMSG)
        return log_defs_unusable(d, record, "os");
    if (log_member_text(record->json, "name", &name) == -EBADMSG)
        return log_defs_unusable(d, record, "name");
    err = thread_number(d, id, &number);
    if (!err && name)
        err = intern_text(d, name, &name);
    if (err)
        return err;
    thread = &d->threads[number];
    thread->os = os ? os : thread->os;
    thread->name = name ? name : thread->name;
    thread->ended = json_object_get(record->json, "end") != NULL;
    return 0;
}

/* A frame that is no method's, called from `il` of the parent's: what it stands for is its name. */
static int named_path(struct log_defs *d, uint32_t parent, int32_t il, const char *named,
                      uint32_t *out)
{
    struct log_call_path path = {.parent = parent, .il = il};
    uint32_t method;
    int err = log_defs_method_named(d, named, &method);

    path.method = method & INT32_MAX;
    return err ? err : log_defs_path_add(d, &path, out);
}

static int add_inlined(struct log_defs *d, const struct log_record *record)
{
    const struct log_inlined *i = &record->inlined;
    struct log_inlining frame = {.il = i->il};
    int err;

    if (i->parent && !(frame.parent = log_id_map_get(&d->frame_ids, i->parent)))
        return log_defs_unusable(d, record, "parent");
    err = log_defs_method(d, i->method, record->at, &frame.method);
    if (err)
        return err;
    if (!array_reserve(&d->frames, &d->frame_capacity, d->frame_count + 1))
        return -ENOMEM;
    d->frames[d->frame_count++] = frame;
    return log_id_map_set(&d->frame_ids, i->id, (uint32_t)d->frame_count - 1);
}

/* The innermost of the frames that an id stands for; NULL: none, or none are to be shown. */
static const struct log_inlining *inlined_frame(const struct log_defs *d, uint32_t id)
{
    uint32_t found = id && !d->physical ? log_id_map_get(&d->frame_ids, id) : 0;

    return found ? &d->frames[found - 1] : NULL;
}

#define INLINED_DEPTH 64 /* of frames in each other; what lies further out is left out */

/*
 * The frames of inlined methods go on from the path of the method that they were inlined into. *il:
 * of the call in that method, or of the allocation; then that in the innermost frame.
 */
static int inlined_path(struct log_defs *d, uint32_t id, uint32_t *path, int32_t *il)
{
    const struct log_inlining *frame = inlined_frame(d, id), *frames[INLINED_DEPTH];
    size_t depth = 0;
    int err = 0;

    for (; frame && depth < INLINED_DEPTH;
         frame = frame->parent ? &d->frames[frame->parent - 1] : NULL)
        frames[depth++] = frame;
    while (!err && depth > 0) {
        struct log_call_path next = {.parent = *path, .il = *il};

        frame = frames[--depth];
        next.method = frame->method & INT32_MAX;
        err = log_defs_path_add(d, &next, path);
        *il = frame->il;
    }
    return err;
}

/* In precompiled code of a path's leaf it is not known where something was called or made. */
static void note_call(struct log_defs *d, uint32_t path, enum sst_call call)
{
    if (UNLIKELY(call == SST_CALL_PRECOMPILED))
        d->methods.defs[log_call_path(d, path)->method].precompiled = true;
}

static int add_node(struct log_defs *d, const struct log_record *record)
{
    const struct log_node *n = &record->node;
    struct log_call_path path = {.filter = n->filter & 1};
    uint32_t method, number, begun = 0;
    int err;

    err = log_defs_path(d, n->parent, record->at, &path.parent);
    if (!err)
        note_call(d, path.parent, n->call);
    if (!err && n->begun)
        err = log_defs_path(d, n->begun, record->at, &begun);
    if (!err && n->call == SST_CALL_DYNAMIC) {
        path.il = LOG_NO_IL - (int32_t)n->call;
        err = named_path(d, path.parent, n->il, LOG_PATH_DYNAMIC, &path.parent);
    } else {
        path.il = n->il >= 0 ? n->il : LOG_NO_IL - (int32_t)n->call;
    }
    if (!err)
        err = log_defs_method(d, n->method, record->at, &method);
    if (!err && n->inlined)
        err = inlined_path(d, n->inlined, &path.parent, &path.il);
    if (err)
        return err;
    path.method = method & INT32_MAX;
    path.begun = begun > LOG_PATH_LOST ? begun & INT32_MAX : 0;
    err = log_defs_path_add(d, &path, &number);
    return err ? err : log_id_map_set(&d->path_ids, n->id, number);
}

const char *log_no_frame(const struct log_defs *d)
{
    return d->hooked_frames ? "(no own frame)" : "(no managed frame)";
}

static int add_header(struct log_defs *d, const struct log_record *record)
{
    const json_t *options = json_object_get(record->json, "options");
    const char *frames = json_string_value(json_object_get(options, "framework_frames"));
    bool some = json_is_true(json_object_get(options, "own")) ||
                json_array_size(json_object_get(options, "only"));

    d->some_hooked = d->some_hooked || some;
    d->hooked_frames = d->hooked_frames || (some && (!frames || strcmp(frames, "none") == 0));
    d->no_offsets = d->no_offsets || json_is_true(json_object_get(options, "no_lines"));
    if (!log_recording_next(&d->recording, record->json) || d->recording.number == 1)
        return 0;
    log_id_map_free(&d->modules.ids);
    log_id_map_free(&d->classes.ids);
    log_id_map_free(&d->methods.ids);
    log_id_map_free(&d->thread_ids);
    log_id_map_free(&d->path_ids);
    log_id_map_free(&d->frame_ids);
    return 0;
}

int log_defs_add(struct log_defs *d, const struct log_record *record)
{
    static int (*const add[SST_KIND_COUNT])(struct log_defs *, const struct log_record *) = {
        [SST_KIND_HEADER] = add_header,   [SST_KIND_MODULE] = add_named,
        [SST_KIND_CLASS] = add_named,     [SST_KIND_METHOD] = add_named,
        [SST_KIND_THREAD] = add_thread,   [SST_KIND_NODE] = add_node,
        [SST_KIND_INLINED] = add_inlined, [SST_KIND_SYMBOLS] = add_symbols};

    return add[record->kind] ? add[record->kind](d, record) : 0;
}

int log_defs_class(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out)
{
    return table_number(d, &d->classes, id, at, out);
}

int log_defs_method(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out)
{
    return table_number(d, &d->methods, id, at, out);
}

int log_defs_thread(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out)
{
    if (!log_id_map_get(&d->thread_ids, id)) {
        log_problem(d->problems, at, "thread %u is used but not defined", id);
        d->undefined++;
    }
    return thread_number(d, id, out);
}

int log_defs_path(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out)
{
    uint32_t found = id == SST_NODE_EMPTY ? LOG_PATH_EMPTY + 1 : log_id_map_get(&d->path_ids, id);

    if (LIKELY(found)) {
        *out = found - 1;
        return 0;
    }
    log_problem(d->problems, at, "node %u is used but not defined", id);
    d->undefined++;
    *out = LOG_PATH_LOST;
    return log_id_map_set(&d->path_ids, id, LOG_PATH_LOST);
}

static int expect_alloc(struct log_defs *d, const struct log_alloc *alloc, struct log_place at)
{
    uint32_t number;
    int err = 0;

    if (alloc->node && UNLIKELY(!log_id_map_get(&d->path_ids, alloc->node)))
        err = log_defs_path(d, alloc->node, at, &number);
    if (!err && alloc->class_id && UNLIKELY(!log_id_map_get(&d->classes.ids, alloc->class_id)))
        err = log_defs_class(d, alloc->class_id, at, &number);
    if (!err && alloc->thread && UNLIKELY(!log_id_map_get(&d->thread_ids, alloc->thread)))
        err = log_defs_thread(d, alloc->thread, at, &number);
    return err;
}

/* Events of every other kind name things by the same members. */
static int expect_named(struct log_defs *d, const struct log_record *record)
{
    static const struct {
        const char *key;
        int (*get)(struct log_defs *, uint32_t, struct log_place, uint32_t *);
    } members[] = {{"node", log_defs_path},
                   {"class", log_defs_class},
                   {"method", log_defs_method},
                   {"thread", log_defs_thread}};
    uint32_t id, number;
    int err = 0;

    for (size_t i = 0; !err && i < COUNT_OF(members); i++)
        if (!log_member_id(record->json, members[i].key, 1, &id))
            err = members[i].get(d, id, record->at, &number);
    return err;
}

int log_defs_expect(struct log_defs *d, const struct log_record *record)
{
    uint32_t number;

    switch (record->kind) {
    case SST_KIND_ALLOC:
    case SST_KIND_SITE:
    case SST_KIND_LIVE_SITE:
        return expect_alloc(d, &record->alloc, record->at);
    case SST_KIND_CALLS:
        return log_defs_thread(d, record->calls.thread, record->at, &number);
    case SST_KIND_UNKNOWN:
    case SST_KIND_HEADER:
    case SST_KIND_MODULE:
    case SST_KIND_CLASS:
    case SST_KIND_METHOD:
    case SST_KIND_IMAGE:
    case SST_KIND_THREAD:
    case SST_KIND_INLINED:
    case SST_KIND_SYMBOLS:
    case SST_KIND_NODE: /* what these name they look up themselves */
    case SST_KIND_LIVE:
    case SST_KIND_LIVE_TOTAL:
    case SST_KIND_END:
        return 0;
    default:
        return expect_named(d, record);
    }
}

/* A JSON string with its quotes, as it stands in a line. Without escapes it is its own value. */
static int intern_json(struct log_defs *d, const char *json, size_t size, struct log_string **out)
{
    json_t *value;
    int err;

    if (!memchr(json, '\\', size))
        return intern(d, json + 1, size - 2, out);
    value = json_loadb(json, size, JSON_DECODE_ANY, NULL);
    err = value ? intern(d, json_string_value(value), json_string_length(value), out) : -ENOMEM;
    json_decref(value);
    return err;
}

/*
 * Frames come leaf first, paths are built from the root: recursion would follow the depth, so go by
 * an array.
 */
int log_defs_inline_path(struct log_defs *d, const struct log_alloc *alloc, uint32_t *out)
{
    struct log_call_path path = {.parent = LOG_PATH_EMPTY, .il = LOG_NO_IL};
    size_t count = 0, size;
    const char *at = alloc->stack, *frame;
    int err = 0;

    *out = LOG_PATH_EMPTY;
    d->no_offsets = true; /* but the leaf's, of no module */
    while (!err && (frame = log_stack_next(&at, &size))) {
        struct log_def def = {.path = d->methods.defs[0].path, .defined = true};
        struct log_string *name;

        if (!array_reserve(&d->leaf_first, &d->leaf_first_capacity, count + 1)) {
            err = -ENOMEM;
            break;
        }
        err = intern_json(d, frame, size, &name);
        if (!err && !name->method) {
            uint32_t number;

            def.name = name->text;
            err = table_add(&d->methods, &def, &number);
            name->method = err ? 0 : number;
        }
        d->leaf_first[count++] = err ? 0 : name->method;
    }
    while (!err && count > 0) {
        path.parent = *out;
        path.method = d->leaf_first[--count] & INT32_MAX;
        err = log_defs_path_add(d, &path, out);
    }
    return err;
}

int log_defs_inline_class(struct log_defs *d, const struct log_alloc *alloc, uint32_t *out)
{
    struct log_def def = {.path = d->classes.defs[0].path, .defined = true};
    struct log_string *name;
    int err = intern_json(d, alloc->type, alloc->type_size, &name);

    if (err)
        return err;
    def.name = name->text;
    return table_add(&d->classes, &def, out);
}

int log_defs_alloc_path(struct log_defs *d, const struct log_alloc *alloc, struct log_place at,
                        uint32_t *out)
{
    int err = UNLIKELY(alloc->stack != NULL) ? log_defs_inline_path(d, alloc, out)
                                             : log_defs_path(d, alloc->node, at, out);
    int32_t il = alloc->il;

    if (!err)
        note_call(d, *out, alloc->call);
    if (UNLIKELY(!err && alloc->inlined && !alloc->cut))
        err = inlined_path(d, alloc->inlined, out, &il);
    if (UNLIKELY(!err &&
                 alloc->cut)) /* above the frame that allocates lies what was kept of its path */
        return named_path(d, *out, LOG_NO_IL, LOG_PATH_CUT, out);
    if (UNLIKELY(!err && alloc->call == SST_CALL_DYNAMIC))
        return named_path(d, *out, il, LOG_PATH_DYNAMIC, out);
    return err;
}

int32_t log_defs_alloc_il(const struct log_defs *d, const struct log_alloc *alloc)
{
    const struct log_inlining *frame = inlined_frame(d, alloc->inlined);

    if (alloc->cut || alloc->call == SST_CALL_DYNAMIC)
        return LOG_NO_IL;
    return frame ? frame->il : alloc->il;
}

int log_defs_event_path(struct log_defs *d, const struct log_record *record, uint32_t *out)
{
    uint32_t id = SST_NODE_EMPTY;
    int err;

    (void)log_member_id(record->json, "node", 0, &id);
    err = log_defs_path(d, id, record->at, out);
    if (!err)
        err = log_defs_plain(d, out);
    return err || !json_is_true(json_object_get(record->json, "cut"))
               ? err
               : named_path(d, *out, LOG_NO_IL, LOG_PATH_CUT, out);
}
