/*
 * readers/log.h - reads one log to its end, or as far as it goes: what each record defines is taken
 * (defs.h), then a consumer gets it. What cannot be used is skipped, counted, noted as a problem.
 */
#ifndef SHADOWTRACE_READERS_LOG_H
#define SHADOWTRACE_READERS_LOG_H

#include "readers/complete.h"
#include "readers/defs.h"
#include "readers/sampling.h"

struct log_consumer {
    /*
     * One record of a known kind. Returns: 0; -EBADMSG: unusable, noted as a problem; else reading
     * ends with it.
     */
    int (*record)(void *context, const struct log_record *record);
    /* Now and then: bytes of the file taken, and its size, 0 if not known. May be NULL. */
    void (*progress)(void *context, uint64_t taken, uint64_t size);
    void *context;
    void *progress_context;
};

/* What was read. Add a log to another's by reading again with the same struct. */
struct log_input {
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
    uint64_t lost;          /* allocations, of ended recordings; see log_input_lost */
    struct log_recording recording;
    json_t *lost_by;       /* of the recording being read: reason to cumulative count */
    json_t *lost_others;   /* of ended recordings, by family; see log_input_lost_others */
    json_t *lost_families; /* of the recording being read: family to cumulative count */
    json_t *not_written;   /* of the recording being read: lines by kind */
    json_t *header, *end;  /* the last ones */
    json_t *unhandled;     /* of the recording being read: what may have ended it; the last one */
    json_t *sampling;      /* of the recording being read; see log_input_sampling */
    struct log_sampling sampled; /* of those before it */
    char **paths; /* of the files that were read: parts that were found are named by nobody else */
    size_t path_count, path_capacity;
    struct log_record_tally tally; /* of the recording being read */
    struct log_completeness gaps;  /* of recordings that are over; see log_input_completeness */
    char why[200]; /* after -EPROTO and -EBADMSG: what is wrong, without the file's name */
};

void log_input_init(struct log_input *log);
void log_input_fini(struct log_input *log);

/*
 * log_input_read - read the log at `path` ("-": standard input), with the earlier parts of its
 * recording that lie beside it (readers/parts.h), in their order.
 * Returns: 0; -EPROTO: of a version that this program cannot read; -EBADMSG: not a log at all;
 *          -errno of opening or reading; -ENOMEM. What was read until then is counted.
 * Owns:    all arguments stay the caller's; path is kept in log->file. Problems name files by text
 *          of the log's.
 */
int log_input_read(const char *path, struct log_defs *defs, const struct log_consumer *consumer,
                   struct log_input *log);

/* log_input_read_lines - the same from lines already open; file names them in problems. */
int log_input_read_lines(struct log_lines *lines, const char *file, struct log_defs *defs,
                         const struct log_consumer *consumer, struct log_input *log);

/*
 * log_input_take - a record that no file has, as a line that says it: of what was recorded and is
 * written in another way. The header comes before sums; definitions may come before it. Returns: as
 * consumer->record.
 */
int log_input_take(struct log_input *log, struct log_defs *defs,
                   const struct log_consumer *consumer, const struct log_record *record);

/*
 * The same piece by piece, of lines whose source says -EAGAIN where there is no more for now.
 *
 * log_reading_new  - Returns: 0; -ENOMEM. Owns: everything is borrowed until
 * log_reading_free; *out is NULL after a failure. log->jobs: none, or the lines do not wait.
 * log_reading_more - Returns: as log_input_read; -EAGAIN: call it again when there is more. The
 * end of the lines is the end of the reading.
 * log_reading_until - log_reading_more returns -EAGAIN soon after that moment of clock_ns(),
 * at the latest when the line that it is at is used; 0: it does not look at the clock.
 */
struct log_reading;
int log_reading_new(struct log_lines *lines, const char *file, struct log_defs *defs,
                    const struct log_consumer *consumer, struct log_input *log,
                    struct log_reading **out);
int log_reading_more(struct log_reading *r);
void log_reading_until(struct log_reading *r, uint64_t until_ns);
void log_reading_free(struct log_reading *r); /* NULL is fine */

uint64_t log_input_lost(const struct log_input *log); /* allocations seen but not written */

/*
 * log_input_lost_others - what else was seen but not written: family of events, or "values", to
 * count.
 * Returns: an object without those of which none was lost, to be released; NULL: no memory.
 */
json_t *log_input_lost_others(const struct log_input *log);

/*
 * log_input_completeness - whether all that was recorded is there, of everything read so far; and
 * what is not. The only place that may say "complete".
 */
void log_input_completeness(const struct log_input *log, struct log_completeness *out);

/* log_input_sampling - from when samples of the runtime count, in all that was read so far. */
void log_input_sampling(const struct log_input *log, struct log_sampling *out);

/* Whether every recording has its end record, and nothing is cut. */
bool log_input_ended(const struct log_input *log);

#endif
