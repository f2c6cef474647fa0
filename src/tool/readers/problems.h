/*
 * readers/ - reads logs into records and definitions. Knows the file format only: nothing here
 * meets the traced process, and log_reader.h is all it shares with the folder that writes logs.
 *
 *   problems.h         what could not be used, and where
 *   lines.h            a log as lines: file, pipe or memory, plain or zstd, in bounded memory
 *   record.h           one line as one record: the hot kinds by hand, everything else by jansson
 *   parallel_reader.h  the same by several threads, in the log's order
 *   defs.h             what ids mean: modules, classes, methods, threads, the context tree
 *   natives.h          native frames, and the images they lie in
 *   parts.h            the files that hold one recording
 *   complete.h         whether what was read is all that was recorded
 *   log.h              lines to records to a consumer, keeping count of what was skipped
 *   marks.h            the part of a log between two marks
 *
 * Any prefix of a log is a log. What cannot be used - a damaged line, a cut one, an id nobody
 * defined - is skipped, counted and noted as a problem with its place; it never ends the reading.
 */
#ifndef SHADOWTRACE_READERS_PROBLEMS_H
#define SHADOWTRACE_READERS_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A place in a log. line counts from 1; offset is in bytes from the start of the (decompressed)
 * log.
 */
struct log_place {
    uint64_t line, offset;
};

struct log_problem {
    struct log_place place;
    const char *file; /* borrowed from the reader of the log */
    char text[256];   /* one line of UTF-8 */
};

/* The first LOG_PROBLEMS of them in full, the rest as a number. */
#define LOG_PROBLEMS 100
struct log_problems {
    struct log_problem *kept;
    size_t kept_count;
    uint64_t count;   /* all of them */
    const char *file; /* the log being read: goes into each new problem */
};

void log_problems_init(struct log_problems *p);
void log_problems_fini(struct log_problems *p);

/* log_problem - note one. Never fails: without memory it is only counted. */
void log_problem(struct log_problems *p, struct log_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
