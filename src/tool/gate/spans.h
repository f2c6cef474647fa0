/*
 * gate/spans.h - what was allocated in each part of a log from a mark to the next of another text:
 * taken from the allocations as they are read.
 */
#ifndef SHADOWTRACE_GATE_SPANS_H
#define SHADOWTRACE_GATE_SPANS_H

#include "gate/budget.h"
#include "readers/marks.h"
#include "report/cells.h"

/* One sum; of sampled logs with what report/estimate.h wants. */
struct gate_sum {
    double objects, bytes, objects_variance, bytes_variance, objects_seen, bytes_seen;
};
void gate_sum_add(struct gate_sum *to, const struct gate_sum *more);

struct gate_spans {
    struct gate_span {
        uint64_t from, to; /* ns */
        uint32_t pair;     /* of marks */
    } * spans;             /* by pair, those of a pair by time */
    size_t count, capacity;
    struct gate_pair {
        const char *from, *to; /* borrowed */
        size_t first, end;     /* its spans */
    } * pairs;
    size_t pair_count, pair_capacity;
    struct gate_span_cell {
        uint32_t span, cell;
        struct gate_sum sum;
    } * cells; /* by span once sorted */
    size_t cell_count, cell_capacity;
    struct index index;
    bool untimed; /* allocations came that have no times */
};

/* gate_spans_new - the spans that limits of the budget ask for. Returns: 0 or -ENOMEM. */
int gate_spans_new(const struct budget *b, const struct log_marks *marks, struct gate_spans **out);
void gate_spans_free(struct gate_spans *s); /* NULL is fine */

/* The pair of marks; NULL: nobody asked for it. */
const struct gate_pair *gate_spans_pair(const struct gate_spans *s, const char *from,
                                        const char *to);

/* gate_spans_take - an allocation, as model_options.event. */
int gate_spans_take(void *spans, const struct report_cell_event *event);

/*
 * gate_spans_sort - nothing is read any more.
 * gate_spans_cells - what a span has, from *begin to before *end of cells.
 */
void gate_spans_sort(struct gate_spans *s);
void gate_spans_cells(const struct gate_spans *s, size_t span, size_t *begin, size_t *end);

#endif
