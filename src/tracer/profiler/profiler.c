#include "profiler/profiler.h"

#include "base/clock.h"
#include "base/memory.h"
#include "check/calls.h"
#include "clr/com.h"
#include "clr/error.h"
#include "clr/file_map.h"
#include "clr/utf16.h"
#include "code/code.h"

#include "hooks/elt.h"
#include "metadata/state_machine.h"
#include "options/runtime_settings.h"
#include "thread/context.h"
#include "thread/machine.h"
#include "thread/thread.h"
#include "stack/stack_hot.h"
#include "options/json.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_SLOTS       16384
#define RING_SLOTS_CALLS 65536 /* of threads whose calls are traced, at the least */
#define LOWEST_MAJOR     8
#define HIGHEST_MAJOR    10           /* what this build's tests have run on */
#define REST_NS          100000000ull /* pages of metadata that were read are kept that long */
#define MAX_SITES        262144 /* instructions that allocate; further ones have no offset in the log */
#define STOP_MS          2000
#define SITES_MS         20 /* call sites are written each second: no event waits for a name */
#define MEASURED_PAIRS   20000

struct profiler profiler = {.thread_names = THREAD_NAMES_INIT};

#define WHY_SIZE 512

/* The program runs on unprofiled, and the user hears why. */
static hresult decline(struct profiler *p, const char *why)
{
    if (p->control)
        control_stop(p->control, 0);
    if (p->options.status)
        log_status_declined(p->options.status, p->process.executable, p->process.command, why);
    return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
}

static hresult decline_result(struct profiler *p, const char *what, hresult result)
{
    char why[WHY_SIZE], text[CLR_ERROR_TEXT_SIZE];

    snprintf(why, sizeof(why), "%s failed with %s; the program ran unprofiled", what,
             clr_error_text(result, text, sizeof(text)));
    return decline(p, why);
}

/* Returns 0, or -1 with why. */
static int runtime_check(struct profiler *p, char *why)
{
    uint16_t major = 0, minor = 0, build = 0, fix = 0;
    hresult result = p->info->vtbl->get_runtime_information(p->info, NULL, NULL, &major, &minor,
                                                            &build, &fix, 0, NULL, NULL);

    if (result != S_OK) {
        snprintf(why, WHY_SIZE, "the runtime does not tell its version (0x%08x)", (unsigned)result);
        return -1;
    }
    snprintf(p->runtime, sizeof(p->runtime), "%u.%u.%u", major, minor, fix ? fix : build);
    if (major < LOWEST_MAJOR) {
        snprintf(why, WHY_SIZE, ".NET %s is not supported; run the program on .NET %d to %d",
                 p->runtime, LOWEST_MAJOR, HIGHEST_MAJOR);
        return -1;
    }
    p->unverified = major > HIGHEST_MAJOR;
    p->before_10 = major < 10;
    return 0;
}

/* Are calls of this method events? */
static bool traces(struct profiler *p, struct metadata_method *method)
{
    const char *name;

    if (!options_records(&p->options, OPTIONS_CALLS))
        return false;
    name = metadata_method_resolve(p->metadata,
                                   method); /* its event may come before the resolver does */
    return !p->options.calls.count || options_match(&p->options.calls, name);
}

/* Of an Enter3 hook. What the runtime resumes gets its continuation, but nothing else: no `this`. */
static uintptr_t tags(const struct metadata_method *method)
{
    if (method->continued & METADATA_CONTINUED_THIS)
        return STACK_RESUMABLE | STACK_CALL_IF_SOME;
    if (method->continued & METADATA_CONTINUED_CONTEXT)
        return STACK_RESUMABLE;
    if (method->continued)
        return STACK_RESUMABLE | STACK_CALL_IF_NONE;
    return method->machine ? STACK_RESUMABLE : 0;
}

/* FunctionIDMapper2, on the compiling thread: our record becomes the client id of the hooks. */
static uintptr_t map_function(uintptr_t function_id, void *client_data, int32_t *hook)
{
    struct profiler *p = client_data;
    struct selection_definition definition;
    struct metadata_method *method;

    *hook = 0;
    unframed_compiles(p);
    if (p->selection.keeps_precompiled &&
        selection_define(&p->selection, function_id, &definition) &&
        !selection_may_want(&p->selection, &definition)) {
        selection_mapped(&p->selection);
        return function_id; /* never 0 */
    }
    if (metadata_method_map(p->metadata, function_id, &method))
        return function_id;
    selection_mapped(&p->selection);
    if (selection_wants(&p->selection, method) || (method->hidden && !RULE(RULE_HIDDEN))) {
        if (p->values)
            values_method(method);
        method->hooked = true;
        method->continues = selection_continues(&p->selection, method);
        method->traced = traces(p, method);
        if (p->begins) {
            metadata_machine_find(method);
            if (method->continues)
                method->continued = metadata_method_continued(p->metadata, method);
        }
        *hook = 1;
    }
    return (uintptr_t)method | tags(method);
}

/* As stack_config.begun. */
static uint32_t begun(void *context, const struct stack *stack, uintptr_t method, uintptr_t sp,
                      const uintptr_t *passed)
{
    struct profiler *p = context;

    return alloc_begun(p->alloc, stack, (const struct metadata_method *)method, sp, passed);
}

static bool unloads(uintptr_t caller, uintptr_t called)
{
    const struct metadata_method *inside = (const struct metadata_method *)caller,
                                 *method = (const struct metadata_method *)called;

    return (method && method->collectible) || (inside && inside->collectible);
}

/* Code that may be unloaded before the resolver comes to it is resolved at once. */
static void call_created(void *context, struct tree_site *call)
{
    struct profiler *p = context;
    struct metadata_method *inside = (struct metadata_method *)call->method;

    if (inside && call->target && call->ip > FRAME_RET_FILTER && !(call->ip & TREE_IP_DYNAMIC))
        call->outside = code_il_outside(p->metadata, inside, call->ip) == CODE_IL_DYNAMIC;
    if (unloads(call->method, call->target))
        code_resolve_call(p->metadata, call);
}

static void alloc_created(void *context, struct tree_site *alloc)
{
    struct profiler *p = context;
    struct metadata_method *inside = (struct metadata_method *)alloc->method;
    uintptr_t ip = alloc->ip & TREE_IP_FAULT ? (alloc->ip & ~TREE_IP_FAULT) + 1 : alloc->ip;
    int32_t kind = ip & TREE_IP_DYNAMIC ? 0 : code_il_outside(p->metadata, inside, ip);

    alloc->outside = kind == CODE_IL_DYNAMIC;
    if (kind) {
        store_release(&alloc->il, kind); /* that code may be gone when it is asked for */
    } else if (inside->collectible) {
        code_resolve_alloc(p->metadata, alloc);
    }
}

static bool resolver_poll(void *context)
{
    struct profiler *p = context;
    uint64_t now;
    bool some;

    /* Here: the program need not wait for its thread to be made. */
    if (!p->served && load_acquire(&p->started)) {
        p->served = true;
        if (control_serve(p->control, p->uncontrolled, sizeof(p->uncontrolled)))
            log_uncontrolled(p->log, p->uncontrolled);
    }
    some = p->log && code_resolve(&p->resolver);
    if (some)
        log_named(p->log);
    now = clock_ns();
    some |= selection_mend(&p->selection);
    some |= stack_reclaim();
    unframed_rest(p, now);
    if (p->log)
        reclaim_poll(p);
    if (now - p->rested_ns >= REST_NS) {
        clr_file_map_discard();
        p->rested_ns = now;
    }
    if (load_relaxed(&p->hub.stopped))
        parker_unpark(
            &p->hub.writer); /* the program waits for it, and it for classes of this round */
    return some;
}

static bool suspends(uintptr_t method)
{
    return ((const struct metadata_method *)method)->continues;
}

void profiler_complete_stack(struct profiler *p)
{
    struct stack *s = p->elt2 && p->before_10 ? stack_peek() : NULL;
    struct metadata_method *method;
    struct elt2_wrapped wrapped;

    if (UNLIKELY(load_relaxed(&p->selection.async)) && stack_peek())
        stack_drop_suspended(stack_peek(), __builtin_frame_address(0));
    if (LIKELY(!s) || LIKELY(!elt2_wrapped(stack_top_sp(s), &wrapped)))
        return;
    method = metadata_method_find(p->metadata, machine_function_at(wrapped.ip));
    if (method && method->hooked)
        stack_inside(s, (uintptr_t)method, wrapped.sp, wrapped.leaving);
}

static void stack_detached(void *context, struct stack *stack)
{
    struct profiler *p = context;

    calls_thread_ended(stack);
    if (p->events)
        events_thread_ended(p->events, stack);
    values_thread_ended(stack);
    alloc_thread_ended(stack);
    check_thread_ended(stack);
    thread_ended(stack);
}

static bool hook_caller(uintptr_t caller_sp, uint64_t *ip, uint64_t *sp, uint64_t *fp)
{
    struct elt_caller caller;
    bool found = elt_caller(profiler.elt2, caller_sp, &caller);

    *ip = found ? caller.ip : 0;
    *sp = found ? caller.sp : 0;
    *fp = caller_sp - 2 * sizeof(uintptr_t);
    return found;
}

/* In an Enter hook: --check-calls. */
static void called(void *context, struct stack *stack)
{
    struct profiler *p = context;

    if (!load_relaxed(&p->stopped))
        check_call(p->check, stack);
}

static void pair(uintptr_t method, uintptr_t sp)
{
    stack_enter(method, sp);
    stack_leave(method, sp);
}

/* Cost of a call pair here. ELT2's wrapper is the runtime's and cannot be called from outside: not in it. */
static double measure(void)
{
    return stack_measure(profiler.elt2 ? pair : elt3_pair, MEASURED_PAIRS);
}

static void after_fork_in_child(void)
{
    stack_stop();
    store_relaxed(&profiler.hub.stopped, true);
    store_relaxed(&profiler.stopped, true);
    if (profiler.log)
        log_abandon(profiler.log);
    if (profiler.control)
        control_abandon(profiler.control);
}

static bool thread_name(void *context, uint32_t os, char *text, size_t size)
{
    struct profiler *p = context;

    return thread_names_find(&p->thread_names, os, text, size);
}

static uint32_t metadata_given(void *context)
{
    struct profiler *p = context;

    return load_relaxed(&p->thread_names.given);
}

static int mark(void *context, const char *text)
{
    struct profiler *p = context;

    return log_mark(p->log, text);
}

static int rotate(void *context, char **older)
{
    struct profiler *p = context;

    return log_rotate(p->log, older);
}

static int sites(void *context, uint32_t most, char **members)
{
    struct profiler *p = context;

    return log_sites(p->log, most, members);
}

static void status(void *context, struct buffer *out)
{
    struct profiler *p = context;
    struct log_counts counts;

    log_counts(p->log, &counts);
    buffer_text(out, ",\"log\":");
    buffer_json_string(out, log_path(p->log));
    buffer_format(out, ",\"part\":%llu,\"log_bytes\":%llu,\"written\":%llu,\"bytes\":%llu",
                  (unsigned long long)counts.parts, (unsigned long long)counts.file_bytes,
                  (unsigned long long)counts.written, (unsigned long long)counts.bytes);
    if (tree_refused(p->tree))
        buffer_format(out, ",\"nodes_refused\":%llu,\"cut_allocs\":%llu",
                      (unsigned long long)tree_refused(p->tree),
                      (unsigned long long)counts.cut_allocs);
}

static void configured(void *context, const struct config_settings *now,
                       const struct options_patterns *only)
{
    struct profiler *p = context;

    log_configured(p->log, now, only);
}

/* The socket comes first, so that the log can say why there is none: the program runs on without. */
static int control_prepare(struct profiler *p)
{
    if (control_new(&p->control))
        return -1;
    if (p->options.no_control ||
        !control_listen(p->control, p->uncontrolled, sizeof(p->uncontrolled)))
        *p->uncontrolled = '\0';
    return 0;
}

static void profile_begin(struct profiler *p)
{
    struct sampler_config config = {.profile = &p->profile,
                                    .metadata = p->metadata,
                                    .tree = p->tree,
                                    .hub = &p->hub,
                                    .walker = p->walker};

    if (p->options.profile)
        sampler_start(&config, &p->sampler);
}

/* From here on others may ask. */
static void control_begin(struct profiler *p)
{
    struct control_config config = {.metadata = p->metadata,
                                    .executable = p->process.executable,
                                    .name = p->process.name,
                                    .runtime = p->runtime,
                                    .hooks = p->options.capture == OPTIONS_CAPTURE_SNAPSHOT ? "none"
                                             : p->elt2                                      ? "elt2"
                                                       : "elt3",
                                    .command = p->process.command,
                                    .zero_ns = log_zero_ns(p->log),
                                    .shadow = p->options.capture != OPTIONS_CAPTURE_SNAPSHOT,
                                    .context = p,
                                    .thread_name = thread_name,
                                    .metadata_given = metadata_given,
                                    .mark = mark,
                                    .rotate = rotate,
                                    .sites = sites,
                                    .status = status};

    control_start(p->control, &config);
}

/* Is the runtime's snapshot flag up all the time? Under ELT2 it slows every hook: there only if every allocation walks. */
static bool snapshot_flag(const struct profiler *p)
{
    return p->options.capture == OPTIONS_CAPTURE_SNAPSHOT || p->options.check_calls ||
           (p->options.check && (!p->elt2 || p->options.check == 1));
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

/* All but the runtime's side. Returns 0, or -1 with why. */
static int wire(struct profiler *p, char *why)
{
    bool snapshots = p->options.capture == OPTIONS_CAPTURE_SNAPSHOT;
    struct metadata_config metadata = {.tiers = tiers(p),
                                       .forget = code_bodies_free,
                                       .info = p->info,
                                       .info_version = p->info_version,
                                       .poll = resolver_poll,
                                       .context = p,
                                       .types_by_name = p->values || p->options.exact_generics,
                                       .pause_ms =
                                           p->options.log == OPTIONS_LOG_SITES ? SITES_MS : 0};
    struct tree_config tree = {p->options.max_nodes, call_created, p, unloads};
    struct tree_sites_config allocs = {MAX_SITES, alloc_created, p};
    bool traced = options_records(&p->options, OPTIONS_CALLS);
    struct stack_config stack = {.cutting = traced ? calls_cutting : NULL,
                                 .detached = stack_detached,
                                 .function_at = machine_function_at,
                                 .left = atoi(p->runtime) >= 10 ? machine_left : NULL,
                                 .unhooked = machine_unhooked,
                                 .runs = machine_runs,
                                 .suspends = p->elt2 || p->before_10 ? NULL : suspends,
                                 .begun = begun,
                                 .call_interval = snapshots ? 0 : p->options.check_calls,
                                 .called = called,
                                 .context = p};
    struct check_config check = {.info = p->info,
                                 .agreement = &p->agreement,
                                 .hook_caller = hook_caller,
                                 .ends_early = p->before_10,
                                 .reduce = p->options.only.count || p->options.exclude.count,
                                 .spared = &p->selection.spared,
                                 .native = p->options.native,
                                 .log_all = p->options.capture == OPTIONS_CAPTURE_BOTH,
                                 .toggle_flag = !snapshot_flag(p)};
    struct check_threads_config threads = {.info = p->info,
                                           .agreement = &p->agreement.threads,
                                           .seeds = &p->agreement.seeds,
                                           .hub = &p->hub,
                                           .interval_ms = p->options.check_threads};
    struct alloc_config alloc = {.info = p->info,
                                 .info_version = p->info_version,
                                 .hub = &p->hub,
                                 .options = &p->options,
                                 .by_helper = !p->before_10,
                                 .begins = p->begins};
    struct values_config values = {.info = p->info, .options = &p->options};
    struct log_config log = {.options = &p->options,
                             .hub = &p->hub,
                             .missed = &p->selection.missed_count,
                             .spared = &p->selection.spared,
                             .agreement = p->options.check || p->options.check_calls ||
                                                  p->options.check_threads || snapshots
                                              ? &p->agreement
                                              : NULL,
                             .runtime = p->runtime,
                             .hooks = snapshots ? "none"
                                      : p->elt2 ? "elt2"
                                                : "elt3",
                             .unverified = p->unverified,
                             .executable = p->process.executable,
                             .name = p->process.name,
                             .command = p->process.command,
                             .measure = snapshots ? NULL : measure};
    struct config_start live = {.paused = p->options.paused,
                                .sample = p->options.sample,
                                .announce = stack_generation_set,
                                .changed = configured,
                                .context = p};

    struct events_config events = {.info = p->info,
                                   .info_version = p->info_version,
                                   .hub = &p->hub,
                                   .options = &p->options,
                                   .two_pass_native = atoi(p->runtime) == 8};
    p->hub.slots = traced ? RING_SLOTS_CALLS : RING_SLOTS;
    if (traced) {
        store_relaxed(&p->hub.bytes_left, (int64_t)p->options.call_buffer);
        p->hub.bytes_most = p->options.call_buffer;
    }
    p->hub.drop = p->options.full == OPTIONS_FULL_DROP;
    snprintf(why, WHY_SIZE, "out of memory");
    /* The image of the runtime holds the vtable of its own object; in a single-file program that is the program. */
    if (process_image(p->info->vtbl, &check.native_low, &check.native_high)) {
        snprintf(why, WHY_SIZE, "the runtime's image was not found");
        return -1;
    }
    alloc.native_low = check.native_low;
    alloc.native_high = check.native_high;
    elt2_expect(check.native_low, check.native_high);
    if (stack_start(&stack)) {
        snprintf(why, WHY_SIZE, "no thread-specific key is left in this process");
        return -1;
    }
    if (metadata_new(&metadata, &p->metadata) || tree_new(&tree, &p->tree) ||
        tree_sites_new(&allocs, &p->sites))
        return -1;
    p->resolver = (struct code_resolver){
        .metadata = p->metadata, .calls = p->tree->calls, .allocs = p->sites};
    selection_init(&p->selection, p->info, p->metadata, &p->options);
    p->selection.spares_unmanaged_callers = p->elt2 && p->before_10;
    p->selection.spares_async = p->elt2 && !p->before_10;
    p->selection.has_async = !p->before_10;
    p->selection.corelib_without = !p->unverified;
    store_relaxed(&p->selection.async, p->unverified); /* .NET 11 has it in its framework */
    check.metadata = alloc.metadata = log.metadata = events.metadata = values.metadata =
        p->metadata;
    check.tree = alloc.tree = log.tree = p->tree;
    alloc.sites = log.sites = p->sites;
    thread_init(&p->hub);
    context_start(&(struct context_config){p->metadata, p->tree, !p->options.no_lines});
    machine_start(&(struct machine_config){p->info, p->info_version, p->metadata});
    if (check_new(&check, &p->check))
        return -1;
    alloc.check = p->check;
    if (alloc_new(&alloc, &p->alloc))
        return -1;
    if (p->options.events != 1u << OPTIONS_ALLOC && events_new(&events, &p->events))
        return -1;
    snprintf(why, WHY_SIZE, "the runtime does not say how strings lie in memory");
    if ((p->values || p->options.exact_generics || p->options.calls.count) && values_start(&values))
        return -1;
    snprintf(why, WHY_SIZE, "out of memory");
    if (config_start(&live) || control_prepare(p))
        return -1;
    log.profile = p->options.profile ? &p->profile : NULL;
    log.control = control_path(p->control);
    if (p->options.native && !check_native(p->check))
        log.no_native = "libunwind (libunwind-x86_64.so.8, package libunwind8) cannot be loaded";
    log.uncontrolled = *p->uncontrolled ? p->uncontrolled : NULL;
    threads.check = p->check;
    if (p->options.check_threads && !snapshots && check_threads_new(&threads, &p->check_threads))
        return -1;
    threads.interval_ms = 0;
    if (p->options.profile_snapshot && p->info_version >= 10 &&
        check_threads_new(&threads, &p->walker))
        return -1;
    p->profile.source[PROFILE_SHADOW].hz = snapshots ? 0 : p->options.profile;
    p->profile.source[PROFILE_SNAPSHOT].hz = p->walker ? p->options.profile : 0;
    return log_open(&log, &p->log, why, WHY_SIZE) ? -1 : 0;
}

static hresult hooks_set(struct profiler *p)
{
    struct clr_info *info = p->info;
    hresult result = info->vtbl->set_function_id_mapper2(info, map_function, p);

    if (result != S_OK)
        return result;
    if (p->values || p->options.exact_generics) {
        const struct elt2_watch watch = {
            p->options.exact_generics ? values_exact : NULL, p->values ? values_enter : NULL,
            p->values ? values_leave : NULL, options_records(&p->options, OPTIONS_CALLS)};

        elt2_watch(&watch);
        return info->vtbl->set_enter_leave_function_hooks2(
            info, hook_enter2_watched, hook_leave2_watched,
            watch.calls ? hook_tailcall2_calls : hook_tailcall2);
    }
    if (options_records(&p->options, OPTIONS_CALLS))
        return p->elt2 ? info->vtbl->set_enter_leave_function_hooks2(
                             info, hook_enter2_calls, hook_leave2_calls, hook_tailcall2_calls)
                       : info->vtbl->set_enter_leave_function_hooks3(
                             info, hook_enter3_calls, hook_leave3_calls, hook_tailcall3_calls);
    return p->elt2 ? info->vtbl->set_enter_leave_function_hooks2(info, hook_enter2, hook_leave2,
                                                                 hook_tailcall2)
                   : info->vtbl->set_enter_leave_function_hooks3(info, hook_enter3, hook_leave3,
                                                                 hook_tailcall3);
}

static hresult event_mask_set(struct profiler *p)
{
    bool snapshots = p->options.capture == OPTIONS_CAPTURE_SNAPSHOT;
    uint32_t low = COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_THREADS, high = 0;

    if (options_records(&p->options, OPTIONS_ALLOC) || p->values) { /* values: what objects are */
        low |= COR_PRF_ENABLE_OBJECT_ALLOCATED | COR_PRF_MONITOR_OBJECT_ALLOCATED;
        high |= COR_PRF_HIGH_BASIC_GC;
    }
    events_mask(&p->options, &low, &high);
    if (!snapshots)
        low |= COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_MONITOR_EXCEPTIONS;
    if (snapshot_flag(p))
        low |= COR_PRF_ENABLE_STACK_SNAPSHOT;
    if (p->selection.keeps_precompiled || snapshots)
        low |= COR_PRF_MONITOR_CACHE_SEARCHES;
    if (p->selection.keeps_precompiled && !snapshots)
        low |= COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_ENABLE_REJIT;
    if (p->options.args.count)
        low |= COR_PRF_ENABLE_FUNCTION_ARGS;
    if (p->options.returns.count)
        low |= COR_PRF_ENABLE_FUNCTION_RETVAL;
    if (p->values || p->options.exact_generics)
        low |= COR_PRF_ENABLE_FRAME_INFO;
    if (p->options.optimized)
        high |= COR_PRF_HIGH_DISABLE_TIERED_COMPILATION;
    if (p->options.no_inline)
        low |= COR_PRF_DISABLE_INLINING;
    return p->info->vtbl->set_event_mask2(p->info, low, high);
}

/* The writer last: it says that it records. */
static int threads_start(struct profiler *p)
{
    int err =
        pthread_atfork(NULL, NULL, after_fork_in_child) ? -ENOMEM : metadata_start(p->metadata);

    if (!err && (err = log_start(p->log)))
        metadata_stop(p->metadata, STOP_MS);
    if (err)
        log_withdraw(p->log);
    store_release(&p->started, !err);
    metadata_hurry(p->metadata); /* for the socket */
    return err;
}

hresult profiler_initialize(struct profiler *p, struct clr_unknown *info)
{
    const char *text = getenv(OPTIONS_VARIABLE);
    char why[WHY_SIZE];
    hresult result;

    if (atomic_exchange(&p->asked, true))
        return E_UNEXPECTED; /* a second time */
    clock_start();
    json_memory_start();
    if (process_read(&p->process))
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION; /* out of memory before anything can be said */
    if (options_read(text ? text : "{\"version\":1}", &p->options, why, sizeof(why)))
        return decline(p, why);
    if (p->options.process.count && !options_match(&p->options.process, p->process.name))
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION; /* not asked for */
    if (clr_info_query(info, &p->info, &p->info_version) || p->info_version < 5)
        return decline(
            p, "this runtime has no profiling interface of the needed version (ICorProfilerInfo5)");
    if (runtime_check(p, why))
        return decline(p, why);
    p->elt2 = p->options.hooks == OPTIONS_HOOKS_ELT2;
    p->values = p->options.args.count || p->options.returns.count;
    /* Only the plain Enter hook of ELT3 reads it; where what waits has a place for it is known of these runtimes. */
    p->begins = options_beginnings(&p->options) && !p->elt2 && !p->unverified &&
                !options_records(&p->options, OPTIONS_CALLS);
    if (wire(p, why))
        return decline(p, why);
    result = event_mask_set(p);
    if (result != S_OK)
        return decline_result(p, "SetEventMask2", result);
    if (p->options.capture != OPTIONS_CAPTURE_SNAPSHOT && (result = hooks_set(p)) != S_OK)
        return decline_result(p, "setting the enter and leave hooks", result);
    if (options_records(&p->options, OPTIONS_CALLS))
        calls_start(&p->options);
    control_begin(p);
    if (threads_start(p))
        return decline(p, "no thread could be started");
    if (p->check_threads && (p->info_version < 10 || check_threads_start(p->check_threads)))
        p->check_threads = NULL; /* recorded without; the log then has no stops */
    p->recording = true;
    p->base.vtbl = &profiler_vtbl;
    profile_begin(p);
    return S_OK;
}

/* JITCachedFunctionSearchStarted. What is refused is compiled instead. */
bool profiler_use_precompiled(struct profiler *p, uintptr_t function_id)
{
    struct selection_definition function;
    struct metadata_method *method;

    if (!selection_define(&p->selection, function_id, &function))
        return true;
    if (corelib_refuses(&p->corelib, function.module_id, function.token))
        return false;
    return !p->selection.keeps_precompiled || !selection_may_want(&p->selection, &function) ||
           metadata_method_map(p->metadata, function_id, &method) ||
           !selection_wants(&p->selection, method);
}

void profiler_shutdown(struct profiler *p)
{
    if (!p->recording || atomic_exchange(&p->stopped, true))
        return;
    if (p->events && stack_peek())
        events_thread_ended(p->events, stack_peek());
    control_stop(p->control, 200);
    if (p->sampler)
        sampler_stop(p->sampler, 200);
    store_relaxed(&p->hub.stopped, true);
    if (p->check_threads)
        check_threads_stop(p->check_threads, 200);
    metadata_hurry(p->metadata);
    log_stop(p->log, STOP_MS);
    metadata_stop(p->metadata, 100);
}

/* exit() from native code does not go through the runtime's Shutdown. */
static __attribute__((destructor)) void at_exit(void)
{
    profiler_shutdown(&profiler);
}

static const struct clr_guid own_clsid = {
    0x7b6a1f52,
    0x3c0e,
    0x4e57,
    {0x9d, 0x35, 0x5a, 0xd0, 0xb3, 0xc5, 0xe4, 0xa1}}; /* OPTIONS_CLSID */

__attribute__((visibility("default"))) hresult
DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **out)
{
    static struct clr_factory factory;

    if (!clsid || !clr_guid_equal(clsid, &own_clsid)) {
        if (out)
            *out = NULL;
        return CLASS_E_CLASSNOTAVAILABLE;
    }
    if (!profiler.base.vtbl)
        profiler.base.vtbl = profiler_vtbl_idle();
    clr_factory_init(&factory, &profiler.base);
    return clr_factory_get(&factory, iid, out);
}
