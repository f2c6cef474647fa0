/*
 * report/replay.h - a call trace as a tree: the calls of a range of time, each with how long it
 * took, what was allocated inside of it, its arguments and result where the log has them, and the
 * exceptions thrown in it. One pass over the log, whatever the range; memory for the rows that are
 * kept.
 */
#ifndef SHADOWTRACE_REPORT_REPLAY_H
#define SHADOWTRACE_REPORT_REPLAY_H

#include "report/calls.h"
#include "readers/log.h"

struct replay_filter {
    uint64_t from, to;  /* ns; calls that were open at some time in between */
    uint32_t thread;    /* id; 0 all */
    const char *method; /* glob: calls of these and what they call; NULL all */
    uint64_t depth;     /* levels; 0 all */
    uint64_t limit;     /* rows to keep; 0 all */
    bool interleaved;   /* rows of all threads by time; else thread by thread */
};

enum replay_kind { REPLAY_CALL, REPLAY_EXCEPTION, REPLAY_MISSING };

struct replay_row {
    enum replay_kind kind;
    enum report_call_end end; /* of a call */
    uint32_t thread;          /* id */
    uint32_t level;
    uint32_t order;  /* as rows were made */
    uint32_t method; /* number; of an exception its class */
    uint64_t t, ns;
    uint64_t bytes, allocs;     /* inside of it; while it is open: as they stood when it began */
    uint64_t missing;           /* calls that are not in the log */
    char *args, *returns, *out; /* JSON, or NULL; of an exception args is its message as JSON */
};

struct replay;

int replay_new(const struct replay_filter *filter, struct log_problems *problems,
               struct replay **out); /* 0 or -ENOMEM */
void replay_free(struct replay *r);

struct log_input *replay_log(struct replay *r);
struct log_defs *replay_defs(struct replay *r);
int replay_read(struct replay *r, const char *path, void (*progress)(void *, uint64_t, uint64_t),
                void *progress_context); /* as log_input_read; then the rows are there */

int replay_read_lines(struct replay *r, struct log_lines *lines, const char *file);

const struct replay_row *replay_rows(const struct replay *r, size_t *count);
uint64_t replay_more(const struct replay *r);    /* rows beyond the limit */
uint64_t replay_calls(const struct replay *r);   /* calls that the log holds, of any time */
uint64_t replay_missing(const struct replay *r); /* that it does not, without those inside them */

#endif
