#include "follow/follow.h"

#include "readers/header.h"
#include "readers/parts.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#define SMALL       "tests/fixtures/logs/small.ndjson"
#define BUDGET      ((size_t)1 << 20)
#define ALLOCATIONS 7 /* of SMALL, as its end record says, */
#define BYTES       221360

static struct log_problems problems;
static struct log_defs defs;
static struct log_input report;
static struct follow *followed;
static uint64_t allocs, bytes;
static char folder[] = "/tmp/test-follow-XXXXXX", path[100], older[110];
static char *small;
static size_t small_size;

static int count_allocs(void *context, const struct log_record *record)
{
    (void)context;
    if (record->kind == SST_KIND_ALLOC) {
        allocs++;
        bytes += record->alloc.bytes;
    }
    return 0;
}

static const struct log_consumer consumer = {count_allocs, NULL, NULL, NULL};

static int make_folder(void **state)
{
    (void)state;
    small = memory_log_file(SMALL, &small_size);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/log.ndjson", folder);
    snprintf(older, sizeof(older), "%s.1", path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    free(small);
    return rmdir(folder);
}

TEST_GROUP(make_folder, remove_folder);

static int setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    log_input_init(&report);
    allocs = bytes = 0;
    return log_defs_init(&defs, &problems);
}

static int teardown(void **state)
{
    (void)state;
    follow_free(followed);
    followed = NULL;
    log_input_fini(&report);
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    unlink(path);
    unlink(older);
    return 0;
}

TEST_EACH(setup, teardown);

static void append(const char *to, const char *data, size_t size)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void append_text(const char *to, const char *text)
{
    append(to, text, strlen(text));
}

static void follow_it(void)
{
    assert_int_equal(follow_new(path, &defs, &consumer, &report, &followed), 0);
}

/* Where the n-th line of SMALL begins; 0 is the first. */
static size_t line_at(unsigned n)
{
    const char *at = small;

    while (n--)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - small);
}

/* A header of a part of the recording that SMALL is of, or of another one. */
static const char *header(unsigned part, unsigned long clock)
{
    static char text[300];

    snprintf(
        text, sizeof(text),
        "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":4711,\"clock\":%lu,"
        "\"part\":%u}\n",
        clock, part);
    return text;
}

#define CLOCK 123456789012345UL /* of SMALL */
#define ALLOC "{\"kind\":\"alloc\",\"t\":9000,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":0}\n"

static void assert_all_of_small(void)
{
    struct log_completeness gaps;

    assert_int_equal(allocs, ALLOCATIONS);
    assert_int_equal(bytes, BYTES);
    assert_int_equal(report.used, 29);
    assert_true(follow_ended(followed));
    log_input_completeness(&report, &gaps);
    assert_true(log_complete(&gaps));
}

TEST(a_log_that_grows_byte_by_byte_is_read_as_a_whole_one)
{
    uint64_t before = 0;

    append(path, small, 0);
    follow_it();
    for (size_t i = 0; i < small_size; i++) {
        assert_false(follow_ended(followed));
        append(path, small + i, 1);
        assert_int_equal(follow_step(followed, BUDGET, 0), 0);
        assert_true(report.lines - before <= 1);
        before = report.lines;
    }
    assert_all_of_small();
    assert_int_equal(report.skipped, 0);
    assert_int_equal(follow_taken(followed), small_size);
}

TEST(a_packed_log_that_grows_byte_by_byte_gives_each_piece_once_it_is_there)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    char packed[8192];
    ZSTD_outBuffer out = {packed, sizeof(packed), 0};
    ZSTD_inBuffer first = {small, line_at(16), 0},
                  rest = {small + line_at(16), small_size - line_at(16), 0};
    size_t flushed;

    while (ZSTD_compressStream2(z, &out, &first, ZSTD_e_flush))
        ;
    flushed = out.pos;
    while (ZSTD_compressStream2(z, &out, &rest, ZSTD_e_end))
        ;
    ZSTD_freeCCtx(z);
    append(path, packed, 0);
    follow_it();
    for (size_t i = 0; i < out.pos; i++) {
        append(path, packed + i, 1);
        assert_int_equal(follow_step(followed, BUDGET, 0), 0);
        if (i + 1 == flushed)
            assert_int_equal(report.used, 16);
    }
    assert_all_of_small();
}

TEST(a_small_budget_reads_it_all_in_more_steps)
{
    unsigned steps = 1;

    append(path, small, small_size);
    follow_it();
    assert_int_equal(follow_left(followed), small_size);
    while (follow_step(followed, 100, 0))
        steps++;
    assert_in_range(steps, small_size / 100, small_size / 100 + 2);
    assert_int_equal(follow_left(followed), 0);
    assert_all_of_small();
}

TEST(a_log_that_is_moved_is_read_on_where_it_is)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(rename(path, older), 0);
    append(older, small + line_at(13), small_size - line_at(13));
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_all_of_small();
}

TEST(a_log_that_is_removed_is_read_to_its_end)
{
    int fd;

    append(path, small, line_at(13));
    follow_it();
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(fd, small + line_at(13), small_size - line_at(13)),
                     small_size - line_at(13));
    close(fd);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_all_of_small();
}

TEST(a_part_that_follows_is_read_behind_the_rest_of_the_one_before)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append(path, small + line_at(13), line_at(28) - line_at(13)); /* all but its end record */
    assert_int_equal(rename(path, older), 0);
    append_text(path, header(2, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
    assert_int_equal(report.tally.part, 2);
    assert_int_equal(report.tally.skipped, 0);
    assert_int_equal(report.headers, 1);
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 2);
}

TEST(parts_between_two_looks_are_found_beside_the_log)
{
    char second[120];

    snprintf(second, sizeof(second), "%s.2", path);
    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(rename(path, older), 0);
    append_text(second, header(2, CLOCK));
    append_text(second, ALLOC);
    append_text(path, header(3, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 2);
    assert_int_equal(report.tally.skipped, 0);
    unlink(second);
}

TEST(a_part_that_was_gone_before_it_was_opened_is_counted)
{
    struct log_completeness gaps;

    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(unlink(path), 0);
    append_text(path, header(3, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
    log_input_completeness(&report, &gaps);
    assert_non_null(log_gap_of(&gaps, LOG_GAP_PARTS));
    assert_int_equal(log_gap_of(&gaps, LOG_GAP_PARTS)->count, 1);
}

TEST(a_large_log_that_was_there_before_has_parts_too)
{
    append(path, small, line_at(28));
    for (unsigned i = 0; i < 15000; i++)
        append_text(path, ALLOC);
    follow_it();
    assert_int_equal(rename(path, older), 0);
    append_text(path, header(2, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET * 8, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 15001);
}

TEST(what_lies_beside_it_from_before_is_read_first)
{
    append(older, small, line_at(28));
    append_text(path, header(2, CLOCK));
    append_text(path, ALLOC);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
    assert_int_equal(report.tally.first, 1);
}

/* What comes of a second part, byte by byte, when it was opened before its header was there. */
static void second_part_comes(const char *data, size_t size)
{
    struct log_completeness gaps;

    append(older, small, line_at(28));
    append_text(path, "");
    follow_it();
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(follow_step(followed, BUDGET, 0), 0);
        append(path, data + i, 1);
    }
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
    assert_int_equal(report.tally.first, 1);
    assert_int_equal(report.tally.skipped, 0);
    assert_int_equal(report.headers, 1);
    assert_int_equal(follow_left(followed), 0);
    log_input_completeness(&report, &gaps);
    assert_null(log_gap_of(&gaps, LOG_GAP_PARTS));
}

TEST(what_lies_beside_a_file_without_its_header_is_read_first)
{
    char text[400];

    snprintf(text, sizeof(text), "%s%s", header(2, CLOCK), ALLOC);
    second_part_comes(text, strlen(text));
}

TEST(what_lies_beside_a_packed_file_without_its_header_is_read_first)
{
    char text[400], packed[600];
    size_t size;

    snprintf(text, sizeof(text), "%s%s", header(2, CLOCK), ALLOC);
    size = ZSTD_compress(packed, sizeof(packed), text, strlen(text), 3);
    assert_false(ZSTD_isError(size));
    second_part_comes(packed, size);
}

static bool absent;

/* In place of libc's: the part comes during the pause, however late a thread that makes it would run. */
int nanosleep(const struct timespec *span, struct timespec *rest)
{
    (void)span, (void)rest;
    if (absent)
        append(path, small, small_size);
    absent = false;
    return 0;
}

/* It was renamed, and the part that follows it is not there yet. */
TEST(a_log_between_two_parts_is_waited_for)
{
    absent = true;
    follow_it();
    assert_false(absent);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_all_of_small();
}

TEST(another_recording_at_its_path_is_left_alone)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(rename(path, older), 0);
    append_text(path, header(1, CLOCK + 1));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append(older, small + line_at(13), small_size - line_at(13));
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_all_of_small();
}

TEST(a_part_is_read_although_another_file_stood_at_its_path_before)
{
    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(rename(path, older), 0);
    append_text(path, header(1, CLOCK + 1));
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(unlink(path), 0);
    append_text(path, header(2, CLOCK)); /* maybe with the number of the file before */
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
}

TEST(a_file_without_its_header_yet_is_looked_at_again)
{
    const char *text = header(2, CLOCK);

    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(rename(path, older), 0);
    append(path, text, 20);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append_text(path, text + 20);
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1);
}

TEST(a_log_that_is_cut_short_goes_on_in_the_part_that_follows)
{
    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(rename(path, older), 0); /* as the recorder does with one that was cut */
    append_text(path, header(2, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS + 1); /* and what was read before stays */
    assert_int_equal(report.skipped, 0);
}

/* ---- files that become shorter, or something else ---- */

static void overwrite(const char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static uint64_t file_gap(const char *what)
{
    struct log_completeness gaps;

    log_input_completeness(&report, &gaps);
    for (size_t i = 0; i < gaps.count; i++)
        if (gaps.gaps[i].kind == LOG_GAP_FILE && !strcmp(gaps.gaps[i].what, what))
            return gaps.gaps[i].count;
    return 0;
}

/* The recorder, which sees it too, begins with a header in the same file: `: > LOG`. */
TEST(a_log_that_is_emptied_is_read_on_from_its_next_header)
{
    char news[500];

    append(path, small, line_at(28));
    follow_it();
    assert_int_equal(follow_step(followed, 1000, 0), 1);
    assert_false(follow_news(followed, news, sizeof(news)));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_true(file_gap("truncated") >= line_at(28) - 1000);
    assert_int_equal(follow_losses(followed)->bytes, file_gap("truncated"));
    assert_true(follow_news(followed, news, sizeof(news)));
    assert_non_null(strstr(news, "bytes were gone before they were read"));
    assert_false(follow_news(followed, news, sizeof(news)));
    append(path, header(2, CLOCK), 30);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append_text(path, header(2, CLOCK) + 30);
    allocs = 0;
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 2);
    assert_int_equal(report.headers, 1);
    assert_int_equal(report.damaged, 0);
    assert_int_equal(report.tally.part, 2);
}

/* By the next look it is longer than what was read of it. */
TEST(a_log_that_is_emptied_and_grows_at_once_is_noticed_all_the_same)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    allocs = 0;
    overwrite(header(2, CLOCK), strlen(header(2, CLOCK)));
    for (unsigned i = 0; i < 100; i++)
        append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 100);
    assert_int_equal(follow_losses(followed)->times, 1);
    assert_int_equal(report.damaged, 0);
}

TEST(a_packed_log_that_is_emptied_is_read_on_from_its_next_header)
{
    char packed[8192], text[400];
    size_t size = ZSTD_compress(packed, sizeof(packed), small, line_at(28), 3);

    append(path, packed, size);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    allocs = 0;
    snprintf(text, sizeof(text), "%s%s", header(2, CLOCK), ALLOC);
    size = ZSTD_compress(packed, sizeof(packed), text, strlen(text), 3);
    overwrite(packed, size);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 1);
    assert_int_equal(report.damaged + report.cut, 0);
}

TEST(what_is_written_behind_the_rest_of_a_log_is_read)
{
    append(path, small, line_at(20) + 30);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(truncate(path, (off_t)line_at(15)), 0);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(follow_losses(followed)->times, 1);
    assert_int_equal(file_gap("truncated"), 30);
    allocs = 0;
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 1);
    assert_int_equal(report.damaged, 0);
}

TEST(what_is_written_behind_half_a_line_is_no_line)
{
    append(path, small, line_at(20));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(truncate(path, (off_t)line_at(15) - 9), 0);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    allocs = 0;
    append_text(path, ALLOC);
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 1);
    assert_int_equal(report.damaged, 1);
}

TEST(nothing_is_read_of_another_recording_in_the_same_file)
{
    char news[500];

    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    allocs = 0;
    overwrite(header(1, CLOCK + 1), strlen(header(1, CLOCK + 1)));
    for (unsigned i = 0; i < 100; i++)
        append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 0);
    assert_true(follow_ended(followed));
    assert_true(follow_losses(followed)->replaced);
    assert_int_equal(file_gap("replaced"), 1);
    assert_true(follow_news(followed, news, sizeof(news)));
    assert_true(follow_news(followed, news, sizeof(news)));
    assert_non_null(strstr(news, "replaced"));
    assert_false(follow_news(followed, news, sizeof(news)));
}

TEST(nothing_is_read_twice_of_a_log_that_is_written_anew)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    allocs = 0;
    overwrite(small, line_at(12));
    append(path, small + line_at(13), small_size - line_at(13));
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, 0);
    assert_true(follow_losses(followed)->replaced);
}

TEST(a_part_that_is_overwritten_while_it_waits_is_not_read)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(rename(path, older), 0);
    append_text(path, header(2, CLOCK));
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, 100, 0), 1); /* both are open */
    overwrite(header(1, CLOCK + 1), strlen(header(1, CLOCK + 1)));
    append_text(path, ALLOC);
    while (follow_step(followed, BUDGET, 0))
        ;
    assert_int_equal(report.headers, 1);
    assert_true(follow_losses(followed)->replaced);
    assert_int_equal(report.recording.clock, CLOCK);
}

static void copy_over(size_t size)
{
    char copy[120];

    snprintf(copy, sizeof(copy), "%s.copy", path);
    append(copy, small, size);
    assert_int_equal(rename(copy, path), 0);
}

/* As rsync does: each copy is a separate file, renamed. */
TEST(a_log_that_is_copied_anew_each_time_is_read_on)
{
    char news[500];

    append(path, small, line_at(13) - 20);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    copy_over(line_at(12)); /* an older copy: it is waited for */
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    copy_over(line_at(20) + 7);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    copy_over(small_size);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_all_of_small();
    assert_false(follow_news(followed, news, sizeof(news)));
}

TEST(that_another_recording_is_at_the_path_is_told)
{
    append(path, small, line_at(13));
    follow_it();
    assert_int_equal(unlink(path), 0);
    append_text(path, header(1, CLOCK + 1));
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_true(follow_losses(followed)->replaced);
    assert_true(follow_is_removed(followed));
    assert_int_equal(follow_losses(followed)->times, 0);
}

/* ---- bounds of a step ---- */

TEST(a_packed_log_is_unpacked_in_steps)
{
    const size_t line = strlen(ALLOC), lines = (16 << 20) / line, begin = line_at(13);
    size_t size = begin + lines * line, most = 0;
    char *text = malloc(size), *packed = malloc(ZSTD_compressBound(size));
    unsigned steps = 0;

    assert_true(text && packed);
    memcpy(text, small, begin);
    for (size_t i = 0; i < lines; i++)
        memcpy(text + begin + i * line, ALLOC, line);
    size = ZSTD_compress(packed, ZSTD_compressBound(size), text, size, 3);
    assert_in_range(size, 1, 100000); /* all of it is one read */
    append(path, packed, size);
    follow_it();
    for (uint64_t before = 0; follow_step(followed, BUDGET, 0); steps++) {
        most = report.bytes - before > most ? (size_t)(report.bytes - before) : most;
        before = report.bytes;
    }
    assert_in_range(most, BUDGET / 2, BUDGET + line);
    assert_in_range(steps, 15, 32);
    free(text);
    free(packed);
}

/* Nor is more unpacked at a look for its header. */
TEST(what_is_longer_than_a_header_is_none)
{
    size_t size = LOG_HEADER_MAX + 1000, end = strlen(header(1, CLOCK)) - 2;
    char *text = malloc(size), *packed = malloc(ZSTD_compressBound(size));

    assert_true(text && packed);
    memset(text, ' ', size);
    memcpy(text, header(1, CLOCK), end);
    memcpy(text + size - 2, "}\n", 2);
    size = ZSTD_compress(packed, ZSTD_compressBound(size), text, size, 3);
    append(path, packed, size);
    assert_int_equal(log_part_of(path).number, 0);
    overwrite(header(1, CLOCK), strlen(header(1, CLOCK)));
    assert_int_equal(log_part_of(path).number, 1);
    free(text);
    free(packed);
}

TEST(a_step_ends_when_its_time_is_over)
{
    unsigned steps = 0;

    append(path, small, line_at(28));
    for (unsigned i = 0; i < 5000; i++)
        append_text(path, ALLOC);
    follow_it();
    while (follow_step(followed, BUDGET, 1)) /* a moment long ago */
        steps++;
    assert_in_range(steps, 50, 100);
    assert_int_equal(allocs, ALLOCATIONS + 5000);
}

/* The time is over when the end of the file was met, and the last line of it not used yet. */
TEST(a_step_that_ends_at_the_end_of_a_file_is_not_the_last)
{
    char *line = malloc(80000); /* long enough that the clock is read after it */

    assert_non_null(line);
    memset(line, ' ', 80000);
    append(path, small, line_at(13));
    append(path, line, 80000);
    follow_it();
    follow_end(followed);
    while (follow_step(followed, BUDGET, 1))
        ;
    assert_int_equal(report.cut, 1);
    assert_int_equal(follow_left(followed), 0);
    assert_int_equal(report.tally.followed && report.lines, 1);
    assert_true(follow_is_removed(followed)); /* no file is open any more */
    free(line);
}

TEST(half_a_line_counts_as_cut_only_when_nobody_writes_any_more)
{
    append(path, small, line_at(13) - 5);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(report.lines, 12);
    assert_int_equal(report.cut, 0);
    follow_end(followed);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(report.cut, 1);
    assert_int_equal(report.damaged, 0);
}

TEST(damaged_lines_are_skipped_and_the_rest_is_read)
{
    append(path, small, line_at(13));
    append_text(path, "{\"kind\":\"alloc\",\"t\":}\n");
    append(path, small + line_at(13), small_size - line_at(13));
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(allocs, ALLOCATIONS);
    assert_int_equal(report.damaged, 1);
}

TEST(what_is_no_log_is_given_up_for_good)
{
    for (unsigned i = 0; i < 1100; i++)
        append_text(path, "127.0.0.1 GET /\n");
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), -EBADMSG);
    append(path, small, small_size);
    assert_int_equal(follow_step(followed, BUDGET, 0), -EBADMSG);
    assert_int_equal(allocs, 0);
}

TEST(a_bad_line_on_the_thousandth_line_of_a_log_is_not_the_end_of_it)
{
    append(path, small, line_at(13));
    for (unsigned i = 13; i < 998; i++)
        append_text(path, ALLOC);
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append_text(path, "{}\n");
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    append_text(path, ALLOC);
    assert_int_equal(follow_step(followed, BUDGET, 0), 0);
    assert_int_equal(report.damaged, 1);
}

TEST(a_log_of_a_later_version_is_refused)
{
    append_text(path, "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":2}\n");
    follow_it();
    assert_int_equal(follow_step(followed, BUDGET, 0), -EPROTO);
}

TEST(what_is_no_file_is_refused)
{
    assert_int_equal(follow_new(folder, &defs, &consumer, &report, &followed), -EINVAL);
    assert_int_equal(follow_new(path, &defs, &consumer, &report, &followed), -ENOENT);
    assert_null(followed);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(follow_new(path, &defs, &consumer, &report, &followed), -EINVAL);
}

TEST(without_memory_it_fails_and_leaves_nothing)
{
    int err = -ENOMEM;

    append(path, small, small_size);
    for (long n = 0; err == -ENOMEM; n++) {
        memory_fail_after(n);
        err = follow_new(path, &defs, &consumer, &report, &followed);
        if (!err)
            err = follow_step(followed, BUDGET, 0);
        memory_fail_after(-1);
        if (err == -ENOMEM) {
            teardown(NULL);
            assert_int_equal(setup(NULL), 0);
            append(path, small, small_size);
        }
    }
    assert_int_equal(err, 0);
    assert_int_equal(allocs, ALLOCATIONS);
}
