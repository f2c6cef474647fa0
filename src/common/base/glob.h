/* base/glob.h - patterns over names: `*` is any run of letters, `?` any one letter of UTF-8. */
#ifndef SHADOWTRACE_BASE_GLOB_H
#define SHADOWTRACE_BASE_GLOB_H

#include <stdbool.h>

/* glob_match - whether a pattern covers the whole name, in at most the product of both lengths. */
bool glob_match(const char *pattern, const char *name);

#endif
