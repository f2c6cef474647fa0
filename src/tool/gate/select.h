/*
 * gate/select.h - which limits of a budget each cell of a model counts for: those of one part of a
 * recording (budget_same_part), as slots: limits by number, behind them the lines that no limit of
 * the part names, for the limit of other lines.
 */
#ifndef SHADOWTRACE_GATE_SELECT_H
#define SHADOWTRACE_GATE_SELECT_H

#include "gate/lines.h"

struct gate_selection {
    size_t slot_count; /* limits, then lines */
    uint32_t *first;   /* by cell, one more than cells: its slots are [i], [i + 1) */
    uint32_t *slots;
    size_t count, capacity;
    uint32_t other; /* the limit of other lines, or GATE_NO_LIMIT */
    bool *absent;   /* by limit: its method or type is not in the log */
};
#define GATE_NO_LIMIT UINT32_MAX

/*
 * gate_select - wanted: by limit, whether it is of the part. matched: by limit, its line, of the
 * same lines. Returns: 0 or -ENOMEM; gate_selection_free in any case.
 */
int gate_select(const struct gate_lines *lines, const struct budget *b, const bool *wanted,
                const uint32_t *matched, struct gate_selection *out);
void gate_selection_free(struct gate_selection *s);

#endif
