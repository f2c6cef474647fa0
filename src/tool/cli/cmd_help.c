#include "cli/commands.h"
#include "terminal/terminal.h"

#include <string.h>

const struct cli_manual cli_manual = {
    .description =
        "shadowtrace records every managed allocation of a .NET program with the exact call path "
        "that made it, down to the line. It shows them on the terminal, as a page for a browser, "
        "or in the file formats of other tools.\n\n"
        "`shadowtrace record` starts the program, loads a library into it that keeps a shadow "
        "stack of each thread, and writes a log: JSON, one object per line. The other commands "
        "read such logs, or talk to processes that are being recorded. Every prefix of a log can "
        "be read. What was lost is counted, and every command says so.\n\n"
        "It runs on x86-64 Linux with .NET 8, 9, 10 and 11, and on arm64 Linux with .NET 9, 10 "
        "and 11. `attach` samples a process that was "
        "started without the library.",
    .files = MANUAL_TERMS({"PREFIX/lib/shadowtrace/libshadowtrace.so",
                           "the library that the runtime loads into a traced process; PREFIX is "
                           "where shadowtrace was installed, /usr or /usr/local"},
                          {"PREFIX/share/shadowtrace/*_schema.json",
                           "JSON schemas of the log, of reports and of the control socket"},
                          {"PREFIX/include/shadowtrace/shadowtrace.h",
                           "what a traced program can call to mark, pause and dump itself"}),
    .examples =
        MANUAL_TERMS({"shadowtrace record -o app.ndjson -- dotnet app.dll", "record a program"},
                     {"shadowtrace report app.ndjson", "show an overview"},
                     {"shadowtrace html app.ndjson -o app.html",
                      "make a page of it with flame graphs, for a browser"},
                     {"shadowtrace diff old.ndjson app.ndjson",
                      "show what has changed since another recording"}),
    .see_also = "shadowtrace-log(5) describes the log, shadowtrace-limits(7) what cannot be "
                "recorded. README.md, which is installed with the command, has examples.",
};

struct help_args {
    bool all;
};

#define ARGS_INTO struct help_args
static const struct args_option options[] = {
    ARGS_ROW(FLAG, "all", NULL, all, "show every option of COMMAND, not only the usual ones"),
    ARGS_END};

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
    args_print_text(out,
                    "`shadowtrace help COMMAND` explains a command; `shadowtrace --version` prints "
                    "the version.\nExit status: 0 success, 1 a check failed, 2 wrong usage, 3 "
                    "cannot read or write.",
                    width);
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct help_args *a = into;
    const struct cli_command *command;

    if (!args->count) {
        overview(out);
        return CLI_OK;
    }
    command = cli_find(args->word[0]);
    if (!command)
        return cli_unknown_command(&cmd_help, args->word[0]);
    cli_help(command, a->all, out);
    return CLI_OK;
}

CLI_COMMAND(help, "[options] [COMMAND]", "list the commands, or explain one",
            CLI_TAKES(struct help_args, options, .max = 1),
            .manual = CLI_MANUAL(
                    .description =
                        "Prints the usage and the options, in the width of the terminal. Without "
                        "COMMAND it lists all commands. The manual pages have more details.",
                    .examples = MANUAL_TERMS(
                        {"shadowtrace help record", "explain the command `record`"},
                        {"shadowtrace help record --all", "explain every option of `record`"})));
