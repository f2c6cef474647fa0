/* Native frames of a thread that waits, by libunwind. */
#include "check/native.h"

#include "base/atomics.h"
#include "support/test.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static struct native *native;
static _Atomic(uint32_t) waiter;
static int gate[2];

/* As the C library is: who keeps a frame pointer in these two frames needs a register that the system does not tell. */
#define WITHOUT_FRAME_POINTER __attribute__((noinline, optimize("omit-frame-pointer")))

/* Its caller's instruction is what the walk is to find. */
static WITHOUT_FRAME_POINTER char wait_here(void)
{
    char got = 0;

    store_release(&waiter, (uint32_t)syscall(SYS_gettid));
    assert_int_equal(read(gate[0], &got, 1), 1);
    return got;
}

static WITHOUT_FRAME_POINTER void *wait_main(void *argument)
{
    (void)argument;
    (void)wait_here();
    return NULL;
}

static bool in_wait_main(void *context, uintptr_t ip)
{
    (void)context;
    return ip > (uintptr_t)wait_main && ip < (uintptr_t)wait_main + 64;
}

static bool nowhere(void *context, uintptr_t ip)
{
    (void)context, (void)ip;
    return false;
}

static int setup(void **state)
{
    (void)state;
    return native_new(&native);
}

static int teardown(void **state)
{
    (void)state;
    native_free(native);
    return 0;
}

TEST_GROUP(setup, teardown);

TEST(a_waiting_thread_is_walked_to_its_caller)
{
    struct native_registers found;
    enum native_result result = NATIVE_RUNS;
    pthread_t thread;

    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_main, NULL), 0);
    while (!load_acquire(&waiter))
        usleep(100);
    for (unsigned i = 0; i < 100000 && result == NATIVE_RUNS; i++) { /* until it waits */
        result = native_first(native, load_acquire(&waiter), in_wait_main, NULL, &found);
        usleep(1000);
    }
    assert_int_equal(result, NATIVE_FOUND);
    assert_true(found.known >> CPU_SP & 1);
    assert_int_equal(native_first(native, load_acquire(&waiter), nowhere, NULL, &found),
                     NATIVE_LOST);
    assert_int_equal(write(gate[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(gate[0]);
    close(gate[1]);
}

static _Atomic(bool) stop;

static void *run_main(void *argument)
{
    (void)argument;
    store_release(&waiter, (uint32_t)syscall(SYS_gettid));
    while (!load_acquire(&stop))
        ;
    return NULL;
}

TEST(a_thread_that_runs_has_no_registers)
{
    struct native_registers found;
    pthread_t thread;

    store_release(&waiter, 0);
    assert_int_equal(pthread_create(&thread, NULL, run_main, NULL), 0);
    while (!load_acquire(&waiter))
        usleep(100);
    assert_int_equal(native_first(native, load_acquire(&waiter), nowhere, NULL, &found),
                     NATIVE_RUNS);
    store_release(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(native_first(native, 0x7fffffff, nowhere, NULL, &found),
                     NATIVE_RUNS); /* no such thread */
}

/* Registers of this very frame, whose callers are looked for by the frame pointer. */
static struct native_registers here(void)
{
    struct native_registers r = {{0}, (UINT64_C(1) << CPU_REGISTERS) - 1};
    ucontext_t context;

    getcontext(&context);
    r.value[3] = (uint64_t)context.uc_mcontext.gregs[REG_RBX];
    r.value[CPU_FP] = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
    r.value[CPU_SP] = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
    r.value[CPU_IP] = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
    return r;
}

TEST(a_run_ends_at_its_end_and_outside_of_all_images)
{
    struct native_registers r = here();
    uintptr_t ip[8];

    assert_true(native_run(native, &r, UINTPTR_MAX, ip, 8) >= 1);
    assert_int_equal(ip[0], r.value[CPU_IP]);
    assert_int_equal(native_run(native, &r, r.value[CPU_SP], ip, 8), 0);
    r.value[CPU_IP] = 16;
    assert_int_equal(native_run(native, &r, UINTPTR_MAX, ip, 8), 0);
}

/* What lies at the end of the address space is not read, and no sum goes around it. */
TEST(a_frame_pointer_may_be_anything)
{
    struct native_registers r = here();
    uintptr_t ip[8];

    for (uint64_t below = 0; below < 64; below++) {
        r.value[CPU_FP] = 0 - below;
        assert_in_range(native_run(native, &r, UINTPTR_MAX, ip, 8), 1, 8);
    }
    for (uint64_t below = 0; below < 64; below++) {
        r.value[CPU_SP] = 0 - below;
        (void)native_run(native, &r, UINTPTR_MAX, ip, 8);
    }
}
