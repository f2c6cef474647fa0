/* Logs of the command line that are truncated, or hold another recording, while they are served. */
#include "server/answer.h"

#include "unit/readers/memory_log.h"
#include "base/clock.h"
#include "support/test.h"

#include <unistd.h>

#define NAMES \
    "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n{\"kind\":\"class\",\"id\":1,\"name\":\"C\"}\n"
#define ALLOC "{\"kind\":\"alloc\",\"t\":9000,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":0}\n"
#define END \
    "{\"kind\":\"end\",\"t\":9900,\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{},\"bytes\":" \
    "40}\n"

static struct traced_set set;
static char folder[] = "/tmp/test-traced-XXXXXX", path[100], said[1000];
static char *text;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/a.ndjson", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

TEST_GROUP(make_folder, remove_folder);

static void say(void *context, const char *line)
{
    (void)context;
    snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static int setup(void **state)
{
    (void)state;
    set = (struct traced_set){.say = say};
    *said = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    traced_free(&set);
    free(text);
    text = NULL;
    unlink(path);
    return 0;
}

TEST_EACH(setup, teardown);

static void put(const char *mode, int pid, int part, unsigned allocs, const char *end)
{
    FILE *file = fopen(path, mode);

    assert_non_null(file);
    if (part)
        fprintf(file,
                "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":%d,"
                "\"clock\":5,\"part\":%d}\n" NAMES,
                pid, part);
    while (allocs--)
        fputs(ALLOC, file);
    fputs(end, file);
    assert_int_equal(fclose(file), 0);
}

static void read_all(void)
{
    while (traced_step(&set, 1000000000, UINT64_MAX))
        ;
}

static void follow_it(void)
{
    assert_int_equal(traced_add(&set, 0, path, clock_ns()), 0);
    read_all();
}

static void ask(enum answer_kind kind)
{
    static const struct serve_options options = {.top = 20};
    const struct answer_ask how = {
        .kind = kind, .set = &set, .of = NULL, .now_ns = clock_ns(), .options = &options};
    struct answer_ask page = how;
    size_t size;
    FILE *out;

    free(text);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    page.of = traced_default(&set);
    assert_int_equal(kind == ANSWER_METRICS ? answer_metrics(&how, out) : answer_index(&page, out),
                     0);
    fclose(out);
}

static void expect_line(const char *name, int pid, const char *value)
{
    char start[200], wanted[100];
    const char *at;

    snprintf(start, sizeof(start), "\n%s{pid=\"%d\",", name, pid);
    snprintf(wanted, sizeof(wanted), "} %s\n", value);
    at = strstr(text, start);
    if (!at || strncmp(strchr(at, '}'), wanted, strlen(wanted)) != 0)
        fail_msg("no %s...%s in\n%s", start + 1, wanted, text);
}

TEST(a_log_that_was_truncated_is_served_on_and_says_so)
{
    put("w", 7, 1, 3, "");
    follow_it();
    put("w", 7, 2, 1, ""); /* as the recorder does when it sees that its file was emptied */
    put("a", 7, 0, 1, "");
    read_all();
    assert_int_equal(set.count, 1);
    ask(ANSWER_METRICS);
    expect_line("shadowtrace_allocations_total", 7, "5");
    expect_line("shadowtrace_up", 7, "1");
    expect_line("shadowtrace_log_truncations_total", 7, "1");
    expect_line("shadowtrace_log_gone_bytes_total", 7, "0");
    assert_non_null(strstr(said, "was truncated or overwritten"));
    assert_int_equal(strchr(said, '\n')[1], '\0');
    ask(ANSWER_INDEX);
    assert_non_null(strstr(text, "runs; its log was truncated: "));
}

TEST(what_was_gone_before_it_was_read_is_counted)
{
    put("w", 7, 1, 30000, "");
    assert_int_equal(traced_add(&set, 0, path, clock_ns()), 0);
    assert_true(traced_step(&set, 1000000000, UINT64_MAX)); /* a part of it */
    assert_int_equal(truncate(path, 0), 0);
    read_all();
    put("a", 7, 2, 1, "");
    read_all();
    ask(ANSWER_METRICS);
    assert_true(set.all[0]->losses.bytes > 100000);
    assert_non_null(strstr(text, "reason=\"file\",what=\"truncated\",by=\"follow\"} "));
}

static void expect_both(void)
{
    read_all();
    assert_int_equal(set.count, 2);
    ask(ANSWER_METRICS);
    expect_line("shadowtrace_allocations_total", 7, "3");
    expect_line("shadowtrace_allocations_total", 8, "2");
    expect_line("shadowtrace_up", 7, "0");
    expect_line("shadowtrace_up", 8, "1");
}

TEST(another_recording_in_the_place_of_a_log_is_served_as_well)
{
    put("w", 7, 1, 3, "");
    follow_it();
    unlink(path);
    put("w", 8, 1, 2, "");
    expect_both();
    assert_non_null(strstr(said, "was replaced"));
    ask(ANSWER_INDEX);
    assert_non_null(strstr(text, "something else is in the place of its log now"));
}

TEST(another_recording_in_the_same_file_is_served_as_well)
{
    put("w", 7, 1, 3, "");
    follow_it();
    put("w", 8, 1, 2, "");
    expect_both();
}

TEST(a_log_that_is_recorded_again_after_its_end_is_served_as_well)
{
    put("w", 7, 1, 3, END);
    follow_it();
    assert_int_equal(set.all[0]->state, TRACED_ENDED);
    unlink(path);
    read_all();
    assert_int_equal(set.count, 1);
    put("w", 8, 1, 2, "");
    expect_both();
}

/* No series may be there twice. */
TEST(a_log_that_is_written_anew_counts_once)
{
    put("w", 7, 1, 3, "");
    follow_it();
    put("w", 7, 1, 2, "");
    put("a", 7, 0, 30, "");
    read_all();
    ask(ANSWER_METRICS);
    expect_line("shadowtrace_allocations_total", 7, "32");
    assert_null(strstr(strstr(text, "\nshadowtrace_allocations_total{") + 1,
                       "\nshadowtrace_allocations_total{"));
}

TEST(of_many_recordings_in_one_place_the_last_two_stay)
{
    put("w", 1, 1, 3, "");
    follow_it();
    for (int pid = 2; pid < 100; pid++) {
        unlink(path);
        put("w", pid, 1, 1, "");
        read_all();
        assert_in_range(set.count, 2, 3);
    }
}
