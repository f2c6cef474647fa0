#include "cli/commands.h"
#include "terminal/terminal.h"

#include <string.h>

static void overview(FILE *out)
{
    size_t width = terminal_help_width(out);
    const struct cli_command *command;
    const char *group, *before = "";

    args_print_text(out,
                    "shadowtrace shows where the allocations of a .NET program come from.\n\n"
                    "Usage: shadowtrace COMMAND [options] ...",
                    width);
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        if (strcmp(group, before) != 0)
            fprintf(out, "\n%s:\n", group);
        before = group;
        args_print_row(out, command->name, command->help, 12, width);
    }
    putc('\n', out);
    args_print_text(
        out,
        "`shadowtrace help COMMAND` explains a command; `shadowtrace --version` prints the "
        "version.\n"
        "Exit status: 0 success, 1 a check failed, 2 wrong usage, 3 cannot read or write.",
        width);
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct cli_command *command;

    (void)into;
    if (!args->count) {
        overview(out);
        return CLI_OK;
    }
    command = cli_find(args->word[0]);
    if (!command)
        return cli_unknown_command(&cmd_help, args->word[0]);
    cli_help(command, out);
    return CLI_OK;
}

CLI_COMMAND(help, "[COMMAND]", "list the commands, or explain one", .syntax = {.max = 1});
