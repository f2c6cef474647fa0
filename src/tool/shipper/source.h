/*
 * shipper/source.h - one log that is shipped: followed, its sums by minute, and how much of each
 * minute the server has acknowledged. Minutes of which all is acknowledged are forgotten, but for
 * the last few, into which what comes late may still fall.
 */
#ifndef SHADOWTRACE_SHIPPER_SOURCE_H
#define SHADOWTRACE_SHIPPER_SOURCE_H

#include "follow/follow.h"
#include "report/cells.h"

#define SOURCE_KEEPS 5 /* minutes that are kept though they are acknowledged */
#define SOURCE_WHY   500

/* A minute: its slice in the cells, and allocations in it. */
struct source_minute {
    uint32_t slice;
    double allocs;
};

/* What the server has, or is being told: sums of minutes, and what the recording's row says. */
struct source_state {
    struct source_minute *minutes; /* in order of slices */
    size_t count, capacity;
    uint64_t duration, lost, gone;
    bool ended;
    bool any; /* it was told anything at all */
};

struct source {
    char *path;
    uint64_t pid, clock; /* of the recording: what it is known by */
    struct log_problems problems;
    struct report_cells cells;
    struct follow *follow; /* NULL: read to its end, or it failed */
    struct follow_losses losses;
    bool over; /* it is read as far as it is now, not further */
    struct source_state acked, sent;
    bool sending;
    uint64_t due_ns,
        wait_ns; /* when the next sending may begin; how long it waits after a failure */
};

/* source_new - Returns: 0; -errno of follow_new; -ENOMEM; *out is NULL then. */
int source_new(const char *path, const struct log_recording *recording, struct source **out);
void source_free(struct source *s); /* NULL is fine */

/*
 * source_step - as follow_step. Returns: 1: there is more; 0: no; -errno: it is followed no longer.
 * why: a line for people, if there is anything to be said; else "".
 */
int source_step(struct source *s, size_t budget, uint64_t until_ns, char why[SOURCE_WHY]);

/* source_end - what comes from here on is not wanted: it is over once source_step returns 0. */
void source_end(struct source *s);

/* source_stop - follow it no longer; what was read is sent. */
void source_stop(struct source *s);

/*
 * source_changed - whether there is anything to tell; if so it stands in s->sent. Returns: 1, 0;
 * -ENOMEM.
 * source_acknowledge - all of s->sent has arrived.
 */
int source_changed(struct source *s);
int source_acknowledge(struct source *s);

/* source_select - in a copy of the process: leave the cells of minutes that are to be told. */
void source_select(struct source *s);

#endif
