#include "unit/cli/command_support.h"

#include "base/atomics.h"

static void every_command_is_found_and_explained(void **state)
{
    static const char *const names[] = {"record",   "report", "annotate", "compare",
                                        "validate", "env",    "list",     "dump",
                                        "ctl",      "top",    "help"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct cli_command *command = cli_find(names[i]);
        struct ran ran = RUN(&cmd_help, "help", names[i]);

        assert_non_null(command);
        assert_non_null(command->run);
        assert_true(strlen(command->help) > 10);
        assert_int_equal(ran.status, CLI_OK);
        assert_memory_equal(ran.out, "shadowtrace ", 12);
        assert_non_null(strstr(ran.out, command->help));
        free(ran.out);
    }
    assert_null(cli_find("repor"));
    assert_null(cli_find(""));
}

static void the_overview_lists_all_in_100_columns(void **state)
{
    struct ran ran = RUN(&cmd_help, "help");
    const struct cli_command *command;

    (void)state;
    assert_int_equal(ran.status, CLI_OK);
    for (size_t i = 0; (command = cli_at(i)); i++)
        assert_non_null(strstr(ran.out, command->help));
    for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 100);
    free(ran.out);
}

static void help_for_what_is_not_there_is_a_usage_error(void **state)
{
    (void)state;
    expect_complaint(RUN(&cmd_help, "help", "nonsense"), CLI_USAGE,
                     "there is no command \"nonsense\"");
    expect_complaint(RUN(&cmd_help, "help", "report", "env"), CLI_USAGE, "one command at a time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_found_and_explained),
        cmocka_unit_test(the_overview_lists_all_in_100_columns),
        cmocka_unit_test(help_for_what_is_not_there_is_a_usage_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
