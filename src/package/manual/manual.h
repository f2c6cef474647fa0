/* manual/manual.h - manual pages of the command and of each of its commands, in man(7). */
#ifndef SHADOWTRACE_MANUAL_MANUAL_H
#define SHADOWTRACE_MANUAL_MANUAL_H

#include "manual/parts.h"

/* The page of a command, shadowtrace-NAME(1). A buffer that has failed says so. */
void manual_page(struct buffer *page, const struct cli_command *command,
                 const struct manual_edition *edition);

/* shadowtrace(1). */
void manual_overview(struct buffer *page, const struct manual_edition *edition);

#endif
