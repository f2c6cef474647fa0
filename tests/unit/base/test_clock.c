/*
 * Ticks and nanoseconds. A thread may be put aside between two clock readings for any time, so each comparison is
 * tried again a few times: a clock that is wrong is wrong every time.
 */
#include "base/clock.h"
#include "support/test.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define TRIES        1000 /* one of them runs undisturbed */
#define TOLERANCE_NS 200000

static void pause_ms(long ms)
{
    const struct timespec span = {0, ms * 1000000};

    nanosleep(&span, NULL);
}

/* Whether a tick of now converts to now. */
static bool now_converts(void)
{
    uint64_t before = clock_ns(), ticks = clock_ticks(), after = clock_ns();
    uint64_t ns = clock_ticks_to_ns(ticks);

    return ns + TOLERANCE_NS >= before && ns <= after + TOLERANCE_NS;
}

TEST(a_tick_converts_to_its_own_time)
{
    bool good = false;

    for (int i = 0; i < TRIES && !good; i++) {
        pause_ms(5);
        clock_calibrate();
        pause_ms(2);
        good = now_converts();
    }
    assert_true(good);
}

TEST(a_tick_from_before_the_last_calibration_converts_too)
{
    bool good = false;

    clock_calibrate();
    for (int i = 0; i < TRIES && !good; i++) {
        uint64_t before = clock_ns(), ticks = clock_ticks(), after = clock_ns(), ns;

        pause_ms(5);
        clock_calibrate();
        ns = clock_ticks_to_ns(ticks);
        good = ns + TOLERANCE_NS >= before && ns <= after + TOLERANCE_NS;
    }
    assert_true(good);
}

TEST(later_ticks_never_convert_to_earlier_times)
{
    uint64_t last = 0;

    for (int i = 0; i < 100000; i++) {
        uint64_t ns = clock_ticks_to_ns(clock_ticks());

        assert_true(ns >= last);
        last = ns;
    }
}

TEST(calibrating_changes_no_time_that_was_converted)
{
    uint64_t last_ticks = clock_ticks(), last = clock_ticks_to_ns(last_ticks);

    for (int i = 0; i < 2000; i++) {
        uint64_t ticks = clock_ticks(), ns = clock_ticks_to_ns(ticks);

        assert_true(ns >= last);
        clock_calibrate();
        assert_int_equal(clock_ticks_to_ns(ticks), ns);
        assert_int_equal(clock_ticks_to_ns(last_ticks), last);
        last = clock_ticks_to_ns(last_ticks = clock_ticks());
        assert_true(last >= ns);
    }
}

TEST(the_length_of_a_span_is_that_of_the_other_clock)
{
    bool good = false;

    for (int i = 0; i < TRIES && !good; i++) {
        uint64_t ns = clock_ns(), ticks = clock_ticks(), length;

        pause_ms(10);
        ticks = clock_ticks() - ticks;
        ns = clock_ns() - ns;
        length = clock_duration_ns(ticks);
        good = length > ns - ns / 20 && length < ns + ns / 20;
    }
    assert_true(good);
}

static int start(void **state)
{
    (void)state;
    clock_start();
    return 0;
}

TEST_GROUP(start, NULL);

TEST(processor_time_of_a_thread_stops_while_it_does_not_run)
{
    uint64_t ns = clock_ns(), cpu_ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    pause_ms(200);
    cpu_ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    ns = clock_ns() - ns;
    assert_true(cpu_ns < ns / 2);
}
