/*
 * command/operands.h - folders among the words of a command that adds up logs: a folder means all
 * logs in it.
 */
#ifndef SHADOWTRACE_COMMAND_OPERANDS_H
#define SHADOWTRACE_COMMAND_OPERANDS_H

#include "args/args.h"
#include "readers/folder.h"

struct operands {
    struct log_parts_folder logs; /* of all folders */
    char **words;                 /* NULL: there was none */
};

/*
 * operands_expand - replaces each folder, among the words from `first` on, by the logs in it. A
 * folder without logs stays, and reading it fails.
 * Returns: 0 or -ENOMEM. Owns: args' words are out's until operands_free.
 */
int operands_expand(struct args *args, size_t first, struct operands *out);
void operands_free(struct operands *o);

#endif
