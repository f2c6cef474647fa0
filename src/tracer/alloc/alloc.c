#include "alloc/alloc.h"

#include "alloc/continuations.h"
#include "alloc/site.h"
#include "base/clock.h"
#include "base/peek.h"
#include "rcu/grace.h"
#include "base/memory.h"
#include "config/config.h"
#include "options/options_fields.h"
#include "metadata/state_machine.h"
#include "thread/context.h"
#include "thread/thread.h"
#include "values/values.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#define CLASS_CACHE 1024    /* entries a thread; a power of two */
#define SITE_CACHE  1024    /* the same */
#define SITES_FILL  32      /* not in the cache so far: its pages get their memory at once */
#define WAITS_CACHE 64      /* entries a thread; a power of two */
#define BOX_REACH   8       /* frames between what makes a box and the method that is to wait */
#define OBJECTS_LOW 0x10000 /* no object lies below */
#define STACK_REACH \
    0x10000 /* bytes from a machine's caller's SP to a machine on the stack, at the most */
#define CHECK_REST \
    49 /* times what a comparison took, without one: 2 % of the time is for comparing */

enum { VERDICT_NONE, VERDICT_WANTED, VERDICT_UNWANTED };

struct alloc {
    struct alloc_config config;
    _Atomic(uint64_t) heap_epoch;
    _Atomic(uint64_t) sampling_ns;           /* alloc_sampling_ns() */
    const _Atomic(uint32_t) *metadata_epoch; /* metadata_epoch() */
    bool by_type;                            /* --types given */
    bool lines;                              /* call instructions are wanted */
    bool begins;                             /* beginnings are kept with what waits */
    bool compares;                           /* some of them, with a snapshot */
    bool captures; /* there are no hooks: nodes are those of snapshots, or of walks */
    bool captured; /* and their native frames are logged */
    bool values;   /* --args or --returns */
    bool samples;  /* of the runtime: nothing else is met, and nobody may wait */
    bool timed;    /* when an allocation happened is logged, or tells it from a collection's */
    bool frames;   /* --framework-frames */
    struct continuations continuations; /* what runtime async suspends methods in */
    _Atomic(bool) spare_used;           /* not here: the runtime uses that place itself */
    struct site_table sites;
};

/* One thread's own; hangs on its stack. */
struct alloc_thread {
    struct event_ring *ring;
    struct live_log *live;           /* NULL: no --live */
    uint64_t heap_epoch;             /* in which the range below was seen */
    uintptr_t young_low, young_size; /* generation 0: what lies here is on the normal heap */
    uint32_t metadata_epoch;         /* in which the cache below was filled */
    uint32_t until_check;            /* allocations to the next comparison */
    uint64_t check_after;            /* ticks: not before, if check_bounded */
    struct live_entry known;         /* what the latest sample is, if alive ones are followed */
    struct config_settings config;   /* what it works with; see config/config.h */
    uint64_t told_sample;            /* sampling rate that the writer has been told */
    bool walked;                     /* the latest path is a walk's */
    double until_sample;             /* bytes to the next sample; exponentially distributed */
    uint64_t random;                 /* xorshift64* state */
    uint32_t waits[WAITS_CACHE];     /* nodes that the writer already has */
    struct {
        uintptr_t id;
        struct metadata_class *class;
    } cache[CLASS_CACHE];
    struct cached_site {
        uintptr_t ip, method, class; /* class: where it is part of what a site is */
        uint32_t id;
    } site[SITE_CACHE];
    uint32_t sites_met; /* that were not in it */
};

int alloc_new(const struct alloc_config *config, struct alloc **out)
{
    struct alloc *a = memory_zalloc(1, sizeof(*a));

    *out = a;
    if (!a)
        return -ENOMEM;
    a->config = *config;
    a->metadata_epoch = metadata_epoch_word(config->metadata);
    a->lines = !config->options->no_lines;
    a->begins = config->begins;
    a->captures = !options_hooked(config->options);
    a->captured = options_snapshots(config->options) && config->options->native;
    a->compares = config->options->check;
    a->values = options_values(config->options);
    a->samples = config->options->runtime_samples;
    a->timed =
        config->options->log == OPTIONS_LOG_EVENTS || config->live || a->values || a->captured;
    a->frames = config->options->framework_frames != OPTIONS_FRAMEWORK_NONE;
    a->by_type = config->options->types.count > 0;
    store_relaxed(&a->heap_epoch, 1);
    a->sites.native_low = config->runtime->low;
    a->sites.native_high = config->runtime->high;
    a->sites.by_helper = config->runtime->major >= 10;
    a->sites.check = config->check;
    a->sites.metadata = config->metadata;
    return 0;
}

void alloc_heap_changed(struct alloc *a)
{
    add_relaxed(&a->heap_epoch, 1);
}

/* From 0 to below 1. */
static double uniform(struct alloc_thread *t)
{
    t->random ^= t->random >> 12;
    t->random ^= t->random << 25;
    t->random ^= t->random >> 27;
    return (double)((t->random * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

/* Distance to the next sample of a Poisson process: exponential, mean `rate`, bytes. */
static double sample_gap(struct alloc_thread *t, double rate)
{
    return -log1p(-uniform(t)) * rate;
}

static __attribute__((noinline)) struct alloc_thread *thread_new(struct alloc *a, struct stack *s)
{
    struct thread *thread = thread_of(s);
    struct alloc_thread *t = thread ? memory_pages_map(sizeof(*t)) : NULL;

    if (!t)
        return NULL;
    if (a->config.live && !(t->live = live_log_new(a->config.live))) {
        memory_pages_unmap(t, sizeof(*t));
        return NULL;
    }
    t->ring = thread->ring;
    t->random = clock_ticks() * 2 + 1 + ((uint64_t)t->ring->thread << 32);
    t->until_check = a->config.options->check;
    t->told_sample = a->config.options->sample;
    return s->alloc = t;
}

static struct alloc_thread *alloc_thread(struct alloc *a, struct stack *s)
{
    return LIKELY(s->alloc) ? s->alloc : thread_new(a, s);
}

void alloc_thread_ended(struct stack *s)
{
    if (s->alloc && s->alloc->live)
        store_release(&s->alloc->live->ended, true); /* behind its last entry */
    memory_pages_unmap(s->alloc, sizeof(*s->alloc));
    s->alloc = NULL;
}

static unsigned cache_at(uintptr_t id)
{
    return (unsigned)(id >> 3 ^ id >> 11) & (CLASS_CACHE - 1);
}

static __attribute__((noinline)) struct metadata_class *
class_find(struct alloc *a, struct alloc_thread *t, uintptr_t id, uintptr_t object)
{
    unsigned at = cache_at(id);
    uint32_t epoch = metadata_epoch(a->config.metadata);

    if (t->metadata_epoch != epoch) { /* something was unloaded: an id may mean another class now */
        for (unsigned i = 0; i < CLASS_CACHE; i++)
            t->cache[i].id = 0;
        for (unsigned i = 0; i < SITE_CACHE;
             i++) /* and an instruction another one, of another method */
            t->site[i].ip = 0;
        t->metadata_epoch = epoch;
    }
    if (metadata_class_of(a->config.metadata, id, object, &t->cache[at].class)) {
        t->cache[at].id = 0;
        return NULL;
    }
    t->cache[at].id = id;
    if (a->config.alive)
        alive_class(a->config.alive, t->cache[at].class->id, (uintptr_t)t->cache[at].class);
    if (t->live &&
        !live_class_set(a->config.live, t->cache[at].class->id, (uintptr_t)t->cache[at].class))
        live_inexact(a->config.live, SST_LIVE_MEMORY);
    return t->cache[at].class;
}

static inline struct metadata_class *class_of(struct alloc *a, struct alloc_thread *t, uintptr_t id,
                                              uintptr_t object)
{
    unsigned at = cache_at(id);

    if (LIKELY(t->cache[at].id == id && t->metadata_epoch == load_acquire(a->metadata_epoch)))
        return t->cache[at].class;
    return class_find(a, t, id, object);
}

static __attribute__((noinline)) uint64_t size_ask(struct alloc *a, struct metadata_class *class,
                                                   uintptr_t object)
{
    struct clr_info *info = a->config.runtime->info;
    uint64_t bytes;
    size_t size = 0;

    if (info->vtbl->get_object_size2(info, object, &size) != S_OK)
        return 0;
    bytes = (size + 7) & ~(uint64_t)7; /* objects are aligned to 8 bytes */
    if (!class->variable_size)
        store_relaxed(&class->fixed_bytes, (uint32_t)bytes);
    return bytes;
}

static inline uint64_t size_of(struct alloc *a, struct metadata_class *class, uintptr_t object)
{
    uint64_t bytes = load_relaxed(&class->fixed_bytes);

    return LIKELY(bytes) ? bytes : size_ask(a, class, object);
}

static __attribute__((noinline)) enum event_heap heap_ask(struct alloc *a, struct alloc_thread *t,
                                                          uintptr_t object)
{
    struct clr_info *info = a->config.runtime->info;
    uint64_t epoch = load_relaxed(&a->heap_epoch);
    struct clr_gc_generation_range range = {0};
    int32_t frozen = 0;

    if (a->config.runtime->info_version >= 10 &&
        info->vtbl->is_frozen_object(info, object, &frozen) == S_OK && frozen)
        return EVENT_HEAP_FROZEN;
    if (info->vtbl->get_object_generation(info, object, &range) != S_OK)
        return EVENT_HEAP_NORMAL;
    if (range.generation == COR_PRF_GC_LARGE_OBJECT_HEAP)
        return EVENT_HEAP_LARGE;
    if (range.generation == COR_PRF_GC_PINNED_OBJECT_HEAP)
        return EVENT_HEAP_PINNED;
    if (range.generation == COR_PRF_GC_GEN_0) {
        t->young_low = range.range_start;
        t->young_size = range.range_length_reserved;
        t->heap_epoch = epoch;
    }
    return EVENT_HEAP_NORMAL;
}

/*
 * Which heap. Nearly every object is young, in the one range that the thread allocates from: that
 * range is remembered until a collection starts or ends, for without one it does not turn into
 * another heap.
 */
static enum event_heap heap_of(struct alloc *a, struct alloc_thread *t, uintptr_t object)
{
    if (LIKELY(object - t->young_low < t->young_size &&
               t->heap_epoch == load_relaxed(&a->heap_epoch)))
        return EVENT_HEAP_NORMAL;
    return heap_ask(a, t, object);
}

/*
 * The object that an async method waits in keeps where it was made: nothing else leads from the
 * method that resumes back to that, and the object moves. Before an object lie four bytes of hash
 * code and lock and, on 64 bits, four bytes that no runtime up to .NET 11 reads or writes
 * (clr_spare_word); collections move them along. A runtime that writes there is noticed by what it
 * left, and then nothing is written.
 */
static _Atomic(uint32_t) *spare_word(uintptr_t object)
{
    return (_Atomic(uint32_t) *)(object - 8);
}

/*
 * The path that begins at a frame. If a frame below it resumed, the path starts at that frame's
 * beginning: it is the same no matter what resumed it. walked: the stack of the thread, if its last
 * walk has the frames between those with hooks; else NULL. *depth: the number of nested beginnings.
 * Returns: 0 if there is no such path.
 */
static uint32_t beginning(struct alloc *a, struct stack *walked, const struct frame *frame,
                          const struct frame *oldest, unsigned *depth)
{
    struct tree *tree = a->config.tree;
    const struct frame *on = frame;
    struct tree_node *node;
    uint32_t begun;

    while (on >= oldest && !(frame_flags(on) >> FRAME_BEGUN_SHIFT))
        on--;
    *depth = 1;
    if (on < oldest)
        return walked ? walk_path_to(a->config.walk, walked, frame, NULL, 0) : frame_node(frame);
    begun = frame_flags(on) >> FRAME_BEGUN_SHIFT;
    *depth += tree_begun_depth(tree, begun);
    if (*depth == 1 || *depth > TREE_BEGUN_DEPTH)
        return 0;
    node = tree_node_by_id(tree, begun);
    if (tree_method(tree, node) != load_relaxed(&on->method))
        node = tree_child(tree, node, load_relaxed(&on->method), 0);
    if (walked)
        return node ? walk_path_to(a->config.walk, walked, frame, on, tree_id(tree, node)) : 0;
    while (node && on++ < frame)
        node = tree_child(tree, node, load_relaxed(&on->method), context_call(on));
    return node ? tree_id(tree, node) : 0;
}

/* The youngest frame of an async method, of the runtime's kind or a state machine's. */
static struct frame *async_frame(struct frame *top, size_t depth, bool suspended_by_runtime)
{
    size_t reach = depth < BOX_REACH ? depth : BOX_REACH;

    for (struct frame *frame = top; frame-- > top - reach;) {
        const struct metadata_method *method =
            (const struct metadata_method *)load_relaxed(&frame->method);

        if (suspended_by_runtime ? method->continues : method->machine)
            return frame;
    }
    return NULL;
}

/* The method that waits in an object made by the youngest frame; that frame, if it was inlined. */
static struct frame *machine_frame(struct alloc *a, const struct metadata_class *class,
                                   struct frame *top, size_t depth)
{
    struct frame *frame = async_frame(top, depth, false);
    struct metadata_method *method;

    if (!frame)
        return top - 1;
    method = (struct metadata_method *)load_relaxed(&frame->method);
    if (UNLIKELY(load_relaxed(&method->machine_at) == METADATA_MACHINE_OPEN))
        metadata_machine_place(a->config.runtime->info, method, class);
    return metadata_machine_of(method, class) ? frame : top - 1;
}

/* The frame of the method that will wait in an object of the youngest frame; NULL: none. */
static struct frame *waiting_frame(struct alloc *a, const struct metadata_class *class,
                                   struct frame *top, size_t depth)
{
    struct frame *frame;

    if (load_relaxed(&class->waits) != METADATA_WAITS_CONTINUATION)
        return machine_frame(a, class, top, depth);
    continuations_add(&a->continuations, class->class_id);
    frame = async_frame(top, depth, true);
    if (frame && !((const struct metadata_method *)load_relaxed(&frame->method))->continued)
        return NULL;
    return frame;
}

/*
 * The youngest frame made `object` for an async method to wait in. epoch: of its address. walked:
 * as above.
 */
static void note_beginning(struct alloc *a, struct stack *walked, struct metadata_class *class,
                           uintptr_t object, uint64_t epoch, struct frame *top, size_t depth)
{
    struct frame *frame;
    unsigned deep;
    uint32_t node;

    if (!depth || load_relaxed(&a->spare_used))
        return;
    frame = waiting_frame(a, class, top, depth);
    if (!frame)
        return;
    if (a->config.walk && !walked)
        (void)context_of(top, depth); /* the path was a snapshot's: frames have no nodes yet */
    node = beginning(a, walked, frame, top - depth, &deep);
    if (!node || node > FRAME_BEGUN_MAX || tree_is_cut(node))
        return;
    tree_begin(a->config.tree, node, deep);
    if (load_acquire(&a->heap_epoch) != epoch)
        return; /* it may have moved; from here on it cannot: a collection waits for this thread */
    if (load_relaxed(spare_word(object)))
        store_relaxed(&a->spare_used, true);
    else
        store_relaxed(spare_word(object), node);
}

static bool on_stack(uintptr_t address, uintptr_t sp, uintptr_t oldest)
{
    return address - sp < STACK_REACH || (address > sp && address < oldest);
}

/* The object that the machine lies in; 0: it is its caller's, and runs for the first time. */
static uintptr_t machine_box(const struct metadata_method *method, uintptr_t self, uintptr_t sp,
                             uintptr_t oldest)
{
    uint32_t at = load_relaxed(&method->machine_at);

    return at < METADATA_MACHINE_NOWHERE && self >= OBJECTS_LOW && !on_stack(self, sp, oldest)
               ? self - at
               : 0;
}

/* The continuation that the runtime resumes the method with; 0: it was called. */
static uintptr_t continuation(const struct alloc *a, const struct metadata_method *method,
                              const uintptr_t *passed, uintptr_t sp, uintptr_t oldest)
{
    uintptr_t object, class_id;

    passed += !!(method->continued & METADATA_CONTINUED_THIS);
    passed += on_stack(*passed, sp, oldest); /* where it is to return a structure to */
    passed += !!(method->continued & METADATA_CONTINUED_CONTEXT);
    object = *passed;
    if (object < OBJECTS_LOW || !continuations_any(&a->continuations))
        return 0;
    /* On an unknown runtime this argument may not be an address. */
    if (!clr_runtime_unverified(a->config.runtime))
        class_id = *(const uintptr_t *)object;
    else if (!peek(&class_id, object, sizeof(class_id)))
        return 0;
    return continuations_has(&a->continuations, class_id) ? object : 0;
}

uint32_t alloc_begun(const struct alloc *a, const struct stack *s,
                     const struct metadata_method *method, uintptr_t sp, const uintptr_t *passed)
{
    uintptr_t oldest = load_relaxed(&stack_frame(s, 0)->sp);
    uintptr_t object = method->continued ? continuation(a, method, passed, sp, oldest)
                                         : machine_box(method, *passed, sp, oldest);
    uint32_t node;

    if (!object)
        return 0;
    node = load_relaxed(spare_word(object));
    return tree_begun_depth(a->config.tree, node) ? node : 0;
}

/* While a filter runs, its method has a second frame on top of those that the exception passes. */
INTO_CALLER bool allocating_instruction(struct alloc *a, struct frame *top, size_t depth,
                                        struct site_places *out)
{
    const struct frame *frame = top - 1;
    bool in_filter = frame_ret(frame) == FRAME_RET_FILTER;

    while (in_filter && frame > top - depth) {
        frame--;
        if (load_relaxed(&frame->method) == load_relaxed(&top[-1].method))
            break;
    }
    return site_find(
        &a->sites,
        &(struct site_frame){(const struct metadata_method *)load_relaxed(&frame->method),
                             frame_place(frame), in_filter},
        out);
}

static __attribute__((noinline)) uint32_t site_look_up(struct alloc *a, struct alloc_thread *t,
                                                       struct cached_site *at, uintptr_t method,
                                                       uintptr_t ip,
                                                       const struct metadata_class *class)
{
    if (t->sites_met++ == SITES_FILL)
        memory_pages_fill(t->site, sizeof(t->site));
    at->id = tree_site_alloc(a->config.sites, method, ip, (uintptr_t) class);
    at->ip = ip;
    at->method = method;
    at->class = a->config.sites->config.by_target ? (uintptr_t) class : 0;
    return at->id;
}

/* The site of the instruction that returns to a place. */
static uint32_t site_at(struct alloc *a, struct alloc_thread *t, uintptr_t method, uintptr_t ip,
                        const struct metadata_class *class)
{
    uintptr_t of = a->config.sites->config.by_target ? (uintptr_t) class : 0;
    struct cached_site *at = &t->site[(ip ^ ip >> 9 ^ of >> 5) & (SITE_CACHE - 1)];

    if (LIKELY(at->ip == ip && at->method == method && at->class == of))
        return at->id;
    return site_look_up(a, t, at, method, ip, class);
}

static enum tree_outside outside(struct alloc *a, uint32_t site)
{
    return (enum tree_outside)tree_site_at(a->config.sites, site)->outside; /* 0 is inside */
}

/* The call that led to such a place. */
static __attribute__((noinline)) uint32_t site_from(struct alloc *a, uintptr_t method, uintptr_t ip,
                                                    const struct metadata_class *class,
                                                    uint32_t from)
{
    return tree_site_alloc_from(a->config.sites, method, ip, (uintptr_t) class, from);
}

/*
 * Id of the allocating instruction; in a dynamic method, or one without hooks, of the call in the
 * method that led there, if it is found: its return address is left in places->call.
 */
INTO_CALLER uint32_t site_of(struct alloc *a, struct alloc_thread *t, uintptr_t method,
                             struct site_places *places, uintptr_t limit,
                             const struct metadata_class *class)
{
    const struct code_place *inside = &places->call;
    enum tree_outside found;
    uint32_t site = 0, from = 0;
    uintptr_t ip;

    if (UNLIKELY(places->first.ip)) {
        inside = &places->first;
        site = site_at(a, t, method, inside->ip, class);
        found = outside(a, site);
        from = found == TREE_OUTSIDE_HOST ? site : 0;
        if (found != TREE_OUTSIDE_DYNAMIC)
            inside = &places->call;
    }
    if (LIKELY(inside == &places->call))
        site =
            site_at(a, t, method, places->fault ? inside->ip | TREE_IP_FAULT : inside->ip, class);
    found = outside(a, site);
    if (LIKELY(found == TREE_INSIDE) || (places->fault && found == TREE_OUTSIDE_UNHOOKED))
        return UNLIKELY(from) ? site_from(a, method, inside->ip, class, from) : site;
    ip = code_caller(a->config.metadata, (const struct metadata_method *)method, inside, limit);
    if (!from && found == TREE_OUTSIDE_HOST)
        from = site;
    if (!ip && found != TREE_OUTSIDE_DYNAMIC)
        return from ? from : site;
    places->call.ip = ip;
    if (found == TREE_OUTSIDE_DYNAMIC && ip)
        ip |= TREE_IP_DYNAMIC;
    else if (ip && from)
        return site_from(a, method, ip, class, from);
    return ip ? site_at(a, t, method, ip, class) : site;
}

static bool wanted_type(struct alloc *a, struct metadata_class *class)
{
    unsigned verdict = load_relaxed(&class->verdict);

    if (verdict == VERDICT_NONE) {
        verdict = options_match(&a->config.options->types,
                                metadata_class_resolve(a->config.metadata, class))
                      ? VERDICT_WANTED
                      : VERDICT_UNWANTED;
        store_relaxed(&class->verdict, (uint8_t)verdict);
    }
    return verdict == VERDICT_WANTED;
}

static bool sampled(struct alloc_thread *t, uint64_t bytes)
{
    t->until_sample -= (double)bytes;
    if (t->until_sample > 0)
        return false;
    while (t->until_sample <= 0)
        t->until_sample += sample_gap(t, (double)t->config.sample);
    return true;
}

/* In the runtime's event of a sample nobody may wait. Apart: the usual way stays short. */
static __attribute__((noinline)) int offer(struct event_ring *ring, const struct event *event)
{
    return event_offer(ring, event);
}

INTO_CALLER int post(struct alloc *a, struct event_ring *ring, const struct event *event)
{
    return UNLIKELY(a->samples) ? offer(ring, event) : event_post(ring, event);
}

/*
 * The configuration has changed: a new copy. The writer learns the rate through the ring, so that
 * it holds for exactly the events after it. Returns 0, or -ENOSPC: the thread keeps the old copy
 * and asks again.
 */
static __attribute__((noinline)) int config_follow(struct alloc *a, struct alloc_thread *t)
{
    struct config_settings now;

    config_read(&now);
    if (now.sample != t->told_sample) {
        struct event event = {.ticks = clock_ticks(),
                              .subject = now.sample,
                              .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_SAMPLE_RATE)};

        if (post(a, t->ring, &event))
            return -ENOSPC;
        t->told_sample = now.sample;
    }
    if (now.sample && now.sample != t->config.sample)
        t->until_sample = sample_gap(t, (double)now.sample);
    t->config = now;
    return 0;
}

#define VERDICT_BITS 2

/*
 * Is the allocating method wanted, by `only` as it is now? The verdict stays on the method's record
 * with the number of its configuration.
 */
static enum config_answer wanted_method(struct alloc *a, struct alloc_thread *t, struct stack *s)
{
    struct frame *top;
    struct metadata_method *method = NULL;
    enum config_answer answer;
    uint64_t verdict;

    if (stack_settle(s, &top))
        method = (struct metadata_method *)load_relaxed(&top[-1].method);
    if (!method)
        return CONFIG_NO;
    verdict = load_relaxed(&method->verdict);
    if (verdict >> VERDICT_BITS == t->config.generation)
        return (enum config_answer)(verdict & ((1u << VERDICT_BITS) - 1));
    answer =
        config_wants(t->config.generation, metadata_method_resolve(a->config.metadata, method));
    if (answer != CONFIG_CHANGED)
        store_relaxed(&method->verdict, (uint64_t)t->config.generation << VERDICT_BITS | answer);
    return answer;
}

/* May this thread record here, as configured now? Returns -ENOSPC when there is no new copy. */
INTO_CALLER int config_lets(struct alloc *a, struct alloc_thread *t, struct stack *s)
{
    enum config_answer answer = CONFIG_CHANGED;
    bool stale = t->config.generation != load_acquire(&s->generation);

    while (answer == CONFIG_CHANGED) {
        if (UNLIKELY(stale) && config_follow(a, t))
            return -ENOSPC;
        if (t->config.paused)
            return CONFIG_NO;
        answer = UNLIKELY(t->config.filtered) ? wanted_method(a, t, s) : CONFIG_YES;
        stale = true; /* looked at again only if it changed meanwhile */
    }
    return answer;
}

static void post_values(struct stack *s, struct alloc_thread *t, uint64_t ticks)
{
    struct event event = {.ticks = ticks,
                          .subject = values_live(s),
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_VALUES_OF)};

    if (event.subject)
        event_post(t->ring, &event); /* without it the event says nothing of values */
}

/* Whether this allocation is one to be compared. */
static bool compares(struct alloc *a, struct alloc_thread *t)
{
    const struct options *options = a->config.options;

    if (!a->compares || LIKELY(--t->until_check))
        return false;
    t->until_check = options->check;
    return !options->check_bounded || clock_ticks() >= t->check_after;
}

static void compare(struct alloc *a, struct alloc_thread *t, const struct capture *capture)
{
    uint64_t start = clock_ticks(), end;

    check_compare(a->config.check, capture);
    end = clock_ticks();
    t->check_after = end + (end - start) * CHECK_REST;
}

static void count_seen(struct event_ring *ring)
{
    store_relaxed(&ring->seen, load_relaxed(&ring->seen) + 1);
}

static void lose(struct event_ring *ring, enum event_lost reason)
{
    count_seen(ring);
    event_lose(ring, reason);
}

/* The event of this capture was posted. */
static __attribute__((noinline)) void posted(struct alloc *a, struct alloc_thread *t, bool wanted,
                                             struct capture *capture)
{
    if (a->config.walk) {
        capture->top = walk_shadow(a->config.walk, capture->stack, &capture->depth);
        if (!capture->top)
            return;
        capture->walked = true;
    }
    if (wanted)
        compare(a, t, capture);
    if (a->captured)
        check_captured(capture);
}

static enum metadata_waits waits(struct alloc *a, struct metadata_class *class)
{
    enum metadata_waits known = (enum metadata_waits)load_relaxed(&class->waits);

    if (known == METADATA_WAITS_OPEN) {
        known = metadata_class_waits(a->config.metadata, class);
        store_relaxed(&class->waits, (uint8_t)known);
    }
    return known;
}

/* --live: what the object is that was noted last, or sampled. */
static inline void tell_live(struct alloc *a, struct alloc_thread *t, const struct event *event)
{
    if (UNLIKELY(t->live || a->config.alive)) {
        const struct live_entry known = {.node = event->node,
                                         .site = event->site,
                                         .class =
                                             ((const struct metadata_class *)event->subject)->id,
                                         .size = (uint32_t)(event_bytes(event) / 8)};

        if (t->live)
            live_known(t->live, &known);
        else
            t->known = known;
    }
}

/* The allocating instruction of a sample, by its snapshot. */
static uint32_t site_captured(struct alloc *a, struct alloc_thread *t,
                              const struct check_frame *leaf, const struct metadata_class *class)
{
    const struct metadata_method *method =
        a->samples && a->lines && leaf->function && leaf->ip
            ? metadata_method_find(a->config.metadata, leaf->function)
            : NULL;

    return method ? site_at(a, t, (uintptr_t)method, leaf->ip, class) : 0;
}

/* The call in the youngest method by which a handler of a dynamic method runs. False: not found. */
static bool handler_site(struct alloc *a, struct alloc_thread *t, const struct capture *of,
                         uint32_t *site)
{
    struct site_places places = {.call = {0}};

    if (!a->lines || !allocating_instruction(a, of->top, of->depth, &places))
        return false;
    *site = site_at(a, t, load_relaxed(&of->top[-1].method), places.call.ip | TREE_IP_DYNAMIC,
                    (const struct metadata_class *)of->class);
    return true;
}

/*
 * The path by a walk, with the site of its youngest frame; by a snapshot if it is not certain, with
 * *leaf as below.
 */
static uint32_t node_walked(struct alloc *a, struct alloc_thread *t, const struct capture *of,
                            uint32_t *site, bool *leaf)
{
    struct walk_path path;
    enum walk_why why = walk_self(a->config.walk, of->stack, of->top, of->depth, &path);
    uint32_t node;

    t->walked = why == WALK_CERTAIN;
    if (UNLIKELY(!t->walked)) {
        node = a->captures ? check_path(a->config.check, of->stack)
                           : check_frames(a->config.check, of, leaf);
        t->walked = why == WALK_UNPROVEN && walk_proven(a->config.walk, of->stack, node);
        if (!t->walked) {
            if (path.dynamic && *leaf)
                *leaf = !handler_site(a, t, of, site);
            return node;
        }
    }
    if (a->lines && path.method)
        *site = site_at(a, t, (uintptr_t)path.method,
                        path.ip | (path.fault ? TREE_IP_FAULT : 0) |
                            (path.dynamic ? TREE_IP_DYNAMIC : 0),
                        (const struct metadata_class *)of->class);
    return path.node;
}

/* The path where it is not that of the shadow stack alone (0), and the site if it is known. *leaf:
 * does its youngest frame have hooks? Without, the shadow stack says nothing of the site. */
static __attribute__((noinline)) uint32_t node_of(struct alloc *a, struct alloc_thread *t,
                                                  const struct capture *shadow, uint32_t *site,
                                                  bool *leaf)
{
    struct check_frame youngest;
    uint32_t node;

    *leaf = false;
    if (a->config.walk)
        return node_walked(a, t, shadow, site, leaf);
    if (a->captures) {
        node = check_capture(a->config.check, shadow->stack, &youngest);
        *site = site_captured(a, t, &youngest, (const struct metadata_class *)shadow->class);
        return node;
    }
    return check_frames(a->config.check, shadow, leaf);
}

/* INTO_CALLER, as its parts: an allocation runs through one function, a sample through a copy. */
INTO_CALLER void record(struct alloc *a, struct stack *s, struct alloc_thread *t, uintptr_t object,
                        struct metadata_class *class, uint64_t bytes_kind)
{
    bool wanted = compares(a, t);
    struct event event = {.ticks = a->timed || UNLIKELY(wanted) ? clock_ticks() : 0,
                          .subject = (uintptr_t) class};
    uint64_t epoch = load_acquire(&a->heap_epoch), began = event.ticks;
    uint64_t captured = 0;
    bool leaf = true;
    struct site_places places;
    struct frame *top;
    size_t depth;

    places.call.ip = 0;
    event.bytes_kind = bytes_kind;
    depth = stack_settle_hot(s, &top);
    if (UNLIKELY(stack_misses_frames_hot(s))) { /* the youngest frame did not allocate */
        tell_live(a, t, &event);
        event_lose(t->ring, EVENT_LOST_NO_STACK);
        return;
    }
    if (UNLIKELY(a->captures || a->frames)) {
        const struct capture shadow = {
            .stack = s, .top = top, .depth = depth, .class = (uintptr_t) class};

        event.node = node_of(a, t, &shadow, &event.site, &leaf);
        wanted = wanted && (t->walked || !(a->captures || a->config.walk));
    }
    if (LIKELY(!a->captures) && !event.node)
        event.node = context_of(top, depth);
    if (UNLIKELY(load_relaxed(&class->waits) != METADATA_WAITS_NOT) && a->begins &&
        waits(a, class) > METADATA_WAITS_ELSE)
        note_beginning(a, t->walked ? s : NULL, class, object, epoch, top, depth);
    if (UNLIKELY(wanted)) {
        check_begin(a->config.check);
        captured = clock_ticks();
    }
    if (depth && leaf) {
        if (a->lines && allocating_instruction(a, top, depth, &places))
            event.site = site_of(a, t, load_relaxed(&top[-1].method), &places,
                                 context_limit(top, depth), class);
    }
    tell_live(a, t, &event);
    if (UNLIKELY(t->live && load_acquire(&a->heap_epoch) != epoch))
        event.ticks = clock_ticks(); /* a collection left it young: it counts as made after that */
    if (UNLIKELY(a->values))
        post_values(s, t, event.ticks);
    if (UNLIKELY(post(a, t->ring, &event)))
        event_lose(t->ring, EVENT_LOST_RING_FULL);
    if (UNLIKELY(wanted || a->captured)) {
        struct capture capture = {.stack = s,
                                  .top = top,
                                  .depth = depth,
                                  .shadow_ticks = captured - began,
                                  .ticks = event.ticks,
                                  .class = (uintptr_t) class,
                                  .node = event.node,
                                  .ring = t->ring,
                                  .ip = places.call.ip};

        posted(a, t, wanted, &capture);
    }
}

/*
 * An allocation that is left out. If an async method waits in it, that may be resumed from now on,
 * and the log needs the path of its beginning for the logical stack.
 */
static __attribute__((noinline)) void leave_out(struct alloc *a, struct stack *s,
                                                struct alloc_thread *t, uintptr_t object,
                                                struct metadata_class *class)
{
    uint64_t epoch = load_acquire(&a->heap_epoch);
    enum metadata_waits what = waits(a, class);
    struct event event = {.bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_WAITS)};
    struct walk_path path;
    struct frame *top;
    size_t depth;
    uint32_t *told;

    if (what == METADATA_WAITS_NOT || !options_beginnings(a->config.options))
        return;
    depth = stack_settle_hot(s, &top);
    t->walked = a->config.walk && walk_self(a->config.walk, s, top, depth, &path) == WALK_CERTAIN;
    event.node = t->walked ? path.node : context_of(top, depth);
    if (a->begins && what > METADATA_WAITS_ELSE)
        note_beginning(a, t->walked ? s : NULL, class, object, epoch, top, depth);
    if (what == METADATA_WAITS_MACHINE)
        return; /* it may never wait */
    told = &t->waits[event.node & (WAITS_CACHE - 1)];
    if (*told == event.node)
        return;
    event.ticks = clock_ticks();
    if (event_post(t->ring, &event) == 0)
        *told = event.node;
    else
        atomic_fetch_add_explicit(&t->ring->hub->beginnings_lost, 1, memory_order_relaxed);
}

INTO_CALLER void record_if_wanted(struct alloc *a, struct stack *s, struct alloc_thread *t,
                                  uintptr_t object, struct metadata_class *class)
{
    const struct options *options = a->config.options;
    uint64_t bytes = size_of(a, class, object);

    if (UNLIKELY(bytes < options->min_size || (a->by_type && !wanted_type(a, class))) ||
        (t->config.sample && !sampled(t, bytes))) {
        if (UNLIKELY(load_relaxed(&class->waits) != METADATA_WAITS_NOT))
            leave_out(a, s, t, object, class);
        return;
    }
    count_seen(t->ring);
    /* First, while the object is where it is: naming collectible code may let a collection run. */
    record(a, s, t, object, class, event_pack(bytes, heap_of(a, t, object), EVENT_ALLOC));
}

/* --live: *object is noted first, and where it is when a collection came meanwhile. */
static struct metadata_class *class_noted(struct alloc *a, struct alloc_thread *t,
                                          uintptr_t class_id, uintptr_t *object)
{
    uint64_t epoch = load_acquire(&a->heap_epoch);
    struct metadata_class *class;

    live_note(t->live, *object);
    class = class_of(a, t, class_id, *object);
    if (UNLIKELY(load_acquire(&a->heap_epoch) != epoch) && t->live->open)
        *object = live_open_address(t->live);
    return class;
}

/* The calling thread, if it records here; what it would but cannot is counted. NULL: it does not */
INTO_CALLER struct alloc_thread *recording_thread(struct alloc *a, struct stack *s)
{
    struct alloc_thread *t;
    int lets;

    if (UNLIKELY(!s || load_relaxed(&a->config.hub->stopped))) {
        add_relaxed(&a->config.hub->lost[s ? EVENT_LOST_STOPPED : EVENT_LOST_NO_STACK], 1);
        if (a->config.live && !s)
            live_inexact(a->config.live, SST_LIVE_MEMORY);
        return NULL;
    }
    t = alloc_thread(a, s);
    if (UNLIKELY(!t)) {
        add_relaxed(&a->config.hub->lost[EVENT_LOST_NO_RING], 1);
        if (a->config.live)
            live_inexact(a->config.live, SST_LIVE_MEMORY);
        return NULL;
    }
    lets = config_lets(a, t, s);
    if (UNLIKELY(lets != CONFIG_YES)) {
        if (lets != CONFIG_NO)
            lose(t->ring, EVENT_LOST_RING_FULL);
        return NULL;
    }
    return t;
}

void alloc_record(struct alloc *a, uintptr_t object, uintptr_t class_id)
{
    struct stack *s = stack_current_hot();
    struct alloc_thread *t = recording_thread(a, s);
    struct metadata_class *class;

    if (UNLIKELY(!t))
        return;
    class = LIKELY(t->live == NULL) ? class_of(a, t, class_id, object)
                                    : class_noted(a, t, class_id, &object);
    if (UNLIKELY(!class)) {
        lose(t->ring, EVENT_LOST_NO_CLASS);
        if (t->live)
            live_unknown(t->live);
        return;
    }
    record_if_wanted(a, s, t, object, class);
    if (UNLIKELY(a->values)) /* last: the object may have moved after it */
        values_class(class);
}

/*
 * The runtime took the sample with the probability that its mean gives for this size. With a higher
 * mean, it is kept with the ratio of the two probabilities: a large object stays certain. A tick
 * comes after a fixed number of bytes and does not depend on the size.
 */
static bool is_kept(struct alloc_thread *t, const struct samples_taken *sample, double bytes)
{
    const double own = OPTIONS_SAMPLE_RUNTIME, mean = (double)t->config.sample;

    if (mean <= own)
        return true;
    return uniform(t) < (sample->weight ? own / mean : expm1(-bytes / mean) / expm1(-bytes / own));
}

/* What a tick stands for, of those that are kept. */
static uint64_t weight_now(const struct alloc_thread *t, uint64_t weight)
{
    return t->config.sample > OPTIONS_SAMPLE_RUNTIME
               ? weight * t->config.sample / OPTIONS_SAMPLE_RUNTIME
               : weight;
}

/* What the next event stands for. false: there is no room. */
static bool tell_weight(struct alloc *a, struct alloc_thread *t, uint64_t weight)
{
    struct event event = {.ticks = clock_ticks(),
                          .subject = weight_now(t, weight),
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_WEIGHT)};

    return post(a, t->ring, &event) == 0;
}

/* Bytes that a sample stands for, as the writer has it. */
static double weight_of(const struct alloc_thread *t, const struct samples_taken *sample)
{
    double mean = (double)t->config.sample, bytes = (double)sample->bytes;

    return sample->weight ? (double)weight_now(t, sample->weight) : bytes / -expm1(-bytes / mean);
}

void alloc_sampled(struct alloc *a, const struct samples_taken *sample)
{
    const struct options *options = a->config.options;
    struct stack *s = stack_current(); /* not inlined: see hooks_safe() */
    struct alloc_thread *t = recording_thread(a, s);
    uint64_t began =
        clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID); /* a busy machine may stop it within the sample */
    struct metadata_class *class;

    if (!t || !is_kept(t, sample, (double)sample->bytes))
        return;
    class = class_of(a, t, sample->class_id, 0);
    if (!class) {
        lose(t->ring, EVENT_LOST_NO_CLASS);
        return;
    }
    if (sample->bytes < options->min_size || (a->by_type && !wanted_type(a, class)))
        return;
    if (sample->weight && !tell_weight(a, t, sample->weight)) {
        lose(t->ring, EVENT_LOST_RING_FULL);
        return;
    }
    count_seen(t->ring);
    t->known.size = 0;
    record(a, s, t, 0, class, event_pack(sample->bytes, sample->heap, EVENT_ALLOC));
    if (a->config.alive && t->known.size)
        alive_follow(a->config.alive, sample->object, &t->known, weight_of(t, sample), uniform(t));
    add_relaxed(&a->sampling_ns, clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - began);
}

uint64_t alloc_sampling_ns(const struct alloc *a)
{
    return load_relaxed(&a->sampling_ns);
}

void alloc_meet(struct alloc *a, uintptr_t object, uintptr_t class_id)
{
    struct stack *s = stack_current();
    struct alloc_thread *t = s ? alloc_thread(a, s) : NULL;
    struct metadata_class *class = t ? class_of(a, t, class_id, object) : NULL;

    if (class && a->values)
        values_class(class);
}
