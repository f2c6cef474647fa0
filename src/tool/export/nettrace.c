#include "export/nettrace.h"

#include "export/events.h"
#include "export/formats.h"
#include "export/nettrace_blocks.h"

#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <string.h>

/*
 * Events of the runtime, as its manifest and TraceEvent's ClrTraceEventParser.cs have them.
 * Methods are contiguous from BASE; IL offset i of a method is at its byte 4 * (i + 1), and code
 * without an IL offset is before that.
 */
enum { MODULE_LOAD = 1, METHOD_LOAD, IL_MAP, ALLOCATION_TICK };

#define KEYWORD_GC     0x1u
#define KEYWORD_LOADER 0x8u
#define KEYWORD_JIT    0x10u
#define KEYWORD_MAP    0x20000u

static const struct nettrace_kind kinds[] = {
    {152, 2, KEYWORD_LOADER}, {143, 2, KEYWORD_JIT}, {190, 0, KEYWORD_MAP}, {10, 4, KEYWORD_GC}};

#define BASE          UINT64_C(0x100000000)
#define IL_BYTES      4u
#define INSTANCE      0u /* of the runtime in the process */
#define METHOD_JITTED 8u
#define IL_PROLOG     (-2)
#define MAP_MAX       8000 /* entries: an event has 64 KB at most */
#define STACK_MAX     8000 /* frames: TraceEvent counts a stack's bytes in 16 bits */
#define LEFT_OUT      "(outer frames left out: the format has no room)"
#define KIND_LARGE    1u

struct method {
    uint64_t start;
    uint32_t size;                    /* bytes of code */
    const struct export_frame *frame; /* any of its frames; NULL: none */
    size_t first, count;              /* in order */
};

struct nettrace {
    const struct export_profile *p;
    struct nettrace_blocks blocks;
    struct method *methods; /* by function, and one more: LEFT_OUT */
    uint32_t *order;        /* frames by method and IL offset */
    uint32_t *stacks;       /* by node: the number of its stack, once it was asked for */
    uint64_t *addresses;    /* of one stack */
};

static const struct export_frame *sorting; /* what qsort compares: one at a time */

static int by_place(const void *a, const void *b)
{
    const struct export_frame *one = &sorting[*(const uint32_t *)a];
    const struct export_frame *two = &sorting[*(const uint32_t *)b];

    return ORDERS(ORDER(one->function, two->function), ORDER(one->il, two->il));
}

static uint32_t offset_of(int32_t il)
{
    return il < 0 ? 0 : ((uint32_t)il + 1) * IL_BYTES;
}

/* Where each method lies. */
static void place_methods(struct nettrace *n)
{
    const struct export_profile *p = n->p;
    uint64_t start = BASE;

    for (uint32_t i = 0; i < p->frame_count; i++)
        n->order[i] = i;
    sorting = p->frames;
    qsort(n->order, p->frame_count, sizeof(*n->order), by_place);
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[n->order[i]];
        struct method *method = &n->methods[frame->function];

        if (!method->frame)
            *method = (struct method){.frame = frame, .first = i};
        method->count++;
        method->size = offset_of(frame->il) + IL_BYTES; /* they come in order */
    }
    for (size_t i = 0; i <= p->function_count; i++) {
        n->methods[i].start = start;
        start += n->methods[i].size ? n->methods[i].size : IL_BYTES;
    }
}

/* ---- modules and methods ---- */

static void put_event(struct nettrace *n, uint32_t kind)
{
    nettrace_event(&n->blocks, kind, n->p->pid ? n->p->pid : 1, 0, 0);
}

static void put_text(struct buffer *b, const char *text)
{
    nettrace_text(b, text, strlen(text));
}

static void put_module(struct nettrace *n, uint64_t id, const char *path)
{
    struct buffer *b = &n->blocks.payload;

    buffer_clear(b);
    nettrace_put(b, id, 8);
    nettrace_put(b, id, 8); /* its assembly */
    nettrace_put(b, 0, 4);  /* flags */
    nettrace_put(b, 0, 4);
    put_text(b, path);
    put_text(b, ""); /* native image: none */
    nettrace_put(b, INSTANCE, 2);
    for (int i = 0; i < 2; i++) { /* PDBs of IL and of native code: not told */
        nettrace_put(b, 0, 8);
        nettrace_put(b, 0, 8);
        nettrace_put(b, 0, 4);
        put_text(b, "");
    }
    put_event(n, MODULE_LOAD);
}

/*
 * Namespace and type, method, parameters: what TraceEvent puts together again with a dot. The dot
 * is the last one before the parameters that is in no brackets; of `Type..ctor` the first of both.
 */
struct parts {
    const char *method, *parameters, *end;
};

static struct parts split(const char *name)
{
    struct parts s = {name, NULL, name + strlen(name)};
    int depth = 0;

    for (const char *at = name; *at && !s.parameters; at++) {
        if (*at == '<' || *at == '[')
            depth++;
        else if ((*at == '>' || *at == ']') && depth)
            depth--;
        else if (*at == '(' && !depth && at > name)
            s.parameters = at;
        else if (*at == '.' && !depth && at > name && at[-1] != '.')
            s.method = at + 1;
    }
    if (!s.parameters)
        s.parameters = s.end;
    return s;
}

static void put_name(struct buffer *b, const struct export_frame *frame)
{
    struct parts s = split(frame->name);

    if (frame->kind == EXPORT_OTHER || s.method == frame->name) {
        put_text(b, frame->kind == EXPORT_OTHER ? "shadowtrace" : "");
        put_text(b, frame->name);
        put_text(b, "");
        return;
    }
    nettrace_text(b, frame->name, (size_t)(s.method - 1 - frame->name));
    nettrace_text(b, s.method, (size_t)(s.parameters - s.method));
    nettrace_text(b, s.parameters, (size_t)(s.end - s.parameters));
}

static void put_method(struct nettrace *n, size_t function, const struct export_frame *frame)
{
    const struct method *method = &n->methods[function];
    struct buffer *b = &n->blocks.payload;
    uint64_t module = frame->module == EXPORT_NO_MODULE ? n->p->module_count : frame->module;

    buffer_clear(b);
    nettrace_put(b, function + 1, 8);
    nettrace_put(b, module + 1, 8);
    nettrace_put(b, method->start, 8);
    nettrace_put(b, method->size ? method->size : IL_BYTES, 4);
    nettrace_put(b, 0, 4); /* token */
    nettrace_put(b, METHOD_JITTED, 4);
    put_name(b, frame);
    nettrace_put(b, INSTANCE, 2);
    nettrace_put(b, 0, 8); /* compiled once */
    put_event(n, METHOD_LOAD);
}

/* The frames of a method from i on that have the same IL offset: behind them. */
static size_t behind_same(const struct nettrace *n, const struct method *method, size_t i)
{
    int32_t il = n->p->frames[n->order[i]].il;

    while (i < method->first + method->count && n->p->frames[n->order[i]].il == il)
        i++;
    return i;
}

static void put_map(struct nettrace *n, size_t function)
{
    const struct method *method = &n->methods[function];
    struct buffer *b = &n->blocks.payload;
    size_t end = method->first + method->count, entries = 1;

    for (size_t i = method->first; i < end && entries < MAP_MAX; i = behind_same(n, method, i))
        entries += n->p->frames[n->order[i]].il >= 0;
    buffer_clear(b);
    nettrace_put(b, function + 1, 8);
    nettrace_put(b, 0, 8); /* compiled once */
    nettrace_put(b, 0, 1);
    nettrace_put(b, entries, 2);
    for (int native = 0; native < 2; native++) { /* all IL offsets, then all of the code */
        size_t left = entries - 1;

        nettrace_put(b, native ? 0 : (uint32_t)IL_PROLOG, 4);
        for (size_t i = method->first; left; i = behind_same(n, method, i)) {
            int32_t il = n->p->frames[n->order[i]].il;

            if (il < 0)
                continue;
            nettrace_put(b, native ? offset_of(il) : (uint32_t)il, 4);
            left--;
        }
    }
    nettrace_put(b, INSTANCE, 2);
    put_event(n, IL_MAP);
}

static void put_code(struct nettrace *n)
{
    static const struct export_frame left_out = {
        .name = LEFT_OUT, .kind = EXPORT_OTHER, .module = EXPORT_NO_MODULE};
    const struct export_profile *p = n->p;

    for (size_t i = 0; i < p->module_count; i++)
        put_module(n, i + 1, *p->modules[i].path ? p->modules[i].path : p->modules[i].name);
    put_module(n, p->module_count + 1, "shadowtrace");
    for (size_t i = 0; i < p->function_count; i++) {
        const struct export_frame *frame = n->methods[i].frame;

        if (!frame || frame->kind == EXPORT_TYPE)
            continue;
        put_method(n, i, frame);
        put_map(n, i);
    }
    put_method(n, p->function_count, &left_out);
}

int nettrace_new(const struct export_profile *p, FILE *out, struct nettrace **nettrace)
{
    struct nettrace *n = memory_zalloc(1, sizeof(*n));

    *nettrace = NULL;
    if (!n)
        return -ENOMEM;
    n->p = p;
    n->methods = memory_zalloc(p->function_count + 1, sizeof(*n->methods));
    n->order = memory_zalloc(p->frame_count + 1, sizeof(*n->order));
    n->stacks = memory_zalloc(p->node_count + 1, sizeof(*n->stacks));
    n->addresses = memory_zalloc(STACK_MAX, sizeof(*n->addresses));
    if (!n->methods || !n->order || !n->stacks || !n->addresses) {
        nettrace_free(n);
        return -ENOMEM;
    }
    nettrace_begin(&n->blocks, out, p->started, p->pid, kinds, sizeof(kinds) / sizeof(*kinds));
    place_methods(n);
    put_code(n);
    *nettrace = n;
    return 0;
}

/* ---- allocations ---- */

/* The stack above a node, whose frame is the event's type unless it is of a method. */
static uint32_t stack_of(struct nettrace *n, uint32_t node)
{
    const struct export_profile *p = n->p;
    size_t count = 0;

    if (node && p->frames[p->nodes[node].frame].kind == EXPORT_TYPE)
        node = p->nodes[node].parent;
    if (n->stacks[node])
        return n->stacks[node];
    for (uint32_t at = node; at; at = p->nodes[at].parent) {
        const struct export_frame *frame = &p->frames[p->nodes[at].frame];

        if (count == STACK_MAX - 1 && p->nodes[at].parent) {
            n->addresses[count++] = n->methods[p->function_count].start;
            break;
        }
        n->addresses[count++] = n->methods[frame->function].start + offset_of(frame->il);
    }
    n->stacks[node] = nettrace_stack(&n->blocks, n->addresses, count);
    return n->stacks[node];
}

void nettrace_allocation(struct nettrace *n, const struct export_allocation *allocation)
{
    const struct export_profile *p = n->p;
    const struct export_frame *leaf =
        allocation->node ? &p->frames[p->nodes[allocation->node].frame] : NULL;
    struct buffer *b = &n->blocks.payload;
    uint32_t stack = stack_of(n, allocation->node);

    buffer_clear(b);
    nettrace_put(b, allocation->bytes < UINT32_MAX ? allocation->bytes : UINT32_MAX, 4);
    nettrace_put(b, allocation->large ? KIND_LARGE : 0, 4);
    nettrace_put(b, INSTANCE, 2);
    nettrace_put(b, allocation->bytes, 8);
    nettrace_put(b, leaf ? (uint64_t)leaf->function + 1 : 0, 8);
    put_text(b, leaf && leaf->kind != EXPORT_METHOD ? leaf->name : "(not known)");
    nettrace_put(b, 0, 4); /* heap */
    nettrace_put(b, 0, 8); /* address */
    nettrace_put(b, allocation->object_bytes, 8);
    nettrace_event(&n->blocks, ALLOCATION_TICK, allocation->thread, allocation->t, stack);
}

int nettrace_finish(struct nettrace *n)
{
    return nettrace_end(&n->blocks);
}

void nettrace_free(struct nettrace *n)
{
    if (!n)
        return;
    nettrace_release(&n->blocks);
    memory_free_all(n->methods, n->order, n->stacks, n->addresses, n);
}

int export_nettrace(const struct export_profile *p, FILE *out)
{
    struct nettrace *n;
    int err = nettrace_new(p, out, &n);

    for (size_t i = 0; !err && i < p->sample_count; i++) {
        const struct export_sample *sample = &p->samples[i];

        nettrace_allocation(n,
                            &(struct export_allocation){
                                .node = sample->node,
                                .thread = p->pid ? p->pid : 1,
                                .bytes = sample->bytes,
                                .object_bytes = sample->allocs ? sample->bytes / sample->allocs : 0,
                            });
    }
    if (!err)
        err = nettrace_finish(n);
    nettrace_free(n);
    return err;
}

int export_nettrace_each(const struct export_profile *p, struct export_events *events, FILE *out)
{
    struct export_allocation a;
    struct nettrace *n;
    int err = nettrace_new(p, out, &n), more = 0;

    if (!err)
        export_events_again(events);
    while (!err && (more = export_events_next(events, &a)) > 0)
        nettrace_allocation(n, &a);
    if (!err)
        err = more ? more : nettrace_finish(n);
    nettrace_free(n);
    return err;
}
