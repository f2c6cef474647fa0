#include "unit/cli/command_support.h"
#include "support/test.h"

#include <jansson.h>

#define VALIDATE(...) RUN(&cmd_validate, "validate", __VA_ARGS__)

TEST(good_logs_are_valid)
{
    expect_ran(VALIDATE(FIXTURES "small.ndjson", FIXTURES "mismatch.ndjson",
                        FIXTURES "sites.ndjson", FIXTURES "sampled.ndjson",
                        FIXTURES "inline.ndjson"),
               CLI_OK, FIXTURES "good.validate.txt");
}

TEST(each_breach_is_one_line_with_its_place)
{
    expect_ran(VALIDATE(FIXTURES "invalid.ndjson"), CLI_CHECK, FIXTURES "invalid.validate.txt");
    expect_ran(VALIDATE(FIXTURES "damaged.ndjson"), CLI_CHECK, FIXTURES "damaged.validate.txt");
    expect_ran(VALIDATE("--format=json", FIXTURES "damaged.ndjson"), CLI_CHECK,
               FIXTURES "damaged.validate.json");
}

TEST(the_schema_from_a_file_says_the_same_as_the_one_built_in)
{
    static const char *const logs[] = {"small",  "mismatch", "sites",  "sampled",
                                       "inline", "damaged",  "invalid"};

    for (size_t i = 0; i < 7; i++) {
        char path[100];
        struct ran built, file;

        snprintf(path, sizeof(path), FIXTURES "%s.ndjson", logs[i]);
        built = VALIDATE(path);
        file = VALIDATE("--schema", "include/shadowtrace/log_schema.json", path);
        assert_int_equal(built.status, file.status);
        assert_string_equal(built.out, file.out);
        free(built.out);
        free(file.out);
    }
}

TEST(one_bad_log_of_several_decides)
{
    struct ran ran = VALIDATE("--format=json", FIXTURES "damaged.ndjson",
                              FIXTURES "version2.ndjson", FIXTURES "small.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL);

    assert_int_equal(ran.status, CLI_IO);
    assert_int_equal(json_array_size(json_object_get(json, "logs")), 2);
    json_decref(json);
    free(ran.out);
}

TEST(wrong_arguments_are_one_clear_line)
{
    expect_complaint(RUN(&cmd_validate, "validate"), CLI_USAGE, "expected a log: LOG");
    expect_complaint(VALIDATE("--schema=/nowhere", "x"), CLI_IO, "cannot read /nowhere");
    expect_complaint(VALIDATE("--schema=Makefile", "x"), CLI_IO, "cannot use Makefile as a schema");
    expect_complaint(VALIDATE("/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
    expect_complaint(VALIDATE(FIXTURES "version2.ndjson"), CLI_IO, "log version 2");
    expect_complaint(VALIDATE("Makefile"), CLI_IO, "not a shadowtrace log");
    expect_complaint(VALIDATE("README.md"), CLI_IO, "not a shadowtrace log"); /* it quotes one */
}
