/* readers/header.h - what a log's header says of the program. */
#ifndef SHADOWTRACE_READERS_HEADER_H
#define SHADOWTRACE_READERS_HEADER_H

#include <jansson.h>

#include <time.h>

/*
 * report_program - the file that was run, without its folder: the assembly that `dotnet` ran, else
 * the process's image. Returns: NULL if the header does not say; else it belongs to the header.
 */
const char *report_program(const json_t *header);

/* report_started - in s since 1970; 0: not said. */
time_t report_started(const json_t *header);

#endif
