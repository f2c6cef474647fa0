/* browse/ranking.h - what is let through as a table: a row for each type, method, line, ... */
#ifndef SHADOWTRACE_BROWSE_RANKING_H
#define SHADOWTRACE_BROWSE_RANKING_H

#include "browse/data.h"

enum ranking_kind {
    RANKING_TYPES,
    RANKING_METHODS,
    RANKING_LINES,     /* of all code */
    RANKING_OWN_LINES, /* of own code */
    RANKING_MODULES,
    RANKING_THREADS,
    RANKING_NAMESPACES, /* data_namespaces first */
    RANKING_SIZES,      /* of objects, by heap: in their own order */
    RANKING_TIME,       /* slices: in their own order */
    RANKING_LOGS,
    RANKING_KINDS
};

/*
 * self: of a method or module, what it allocates itself; of a line, what counts for it by
 * model/near.h. A method whose line is unknown has a row. Among own lines, allocations without an
 * own frame have a row with TARGET_NONE. total: includes all callees, with recursion counted once.
 * A row that is on no call path has no separate total: it is self.
 */
struct ranking_row {
    struct target target; /* of a log its number; of sizes heap << 8 and the power of two */
    bool own;
    double self[DATA_SUMS], total[DATA_SUMS];
};

struct ranking {
    enum ranking_kind kind;
    struct ranking_row *rows;
    size_t count, capacity;
};

/* ranking_make - only: of methods those of that module or namespace, NULL all.
 * Returns: 0 or -ENOMEM. */
int ranking_make(const struct data *d, enum ranking_kind kind, const struct target *only,
                 struct ranking *out);
void ranking_fini(struct ranking *t);

/* ranking_sort - largest first, by bytes or allocs, self or total. */
void ranking_sort(const struct data *d, struct ranking *t, enum model_weight weight, bool total);

/* ranking_name - of a row; text in *b. */
const char *ranking_name(const struct data *d, const struct ranking *t,
                         const struct ranking_row *row, struct buffer *b);

bool ranking_has_total(enum ranking_kind kind);
bool ranking_has_bars(enum ranking_kind kind); /* rows are ranges: sizes, time */

#endif
