/* The event session: which callbacks run, and that it starts once. The runtime is a mock. */
#include "session/session.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

static struct clr_event_pipe_provider_config asked;
static unsigned starts, told[2];
static uint64_t stopped;
static hresult answer;
static struct session session;

static hresult start_session(struct clr_info *self, uint32_t count,
                             const struct clr_event_pipe_provider_config *configs, int32_t rundown,
                             uint64_t *id)
{
    (void)self;
    assert_int_equal(count, 1);
    assert_int_equal(rundown, 0);
    asked = *configs;
    starts++;
    *id = starts;
    return answer;
}

static hresult stop_session(struct clr_info *self, uint64_t id)
{
    (void)self;
    stopped = id;
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {.event_pipe_start_session = start_session,
                                          .event_pipe_stop_session = stop_session};
static struct clr_info info = {&vtbl};

static void tell(void *context, const struct session_event *event)
{
    (void)event;
    (*(unsigned *)context)++;
}

static void subscribe(unsigned *counter, uint64_t keywords, uint32_t level, const uint32_t *ids)
{
    const struct session_subscriber subscriber = {keywords, level, ids, tell, counter};

    assert_true(session_subscribe(&session, &subscriber));
}

static int setup(void **state)
{
    (void)state;
    memset(&session, 0, sizeof(session));
    memset(told, 0, sizeof(told));
    starts = 0;
    answer = S_OK;
    return 0;
}

TEST_EACH(setup, NULL);

TEST(without_subscribers_there_is_no_session)
{
    (void)state;
    assert_int_equal(session_start(&session, &info, 15), S_FALSE);
    assert_int_equal(starts, 0);
}

TEST(one_session_has_what_all_want_and_each_is_told_of_its_own)
{
    static const uint32_t some[] = {1, 22, 0}, other[] = {10, 0};

    (void)state;
    subscribe(&told[0], 1, 4, some);
    subscribe(&told[1], 0x200, 5, other);
    assert_int_equal(session_start(&session, &info, 12), S_OK);
    assert_int_equal(session_start(&session, &info, 12), S_FALSE);
    assert_int_equal(starts, 1);
    assert_int_equal(asked.keywords, 0x201);
    assert_int_equal(asked.logging_level, 5);
    assert_true(session_runs(&session));
    for (uint32_t id = 1; id <= 30; id++)
        session_delivered(&session, &(struct session_event){.id = id});
    assert_int_equal(told[0], 2);
    assert_int_equal(told[1], 1);
}

TEST(a_runtime_that_gives_none_is_told_of)
{
    static const uint32_t some[] = {1, 0};

    (void)state;
    subscribe(&told[0], 1, 4, some);
    answer = E_FAIL;
    assert_int_equal(session_start(&session, &info, 12), E_FAIL);
    assert_false(session_runs(&session));
}

TEST(a_runtime_too_old_for_sessions_has_none)
{
    static const uint32_t some[] = {1, 0};

    (void)state;
    subscribe(&told[0], 1, 4, some);
    assert_int_equal(session_start(&session, &info, 11), E_NOINTERFACE);
    assert_int_equal(starts, 0);
}

TEST(another_session_beside_it_has_a_subscriber_of_its_own_for_a_while)
{
    static const uint32_t some[] = {1, 22, 0}, other[] = {18, 1, 0};
    const struct session_subscriber guest = {0x100001, 4, other, tell, &told[1]};

    (void)state;
    subscribe(&told[0], 1, 4, some);
    assert_int_equal(session_start(&session, &info, 12), S_OK);
    assert_int_equal(session_open(&session, &info, 11, &guest), E_NOINTERFACE);
    answer = E_FAIL;
    assert_int_equal(session_open(&session, &info, 12, &guest), E_FAIL);
    session_delivered(&session, &(struct session_event){.id = 18});
    assert_int_equal(told[1], 0);
    answer = S_OK;
    assert_int_equal(session_open(&session, &info, 12, &guest), S_OK);
    assert_int_equal(asked.keywords, 0x100001);
    for (uint32_t id = 1; id <= 30; id++)
        session_delivered(&session, &(struct session_event){.id = id});
    assert_int_equal(told[0], 2);
    assert_int_equal(told[1], 2);
    session_close(&session, &info);
    assert_int_equal(stopped, 3);
    session_delivered(&session, &(struct session_event){.id = 18});
    assert_int_equal(told[1], 2);
    assert_true(session_runs(&session));
}
