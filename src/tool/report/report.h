/*
 * report/report.h - reads logs, aggregates, compares, validates. Knows the file format only:
 * nothing here meets the traced process, and log_reader.h is all it shares with the folder that
 * writes logs.
 *
 *   lines.h     a log as lines: file, pipe or memory, plain or zstd, in bounded memory
 *   record.h    one line as one record: allocations and nodes by hand, everything else by jansson
 *   ahead.h     the same by several threads, in the log's order
 *   defs.h      what ids mean: modules, classes, methods, threads, and the canonical context tree
 *   log.h       lines to records to a consumer, keeping count of what was skipped
 *   marks.h     the part of a log between two marks
 *   sites.h     consumer: who allocated how much                    (shadowtrace report)
 *   diff.h      rows of two logs matched by name                 (shadowtrace diff)
 *   calls.h     the call trace: which calls are open, when one ends
 *   replay.h    consumer: the trace as a tree                       (shadowtrace replay)
 *   families.h  consumer: exceptions, collections, JIT, suspensions, calls by method
 *   checks.h    consumer: shadow stack beside snapshot, and costs   (shadowtrace compare)
 *   validate.h  every record against schema.h and the rules no schema can say
 *
 * Any prefix of a log is a log. What cannot be used - a damaged line, a cut one, an id nobody
 * defined - is skipped, counted and noted as a problem with its place; it never ends the reading.
 */
#ifndef SHADOWTRACE_REPORT_REPORT_H
#define SHADOWTRACE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A place in a log. line counts from 1; offset is in bytes from the start of the (decompressed)
 * log.
 */
struct report_place {
    uint64_t line, offset;
};

struct report_problem {
    struct report_place place;
    const char *file; /* borrowed from whoever opened the log */
    char text[256];   /* one line of UTF-8 */
};

/* The first REPORT_PROBLEMS of them in full, the rest as a number. */
#define REPORT_PROBLEMS 100
struct report_problems {
    struct report_problem *kept;
    size_t kept_count;
    uint64_t count;   /* all of them */
    const char *file; /* the log being read: goes into each new problem */
};

void report_problems_init(struct report_problems *p);
void report_problems_fini(struct report_problems *p);

/* report_problem - note one. Never fails: without memory it is only counted. */
void report_problem(struct report_problems *p, struct report_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
