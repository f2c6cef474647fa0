/*
 * rows/rows_log.h - rows of many recordings (`export --format rows`, or what a query of such tables
 * gave) put into cells as one recording, which every view and page is a walk over.
 *
 *     rows_log_new -> rows_log_read (one or more files) -> rows_log_end -> rows_log_give (its
 *     source lines) -> rows_log_free
 *
 * What is there more than once counts once, by the keys of include/shadowtrace/rows_schema.json: of
 * an amount the largest. There are sums by site, and neither threads, heaps nor times, and no live
 * objects. Frames keep their lines.
 *
 * A place is a method and an offset there, but two builds may have another line at the same offset.
 * Then the later one gets an offset that no method has, which is never shown beside a line.
 */
#ifndef SHADOWTRACE_ROWS_ROWS_LOG_H
#define SHADOWTRACE_ROWS_ROWS_LOG_H

#include "report/cells.h"
#include "report/source_lines.h"

#define ROWS_LOG_WHY 300

struct rows_log;

/* What was read. */
struct rows_log_sums {
    uint64_t recordings, incomplete, estimated; /* of recordings that rows tell of */
    uint64_t lost;                              /* allocations that these did not write */
    uint64_t bytes, allocs, unknown;            /* unknown: rows of kinds of a later version */
};

/*
 * rows_log_new - Returns: 0 or -ENOMEM. rows_log_free: NULL is fine.
 * Owns: cells, in which nothing is yet, are borrowed.
 */
int rows_log_new(struct report_cells *cells, struct rows_log **out);
void rows_log_free(struct rows_log *r);

/*
 * rows_log_read - a file of rows, plain, .gz or .zst; "-" is standard input.
 * Returns: 0; -EPROTO: of a later version; -EBADMSG: no rows; either with a line in why, which
 * begins with the file's name; -errno of reading; -ENOMEM.
 */
int rows_log_read(struct rows_log *r, const char *path, char why[ROWS_LOG_WHY]);

/* rows_log_end - all were read: what they add up to goes into the cells. Returns: 0 or -errno. */
int rows_log_end(struct rows_log *r);
const struct rows_log_sums *rows_log_sums(const struct rows_log *r);

/*
 * rows_log_give - the lines of its frames. Returns: 0 or -ENOMEM. Owns: texts are the rows_log's,
 * which outlives `lines`.
 */
int rows_log_give(const struct rows_log *r, struct source_lines *lines);

#endif
