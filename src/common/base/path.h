/* base/path.h - paths as text. */
#ifndef SHADOWTRACE_BASE_PATH_H
#define SHADOWTRACE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The file without its folders. A path that ends in a slash has an empty one. */
const char *path_base_name(const char *path);

/* The same of a path that a compiler wrote, on Windows perhaps: either slash ends a folder. */
const char *path_base_name_foreign(const char *path);

/* Bytes without the extension of an assembly, .dll or .exe in either case; all, if it has none. */
size_t path_stem(const char *path);
static inline bool path_is_assembly(const char *path)
{
    return path[path_stem(path)] != '\0';
}

#endif
