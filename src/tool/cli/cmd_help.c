#include "cli/commands.h"
#include "terminal/terminal.h"

static void overview(FILE *out)
{
    const struct cli_command *command;

    size_t width = terminal_help_width(out);

    args_print_text(
        out,
        "shadowtrace: where the allocations of a .NET program come from, by its shadow stack.\n\n"
        "Usage: shadowtrace COMMAND [options] ...\n",
        width);
    for (size_t i = 0; (command = cli_at(i)); i++)
        args_print_row(out, command->name, command->help, 12, width);
    putc('\n', out);
    args_print_text(
        out,
        "`shadowtrace help COMMAND` explains one; `shadowtrace --version` prints the version.\n"
        "Exit status: 0 fine, 1 a check did not hold, 2 usage, 3 cannot read or write.",
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

const struct cli_command cmd_help = {
    .name = "help",
    .args = "[COMMAND]",
    .help = "what the commands are",
    .syntax = {.most = 1},
    .run = run,
};
