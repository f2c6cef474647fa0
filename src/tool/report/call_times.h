/*
 * report/call_times.h - the calls of a log added up by method: how many, and how long. A moment
 * counts once for a method however often it calls itself.
 *
 *     report_call_times_init -> report_call_times_take, batch by batch -> report_call_times_finish
 *     at the end of each log -> report_call_time_of -> report_call_times_fini
 */
#ifndef SHADOWTRACE_REPORT_CALL_TIMES_H
#define SHADOWTRACE_REPORT_CALL_TIMES_H

#include "report/calls.h"
#include "readers/defs.h"

struct report_call_time {
    uint64_t calls, unwound;
    uint64_t total_ns, self_ns; /* in it and what it called; in it alone */
    uint64_t longest_ns;        /* the longest call */
};

struct report_call_times {
    struct log_defs *defs; /* borrowed */
    struct report_calls calls;
    struct report_call_time *of; /* by number of the method */
    size_t count, capacity;      /* numbers from count on have no calls */
    uint64_t missing;            /* calls that are not in the log, and all that they called */
};

void report_call_times_init(struct report_call_times *times, struct log_defs *defs);
void report_call_times_fini(struct report_call_times *times);

/* report_call_times_take - one batch. Returns: 0 or -ENOMEM. */
int report_call_times_take(struct report_call_times *times, const struct log_batch *batch);

/* What is open at the end of a log counts as far as it goes. */
void report_call_times_finish(struct report_call_times *times);

/* The figures of a method by its number; NULL: no call of it is in the log. */
const struct report_call_time *report_call_time_of(const struct report_call_times *times,
                                                   uint32_t method);

#endif
