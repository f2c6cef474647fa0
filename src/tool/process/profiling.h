/*
 * process/profiling.h - variables of a process's environment that keep the library out of it:
 * diagnostics switched off, another profiler.
 */
#ifndef SHADOWTRACE_PROCESS_PROFILING_H
#define SHADOWTRACE_PROCESS_PROFILING_H

#include <stdbool.h>
#include <stddef.h>

/* An environment as /proc/PID/environ has it, with a NUL behind its end; text NULL: our own. */
struct profiling_environment {
    const char *text;
    size_t size;
};

/* profiling_variable - Returns: its value, or NULL. Owns: it is the environment's. */
const char *profiling_variable(const struct profiling_environment *e, const char *name);

/*
 * profiling_off - the variable that stops .NET from loading profilers; profiling_no_diagnostics -
 * that stops it from opening a diagnostics socket. Returns: its name; NULL: not set.
 */
const char *profiling_off(const struct profiling_environment *e);
const char *profiling_no_diagnostics(const struct profiling_environment *e);

/* Another profiler than ours. Texts are the environment's, or names of variables. */
struct profiling_other {
    const char *enable, *profiler; /* the variables that name it */
    const char *clsid, *library;   /* library: NULL where it is not said */
};
bool profiling_another(const struct profiling_environment *e, struct profiling_other *out);

#endif
