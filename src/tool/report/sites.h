/*
 * report/sites.h - who allocated how much: allocations of a log added up by call path, type and
 * thread as they come, then brought together into rows by whatever the user asks for.
 *
 *     report_sites_new -> report_sites_read (one or more logs) -> report_sites_finish -> rows ->
 *     report_sites_free
 *
 * A sampled log (members "weight") gives estimates: each event stands for `weight` bytes and weight
 * / bytes objects. The interval beside an estimate covers the exact figure in about 95 of 100
 * cases.
 *
 * The others of this folder, each with what it is for at its top: events, profile, replay (over
 * calls, collections, call_times) and checks are consumers of a log's records, too; diff matches
 * the rows of several; annotate and line_rows join them to source lines; logical, demangle and
 * async give paths and names as they were written. None prints anything.
 */
#ifndef SHADOWTRACE_REPORT_SITES_H
#define SHADOWTRACE_REPORT_SITES_H

#include "report/live.h"
#include "report/call_times.h"
#include "report/estimate.h"
#include "readers/log.h"
#include "readers/marks.h"

enum report_by {
    REPORT_BY_SITE, /* call path, allocating instruction, type */
    REPORT_BY_TYPE,
    REPORT_BY_METHOD, /* the innermost: it allocates */
    REPORT_BY_THREAD,
    REPORT_BY_MODULE, /* of that method */
    REPORT_BY_LINE,   /* of the source, and type; see report_sites_lines */
};

struct report_filter {
    const char *type;   /* glob over full names (`*`, `?`); NULL all */
    const char *method; /* the same of any frame of the path */
    uint32_t thread;    /* id in the log; 0 all */
    bool steady;        /* without objects that only unoptimised code makes */
    bool physical;      /* inlined methods have no frames */
    bool chosen;        /* the caller chooses cells by path and type: report_sites_cells */
};

/* Rows in front: those of at least so many bytes; among them those of most objects, not bytes. */
struct report_order {
    bool allocs;
    uint64_t least_bytes;
    double least_share; /* of the total's, 0 to 1 */
};

struct report_row {
    uint64_t allocs, bytes; /* estimates are rounded */
    struct report_amount allocs_range, bytes_range;
    double share;       /* of the total's bytes, 0 to 1 */
    double unoptimised; /* of its own bytes: what only unoptimised code makes, the log's il0 */
    uint64_t sampled;   /* events this rests on, if it is an estimate; else 0 */
    struct report_spread spread;
    bool approximate; /* of ticks, which are not random: there is no range */
    bool mixed; /* an estimate of objects of several sizes: their number is as good as unknown */
    /*
     * What the row is of, as numbers of report_defs (line: what report_line_of said); fields that
     * do not belong to `by` are 0 (il: REPORT_NO_IL).
     */
    uint32_t path; /* by method or module: REPORT_PATH_EMPTY for what no managed frame allocated */
    uint32_t class_number, method, module, line;
    uint32_t thread; /* number + 1; 0: the log does not say which */
    int32_t il;
};

struct report_sites;

/*
 * report_sites_new - Returns: 0 or -ENOMEM. Owns: the caller; filter's texts and problems are
 * borrowed until freed.
 */
int report_sites_new(enum report_by by, const struct report_filter *filter,
                     struct report_problems *problems, struct report_sites **out);
void report_sites_free(struct report_sites *s);

/*
 * report_sites_ask - rows are of live objects: see report_cells_ask and report_cells_spans.
 * report_sites_live - what was read of them.
 */
void report_sites_ask(struct report_sites *s, enum report_live_question question,
                      const struct report_live_spans *spans);
const struct report_live *report_sites_live(const struct report_sites *s);

/* report_sites_progress - call this now and then while reading; see struct report_consumer. */
void report_sites_progress(struct report_sites *s,
                           void (*progress)(void *context, uint64_t taken, uint64_t size),
                           void *context);

/* report_sites_jobs - threads that parse ahead; see struct report_log. */
void report_sites_jobs(struct report_sites *s, unsigned jobs);

/*
 * report_sites_add - one record of a log that somebody else reads.
 * Returns: as a consumer's record.
 */
int report_sites_add(struct report_sites *s, const struct report_record *record);

/*
 * report_sites_window - of the log read next only what was allocated within; NULL: all of it again.
 * Borrowed until that log is read.
 */
void report_sites_window(struct report_sites *s, const struct report_window *window);

/*
 * report_sites_lines - who tells lines, for REPORT_BY_LINE; before report_sites_finish. line_of: a
 * number for the line to which an allocation at `il` of the path's method belongs; 0: none is
 * known.
 */
typedef uint32_t report_line_of(void *context, uint32_t path, int32_t il);
void report_sites_lines(struct report_sites *s, report_line_of *line_of, void *context);

/*
 * report_sites_read - add a log. Returns: as report_log_read; after a failure what came before it
 * still counts.
 */
int report_sites_read(struct report_sites *s, const char *path);
int report_sites_read_lines(struct report_sites *s, struct report_lines *lines, const char *file);

/*
 * report_sites_logical - paths become logical ones (report/logical.h). After reading, before
 * anything takes its bearings from the paths of report_sites_defs; not calling it leaves the
 * machine's. Returns: 0 or -ENOMEM.
 */
int report_sites_logical(struct report_sites *s);

/*
 * report_sites_cells - what the rows will be made of, for a caller who takes some away or gives
 * them other paths before report_sites_finish. No reading after it. Returns: NULL: no memory.
 */
struct report_cells;
struct report_cells *report_sites_cells(struct report_sites *s);

/* report_sites_order - NULL, or before report_sites_finish without it: by bytes. */
void report_sites_order(struct report_sites *s, const struct report_order *order);

/* report_sites_finish - rows in their order. No reading after it. Returns: 0 or -ENOMEM. */
int report_sites_finish(struct report_sites *s);

size_t report_sites_count(const struct report_sites *s);
size_t report_sites_passing(const struct report_sites *s); /* those that the order has in front */
void report_sites_row(const struct report_sites *s, size_t index, struct report_row *out);
void report_sites_total(const struct report_sites *s,
                        struct report_row *out); /* of what the filter lets through */
/*
 * The calls of a row's method, if they are in the log; NULL: none is, or rows are not by method, or
 * a window was set: calls are not cut at marks. Of report_filter only the thread counts.
 * report_sites_calls: how many methods have some.
 */
const struct report_call_time *report_sites_row_calls(const struct report_sites *s,
                                                      const struct report_row *row);
size_t report_sites_calls(const struct report_sites *s);
void report_sites_all(const struct report_sites *s, struct report_row *out); /* of the log */
bool report_sites_estimated(const struct report_sites *s);
uint64_t report_sites_heap(const struct report_sites *s, enum sst_heap heap,
                           uint64_t *bytes); /* events; unweighted */

const struct report_defs *report_sites_defs(const struct report_sites *s);
const struct report_log *report_sites_log(const struct report_sites *s);

#endif
