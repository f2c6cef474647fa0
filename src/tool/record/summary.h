/* record/summary.h - the result of a recording: a block for each process, or why it is missing. */
#ifndef SHADOWTRACE_RECORD_SUMMARY_H
#define SHADOWTRACE_RECORD_SUMMARY_H

#include "process/status.h"
#include "record/target.h"

#include <stdio.h>

/*
 * record_summary_print - the processes that reported in. Logs below `here` (the current directory)
 * are named from there. `quiet`: only those that should have been recorded and were not.
 */
void record_summary_print(FILE *out, const struct record_processes *p, const char *here,
                          bool quiet);

/*
 * record_summary_why_none - no process reported in: the reason, as far as the file of COMMAND
 * tells. `filtered`: processes that --process does not name run on without a word.
 */
void record_summary_why_none(FILE *out, const char *command, enum record_target kind,
                             bool filtered);

#endif
