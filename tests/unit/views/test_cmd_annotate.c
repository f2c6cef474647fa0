/*
 * annotate: of lines.ndjson, whose lines tests/fixtures/logs/lines.report-line.txt has, too. The
 * source is named, not read: the PDB was built in another place.
 */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>

#define SECOND "Zweite Datei \u00fc.cs"
#define ANNOTATE(...) \
    RUN(&cmd_annotate, "annotate", "--symbols=tests/fuzz/corpus/symbols", __VA_ARGS__)

static void expect_line(const json_t *json, size_t index, int line, int bytes, int below)
{
    const json_t *row = json_array_get(json_object_get(json, "lines"), index);
    int found, own, callees;

    assert_int_equal(json_unpack((json_t *)(uintptr_t)row, "{s:i, s:i, s:i}", "line", &found,
                                 "bytes", &own, "below_bytes", &callees),
                     0);
    assert_int_equal(found, line);
    assert_int_equal(own, bytes);
    assert_int_equal(callees, below);
}

/* Line 8 calls code that allocates at 27 and 33; line 27 itself has 1,024, its callee four of 56. */
TEST(a_line_has_what_it_allocates_and_what_its_calls_do)
{
    struct ran ran = ANNOTATE("--format=json", FIXTURES "lines.ndjson", SECOND);
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);

    assert_int_equal(ran.status, CLI_OK);
    assert_int_equal(json_integer_value(json_object_get(json, "total_bytes")), 136592);
    assert_int_equal(json_array_size(json_object_get(json, "lines")), 4);
    expect_line(json, 0, 7, 40, 0);
    expect_line(json, 1, 8, 0, 1024 + 4 * 56 + 4120);
    expect_line(json, 2, 27, 1024, 4 * 56);
    expect_line(json, 3, 33, 4120, 0);
    json_decref(json);
    free(ran.out);
}

/* Line 7 makes objects of two sizes: how many is as good as unknown. */
TEST(estimates_have_ranges_and_no_number_of_objects_of_several_sizes)
{
    struct ran ran = ANNOTATE("--format=json", FIXTURES "lines-sampled.ndjson", SECOND);
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);
    json_t *line = json_array_get(json_object_get(json, "lines"), 0);
    json_t *types = json_object_get(line, "types");
    int low, high;

    assert_int_equal(ran.status, CLI_OK);
    assert_true(json_is_true(json_object_get(json, "total_mixed")));
    assert_true(json_is_true(json_object_get(line, "mixed")));
    assert_int_equal(json_unpack(line, "{s:[ii]}", "bytes_range", &low, &high), 0);
    assert_in_range(231846, low + 1, high - 1);
    assert_int_equal(json_array_size(types), 2);
    for (size_t i = 0; i < 2; i++)
        assert_null(json_object_get(json_array_get(types, i), "mixed"));
    json_decref(json);
    free(ran.out);
    ran = ANNOTATE(FIXTURES "lines-sampled.ndjson", SECOND);
    assert_non_null(strstr(ran.out, "All allocations: about 1,235,355 bytes, in 95 of 100 cases"));
    assert_non_null(strstr(ran.out, "231,846           - "));
    free(ran.out);
}

TEST(a_type_chooses_what_counts)
{
    struct ran ran =
        ANNOTATE("--format=json", "--type=System.String", FIXTURES "lines.ndjson", SECOND);
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);

    assert_int_equal(ran.status, CLI_OK);
    assert_int_equal(json_array_size(json_object_get(json, "lines")), 3);
    expect_line(json, 0, 7, 40, 0);
    expect_line(json, 1, 8, 0, 4 * 56);
    expect_line(json, 2, 27, 0, 4 * 56);
    json_decref(json);
    free(ran.out);
}

/* The text that is given is not what was compiled: its hash differs, and lines stand without it. */
TEST(a_source_that_was_not_compiled_is_not_shown)
{
    struct ran ran = ANNOTATE("--source=README.md", FIXTURES "lines.ndjson", SECOND);

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.err, "README.md is not the file that was compiled"));
    assert_null(strstr(ran.out, "shadowtrace"));
    assert_non_null(strstr(ran.out, "\n         1,024           1           224    27\n"));
    free(ran.out);
}

TEST(wrong_arguments_are_one_clear_line)
{
    expect_complaint(ANNOTATE(FIXTURES "lines.ndjson", "Other.cs"), CLI_IO, "\"Other.cs\"");
    expect_complaint(ANNOTATE(FIXTURES "lines.ndjson"), CLI_USAGE, "FILE");
    expect_complaint(ANNOTATE("--format=xml", FIXTURES "lines.ndjson", SECOND), CLI_USAGE,
                     "--format");
}

TEST(types_have_names_of_the_style_that_was_asked_for)
{
    static const char *const styles[][2] = {{"--names=short", "\"type\":\"byte[]\""},
                                            {"--names=full", "\"type\":\"System.Byte[]\""},
                                            {"--names=raw", "\"type\":\"System.Byte[]\""}};

    for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
        struct ran ran = ANNOTATE("--format=json", styles[i][0], FIXTURES "lines.ndjson", SECOND);

        assert_int_equal(ran.status, CLI_OK);
        assert_non_null(strstr(ran.out, styles[i][1]));
        free(ran.out);
    }
    expect_complaint(ANNOTATE("--names=short", FIXTURES "lines.ndjson", SECOND), CLI_USAGE,
                     "--names needs --format json");
}
