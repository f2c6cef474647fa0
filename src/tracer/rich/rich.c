#include "rich/rich.h"

#include "base/hash.h"
#include "base/load.h"
#include "base/memory.h"
#include "metadata/internal.h"

#include <shadowtrace/clr/constants.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Sources: dotnet/runtime ClrEtwAll.man; src/coreclr/vm/debuginfostore.cpp. */
#define KEYWORD_JIT   UINT64_C(0x10)
#define KEYWORD_RICH  UINT64_C(0x40000)
#define LEVEL_INFO    4
#define LEVEL_VERBOSE 5
#define EVENT_LOAD    143 /* MethodLoadVerbose */
#define EVENT_JITTING 145 /* MethodJittingStarted: the JIT begins; what it makes runs later */
#define EVENT_RICH    189 /* JittedMethodRichDebugInfo */
#define LOAD_SIZE     36
#define RICH_HEAD     34
#define NODE_SIZE     20
#define NEWEST_STORED 10 /* .NET 11 compresses them in another way: they come as events */
#define MAP_SIZE      13
#define LAST_CHUNK    0x80000000u
#define MOST_BYTES    (16u << 20) /* of one body's info */
#define NAME_UNITS    64
#define BODIES        8   /* of a function that are looked at */
#define WAIT_MS       200 /* for the info of a body that runs already */
#define MOST_LATE     10  /* bodies whose info never came: then none is waited for */

static const clr_wchar runtime_name[] = u"Microsoft-Windows-DotNETRuntime";
static const clr_wchar private_name[] = u"Microsoft-Windows-DotNETRuntimePrivate";

bool rich_init(struct rich *rich, struct metadata *metadata, const struct clr_runtime *runtime)
{
    const char *set = getenv(RICH_VARIABLE);

    rich->metadata = metadata;
    rich->runtime = runtime;
    pthread_mutex_init(&rich->lock, NULL);
    if (!set || strcmp(set, "1") != 0) {
        snprintf(rich->why_not, sizeof(rich->why_not),
                 RICH_VARIABLE "=1 was not set as the process began; `shadowtrace env` prints it");
        return false;
    }
    rich->stored = runtime->major <= NEWEST_STORED;
    metadata->rich = rich;
    return true;
}

const char *rich_lost_name(enum rich_lost reason)
{
    static const char *const names[] = {"damaged", "no_memory", "late"};

    return names[reason];
}

void rich_start(struct rich *rich)
{
    const struct clr_event_pipe_provider_config config[] = {
        {.provider_name = private_name, .keywords = KEYWORD_RICH, .logging_level = LEVEL_INFO},
        {.provider_name = runtime_name, .keywords = KEYWORD_JIT, .logging_level = LEVEL_VERBOSE}};
    struct clr_info *info = rich->runtime->info;
    hresult result;

    if (rich->stored)
        return;
    store_release(&rich->running, true); /* bodies may come before it returns */
    result =
        info->vtbl->event_pipe_start_session(info, COUNT_OF(config), config, 0, &rich->session);
    if (result == S_OK)
        return;
    store_release(&rich->running, false);
    snprintf(rich->why_not, sizeof(rich->why_not),
             "the runtime refused the session for them: 0x%08x", (unsigned)result);
}

/* ---- a body ---- */

/* Children of a node are a list. A node has the first parent that names it. */
static void read_parents(struct rich_body *body, const uint8_t *nodes)
{
    for (uint32_t i = 0; i < body->nodes; i++) {
        uint32_t child = load_u32(nodes + i * NODE_SIZE + 12);

        while (child && child < body->nodes && child != i &&
               body->node[child].parent == RICH_NONE) {
            body->node[child].parent = i;
            child = load_u32(nodes + child * NODE_SIZE + 16);
        }
    }
}

static bool read_maps(struct rich_body *body, const uint8_t *at)
{
    for (uint32_t i = 0; i < body->maps; i++, at += MAP_SIZE) {
        body->map[i] = (struct rich_map){
            .il = load_u32(at), .node = load_u32(at + 4), .native = load_u32(at + 8)};
        if (body->map[i].node >= body->nodes ||
            (i && body->map[i].native < body->map[i - 1].native))
            return false;
    }
    return true;
}

struct rich_body *rich_body_read(const uint8_t *data, size_t size, bool *refused)
{
    struct rich_body *body;
    uint32_t nodes, maps;

    *refused = true;
    if (size < 8 || size > MOST_BYTES)
        return NULL;
    nodes = load_u32(data);
    maps = load_u32(data + 4);
    if (!nodes || (uint64_t)nodes * NODE_SIZE + (uint64_t)maps * MAP_SIZE + 8 != size)
        return NULL;
    *refused = false;
    body = memory_alloc(sizeof(*body) + nodes * sizeof(*body->node) + maps * sizeof(*body->map));
    if (!body)
        return NULL;
    *body = (struct rich_body){.nodes = nodes, .maps = maps};
    body->map = (struct rich_map *)(void *)(body->node + nodes);
    data += 8;
    for (uint32_t i = 0; i < nodes; i++)
        body->node[i] = (struct rich_node){(uintptr_t)load_u64(data + i * NODE_SIZE), RICH_NONE,
                                           load_u32(data + i * NODE_SIZE + 8)};
    read_parents(body, data);
    if (read_maps(body, data + nodes * NODE_SIZE))
        return body;
    *refused = true;
    memory_free(body);
    return NULL;
}

void rich_bodies_free(struct metadata_method *method)
{
    struct rich_body *body = load_relaxed(&method->rich), *next;

    for (; body; body = next) {
        next = body->next;
        memory_free(load_relaxed(&body->parent));
        memory_free(load_relaxed(&body->call));
        if (!body->settled)
            memory_free(body);
    }
}

const uint32_t *rich_parents(const struct rich_body *body, uint32_t *parent)
{
    struct rich_body *of = (struct rich_body *)(uintptr_t)body; /* all else stays as it is */
    uint32_t *known = NULL;

    if (cas_acq_rel(&of->parent, &known, parent))
        return parent;
    memory_free(parent);
    return known;
}

rich_call *rich_calls(const struct rich_body *body)
{
    struct rich_body *of = (struct rich_body *)(uintptr_t)body; /* as above */
    rich_call *known = load_acquire(&of->call), *made;

    if (known || !(made = memory_zalloc(body->nodes, sizeof(*made))))
        return known;
    if (cas_acq_rel(&of->call, &known, made))
        return made;
    memory_free(made);
    return known;
}

static const struct rich_body *find(const struct metadata_method *method, uintptr_t ip)
{
    const struct rich_body *body = load_acquire(&method->rich);

    while (body && ip - body->start >= body->size)
        body = body->next;
    return body;
}

/* As body_current() of code/code.c: code that may be unloaded may be another's by now. */
static bool is_current(const struct rich *rich, const struct metadata_method *method,
                       const struct rich_body *body)
{
    return !metadata_method_entry(method)->recheck || body->epoch == metadata_epoch(rich->metadata);
}

/* method: NULL: one without a record. */
static void lose(struct rich *rich, struct metadata_method *method, enum rich_lost reason)
{
    add_relaxed(&rich->counts.lost[reason], 1);
    if (method)
        store_relaxed(&method->rich_lost, true);
}

/* One of a method that stays is kept until the end: in the pool, as body_settle() of code.c. */
static struct rich_body *settle(struct rich *rich, const struct metadata_method *method,
                                struct rich_body *body, size_t bytes)
{
    struct rich_body *settled = NULL;

    if (!metadata_method_entry(method)->recheck)
        settled = memory_pool_zalloc(&rich->metadata->pool, 1, bytes);
    if (!settled)
        return body;
    memcpy(settled, body, bytes);
    settled->settled = true;
    if (body->map)
        settled->map = (struct rich_map *)(void *)(settled->node + body->nodes);
    memory_free(body);
    return settled;
}

static void list_body(struct rich *rich, struct metadata_method *method, struct rich_body *body,
                      uint32_t epoch, const struct rich_code *code)
{
    size_t bytes = sizeof(*body);

    if (body->nodes == 1) {
        body->maps = 0;
        body->map = NULL;
    } else {
        bytes += body->nodes * sizeof(*body->node) + body->maps * sizeof(*body->map);
    }
    body = settle(rich, method, body, bytes);
    body->start = code->start;
    body->size = code->size;
    body->epoch = epoch;
    add_relaxed(&rich->counts.bodies, 1);
    add_relaxed(&rich->counts.bytes, bytes);
    list_push(&method->rich, body, next);
}

/* The module of a function; 0: not known. */
static uintptr_t module_of(struct rich *rich, uintptr_t function)
{
    struct clr_info *info = rich->runtime->info;
    const struct metadata_method *method = metadata_method_find(rich->metadata, function);
    uintptr_t class, module = 0;
    uint32_t token;

    if (method)
        return method->module ? method->module->module_id : 0;
    if (info->vtbl->get_function_info(info, function, &class, &module, &token) < 0)
        return 0;
    return module;
}

/* May a function be own code? The others are remembered: most that are inlined are so again. */
static bool may_be_own(struct rich *rich, uintptr_t function)
{
    _Atomic(uintptr_t) *others = &rich->others[hash_word(function) >> (64 - RICH_KNOWN_BITS)];
    uintptr_t module = load_relaxed(others) == function ? 0 : module_of(rich, function);

    if (module && !metadata_module_is_others(rich->metadata, module))
        return true;
    if (module)
        store_relaxed(others, function);
    return false;
}

static bool has_own(struct rich *rich, const struct rich_body *body)
{
    uint32_t i = 1;

    while (i < body->nodes && !may_be_own(rich, body->node[i].function))
        i++;
    return i < body->nodes;
}

/*
 * A body from the payload of its event, of others' code if `own` is false: then with its nodes only
 * if one of them is own. NULL: as rich_body_read.
 */
static struct rich_body *body_of(struct rich *rich, bool own, const uint8_t *data, size_t size,
                                 bool *refused)
{
    struct rich_body *body = rich_body_read(data, size, refused);

    if (!body || own)
        return body;
    if (has_own(rich, body))
        add_relaxed(&rich->counts.hosts, 1);
    else
        body->nodes = 1;
    return body;
}

/* Reads what the runtime keeps of a body. Two threads may list the same: that costs memory only. */
static const struct rich_body *find_stored(struct rich *rich, struct metadata_method *method,
                                           const struct rich_code *code)
{
    struct rich_body *body = NULL;
    uint8_t *data;
    size_t size;
    bool damaged = false, stays = !metadata_method_entry(method)->recheck;
    uint32_t epoch = metadata_epoch(rich->metadata);

    if (!method->module)
        return NULL;
    switch (rich_stored_read(code->start, stays ? &rich->pages : NULL, method->function_id, &data,
                             &size)) {
    case RICH_STORED:
        body = body_of(rich, may_be_own(rich, method->function_id), data, size, &damaged);
        memory_free(data);
        break;
    case RICH_STORED_TIER0:
        body = memory_zalloc(1, sizeof(*body));
        if (body)
            body->nodes = 1;
        break;
    case RICH_STORED_NONE: /* stays so if the code does: what is precompiled has no header */
        if (stays)
            store_relaxed(&method->rich_none, code->start);
        return NULL;
    case RICH_STORED_DAMAGED:
        damaged = true;
        break;
    case RICH_STORED_NO_MEMORY:
        break;
    }
    if (body)
        list_body(rich, method, body, epoch, code);
    else
        lose(rich, method, damaged ? RICH_DAMAGED : RICH_NO_MEMORY);
    return body ? find(method, code->start) : NULL;
}

static const struct rich_body *await(struct rich *rich, const struct metadata_method *method,
                                     uintptr_t start, bool *lost)
{
    static const struct timespec step = {.tv_nsec = 1000000};
    struct rich_counts *counts = &rich->counts;
    const struct rich_body *body;
    bool due;

    for (unsigned ms = 0;; ms++) {
        due = load_acquire(&method->rich_due); /* pairs with due_end(): then the body is listed */
        body = find(method, start);
        if (body && due && !is_current(rich, method, body))
            body = NULL;
        if (body || !due || ms == WAIT_MS || load_relaxed(&counts->lost[RICH_LATE]) >= MOST_LATE)
            break;
        if (!ms)
            add_relaxed(&counts->awaited, 1);
        nanosleep(&step, NULL);
    }
    if (!body && due)
        add_relaxed(&counts->lost[RICH_LATE], 1);
    *lost = !body && (due || load_relaxed(&method->rich_lost));
    return body;
}

const struct rich_body *rich_body_find(struct metadata *metadata,
                                       const struct metadata_method *method,
                                       const struct rich_code *code, bool *lost)
{
    struct rich *rich = metadata->rich;
    struct metadata_method *shared;
    const struct rich_body *body;

    *lost = false;
    if (load_relaxed(&method->rich_none) == code->start && !load_relaxed(&method->rich_lost))
        return NULL; /* most are precompiled */
    shared = metadata_method_find(metadata, method->function_id);
    if (!shared || !rich)
        return NULL;
    body = find(shared, code->start);
    if (!rich->stored)
        return await(rich, shared, code->start, lost);
    if (body && is_current(rich, shared, body))
        return body;
    body = NULL;
    if (!load_relaxed(&shared->rich_lost) && load_relaxed(&shared->rich_none) != code->start)
        body = find_stored(rich, shared, code);
    *lost = !body && load_relaxed(&shared->rich_lost);
    return body;
}

/* Where the body of a function begins that holds an address; 0: not known. */
static uintptr_t start_of(struct clr_info *info, uintptr_t function, uintptr_t rejit, uintptr_t ip)
{
    uintptr_t start[BODIES], found = 0;
    uint32_t count = 0;

    if (info->vtbl->get_native_code_start_addresses(info, function, rejit, BODIES, &count, start) <
        0)
        return 0;
    for (uint32_t i = 0; i < count && i < BODIES; i++)
        if (start[i] <= ip && start[i] > found)
            found = start[i];
    return found;
}

/* Reads the body of code without hooks at an address. NULL: nothing own is inlined there. */
static struct rich_body *read_host(struct rich *rich, uintptr_t function, uintptr_t start)
{
    struct rich_body *body = NULL;
    uint8_t *data;
    size_t size;
    bool damaged;

    if (rich_stored_read(start, NULL, function, &data, &size) == RICH_STORED) {
        body = body_of(rich, false, data, size, &damaged);
        memory_free(data);
    }
    if (body && body->nodes > 1)
        return body;
    memory_free(body);
    store_relaxed(&rich->plain[hash_word(start) >> (64 - RICH_KNOWN_BITS)], start);
    return NULL;
}

/* The body begins where it is said to, and is in one piece, or it is not used. */
static struct metadata_method *find_host(struct rich *rich, uintptr_t function, uintptr_t rejit,
                                         uintptr_t ip)
{
    struct clr_info *info = rich->runtime->info;
    uintptr_t start = start_of(info, function, rejit, ip);
    struct metadata_method *method = NULL;
    uint32_t epoch = metadata_epoch(rich->metadata), pieces;
    struct clr_code_info range;
    struct rich_body *body;

    if (!start || load_relaxed(&rich->plain[hash_word(start) >> (64 - RICH_KNOWN_BITS)]) == start)
        return NULL;
    body = read_host(rich, function, start);
    if (!body)
        return NULL;
    if (info->vtbl->get_code_info4(info, start, 1, &pieces, &range) < 0 || pieces != 1 ||
        range.start_address != start || ip - start >= range.size ||
        metadata_method_map(rich->metadata, function, &method)) {
        memory_free(body);
        return NULL;
    }
    list_body(rich, method, body, epoch, &(struct rich_code){start, (uint32_t)range.size});
    return method;
}

struct metadata_method *rich_host(struct metadata *metadata, uintptr_t function, uintptr_t rejit,
                                  uintptr_t ip, struct rich_code *code)
{
    struct rich *rich = metadata->rich;
    struct metadata_method *method = rich ? metadata_method_find(metadata, function) : NULL;
    const struct rich_body *body = method ? find(method, ip) : NULL;

    if (body && !is_current(rich, method, body))
        body = NULL;
    if (!body && rich && rich->stored) {
        method = find_host(rich, function, rejit, ip);
        body = method ? find(method, ip) : NULL;
    }
    if (!body || body->nodes < 2 || method->collectible)
        return NULL;
    *code = (struct rich_code){body->start, body->size};
    return method;
}

/* ---- events ---- */

/*
 * The record of a function of which it is awaited what was inlined: of own code; of other code that
 * has one already, as hooked methods have. NULL: none.
 */
static struct metadata_method *awaited(struct rich *rich, uintptr_t function)
{
    struct metadata_method *method = metadata_method_find(rich->metadata, function);

    if (!method && may_be_own(rich, function) &&
        metadata_method_map(rich->metadata, function, &method))
        return NULL;
    return method;
}

static void on_jitting(struct rich *rich, const uint8_t *data, uint32_t size)
{
    struct metadata_method *method =
        size < sizeof(uint64_t) ? NULL : awaited(rich, (uintptr_t)load_u64(data));

    if (method)
        add_relaxed(&method->rich_due, 1);
}

/* All that the JIT says of a body is there. */
static void due_end(struct metadata_method *method)
{
    uint32_t due = load_relaxed(&method->rich_due);

    while (due && !cas_acq_rel(&method->rich_due, &due, due - 1))
        ;
}

static struct rich_load *load_find(struct rich *rich)
{
    pthread_t self = pthread_self();

    for (size_t i = 0; i < RICH_LOADS; i++)
        if (rich->load[i].function && pthread_equal(rich->load[i].thread, self))
            return &rich->load[i];
    return NULL;
}

static void load_end(struct rich_load *load)
{
    memory_free(load->data);
    *load = (struct rich_load){.function = 0};
}

static struct rich_load *load_take(struct rich *rich)
{
    struct rich_load *load = load_find(rich);

    for (size_t i = 0; !load && i < RICH_LOADS; i++)
        load = rich->load[i].function ? NULL : &rich->load[i];
    if (!load) {
        load = &rich->load[0];
        for (size_t i = 1; i < RICH_LOADS; i++)
            load = rich->load[i].used < load->used ? &rich->load[i] : load;
    }
    load_end(load);
    load->thread = pthread_self();
    load->used = ++rich->uses;
    return load;
}

static void on_load(struct rich *rich, const uint8_t *data, uint32_t size)
{
    struct rich_load *load;
    uintptr_t function;
    bool own;

    if (size < LOAD_SIZE)
        return;
    function = (uintptr_t)load_u64(data);
    own = may_be_own(rich, function);
    pthread_mutex_lock(&rich->lock);
    load = load_take(rich);
    load->function = function;
    load->own = own;
    load->start = (uintptr_t)load_u64(data + 16);
    load->size = load_u32(data + 24);
    pthread_mutex_unlock(&rich->lock);
}

/* All of a body's info is there. One of other code gets no record for being plain. */
static void keep(struct rich *rich, const struct rich_load *load, const uint8_t *data, size_t size)
{
    bool damaged = false;
    uint32_t epoch = metadata_epoch(rich->metadata);
    struct rich_body *body = load->lost ? NULL : body_of(rich, load->own, data, size, &damaged);
    struct metadata_method *method = metadata_method_find(rich->metadata, load->function);

    if (!method && body && body->nodes > 1)
        metadata_method_map(rich->metadata, load->function, &method);
    if (method && body)
        list_body(rich, method, body, epoch, &(struct rich_code){load->start, load->size});
    else
        memory_free(body);
    if (!body && !load->lost)
        lose(rich, method, damaged ? RICH_DAMAGED : RICH_NO_MEMORY);
    if (method)
        due_end(method);
}

/* Adds a chunk to those before. */
static void add_chunk(struct rich *rich, struct rich_load *load, const uint8_t *data, size_t size)
{
    size_t sum = load->data_size + size;
    uint8_t *all = sum <= MOST_BYTES ? memory_realloc(load->data, sum) : NULL;

    if (all) {
        memcpy(all + load->data_size, data, size);
        load->data = all;
        load->data_size = sum;
        return;
    }
    lose(rich, metadata_method_find(rich->metadata, load->function),
         sum <= MOST_BYTES ? RICH_NO_MEMORY : RICH_DAMAGED);
    load->lost = true;
}

/* The runtime is asked about the methods of a whole one without the lock. */
static void on_rich(struct rich *rich, const uint8_t *data, uint32_t size)
{
    uintptr_t function = size < RICH_HEAD ? 0 : (uintptr_t)load_u64(data + 2);
    struct rich_load *load, whole = {.function = 0};
    uint32_t part, rest = size - RICH_HEAD;

    if (!function)
        return;
    part = load_u32(data + 30);
    part = part < rest ? part : rest;
    data += RICH_HEAD;
    pthread_mutex_lock(&rich->lock);
    load = load_find(rich);
    if (load && load->function == function) {
        bool last = load_u32(data - RICH_HEAD + 26) & LAST_CHUNK;

        if (!load->lost && (!last || load->data))
            add_chunk(rich, load, data, part);
        if (last) {
            whole = *load;
            load->data = NULL;
            load_end(load);
        }
    }
    pthread_mutex_unlock(&rich->lock);
    if (!whole.function)
        return;
    if (whole.data)
        keep(rich, &whole, whole.data, whole.data_size);
    else
        keep(rich, &whole, data, part);
    memory_free(whole.data);
}

static bool is_named(const struct rich *rich, uintptr_t provider, const clr_wchar *name,
                     size_t size)
{
    struct clr_info *info = rich->runtime->info;
    clr_wchar found[NAME_UNITS] = {0};
    uint32_t length = 0;

    return info->vtbl->event_pipe_get_provider_info(info, provider, NAME_UNITS, &length, found) >=
               0 &&
           memcmp(found, name, size) == 0;
}

/* Which of both providers a handle is; each is asked once. */
static bool is_provider(const struct rich *rich, _Atomic(uintptr_t) *known, uintptr_t provider,
                        const clr_wchar *name, size_t size)
{
    if (load_relaxed(known))
        return load_relaxed(known) == provider;
    if (!is_named(rich, provider, name, size))
        return false;
    store_relaxed(known, provider);
    return true;
}

void rich_provider_created(struct rich *rich, uintptr_t provider)
{
    if (!load_relaxed(&rich->running) || rich->caused)
        return;
    if (load_relaxed(&rich->causing)) {
        if (!pthread_equal(rich->causing_on, pthread_self()))
            return;
        rich->caused = true;
        store_release(&rich->causing, false);
    } else if (is_named(rich, provider, runtime_name, sizeof(runtime_name))) {
        rich->causing_on = pthread_self();
        store_release(&rich->causing, true);
    }
}

void rich_leave_out(struct rich *rich, uintptr_t object)
{
    struct clr_info *info = rich->runtime->info;
    size_t size = 0;

    if (info->vtbl->get_object_size2(info, object, &size) < 0)
        size = 0;
    add_relaxed(&rich->counts.left_out, 1);
    add_relaxed(&rich->counts.left_out_bytes, (size + 7) & ~(size_t)7);
}

bool rich_delivered(struct rich *rich, uintptr_t provider, uint32_t id, const uint8_t *data,
                    uint32_t size)
{
    if (!load_relaxed(&rich->running))
        return false;
    if (id == EVENT_LOAD &&
        is_provider(rich, &rich->provider, provider, runtime_name, sizeof(runtime_name)))
        on_load(rich, data, size);
    else if (id == EVENT_JITTING &&
             is_provider(rich, &rich->provider, provider, runtime_name, sizeof(runtime_name)))
        on_jitting(rich, data, size);
    if (!is_provider(rich, &rich->private_provider, provider, private_name, sizeof(private_name)))
        return false;
    if (id == EVENT_RICH)
        on_rich(rich, data, size);
    return true;
}
