/* Answers on their way, of a log that a test writes, with jobs that are real. */
#include "server/pending.h"

#include "unit/readers/memory_log.h"
#include "base/clock.h"
#include "support/test.h"

#include <poll.h>
#include <unistd.h>

#define SMALL  "tests/fixtures/logs/small.ndjson"
#define SECOND UINT64_C(1000000000)
#define START  (100 * SECOND) /* of the time that tests pass on */

static struct traced_set traced;
static const struct serve_options options = {.top = 20, .max_memory = (uint64_t)256 << 20};
static struct pending_set set;
static unsigned done;

static void on_done(void *context, struct pending *p)
{
    (void)context;
    assert_int_equal(p->state, PENDING_DONE);
    done++;
}

static void release(void *response)
{
    (void)response;
}

static int setup(void **state)
{
    (void)state;
    set = (struct pending_set){
        .traced = &traced, .options = &options, .done = on_done, .release = release};
    done = 0;
    if (traced_add(&traced, 0, SMALL, clock_ns()))
        return -1;
    while (traced_step(&traced, SECOND, UINT64_MAX))
        ;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pending_abandon(&set);
    pending_free(&set);
    traced_free(&traced);
    return 0;
}

TEST_EACH(setup, teardown);

static const struct pending_key metrics = {.kind = ANSWER_METRICS};

static struct pending *asked(const struct pending_key *key, uint64_t now_ns)
{
    struct pending *p = NULL;

    assert_int_equal(pending_ask(&set, key, now_ns, &p), 0);
    return p;
}

static bool one_runs(void)
{
    for (size_t i = 0; i < set.count; i++)
        if (set.all[i]->state == PENDING_RUNNING)
            return true;
    return false;
}

/* The clock stands still until all answers that can be made are. */
static void make(uint64_t now_ns)
{
    for (pending_step(&set, now_ns); pending_wants_reading(&set, now_ns) || one_runs();
         pending_step(&set, now_ns))
        poll(NULL, 0, 1);
}

TEST(who_asks_the_same_within_a_second_gets_the_same)
{
    struct pending *p = asked(&metrics, START);

    assert_ptr_equal(asked(&metrics, START + SECOND / 2), p);
    make(START);
    assert_int_equal(done, 1);
    assert_int_equal(p->err, 0);
    assert_int_equal(p->waiters, 2);
    assert_ptr_equal(asked(&metrics, START + SECOND - 1), p);
    assert_ptr_not_equal(asked(&metrics, START + SECOND), p);
}

TEST(another_question_has_another_answer)
{
    struct pending_key packed = {.kind = ANSWER_METRICS, .gzip = true},
                       profile = {.kind = ANSWER_ALLOCS, .of = traced.all[0]};
    struct pending *p = asked(&metrics, START);

    assert_ptr_not_equal(asked(&packed, START), p);
    assert_ptr_not_equal(asked(&profile, START), p);
    assert_int_equal(set.count, 3);
}

TEST(an_answer_that_nobody_waits_for_is_forgotten_and_its_process_may_go)
{
    struct pending_key key = {.kind = ANSWER_ALLOCS, .of = traced.all[0]};
    struct pending *p = asked(&key, START);

    assert_int_equal(traced.all[0]->used, 1);
    make(START);
    pending_step(&set, START + 2 * SECOND);
    assert_int_equal(set.count, 1); /* somebody waits */
    p->waiters--;
    pending_step(&set, START + 2 * SECOND);
    assert_int_equal(set.count, 0);
    assert_int_equal(traced.all[0]->used, 0);
}

TEST(seconds_have_to_pass_or_to_be_hurried)
{
    struct pending_key key = {.kind = ANSWER_ALLOCS, .of = traced.all[0], .seconds = 5};
    struct pending *p = asked(&key, START);

    pending_step(&set, START + 5 * SECOND - 1);
    assert_int_equal(p->state, PENDING_WAITING);
    pending_hurry(&set, START + 4 * SECOND);
    make(START + 4 * SECOND);
    assert_int_equal(p->state, PENDING_DONE);
    assert_int_equal(p->err, 0);
    assert_true(p->size > 0);
}

TEST(there_are_so_many_answers_and_no_more)
{
    struct pending_key key = {.kind = ANSWER_ALLOCS, .of = traced.all[0]};
    struct pending *p;

    for (key.seconds = 1; key.seconds <= PENDING_TIMED; key.seconds++)
        asked(&key, START);
    assert_int_equal(pending_ask(&set, &key, START, &p), -EBUSY);
    assert_int_equal(pending_ask(&set, &metrics, START, &p), 0);
    assert_int_equal(set.count, PENDING_TIMED + 1);
}

TEST(two_jobs_run_at_once_and_the_others_wait)
{
    struct pending_key keys[] = {{.kind = ANSWER_METRICS},
                                 {.kind = ANSWER_METRICS, .gzip = true},
                                 {.kind = ANSWER_INDEX},
                                 {.kind = ANSWER_FLAME, .of = traced.all[0]}};
    size_t running = 0;

    for (size_t i = 0; i < 4; i++)
        asked(&keys[i], START);
    pending_step(&set, START);
    for (size_t i = 0; i < 4; i++)
        running += set.all[i]->state == PENDING_RUNNING;
    assert_int_equal(running, PENDING_JOBS);
    make(START);
    assert_int_equal(done, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(set.all[i]->err, 0);
}

TEST(an_answer_waits_until_the_log_is_read)
{
    struct pending_key key = {.kind = ANSWER_ALLOCS, .of = traced.all[0]};
    struct traced *t = traced.all[0];
    struct pending *p;

    t->state = TRACED_FOLLOWED;
    t->passed_ns = START - 1;
    p = asked(&key, START);
    pending_step(&set, START);
    assert_int_equal(p->state, PENDING_WAITING);
    assert_true(pending_wants_reading(&set, START));
    t->passed_ns = START;
    make(START);
    assert_int_equal(p->state, PENDING_DONE);
    t->state = TRACED_ENDED;
}

TEST(a_log_that_is_never_read_to_its_end_fails_the_answer)
{
    struct pending_key key = {.kind = ANSWER_ALLOCS, .of = traced.all[0]};
    struct traced *t = traced.all[0];
    struct pending *p;

    t->state = TRACED_FOLLOWED;
    t->passed_ns = 0;
    p = asked(&key, START);
    pending_step(&set, START + 29 * SECOND);
    assert_int_equal(p->state, PENDING_WAITING);
    pending_step(&set, START + 31 * SECOND);
    assert_int_equal(p->err, -EAGAIN);
    assert_non_null(strstr(p->why, "still being read"));
    t->state = TRACED_ENDED;
}

TEST(what_is_not_done_can_be_abandoned)
{
    struct pending *p = asked(&metrics, START);

    pending_step(&set, START);
    pending_abandon(&set);
    assert_int_equal(done, 1);
    assert_int_equal(p->err, -ECANCELED);
    assert_false(pending_any(&set));
}
