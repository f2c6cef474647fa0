/*
 * record/running.h - a process that runs: may it be attached to, and with which library.
 */
#ifndef SHADOWTRACE_RECORD_RUNNING_H
#define SHADOWTRACE_RECORD_RUNNING_H

#include "process/deputy.h"
#include "process/dotnet.h"

#define RUNNING_LIBRARY "libshadowtrace.so"

/*
 * running_check - what is known to go wrong, before anything is done to it: a refusal by the
 * runtime would leave the library loaded in it for good.
 * Returns: CLI_OK; CLI_IO with one line in why: it is traced already, has another profiler, is
 *          closed to profilers, too old, or of another machine.
 */
int running_check(const struct dotnet_process *p, struct record_why *why);

/*
 * running_fits - can the process's C library load the library? Returns: CLI_OK; or CLI_IO.
 */
int running_fits(const struct dotnet_process *p, const char *library, struct record_why *why);

/*
 * running_keeps - is the process one of musl, whose dlclose unloads nothing? To load the same file
 * again would give it the old library, as its recording left it.
 */
bool running_keeps(const struct dotnet_process *p);

/*
 * running_library - the library as that process can load it. For another root (a container), and
 * for a process that keeps libraries: a copy, with the libraries that it needs, which a deputy
 * writes into the open `folder`; `inside` is that folder as the process has it.
 * Returns: CLI_OK with its path there; or CLI_IO.
 */
int running_library(const struct dotnet_process *p, const struct deputy *d, const char *library,
                    int folder, const char *inside, char path[PATH_MAX], struct record_why *why);

#endif
