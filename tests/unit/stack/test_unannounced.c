/* Stacks of threads whose end no destructor tells: after attaching, the library may be gone by then. */
#include "stack/stack_hot.h"

#include "base/atomics.h"
#include "support/test.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic(unsigned) detached_count;

static void on_detached(void *context, struct stack *s)
{
    (void)context, (void)s;
    add_relaxed(&detached_count, 1);
}

static int group_start(void **state)
{
    const struct stack_config config = {.detached = on_detached, .unannounced = true};

    (void)state;
    return stack_start(&config);
}

TEST_GROUP(group_start, NULL);

static unsigned listed(void)
{
    unsigned count = 0;

    for (struct stack *s = stack_registry(); s; s = load_acquire(&s->next))
        count++;
    return count;
}

static void *attach(void *os)
{
    *(uint32_t *)os = (uint32_t)syscall(SYS_gettid);
    return stack_current() ? os : NULL;
}

static void *attach_and_tell(void *os)
{
    struct stack *first = stack_current();

    attach(os);
    stack_thread_ended(*(uint32_t *)os);
    return !stack_peek() && stack_current() != first ? os : NULL; /* it may come back */
}

TEST(a_thread_that_ends_leaves_its_stack_until_somebody_tells)
{
    uint32_t os = 0;
    pthread_t thread;
    void *seen;

    assert_int_equal(pthread_create(&thread, NULL, attach, &os), 0);
    pthread_join(thread, &seen);
    assert_non_null(seen);
    assert_false(stack_reclaim());
    assert_int_equal(listed(), 1);
    stack_thread_ended(os + 1); /* another one */
    assert_int_equal(detached_count, 0);
    stack_thread_ended(os);
    stack_thread_ended(os); /* once is enough */
    assert_int_equal(detached_count, 1);
    assert_true(stack_reclaim());
    assert_int_equal(listed(), 0);
}

TEST(a_thread_that_tells_of_itself_may_begin_anew)
{
    uint32_t os = 0;
    pthread_t thread;
    void *seen;

    store_relaxed(&detached_count, 0);
    assert_int_equal(pthread_create(&thread, NULL, attach_and_tell, &os), 0);
    pthread_join(thread, &seen);
    assert_non_null(seen);
    assert_int_equal(detached_count, 1);
    stack_thread_ended(os);
    assert_int_equal(detached_count, 2);
    assert_true(stack_reclaim());
}
