/*
 * A recording in several parts, as --max-log and `ctl PID rotate` leave them: every reader finds the earlier ones itself,
 * counts none twice, and says which are missing.
 */
#include "unit/cli/command_support.h"
#include "support/test.h"

#include <stdbool.h>

static char folder[] = "/tmp/shadowtrace-parts-XXXXXX", last[100], first[100], second[100];

#define HEADER(part, more) \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,\"executable\":" \
    "\"x\"," \
    "\"runtime\":\"10.0.1\",\"hooks\":\"elt3\",\"clock\":5,\"started\":\"2026-11-21T10:00:" \
    "00Z\"" part more "}\n"
#define DEFINITIONS \
    "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n{\"kind\":\"class\",\"id\":1,\"name\":\"System." \
    "String\"}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}\n" \
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n"
#define ALLOC(t) \
    "{\"kind\":\"alloc\",\"t\":" #t ",\"thread\":1,\"class\":1,\"bytes\":32,\"node\":1,\"il\":4}" \
    "\n"
#define END(rotated) \
    "{\"kind\":\"end\",\"t\":9,\"seen\":6,\"written\":6,\"lost\":0,\"lost_by\":{},\"bytes\":192," \
    "\"part\":3," \
    "\"records\":{\"header\":3,\"thread\":3,\"class\":3,\"method\":3,\"node\":3,\"alloc\":" \
    "6}" rotated "}\n"
#define PART1 HEADER("", "") DEFINITIONS ALLOC(1)
#define PART2 HEADER(",\"part\":2", "") DEFINITIONS ALLOC(2) ALLOC(3)
#define PART3 HEADER(",\"part\":3", "") DEFINITIONS ALLOC(4) ALLOC(5) ALLOC(6) END("")
#define ROTATED \
    ",\"rotated_out\":{\"parts\":1,\"allocs\":1,\"bytes\":32,\"records\":{\"header\":1," \
    "\"thread\":1," \
    "\"class\":1,\"method\":1,\"node\":1,\"alloc\":1}}"
#define CUT ",\"rotated_out\":{\"parts\":1,\"allocs\":1,\"bytes\":32,\"records\":{\"alloc\":1}}"
#define PART3_ROTATED \
    HEADER(",\"part\":3", ROTATED) DEFINITIONS ALLOC(4) ALLOC(5) ALLOC(6) END(ROTATED)

static void store(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(last, sizeof(last), "%s/log.ndjson", folder);
    snprintf(first, sizeof(first), "%s/log.ndjson.1", folder);
    snprintf(second, sizeof(second), "%s/log.ndjson.2", folder);
    return 0;
}

static int all_parts(void **state)
{
    (void)state;
    store(first, PART1);
    store(second, PART2);
    store(last, PART3);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    unlink(first);
    unlink(second);
    unlink(last);
    return rmdir(folder);
}

TEST_EACH(all_parts, NULL);
TEST_GROUP(make, forget);

static void expect(struct ran ran, const char *words, bool there)
{
    if (!strstr(ran.out, words) == there)
        fail_msg("\"%s\" is %s:\n%s%s", words, there ? "missing" : "there", ran.out, ran.err);
    free(ran.out);
}

#define REPORT(...) RUN(&cmd_report, "report", "--no-lines", __VA_ARGS__)

TEST(earlier_parts_are_found)
{
    expect(REPORT(last), "6 allocations, 192 bytes", true);
    expect(REPORT(last), "The log is complete to its end.", true);
    expect(REPORT("--format=json", last), "\"complete\":true", true);
    expect(RUN(&cmd_compare, "compare", last), "The log is complete", true);
    expect(RUN(&cmd_diff, "diff", "--no-lines", last, last), "NOT COMPLETE", false);
    expect(RUN(&cmd_replay, "replay", last), "The log is complete", true);
    expect(RUN(&cmd_validate, "validate", last), "valid: 22 lines, 6 of them", true);
    expect(RUN(&cmd_validate, "validate", last), "NOT COMPLETE", false);
}

TEST(no_part_is_counted_twice)
{
    expect(REPORT(last, first), "6 allocations, 192 bytes", true);
    expect(REPORT(first, last), "6 allocations, 192 bytes", true);
    expect(REPORT(first, second, last), "6 allocations, 192 bytes", true);
    expect(REPORT(first, second, last), "The log is complete to its end.", true);
}

/* By its own name, by another one, and as a log without several parts. */
TEST(a_file_is_read_once_however_often_it_is_named)
{
    char link[120], alone[120];

    snprintf(link, sizeof(link), "%s/link", folder);
    snprintf(alone, sizeof(alone), "%s/alone", folder);
    assert_int_equal(symlink(first, link), 0);
    expect(REPORT(link, last, last), "6 allocations, 192 bytes", true);
    expect(REPORT("--by=type", link, last, last), "6 allocations, 192 bytes", true);
    store(alone, HEADER("", "") DEFINITIONS ALLOC(1));
    expect(REPORT(alone, alone), "1 allocation, 32 bytes", true);
    expect(REPORT("--view=callers", "A.B", alone, alone), "1 allocation, 32 bytes", true);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(alone, link), 0);
    expect(REPORT("--by=type", alone, last, link), "7 allocations, 224 bytes", true);
    unlink(link);
    unlink(alone);
}

#define FOLDED(...) \
    RUN(&cmd_export, "export", "--format=collapsed", "-o", "-", "--no-lines", __VA_ARGS__)
#define PROFILE "tests/fixtures/logs/shop-profile.ndjson"

TEST(whatever_adds_up_logs_reads_a_part_once)
{
    struct ran once = RUN(&cmd_profile, "profile", PROFILE),
               twice = RUN(&cmd_profile, "profile", PROFILE, PROFILE);

    assert_string_equal(once.out, twice.out);
    free(once.out);
    free(twice.out);
    expect(FOLDED(last), "A.B();[System.String] 192\n", true);
    expect(FOLDED(first, last), "A.B();[System.String] 192\n", true);
    expect(FOLDED(last, second), "A.B();[System.String] 192\n", true);
}

#define DIFF(...) RUN(&cmd_diff, "diff", "--no-lines", __VA_ARGS__)

TEST(each_side_of_a_difference_reads_a_part_once)
{
    expect(DIFF(first, last, "--", second, second), "log.ndjson: 6 allocations, 192 bytes", true);
    expect(DIFF(first, last, "--", second, second), "log.ndjson.2: 2 allocations, 64 bytes", true);
    expect(DIFF(second, "--", last, first), "log.ndjson: 6 allocations, 192 bytes", true);
}

/* Both sides of a difference may be the same file. */
TEST(what_two_sides_name_is_read_for_both)
{
    expect(RUN(&cmd_diff, "diff", "--no-lines", "--format=json", last, last), "\"allocs\":6", true);
    expect(RUN(&cmd_diff, "diff", "--no-lines", "--format=json", first, "--", last), "\"allocs\":6",
           true);
}

TEST(a_part_alone_says_so)
{
    expect(REPORT(first), "1 allocation, 32 bytes", true);
    expect(REPORT(first), "2 parts of the recording are missing: 2 to 3", true);
    expect(RUN(&cmd_validate, "validate", first), "2 parts of the recording are missing", true);
}

TEST(missing_parts_are_named)
{
    unlink(first);
    expect(REPORT(last), "5 allocations, 160 bytes", true);
    expect(REPORT(last), "1 part of the recording is missing: 1", true);
    expect(REPORT(last), "1 of 6 allocations are missing", true);
    expect(REPORT("--format=json", last), "\"reason\":\"parts_missing\"", true);
}

TEST(parts_that_were_overwritten_are_told)
{
    unlink(second);
    store(first, PART2);
    store(last, PART3_ROTATED);
    expect(REPORT(last), "5 allocations, 160 bytes", true);
    expect(REPORT(last), "1 part is gone, overwritten (--max-log) or removed, with 1 allocation",
           true);
    expect(REPORT(last), "missing", false); /* what is gone is accounted for */
    expect(REPORT("--format=json", last), "\"reason\":\"rotated_out\"", true);
    expect(RUN(&cmd_validate, "validate", last), "1 part is gone", true);
}

/* As with a log that was removed, and those before and after it moved away: what was kept is not the end of what there was. */
TEST(a_part_in_the_middle_that_is_gone_is_not_called_missing)
{
    unlink(second);
    store(first, HEADER("", "") DEFINITIONS ALLOC(1) ALLOC(2));
    store(last, PART3_ROTATED);
    expect(REPORT(last), "5 allocations, 160 bytes", true);
    expect(REPORT(last), "1 part is gone", true);
    expect(REPORT(last), "missing", false);
}

#define TRUNCATED ",\"file\":{\"truncated\":500}"

/* The part that was cut is there, and is gone: what is left of it does not make it whole. */
TEST(what_was_cut_off_a_part_is_gone_too)
{
    store(first, HEADER("", "") DEFINITIONS ALLOC(1));
    store(second, PART2);
    store(last, HEADER(",\"part\":3", CUT) DEFINITIONS ALLOC(4) ALLOC(5) END(CUT TRUNCATED));
    expect(REPORT(last), "5 allocations, 160 bytes", true);
    expect(REPORT(last), "1 part is gone", true);
    expect(REPORT(last), "missing", false);
}

TEST(files_of_other_recordings_are_left_alone)
{
    store(first, "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":8,"
                 "\"clock\":5}\n" ALLOC(1));
    expect(REPORT(last), "5 allocations, 160 bytes", true);
    store(first, "no log at all\n");
    expect(REPORT(last), "5 allocations, 160 bytes", true);
}

/* 0.1 wrote into each part when that part began. */
TEST(parts_of_old_logs_are_found)
{
    char *text = strdup(PART2), *began = strstr(text, "10:00:");

    memcpy(began, "10:07:", 6);
    store(second, text);
    free(text);
    expect(REPORT(last), "6 allocations, 192 bytes", true);
    expect(REPORT(last), "The log is complete to its end.", true);
}
