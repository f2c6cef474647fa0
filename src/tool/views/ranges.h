/* views/ranges.h - how classes of sizes, heaps and moments are called. */
#ifndef SHADOWTRACE_VIEWS_RANGES_H
#define SHADOWTRACE_VIEWS_RANGES_H

#include "readers/log.h"

#include "base/buffer.h"

/* range_of_sizes - of a power of two, as cells have it: "32 to 63"; text in *b. */
const char *range_of_sizes(unsigned power, struct buffer *b);

const char *range_heap(enum sst_heap heap); /* "" of the one that most objects are in */

const char *range_time(uint64_t ns, char text[32]); /* "1.250 s" */

#endif
