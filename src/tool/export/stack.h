/*
 * export/stack.h - what formats with tables write out: the frames from the root to a node, and the
 * functions that frames are of.
 */
#ifndef SHADOWTRACE_EXPORT_STACK_H
#define SHADOWTRACE_EXPORT_STACK_H

#include "export/profile.h"

struct export_stack {
    uint32_t *frames; /* outermost first */
    size_t count, capacity;
};

/* export_stack_of - replaces the stack by that of a node. Returns: 0 or -ENOMEM. */
int export_stack_of(struct export_stack *s, const struct export_profile *profile, uint32_t node);
void export_stack_free(struct export_stack *s);

/*
 * export_functions - by number of function a frame of it, one with a file if there is one; NULL: no
 * frame is. Returns: 0 or -ENOMEM; *out is the caller's, for memory_free.
 */
int export_functions(const struct export_profile *p, const struct export_frame ***out);

#endif
