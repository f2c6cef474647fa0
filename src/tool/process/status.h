/*
 * process/status.h - the status folder: each recorded process writes PID.json there, by rename, and
 * holds PID.lock (log/status.c).
 */
#ifndef SHADOWTRACE_PROCESS_STATUS_H
#define SHADOWTRACE_PROCESS_STATUS_H

#include "readers/sampling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_state {
    RECORD_STATE_RECORDING, /* and the process lives */
    RECORD_STATE_LOST,      /* it said so, but is gone: killed, or crashed */
    RECORD_STATE_ENDED,
    RECORD_STATE_DECLINED, /* it runs or ran unprofiled, for `reason` */
    RECORD_STATE_FAILED,   /* it began, and stopped for `reason` */
    RECORD_STATE_DAMAGED,  /* its file cannot be read */
};

/* Texts are clean (base/clean.h) but for the path of the log; NULL where the file has none. */
struct record_process {
    long pid;
    enum record_state state;
    char *name, *log, *reason, *runtime;
    char *notes; /* lines, each ended by a newline: other losses, patterns that no method matched */
    char *unhandled;            /* the exception that ended it, and its message; NULL: none */
    char *no_inlined;           /* why the JIT did not report inlined methods although it should */
    char *no_native;            /* why native frames are missing although they were wanted */
    char *uncontrolled;         /* why it had no control socket although it was wanted */
    char *uncompressed;         /* why its log is not compressed although it was wanted */
    char *heap, *no_heap;       /* the dump at its end; why it is missing although it was wanted */
    const char *live_view;      /* the report's that shows what is alive, or grows; NULL: none */
    bool unverified;            /* on a version of the runtime that this one was not tested with */
    bool counted, sized, split; /* seen and lost are known; bytes is; written is */
    uint64_t seen, lost, bytes, written; /* bytes are of the written */
    uint64_t gone; /* written, in a log or a part of it that is not there any more */
    bool sampled;  /* then what the program made is estimated: */
    uint64_t estimated_allocs, estimated_bytes;
    struct log_sampling sampling; /* from when they hold */
    char *command;                /* its command line */
};

struct record_processes {
    struct record_process *process; /* by pid */
    size_t count, capacity;
};

/*
 * record_status_read - what the processes wrote in the folder, and in the end record of the log
 * of one that is gone.
 * record_status_read_at - of an open folder. logs: false: their paths are of another root, so no
 * log is looked into. Only regular files of the folder's owner are opened: another user may hold
 * the folder.
 * Returns: 0 or -errno. Owns: out, to be released with record_status_free even on failure.
 */
int record_status_read(const char *folder, struct record_processes *out);
int record_status_read_at(int folder, bool logs, struct record_processes *out);
void record_status_free(struct record_processes *p);

size_t record_status_count(const struct record_processes *p, enum record_state state);

#endif
