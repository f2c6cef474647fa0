/* model/namespaces.h - namespaces of methods and classes, by their names: a log has no others. */
#ifndef SHADOWTRACE_MODEL_NAMESPACES_H
#define SHADOWTRACE_MODEL_NAMESPACES_H

#include <stddef.h>

/*
 * Letters at the beginning of a name that are its namespace; 0: it has none. Outer classes count as
 * a part of it, unless a sign tells them: type arguments, or what a compiler made in them.
 */
size_t namespace_of_method(const char *name);

/* What two namespaces have in common, in whole words: 0 for "System.IO" and "Systems". */
size_t namespace_common(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
