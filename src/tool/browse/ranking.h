/* browse/ranking.h - what is let through as a table: a row for each type, method, line, ... */
#ifndef SHADOWTRACE_BROWSE_RANKING_H
#define SHADOWTRACE_BROWSE_RANKING_H

#include "browse/data.h"
#include "model/near.h"
#include "views/view.h"

/* Rows are of a view (views/view.h) that has a key, or of logs. */
#define RANKING_LOGS VIEW_COUNT

/*
 * self: of a method or module, what it allocates itself; of a line, what counts for it by
 * model/near.h. A method whose line is unknown has a row. Among own lines, allocations without an
 * own frame have a row with TARGET_NONE. total: includes all callees, with recursion counted once.
 * A row that is on no call path has no separate total: it is self.
 */
struct ranking_row {
    struct target target;     /* of a log its number; of sizes heap << 8 and the power of two */
    struct model_place place; /* of what is on call paths */
    enum model_near_lack lack; /* of lines: why it has none */
    bool own;
    double self[DATA_SUMS], total[DATA_SUMS];
};

struct ranking {
    enum view_kind kind;
    enum model_key key; /* of the view; NOTHING: of logs */
    struct ranking_row *rows;
    size_t count, capacity;
};

/* ranking_make - only: of methods those of that module or namespace, NULL all.
 * Returns: 0 or -ENOMEM. */
int ranking_make(const struct data *d, enum view_kind kind, const struct target *only,
                 struct ranking *out);
void ranking_fini(struct ranking *t);

/* ranking_sort - largest first, by bytes or allocs, self or total. */
void ranking_sort(const struct data *d, struct ranking *t, enum model_weight weight, bool total);

/* ranking_name - of a row; text in *b. */
const char *ranking_name(const struct data *d, const struct ranking *t,
                         const struct ranking_row *row, struct buffer *out);

bool ranking_has_total(enum model_key key);
bool ranking_has_bars(enum model_key key); /* rows are ranges: sizes, time */

#endif
