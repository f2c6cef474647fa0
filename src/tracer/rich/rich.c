#include "rich/rich.h"

#include "base/load.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <stdlib.h>
#include <string.h>

/* Sources: dotnet/runtime ClrEtwAll.man; src/coreclr/vm/debuginfostore.cpp. */
#define KEYWORD_JIT   UINT64_C(0x10)
#define KEYWORD_RICH  UINT64_C(0x40000)
#define LEVEL_INFO    4
#define LEVEL_VERBOSE 5
#define EVENT_LOAD    143 /* MethodLoadVerbose */
#define EVENT_RICH    189 /* JittedMethodRichDebugInfo */
#define LOAD_SIZE     36
#define RICH_HEAD     34
#define NODE_SIZE     20
#define MAP_SIZE      13
#define LAST_CHUNK    0x80000000u
#define MOST_BYTES    (16u << 20) /* of one body's info */
#define NAME_UNITS    64

static const clr_wchar runtime_name[] = u"Microsoft-Windows-DotNETRuntime";
static const clr_wchar private_name[] = u"Microsoft-Windows-DotNETRuntimePrivate";

void rich_init(struct rich *rich, struct metadata *metadata, const struct clr_runtime *runtime)
{
    rich->metadata = metadata;
    rich->runtime = runtime;
    pthread_mutex_init(&rich->lock, NULL);
}

bool rich_wanted(const struct clr_runtime *runtime)
{
    const char *set = getenv(RICH_VARIABLE);

    return runtime->info_version >= 12 && runtime->major >= 9 && set && strcmp(set, "1") == 0;
}

hresult rich_start(struct rich *rich)
{
    const struct clr_event_pipe_provider_config config[] = {
        {.provider_name = private_name, .keywords = KEYWORD_RICH, .logging_level = LEVEL_INFO},
        {.provider_name = runtime_name, .keywords = KEYWORD_JIT, .logging_level = LEVEL_VERBOSE}};
    struct clr_info *info = rich->runtime->info;
    hresult result;

    store_release(&rich->running, true); /* bodies may come before it returns */
    result =
        info->vtbl->event_pipe_start_session(info, COUNT_OF(config), config, 0, &rich->session);
    if (result != S_OK)
        store_release(&rich->running, false);
    return result;
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
        memory_free(body);
    }
}

const struct rich_body *rich_body_find(struct metadata *metadata,
                                       const struct metadata_method *method, uintptr_t ip)
{
    const struct metadata_method *shared = metadata_method_find(metadata, method->function_id);
    const struct rich_body *body = shared ? load_acquire(&shared->rich) : NULL;

    while (body && ip - body->start >= body->size)
        body = body->next;
    return body;
}

/* ---- events ---- */

/* The record of a function if it may be own code, else NULL. */
static struct metadata_method *own_method(struct rich *rich, uintptr_t function)
{
    struct clr_info *info = rich->runtime->info;
    struct metadata_method *method = metadata_method_find(rich->metadata, function);
    uintptr_t class, module = 0;
    uint32_t token;

    if (method)
        module = method->module ? method->module->module_id : 0;
    else if (info->vtbl->get_function_info(info, function, &class, &module, &token) < 0)
        return NULL;
    if (!module || metadata_module_is_others(rich->metadata, module))
        return NULL;
    if (!method && metadata_method_map(rich->metadata, function, &method))
        return NULL;
    return method;
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
    struct metadata_method *method;
    struct rich_load *load;
    uintptr_t function;

    if (size < LOAD_SIZE)
        return;
    function = (uintptr_t)load_u64(data);
    method = own_method(rich, function);
    pthread_mutex_lock(&rich->lock);
    load = method ? load_take(rich) : load_find(rich);
    if (method) {
        load->function = function;
        load->start = (uintptr_t)load_u64(data + 16);
        load->size = load_u32(data + 24);
    } else if (load) {
        load_end(load);
    }
    pthread_mutex_unlock(&rich->lock);
}

/* Adds a chunk to what came before. Returns: all of it is there; *data and *size are set to it. */
static bool gather(struct rich *rich, struct rich_load *load, bool last, const uint8_t **data,
                   size_t *size)
{
    size_t sum = load->data_size + *size;
    uint8_t *all;

    if (last && !load->data)
        return true;
    all = sum <= MOST_BYTES ? memory_realloc(load->data, sum) : NULL;
    if (!all) {
        add_relaxed(&rich->counts.no_memory, 1);
        load_end(load);
        return false;
    }
    memcpy(all + load->data_size, *data, *size);
    load->data = all;
    load->data_size = sum;
    *data = all;
    *size = sum;
    return last;
}

static void keep(struct rich *rich, const struct rich_load *load, const uint8_t *data, size_t size)
{
    struct metadata_method *method = metadata_method_find(rich->metadata, load->function);
    bool refused;
    struct rich_body *body = method ? rich_body_read(data, size, &refused) : NULL;

    if (!body) {
        if (method)
            add_relaxed(refused ? &rich->counts.refused : &rich->counts.no_memory, 1);
        return;
    }
    body->start = load->start;
    body->size = load->size;
    add_relaxed(&rich->counts.bodies, 1);
    add_relaxed(&rich->counts.bytes, sizeof(*body) + body->nodes * sizeof(*body->node) +
                                         body->maps * sizeof(*body->map));
    list_push(&method->rich, body, next);
}

static void on_rich(struct rich *rich, const uint8_t *data, uint32_t size)
{
    struct rich_load *load;
    size_t part;

    if (size < RICH_HEAD)
        return;
    pthread_mutex_lock(&rich->lock);
    load = load_find(rich);
    if (load && load->function == (uintptr_t)load_u64(data + 2)) {
        bool last = load_u32(data + 26) & LAST_CHUNK;

        part = load_u32(data + 30) <= size - RICH_HEAD ? load_u32(data + 30) : size - RICH_HEAD;
        data += RICH_HEAD;
        if (gather(rich, load, last, &data, &part)) {
            keep(rich, load, data, part);
            load_end(load);
        }
    }
    pthread_mutex_unlock(&rich->lock);
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

bool rich_delivered(struct rich *rich, uintptr_t provider, uint32_t id, const uint8_t *data,
                    uint32_t size)
{
    if (!load_relaxed(&rich->running))
        return false;
    if (id == EVENT_LOAD &&
        is_provider(rich, &rich->provider, provider, runtime_name, sizeof(runtime_name)))
        on_load(rich, data, size);
    if (!is_provider(rich, &rich->private_provider, provider, private_name, sizeof(private_name)))
        return false;
    if (id == EVENT_RICH)
        on_rich(rich, data, size);
    return true;
}
