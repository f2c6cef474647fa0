/*
 * report/diff_internal.h - what the files of diff share.
 */
#ifndef SHADOWTRACE_REPORT_DIFF_INTERNAL_H
#define SHADOWTRACE_REPORT_DIFF_INTERNAL_H

#include "report/diff.h"

/* Two hashes of what a row is of: 128 bits stand for the names themselves. */
struct key {
    uint64_t a, b;
};

/* What one log has of a row. */
struct amount {
    uint64_t allocs, bytes;
    double low, high;
    size_t row;
};

struct entry {
    struct key key;
    struct report_change change;
    bool noise;
};

struct report_diff {
    struct entry *entries;
    size_t count, capacity;
    struct amount *amounts; /* of each entry, by log: the old ones, then the new */
    size_t logs;
    bool several;
    struct index index;
    struct diff_paths *paths; /* by log, until the rows are joined */
    uint64_t inlined;         /* rows that were joined with others */
};

/* A path with its recursion folded: of each method only the outermost frame. */
struct diff_folded {
    uint32_t parent, method; /* parent: a path's number, whose folded this one continues */
    struct key key;
};

struct diff_paths {
    const struct report_defs *defs;
    struct key *methods;
    uint8_t *parts;
    struct diff_folded *folded; /* by path */
    uint32_t *as;               /* by path: the path whose folded form is this one's, too */
    struct key *keys;           /* by path */
};

struct key diff_key_of_text(const char *text);
struct key diff_key_join(struct key left, struct key right);

/* One log among those of both sides, the old ones first. */
struct diff_log {
    const struct report_diff_logs *among;
    const struct report_sites *sites;
    int side;
    size_t number; /* in its side */
};
struct diff_log diff_log_of(const struct report_diff_logs sides[REPORT_DIFF_SIDES], size_t log);

double diff_mean_of(const struct amount *logs, size_t count); /* bytes */

/* The first log that has a row of this entry; *row is that row. */
size_t diff_row_of(const struct report_diff *diff,
                   const struct report_diff_logs sides[REPORT_DIFF_SIDES], size_t entry,
                   struct report_row *row);

/* diff_take - all that the logs have of `from` is also `to`'s. diff_close_up: entries so emptied are no rows any more. */
void diff_take(struct report_diff *diff, size_t to, size_t from);
void diff_close_up(struct report_diff *diff);

/* Of rows by line, what is the same in every build: the type, and method and file if known. Returns: has it a line? */
bool diff_line_of(const struct diff_log *log, const struct report_row *row,
                  struct report_diff_line *line, struct key *key);

/*
 * diff_join_lines - rows by line, which are one side's each, become one where they are of the same line. Returns: 0 or
 * -ENOMEM.
 */
int diff_join_lines(struct report_diff *diff,
                    const struct report_diff_logs sides[REPORT_DIFF_SIDES]);

/*
 * diff_join_inlined - rows that differ only by frames which one of them does not have, and of which one lost what the other
 * has more of, become one: what is inlined depends on when it was compiled again. Returns: 0 or -ENOMEM.
 */
int diff_join_inlined(struct report_diff *diff,
                      const struct report_diff_logs sides[REPORT_DIFF_SIDES]);

#endif
