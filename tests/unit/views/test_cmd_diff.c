#include "unit/cli/command_support.h"
#include "support/test.h"

#include <jansson.h>

#define DIFF(...) RUN(&cmd_diff, "diff", __VA_ARGS__)
#define OLD       FIXTURES "small.ndjson"
#define NEW       FIXTURES "newer.ndjson"

TEST(text_is_as_expected)
{
    expect_ran(DIFF(OLD, NEW), CLI_OK, FIXTURES "newer.diff.txt");
    expect_ran(DIFF("--by=type", OLD, NEW), CLI_OK, FIXTURES "newer.diff-type.txt");
    expect_ran(DIFF("--exact", OLD, NEW), CLI_OK, FIXTURES "newer.diff-exact.txt");
    expect_ran(DIFF(OLD, FIXTURES "sampled.ndjson"), CLI_OK, FIXTURES "sampled.diff.txt");
    expect_ran(DIFF("--by=line", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "lines.ndjson",
                    FIXTURES "lines-newer.ndjson"),
               CLI_OK, FIXTURES "lines.diff-line.txt");
}

TEST(json_is_as_expected)
{
    expect_ran(DIFF("--format=json", OLD, NEW), CLI_OK, FIXTURES "newer.diff.json");
    expect_ran(DIFF("--format=json", "--inline-stacks", "--depth=2", OLD, NEW), CLI_OK,
               FIXTURES "newer.diff-inline.json");
}

TEST(every_json_is_json_that_adds_up)
{
    static const char *const keys[] = {"site", "type", "method", "thread", "module", "line"};
    static const char *const logs[] = {"small", "newer", "mismatch", "sites", "inline", "damaged"};
    char path[100];

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        for (size_t k = 0; k < 6; k++) {
            json_int_t sum = 0;
            struct ran ran;
            json_t *json, *row;
            size_t at;

            snprintf(path, sizeof(path), FIXTURES "%s.ndjson", logs[k]);
            ran = DIFF("--format=json", "--by", keys[i], OLD, path);
            assert_int_equal(ran.status, CLI_OK);
            json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(json);
            json_array_foreach(json_object_get(json, "rows"), at, row) sum +=
                json_integer_value(json_object_get(row, "bytes"));
            assert_int_equal(
                sum, json_integer_value(json_object_get(json_object_get(json, "change"), "bytes")));
            json_decref(json);
            free(ran.out);
        }
}

TEST(logs_of_hooks_in_all_methods_and_in_some_are_compared_by_what_both_have)
{
    struct ran ran = DIFF("--by=own", OLD, FIXTURES "own.ndjson");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "Only some of the logs were recorded with --own or --only."));
    free(ran.out);
    ran = DIFF("--by=type", "--format=json", FIXTURES "own.ndjson", OLD);
    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "\"steady\":true"));
    free(ran.out);
    expect_complaint(DIFF(OLD, FIXTURES "own.ndjson"), CLI_USAGE,
                     "--by own, type or thread compares what both have");
}

/* own.ndjson, as record --own makes it now, in a file for unlink(). */
static void make_walked(char *path)
{
    static const char option[] = "\"own\":true", frames[] = ",\"framework_frames\":\"walk\"";
    FILE *in = fopen(FIXTURES "own.ndjson", "r"), *out = fdopen(mkstemp(path), "w");
    char line[4096], *at;

    assert_non_null(in);
    while (fgets(line, sizeof(line), in)) {
        at = strstr(line, option);
        if (at)
            fprintf(out, "%.*s%s%s", (int)(at + strlen(option) - line), line, frames,
                    at + strlen(option));
        else
            fputs(line, out);
    }
    fclose(in);
    fclose(out);
}

TEST(logs_with_the_frames_of_some_methods_and_with_all_are_compared_by_what_both_have)
{
    char path[] = "/tmp/shadowtrace-diff-XXXXXX";
    struct ran ran;

    make_walked(path);
    expect_complaint(DIFF(FIXTURES "own.ndjson", path), CLI_USAGE,
                     "own.ndjson' has the frames of hooked methods only");
    ran = DIFF("--by=own", FIXTURES "own.ndjson", path);
    assert_int_equal(ran.status, CLI_OK);
    free(ran.out);
    ran = DIFF(path, path);
    assert_int_equal(ran.status, CLI_OK);
    free(ran.out);
    unlink(path);
}

TEST(a_log_does_not_differ_from_itself)
{
    struct ran ran = DIFF(NEW, NEW);

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "Shown: 0 of 0 call sites that changed; 5 did not."));
    free(ran.out);
}

TEST(small_changes_can_be_left_out)
{
    struct ran ran = DIFF("--format=json", "--min-bytes=150", "--top=5", OLD, NEW);
    json_t *json = json_loads(ran.out, 0, NULL);

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "changed")), 3);
    json_decref(json);
    free(ran.out);
}

TEST(modules_without_lines_are_named)
{
    struct ran ran = DIFF("--by=line", OLD, OLD);

    assert_non_null(strstr(ran.err, "IL offsets instead of lines: "));
    free(ran.out);
    ran = DIFF(OLD, OLD);
    assert_string_equal(ran.err, "");
    free(ran.out);
}

TEST(wrong_arguments_are_one_clear_line)
{
    expect_complaint(RUN(&cmd_diff, "diff"), CLI_USAGE, "expected two logs: OLD NEW");
    expect_complaint(DIFF(OLD), CLI_USAGE, "expected two logs: OLD NEW");
    expect_complaint(DIFF("a", "b", "c"), CLI_USAGE, "expected two logs: OLD NEW");
    expect_complaint(DIFF("-", "-"), CLI_USAGE, "only one of the logs can be standard input");
    expect_complaint(
        DIFF("--by=frame", OLD, NEW), CLI_USAGE,
        "--by takes site, type, method, thread, module, line, own or namespace, not \"frame\"");
    expect_complaint(DIFF("--jobs=0", OLD, NEW), CLI_USAGE,
                     "--jobs takes a number from 1 to 64, not 0");
    expect_complaint(DIFF(OLD, "/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
    expect_complaint(DIFF(FIXTURES "version2.ndjson", NEW), CLI_IO, "log version 2");
    expect_complaint(DIFF(OLD, "Makefile"), CLI_IO, "not a shadowtrace log");
    expect_complaint(DIFF(OLD, "README.md"), CLI_IO, "not a shadowtrace log");
}
