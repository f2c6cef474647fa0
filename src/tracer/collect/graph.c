#include "collect/graph.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include "clr/event_mask.h"
#include "collect/snapshot.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BITS 10u /* log2 of the slots of a table */

/* An event of the runtime's, and where its members are (ClrEtwAll.man). */
#define GC_START    1
#define START_DEPTH 4       /* u32 */
#define START_TYPE  12      /* u32 */
enum { TYPE_BLOCKING = 0 }; /* and no background collection is under way */

/* Numbers of what the runtime has ids for, in the order in which they were met. */
struct numbers {
    struct numbered {
        uintptr_t id;    /* 0: free */
        uint32_t number; /* 1, 2, ... */
        uint32_t bytes; /* of a class: of each of its objects; 0: they differ, or it is not known */
        bool plain;     /* of a class: an array of references, which are its elements */
    } * slots;
    unsigned bits;
    uint32_t count;
};

struct graph {
    struct graph_config config;
    /*
     * IDLE -> WANTED -> IDLE by who opens and closes, WANTED -> TOLD -> DONE within the collection.
     * What follows is of the one whose turn it is.
     */
    _Atomic(enum {IDLE, WANTED, TOLD, DONE}) state;
    struct heap_file *file;
    bool kept;    /* COR_PRF_MONITOR_GC was set without us */
    bool events;  /* the runtime reports it by events */
    bool fits;    /* they tell of a collection that is full and blocking */
    bool unloads; /* they named types that can be unloaded */
    struct sst_heap_head head;
    struct snapshot snapshot;
    struct session_subscriber subscriber;
    struct graph_result result;
    struct numbers classes, methods;
    struct numbered class; /* of the last object */
    uint32_t epoch;        /* of the metadata, in the collection */
};

static void told(void *context, const struct session_event *event);

int graph_new(const struct graph_config *config, struct graph **out)
{
    static const uint32_t ids[] = {GC_START,       SNAPSHOT_ROOTS, SNAPSHOT_PAIRS,
                                   SNAPSHOT_NODES, SNAPSHOT_EDGES, 0};
    struct graph *g = memory_zalloc(1, sizeof(*g));

    *out = g;
    if (!g)
        return -ENOMEM;
    g->config = *config;
    g->subscriber = (struct session_subscriber){SESSION_KEYWORD_GC | SESSION_KEYWORD_HEAP_DUMP,
                                                SESSION_LEVEL_INFORMATIONAL, ids, told, g};
    return 0;
}

/* ---- numbers ---- */

static struct numbered *slot_of(const struct numbers *n, uintptr_t id)
{
    size_t mask = ((size_t)1 << n->bits) - 1, at = hash_word(id) >> (64 - n->bits);

    while (n->slots[at].id && n->slots[at].id != id)
        at = (at + 1) & mask;
    return &n->slots[at];
}

/* Room for one more, at most three quarters full. Returns: whether there is. */
static bool make_room(struct numbers *n)
{
    struct numbers larger = {.bits = n->bits ? n->bits + 1 : FIRST_BITS, .count = n->count};
    size_t size = n->bits ? (size_t)1 << n->bits : 0;

    if (n->count < size / 4 * 3)
        return true;
    larger.slots = memory_zalloc((size_t)1 << larger.bits, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < size; i++)
        if (n->slots[i].id)
            *slot_of(&larger, n->slots[i].id) = n->slots[i];
    memory_free(n->slots);
    *n = larger;
    return true;
}

/* The slot of an id that is not 0, *met if it was there before; NULL: out of memory. */
static struct numbered *number_of(struct numbers *n, uintptr_t id, bool *met)
{
    struct numbered *slot;

    *met = true;
    if (n->bits && (slot = slot_of(n, id))->id)
        return slot;
    *met = false;
    if (!make_room(n))
        return NULL;
    slot = slot_of(n, id);
    *slot = (struct numbered){.id = id, .number = ++n->count};
    return slot;
}

static void forget(struct numbers *n)
{
    memory_free(n->slots);
    *n = (struct numbers){NULL, 0, 0};
}

/* ---- the collection ---- */

static void begin(struct graph *g)
{
    g->epoch = metadata_epoch(g->config.metadata);
    heap_file_head(g->file, &g->head);
    store_release(&g->state, TOLD);
}

/* Events tell later whether it is the one: told(). */
void graph_begun(struct graph *g, uint32_t number, bool full)
{
    if (load_acquire(&g->state) != WANTED)
        return;
    g->head = (struct sst_heap_head){.pid = (uint64_t)getpid(), .collection = number};
    g->head.clock = g->config.zero_ns(g->config.context);
    g->head.t = clock_ns() - g->head.clock;
    if (full && !g->events)
        begin(g);
}

void graph_finished(struct graph *g)
{
    g->fits = false;
    if (load_acquire(&g->state) != TOLD)
        return;
    if (g->config.sites && !g->events)
        g->config.sites(g->config.context, g);
    if (g->config.names)
        g->config.names->statics(g->config.names->context, g);
    store_release(&g->state, DONE);
}

static bool is_plain_array(struct clr_info *info, uintptr_t class_id)
{
    uint32_t element = ELEMENT_TYPE_VALUETYPE, rank;
    uintptr_t class;

    return info->vtbl->is_array_class(info, class_id, &element, &class, &rank) == S_OK &&
           element != ELEMENT_TYPE_VALUETYPE;
}

/* Its memory, where its references are looked for; NULL: it has no other words than they. */
static const uintptr_t *words_of(const struct graph *g, uintptr_t object)
{
    return g->config.names && !g->class.plain ? (const uintptr_t *)object : NULL;
}

/* Class 0 if there is no memory for it. */
static void class_meet(struct graph *g, uintptr_t class_id)
{
    const struct metadata_class *class;
    struct numbered *slot;
    bool met;

    slot = number_of(&g->classes, class_id, &met);
    g->class = slot ? *slot : (struct numbered){class_id, 0, 0, false};
    if (met || !slot)
        return;
    g->class.plain = slot->plain = is_plain_array(g->config.info, class_id);
    class = metadata_class_find(g->config.metadata, class_id);
    if (class && !class->variable_size)
        g->class.bytes = slot->bytes = load_relaxed(&class->fixed_bytes);
}

bool graph_object(struct graph *g, uintptr_t object, uintptr_t class_id, uint32_t count,
                  const uintptr_t *references)
{
    struct clr_info *info = g->config.info;
    size_t size = 0;

    if (load_acquire(&g->state) != TOLD)
        return false;
    if (class_id != g->class.id)
        class_meet(g, class_id);
    if (g->class.bytes)
        size = g->class.bytes;
    else if (info->vtbl->get_object_size2(info, object, &size) != S_OK)
        size = 0;
    heap_file_object(g->file, object, g->class.number, size, references, count,
                     words_of(g, object));
    return true;
}

static void put_root(struct graph *g, uintptr_t object, int32_t kind, int32_t flags, uintptr_t id)
{
    const struct numbered *method = NULL;
    bool met;

    if (object && kind == COR_PRF_GC_ROOT_STACK && id)
        method = number_of(&g->methods, id, &met);
    heap_file_root(g->file, object, (uint32_t)kind, (uint32_t)flags, method ? method->number : 0);
}

void graph_roots(struct graph *g, uint32_t count, const uintptr_t *objects, const int32_t *kinds,
                 const int32_t *flags, const uintptr_t *ids)
{
    if (load_acquire(&g->state) != TOLD)
        return;
    for (uint32_t i = 0; i < count; i++)
        put_root(g, objects[i], kinds[i], flags[i], ids[i]);
}

void graph_pairs(struct graph *g, uint32_t count, const uintptr_t *keys, const uintptr_t *values)
{
    if (load_acquire(&g->state) != TOLD)
        return;
    for (uint32_t i = 0; i < count; i++)
        heap_file_pair(g->file, keys[i], values[i]);
}

void graph_site(struct graph *g, uintptr_t object, uint32_t site)
{
    heap_file_site(g->file, object, site);
}

void graph_static(struct graph *g, const struct metadata_class *class,
                  const struct heap_file_static *field, const char *name)
{
    struct heap_file_static own = *field;
    struct numbered *slot;
    bool met;

    slot = number_of(&g->classes, class->class_id, &met);
    own.class = slot ? slot->number : 0;
    heap_file_static(g->file, &own, name);
}

bool graph_met(const struct graph *g, const struct metadata_module *module)
{
    for (size_t i = 0; g->classes.bits && i < (size_t)1 << g->classes.bits; i++) {
        const struct metadata_class *class =
            g->classes.slots[i].id ? metadata_class_find(g->config.metadata, g->classes.slots[i].id)
                                   : NULL;

        if (class && class->module == module)
            return true;
    }
    return false;
}

void graph_field(struct graph *g, const struct heap_file_field *field, const char *name)
{
    heap_file_field(g->file, field, name);
}

/* ---- the same by events ---- */

static void take_object(void *context, const struct snapshot_node *node,
                        const uintptr_t *references)
{
    struct graph *g = context;

    if (node->class_id != g->class.id)
        class_meet(g, node->class_id);
    heap_file_object(g->file, node->address, g->class.number, node->bytes, references, node->edges,
                     words_of(g, node->address));
}

static void take_root(void *context, uintptr_t object, int32_t kind, int32_t flags, uintptr_t id)
{
    put_root(context, object, kind, flags, id);
}

static void take_pair(void *context, uintptr_t key, uintptr_t value)
{
    heap_file_pair(((struct graph *)context)->file, key, value);
}

/*
 * GCStart comes behind GarbageCollectionStarted, what there is on the heap before
 * GarbageCollectionFinished. Of a collection that the program made itself nothing else comes.
 */
static void told(void *context, const struct session_event *event)
{
    struct graph *g = context;
    const struct snapshot_taker taker = {g, take_object, take_root, take_pair};
    uint32_t depth, type;

    if (event->id != GC_START) {
        if (g->fits && load_acquire(&g->state) == WANTED)
            begin(g);
        if (load_acquire(&g->state) == TOLD)
            snapshot_take(&g->snapshot, event, &taker);
    } else if (event->size >= START_TYPE + sizeof(type)) {
        memcpy(&depth, event->data + START_DEPTH, sizeof(depth));
        memcpy(&type, event->data + START_TYPE, sizeof(type));
        if (depth <= COR_PRF_GC_GEN_2) /* ProcessInfo, of another provider, has the same id */
            g->fits = depth == COR_PRF_GC_GEN_2 && type == TYPE_BLOCKING;
    }
}

/* ---- before and after it ---- */

static enum graph_failure fail(struct graph *g, enum graph_failure failure, int32_t why)
{
    g->result = (struct graph_result){.failure = failure, .why = why};
    return failure;
}

/* Returns: S_OK; S_FALSE: GRAPH_UNLOADS; or what the runtime says. */
static hresult tell(struct graph *g)
{
    struct clr_info *info = g->config.info;
    uint32_t low = 0, high = 0;
    hresult result = info->vtbl->get_event_mask2(info, &low, &high);

    g->events = g->fits = false;
    g->kept = low & COR_PRF_MONITOR_GC;
    if (result == S_OK && !g->kept)
        result = clr_event_mask_change(info, 0, COR_PRF_MONITOR_GC);
    if (result != CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE)
        return result;
    g->events = true;
    if (g->unloads)
        return S_FALSE;
    return session_open(g->config.session, info, g->config.info_version, &g->subscriber);
}

static void tell_no_more(struct graph *g)
{
    if (g->events)
        session_close(g->config.session, g->config.info);
    else if (!g->kept)
        clr_event_mask_change(g->config.info, COR_PRF_MONITOR_GC, 0);
}

static void *open_names(void *context)
{
    const struct graph_names *names = context;

    pthread_setname_np(pthread_self(), "shadowtrace-nm");
    names->open(names->context);
    return NULL;
}

/*
 * On a new thread: the runtime answers one that it does not know, and one that has asked for a
 * collection. A session makes the calling thread known, and is started before the collection.
 */
static void open_on_thread(const struct graph_names *names)
{
    union {
        const struct graph_names *names;
        void *context;
    } to = {names};
    pthread_t thread;

    if (!thread_start(&thread, open_names, to.context))
        thread_join(thread);
}

enum graph_failure graph_open(struct graph *g, const char *path)
{
    int err = heap_file_new(path, &g->file);
    hresult result;

    if (err)
        return fail(g, GRAPH_NO_FILE, err);
    result = tell(g);
    if (result != S_OK) {
        heap_file_drop(g->file);
        g->file = NULL;
        return result == S_FALSE ? fail(g, GRAPH_UNLOADS, 0) : fail(g, GRAPH_REFUSED, result);
    }
    metadata_hold(g->config.metadata); /* what is met is named in graph_close() */
    if (g->config.names)
        open_on_thread(g->config.names);
    store_release(&g->state, WANTED);
    return GRAPH_DONE;
}

/*
 * A class that nobody met before may be unloaded as soon as the program runs: then its id means
 * nothing any more, or something else.
 */
static void put_class(struct graph *g, const struct numbered *slot)
{
    struct metadata *metadata = g->config.metadata;
    struct metadata_class *class = metadata_class_find(metadata, slot->id);

    if (!class && metadata_epoch(metadata) == g->epoch &&
        metadata_class_get(metadata, slot->id, &class))
        class = NULL;
    g->unloads |= g->events && (!class || class->collectible);
    if (class)
        heap_file_text(g->file, SST_HEAP_CLASSES, slot->number, class->id,
                       metadata_class_resolve(metadata, class));
}

static void put_fields(struct graph *g, const struct numbered *slot)
{
    const struct metadata_class *class = metadata_class_find(g->config.metadata, slot->id);

    if (class)
        g->config.names->fields(g->config.names->context, g, class, slot->number);
}

static void put_method(struct graph *g, const struct numbered *slot)
{
    struct metadata_method *method = metadata_method_find(g->config.metadata, slot->id);

    if (method)
        heap_file_text(g->file, SST_HEAP_NAMES, slot->number, method->id,
                       metadata_method_resolve(g->config.metadata, method));
}

static void put_names(struct graph *g, const struct numbers *n,
                      void (*put)(struct graph *g, const struct numbered *slot))
{
    for (size_t i = 0; n->bits && i < (size_t)1 << n->bits; i++)
        if (n->slots[i].id)
            put(g, &n->slots[i]);
}

/* The collection is over: the file is finished, or there was none in it. */
static void finish(struct graph *g, bool told, bool asked)
{
    struct graph_result *r = &g->result;
    int torn = snapshot_end(&g->snapshot);

    if (!told || torn) {
        heap_file_drop(g->file);
        fail(g, told ? GRAPH_TORN : GRAPH_UNTOLD, torn);
        return;
    }
    put_names(g, &g->classes, put_class);
    put_names(g, &g->methods, put_method);
    if (g->config.names && asked)
        put_names(g, &g->classes, put_fields);
    *r = (struct graph_result){.failure = GRAPH_DONE, .collection = (uint32_t)g->head.collection};
    r->why = heap_file_end(g->file, &r->counts);
    if (r->why)
        r->failure = GRAPH_NO_FILE;
}

void graph_close(struct graph *g, bool asked, struct graph_result *out)
{
    if (g->file) {
        bool told = exchange_acq_rel(&g->state, IDLE) == DONE;

        tell_no_more(g);
        finish(g, told, asked);
        if (g->config.names)
            g->config.names->close(g->config.names->context);
        metadata_unhold(g->config.metadata);
        g->file = NULL;
        forget(&g->classes);
        forget(&g->methods);
        g->class = (struct numbered){0, 0, 0, false};
    }
    *out = g->result;
}
