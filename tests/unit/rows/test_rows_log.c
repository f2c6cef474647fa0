/*
 * report and html --from-rows: what rows of logs say is what the logs' own reports say, to the byte; what is there twice
 * counts once; an invalid row is refused in one line.
 */
#include "support/test.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "page/page.h"
#include "unit/cli/command_support.h"

#define ROWS(by, ...) \
    RUN(&cmd_report, "report", "--from-rows", "--format=json", "--top=0", by, __VA_ARGS__)
#define LOGS(by, ...) RUN(&cmd_report, "report", "--format=json", "--top=0", by, __VA_ARGS__)
#define PATH          64

static const char *const logs[] = {"small",       "inline", "sites",      "dynamic", "lines",
                                   "lines-newer", "newer",  "alive",      "marks",   "own",
                                   "native",      "live",   "shop-events"};

/* ---- files ---- */

static void written(char path[PATH], const char *text)
{
    int fd;

    strcpy(path, "/tmp/shadowtrace-rows-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* The rows of a log of the fixtures. */
static void rows_of(char path[PATH], const char *name)
{
    char log[200];
    struct ran ran;

    snprintf(log, sizeof(log), FIXTURES "%s.ndjson", name);
    ran = RUN(&cmd_export, "export", "--format=rows", "--host=host", "--quiet", "-o-", log);
    if (ran.status != CLI_OK)
        fail_msg("%s", ran.err);
    written(path, ran.out);
    free(ran.out);
}

/* ---- the same as the logs ---- */

/*
 * What rows do not have: threads, calls, what only unoptimised code makes, offsets beside lines. And
 * whose code it is: a guess over all logs, where none of them says so.
 */
static void forget(json_t *row)
{
    static const char *const keys[] = {
        "unoptimised_bytes", "calls", "total_ns", "self_ns", "threw", "il", "thread", "heaps",
        "exceptions",        "own"};

    for (size_t i = 0; i < COUNT_OF(keys); i++)
        json_object_del(row, keys[i]);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rows as text, in an order of their own: those of equal bytes may stand in any. */
static char *rows_text(struct ran ran)
{
    json_t *json = printed(ran), *rows = json_object_get(json, "rows"), *row;
    char *texts[200], *all = calloc(1, 200000);
    size_t count = json_array_size(rows), i;

    assert_in_range(count, 0, COUNT_OF(texts));
    json_array_foreach(rows, i, row)
    {
        forget(row);
        texts[i] = json_dumps(row, JSON_SORT_KEYS | JSON_COMPACT);
    }
    qsort(texts, count, sizeof(*texts), by_text);
    for (i = 0; i < count; i++) {
        strcat(strcat(all, texts[i]), "\n");
        free(texts[i]);
    }
    json_decref(json);
    return all;
}

static void expect_same(struct ran found, struct ran expected)
{
    char *a = rows_text(found), *b = rows_text(expected);

    assert_true(*b);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

TEST(rows_of_a_log_say_what_the_log_says)
{
    static const char *const keys[] = {"--by=type", "--by=method", "--by=line", "--by=own",
                                       "--by=module"};
    char path[PATH], log[200];

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        rows_of(path, logs[i]);
        snprintf(log, sizeof(log), FIXTURES "%s.ndjson", logs[i]);
        for (size_t k = 0; k < COUNT_OF(keys); k++)
            expect_same(ROWS(keys[k], path), LOGS(keys[k], log));
        expect_same(
            RUN(&cmd_report, "report", "--from-rows", "--by=site", "--format=json",
                "--inline-stacks", path),
            RUN(&cmd_report, "report", "--by=site", "--format=json", "--inline-stacks", log));
        unlink(path);
    }
}

TEST(rows_say_what_came_before_samples_counted_as_the_log_does)
{
    json_t *json, *before;
    char path[PATH];

    rows_of(path, "late-sampled");
    json = printed(ROWS("--by=type", path));
    before = json_object_get(json_object_get(json, "total"), "before_sampling");
    assert_int_equal(json_integer_value(json_object_get(before, "bytes")), 101144944);
    assert_int_equal(json_integer_value(json_object_get(before, "since_ns")), 330000000);
    assert_true(json_is_true(json_object_get(before, "exact")));
    json_decref(json);
    unlink(path);
}

TEST(rows_of_two_logs_are_the_sum_of_both_however_often_each_is_there)
{
    char small[PATH], events[PATH];

    rows_of(small, "lines");
    rows_of(events, "shop-events");
    expect_same(ROWS("--by=type", small, events, small, events),
                LOGS("--by=type", FIXTURES "lines.ndjson", FIXTURES "shop-events.ndjson"));
    expect_same(ROWS("--by=method", events, small),
                LOGS("--by=method", FIXTURES "shop-events.ndjson", FIXTURES "lines.ndjson"));
    unlink(small);
    unlink(events);
}

TEST(a_page_and_a_comparison_are_made_of_rows)
{
    char old[PATH], new[PATH];
    struct ran page, diff;

    rows_of(old, "small");
    rows_of(new, "newer");
    page = RUN(&cmd_html, "html", "--from-rows", "--quiet", "-o-", new);
    assert_int_equal(page.status, CLI_OK);
    assert_non_null(strstr(page.out, "</html>"));
    diff = RUN(&cmd_html, "html", "--from-rows", "--diff", "--quiet", "-o-", old, new);
    assert_int_equal(diff.status, CLI_OK);
    assert_non_null(strstr(diff.out, "</html>"));
    free(page.out);
    free(diff.out);
    unlink(old);
    unlink(new);
}

/* ---- rows that somebody wrote ---- */

#define ID(n) "00000000-0000-0000-0000-00000000000" #n
#define RECORDING \
    "{\"kind\":\"recording\",\"id\":\"" ID( \
        1) "\",\"program\":\"a.dll\",\"started\":\"2026-11-24T08:00:00Z\"," \
           "\"pid\":7,\"complete\":true,\"lost\":0}\n"
#define METHOD \
    "{\"kind\":\"method\",\"id\":\"" ID( \
        2) "\",\"name\":\"A.Main()\",\"module\":\"a\",\"owner\":\"own\"}\n"
#define TYPE "{\"kind\":\"type\",\"id\":\"" ID(3) "\",\"name\":\"System.String\"}\n"
#define FRAME(n, line) \
    "{\"kind\":\"frame\",\"id\":\"" ID(n) "\",\"method\":\"" ID( \
        2) "\",\"il\":5,\"file\":\"/a.cs\",\"line\":" line "}\n"
#define STACK(n, frame) \
    "{\"kind\":\"stack\",\"id\":\"" ID(n) "\",\"frame\":\"" ID( \
        frame) "\",\"parent\":null,\"depth\":1}\n"
#define AMOUNT(stack, bytes) \
    "{\"kind\":\"allocated\",\"recording\":\"" ID(1) "\",\"stack\":\"" ID( \
        stack) "\",\"type\":\"" ID(3) "\"," \
                                      "\"minute\":60,\"bytes\":" bytes ",\"allocs\":1}\n"

TEST(two_builds_may_have_another_line_at_the_same_offset)
{
    char path[PATH];
    json_t *json, *rows;

    written(path, RECORDING METHOD TYPE FRAME(4, "10") FRAME(5, "11") FRAME(6, "12") STACK(7, 4)
                      STACK(8, 5) STACK(9, 6) AMOUNT(7, "24") AMOUNT(8, "100") AMOUNT(9, "1000"));
    json = printed(ROWS("--by=line", path));
    rows = json_object_get(json, "rows");
    assert_int_equal(json_array_size(rows), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(rows, i);
        static const struct {
            json_int_t line, bytes;
        } expected[] = {{12, 1000}, {11, 100}, {10, 24}};

        assert_int_equal(json_integer_value(json_object_get(row, "line")), expected[i].line);
        assert_int_equal(json_integer_value(json_object_get(row, "bytes")), expected[i].bytes);
    }
    json_decref(json);
    unlink(path);
}

TEST(of_a_row_that_was_exported_again_the_larger_amount_counts)
{
    char path[PATH];
    json_t *json;

    written(path, RECORDING METHOD TYPE FRAME(4, "10") STACK(7, 4) AMOUNT(7, "24") AMOUNT(7, "48")
                      AMOUNT(7, "32"));
    json = printed(ROWS("--by=type", path));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "total"), "bytes")),
                     48);
    json_decref(json);
    unlink(path);
}

TEST(what_is_no_row_is_refused_in_one_line)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"nonsense\n", ":1: the line is not a row"},
        {"{\"kind\":\"allocated\"}\n", ":1: member \"stack\" is missing"},
        {"{\"a\":1}\n", "has no \"kind\""},
        {"[]\n", "not a row"},
        {"{\"kind\":\"header\",\"format\":\"shadowtrace\"}\n", "this is a log, not rows of one"},
        {"{\"kind\":\"recording\",\"id\":\"" ID(1) "\",\"format_version\":2}\n",
         "rows of version 2"},
        {"{\"kind\":\"recording\",\"id\":\"0\"}\n", "member \"id\" is not an id"},
        {"{\"kind\":\"type\",\"id\":\"" ID(0) "\"}\n", "member \"id\" is missing"},
        {FRAME(4, "1"), "the frame's method is not defined before it"},
        {METHOD STACK(7, 4), ":2: the stack's frame is not defined before it"},
        {METHOD FRAME(4, "1") "{\"kind\":\"stack\",\"id\":\"" ID(7) "\",\"frame\":\"" ID(
             4) "\",\"parent\":\"" ID(9) "\"}\n",
         "the stack's parent is not defined"},
        {METHOD FRAME(4, "1") STACK(7, 4) AMOUNT(7, "1"), "the type is not defined"},
        {METHOD TYPE FRAME(4, "1") STACK(7, 4) AMOUNT(7, "1"), "the recording is not defined"},
        {RECORDING METHOD TYPE FRAME(4, "1") STACK(7, 4) AMOUNT(7, "-1"),
         "member \"bytes\" is not a count"},
        {RECORDING METHOD TYPE FRAME(4, "1") STACK(7, 4) AMOUNT(7, "\"1\""),
         "member \"bytes\" is not a count"},
        {RECORDING "\n\n{\"kind\":", ":4: the line is not a row: the file ends within it"},
    };
    char path[PATH];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ran ran;

        written(path, cases[i].text);
        ran = ROWS("--by=type", path);
        if (ran.status != CLI_IO || !strstr(ran.err, cases[i].why) || strchr(ran.err, '\n')[1])
            fail_msg("%s: status %d, %s", cases[i].text, ran.status, ran.err);
        free(ran.out);
        unlink(path);
    }
}

#define DEEP 100000
#define LONG 100000

TEST(stacks_of_100000_frames_and_names_of_100_kb_are_read)
{
    char path[PATH], *name = malloc(LONG + 1);
    json_t *json;
    FILE *file;

    memset(name, 'x', LONG);
    name[LONG] = '\0';
    written(path, RECORDING TYPE);
    file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "{\"kind\":\"method\",\"id\":\"" ID(2) "\",\"name\":\"%s\"}\n" FRAME(4, "10"),
            name);
    for (unsigned i = 1; i <= DEEP; i++)
        fprintf(file,
                "{\"kind\":\"stack\",\"id\":\"00000000-0000-0000-0001-%012x\",\"parent\":"
                "\"00000000-0000-0000-000%d-%012x\","
                "\"frame\":\"" ID(4) "\"}\n",
                i, i > 1, i > 1 ? i - 1 : 0);
    fprintf(file,
            "{\"kind\":\"allocated\",\"stack\":\"00000000-0000-0000-0001-%012x\",\"type\":\"" ID(
                3) "\",\"bytes\":24,"
                   "\"allocs\":1}\n",
            DEEP);
    fclose(file);
    json = printed(ROWS("--by=method", path));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "total"), "bytes")),
                     24);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(json, "rows"), 0), "method")),
                        name);
    json_decref(json);
    free(name);
    unlink(path);
}

TEST(times_and_dumps_do_not_go_with_rows)
{
    struct ran times = ROWS("--from=1s", FIXTURES "small.ndjson"),
               dump = RUN(&cmd_html, "html", "--from-rows", "--heap", "x", "-o-",
                          FIXTURES "small.ndjson");

    assert_int_equal(times.status, CLI_USAGE);
    assert_non_null(strstr(times.err, "--from and --to do not go with --from-rows"));
    assert_int_equal(dump.status, CLI_USAGE);
    free(times.out);
    free(dump.out);
}

TEST(memory_that_runs_out_is_said)
{
    char path[PATH];

    rows_of(path, "lines");
    for (long count = 0;; count++) {
        struct ran ran;

        memory_fail_after(count);
        ran = ROWS("--by=type", path);
        memory_fail_after(-1);
        free(ran.out);
        if (ran.status == CLI_OK)
            break;
        assert_int_equal(ran.status, CLI_IO);
        assert_true(count < 20000);
    }
    unlink(path);
}
