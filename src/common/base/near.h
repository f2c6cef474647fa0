/* base/near.h - what was meant by a misspelt word. */
#ifndef SHADOWTRACE_BASE_NEAR_H
#define SHADOWTRACE_BASE_NEAR_H

/*
 * near_find - the entry of `names`, which NULL ends, with the fewest letters changed, added, left
 * out or swapped, in either case; one that begins with the name is near, too. Of those that are as
 * near, the first. Returns: NULL if none is near, or the name is long.
 */
const char *near_find(const char *name, const char *const *names);

#endif
