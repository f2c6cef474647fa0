#include "events/pinned.h"

#include "base/atomics.h"
#include "clr/event_mask.h"
#include "stack/stack_hot.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#include <unistd.h>

/* of .NET: older ones dispatch exceptions in native code, later ones keep a handle (measured). */
#define FIRST_MAJOR 9
#define LAST_MAJOR  10
/*
 * Bytes of stack. Callbacks of one exception lie within 896 of its throw's. What is thrown within
 * its search lies at least 16,192 below that on x86-64, and 7,312 on arm64, for the runtime keeps
 * sets of registers for each exception. Measured on .NET 9 and 10, in each way of recording.
 */
#define NEAR       3072
#define FILTERS_US 10000 /* far more than a callback takes */
#define USERS_US   100

/* One exception, its thread's alone. */
struct pinned {
    struct pinned *older; /* of the same thread: its sp is higher */
    void **handle;
    _Atomic(bool) taken;
    uintptr_t sp; /* in the callback that tells of the throw */
};

static struct pinned table[PINNED_MOST];
static _Atomic(uint32_t) next;
static _Atomic(uint32_t) users; /* that may have the runtime make or destroy a handle */
static _Atomic(bool) stopped;
static struct clr_info *info; /* NULL: nothing has to be pinned */

void pinned_start(const struct clr_runtime *runtime)
{
    if (runtime->major >= FIRST_MAJOR && runtime->major <= LAST_MAJOR &&
        clr_runtime_has_handles(runtime) && RULE(RULE_PINNED))
        info = runtime->info;
}

/* Pairs with pinned_stop: one of the two sees the other. */
static bool begin(void)
{
    atomic_fetch_add(&users, 1);
    if (!atomic_load(&stopped))
        return true;
    atomic_fetch_sub(&users, 1);
    return false;
}

static void end(void)
{
    atomic_fetch_sub(&users, 1);
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
    if (pinned->handle)
        info->vtbl->destroy_handle(info, pinned->handle);
    pinned->handle = NULL;
}

/* Those of a thread that lie below this address. Without any, nothing shared is touched. */
static void drop_below(struct thread *t, uintptr_t sp)
{
    if (!t || !t->pinned || t->pinned->sp >= sp || !begin())
        return;
    while (t->pinned && t->pinned->sp < sp) {
        struct pinned *pinned = t->pinned;

        t->pinned = pinned->older;
        unpin(pinned);
        store_release(&pinned->taken, false);
    }
    end();
}

void pinned_thrown(uintptr_t object)
{
    const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    struct stack *s = info && !load_relaxed(&stopped) ? stack_current() : NULL;
    struct thread *t = s ? thread_of(s) : NULL;
    struct pinned *pinned;

    drop_below(t, sp + 1);
    if (!t || !begin())
        return;
    pinned = slot();
    if (pinned) {
        info->vtbl->create_handle(info, object, COR_PRF_HANDLE_TYPE_PINNED, &pinned->handle);
        pinned->sp = sp;
        pinned->older = t->pinned;
        t->pinned = pinned;
    }
    end();
}

/* Of this thread, those below the address. */
static void drop_here(uintptr_t sp)
{
    struct stack *s = info ? stack_peek() : NULL;

    if (s)
        drop_below(s->thread, sp);
}

void pinned_searched(void)
{
    drop_here((uintptr_t)__builtin_frame_address(0) - NEAR);
}

void pinned_filter_enter(void)
{
    if (!RULE(RULE_PINNED)) /* a test waits for the collection that it needs to see: just here, */
        usleep(2000);       /* for one that came earlier leaves the exception where it stays */
    pinned_searched();
}

void pinned_found(void)
{
    drop_here((uintptr_t)__builtin_frame_address(0) + NEAR);
}

void pinned_thread_ended(struct stack *s)
{
    drop_below(s->thread, UINTPTR_MAX);
}

/*
 * An exception without a pin must not meet a callback that a filter waits for: no more of them
 * begin, and those that have begun get time to end, before the pins go.
 */
void pinned_stop(void)
{
    if (!info)
        return;
    clr_event_mask_change(info, COR_PRF_MONITOR_EXCEPTIONS, 0);
    usleep(FILTERS_US);
    atomic_store(&stopped, true);
    while (atomic_load(&users)) /* none of them waits */
        usleep(USERS_US);
    for (uint32_t i = 0; i < PINNED_MOST; i++)
        unpin(&table[i]);
}
