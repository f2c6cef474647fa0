/*
 * report/async.h - who called an async method. Once it was resumed its caller is no longer on the
 * stack; but the log also has the stacks of its beginning, where the caller still was.
 */
#ifndef SHADOWTRACE_REPORT_ASYNC_H
#define SHADOWTRACE_REPORT_ASYNC_H

#include "readers/defs.h"

struct report_async;

/* report_async_new - from the paths of defs (borrowed), once they are complete. 0 or -ENOMEM. */
int report_async_new(const struct log_defs *defs, struct report_async **out);
void report_async_free(struct report_async *a);

/* Where a method was called. */
struct report_caller {
    uint32_t method; /* number in defs */
    int32_t il;      /* or LOG_NO_IL */
};

/* Whether the frame at `path` is a state machine's, not called by its own beginning. */
bool report_async_resumed(const struct report_async *a, uint32_t path);

/*
 * report_async_caller - who called the async method that `method` is the state machine of. Returns:
 * false if the log has no beginning of it, or several with different callers.
 */
bool report_async_caller(const struct report_async *a, uint32_t method, struct report_caller *out);

#endif
