/*
 * completion/completion.h - the tables of options as tables of three shells. What a shell does with
 * its tables is written in that shell's language: bash.sh, zsh.sh and fish.sh, beside this file. A
 * completion is the tables followed by that file.
 */
#ifndef SHADOWTRACE_COMPLETION_COMPLETION_H
#define SHADOWTRACE_COMPLETION_COMPLETION_H

#include "base/buffer.h"

/* Each appends the tables of all commands. A buffer that has failed says so. */
void completion_bash(struct buffer *b);
void completion_zsh(struct buffer *b);
void completion_fish(struct buffer *b);

#endif
