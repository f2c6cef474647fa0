/*
 * command/program.h - commands that are programs of their own, beside this one, because they need a
 * library that nothing else does: `shadowtrace serve ...` becomes `shadowtrace-serve ...`.
 */
#ifndef SHADOWTRACE_COMMAND_PROGRAM_H
#define SHADOWTRACE_COMMAND_PROGRAM_H

#include "command/command.h"

/*
 * program_become - in place of this process, with its command line: shadowtrace-NAME, NAME being
 * the command's. library: Debian's package of what it needs, for when it is not there.
 * Returns: only if that cannot be; a line has said why: the exit status.
 */
int program_become(const struct cli_command *command, const char *library);

/* run() of such a command. */
#define PROGRAM_RUN(command, library) \
    static int run(void *into, const struct args *args, FILE *out) \
    { \
        (void)into; \
        (void)args; \
        (void)out; \
        return program_become(&(command), library); \
    }

#endif
