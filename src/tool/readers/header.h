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

/*
 * report_header_of - the first line of the log at `path`, plain or packed. Returns: NULL: it is no
 * file, or no log; else the caller's, json_decref. Memory that runs out is no log, too.
 */
json_t *report_header_of(const char *path);

/* report_started - in s since 1970; 0: not said. */
time_t report_started(const json_t *header);

#endif
