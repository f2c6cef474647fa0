/*
 * gate/learn.h - bounds from logs. What all logs have alike is the bound, to the object. What
 * varies from run to run gets room: as far as the logs are apart, several times, the more the fewer
 * they are (learn_room), so that a budget judges nothing tighter than it varies.
 *
 *     learn_begin -> learn_take (each log) -> learn_end
 */
#ifndef SHADOWTRACE_GATE_LEARN_H
#define SHADOWTRACE_GATE_LEARN_H

#include "gate/measure.h"

enum learn_of { LEARN_WHOLE = 1, LEARN_LINES = 2, LEARN_METHODS = 4, LEARN_TYPES = 8 };

/* What a new budget has limits of. */
struct learn_options {
    unsigned of;            /* enum learn_of */
    struct args_list calls; /* methods: per call, too */
    struct args_list spans; /* "FROM..TO": per span, too */
    bool live;              /* what is alive at the end, too */
};

/* What the logs have of a limit so far. */
struct learn_range {
    double least, most;
};

/* Which bounds are set. */
enum learn_way {
    LEARN_NEW,     /* all: nothing is there yet */
    LEARN_UPDATE,  /* those that were learned; what is gone goes, new lines come */
    LEARN_BASELINE /* those over the baseline */
};

struct learn {
    struct budget *b;
    enum learn_way way;
    unsigned of;                                   /* of new limits; way NEW */
    uint64_t logs;                                 /* taken so far */
    struct learn_range (*ranges)[BUDGET_MEASURES]; /* by limit */
    bool *seen; /* by limit: its line, method or type was in a log */
    size_t capacity, seen_capacity;
    size_t first; /* limits before this one were there at the beginning */
};

/*
 * learn_begin - of way NEW the budget is empty, and gets what the options say; else options is
 * NULL. Returns: 0; -ENOMEM; -EINVAL: an option is wrong, why says which.
 */
int learn_begin(struct learn *learn, struct budget *b, enum learn_way way,
                const struct learn_options *options, char *why, size_t why_size);

/*
 * learn_take - a log that was read for this budget. Returns: CLI_OK; CLI_IO: it cannot tell what
 * is asked, a line has said why; else as gate_run_measure.
 */
int learn_take(struct learn *learn, struct gate_run *run);

/* learn_end - the budget has its bounds. slack: how much more than learned, as a share of 1. */
void learn_end(struct learn *learn, double slack);
void learn_free(struct learn *learn);

/*
 * learn_room - the room above the maximum of `logs` logs. `range` is the difference between the
 * logs; `objects` is the most objects: a count that varies by chance is off by about its square
 * root.
 */
double learn_room(double range, double objects, uint64_t logs);

#endif
