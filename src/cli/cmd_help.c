#include "cli/commands.h"

static void overview(FILE *out)
{
    const struct cli_command *command;

    fputs("shadowtrace: where the allocations of a .NET program come from, by its shadow stack.\n"
          "\n"
          "Usage: shadowtrace COMMAND [options] ...\n"
          "\n",
          out);
    for (size_t i = 0; (command = cli_at(i)); i++)
        fprintf(out, "  %-9s %s\n", command->name, command->help);
    fputs("\n"
          "`shadowtrace help COMMAND` explains one; `shadowtrace --version` says which this is.\n"
          "Exit status: 0 fine, 1 a check did not hold, 2 usage, 3 cannot read or write.\n",
          out);
}

static int help_run(int argc, char **argv, FILE *out)
{
    const struct cli_command *command;

    if (argc > 2)
        return cli_usage_error(&cmd_help, "one command at a time");
    if (argc < 2) {
        overview(out);
        return CLI_OK;
    }
    command = cli_find(argv[1]);
    if (!command)
        return cli_usage_error(&cmd_help, "there is no command \"%.100s\"", argv[1]);
    cli_help(command, out);
    return CLI_OK;
}

const struct cli_command cmd_help = {
    .name = "help", .args = "[COMMAND]", .help = "what the commands are", .run = help_run};
