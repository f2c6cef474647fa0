#include "profiler/attach.h"

#include "base/clock.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/memory_scope.h"
#include "base/system.h"
#include "base/thread.h"
#include "clr/com.h"
#include "clr/scope.h"
#include "code/inlined.h"
#include "events/pinned.h"
#include "options/json.h"
#include "profiler/modules.h"
#include "profiler/profiler.h"
#include "rcu/grace.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define DETACH_MS   1     /* that callbacks which have begun are expected to take */
#define COMPLETE_MS 60000 /* for the runtime, before it detaches what it is still attaching */

/* What asks the runtime comes first: it answers nothing once the detachment has been asked for. */
static void *leave(void *context)
{
    struct profiler *p = context;
    struct clr_info *info = p->runtime.info;

    pthread_setname_np(pthread_self(), "shadowtrace-off");
    thread_await(&p->complete, COMPLETE_MS); /* a detachment before is refused, for good */
    profiler_shutdown(p);
    store_release(&p->left, true);
    if (p->alive)
        alive_stop(p->alive);
    pinned_stop();
    info->vtbl->request_profiler_detach(info, DETACH_MS);
    return NULL;
}

static int leave_once(struct profiler *p)
{
    pthread_t thread;
    int err;

    if (atomic_exchange(&p->leaving, true))
        return -EALREADY;
    err = thread_start(&thread, leave, p);
    if (err)
        store_relaxed(&p->leaving, false);
    return err;
}

static hresult begin(struct profiler *p, struct clr_unknown *info, const void *data, uint32_t size)
{
    char *options = size && size <= ATTACH_LIMIT ? memory_zalloc(1, size + 1) : NULL;
    hresult result;

    if (!options)
        return size && size <= ATTACH_LIMIT ? E_OUTOFMEMORY : E_INVALIDARG;
    memcpy(options, data, size);
    result = profiler_begin(p, info, options);
    memory_free(options);
    return result;
}

hresult attach_begin(struct profiler *p, struct clr_unknown *info, const void *data, uint32_t size)
{
    hresult result;

    if (atomic_exchange(&p->asked, true))
        return E_UNEXPECTED; /* something else keeps it loaded, and it was attached before */
    if (memory_scope_begin())
        return E_OUTOFMEMORY;
    p->attached = true;
    p->leave = leave_once;
    grace_register_none();
    result = begin(p, info, data, size);
    if (result != S_OK && !p->runtime.info &&
        clr_info_query(info, &p->runtime.info, &p->runtime.info_version))
        return result; /* of no runtime that there is */
    return S_OK;
}

void attach_completed(struct profiler *p)
{
    if (!p->attached)
        return;
    if (p->recording) {
        modules_all(p, modules_meet);
        if (p->samples)
            samples_start(p->samples);
    } else {
        leave_once(p);
    }
    store_release(&p->complete, true);
}

/*
 * The thread itself tells it, as a rule. Of another one it is believed once the kernel has no such
 * thread: what is its own lies in memory that its callbacks use.
 */
void attach_thread_destroyed(struct profiler *p, uintptr_t thread_id)
{
    uint32_t os = 0;

    if (p->runtime.info->vtbl->get_thread_info(p->runtime.info, thread_id, &os) != S_OK || !os)
        return;
    if (os == (uint32_t)gettid() || (thread_kill(getpid(), (pid_t)os, 0) && errno == ESRCH))
        stack_thread_ended(os);
}

void attach_ended(struct profiler *p)
{
    if (!p->attached)
        return;
    thread_join_all();
    if (p->metadata) {
        code_inlined_free(p->metadata);
        metadata_free(p->metadata);
    }
    clr_scope_close();
    if (p->control)
        control_leave(p->control);
    log_status_leave();
    library_unload_all();
    json_memory_stop();
    clr_release(p->runtime.info);
    memory_scope_end();
}
