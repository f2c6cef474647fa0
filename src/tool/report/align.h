/* report/align.h - two lists in their order, and which element of one is which of the other. */
#ifndef SHADOWTRACE_REPORT_ALIGN_H
#define SHADOWTRACE_REPORT_ALIGN_H

#include <stddef.h>

#define ALIGN_NONE SIZE_MAX
#define ALIGN_MAX  (1u << 20) /* pairs; where there are more, the caller finds another way */

/* What it costs that two are the same, that an old one is gone, that a new one was added. */
struct align {
    size_t olds, news;
    double (*match)(const void *context, size_t old, size_t new);
    double (*gone)(const void *context, size_t old);
    double (*added)(const void *context, size_t new);
    const void *context;
};

/*
 * align - as cheap as possible, elements staying in their order. match: by old element the new
 * one, or ALIGN_NONE. Returns: 0; -ENOMEM; -E2BIG: more than ALIGN_MAX pairs.
 */
int align(const struct align *a, size_t *match);

#endif
