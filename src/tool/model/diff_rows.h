/* model/diff_rows.h - rows of both sides' logs, matched by key: what each log has of each. */
#ifndef SHADOWTRACE_MODEL_DIFF_ROWS_H
#define SHADOWTRACE_MODEL_DIFF_ROWS_H

#include "model/rows.h"

#define DIFF_NONE SIZE_MAX

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

/* The logs of one side: rows of one key, without totals. */
struct diff_logs {
    const struct model_rows *const *rows;
    size_t count; /* at least 1 */
};

/* Two hashes of what a row is of: 128 bits stand for the names themselves. */
struct diff_key {
    uint64_t a, b;
};

struct diff_key diff_key_of_text(const char *text);
struct diff_key diff_key_of_number(struct diff_key left, uint64_t number);
struct diff_key diff_key_join(struct diff_key left, struct diff_key right);
int diff_key_order(const struct diff_key *left, const struct diff_key *right); /* as qsort's */

/* What one log has of a row. */
struct diff_amount {
    uint64_t allocs, bytes;
    double low, high;
    struct report_spread spread;
    size_t row; /* the largest of those summed here; DIFF_NONE: the log has none */
};

struct diff_rows {
    const struct diff_logs *sides; /* borrowed; DIFF_SIDES of them */
    struct diff_key *keys;
    struct diff_amount *amounts; /* of each row, by log: the old ones, then the new */
    size_t count, logs;
    size_t key_capacity, amount_capacity;
    struct index index;
};

void diff_rows_init(struct diff_rows *rows, const struct diff_logs *sides);
void diff_rows_fini(struct diff_rows *rows);

/* What each log has of a row. */
static inline struct diff_amount *diff_amounts(const struct diff_rows *rows, size_t row)
{
    return &rows->amounts[row * rows->logs];
}

/* The row with that key, created if needed. Returns: its amounts; NULL: out of memory. */
struct diff_amount *diff_rows_add(struct diff_rows *rows, const struct diff_key *key);

/* One log among those of both sides, the old ones first. */
struct diff_log {
    const struct model_rows *rows;
    const struct log_defs *defs;
    int side;
};
struct diff_log diff_log_of(const struct diff_rows *rows, size_t log);

/* diff_first - the first log that has the row; *out is its own row. */
size_t diff_first(const struct diff_rows *rows, size_t row, const struct model_row **out);

double diff_mean(const struct diff_rows *rows, size_t row, int side); /* bytes */

/* diff_growth - by how many bytes a row changed. */
double diff_growth(const struct diff_rows *rows, size_t row);

/*
 * diff_cancel_all - whether changes, the largest of which is `most`, add up to half of it or less.
 * diff_cancel - of two: whether the one is for the most part what the other lost.
 */
bool diff_cancel_all(double sum, double most);
bool diff_cancel(double one, double other);

/*
 * diff_rows_move - all that the logs have of `from` becomes `to`'s.
 * diff_rows_compact - rows so emptied are dropped; the index is no longer of use.
 */
void diff_rows_move(struct diff_rows *rows, size_t to, size_t from);
void diff_rows_compact(struct diff_rows *rows);

#endif
