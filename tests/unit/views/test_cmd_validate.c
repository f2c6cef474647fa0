#include "unit/cli/command_support.h"

#include <jansson.h>

#define VALIDATE(...) RUN(&cmd_validate, "validate", __VA_ARGS__)

static void good_logs_are_valid(void **state)
{
    (void)state;
    expect_ran(VALIDATE(FIXTURES "small.ndjson", FIXTURES "mismatch.ndjson",
                        FIXTURES "sites.ndjson", FIXTURES "sampled.ndjson",
                        FIXTURES "inline.ndjson"),
               CLI_OK, FIXTURES "good.validate.txt");
}

static void each_breach_is_one_line_with_its_place(void **state)
{
    (void)state;
    expect_ran(VALIDATE(FIXTURES "invalid.ndjson"), CLI_CHECK, FIXTURES "invalid.validate.txt");
    expect_ran(VALIDATE(FIXTURES "damaged.ndjson"), CLI_CHECK, FIXTURES "damaged.validate.txt");
    expect_ran(VALIDATE("--format=json", FIXTURES "damaged.ndjson"), CLI_CHECK,
               FIXTURES "damaged.validate.json");
}

static void the_schema_from_a_file_says_the_same_as_the_one_built_in(void **state)
{
    static const char *const logs[] = {"small",  "mismatch", "sites",  "sampled",
                                       "inline", "damaged",  "invalid"};

    (void)state;
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

static void one_bad_log_of_several_decides(void **state)
{
    struct ran ran = VALIDATE("--format=json", FIXTURES "damaged.ndjson",
                              FIXTURES "version2.ndjson", FIXTURES "small.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL);

    (void)state;
    assert_int_equal(ran.status, CLI_IO);
    assert_int_equal(json_array_size(json_object_get(json, "logs")), 2);
    json_decref(json);
    free(ran.out);
}

static void wrong_arguments_are_one_clear_line(void **state)
{
    (void)state;
    expect_complaint(RUN(&cmd_validate, "validate"), CLI_USAGE, "expected a log: LOG");
    expect_complaint(VALIDATE("--schema=/nowhere", "x"), CLI_IO, "cannot read /nowhere");
    expect_complaint(VALIDATE("--schema=Makefile", "x"), CLI_IO, "is no schema that can be used");
    expect_complaint(VALIDATE("/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
    expect_complaint(VALIDATE(FIXTURES "version2.ndjson"), CLI_IO, "log version 2");
    expect_complaint(VALIDATE("Makefile"), CLI_IO, "not a shadowtrace log");
    expect_complaint(VALIDATE("README.md"), CLI_IO, "not a shadowtrace log"); /* it quotes one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_logs_are_valid),
        cmocka_unit_test(each_breach_is_one_line_with_its_place),
        cmocka_unit_test(the_schema_from_a_file_says_the_same_as_the_one_built_in),
        cmocka_unit_test(one_bad_log_of_several_decides),
        cmocka_unit_test(wrong_arguments_are_one_clear_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
