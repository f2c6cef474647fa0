#include "unit/cli/command_support.h"
#include "support/test.h"

#include <jansson.h>

#define COMPARE(...) RUN(&cmd_compare, "compare", __VA_ARGS__)

TEST(text_is_as_expected)
{
    expect_ran(COMPARE(FIXTURES "small.ndjson"), CLI_OK, FIXTURES "small.compare.txt");
    expect_ran(COMPARE(FIXTURES "mismatch.ndjson"), CLI_CHECK, FIXTURES "mismatch.compare.txt");
    expect_ran(COMPARE(FIXTURES "native.ndjson"), CLI_CHECK, FIXTURES "native.compare.txt");
    expect_ran(COMPARE(FIXTURES "sites.ndjson"), CLI_OK, FIXTURES "sites.compare.txt");
    expect_ran(COMPARE(FIXTURES "sections.ndjson"), CLI_CHECK, FIXTURES "sections.compare.txt");
    expect_ran(COMPARE(FIXTURES "small.ndjson", FIXTURES "mismatch.ndjson"), CLI_CHECK,
               FIXTURES "two.compare.txt");
}

TEST(json_is_as_expected)
{
    expect_ran(COMPARE("--format=json", FIXTURES "small.ndjson"), CLI_OK,
               FIXTURES "small.compare.json");
    expect_ran(COMPARE("--format=json", FIXTURES "mismatch.ndjson"), CLI_CHECK,
               FIXTURES "mismatch.compare.json");
    expect_ran(COMPARE("--format=json", FIXTURES "native.ndjson"), CLI_CHECK,
               FIXTURES "native.compare.json");
    expect_ran(COMPARE("--format=json", FIXTURES "sections.ndjson"), CLI_CHECK,
               FIXTURES "sections.compare.json");
}

TEST(accuracy_is_null_when_nothing_was_compared)
{
    struct ran ran = COMPARE("--format=json", FIXTURES "sites.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL);

    assert_int_equal(ran.status, CLI_OK);
    assert_true(json_is_null(json_object_get(json, "accuracy")));
    json_decref(json);
    free(ran.out);
}

TEST(two_logs_are_a_list)
{
    struct ran ran = COMPARE("--format=json", FIXTURES "small.ndjson", FIXTURES "sites.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL);

    assert_int_equal(json_array_size(json_object_get(json, "logs")), 2);
    assert_true(json_is_integer(json_object_get(json_object_get(json, "sites"), "only_first")));
    json_decref(json);
    free(ran.out);
}

TEST(wrong_arguments_are_one_clear_line)
{
    expect_complaint(RUN(&cmd_compare, "compare"), CLI_USAGE, "expected a log: LOG");
    expect_complaint(COMPARE("a", "b", "c"), CLI_USAGE, "unexpected argument \"c\"");
    expect_complaint(COMPARE("--format=csv", "a"), CLI_USAGE,
                     "--format takes text or json, not \"csv\"");
    expect_complaint(COMPARE("--by=site", "a"), CLI_USAGE, "unknown option --by");
    expect_complaint(COMPARE("/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
    expect_complaint(COMPARE(FIXTURES "version2.ndjson"), CLI_IO, "log version 2");
}
