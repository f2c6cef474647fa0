/*
 * command/output.h - a file that a command makes (-o FILE): it is there when it is whole, or not at
 * all. What was there before is never overwritten. `-` is standard output; pipes and devices are
 * written to as they are.
 */
#ifndef SHADOWTRACE_COMMAND_OUTPUT_H
#define SHADOWTRACE_COMMAND_OUTPUT_H

#include "command/command.h"

struct output {
    FILE *file; /* what is to be written to */
    const char *path;
    char *temporary; /* its name until it is whole; NULL: it is written to as it is */
};

/*
 * output_open - `standard` is what `-` means; path is borrowed until output_close.
 * Returns: CLI_OK; CLI_USAGE: the file exists; CLI_IO. One line has said why; o needs no close.
 */
int output_open(const struct cli_command *command, const char *path, FILE *standard,
                struct output *o);

/*
 * output_close - with status CLI_OK the file gets its name, else it is gone.
 * Returns: status; CLI_IO, after a line on stderr: not all could be written; CLI_USAGE: another
 * file has that name by now.
 */
int output_close(const struct cli_command *command, struct output *o, int status);

#endif
