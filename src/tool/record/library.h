/* record/library.h - where libshadowtrace.so is, and whether a process could load it. */
#ifndef SHADOWTRACE_RECORD_LIBRARY_H
#define SHADOWTRACE_RECORD_LIBRARY_H

#include "command/why.h"

#define RECORD_LIBRARY_VARIABLE "SHADOWTRACE_LIBRARY"

/*
 * record_library_find - the absolute path: `override` if there is one, else beside the executable
 * at `self` (the build tree), then ../lib and ../lib/shadowtrace from there (installed).
 * Returns: CLI_OK or CLI_IO. An override is made absolute but need not exist: it may be meant for
 *          another machine.
 */
int record_library_find(const char *self, const char *override, char path[PATH_MAX],
                        struct record_why *why);

/* The same for this program: /proc/self/exe and $SHADOWTRACE_LIBRARY. */
int record_library(char path[PATH_MAX], struct record_why *why);

/*
 * record_library_check - read it and load it, into this process: what keeps it from COMMAND's is
 * known before that starts. A fault while it is loaded is caught. It must be of this command's
 * version. Returns: CLI_OK or CLI_IO.
 */
int record_library_check(const char *path, struct record_why *why);

/* record_library_usable - record_library, and then the check of what it has found. */
int record_library_usable(char path[PATH_MAX], struct record_why *why);

/*
 * record_library_fits - is the library for the CPU of `program`, and can its C library load it?
 * Both by the ELF headers. The library of the package runs under glibc and musl; one that is built
 * for a system runs under its C library only. name: how the message calls the program.
 * Returns: CLI_OK, also for a program that is not known to be .NET; or CLI_IO.
 */
int record_library_fits(const char *library, const char *program, const char *name,
                        struct record_why *why);

#endif
