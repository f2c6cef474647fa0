#include "clr/event_mask.h"

#include "base/atomics.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define ROUNDS  2000u
#define THREADS 4

static _Atomic(uint32_t) low, high;
static hresult answer;

static hresult get(struct clr_info *self, uint32_t *low_out, uint32_t *high_out)
{
    (void)self;
    *low_out = load_relaxed(&low);
    *high_out = load_relaxed(&high);
    sched_yield(); /* a good place for another change */
    return answer;
}

static hresult set(struct clr_info *self, uint32_t new_low, uint32_t new_high)
{
    (void)self;
    store_relaxed(&low, new_low);
    store_relaxed(&high, new_high);
    return S_OK;
}

static struct clr_info_vtbl vtbl = {.get_event_mask2 = get, .set_event_mask2 = set};
static struct clr_info info = {.vtbl = &vtbl};

static int setup(void **state)
{
    (void)state;
    low = high = 0;
    answer = S_OK;
    return 0;
}

TEST_EACH(setup, NULL);

/* One bit, up and down; it is nobody else's, so it is as this thread left it. */
static void *flip(void *argument)
{
    uint32_t bit = *(const uint32_t *)argument;

    for (unsigned i = 0; i < ROUNDS; i++) {
        clr_event_mask_change(&info, 0, bit);
        if (!(load_relaxed(&low) & bit))
            return "lost while it was to be up";
        clr_event_mask_change(&info, bit, 0);
        if (load_relaxed(&low) & bit)
            return "up while it was to be down";
    }
    return NULL;
}

TEST(changes_at_once_are_all_made)
{
    uint32_t bits[THREADS] = {1, 2, 1u << 13, 1u << 31};
    pthread_t threads[THREADS];
    void *what;

    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, flip, &bits[i]), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &what);
        assert_null(what);
    }
    assert_int_equal(low, 0);
}

TEST(other_bits_stay)
{
    low = 0x0f;
    high = 0x5;
    assert_int_equal(clr_event_mask_change(&info, 0x3, 0x21), S_OK); /* clears first */
    assert_int_equal(low, 0x2d);
    assert_int_equal(high, 0x5);
}

TEST(what_cannot_be_read_is_not_written)
{
    low = 0x0f;
    answer = E_FAIL;
    assert_int_equal(clr_event_mask_change(&info, 0xf, 0), E_FAIL);
    assert_int_equal(low, 0x0f);
}
