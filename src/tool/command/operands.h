/*
 * command/operands.h - folders among the words of a command that adds up logs: each stands for the
 * logs in it.
 */
#ifndef SHADOWTRACE_COMMAND_OPERANDS_H
#define SHADOWTRACE_COMMAND_OPERANDS_H

#include "args/args.h"
#include "readers/folder.h"

struct operands {
    struct report_folder logs; /* of all folders */
    char **words;              /* NULL: there was none */
};

/*
 * operands_expand - puts the logs of a folder in the place of its name, of the words from `first`
 * on; a folder without any stays, for whoever reads it to refuse.
 * Returns: 0 or -ENOMEM. Owns: args' words are out's until operands_free.
 */
int operands_expand(struct args *args, size_t first, struct operands *out);
void operands_free(struct operands *o);

#endif
