/* browse/ranking.h - what is let through as a table: a row for each type, method, line, ... */
#ifndef SHADOWTRACE_BROWSE_RANKING_H
#define SHADOWTRACE_BROWSE_RANKING_H

#include "browse/data.h"

enum ranking_kind {
    RANKING_TYPES,
    RANKING_METHODS,
    RANKING_LINES,     /* that have a known source */
    RANKING_OWN_LINES, /* of own code */
    RANKING_MODULES,
    RANKING_THREADS,
    RANKING_LOGS,
    RANKING_KINDS
};

/*
 * self of a method or module: of what it allocates itself. Of a line: what it allocates itself or
 * through code that has no lines (own lines: through code that is not own). total: with all that it
 * calls, recursion counted once. Types, threads and logs have no total of their own: it is self.
 */
struct ranking_row {
    struct target target; /* number: of a method, class, module; of a thread + 1; of a log */
    bool own;
    double self[2], total[2]; /* bytes, objects */
};

struct ranking {
    enum ranking_kind kind;
    struct ranking_row *rows;
    size_t count, capacity;
};

/* table_new - only_module: of methods those of that module, 0 all. Returns: 0 or -ENOMEM. */
int ranking_make(const struct data *d, enum ranking_kind kind, uint32_t only_module,
                 struct ranking *out);
void ranking_fini(struct ranking *t);

/* ranking_sort - largest first, by bytes or allocs, self or total. */
void ranking_sort(const struct data *d, struct ranking *t, enum model_weight weight, bool total);

/* ranking_name - of a row; text in *b. */
const char *ranking_name(const struct data *d, const struct ranking *t,
                         const struct ranking_row *row, struct buffer *b);

bool ranking_has_total(enum ranking_kind kind);

#endif
