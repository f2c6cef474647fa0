/* The call trace when memory is out for a moment: each call is in the log, or counted as one that is not. */
#include "fixture.h"
#include "support/test.h"

#define PAIRS  40u /* the batch grows a few times */
#define FAULTS 8u  /* allocations that one event makes at the most, and more */
#define STEP_NS \
    500u /* between two events: three digits, and all of them are past before the log ends */

static struct world *w;
static struct metadata_method *methods[3];

static int setup(void **state)
{
    (void)state;
    w = calloc(1, sizeof(*w));
    world_init(w);
    w->options.events = OPTIONS_EVENTS_ALL;
    methods[0] = method_new(w, "A()");
    methods[1] = method_new(w, "B()");
    methods[2] = method_new(w, "C()");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(w);
    free(w);
    return 0;
}

static int start_clock(void **state)
{
    (void)state;
    clock_start();
    return 0;
}

TEST_EACH(setup, teardown);
TEST_GROUP(start_clock, NULL);

/* Calls that are entered and left in turn, a step apart: the batch is as long, and grows where it did, in every run. */
static struct event event_nth(uint64_t begin, unsigned i)
{
    const uint64_t many = 1000000, step = many * STEP_NS / clock_duration_ns(many);
    const struct metadata_method *method = methods[i / 2 % 3];
    enum event_call what = i % 2 ? EVENT_CALL_LEAVE : EVENT_CALL_ENTER;

    return (struct event){
        .ticks = begin + i * step,
        .node = i % 2,
        .subject = i % 2 ? 0 : (uintptr_t)method,
        .bytes_kind = event_pack(event_call_pack(what, method->id), EVENT_HEAP_NORMAL, EVENT_CALL)};
}

static struct log_thread *thread_new(void)
{
    struct log_thread *thread = memory_zalloc(1, sizeof(*thread));

    ring_new(w);
    thread->ring = event_hub_adopt(&w->hub);
    thread->ring->writer = thread;
    assert_int_equal(log_define_thread(w->log, thread, NULL), 0);
    thread->defined = true;
    return w->log->threads = thread;
}

/* As the writer does: what it could not take it tries again. Memory is out after `n` more allocations of event `at`. */
static void write_all(struct log_thread *thread, unsigned at, unsigned n, bool ends)
{
    const uint64_t begin = clock_ticks();

    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        const struct event event = event_nth(begin, i);
        int err;

        if (i == at)
            memory_fail_after((long)n);
        thread->ring->calls_seen += i % 2 == 0;
        if (!log_write_calls(w->log, thread, &event, 1, &err)) {
            memory_fail_after(-1);
            assert_int_equal(log_write_calls(w->log, thread, &event, 1, &err), 1);
        }
        memory_fail_after(-1);
        if (i == at && ends)
            log_calls_flush(w->log, thread);
    }
}

static json_int_t member(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Returns how many calls the log has not. */
static json_int_t expect_all_said(void)
{
    json_t *lines = log_read(w);
    const json_t *calls = json_object_get(last(lines), "calls"),
                 *sums = json_object_get(json_object_get(last(lines), "events"), "calls");
    json_int_t lost = member(sums, "lost");

    assert_string_equal(kind_of(last(lines)), "end");
    assert_int_equal(member(sums, "seen"), PAIRS);
    assert_int_equal(member(sums, "written") + lost, PAIRS);
    assert_int_equal(member(calls, "entered"), PAIRS);
    assert_int_equal(member(calls, "left"), PAIRS);
    assert_int_equal(member(json_object_get(calls, "not_written"), "entered"), lost);
    json_decref(lines);
    expect_valid(w->path);
    return lost;
}

TEST(a_batch_that_is_dropped_is_counted_whole)
{
    unsigned dropped = 0;

    for (unsigned run = 0; run < 2 * PAIRS * FAULTS * 2; run++) {
        unsigned at = run / 2 / FAULTS, n = run / 2 % FAULTS;
        struct log_thread *thread;

        if (at > 1 && n) /* later ones make one allocation at the most */
            continue;
        assert_int_equal(world_open(w), 0);
        thread = thread_new();
        write_all(thread, at, n, run % 2);
        event_ring_close(thread->ring);
        start(w);
        stop(w);
        dropped += expect_all_said() > 0;
        world_again(w);
    }
    assert_int_equal(
        dropped,
        8); /* at the first event, and the three where the batch grows: each as a part and at the end */
}

/* A part of the log can be read by itself. */
TEST(each_part_defines_the_methods_of_its_calls)
{
    struct log_thread *thread;
    unsigned defined = 0, line = 0;
    json_t *lines;

    assert_int_equal(world_open(w), 0);
    thread = thread_new();
    write_all(thread, UINT32_MAX, 0, false);
    log_calls_flush_all(w->log);
    log_part_begin(w->log);
    write_all(thread, UINT32_MAX, 0, false);
    log_calls_flush_all(w->log);
    event_ring_close(thread->ring);
    start(w);
    stop(w);
    lines = log_read(w);
    for (; line < json_array_size(lines); line++)
        defined += strcmp(kind_of(json_array_get(lines, line)), "method") == 0;
    assert_int_equal(defined, 2 * COUNT_OF(methods));
    json_decref(lines);
}
