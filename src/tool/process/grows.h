/*
 * process/grows.h - places whose live objects grow, as a traced process says it (status, reply to
 * `alive`): a line for a person of each, "grows at each of 5 full collections: Coupons.cs:35, +50
 * objects, Coupon".
 */
#ifndef SHADOWTRACE_PROCESS_GROWS_H
#define SHADOWTRACE_PROCESS_GROWS_H

#include "base/buffer.h"

#include <jansson.h>

/*
 * grows_text - lines, each ended by a newline, of at most `most` places, most objects first; what
 * is left out is counted. array: member `grows`, NULL: none. A place is a line of the source where
 * symbols say it, else a method.
 */
void grows_text(const json_t *array, size_t most, struct buffer *out);

#endif
