/* The queue of events that wait: what goes in comes out, in order, however much waits meanwhile. */
#include "fixture.h"
#include "support/test.h"

static struct log *log_;
static struct log_deferred queue;

static int setup(void **state)
{
    (void)state;
    log_ = memory_zalloc(1, sizeof(*log_));
    queue = (struct log_deferred){0};
    return log_ ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    while (log_deferred_oldest(&queue))
        log_deferred_pop(log_, &queue);
    log_deferred_free(log_->spare);
    memory_free(log_);
    return 0;
}

TEST_EACH(setup, teardown);

static void push(uint64_t number)
{
    const struct event event = {.ticks = number};

    assert_int_equal(log_deferred_push(log_, &queue, &event), 0);
}

static void pop(uint64_t number)
{
    assert_non_null(log_deferred_oldest(&queue));
    assert_int_equal(log_deferred_oldest(&queue)->ticks, number);
    log_deferred_pop(log_, &queue);
}

TEST(events_come_out_in_order)
{
    uint64_t in = 0, out = 0, random = 88172645463325252u;

    for (unsigned round = 0; round < 400; round++) {
        unsigned count;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        count = (unsigned)(random % 3000);
        for (unsigned i = 0; i < count && (round & 1); i++)
            push(in++);
        for (unsigned i = 0; i < count && !(round & 1) && out < in; i++)
            pop(out++);
        assert_int_equal(log_->deferred, in - out);
    }
    while (out < in)
        pop(out++);
    assert_null(log_deferred_oldest(&queue));
    assert_int_equal(log_->deferred, 0);
}

TEST(what_there_is_no_memory_for_is_refused)
{
    const struct event event = {.ticks = 0};
    uint64_t in = 0, out = 0;

    push(in++);
    memory_fail_after(0);
    while (log_deferred_push(log_, &queue, &(struct event){.ticks = in}) == 0)
        in++;
    memory_fail_after(-1);
    assert_true(in > 1);
    assert_int_equal(log_->deferred, in);
    while (out < in)
        pop(out++);
    memory_fail_after(0);
    assert_int_equal(log_deferred_push(log_, &queue, &event), 0); /* in the block just left */
}
