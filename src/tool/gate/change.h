/* gate/change.h - the difference of two budgets: limits that came, went, or have another bound. */
#ifndef SHADOWTRACE_GATE_CHANGE_H
#define SHADOWTRACE_GATE_CHANGE_H

#include "gate/budget.h"

struct gate_change {
    const struct budget_limit *was, *is; /* NULL: did not exist before, does not exist now */
    enum budget_measure measure;
};

struct gate_changes {
    struct gate_change *changes; /* limits as the newer budget has them, then those that went */
    size_t count, capacity;
};

/*
 * gate_changes_new - a line whose number alone is another one has not changed, and one that was
 * edited is the one it replaced, where a method has as many new lines as it has lost. Returns: 0 or
 * -ENOMEM. Owns: the budgets are borrowed; gate_changes_free in any case.
 */
int gate_changes_new(const struct budget *was, const struct budget *is, struct gate_changes *out);
void gate_changes_free(struct gate_changes *c);

#endif
