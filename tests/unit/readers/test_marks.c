#include "readers/marks.h"

#include "report/cells.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define HEADER  "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"
#define PART(n) "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"part\":" #n "}\n"
#define DEFINED \
    "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n{\"kind\":\"class\",\"id\":1,\"name\":\"C\"}\n"
#define MARK(t, text) "{\"kind\":\"mark\",\"t\":" #t ",\"text\":\"" text "\"}\n"
#define ALLOC(t, bytes) \
    "{\"kind\":\"alloc\",\"t\":" #t ",\"thread\":1,\"class\":1,\"bytes\":" #bytes ",\"node\":0}\n"
#define SITE(bytes) "{\"kind\":\"site\",\"node\":0,\"class\":1,\"allocs\":1,\"bytes\":" #bytes "}\n"

static struct log_marks marks;
static char why[400];

static void read_marks(const char *text)
{
    struct memory_log m = {.text = text, .size = strlen(text), .chunk = 13};
    struct log_lines *lines = memory_log_lines(&m);

    assert_int_equal(log_marks_read_lines(lines, &marks), 0);
    log_lines_free(lines);
}

static int teardown(void **state)
{
    (void)state;
    log_marks_fini(&marks);
    return 0;
}

TEST_EACH(NULL, teardown);

/* Bytes of the log between two marks. */
static uint64_t bytes_between(const char *text, const char *from, const char *to)
{
    static const struct report_cells_options none = {.paths = false};
    struct memory_log m = {.text = text, .size = strlen(text)};
    struct log_problems problems;
    struct log_window window;
    struct report_cells cells;
    struct log_lines *lines;
    double bytes = 0;

    log_marks_fini(&marks);
    read_marks(text);
    assert_int_equal(log_marks_window(&marks, from, to, &window, why, sizeof(why)), 0);
    log_problems_init(&problems);
    assert_int_equal(report_cells_init(&cells, &none, &problems), 0);
    report_cells_window(&cells, &window);
    lines = memory_log_lines(&m);
    assert_int_equal(report_cells_read_lines(&cells, lines, "memory"), 0);
    for (int heap = 0; heap < SST_HEAP_COUNT; heap++)
        bytes += cells.heaps[heap].bytes;
    log_lines_free(lines);
    report_cells_fini(&cells);
    log_problems_fini(&problems);
    return (uint64_t)bytes;
}

/* Lines with a mark's time may precede or follow it. */
#define EVENTS \
    HEADER DEFINED ALLOC(100, 8) ALLOC(220, 16) MARK(200, "a") ALLOC(150, 32) ALLOC(200, 64) \
        MARK(300, "b") ALLOC(299, 128) ALLOC(300, 256) MARK(400, "a") ALLOC(400, 512)

TEST(events_are_cut_by_their_times)
{
    assert_int_equal(bytes_between(EVENTS, NULL, NULL), 1016);
    assert_int_equal(bytes_between(EVENTS, "a", NULL), 16 + 64 + 128 + 256 + 512);
    assert_int_equal(bytes_between(EVENTS, "a", "b"), 16 + 64 + 128);
    assert_int_equal(bytes_between(EVENTS, NULL, "a"), 8 + 32);
    assert_int_equal(bytes_between(EVENTS, "b", NULL), 256 + 512);
}

TEST(the_same_text_twice_is_from_the_first_to_the_second)
{
    assert_int_equal(bytes_between(EVENTS, "a", "a"), 16 + 64 + 128 + 256);
    assert_int_equal(bytes_between(EVENTS, "b", "a"), 256);
}

TEST(sites_are_cut_by_their_lines)
{
    static const char log[] =
        HEADER DEFINED SITE(8) MARK(200, "a") SITE(16) SITE(32) MARK(300, "b") SITE(64);

    assert_int_equal(bytes_between(log, "a", "b"), 48);
    assert_int_equal(bytes_between(log, "b", NULL), 64);
    assert_int_equal(bytes_between(log, NULL, "b"), 56);
}

TEST(recordings_behind_one_another_have_clocks_of_their_own)
{
    static const char log[] = HEADER DEFINED ALLOC(500, 8) MARK(600, "a") ALLOC(700, 16) PART(2)
        DEFINED ALLOC(800, 32) HEADER DEFINED ALLOC(100, 64) MARK(150, "b") ALLOC(700, 128);

    assert_int_equal(bytes_between(log, "a", NULL), 16 + 32 + 64 + 128);
    assert_int_equal(bytes_between(log, "a", "b"), 16 + 32 + 64);
    assert_int_equal(bytes_between(log, "b", NULL), 128);
}

static void expect_missing(const char *from, const char *to, const char *expected)
{
    struct log_window window;

    assert_int_equal(log_marks_window(&marks, from, to, &window, why, sizeof(why)), -ENOENT);
    assert_string_equal(why, expected);
}

TEST(a_mark_that_is_not_there_is_answered_with_those_that_are)
{
    expect_missing("x", NULL, "no mark \"x\"; there are none");
    read_marks(EVENTS);
    expect_missing("x", NULL, "no mark \"x\"; there are \"a\", \"b\", \"a\"");
    expect_missing(NULL, "", "no mark \"\"; there are \"a\", \"b\", \"a\"");
    expect_missing("a", "x", "no mark \"x\"; there are \"a\", \"b\", \"a\"");
    expect_missing("b", "b", "no mark \"b\" behind \"b\"; there are \"a\", \"b\", \"a\"");
}

TEST(damaged_marks_are_passed_over)
{
    read_marks(HEADER "{\"kind\":\"mark\",\"t\":1}\n{\"kind\":\"mark\",\"text\":7,\"t\":1}\n"
                      "{\"kind\":\"mark\",\"t\":-1,\"text\":\"x\"}\n" MARK(
                          5, "good") "{\"kind\":\"mark\",\"t\":6,\"text\":\"cu");
    assert_int_equal(marks.count, 1);
    assert_string_equal(marks.marks[0].text, "good");
    assert_int_equal(marks.marks[0].at.recording, 1);
    assert_int_equal(marks.marks[0].at.line, 5);
}

/* As other programs write JSON: members in any order, blanks, escapes. */
TEST(marks_and_times_are_read_however_they_are_written)
{
    static const char header[] = "{ \"version\": 1, \"kind\": \"header\", \"format\": "
                                 "\"shadowtrace\" }\n";
    static const char *const marked[] = {
        "{\"kind\": \"mark\", \"t\": 200, \"text\": \"a\"}\n",
        "{\"kind\":\"mark\" ,\"text\":\"\\u0061\",\"t\":200}\n",
        " {\"t\":200,\"text\":\"a\",\"kind\":\"mark\"}\n",
        "{\"kind\":\"m\\u0061rk\",\"t\":200,\"text\":\"a\"}\r\n",
    };
    static const char *const timed[] = {
        ALLOC(700, 8),
        "{\"kind\": \"alloc\", \"t\": 700, \"thread\": 1, \"class\": 1, \"bytes\": 8, "
        "\"node\": 0}\n",
        "{\"kind\":\"alloc\",\"thread\":1,\"class\":1,\"t\":700,\"bytes\":8,\"node\":0}\n",
        "{\"kind\":\"end\",\"t\":700}\n",
        "{\"kind\":\"end\",\"seen\":0,\"t\": 700}\n",
    };
    char text[1000];

    for (size_t i = 0; i < COUNT_OF(marked); i++)
        for (size_t j = 0; j < COUNT_OF(timed); j++) {
            snprintf(text, sizeof(text), "%s" DEFINED "%s%s", i % 2 ? HEADER : header, marked[i],
                     timed[j]);
            read_marks(text);
            assert_int_equal(marks.count, 1);
            assert_string_equal(marks.marks[0].text, "a");
            assert_int_equal(marks.marks[0].at.t, 200);
            assert_int_equal(marks.marks[0].at.recording, 1);
            assert_int_equal(marks.length, 700);
            assert_false(marks.untimed);
            log_marks_fini(&marks);
        }
    snprintf(text, sizeof(text),
             "%s{\"kind\": \"site\", \"node\": 0, \"class\": 1, \"allocs\": 1, "
             "\"bytes\": 8}\n",
             header);
    read_marks(text);
    assert_true(marks.untimed);
}

TEST(a_pipe_is_refused_as_it_can_be_read_only_once)
{
    char path[64];
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    close(fds[1]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
    assert_int_equal(log_marks_read(path, &marks), -ESPIPE);
    assert_int_equal(log_marks_read("/nowhere/log", &marks), -ENOENT);
    close(fds[0]);
}

TEST(running_out_of_memory_is_said)
{
    struct memory_log m = {.text = EVENTS, .size = sizeof(EVENTS) - 1};
    int err = -ENOMEM;

    for (long n = 0; err; n++) {
        struct log_lines *lines = memory_log_lines(&m);

        memory_fail_after(n);
        err = log_marks_read_lines(lines, &marks);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        log_marks_fini(&marks);
        log_lines_free(lines);
        assert_true(n < 100);
    }
}
