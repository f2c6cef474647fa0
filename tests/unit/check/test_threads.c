/* What is counted of stopped threads: walks that the runtime refuses, and threads that run on in native code. */
#include "check/threads.h"
#include "support/test.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "clr/com.h"
#include "event/event.h"
#include "metadata/record.h"
#include "stack/stack_hot.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STOPS       3u
#define PATIENCE    120000u  /* ms, until something that must happen is taken not to happen */
#define FROM_NATIVE 0x12345u /* a return address */

static uintptr_t machine[32];
static struct metadata_method outer = {.function_id = 0x7f0010};
static struct metadata_method inner = {
    .function_id = 0x7f0020, .collectible = true, .unmanaged_callers = true};
static sem_t entered, may_leave, has_left, may_end;
static unsigned walks; /* so far */
static hresult answer; /* of each walk */
static uint32_t os_thread;
static unsigned given; /* threads, of an enumeration */

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&machine[COUNT_OF(machine) - 1 - 4 * level];
}

static struct clr_thread_enum_vtbl enum_vtbl;
static struct clr_thread_enum enumerator = {&enum_vtbl};
static struct clr_info_vtbl vtbl;
static struct clr_info info = {&vtbl};

static hresult next(struct clr_thread_enum *self, uint32_t most, uintptr_t *ids, uint32_t *got)
{
    (void)self, (void)most;
    *ids = 1;
    *got = given++ == 0;
    return S_OK;
}

static uint32_t release(struct clr_thread_enum *self)
{
    (void)self;
    return 0;
}

static hresult suspend(struct clr_info *self)
{
    (void)self;
    given = 0;
    return S_OK;
}

static hresult resume(struct clr_info *self)
{
    (void)self;
    return S_OK;
}

static hresult enumerate(struct clr_info *self, struct clr_thread_enum **out)
{
    (void)self;
    *out = &enumerator;
    return S_OK;
}

static hresult thread_info(struct clr_info *self, uintptr_t id, uint32_t *out)
{
    (void)self, (void)id;
    *out = os_thread;
    return S_OK;
}

static hresult walk(struct clr_info *self, uintptr_t thread, clr_stack_snapshot_callback *each,
                    uint32_t flags, void *context, const uint8_t *seed, uint32_t size)
{
    static const uint8_t registers[2048];

    (void)self, (void)flags, (void)seed, (void)size;
    if (!thread)
        return S_OK; /* the first of a process, of no stopped thread */
    if (answer != S_OK || walks++)
        return answer == S_OK ? E_NOTIMPL : answer;
    return each(outer.function_id, 0, 0, sizeof(registers), registers, context);
}

/* Asked between the copy of the thread's shadow stack and the proofs: now it leaves. */
static hresult function_from_ip(struct clr_info *self, const uint8_t *ip, uintptr_t *function,
                                uintptr_t *rejit)
{
    (void)self, (void)rejit;
    *function = 0;
    if ((uintptr_t)ip != FROM_NATIVE)
        return S_OK; /* where the thread waits by now */
    sem_post(&may_leave);
    sem_wait(&has_left);
    return E_FAIL;
}

static hresult no_function(struct clr_info *self, const uint8_t *ip, uintptr_t *function)
{
    (void)self, (void)ip, (void)function;
    return E_FAIL;
}

static hresult no_info(struct clr_info *self, uintptr_t function, uintptr_t frame, uintptr_t *type,
                       uintptr_t *module, uint32_t *token, uint32_t most, uint32_t *count,
                       uintptr_t *args)
{
    (void)self, (void)function, (void)frame, (void)type, (void)module, (void)token;
    (void)most, (void)count, (void)args;
    return E_FAIL;
}

static void *outer_and_inner(void *context)
{
    (void)context;
    os_thread = (uint32_t)syscall(SYS_gettid);
    stack_enter((uintptr_t)&outer, sp_of(1));
    stack_enter((uintptr_t)&inner, sp_of(2));
    sem_post(&entered);
    sem_wait(&may_leave);
    stack_leave((uintptr_t)&inner, sp_of(2));
    sem_post(&has_left);
    sem_wait(&may_end);
    return NULL;
}

/* A few stops, with each walk refused like this: what is counted. */
static void stop_with(hresult refusal, struct agreement *agreement)
{
    const struct metadata_config nothing = {.info = &info};
    /* Not freed: a thread of the tracer lives as long as its process, and may be ending still. */
    struct event_hub *hub = memory_zalloc(1, sizeof(*hub));
    static _Atomic(uint64_t) spared;
    struct check_config checked = {.info = &info, .agreement = agreement, .spared = &spared};
    struct check_threads_config config = {.info = &info,
                                          .agreement = &agreement->threads,
                                          .seeds = &agreement->seeds,
                                          .hub = hub,
                                          .interval_ms = 1};
    struct check_threads *t;

    answer = refusal;
    hub->slots = 64;
    assert_int_equal(metadata_new(&nothing, &checked.metadata), 0);
    assert_int_equal(check_new(&checked, &config.check), 0);
    assert_int_equal(check_threads_new(&config, &t), 0);
    assert_int_equal(check_threads_start(t), 0);
    for (uint64_t until = clock_ns() + PATIENCE * UINT64_C(1000000);
         load_relaxed(&agreement->threads.stops) < STOPS && clock_ns() < until;)
        usleep(1000);
    check_threads_stop(t, PATIENCE);
    assert_true(load_relaxed(&agreement->threads.walked) >= STOPS);
}

TEST(a_walk_that_the_runtime_forbids_is_no_difference)
{
    static struct agreement agreement;
    struct agreement_threads *threads = &agreement.threads;

    stop_with(CORPROF_E_STACKSNAPSHOT_UNSAFE, &agreement);
    assert_int_equal(load_relaxed(&threads->unsafe), load_relaxed(&threads->walked));
    assert_int_equal(load_relaxed(&threads->mismatched), 0);
}

TEST(a_walk_that_failed_is_one)
{
    static struct agreement agreement;
    struct agreement_threads *threads = &agreement.threads;

    stop_with(E_FAIL, &agreement);
    assert_int_equal(load_relaxed(&threads->mismatched), load_relaxed(&threads->walked));
    assert_int_equal(load_relaxed(&threads->unsafe), 0);
}

/*
 * A method for unmanaged callers is let out before its Leave hook: while the runtime is suspended the thread goes on to
 * where the walk says that it is.
 */
TEST(a_thread_that_leaves_while_it_is_looked_at_is_no_difference)
{
    static struct agreement agreement;
    struct agreement_threads *threads = &agreement.threads;
    pthread_t thread;

    sem_init(&entered, 0, 0);
    sem_init(&may_leave, 0, 0);
    sem_init(&has_left, 0, 0);
    sem_init(&may_end, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, outer_and_inner, NULL), 0);
    sem_wait(&entered);
    while (!test_sleeps((pid_t)os_thread)) /* else it counts as on its way in */
        usleep(100);
    stop_with(S_OK, &agreement);
    sem_post(&may_end);
    pthread_join(thread, NULL);
    if (load_relaxed(&agreement.seeds.missing))
        skip(); /* without libunwind the thread counts as on its way in */
    assert_int_equal(load_relaxed(&threads->mismatched), 0);
    assert_int_equal(load_relaxed(&threads->leaving), 1);
}

static int start(void **state)
{
    static const struct stack_config config;

    (void)state;
    clock_start();
    enum_vtbl.next = next;
    enum_vtbl.release = release;
    vtbl.suspend_runtime = suspend;
    vtbl.resume_runtime = resume;
    vtbl.enum_threads = enumerate;
    vtbl.get_thread_info = thread_info;
    vtbl.do_stack_snapshot = walk;
    vtbl.get_function_info2 = no_info;
    vtbl.get_function_from_ip = no_function;
    vtbl.get_function_from_ip3 = function_from_ip;
    os_thread = (uint32_t)syscall(SYS_gettid);
    if (stack_start(&config))
        return -1;
    ((uintptr_t *)sp_of(2))[-1] = FROM_NATIVE;
    stack_enter((uintptr_t)&outer, sp_of(1));
    return 0;
}

TEST_GROUP(start, NULL);
