#include "profiler/profiler.h"

#include "base/clock.h"
#include "base/memory_scope.h"
#include "base/thread.h"
#include "clr/error.h"
#include "hooks/calls.h"
#include "hooks/elt.h"
#include "options/json.h"
#include "profiler/unframed.h"
#include "profiler/serve.h"
#include "profiler/wire.h"
#include "select/mapper.h"
#include "values/values.h"
#include "walk/natives.h"

#include <shadowtrace/clr/constants.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STOP_MS  2000
#define LEAVE_MS 10000 /* for a session that is being started: it could not be stopped later */
#define WHY_SIZE 512

struct profiler profiler = {.thread_names = THREAD_NAMES_INIT};

/* On glibc only: musl always has a form of the hooks that is safe (near.c). */
#define NO_STATIC_TLS \
    "the program's libraries have used up glibc's static TLS, which the hooks need; set " \
    "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1024; the program ran unprofiled"

/* The program runs on unprofiled, and the user hears why. */
static hresult decline(struct profiler *p, const char *why)
{
    if (p->control)
        control_stop(p->control, 0);
    if (p->log)
        log_withdraw(p->log);
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

static void after_fork_in_child(void)
{
    memory_scope_forked();
    stack_stop();
    store_relaxed(&profiler.hub.stopped, true);
    store_relaxed(&profiler.stopped, true);
    if (profiler.log)
        log_abandon(profiler.log);
    if (profiler.control)
        control_abandon(profiler.control);
}

static uintptr_t map_function(uintptr_t function_id, void *client_data, int32_t *hook)
{
    struct profiler *p = client_data;

    unframed_compiles(p);
    return mapper_map(&p->selection, function_id, hook);
}

static hresult hooks_watched_set(struct profiler *p)
{
    struct clr_info *info = p->runtime.info;
    bool values = options_values(&p->options);
    const struct elt2_watch watch = {p->options.exact_generics ? values_exact : NULL,
                                     values ? values_enter : NULL, values ? values_leave : NULL,
                                     options_records(&p->options, OPTIONS_CALLS)};

    elt2_watch(&watch);
    return info->vtbl->set_enter_leave_function_hooks2(
        info, hook_enter2_watched, hook_leave2_watched,
        watch.calls ? hook_tailcall2_calls : hook_tailcall2);
}

static hresult hooks_set(struct profiler *p)
{
    struct clr_info *info = p->runtime.info;
    bool calls = options_records(&p->options, OPTIONS_CALLS);
    const struct elt3_hooks *hooks;
    hresult result = info->vtbl->set_function_id_mapper2(info, map_function, p);

    if (result != S_OK)
        return result;
    if (options_values(&p->options) || p->options.exact_generics)
        return hooks_watched_set(p);
    if (options_elt2(&p->options))
        return info->vtbl->set_enter_leave_function_hooks2(
            info, calls ? hook_enter2_calls : hook_enter2, calls ? hook_leave2_calls : hook_leave2,
            calls ? hook_tailcall2_calls : hook_tailcall2);
    hooks = hooks_elt3();
    return info->vtbl->set_enter_leave_function_hooks3(
        info, calls ? hook_enter3_calls : hooks->enter, calls ? hook_leave3_calls : hooks->leave,
        calls ? hook_tailcall3_calls : hooks->leave);
}

static hresult event_mask_set(struct profiler *p)
{
    const struct options *o = &p->options;
    bool hooked = options_hooked(o), keeps = p->selection.keeps_precompiled;
    const struct {
        bool needed;
        uint32_t low, high;
    } needs[] = {
        {true, COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_THREADS,
         COR_PRF_HIGH_BASIC_GC | COR_PRF_HIGH_MONITOR_EVENT_PIPE},
        {options_every_object(o),
         COR_PRF_ENABLE_OBJECT_ALLOCATED | COR_PRF_MONITOR_OBJECT_ALLOCATED, 0},
        {o->check_live && heap_needs_references(&p->runtime), COR_PRF_MONITOR_GC, 0},
        {hooked, COR_PRF_MONITOR_ENTERLEAVE, 0},
        {hooked || p->walk || p->unhandled, COR_PRF_MONITOR_EXCEPTIONS, 0},
        {p->walk, 0, COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS},
        {wire_snapshot_flag(p), COR_PRF_ENABLE_STACK_SNAPSHOT, 0},
        /* Else precompiled code is all refused, or all welcome. */
        {keeps || (!hooked && options_every_object(o)), COR_PRF_MONITOR_CACHE_SEARCHES, 0},
        {keeps && hooked, COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_ENABLE_REJIT, 0},
        {p->selection.keeps_calls, COR_PRF_MONITOR_JIT_COMPILATION, 0},
        {o->args.count, COR_PRF_ENABLE_FUNCTION_ARGS, 0},
        {o->returns.count, COR_PRF_ENABLE_FUNCTION_RETVAL, 0},
        {options_values(o) || o->exact_generics, COR_PRF_ENABLE_FRAME_INFO, 0},
        {o->optimized, 0, COR_PRF_HIGH_DISABLE_TIERED_COMPILATION},
        {o->no_inline, COR_PRF_DISABLE_INLINING, 0},
    };
    uint32_t low = 0, high = 0;

    events_mask(o, &low, &high);
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        low |= needs[i].needed ? needs[i].low : 0;
        high |= needs[i].needed ? needs[i].high : 0;
    }
    return p->runtime.info->vtbl->set_event_mask2(p->runtime.info, low, high);
}

/* The writer last: it says that it records. */
static int threads_start(struct profiler *p)
{
    int err =
        pthread_atfork(NULL, NULL, after_fork_in_child) ? -ENOMEM : metadata_start(p->metadata);

    if (!err && (err = log_start(p->log)))
        metadata_stop(p->metadata, STOP_MS);
    store_release(&p->started, !err);
    if (!p->options.runtime_samples)
        metadata_hurry(p->metadata); /* for the socket; else its first round will do */
    return err;
}

static void profile_start(struct profiler *p)
{
    const struct sampler_config config = {.profile = &p->profile,
                                          .metadata = p->metadata,
                                          .tree = p->tree,
                                          .hub = &p->hub,
                                          .walker = p->walker};

    if (p->options.profile)
        sampler_start(&config, &p->sampler);
}

static hresult start(struct profiler *p)
{
    hresult result = event_mask_set(p);

    if (result != S_OK)
        return decline_result(p, "SetEventMask2", result);
    if (options_hooked(&p->options) && (result = hooks_set(p)) != S_OK)
        return decline_result(p, "setting the enter and leave hooks", result);
    if (options_records(&p->options, OPTIONS_CALLS))
        calls_start(&p->options);
    if (p->has_rich)
        rich_start(&p->rich); /* if it fails, lines are found without */
    serve_start(p);
    if (threads_start(p))
        return decline(p, "no thread could be started");
    if (p->check_threads && (p->runtime.info_version < 10 || check_threads_start(p->check_threads)))
        p->check_threads = NULL; /* recorded without; the log then has no stops */
    if (p->heap)
        live_start(p->live); /* else the next collection settles what the one before did */
    if (p->heap)
        heap_check_start(p->heap);
    p->recording = true;
    profile_start(p);
    return S_OK;
}

hresult profiler_begin(struct profiler *p, struct clr_unknown *info, const char *text)
{
    char why[WHY_SIZE];

    clock_start();
    json_memory_start();
    if (process_read(&p->process))
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION; /* out of memory before anything can be said */
    if (options_read(text ? text : "{\"version\":1}", &p->options, why, sizeof(why)))
        return decline(p, why);
    if (p->options.process.count && !options_match(&p->options.process, p->process.name))
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION; /* not asked for */
    if (!p->attached && !hooks_safe()) /* who attaches gets no hooks */
        return decline(p, NO_STATIC_TLS);
    if (clr_runtime_read(&p->runtime, info, why, sizeof(why)))
        return decline(p, why);
#ifdef SHADOWTRACE_NEGATIVE
    if (getenv("SHADOWTRACE_MAJOR")) /* as if it were this version */
        p->runtime.major = (unsigned)strtoul(getenv("SHADOWTRACE_MAJOR"), NULL, 10);
#endif
    options_sampler_settle(&p->options, p->runtime.major);
    options_frames_settle(&p->options, natives_known());
    if (wire(p, why, sizeof(why)))
        return decline(p, why);
    return start(p);
}

/* Tracer threads may run until the very end: the library must not be unloaded before. */
static void stay(void)
{
    Dl_info image;

    if (dladdr(&profiler, &image))
        dlopen(image.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

hresult profiler_initialize(struct profiler *p, struct clr_unknown *info)
{
    if (atomic_exchange(&p->asked, true))
        return E_UNEXPECTED; /* a second time */
    stay();
    return profiler_begin(p, info, getenv(OPTIONS_VARIABLE));
}

void profiler_shutdown(struct profiler *p)
{
    if (!p->recording)
        return;
    if (atomic_exchange(&p->stopped, true)) {
        if (load_relaxed(&p->leaving)) /* the program ends meanwhile: so that its log has its end */
            thread_await(&p->left, STOP_MS);
        return;
    }
    if (p->events && stack_peek())
        events_thread_ended(p->events, stack_peek());
    if (p->options.heap_at_exit)
        serve_heap_at_exit(p);
    control_stop(p->control, 200);
    collect_stop(p->collect, 200);
    if (p->sampler)
        sampler_stop(p->sampler, 200);
    if (p->samples)
        samples_stop(p->samples, p->attached ? LEAVE_MS : 200);
    if (p->attached)
        session_stop(&p->session, p->runtime.info);
    store_relaxed(&p->hub.stopped, true);
    if (p->check_threads)
        check_threads_stop(p->check_threads, 200);
    if (p->heap)
        heap_check_stop(p->heap, 200);
    if (p->heap)
        live_stop(p->live, 200);
    metadata_hurry(p->metadata);
    log_stop(p->log, STOP_MS);
    metadata_stop(p->metadata, 100);
}

/* exit() from native code does not go through the runtime's Shutdown. */
static __attribute__((destructor)) void at_exit(void)
{
    profiler_shutdown(&profiler);
}
