#include "events/pinned.h"

#include "base/atomics.h"
#include "stack/stack_hot.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#ifdef SHADOWTRACE_NEGATIVE
#include <unistd.h>
#endif

#define HANDLE_VERSION 13 /* of ICorProfilerInfo, which has handles */
/* of .NET: older ones dispatch exceptions in native code, later ones keep a handle (measured). */
#define FIRST_MAJOR 9
#define LAST_MAJOR  10

/* One exception. Its thread's alone, but for the handle: who takes that destroys it. */
struct pinned {
    struct pinned *older; /* of the same thread */
    _Atomic(void **) handle;
    _Atomic(bool) taken;
    uintptr_t sp;     /* at the throw */
    uint32_t filters; /* that ran on the thread then */
};

static struct pinned table[PINNED_MOST];
static _Atomic(uint32_t) next;
static _Atomic(bool) stopped;
static struct clr_info *info; /* NULL: nothing has to be pinned */

void pinned_start(const struct clr_runtime *runtime)
{
    if (runtime->major >= FIRST_MAJOR && runtime->major <= LAST_MAJOR &&
        runtime->info_version >= HANDLE_VERSION && RULE(RULE_PINNED))
        info = runtime->info;
}

static struct thread *self(void)
{
    struct stack *s = info ? stack_peek() : NULL;

    return s ? s->thread : NULL;
}

/* NULL: all are taken. */
static struct pinned *slot(void)
{
    for (uint32_t i = 0; i < PINNED_MOST; i++) {
        struct pinned *pinned = &table[add_relaxed(&next, 1) % PINNED_MOST];

        if (!load_relaxed(&pinned->taken) && !atomic_exchange(&pinned->taken, true))
            return pinned;
    }
    return NULL;
}

static void unpin(struct pinned *pinned)
{
    void **handle = atomic_exchange(&pinned->handle, NULL);

    if (handle)
        info->vtbl->destroy_handle(info, handle);
}

static void drop(struct thread *t)
{
    struct pinned *pinned = t->pinned;

    t->pinned = pinned->older;
    unpin(pinned);
    store_release(&pinned->taken, false);
}

void pinned_thrown(uintptr_t object)
{
    const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    struct stack *s = info && !load_relaxed(&stopped) ? stack_current() : NULL;
    struct thread *t = s ? thread_of(s) : NULL;
    struct pinned *pinned;
    void **handle = NULL;

    if (!t)
        return;
    while (t->pinned && t->pinned->sp <= sp) /* the search was given up */
        drop(t);
    pinned = slot();
    if (!pinned)
        return;
    info->vtbl->create_handle(info, object, COR_PRF_HANDLE_TYPE_PINNED, &handle);
    pinned->sp = sp;
    pinned->filters = t->filters;
    pinned->older = t->pinned;
    t->pinned = pinned;
    atomic_store(&pinned->handle, handle);
    if (atomic_load(&stopped)) /* pairs with pinned_stop: one of the two sees the other */
        unpin(pinned);
}

/* Without pins a test waits here for the collection that it needs to see. */
static void wait_for_collection(void)
{
#ifdef SHADOWTRACE_NEGATIVE
    if (!RULE(RULE_PINNED))
        usleep(2000);
#endif
}

void pinned_filter_enter(void)
{
    struct thread *t = self();

    wait_for_collection();
    if (t)
        t->filters++;
}

/* What was thrown in the filter does not leave it. */
void pinned_filter_leave(void)
{
    struct thread *t = self();

    if (!t || !t->filters)
        return;
    while (t->pinned && t->pinned->filters >= t->filters)
        drop(t);
    t->filters--;
}

void pinned_found(void)
{
    struct thread *t = self();

    if (t && t->pinned && t->pinned->filters == t->filters)
        drop(t);
}

void pinned_thread_ended(struct stack *s)
{
    while (s->thread && s->thread->pinned)
        drop(s->thread);
}

void pinned_stop(void)
{
    atomic_store(&stopped, true);
    for (uint32_t i = 0; i < PINNED_MOST; i++)
        unpin(&table[i]);
}
