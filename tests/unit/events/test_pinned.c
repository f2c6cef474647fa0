/* Which exceptions are pinned, as searches begin, end, and lie inside of one another. */
#include "events/pinned.h"

#include "support/test.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

static unsigned pinned_now; /* a bit for each object that is */

static hresult create(struct clr_info *self, uintptr_t object, int32_t type, void ***handle)
{
    (void)self;
    assert_int_equal(type, COR_PRF_HANDLE_TYPE_PINNED);
    pinned_now |= 1u << object;
    *handle = (void **)(object << 4);
    return S_OK;
}

static hresult destroy(struct clr_info *self, void **handle)
{
    (void)self;
    pinned_now &= ~(1u << ((uintptr_t)handle >> 4));
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {.create_handle = create, .destroy_handle = destroy};
static struct clr_info info = {&vtbl};

/* From that many frames further down. */
static __attribute__((noinline)) void throw_at(unsigned frames, uintptr_t object)
{
    if (frames)
        throw_at(frames - 1, object);
    else
        pinned_thrown(object);
    __asm__ volatile("" ::: "memory"); /* no tail calls */
}

static void begin(void)
{
    static struct event_hub hub = {.slots = 8, .drop = true};
    static const struct clr_runtime runtime = {.major = 10, .info = &info, .info_version = 13};
    static const struct stack_config stacks = {0};

    assert_int_equal(stack_start(&stacks), 0);
    thread_init(&hub);
    pinned_start(&runtime);
}

TEST(a_search_inside_a_filter_ends_before_the_one_around_it)
{
    begin();
    throw_at(0, 1);
    pinned_filter_enter();
    throw_at(10, 2); /* is caught */
    assert_int_equal(pinned_now, 1u << 1 | 1u << 2);
    pinned_found();
    assert_int_equal(pinned_now, 1u << 1);
    throw_at(10, 3); /* leaves the filter */
    pinned_filter_leave();
    assert_int_equal(pinned_now, 1u << 1);
    pinned_found();
    assert_int_equal(pinned_now, 0);
    pinned_found(); /* of one that nobody saw thrown */
}

TEST(a_search_that_was_given_up_ends_with_the_next_throw_from_an_older_frame)
{
    begin();
    throw_at(10, 1); /* into native code, which catches it */
    throw_at(20, 2); /* inside of it: a handler of first-chance exceptions */
    assert_int_equal(pinned_now, 1u << 1 | 1u << 2);
    throw_at(0, 3);
    assert_int_equal(pinned_now, 1u << 3);
    pinned_thread_ended(stack_peek());
    assert_int_equal(pinned_now, 0);
}

TEST(none_is_pinned_beyond_the_table_and_after_the_stop)
{
    begin();
    for (size_t i = 0; i < PINNED_MOST + 1; i++)
        throw_at((unsigned)i, 1 + i % 2);
    for (size_t i = 0; i < PINNED_MOST; i++)
        pinned_found();
    assert_int_equal(pinned_now, 0);
    throw_at(0, 1);
    pinned_stop();
    assert_int_equal(pinned_now, 0);
    throw_at(10, 2);
    assert_int_equal(pinned_now, 0);
    pinned_found();
}
