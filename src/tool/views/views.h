/* views/views.h - the commands that read logs and show what is in them. */
#ifndef SHADOWTRACE_VIEWS_VIEWS_H
#define SHADOWTRACE_VIEWS_VIEWS_H

#include "command/command.h"

extern const struct cli_command cmd_report, cmd_events, cmd_profile, cmd_annotate, cmd_replay,
    cmd_compare, cmd_diff, cmd_validate;

#endif
