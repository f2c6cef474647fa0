#include "profiler/wire.h"

#include "base/cpu.h"
#include "clr/debug_map.h"
#include "code/code.h"
#include "hooks/calls.h"
#include "hooks/elt.h"
#include "options/runtime_settings.h"
#include "profiler/complete.h"
#include "profiler/modules.h"
#include "profiler/registers.h"
#include "profiler/rounds.h"
#include "profiler/serve.h"
#include "stack/stack_hot.h"
#include "thread/context.h"
#include "thread/machine.h"
#include "thread/thread.h"
#include "values/values.h"

#include <errno.h>
#include <stdio.h>

#define RING_SLOTS       16384
#define RING_SLOTS_HOOKS 65536  /* where hooks post, which never wait for room; at the least */
#define MAX_SITES        262144 /* instructions that allocate; further ones have no offset */
#define SAMPLED_MS       100    /* samples are few, and a server that rests shall rest */
#define MEASURED_PAIRS   20000
#define SAMPLES_DELAY_MS 50   /* of work, after Main begins: a short program is left undisturbed */
#define SAMPLES_MOST_MS  250  /* by the clock, of a program that works little */
#define UNREADY_MS       3000 /* after the first thread, if nothing says that Main begins */

/* ---- stacks ---- */

static uint32_t begun(void *context, const struct stack *stack, uintptr_t method, uintptr_t sp,
                      const uintptr_t *passed)
{
    struct profiler *p = context;

    return alloc_begun(p->alloc, stack, (const struct metadata_method *)method, sp, passed);
}

static bool suspends(uintptr_t method)
{
    return ((const struct metadata_method *)method)->continues;
}

static void detached(void *context, struct stack *stack)
{
    struct profiler *p = context;

    calls_thread_ended(stack);
    if (p->events)
        events_thread_ended(p->events, stack);
    unhandled_thread_ended(stack);
    pinned_thread_ended(stack);
    values_thread_ended(stack);
    alloc_thread_ended(stack);
    if (p->walk)
        walk_thread_ended(p->walk, stack);
    check_thread_ended(stack);
    thread_ended(stack);
}

/* In an Enter hook: --check-calls. */
static void called(void *context, struct stack *stack)
{
    struct profiler *p = context;

    if (!load_relaxed(&p->stopped))
        check_call(p->check, stack);
}

static int stacks_open(struct profiler *p)
{
    const struct options *o = &p->options;
    bool unverified = clr_runtime_unverified(&p->runtime) && !options_elt2(o);
    const struct stack_config config = {
        .cutting = options_records(o, OPTIONS_CALLS) ? calls_cutting : NULL,
        .detached = detached,
        .function_at = machine_function_at,
        .stub_returns_to = machine_stub_returns_to,
        .left = p->runtime.major >= 10 ? machine_left : NULL,
        .unhooked = machine_unhooked,
        .runs = machine_runs,
        .suspends = options_elt2(o) || p->runtime.major < 10 ? NULL : suspends,
        .begun = begun,
        .expected = unverified ? registers_expected : NULL,
        /* A Leave knows its frame record only where it is next to the caller's stack pointer. */
        .left_as_expected = unverified && !CPU_RECORD_APART ? registers_left_as_expected : NULL,
        .unannounced = p->attached,
        .call_interval = options_hooked(o) ? o->check_calls : 0,
        .called = called,
        .context = p};

    elt2_expect(p->runtime.low, p->runtime.high, &p->guard.hooks);
    return stack_start(&config);
}

/* ---- what methods and paths are ---- */

/* The runtime's image holds its object's vtable; in a single-file program it is the program. */
static int image_find(struct profiler *p)
{
    return process_image(p->runtime.info->vtbl, &p->runtime.low, &p->runtime.high);
}

/* How the runtime compiles: what it was told, and what we tell it. */
static struct metadata_tiers tiers(const struct profiler *p)
{
    struct runtime_settings said;

    runtime_settings_read(p->process.config, &said);
    return (struct metadata_tiers){
        .tiered = said.tiered && said.quick && !p->options.optimized,
        .quick_loops = said.quick_loops,
        .instrumented = said.pgo,
        .precompiled = said.ready_to_run,
    };
}

static int owners_open(struct profiler *p)
{
    const struct owners_config config = {.executable = p->process.executable,
                                         .bundle = process_bundle(),
                                         .main = p->process.main,
                                         .deps = p->process.deps,
                                         .sdk = p->process.sdk,
                                         .own_code = &p->options.own_code};

    (void)owners_new(&config, &p->owners); /* without memory: whose code it is, is not known */
    return 0;
}

static int metadata_open(struct profiler *p)
{
    const struct options *o = &p->options;
    const struct metadata_config config = {.tiers = tiers(p),
                                           .forget = code_bodies_free,
                                           .rich_trusted = rich_trusted(p->runtime.major),
                                           .maps_stored = p->runtime.major <= DEBUG_MAP_NEWEST,
                                           .info = p->runtime.info,
                                           .info_version = p->runtime.info_version,
                                           .native_low = p->runtime.low,
                                           .native_high = p->runtime.high,
                                           .owners = p->owners,
                                           .poll = rounds_poll,
                                           .context = p,
                                           .types_by_name = options_values(o) || o->exact_generics,
                                           .idle_ms = o->runtime_samples ? SAMPLED_MS : 0};

    return metadata_new(&config, &p->metadata);
}

static bool unloads(uintptr_t from, uintptr_t to)
{
    const struct metadata_method *inside = (const struct metadata_method *)from,
                                 *method = (const struct metadata_method *)to;

    return (method && method->collectible) || (inside && inside->collectible);
}

static uint8_t outside_of(int32_t kind, bool hosts)
{
    return hosts                     ? TREE_OUTSIDE_HOST
           : kind == CODE_IL_DYNAMIC ? TREE_OUTSIDE_DYNAMIC
           : kind == CODE_IL_OTHER   ? TREE_OUTSIDE_UNHOOKED
                                     : TREE_INSIDE;
}

/*
 * May an address lie outside of the code of its site's method? A walk or a snapshot has found the
 * method by the address.
 */
static bool may_be_outside(const struct profiler *p, uintptr_t ip)
{
    return options_hooked(&p->options) && !(ip & TREE_IP_DYNAMIC);
}

/* Code that may be unloaded before the resolver comes to it is resolved at once. */
static void call_created(void *context, struct tree_site *call)
{
    struct profiler *p = context;
    struct metadata_method *inside = (struct metadata_method *)call->method;

    if (inside && call->target && call->ip > FRAME_RET_FILTER && may_be_outside(p, call->ip))
        call->outside = outside_of(code_il_outside(p->metadata, inside, call->ip, NULL), false);
    if (unloads(call->method, call->target))
        code_resolve_call(p->metadata, call);
}

static void alloc_created(void *context, struct tree_site *alloc)
{
    struct profiler *p = context;
    struct metadata_method *inside = (struct metadata_method *)alloc->method;
    uintptr_t ip = alloc->ip & TREE_IP_FAULT ? (alloc->ip & ~TREE_IP_FAULT) + 1 : alloc->ip;
    bool asks = p->has_rich && !alloc->under && ip == alloc->ip, hosts = false;
    int32_t kind = 0;

    if (may_be_outside(p, ip))
        kind = code_il_outside(p->metadata, inside, ip, asks ? &hosts : NULL);
    alloc->outside = outside_of(kind, hosts);
    if (kind && !hosts) {
        store_release(&alloc->il, kind); /* that code may be gone when it is asked for */
    } else if (inside->collectible) {
        code_resolve_alloc(p->metadata, p->sites, alloc);
    }
}

/* A process that was attached to has bodies of which nothing was said. */
static void rich_open(struct profiler *p)
{
    p->has_rich =
        !p->attached && options_rich(&p->options) && rich_init(&p->rich, p->metadata, &p->runtime);
}

static int tree_open(struct profiler *p)
{
    const struct tree_config calls = {p->options.max_nodes, call_created, p, unloads};
    struct tree_sites_config allocs = {MAX_SITES, alloc_created, p, false};

    rich_open(p);
    allocs.by_target = p->has_rich;
    if (tree_new(&calls, &p->tree) || tree_sites_new(&allocs, &p->sites))
        return -ENOMEM;
    p->resolver = (struct code_resolver){
        .metadata = p->metadata, .calls = p->tree->calls, .allocs = p->sites};
    selection_init(&p->selection, &p->runtime, p->metadata, &p->options, &p->guard);
    p->selection.keeps_calls = !p->attached && !p->options.no_inline;
    return 0;
}

/* ---- what happens on a thread ---- */

static int threads_open(struct profiler *p)
{
    bool by_hooks = options_by_hooks(&p->options);

    p->hub.slots = by_hooks ? RING_SLOTS_HOOKS : RING_SLOTS;
    p->hub.drop = p->options.full == OPTIONS_FULL_DROP;
    if (by_hooks) {
        store_relaxed(&p->hub.bytes_left, (int64_t)p->options.call_buffer);
        p->hub.bytes_most = p->options.call_buffer;
    }
    thread_init(&p->hub);
    pinned_start(&p->runtime);
    context_start(&(struct context_config){p->metadata, p->tree, !p->options.no_lines});
    machine_start(&p->runtime, p->metadata);
    return 0;
}

static bool hook_caller(struct frame_at at, uint64_t *ip, uint64_t *sp, uint64_t *fp)
{
    struct elt_caller caller;
    bool found = elt_caller(options_elt2(&profiler.options), at, &caller);

    *ip = found ? caller.ip : 0;
    *sp = found ? caller.sp : 0;
    *fp = FRAME_RECORD(at);
    return found;
}

bool wire_snapshot_flag(const struct profiler *p)
{
    const struct options *o = &p->options;

    return !options_hooked(o) || o->check_calls || (o->runtime_samples && !options_elt2(o)) ||
           (o->check && (!options_elt2(o) || o->check == 1));
}

static int check_open(struct profiler *p)
{
    const struct options *o = &p->options;
    const struct check_config config = {.info = p->runtime.info,
                                        .metadata = p->metadata,
                                        .tree = p->tree,
                                        .agreement = &p->agreement,
                                        .native_low = p->runtime.low,
                                        .native_high = p->runtime.high,
                                        .hook_caller = hook_caller,
                                        .ends_early = p->runtime.major < 10,
                                        .reduce = options_chooses_methods(o),
                                        .spared = &p->selection.spared,
                                        .pinvokes = p->runtime.major >= 11 && options_hooked(o),
                                        .native = o->native,
                                        .log_all = o->capture == OPTIONS_CAPTURE_BOTH,
                                        .toggle_flag = !wire_snapshot_flag(p)};

    return check_new(&config, &p->check);
}

static int walk_open(struct profiler *p)
{
    return options_walks(&p->options) || options_walks_between(&p->options)
               ? walk_new(&p->runtime, p->metadata, p->tree, p->attached, &p->walk)
               : 0;
}

static int check_threads_open(struct profiler *p)
{
    struct check_threads_config config = {.info = p->runtime.info,
                                          .check = p->check,
                                          .agreement = &p->agreement.threads,
                                          .seeds = &p->agreement.seeds,
                                          .hub = &p->hub,
                                          .interval_ms = p->options.check_threads};

    if (config.interval_ms && options_hooked(&p->options) &&
        check_threads_new(&config, &p->check_threads))
        return -ENOMEM;
    config.interval_ms = 0;
    if (p->options.profile_snapshot && p->runtime.info_version >= 10 &&
        check_threads_new(&config, &p->walker))
        return -ENOMEM;
    p->profile.source[PROFILE_SHADOW].hz = options_hooked(&p->options) ? p->options.profile : 0;
    p->profile.source[PROFILE_SNAPSHOT].hz = p->walker ? p->options.profile : 0;
    return 0;
}

/* What is alive, by the samples that are. */
static int alive_open(struct profiler *p)
{
    const struct alive_config config = {
        .runtime = &p->runtime, .live = p->live, .mean = p->options.sample};

    return alive_new(&config, &p->alive);
}

static int live_open(struct profiler *p)
{
    struct heap_config config = {.runtime = &p->runtime,
                                 .metadata = p->metadata,
                                 .session = &p->session,
                                 .hub = &p->hub,
                                 .agreement = &p->agreement.live,
                                 .check = p->options.check_live};

    if (!p->options.live)
        return 0;
    if (live_new(p->options.live_memory, &p->live))
        return -ENOMEM;
    if (options_estimates_live(&p->options))
        return alive_open(p);
    config.live = p->live;
    return heap_new(&config, &p->heap);
}

/* In the sampler's event, on the allocating thread. */
static void sampled(void *context, const struct samples_taken *sample)
{
    struct profiler *p = context;

    complete_stack(p);
    alloc_sampled(p->alloc, sample);
}

/* On the thread that starts the session, before it does. */
static void samples_begin(void *context)
{
    modules_describe(context);
}

static int samples_open(struct profiler *p)
{
    const struct samples_config config = {.runtime = &p->runtime,
                                          .session = &p->session,
                                          .delay_ms = SAMPLES_DELAY_MS,
                                          .most_ms = SAMPLES_MOST_MS,
                                          .unready_ms = p->attached ? 0 : UNREADY_MS,
                                          .joined = p->attached,
                                          .suspends = options_records(&p->options, OPTIONS_SUSPEND),
                                          .begin = samples_begin,
                                          .taken = sampled,
                                          .context = p};

    if (p->options.runtime_samples && clr_runtime_unverified(&p->runtime))
        store_relaxed(&p->guard.allocated, 1);
    return p->options.runtime_samples ? samples_new(&config, &p->samples) : 0;
}

static int alloc_open(struct profiler *p)
{
    const struct alloc_config config = {.runtime = &p->runtime,
                                        .metadata = p->metadata,
                                        .tree = p->tree,
                                        .sites = p->sites,
                                        .hub = &p->hub,
                                        .options = &p->options,
                                        .check = p->check,
                                        .walk = p->walk,
                                        .live = p->alive ? NULL : p->live,
                                        .alive = p->alive,
                                        .begins = p->selection.begins};

    return alloc_new(&config, &p->alloc);
}

static int events_open(struct profiler *p)
{
    const struct events_config config = {
        .runtime = &p->runtime, .metadata = p->metadata, .hub = &p->hub, .options = &p->options};

    if (p->options.events != 1u << OPTIONS_ALLOC)
        p->events = events_new(&config);
    return p->events || p->options.events == 1u << OPTIONS_ALLOC ? 0 : -ENOMEM;
}

static void tell_unhandled(void *context, const char *type, const char *message)
{
    struct profiler *p = context;

    if (!load_relaxed(&p->stopped))
        log_unhandled(p->log, type, message);
}

static uintptr_t oldest_frame(void *context)
{
    struct profiler *p = context;

    return check_oldest(p->check);
}

/* What its callbacks keep of a thread could not be given back when a process is left. */
static int unhandled_open(struct profiler *p)
{
    const struct unhandled_config config = {.runtime = &p->runtime,
                                            .metadata = p->metadata,
                                            .oldest = oldest_frame,
                                            .hooks_all = options_hooked(&p->options) &&
                                                         !options_chooses_methods(&p->options),
                                            .tell = tell_unhandled,
                                            .context = p};

    if (!p->attached)
        p->unhandled = unhandled_new(&config);
    return p->attached || p->unhandled ? 0 : -ENOMEM;
}

static int values_open(struct profiler *p)
{
    const struct options *o = &p->options;
    const struct values_config config = {
        .info = p->runtime.info, .metadata = p->metadata, .options = o};

    return options_values(o) || o->exact_generics || o->calls.count ? values_start(&config) : 0;
}

/* ---- what leaves the process ---- */

static void configured(void *context, const struct config_settings *now,
                       const struct options_patterns *only)
{
    struct profiler *p = context;

    log_configured(p->log, now, only);
}

static int config_open(struct profiler *p)
{
    const struct config_start start = {.paused = p->options.paused,
                                       .sample = p->options.sample,
                                       .announce = stack_generation_set,
                                       .changed = configured,
                                       .context = p};

    return config_start(&start);
}

static void pair(uintptr_t method, uintptr_t sp)
{
    stack_enter(method, sp);
    stack_leave(method, sp);
}

/* Cost of a call pair, without ELT2's wrapper: that is the runtime's and cannot be called by us. */
static double measure(void)
{
    return (double)stack_measure(options_elt2(&profiler.options) ? pair : hooks_elt3()->pair,
                                 MEASURED_PAIRS) /
           MEASURED_PAIRS;
}

static int open_log(struct profiler *p, char *why, size_t size)
{
    const struct options *o = &p->options;
    bool compares =
        o->check || o->check_calls || o->check_threads || o->check_live || options_snapshots(o);
    bool no_native = o->native && !check_native(p->check);
    const struct log_config config = {
        .options = o,
        .metadata = p->metadata,
        .tree = p->tree,
        .sites = p->sites,
        .hub = &p->hub,
        .missed = &p->selection.missed_count,
        .spared = &p->selection.spared,
        .unpatched = &p->corelib.unpatched,
        .guard = &p->guard,
        .agreement = compares ? &p->agreement : NULL,
        .runtime = p->runtime.text,
        .hooks = serve_hooks(p),
        .attached = p->attached,
        .unverified = clr_runtime_unverified(&p->runtime),
        .executable = p->process.executable,
        .name = p->process.name,
        .command = p->process.command,
        .measure = !options_hooked(o) || (o->runtime_samples && !compares) ? NULL : measure,
        .live = p->live,
        .samples = p->samples,
        .walk = p->walk,
        .rich = &p->rich,
        .alive = p->alive,
        .frames = &p->agreement.frames,
        .profile = o->profile ? &p->profile : NULL,
        .control = control_path(p->control),
        .no_native = no_native ? "libunwind (libunwind-" CPU_MACHINE
                                 ".so.8, package libunwind8) cannot be loaded"
                               : NULL,
        .uncontrolled = *p->uncontrolled ? p->uncontrolled : NULL};

    return log_open(&config, &p->log, why, size);
}

int wire(struct profiler *p, char *why, size_t size)
{
    static const struct {
        int (*open)(struct profiler *p);
        const char *fails; /* for another reason than memory */
    } rooms[] = {
        {image_find, "the runtime's image was not found"},
        {stacks_open, "no thread-specific key is left in this process"},
        {owners_open, NULL},
        {metadata_open, NULL},
        {tree_open, NULL},
        {threads_open, NULL},
        {check_open, NULL},
        {walk_open, NULL},
        {check_threads_open, NULL},
        {live_open, NULL},
        {samples_open, NULL},
        {alloc_open, NULL},
        {events_open, NULL},
        {unhandled_open, NULL},
        {values_open, "the runtime does not say how strings lie in memory"},
        {config_open, NULL},
        {serve_open, NULL},
    };

    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        int err = rooms[i].open(p);

        if (err) {
            snprintf(why, size, "%s",
                     err == -ENOMEM || !rooms[i].fails ? "out of memory" : rooms[i].fails);
            return -1;
        }
    }
    return open_log(p, why, size) ? -1 : 0;
}
