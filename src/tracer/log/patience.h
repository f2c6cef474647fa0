/*
 * log/patience.h - how long the end of a recording may take. What counts is time in which nothing
 * gets on, although it could: not that in which the process is stopped (SIGSTOP), and hardly any in
 * which the tracer's threads run, or wait for a processor.
 */
#ifndef SHADOWTRACE_LOG_PATIENCE_H
#define SHADOWTRACE_LOG_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_LOOK_NS 50000000ull /* how often to look, at least */
#define PATIENCE_MOST    15          /* times the patience, however much gets on */

/* Nanoseconds. */
struct patience {
    uint64_t patience; /* without progress */
    uint64_t left, all_left;
    uint64_t looked, progress; /* as of the last look */
};

/* As of now. */
struct patience_look {
    uint64_t now;      /* CLOCK_MONOTONIC */
    uint64_t progress; /* any number that changes whenever something has got on */
    bool ready;        /* one of the threads runs, or waits for a processor */
};

void patience_begin(struct patience *p, uint64_t patience, const struct patience_look *look);

/* patience_lasts - to be asked each PATIENCE_LOOK_NS. Returns: whether to wait on. */
bool patience_lasts(struct patience *p, const struct patience_look *look);

#endif
