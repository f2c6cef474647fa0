/*
 * readers/sampling.h - from when samples of the runtime count. Estimates are of what was allocated
 * after that; what was allocated before is one exact figure, of which no place is known.
 */
#ifndef SHADOWTRACE_READERS_SAMPLING_H
#define SHADOWTRACE_READERS_SAMPLING_H

#include <jansson.h>

#include <stdint.h>

enum log_before {
    LOG_BEFORE_NONE,    /* nothing: all allocations are met, or nothing is sampled */
    LOG_BEFORE_EXACT,   /* a known number of bytes */
    LOG_BEFORE_MOST,    /* an upper bound: the runtime is not exact (.NET 8) */
    LOG_BEFORE_UNKNOWN, /* the log does not say: of an earlier version, or cut */
};

/* Of all recordings that were read. All 0: of none. */
struct log_sampling {
    enum log_before how; /* of the recording of which the least is known */
    uint64_t bytes;      /* EXACT, MOST: of all together */
    uint64_t recordings; /* whose samples the runtime takes */
    uint64_t unbegun;    /* of these: that ended before samples counted, or are cut before */
    uint64_t since_ns;   /* of the recording's clock: the latest beginning */
};

/*
 * log_sampling_add - one more recording. header, said: may be NULL; said: what the
 * log has last: a record `sampling`, or the member of that name of a header or end record.
 * log_sampling_take - the same of one whose samples the runtime takes.
 */
void log_sampling_add(struct log_sampling *to, const json_t *header, const json_t *said);
void log_sampling_take(struct log_sampling *to, const json_t *said);

#endif
