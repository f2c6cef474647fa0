/* record/environment.h - the variables that make .NET load the library, or keep it from that. */
#ifndef SHADOWTRACE_RECORD_ENVIRONMENT_H
#define SHADOWTRACE_RECORD_ENVIRONMENT_H

#include "record/options.h"
#include "command/why.h"

#include <stdio.h>

enum {
    RECORD_ENABLE,
    RECORD_PROFILER,
    RECORD_PATH,
    RECORD_OPTIONS,
    RECORD_RICH,       /* not with --no-rich */
    RECORD_TAIL_CALLS, /* only with --keep-tail-calls or --no-inline */
    RECORD_CONCURRENT, /* only with --live */
    RECORD_VARIABLES
};

struct record_environment {
    struct {
        const char *name;
        char *value; /* UTF-8 */
    } set[RECORD_VARIABLES];
    size_t count; /* that are set: the first */
};

/* Wins over CORECLR_PROFILER_PATH, with no way back if it fails to load. */
#define RECORD_UNSET "CORECLR_PROFILER_PATH_64"

/*
 * record_environment_make - for this library and these options.
 * Returns: CLI_OK or CLI_IO. Owns: e is initialised here, released with record_environment_fini
 *          even on failure.
 */
int record_environment_make(struct record_environment *e, const char *library,
                            const struct options *o, struct record_why *why);
void record_environment_fini(struct record_environment *e);

/*
 * record_environment_list - our own environment with these variables in it, for execve.
 * Returns: NULL when memory ran out. Owns: the caller frees it with memory_free; it points into e
 *          and our own.
 */
char **record_environment_list(const struct record_environment *e);

/* record_environment_print - for a shell or another launcher. Returns: CLI_OK or CLI_IO. */
int record_environment_print(const struct record_environment *e, enum env_format format, FILE *out,
                             struct record_why *why);

/*
 * record_environment_check - the variables this process has, which COMMAND would inherit: another
 * profiler, diagnostics switched off. Returns: CLI_OK or CLI_USAGE.
 */
int record_environment_check(struct record_why *why);

/* The text as one word of a shell, quoted only where needed. */
void record_print_quoted(FILE *out, const char *text);

#endif
