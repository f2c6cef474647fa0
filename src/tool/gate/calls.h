/* gate/calls.h - how often methods were called, as a log with `--events alloc,calls` says. */
#ifndef SHADOWTRACE_GATE_CALLS_H
#define SHADOWTRACE_GATE_CALLS_H

#include "command/reading.h"

struct gate_calls {
    struct gate_call {
        char *method; /* full name */
        bool machine; /* the MoveNext of an async method or an iterator: it is not called by name */
        uint64_t calls;
    } * of;
    size_t count, capacity;
    const char *why; /* the log does not say how often; NULL: it does */
};

/*
 * gate_calls_read - Returns: CLI_OK; else a line has said why. Owns: *out is to be freed in any
 * case.
 */
int gate_calls_read(const struct cli_command *command, const struct reading_options *reading,
                    const char *log, struct gate_calls *out);
void gate_calls_free(struct gate_calls *calls);

/* gate_calls_of - of a method by its full name, or of all that a pattern means. */
uint64_t gate_calls_of(const struct gate_calls *calls, const char *method);

#endif
