/*
 * command/command.h - what every command is, and how it speaks to its user. A command is a file
 * cmd_<name>.c and a row in cli/commands.c; it reads its arguments, calls report/ (or starts a
 * program), prints.
 *
 * Results go to `out`, which main() flushes and checks; what went wrong goes to stderr through
 * cli_complain, one line.
 */
#ifndef SHADOWTRACE_COMMAND_COMMAND_H
#define SHADOWTRACE_COMMAND_COMMAND_H

#include "args/args.h"
#include "command/manual.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

enum cli_status {
    CLI_OK = 0,
    CLI_CHECK = 1, /* a check did not hold: stacks differ, a log breaks its schema; or a runtime
                      does not tell what was asked */
    CLI_USAGE = 2, /* unknown option, missing argument, wrong value */
    CLI_IO = 3,    /* cannot read or write */
};

struct cli_command {
    const char *name;
    const char *args; /* after the name in the usage line */
    const char *help; /* what it does, one line */
    const char *about,
        *notes; /* paragraphs of the help page before and after the options, or NULL */
    struct args_syntax syntax; /* what it takes */
    /* The first word that can be a folder (all its logs), counted from 1; 0: none. */
    unsigned folders;
    size_t size; /* of the struct that its options are read into; zeroed before */
    /* `into` is that struct. Returns the exit status. */
    int (*run)(void *into, const struct args *args, FILE *out);
    void (*free)(void *into);        /* what reading options has allocated; NULL nothing */
    const struct cli_manual *manual; /* what only its manual page has; NULL nothing */
};

/*
 * A command, which run() of its file runs; after the help, other members.
 * Words in capitals in `args` are its operands. Their names tell the shell how to complete them:
 * PID a traced process, DIR and FOLDER a folder; COMMAND a command of shadowtrace or, if the syntax
 * stops at it, any program and its arguments; ACTION, TOPIC and the like the topics of the table
 * under "Actions", "Topics"; otherwise a file. The same applies to the values of options, but only
 * those called FILE are files.
 */
#define CLI_COMMAND(name_, args_, help_, ...) \
    const struct cli_command cmd_##name_ = { \
        .name = #name_, .args = (args_), .help = (help_), .run = run, __VA_ARGS__}

/*
 * Within it, what it takes: the struct that its options are read into, then the members of
 * args_syntax; and the same of what takes nothing but logs, or folders of them.
 */
#define CLI_TAKES(struct_, ...) .syntax = {__VA_ARGS__}, .size = sizeof(struct_)
#define CLI_TAKES_LOGS(struct_, options) \
    CLI_TAKES(struct_, options, 1, UINT_MAX, "a log: LOG", false), .folders = 1

/* cli_run - reads the arguments, runs the command or prints its help. Returns: the exit status. */
int cli_run(const struct cli_command *command, int argc, char **argv, FILE *out);

/* cli_parse - its first half. Returns: CLI_OK; else a line was written to stderr. */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *into,
              struct args *out);

/* What help and manual say of a command that takes folders: a paragraph. */
#define CLI_FOLDERS "A directory means all logs in it, whatever their names are."

/*
 * cli_complain - one line on stderr, "shadowtrace COMMAND: ...", keeping to one line whatever the
 * text holds.
 */
void cli_complain(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* cli_usage_error - the same for a wrong argument, naming the help page. Returns CLI_USAGE. */
int cli_usage_error(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* cli_unreadable - says that a file cannot be read; why NULL: what -errno means. Returns CLI_IO. */
int cli_unreadable(const struct cli_command *command, const char *path, const char *why, int err);

/* cli_failed - says what -errno means. Returns: CLI_IO; of 0: CLI_OK. */
int cli_failed(const struct cli_command *command, int err);

/*
 * cli_unknown - cli_usage_error for a name that is not in `names` (NULL ends them): unknown WHAT
 * "name", and the name that was probably meant.
 */
int cli_unknown(const struct cli_command *command, const char *what, const char *name,
                const char *const *names);

/* cli_help - its help page. all: every option, not only the usual ones. */
void cli_help(const struct cli_command *command, bool all, FILE *out);

#endif
