#include "unit/cli/command_support.h"

#include "base/atomics.h"
#include "support/test.h"

#include <jansson.h>

#define REPORT(...) RUN(&cmd_report, "report", __VA_ARGS__)

TEST(text_is_as_expected)
{
    expect_ran(REPORT("--by=site", FIXTURES "small.ndjson"), CLI_OK, FIXTURES "small.report.txt");
    expect_ran(REPORT("--by=site", FIXTURES "mismatch.ndjson"), CLI_OK,
               FIXTURES "mismatch.report.txt");
    expect_ran(REPORT("--by=site", FIXTURES "inline.ndjson"), CLI_OK, FIXTURES "inline.report.txt");
    expect_ran(REPORT("--by=site", FIXTURES "sampled.ndjson"), CLI_OK,
               FIXTURES "sampled.report.txt");
    expect_ran(REPORT("--by=site", FIXTURES "dynamic.ndjson"), CLI_OK,
               FIXTURES "dynamic.report.txt");
    expect_ran(REPORT("--by=method", FIXTURES "dynamic.ndjson"), CLI_OK,
               FIXTURES "dynamic.report-method.txt");
    expect_ran(REPORT("--by", "type", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report-type.txt");
    expect_ran(REPORT("--by=method", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report-method.txt");
    expect_ran(REPORT("--by=thread", FIXTURES "sites.ndjson"), CLI_OK,
               FIXTURES "sites.report-thread.txt");
    expect_ran(REPORT("--by=module", "--type=*String", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report-module.txt");
    expect_ran(REPORT("--by=line", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "lines.ndjson"),
               CLI_OK, FIXTURES "lines.report-line.txt");
}

TEST(one_of_several_instructions_has_the_lines_that_they_are_on)
{
    expect_ran(
        REPORT("--by=line", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "several.ndjson"),
        CLI_OK, FIXTURES "several.report-line.txt");
    expect_ran(
        REPORT("--by=site", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "several.ndjson"),
        CLI_OK, FIXTURES "several.report.txt");
    expect_ran(REPORT("--format=json", FIXTURES "several.ndjson"), CLI_OK,
               FIXTURES "several.report.json");
}

TEST(names_are_short_full_or_raw)
{
    static const char *const styles[][3] = {
        {"--names=short", "byte[]", "at Basket.Add<T> +IL_0028"},
        {"--names=full", "System.Byte[]", "at Shop.Basket.Add<T>(System.String, T) +IL_0028"},
        {"--names=raw", "System.Byte[]", "at Shop.Basket.Add<T>(System.String, T) +IL_0028"},
        {"--names=raw", "System.Byte[]", "at Shop.Basket.Add<T>(System.String, T) +IL_0028"},
    };
    struct ran ran;

    for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
        ran = REPORT("--by=site", styles[i][0], FIXTURES "small.ndjson");
        assert_int_equal(ran.status, CLI_OK);
        assert_non_null(strstr(ran.out, styles[i][1]));
        assert_non_null(strstr(ran.out, styles[i][2]));
        free(ran.out);
    }
    ran = REPORT("--format=json", "--names=short", FIXTURES "small.ndjson");
    assert_non_null(strstr(ran.out, "\"method\":\"string.Concat\""));
    free(ran.out);
    expect_complaint(REPORT("--names=long", FIXTURES "small.ndjson"), CLI_USAGE,
                     "short, full or raw");
}

TEST(json_is_as_expected)
{
    expect_ran(REPORT("--format=json", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report.json");
    expect_ran(REPORT("--format=json", "--inline-stacks", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report-inline.json");
    expect_ran(REPORT("--format=json", FIXTURES "sampled.ndjson"), CLI_OK,
               FIXTURES "sampled.report.json");
    expect_ran(REPORT("--format=json", FIXTURES "inline.ndjson"), CLI_OK,
               FIXTURES "inline.report.json");
    expect_ran(REPORT("--format=json", "--by=thread", FIXTURES "sites.ndjson"), CLI_OK,
               FIXTURES "sites.report-thread.json");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, in order. Owns: the text goes. */
static size_t sort_lines(char *text, char *lines[100])
{
    size_t count = 0;
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < 100);
        lines[count++] = line;
    }
    qsort(lines, count, sizeof(*lines), by_text);
    return count;
}

/* Of one version; the line that names the new spelling is in the golden files. */
TEST(folded_is_an_old_spelling_of_collapsed)
{
    static const char *const logs[] = {FIXTURES "small.ndjson", FIXTURES "dynamic.ndjson",
                                       FIXTURES "inline.ndjson", FIXTURES "several.ndjson"};

    for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
        struct ran old = REPORT("--format=folded", logs[i]);
        struct ran new = RUN(&cmd_export, "export", "--format=collapsed", "--names=raw",
                             "--min-share=0", "--output=-", logs[i]);
        char *olds[100], *news[100];
        size_t count = sort_lines(old.out, olds);

        assert_int_equal(old.status | new.status, CLI_OK);
        assert_int_equal(sort_lines(new.out, news), count);
        for (size_t k = 0; k < count; k++)
            assert_string_equal(olds[k], news[k]);
        free(old.out);
        free(new.out);
    }
}

TEST(folded_stacks_are_as_expected)
{
    expect_ran(REPORT("--format=folded", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.report.folded");
    expect_ran(REPORT("--format=folded", FIXTURES "dynamic.ndjson"), CLI_OK,
               FIXTURES "dynamic.report.folded");
    expect_ran(REPORT("--format=folded", "--min-bytes=100", FIXTURES "inline.ndjson"), CLI_OK,
               FIXTURES "inline.report.folded");
    expect_complaint(REPORT("--format=folded", "--by=type", FIXTURES "small.ndjson"), CLI_USAGE,
                     "--format folded needs --by site");
}

TEST(marks_cut_a_report)
{
    expect_ran(REPORT("--by=site", "--from=warm", "--to=one request", FIXTURES "marks.ndjson"),
               CLI_OK, FIXTURES "marks.report.txt");
    expect_ran(REPORT("--format=json", "--from=one request", FIXTURES "marks.ndjson"), CLI_OK,
               FIXTURES "marks.report.json");
    expect_complaint(REPORT("--to=cold", FIXTURES "marks.ndjson"), CLI_USAGE,
                     "no mark \"cold\"; there are \"warm\", \"one request\", \"warm\"");
    expect_complaint(REPORT("--from=x", FIXTURES "small.ndjson"), CLI_USAGE, "there are none");
    expect_complaint(REPORT("--from=x", "/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
}

TEST(every_json_is_json)
{
    static const char *const keys[] = {"site", "type", "method", "thread", "module", "line"};
    static const char *const logs[] = {"small",   "mismatch", "sites",
                                       "sampled", "inline",   "damaged"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        for (size_t k = 0; k < 6; k++) {
            char path[100];
            struct ran ran;
            json_t *json;

            snprintf(path, sizeof(path), FIXTURES "%s.ndjson", logs[k]);
            ran = REPORT("--format=json", "--top=3", "--by", keys[i], path);
            assert_int_equal(ran.status, CLI_OK);
            json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(json);
            assert_true(json_is_integer(json_object_get(json_object_get(json, "total"), "bytes")));
            assert_true(json_array_size(json_object_get(json, "rows")) <= 3);
            json_decref(json);
            free(ran.out);
        }
}

TEST(a_damaged_log_is_reported_with_its_places)
{
    expect_ran(REPORT("--by=site", FIXTURES "damaged.ndjson"), CLI_OK,
               FIXTURES "damaged.report.txt");
}

TEST(rows_can_be_limited)
{
    struct ran ran = REPORT("--by=site", "--min-bytes=1k", "--depth=1", FIXTURES "small.ndjson");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "Shown: 2 of 5 call sites"));
    assert_non_null(strstr(ran.out, "... 1 more"));
    assert_null(strstr(ran.out, "System.String\n"));
    free(ran.out);
}

TEST(no_line_is_wider_than_100_columns_unless_asked)
{
    struct ran ran = REPORT("--by=site", FIXTURES "mismatch.ndjson");

    for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 100 + 4); /* an ellipsis has three bytes */
    free(ran.out);
}

TEST(several_logs_are_added_up)
{
    struct ran ran =
        REPORT("--by=type", "--format=json", FIXTURES "small.ndjson", FIXTURES "sites.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL), *total = json_object_get(json, "total");

    assert_int_equal(json_integer_value(json_object_get(total, "bytes")), 221360 + 640);
    assert_int_equal(json_integer_value(json_object_get(total, "allocs")), 7 + 16);
    assert_int_equal(json_integer_value(json_object_get(total, "threads")), 3);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 4);
    json_decref(json);
    free(ran.out);
}

TEST(wrong_arguments_are_one_clear_line)
{
    expect_complaint(RUN(&cmd_report, "report"), CLI_USAGE, "report: expected a log: LOG");
    expect_complaint(REPORT("--nonsense", "x"), CLI_USAGE, "unknown option --nonsense");
    expect_complaint(REPORT("-z", "x"), CLI_USAGE, "unknown option -z");
    expect_complaint(REPORT("x", "--by"), CLI_USAGE, "--by needs a value");
    expect_complaint(REPORT("--wide=yes", "x"), CLI_USAGE, "--wide takes no value");
    expect_complaint(REPORT("--by=colour", "x"), CLI_USAGE,
                     "--by takes site, type, method, thread, module, line, own, namespace, tree, "
                     "callers or callees, not \"colour\"");
    expect_complaint(REPORT("--format=xml", "x"), CLI_USAGE,
                     "--format takes text, json or folded, not \"xml\"");
    expect_complaint(REPORT("--links=yes", "x"), CLI_USAGE,
                     "--links takes auto, always or never, not \"yes\"");
    expect_complaint(REPORT("--urls=yes", "x"), CLI_USAGE, "--urls takes no value");
    expect_complaint(REPORT("--top=-1", "x"), CLI_USAGE,
                     "--top takes a whole number, such as 20 or 10k, not \"-1\"");
    expect_complaint(REPORT("--top=99999999999999999999", "x"), CLI_USAGE,
                     "--top takes a number from 0 to");
    expect_complaint(REPORT("--thread=0", "x"), CLI_USAGE,
                     "--thread takes a number from 1 to 4294967294, not 0");
    expect_complaint(REPORT("--min-bytes=5x", "x"), CLI_USAGE,
                     "--min-bytes takes a number of bytes");
}

TEST(what_does_not_apply_is_refused)
{
    expect_complaint(REPORT("--format=folded", "--by=type", "x"), CLI_USAGE,
                     "--format folded needs --by site");
    expect_complaint(RUN(&cmd_events, "events", "gc", "--by=type", "x"), CLI_USAGE,
                     "unknown option --by");
    expect_complaint(RUN(&cmd_events, "events", "gcs", "x"), CLI_USAGE,
                     "unknown topic \"gcs\"; did you mean \"gc\"?");
    expect_complaint(RUN(&cmd_events, "events", "jit", "--format=folded", "x"), CLI_USAGE,
                     "--format takes text or json, not \"folded\"");
    expect_complaint(RUN(&cmd_events, "events", "calls", "x", "y"), CLI_USAGE,
                     "unexpected argument \"y\"");
    expect_complaint(RUN(&cmd_profile, "profile", "--depth=3", "x"), CLI_USAGE,
                     "--depth needs --format json");
    expect_complaint(RUN(&cmd_profile, "profile", "--by=type", "x"), CLI_USAGE,
                     "unknown option --by");
    expect_complaint(RUN(&cmd_profile, "profile", "--source=snapshot", "x"), CLI_USAGE,
                     "--source needs --format folded");
    expect_complaint(RUN(&cmd_profile, "profile", "--format=folded", "--top=3", "x"), CLI_USAGE,
                     "--top does not apply to --format folded");
    expect_complaint(REPORT("--tpo=3", "x"), CLI_USAGE,
                     "unknown option --tpo; did you mean --top?");
}

static void expect_same(struct ran a, struct ran b)
{
    assert_int_equal(a.status, b.status);
    assert_string_equal(a.out, b.out);
    assert_string_equal(a.err, b.err);
    free(a.out);
    free(b.out);
}

TEST(old_forms_are_the_commands_of_today)
{
    static const char *const topics[] = {"exceptions", "gc", "jit", "suspensions", "calls"};
    const char *log = FIXTURES "small.ndjson";
    char option[20];

    for (size_t i = 0; i < COUNT_OF(topics); i++) {
        snprintf(option, sizeof(option), "--%s", topics[i]);
        expect_same(RUN(NULL, "shadowtrace", "report", "--top", "3", option, log),
                    RUN(&cmd_events, "events", "--top", "3", topics[i], log));
        expect_same(RUN(NULL, "shadowtrace", "report", log, option),
                    RUN(&cmd_events, "events", topics[i], log));
    }
    expect_same(RUN(NULL, "shadowtrace", "report", log, "--profile", "--quiet"),
                RUN(&cmd_profile, "profile", log, "--quiet"));
    expect_same(RUN(NULL, "shadowtrace", "report", "--profile", log),
                RUN(&cmd_profile, "profile", log));
    expect_complaint(RUN(NULL, "shadowtrace", "report", "--", "--gc"), CLI_IO, "cannot read --gc");
}

TEST(what_cannot_be_read_is_one_clear_line)
{
    expect_complaint(REPORT("/nowhere/log"), CLI_IO,
                     "cannot read /nowhere/log: No such file or directory");
    expect_complaint(REPORT("include"), CLI_IO, "cannot read include: no log is in this folder");
    expect_complaint(REPORT("/nowhere/with\nnewline"), CLI_IO, "with?newline");
    expect_complaint(REPORT(FIXTURES "version2.ndjson"), CLI_IO, "log version 2");
    expect_complaint(REPORT("Makefile"), CLI_IO, "not a shadowtrace log");
    expect_complaint(REPORT("README.md"), CLI_IO, "not a shadowtrace log");
}

TEST(help_says_what_there_is)
{
    struct ran ran = REPORT("--help");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "--min-bytes"));
    free(ran.out);
}
