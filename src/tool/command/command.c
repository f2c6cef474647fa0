#include "command/command.h"

#include "base/clean.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/near.h"
#include "command/operands.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void complain(const struct cli_command *command, const char *format, va_list args)
{
    char text[1024];

    vsnprintf(text, sizeof(text), format, args);
    clean_in_place(text);
    fflush(
        stdout); /* or this would stand amid what was printed before, where both go to one place */
    fprintf(stderr, "shadowtrace%s%s: %s\n", command ? " " : "", command ? command->name : "",
            text);
}

void cli_complain(const struct cli_command *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    complain(command, format, args);
    va_end(args);
}

int cli_usage_error(const struct cli_command *command, const char *format, ...)
{
    char text[900];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cli_complain(command, "%s (see `shadowtrace help%s%s`)", text, command ? " " : "",
                 command ? command->name : "");
    return CLI_USAGE;
}

int cli_unreadable(const struct cli_command *command, const char *path, const char *why, int err)
{
    cli_complain(command, "cannot read %s: %s", path, why ? why : strerror(-err));
    return CLI_IO;
}

int cli_failed(const struct cli_command *command, int err)
{
    if (!err)
        return CLI_OK;
    cli_complain(command, "%s", error_text(err));
    return CLI_IO;
}

int cli_unknown(const struct cli_command *command, const char *what, const char *name,
                const char *const *names)
{
    const char *near = near_find(name, names);

    if (near)
        return cli_usage_error(command, "unknown %s \"%.100s\"; did you mean \"%s\"?", what, name,
                               near);
    return cli_usage_error(command, "unknown %s \"%.100s\"", what, name);
}

#define STATUS_COLUMN 14 /* where explanations of exit statuses begin */

static void exit_statuses(const struct manual_term *status, FILE *out, size_t width)
{
    fputs("\nExit status:\n", out);
    for (; status->term; status++)
        args_print_row(out, status->term, status->text, STATUS_COLUMN, width);
}

void cli_help(const struct cli_command *command, bool all, FILE *out)
{
    size_t width = terminal_help_width(out), left_out;

    fprintf(out, "Usage: shadowtrace %s%s%s\n\n", command->name, *command->args ? " " : "",
            command->args);
    args_print_text(out, command->help, width);
    putc('\n', out);
    if (command->about) {
        args_print_text(out, command->about, width);
        putc('\n', out);
    }
    if (command->folders) {
        args_print_text(out, CLI_FOLDERS, width);
        putc('\n', out);
    }
    left_out =
        args_print_options(out, command->syntax.options, all ? NULL : command->syntax.usual, width);
    if (left_out)
        fprintf(out, "\n%zu more options: shadowtrace help %s --all\n", left_out, command->name);
    if (command->notes) {
        putc('\n', out);
        args_print_text(out, command->notes, width);
    }
    if (command->manual && command->manual->status)
        exit_statuses(command->manual->status, out, width);
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *into,
              struct args *out)
{
    char why[ARGS_WHY_SIZE];
    int err = into ? args_parse(&command->syntax, argc, argv, into, out, why) : -ENOMEM;

    if (err == -EINVAL)
        return cli_usage_error(command, "%s", why);
    if (!err && out->old)
        cli_complain(command, "note: --%s is now --%s, and will be removed in the next version",
                     out->old->name, out->old->help);
    return cli_failed(command, err);
}

/* With the logs of folders in their place. */
static int run_words(const struct cli_command *command, void *into, struct args *args, FILE *out)
{
    struct operands operands;
    int status;

    if (!command->folders)
        return command->run(into, args, out);
    status = cli_failed(command, operands_expand(args, command->folders - 1, &operands));
    if (!status)
        status = command->run(into, args, out);
    operands_free(&operands);
    return status;
}

int cli_run(const struct cli_command *command, int argc, char **argv, FILE *out)
{
    struct args args;
    void *into;
    int status;

    into = memory_zalloc(1, command->size + 1);
    status = cli_parse(command, argc, argv, into, &args);
    if (status == CLI_OK && args.help)
        cli_help(command, false, out);
    else if (status == CLI_OK)
        status = run_words(command, into, &args, out);
    if (into && command->free)
        command->free(into);
    memory_free(into);
    return status;
}
