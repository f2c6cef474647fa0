#include "rcu/grace.h"

#include "base/atomics.h"
#include "base/memory.h"

#include <pthread.h>
#include <time.h>
#include <urcu/urcu-memb.h>

#define THREAD_BYTES 1024 /* more than the dynamic linker needs for a thread's word in liburcu */
#define ROUNDS_MAX \
    3 /* of destructors: later ones may be a thread's last (PTHREAD_DESTRUCTOR_ITERATIONS is 4) */
#define SPINS    200 /* looks before the waiter sleeps: a section takes less than a microsecond */
#define SLEEP_NS 200000

enum state { UNKNOWN, REGISTERED, REFUSED };

static __thread uint8_t state;  /* enum state */
static __thread uint8_t rounds; /* of this thread's destructor */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static bool registers_none;

/*
 * Sections of refused threads have two sides: the waiter sends new ones to one side and waits for
 * the other, so that they cannot keep it waiting.
 */
static _Atomic(uint32_t) sections[2];
static _Atomic(unsigned) side;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;

static void thread_ends(void *unused)
{
    (void)unused;
    if (state == REGISTERED)
        urcu_memb_unregister_thread();
    state = ++rounds < ROUNDS_MAX ? UNKNOWN : REFUSED;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, thread_ends) == 0;
}

/*
 * The dynamic linker allocates liburcu's word of a thread at its first use and ends the process if
 * there is no memory: that is tried before.
 */
static bool has_memory(void)
{
    void *probe = memory_alloc(THREAD_BYTES);

    memory_free(probe);
    return probe;
}

static __attribute__((noinline)) bool thread_register(void)
{
    if (state == REFUSED || registers_none)
        return false;
    pthread_once(&once, make_key);
    if (!has_key || !has_memory() || pthread_setspecific(key, &state)) {
        state = REFUSED;
        return false;
    }
    urcu_memb_register_thread();
    state = REGISTERED;
    return true;
}

void grace_register_none(void)
{
    registers_none = true;
}

struct grace_section grace_enter(void)
{
    struct grace_section section = {GRACE_REGISTERED};

    if (LIKELY(state == REGISTERED) || thread_register()) {
        urcu_memb_read_lock();
        return section;
    }
    section.counted = (int)load_relaxed(&side);
    /* Against is_empty(): the waiter sees the section, or the section sees what the waiter wrote.
     *  */
    atomic_fetch_add_explicit(&sections[section.counted], 1, memory_order_acq_rel);
    return section;
}

void grace_leave(struct grace_section section)
{
    if (LIKELY(section.counted == GRACE_REGISTERED))
        urcu_memb_read_unlock();
    else
        atomic_fetch_sub_explicit(&sections[section.counted], 1, memory_order_acq_rel);
}

/* A change, not a load: see grace_enter(). */
static bool is_empty(unsigned which)
{
    return atomic_fetch_add_explicit(&sections[which], 0, memory_order_acq_rel) == 0;
}

static void side_wait(unsigned which)
{
    const struct timespec pause = {0, SLEEP_NS};

    for (unsigned looks = 0; !is_empty(which); looks++)
        if (looks >= SPINS)
            nanosleep(&pause, NULL);
}

void grace_wait(void)
{
    unsigned now;

    pthread_mutex_lock(&waiting);
    now = load_relaxed(&side);
    side_wait(!now); /* who read `side` long ago and came late */
    store_relaxed(&side, !now);
    side_wait(now);
    urcu_memb_synchronize_rcu();
    pthread_mutex_unlock(&waiting);
}
