#include "unit/cli/command_support.h"

#include "base/atomics.h"
#include "support/test.h"

TEST(every_command_is_found_and_explained)
{
    static const char *const names[] = {"record",   "report", "annotate", "compare",
                                        "validate", "env",    "list",     "dump",
                                        "ctl",      "top",    "help"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct cli_command *command = cli_find(names[i]);
        struct ran ran = RUN(&cmd_help, "help", names[i]);

        assert_non_null(command);
        assert_true(strlen(command->help) > 10);
        assert_int_equal(ran.status, CLI_OK);
        assert_ptr_equal(strstr(ran.out, "Usage: shadowtrace "), ran.out);
        assert_non_null(strstr(ran.out, names[i]));
        free(ran.out);
    }
    assert_null(cli_find("repor"));
    assert_null(cli_find(""));
}

static void no_line_of_help_is_wider_than_80_columns(const char *name)
{
    struct ran ran = RUN(&cmd_help, "help", name);

    for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("help %s has %zu columns: %s", name ? name : "", strlen(line), line);
    free(ran.out);
}

TEST(every_command_is_listed_and_help_is_80_columns_wide)
{
    struct ran ran = RUN(&cmd_help, "help");
    const struct cli_command *command;
    const char *group;
    char term[40];

    assert_int_equal(ran.status, CLI_OK);
    no_line_of_help_is_wider_than_80_columns(NULL);
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        snprintf(term, sizeof(term), "\n  %-9s ", command->name);
        assert_non_null(strstr(ran.out, term));
        no_line_of_help_is_wider_than_80_columns(command->name);
    }
    free(ran.out);
}

TEST(help_for_what_is_not_there_is_a_usage_error)
{
    expect_complaint(RUN(&cmd_help, "help", "nonsense"), CLI_USAGE, "unknown command \"nonsense\"");
    expect_complaint(RUN(&cmd_help, "help", "reprot"), CLI_USAGE,
                     "unknown command \"reprot\"; did you mean \"report\"?");
    expect_complaint(RUN(&cmd_help, "help", "report", "env"), CLI_USAGE,
                     "unexpected argument \"env\"");
}
