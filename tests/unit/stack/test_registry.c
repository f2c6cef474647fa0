/*
 * Stacks of many threads: attached at the first frame, given up at the thread's end, counted for ever, freed one
 * grace period later. Assertions run on the main thread only; other threads note what they saw.
 */
#include "stack/stack_hot.h"

#include "base/clock.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVELS       5000u
#define STRIDE       2u
#define FIRST_FRAMES 1000u
#define CHURN_NS     700000000u

static const uintptr_t function = 0x7f0000;

struct machine {
    uintptr_t words[(LEVELS + 2) * STRIDE];
};

static uintptr_t sp_of(struct machine *m, unsigned level)
{
    return (uintptr_t)&m->words[(LEVELS + 1 - level) * STRIDE];
}

/* Calls nested `depth` deep, and back: 2 * depth calls. */
static void dive(struct machine *m, unsigned depth)
{
    for (unsigned i = 1; i <= depth; i++)
        stack_enter((uintptr_t)&function, sp_of(m, i));
    for (unsigned i = depth; i >= 1; i--)
        stack_leave((uintptr_t)&function, sp_of(m, i));
}

/* ---- what the folder above keeps on a stack ---- */

static _Atomic(unsigned) detached_count, detached_with_data;
static pthread_key_t
    later_key; /* made after the stack's own: its destructor runs after the stack's */

static void on_detached(void *context, struct stack *s)
{
    (void)context;
    add_relaxed(&detached_count, 1);
    if (s->thread)
        add_relaxed(&detached_with_data, 1);
    memory_free(s->thread);
    s->thread = NULL;
}

/* ---- one thread ---- */

struct task {
    unsigned depth;
    bool keep_open; /* ends with its frames on the stack */
    bool with_data;
    bool enter_in_destructor;
    struct machine machine;
    /* what it saw */
    struct stack *stack;
    uint32_t os_thread, own_os_thread;
    uint32_t depth_seen;
    bool had_none_before;
};

static void *work(void *context)
{
    struct task *task = context;

    task->had_none_before = stack_peek() == NULL;
    dive(&task->machine, task->depth);
    if (task->keep_open)
        for (unsigned i = 1; i <= task->depth; i++)
            stack_enter((uintptr_t)&function, sp_of(&task->machine, i));
    task->stack = stack_current();
    task->depth_seen = stack_depth(task->stack);
    task->os_thread = stack_os_thread(task->stack);
    task->own_os_thread = (uint32_t)syscall(SYS_gettid);
    if (task->with_data)
        task->stack->thread = memory_alloc(1);
    if (task->enter_in_destructor)
        pthread_setspecific(later_key, task);
    return NULL;
}

/* Managed code that runs while the thread's other data is being destroyed. */
static void work_in_destructor(void *context)
{
    struct task *task = context;

    task->had_none_before = stack_peek() == NULL;
    dive(&task->machine, 3);
}

/* Calls and nothing else. */
static void *quiet_thread(void *context)
{
    struct task *task = context;

    dive(&task->machine, task->depth);
    return NULL;
}

static struct task *task_new(unsigned depth)
{
    struct task *task = test_calloc(1, sizeof(*task));

    task->depth = depth;
    return task;
}

static void run(struct task *task)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, work, task), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct stack_totals totals(void)
{
    struct stack_totals t;

    stack_totals_read(&t);
    return t;
}

static void reclaim_all(void)
{
    while (stack_reclaim())
        ;
}

/* ---- tests ---- */

TEST(a_thread_gets_a_stack_at_its_first_frame)
{
    struct stack_totals before = totals();
    struct task *task = task_new(5);

    run(task);
    assert_true(task->had_none_before);
    assert_non_null(task->stack);
    assert_ptr_not_equal(task->stack, &stack_none);
    assert_int_equal(task->os_thread, task->own_os_thread);
    assert_int_equal(totals().threads, before.threads + 1);
    test_free(task);
}

TEST(threads_at_the_same_time_have_stacks_of_their_own)
{
    enum { THREADS = 16 };
    struct task *tasks[THREADS];
    pthread_t threads[THREADS];
    struct stack_totals before = totals(), after;

    for (unsigned i = 0; i < THREADS; i++) {
        tasks[i] = task_new(10 + i);
        tasks[i]->keep_open = true;
        assert_int_equal(pthread_create(&threads[i], NULL, work, tasks[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(tasks[i]->depth_seen, 10 + i);
        for (unsigned j = 0; j < i; j++) /* nothing was reclaimed yet */
            assert_ptr_not_equal(tasks[i]->stack, tasks[j]->stack);
    }
    after = totals();
    assert_int_equal(after.threads, before.threads + THREADS);
    assert_int_equal(after.calls, before.calls + 3 * (THREADS * 10 + THREADS * (THREADS - 1) / 2));
    for (unsigned i = 0; i < THREADS; i++)
        test_free(tasks[i]);
}

TEST(totals_include_threads_that_ended)
{
    struct stack_totals before = totals(), after;
    struct task *task = task_new(7);

    task->keep_open = true;
    run(task);
    after = totals();
    assert_int_equal(after.calls, before.calls + 21);
    reclaim_all();
    after = totals();
    assert_int_equal(after.calls, before.calls + 21);
    assert_int_equal(after.threads, before.threads + 1);
    test_free(task);
}

TEST(the_folder_above_is_told_when_a_thread_ends)
{
    struct task *task = task_new(1);
    unsigned count = load_relaxed(&detached_count), with_data = load_relaxed(&detached_with_data);

    task->with_data = true;
    run(task);
    assert_int_equal(load_relaxed(&detached_count), count + 1);
    assert_int_equal(load_relaxed(&detached_with_data), with_data + 1);
    test_free(task);
}

TEST(a_thread_that_enters_after_its_stack_went_gets_a_new_one)
{
    struct stack_totals before = totals(), after;
    struct task *task = task_new(2);
    unsigned count = load_relaxed(&detached_count);

    task->enter_in_destructor = true;
    run(task);
    assert_true(task->had_none_before);
    after = totals();
    assert_int_equal(after.threads, before.threads + 2);
    assert_int_equal(after.calls, before.calls + 4 + 6);
    assert_int_equal(load_relaxed(&detached_count), count + 2); /* the new one is given up, too */
    reclaim_all();
    assert_int_equal(totals().calls, after.calls);
    test_free(task);
}

static bool mapped(const void *address)
{
    uintptr_t page = (uintptr_t)address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    unsigned char resident;

    return mincore((void *)page, 1, &resident) == 0 || errno != ENOMEM;
}

TEST(reclaiming_gives_back_outgrown_storage)
{
    struct machine *m = test_calloc(1, sizeof(*m));
    const struct stack_block *old;

    dive(m, 1);
    reclaim_all();
    old = load_relaxed(&stack_current()->block);
    dive(m, FIRST_FRAMES + 1);
    assert_ptr_not_equal(load_relaxed(&stack_current()->block), old);
    assert_true(mapped(old));
    assert_true(stack_reclaim());
    assert_false(mapped(old));
    assert_false(stack_reclaim());
    assert_true(mapped(load_relaxed(&stack_current()->block)));
    test_free(m);
}

TEST(reclaiming_gives_back_the_stacks_of_ended_threads)
{
    struct task *task = task_new(FIRST_FRAMES + 1);

    reclaim_all();
    run(task);
    assert_true(mapped(task->stack));
    assert_true(stack_reclaim());
    assert_false(mapped(task->stack));
    assert_false(stack_reclaim());
    test_free(task);
}

TEST(a_thread_without_memory_for_a_stack_is_counted)
{
    struct stack_totals before = totals(), after;
    struct task *task = task_new(3);
    pthread_t thread;

    memory_fail_after(0);
    assert_int_equal(pthread_create(&thread, NULL, quiet_thread, task), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    memory_fail_after(-1);
    after = totals();
    assert_int_equal(after.refused, before.refused + 1); /* not asked again while it is in there */
    assert_int_equal(after.threads, before.threads);
    test_free(task);
}

/* ---- churn: threads that grow and end, a reader, a reclaimer, all at once ---- */

struct churn {
    uint64_t until;
    _Atomic(bool) over;
    _Atomic(uint64_t)
        promised; /* calls that a thread is about to make, added before the first of them */
    _Atomic(uint64_t) threads, fell, too_many, reads, reclaims;
};

/* For some time, and until everybody has had a turn: which on a busy machine comes late. */
static bool churn_is_enough(struct churn *churn)
{
    return clock_ns() >= churn->until && load_relaxed(&churn->threads) > 0 &&
           load_relaxed(&churn->reads) > 0 && load_relaxed(&churn->reclaims) > 0;
}

static void *churn_spawner(void *context)
{
    struct churn *churn = context;
    struct task *task = memory_zalloc(1, sizeof(*task));
    pthread_t thread;

    for (unsigned i = 0; task && !churn_is_enough(churn); i++) {
        task->depth = i % 3 ? 50 : 3 * FIRST_FRAMES; /* grows twice */
        add_relaxed(&churn->promised, 2 * task->depth);
        if (pthread_create(&thread, NULL, quiet_thread, task) || pthread_join(thread, NULL))
            break;
        add_relaxed(&churn->threads, 1);
    }
    memory_free(task);
    return NULL;
}

static void *churn_reader(void *context)
{
    struct churn *churn = context;
    struct stack_totals last = totals(), now;

    while (!load_acquire(&churn->over)) {
        now = totals();
        if (now.calls < last.calls)
            add_relaxed(&churn->fell, 1);
        if (now.calls > atomic_load(&churn->promised))
            add_relaxed(&churn->too_many, 1);
        add_relaxed(&churn->reads, 1);
        last = now;
    }
    return NULL;
}

static void *churn_reclaimer(void *context)
{
    struct churn *churn = context;

    while (!load_acquire(&churn->over))
        if (stack_reclaim())
            add_relaxed(&churn->reclaims, 1);
    return NULL;
}

static void run_churn(struct churn *churn)
{
    pthread_t spawner[2], reader, reclaimer;

    churn->until = clock_ns() + CHURN_NS;
    atomic_store(&churn->promised, totals().calls);
    assert_int_equal(pthread_create(&reader, NULL, churn_reader, churn), 0);
    assert_int_equal(pthread_create(&reclaimer, NULL, churn_reclaimer, churn), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&spawner[i], NULL, churn_spawner, churn), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(spawner[i], NULL);
    store_release(&churn->over, true);
    pthread_join(reader, NULL);
    pthread_join(reclaimer, NULL);
}

TEST(stacks_come_and_go_while_others_read_and_reclaim)
{
    struct churn churn = {0};
    struct stack_totals before = totals(), after;

    run_churn(&churn);
    assert_true(load_relaxed(&churn.threads) > 0);
    assert_true(load_relaxed(&churn.reads) > 0);
    assert_true(load_relaxed(&churn.reclaims) > 0);
    after = totals();
    assert_int_equal(after.calls, load_relaxed(&churn.promised));
    assert_int_equal(after.threads, before.threads + load_relaxed(&churn.threads));
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        assert_int_equal(after.repairs[i], before.repairs[i]);
    reclaim_all();
    assert_int_equal(totals().calls, after.calls);
}

TEST(totals_never_fall_and_never_count_a_thread_twice)
{
    struct churn churn = {0};

    run_churn(&churn);
    assert_int_equal(load_relaxed(&churn.fell), 0);
    assert_int_equal(load_relaxed(&churn.too_many), 0);
}

static int start(void **state)
{
    const struct stack_config config = {.detached = on_detached};

    (void)state;
    clock_start();
    return stack_start(&config) || pthread_key_create(&later_key, work_in_destructor);
}

static int reclaimed(void **state)
{
    (void)state;
    memory_fail_after(-1);
    reclaim_all();
    return 0;
}

TEST_EACH(NULL, reclaimed);
TEST_GROUP(start, NULL);
