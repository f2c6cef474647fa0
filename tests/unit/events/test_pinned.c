/* Which exceptions are pinned, as searches begin, end, and lie inside of one another. */
#include "events/pinned.h"

#include "support/test.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>
#include <unistd.h>

#define FRAME 4000 /* bytes of stack: two are less than lies between an exception and one inside */

static unsigned pinned_now; /* a bit for each object that is */
static uint32_t reported = COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_THREADS;
static void (*creating)(void);
static _Atomic(bool) detaching;

static hresult create(struct clr_info *self, uintptr_t object, int32_t type, void ***handle)
{
    (void)self;
    assert_int_equal(type, COR_PRF_HANDLE_TYPE_PINNED);
    if (creating)
        creating();
    pinned_now |= 1u << object;
    *handle = (void **)(object << 4);
    return S_OK;
}

static hresult destroy(struct clr_info *self, void **handle)
{
    (void)self;
    if (detaching)
        return CORPROF_E_PROFILER_DETACHING;
    pinned_now &= ~(1u << ((uintptr_t)handle >> 4));
    return S_OK;
}

static hresult mask(struct clr_info *self, uint32_t *low, uint32_t *high)
{
    (void)self;
    *low = reported;
    *high = 0;
    return S_OK;
}

static hresult mask_set(struct clr_info *self, uint32_t low, uint32_t high)
{
    (void)self, (void)high;
    assert_int_not_equal(pinned_now, 0); /* pins end after that */
    reported = low;
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {.create_handle = create,
                                          .destroy_handle = destroy,
                                          .get_event_mask2 = mask,
                                          .set_event_mask2 = mask_set};
static struct clr_info info = {&vtbl};

static void object_thrown(uintptr_t object)
{
    pinned_thrown(object);
}

static void searched(uintptr_t object)
{
    (void)object;
    pinned_searched();
}

static void found(uintptr_t object)
{
    (void)object;
    pinned_found();
}

/* A callback from that many frames further down. */
static __attribute__((noinline)) void at(unsigned frames, void (*callback)(uintptr_t),
                                         uintptr_t object)
{
    volatile char frame[FRAME];

    frame[0] = 0;
    if (frames)
        at(frames - 1, callback, object);
    else
        callback(object);
    frame[1] = frame[0]; /* no tail calls */
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
    at(0, object_thrown, 1);
    at(0, searched, 0);      /* enters a filter */
    at(2, object_thrown, 2); /* is caught */
    assert_int_equal(pinned_now, 1u << 1 | 1u << 2);
    at(2, found, 0);
    assert_int_equal(pinned_now, 1u << 1);
    at(2, object_thrown, 3); /* leaves the filter */
    at(0, searched, 0);
    assert_int_equal(pinned_now, 1u << 1);
    at(0, found, 0);
    assert_int_equal(pinned_now, 0);
    at(0, found, 0); /* of one that nobody saw thrown */
}

TEST(a_filter_that_nobody_saw_entered_ends_no_search_around_it)
{
    begin();
    at(0, object_thrown, 1);
    at(0, searched, 0);
    at(2, object_thrown, 2);
    at(2, searched, 0); /* a dynamic method's filter is left */
    assert_int_equal(pinned_now, 1u << 1 | 1u << 2);
    at(2, found, 0);
    at(0, searched, 0);
    assert_int_equal(pinned_now, 1u << 1);
}

TEST(a_search_that_ended_silently_inside_another_one_ends_with_the_next_callback_of_that)
{
    begin();
    at(0, object_thrown, 1);
    at(2, object_thrown, 2); /* in a handler of first-chance exceptions */
    at(0, searched, 0);
    assert_int_equal(pinned_now, 1u << 1);
    at(2, object_thrown, 2);
    at(0, found, 0);
    assert_int_equal(pinned_now, 0);
}

TEST(a_search_that_was_given_up_ends_with_the_next_throw_from_an_older_frame)
{
    begin();
    at(2, object_thrown, 1); /* into native code, which catches it */
    at(4, object_thrown, 2); /* inside of it: a handler of first-chance exceptions */
    assert_int_equal(pinned_now, 1u << 1 | 1u << 2);
    at(0, object_thrown, 3);
    assert_int_equal(pinned_now, 1u << 3);
    pinned_thread_ended(stack_peek());
    assert_int_equal(pinned_now, 0);
}

TEST(none_is_pinned_beyond_the_table)
{
    begin();
    for (size_t i = 0; i < PINNED_MOST + 1; i++)
        at((unsigned)i, object_thrown, 1 + i % 2);
    for (size_t i = PINNED_MOST; i-- > 0;)
        at((unsigned)i, found, 0);
    assert_int_equal(pinned_now, 0);
}

static pthread_t leaver;

/* The runtime destroys no handle once the detachment has been asked for. */
static void *leave(void *unused)
{
    (void)unused;
    pinned_stop();
    detaching = true;
    return NULL;
}

static void leave_meanwhile(void)
{
    assert_int_equal(pthread_create(&leaver, NULL, leave, NULL), 0);
    usleep(50000);
}

TEST(none_is_pinned_after_the_stop_which_waits_for_a_throw_that_is_pinning)
{
    begin();
    at(0, object_thrown, 1);
    creating = leave_meanwhile;
    at(2, object_thrown, 2);
    assert_int_equal(pthread_join(leaver, NULL), 0);
    assert_int_equal(reported, COR_PRF_MONITOR_THREADS);
    assert_int_equal(pinned_now, 0);
    at(4, object_thrown, 3);
    assert_int_equal(pinned_now, 0);
    at(0, found, 0);
}
