/* export/stack.h - the frames from the root to a node, for formats that write each stack out. */
#ifndef SHADOWTRACE_EXPORT_STACK_H
#define SHADOWTRACE_EXPORT_STACK_H

#include "export/profile.h"

struct export_stack {
    uint32_t *frames; /* outermost first */
    size_t count, capacity;
};

/* export_stack_of - the stack of a node, in place of what was there. Returns: 0 or -ENOMEM. */
int export_stack_of(struct export_stack *s, const struct export_profile *p, uint32_t node);
void export_stack_free(struct export_stack *s);

#endif
