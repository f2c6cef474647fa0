/* cli/record_library.h - where libshadowtrace.so is, and whether a process could load it. */
#ifndef SHADOWTRACE_CLI_RECORD_LIBRARY_H
#define SHADOWTRACE_CLI_RECORD_LIBRARY_H

#include "cli/record_why.h"

#define RECORD_LIBRARY_VARIABLE "SHADOWTRACE_LIBRARY"

/*
 * record_library_find - the absolute path: `override` if there is one, else beside the executable at `self` (the build
 * tree), then ../lib and ../lib/shadowtrace from there (installed).
 * Returns: CLI_OK or CLI_IO. An override is made absolute but need not exist: it may be meant for another machine.
 */
int record_library_find(const char *self, const char *override, char path[PATH_MAX],
                        struct record_why *why);

/* The same for this program: /proc/self/exe and $SHADOWTRACE_LIBRARY. */
int record_library(char path[PATH_MAX], struct record_why *why);

/* Can the file be read? Returns: CLI_OK or CLI_IO. */
int record_library_check(const char *path, struct record_why *why);

/*
 * record_library_try - load it, in a process that is about to become COMMAND: nothing else is disturbed by what it does.
 * Returns: NULL, or what the dynamic linker says.
 */
const char *record_library_try(const char *path);

/*
 * record_library_refuse - word what came of a try: `wrong` is what it said; "" if it ended its process, whose wait
 * status is `status`. Returns CLI_IO.
 */
int record_library_refuse(const char *path, const char *wrong, int status, struct record_why *why);

#endif
