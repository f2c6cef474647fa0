/* A session of a made-up runtime: when it starts, from when its samples count, and what came before. */
#include "samples/samples.h"

#include "base/clock.h"
#include "base/memory.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <sched.h>

static struct session session;
static struct samples *samples;
static uint64_t taken;

static hresult session_result = S_OK;
static _Atomic(bool) held, asked; /* the session's answer waits; it was asked for */

static void tell_one(void);

static hresult start_session(struct clr_info *self, uint32_t count,
                             const struct clr_event_pipe_provider_config *providers,
                             int32_t rundown, uint64_t *id)
{
    (void)self;
    (void)count;
    (void)providers;
    (void)rundown;
    *id = 1;
    asked = true;
    while (held)
        sched_yield();
    tell_one(); /* for its start */
    return session_result;
}

static hresult thread_id(struct clr_info *self, uintptr_t *out)
{
    (void)self;
    *out = 7;
    return S_OK;
}

static hresult get_mask(struct clr_info *self, uint32_t *low, uint32_t *high)
{
    (void)self;
    *low = *high = 0;
    return S_OK;
}

static hresult set_mask(struct clr_info *self, uint32_t low, uint32_t high)
{
    (void)self;
    (void)low;
    (void)high;
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {.event_pipe_start_session = start_session,
                                          .get_current_thread_id = thread_id,
                                          .get_event_mask2 = get_mask,
                                          .set_event_mask2 = set_mask};
static struct clr_info info = {&vtbl};

/* Stops all threads, says so, and lets them go on. */
static int64_t exact(void)
{
    tell_one();
    samples_stopped(samples);
    tell_one();
    return 101000000;
}

static int64_t thread(void)
{
    return 600000;
}

/* As in the runtime's image: test_allocated.c. */
static const struct {
    const char *name;
    void *function;
} calls[] = {{"", (void *)thread},
             {"GCInterface_GetTotalAllocatedBytesPrecise", (void *)exact},
             {"", (void *)thread}};
static const struct {
    uintptr_t flags;
    void *function;
    const char *name;
} internal[] = {{0, (void *)thread, "GetAllocatedBytesForCurrentThread"}, {0, (void *)thread, ""}};
static const void *const tables[] = {calls, internal};

static struct clr_runtime runtime = {
    .info = &info, .info_version = 12, .major = 10, .low = (uintptr_t)tables};

static void begin(void *context)
{
    (void)context;
}

static void take(void *context, const struct samples_taken *sample)
{
    (void)context;
    (void)sample;
    taken++;
}

/* AllocationSampled of 24 bytes, of a type without a name. */
static void tell_one(void)
{
    static const uint8_t payload[] = {0, 0, 0, 0, 0, 0, 8, 0, 0,  0, 0, 0, 0, 0, 0, 0,
                                      8, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0};
    const struct session_event event = {303, 0, sizeof(payload), payload};

    session_delivered(&session, &event);
}

static void make(unsigned delay_ms)
{
    const struct samples_config config = {.runtime = &runtime,
                                          .session = &session,
                                          .delay_ms = delay_ms,
                                          .most_ms = delay_ms,
                                          .unready_ms = delay_ms,
                                          .begin = begin,
                                          .taken = take};

    session = (struct session){.count = 0};
    taken = 0;
    assert_int_equal(samples_new(&config, &samples), 0);
}

static struct samples_state state_now(void)
{
    struct samples_state state;

    samples_read(samples, &state);
    return state;
}

static struct samples_state when_it_counts(void)
{
    while (!state_now().since_ns)
        sched_yield();
    return state_now();
}

TEST(samples_count_from_the_moment_in_which_the_bytes_were_counted)
{
    struct samples_state now;

    make(0);
    samples_start(samples);
    now = when_it_counts();
    assert_int_equal(now.before.how, SAMPLES_BEFORE_EXACT);
    assert_int_equal(now.before.bytes, 100400000);
    assert_int_equal(now.before.own, 600000);
    assert_int_equal(taken, 1);
    assert_int_equal(now.told, 1);
}

TEST(it_is_due_at_the_first_collection_of_a_program_that_has_begun)
{
    const unsigned hour = 3600000;

    make(hour);
    assert_false(samples_hurry(samples));
    samples_start(samples);
    assert_false(samples_hurry(samples)); /* the runtime starts */
    assert_true(samples_poll(samples, clock_ns()));
    samples_ready(samples);
    assert_true(samples_poll(samples, clock_ns()));
    assert_true(samples_hurry(samples));
    assert_false(samples_hurry(samples));
    assert_false(samples_poll(samples, clock_ns()));
    when_it_counts();
}

TEST(of_a_program_that_ends_before_all_bytes_are_counted)
{
    struct samples_state now;

    make(3600000);
    samples_start(samples);
    samples_unbegun(samples);
    samples_stop(samples, 1000);
    now = state_now();
    assert_int_equal(now.since_ns, 0);
    assert_int_equal(now.before.how, SAMPLES_BEFORE_EXACT);
    assert_int_equal(now.before.bytes, 101000000);
    assert_false(samples_poll(samples, clock_ns()));
    tell_one();
    assert_int_equal(taken, 0);
}

/* The runtime takes no session any more once it ends, before it calls Shutdown. */
TEST(a_session_that_fails_as_the_program_ends_is_no_failure)
{
    struct samples_state now;
    uint64_t began_ns;

    session_result = E_FAIL;
    do { /* a loaded machine may take longer than a second over it */
        began_ns = clock_ns();
        make(0);
        samples_start(samples);
        while (state_now().failed == S_OK)
            sched_yield();
        samples_unbegun(samples);
    } while (clock_ns() - began_ns > UINT64_C(1000000000));
    session_result = S_OK;
    now = state_now();
    assert_int_equal(now.failed, S_OK);
    assert_int_equal(now.before.how, SAMPLES_BEFORE_EXACT);
    assert_int_equal(now.before.bytes, 101000000);
}

static void end_while_it_is_asked_for(hresult answer, unsigned timeout_ms)
{
    struct samples_state now;

    session_result = answer;
    held = true;
    asked = false;
    make(0);
    samples_start(samples);
    while (!asked)
        sched_yield();
    samples_unbegun(samples);
    held = timeout_ms < 600000;
    samples_stop(samples, timeout_ms);
    held = false;
    samples_stop(samples, 600000); /* until its thread has ended */
    session_result = S_OK;
    now = state_now();
    assert_int_equal(now.since_ns, 0);
    assert_int_equal(now.failed, S_OK);
    assert_int_equal(now.before.how, SAMPLES_BEFORE_EXACT);
    assert_int_equal(now.before.bytes, 101000000);
    assert_int_equal(taken, 0);
}

TEST(a_program_ends_while_the_session_is_asked_for)
{
    end_while_it_is_asked_for(E_FAIL, 600000);
    end_while_it_is_asked_for(E_FAIL, 1);
    end_while_it_is_asked_for(S_OK, 1);
}

TEST(where_the_runtime_does_not_tell_it_is_not_known)
{
    runtime.major = CLR_MAJOR_NEWEST + 1;
    make(0);
    samples_start(samples);
    assert_int_equal(when_it_counts().before.how, SAMPLES_BEFORE_UNKNOWN);
    tell_one();
    assert_int_equal(taken, 1);
    runtime.major = 10;
}
