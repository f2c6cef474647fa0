/*
 * base/path.h - paths as text.
 */
#ifndef SHADOWTRACE_BASE_PATH_H
#define SHADOWTRACE_BASE_PATH_H

#include <stdbool.h>

/* The file without its folders. A path that ends in a slash has an empty one. */
const char *path_base_name(const char *path);

/* The same of a path that a compiler wrote, on Windows perhaps: either slash ends a folder. */
const char *path_base_name_foreign(const char *path);

/* Whether a path, or any text, ends with `end`. _nocase: in ASCII letters of either case. */
bool path_ends_with(const char *path, const char *end);
bool path_ends_with_nocase(const char *path, const char *end);

#endif
