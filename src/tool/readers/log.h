/*
 * readers/log.h - reads one log to its end, or as far as it goes: what each record defines is taken
 * (defs.h), then a consumer gets it. What cannot be used is skipped, counted, noted as a problem.
 */
#ifndef SHADOWTRACE_READERS_LOG_H
#define SHADOWTRACE_READERS_LOG_H

#include "readers/complete.h"
#include "readers/defs.h"
#include "readers/sampling.h"

struct report_consumer {
    /*
     * One record of a known kind. Returns: 0; -EBADMSG: unusable, noted as a problem; else reading
     * ends with it.
     */
    int (*record)(void *context, const struct report_record *record);
    /* Now and then: bytes of the file taken, and its size, 0 if not known. May be NULL. */
    void (*progress)(void *context, uint64_t taken, uint64_t size);
    void *context;
    void *progress_context;
};

/* What was read. Add a log to another's by reading again with the same struct. */
struct report_log {
    unsigned jobs;    /* set by the caller: threads that parse ahead; 0 and 1: none */
    bool only_one;    /* set by the caller: a second recording ends the reading, with -ESTALE */
    const char *file; /* the last one read */
    uint64_t lines, bytes;
    uint64_t used;                             /* lines */
    uint64_t skipped;                          /* lines that could not be used */
    uint64_t unknown_records, unknown_members; /* of a later version */
    uint64_t headers, ends; /* recordings begun and ended: a log normally holds one */
    uint64_t cut;           /* logs that end within a line, or within compressed data */
    uint64_t damaged;       /* of `skipped` those that are no cut end */
    uint64_t after_end;     /* lines behind an end record */
    uint64_t undefined;     /* ids that lines name and nothing defines */
    uint64_t lost;          /* allocations, of ended recordings; see report_log_lost */
    struct report_recording recording;
    json_t *lost_by;       /* of the recording being read: reason to cumulative count */
    json_t *lost_others;   /* of ended recordings, by family; see report_log_lost_others */
    json_t *lost_families; /* of the recording being read: family to cumulative count */
    json_t *not_written;   /* of the recording being read: lines by kind */
    json_t *header, *end;  /* the last ones */
    json_t *unhandled;     /* of the recording being read: what may have ended it; the last one */
    json_t *sampling;      /* of the recording being read; see report_log_sampling */
    struct report_sampling sampled; /* of those before it */
    char **paths; /* of the files that were read: parts that were found are named by nobody else */
    size_t path_count, path_capacity;
    struct report_tally tally;       /* of the recording being read */
    struct report_completeness gaps; /* of recordings that are over; see report_log_completeness */
    char why[200]; /* after -EPROTO and -EBADMSG: what is wrong, without the file's name */
};

void report_log_init(struct report_log *log);
void report_log_fini(struct report_log *log);

/*
 * report_log_read - read the log at `path` ("-": standard input), with the earlier parts of its
 * recording that lie beside it (readers/parts.h), in their order.
 * Returns: 0; -EPROTO: of a version that this program cannot read; -EBADMSG: not a log at all;
 *          -errno of opening or reading; -ENOMEM. What was read until then is counted.
 * Owns:    all arguments stay the caller's; path is kept in log->file. Problems name files by text
 *          of the log's.
 */
int report_log_read(const char *path, struct report_defs *defs,
                    const struct report_consumer *consumer, struct report_log *log);

/* report_log_read_lines - the same from lines already open; file names them in problems. */
int report_log_read_lines(struct report_lines *lines, const char *file, struct report_defs *defs,
                          const struct report_consumer *consumer, struct report_log *log);

/*
 * report_log_take - a record that no file has, as a line that says it: of what was recorded and is
 * written in another way. The header comes before sums; definitions may come before it. Returns: as
 * consumer->record.
 */
int report_log_take(struct report_log *log, struct report_defs *defs,
                    const struct report_consumer *consumer, const struct report_record *record);

/*
 * The same piece by piece, of lines whose source says -EAGAIN where there is no more for now.
 *
 * report_reading_new  - Returns: 0; -ENOMEM. Owns: everything is borrowed until
 * report_reading_free; *out is NULL after a failure. log->jobs: none, or the lines do not wait.
 * report_reading_more - Returns: as report_log_read; -EAGAIN: call it again when there is more. The
 * end of the lines is the end of the reading.
 * report_reading_until - report_reading_more returns -EAGAIN soon after that moment of clock_ns(),
 * at the latest when the line that it is at is used; 0: it does not look at the clock.
 */
struct report_reading;
int report_reading_new(struct report_lines *lines, const char *file, struct report_defs *defs,
                       const struct report_consumer *consumer, struct report_log *log,
                       struct report_reading **out);
int report_reading_more(struct report_reading *r);
void report_reading_until(struct report_reading *r, uint64_t until_ns);
void report_reading_free(struct report_reading *r); /* NULL is fine */

uint64_t report_log_lost(const struct report_log *log); /* allocations seen but not written */

/*
 * report_log_lost_others - what else was seen but not written: family of events, or "values", to
 * count.
 * Returns: an object without those of which none was lost, to be released; NULL: no memory.
 */
json_t *report_log_lost_others(const struct report_log *log);

/*
 * report_log_completeness - whether all that was recorded is there, of everything read so far; and
 * what is not. The only place that may say "complete".
 */
void report_log_completeness(const struct report_log *log, struct report_completeness *out);

/* report_log_sampling - from when samples of the runtime count, in all that was read so far. */
void report_log_sampling(const struct report_log *log, struct report_sampling *out);

/* Whether every recording has its end record, and nothing is cut. */
bool report_log_ended(const struct report_log *log);

#endif
