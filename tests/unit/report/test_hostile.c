/*
 * Logs made to cost more than their size: reading one takes at most 64 MB and 20 times its size, and time in proportion to
 * its lines. The results are still right.
 */
#include "support/heap.h"

#include "report/checks.h"
#include "report/events.h"
#include "report/replay.h"
#include "report/cells.h"
#include "validate/validate.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define ROOM  ((size_t)40 << 20)
#define SLACK ((size_t)64 << 20)
#define HEADER \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,\"executable\":" \
    "\"x\"," \
    "\"runtime\":\"10.0.1\",\"hooks\":\"elt3\",\"clock\":5,\"started\":\"2026-11-21T10:00:00Z\"}"

static char *text;
static size_t size;
static char path[] = "/tmp/shadowtrace-hostile-XXXXXX";

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    size += (size_t)vsnprintf(text + size, ROOM - size, format, args);
    va_end(args);
    text[size++] = '\n';
    assert_true(size < ROOM - 1000);
}

static int open_log(void **state)
{
    (void)state;
    size = 0;
    text = text ? text : malloc(ROOM);
    line(HEADER);
    return text ? 0 : -1;
}

static struct log_problems problems;

static void by_cells(struct log_lines *lines)
{
    static const struct report_cells_options all = {
        .paths = true, .ils = true, .types = true, .threads = true};
    struct report_cells cells;

    assert_int_equal(report_cells_init(&cells, &all, &problems), 0);
    assert_int_equal(report_cells_read_lines(&cells, lines, "memory"), 0);
    assert_int_equal(report_cells_logical(&cells), 0);
    assert_int_equal(report_cells_finish(&cells), 0);
    report_cells_fini(&cells);
}

static void by_checks(struct log_lines *lines)
{
    static struct report_checks checks;

    assert_int_equal(report_checks_init(&checks, &problems), 0);
    assert_int_equal(report_checks_read_lines(&checks, lines, "memory"), 0);
    assert_int_equal(report_checks_finish(&checks), 0);
    report_checks_fini(&checks);
}

static void by_replay(struct log_lines *lines)
{
    static const struct replay_filter few = {.to = UINT64_MAX, .limit = 100};
    struct replay *r;

    assert_int_equal(replay_new(&few, &problems, &r), 0);
    assert_int_equal(replay_read_lines(r, lines, "memory"), 0);
    replay_free(r);
}

static void by_validate(struct log_lines *lines)
{
    static struct report_validation found;

    assert_int_equal(report_validate_lines(lines, "memory", NULL, NULL, &problems, &found), 0);
}

static void by_families(enum events_topic topic)
{
    static struct events_report f;

    assert_int_equal(events_report_init(&f, topic, &problems), 0);
    assert_int_equal(events_report_read(&f, path, NULL, NULL), 0);
    events_report_fini(&f);
}

static void store(void)
{
    static int fd = -1;

    if (fd < 0)
        fd = mkstemp(path);
    assert_true(fd >= 0 && !ftruncate(fd, 0));
    assert_int_equal(pwrite(fd, text, size, 0), size);
}

/* The most that any reader held beyond the text; each may have SLACK and 20 bytes for each of the log's. */
static size_t worst(void)
{
    static void (*const readers[])(struct log_lines *) = {by_cells, by_checks, by_replay,
                                                          by_validate};
    size_t most = 0;

    store();
    for (size_t i = 0; i < 4 + EVENTS_CALLS + 1; i++) {
        struct memory_log m = {.text = text, .size = size};
        struct log_lines *lines = i < 4 ? memory_log_lines(&m) : NULL;
        ptrdiff_t before = heap_held;

        log_problems_init(&problems);
        heap_begin();
        if (lines)
            readers[i](lines);
        else
            by_families((enum events_topic)(i - 4));
        most = heap_peak(before) > most ? heap_peak(before) : most;
        log_lines_free(lines);
        log_problems_fini(&problems);
    }
    printf("%zu bytes of log, %zu held: %.1f times\n", size, most, (double)most / (double)size);
    return most;
}

TEST(ids_far_from_each_other, open_log)
{
    for (uint32_t i = 1; i <= 20000; i++)
        line("{\"kind\":\"class\",\"id\":%u,\"name\":\"A\"}", i * 4096);
    for (uint32_t i = 1; i <= 20000; i++)
        line("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":%u,\"bytes\":8,\"node\":%u}",
             i * 65537, i * 65521);
    assert_true(worst() <= SLACK / 4 + 20 * size);
}

TEST(an_exception_with_a_large_id, open_log)
{
    line("{\"kind\":\"thread\",\"id\":1,\"os\":1}");
    line("{\"kind\":\"class\",\"id\":1,\"name\":\"A\"}");
    line("{\"kind\":\"exception\",\"t\":1,\"thread\":1,\"node\":0,\"event\":\"thrown\",\"id\":"
         "268435455,"
         "\"class\":1}");
    assert_true(worst() <= SLACK / 4 + 20 * size);
}

TEST(a_thread_and_a_method_for_each_call, open_log)
{
    for (uint32_t i = 1; i <= 20000; i++) {
        line("{\"kind\":\"method\",\"id\":%u,\"name\":\"A.B%u()\"}", i, i);
        line("{\"kind\":\"thread\",\"id\":%u,\"os\":1}", i);
        line("{\"kind\":\"calls\",\"t\":1,\"thread\":%u,\"depth\":0,\"e\":[%u,1]}", i, i);
    }
    assert_true(worst() <= SLACK / 4 + 20 * size);
}

/* An exception goes past one call after the other, below a million that go on. */
TEST(calls_unwound_below_many, open_log)
{
    enum { CALLS = 100000 };

    line("{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}");
    line("{\"kind\":\"thread\",\"id\":1,\"os\":1}");
    for (int i = 0; i < CALLS; i += 1000) {
        size += (size_t)sprintf(
            text + size, "{\"kind\":\"calls\",\"t\":%d,\"thread\":1,\"depth\":%d,\"e\":[1,1", i, i);
        for (int k = 1; k < 1000; k++)
            size += (size_t)sprintf(text + size, ",1,1");
        size += (size_t)sprintf(text + size, "]}\n");
    }
    for (int i = 0; i < CALLS / 2; i++)
        line("{\"kind\":\"calls\",\"t\":%d,\"thread\":1,\"depth\":%d,\"e\":[%d,1]}", CALLS + i,
             CALLS - i, -16 - (CALLS / 2));
    assert_true(worst() <= SLACK / 4 + 20 * size);
}

/* Calls that nobody logged are made up only as far as what was logged pays for them. */
TEST(depths_that_jump, open_log)
{
    line("{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}");
    line("{\"kind\":\"thread\",\"id\":1,\"os\":1}");
    for (int i = 0; i < 20000; i++)
        line("{\"kind\":\"calls\",\"t\":1,\"thread\":1,\"depth\":%d,\"e\":[1,1]}",
             i % 2 ? 65536 : 0);
    assert_true(worst() <= SLACK / 4 + 20 * size);
}

/* Against a plain array: what is open after any sequence of begins and ends. */
struct model {
    uint64_t t[4096];
    size_t count;
    uint64_t ended;
};
static struct model model;

static int on_entered(void *context, struct report_calls_thread *thread, struct report_call *call)
{
    const struct report_call *caller = report_call_caller(thread, call);

    (void)context;
    assert_true(!caller == !model.count);
    assert_true(!caller || caller->t == model.t[model.count - 1]);
    model.t[model.count++] = call->t;
    return 0;
}

static int on_ended(void *context, struct report_calls_thread *thread, struct report_call *call,
                    uint64_t t, enum report_call_end end)
{
    (void)context, (void)thread, (void)t, (void)end;
    model.ended = call->t;
    return 0;
}

static int on_missing(void *context, struct report_calls_thread *thread, uint64_t t, uint64_t count)
{
    (void)context, (void)thread, (void)t, (void)count;
    return 0;
}

TEST(open_calls_are_those_of_a_plain_array)
{
    struct report_calls c = {.entered = on_entered, .ended = on_ended, .missing = on_missing};
    uint64_t random = 1;

    for (int i = 1; i < 30000; i++) {
        char events[64];
        struct log_batch batch = {.t = (uint64_t)i, .thread = 5, .events = events};
        struct report_calls_thread *thread;
        size_t below;

        random = random * 6364136223846793005u + 1442695040888963407u;
        batch.depth = model.count;
        below = model.count > 1 ? (size_t)(random >> 33) % model.count : 0;
        if (model.count == 0 || (model.count < 4000 && random >> 62)) {
            snprintf(events, sizeof(events), "[1,0]");
            assert_int_equal(report_calls_take(&c, &batch), 0);
        } else {
            uint64_t wanted = model.t[model.count - 1 - below];

            snprintf(events, sizeof(events), "[%lld,0]",
                     below ? (long long)SST_CALL_UNWOUND_BELOW + 1 - (long long)below : 0);
            assert_int_equal(report_calls_take(&c, &batch), 0);
            assert_int_equal(model.ended, wanted);
            memmove(&model.t[model.count - 1 - below], &model.t[model.count - below],
                    below * sizeof(model.t[0]));
            model.count--;
        }
        thread = report_calls_thread(&c, 5);
        assert_int_equal(thread->open, model.count);
        assert_true(!thread->open || report_call_youngest(thread)->t == model.t[model.count - 1]);
    }
    report_calls_fini(&c);
}

static int forget(void **state)
{
    (void)state;
    unlink(path);
    free(text);
    return 0;
}

TEST_GROUP(NULL, forget);
