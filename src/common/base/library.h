/* base/library.h - libraries that are loaded when they are wanted, and cost nothing before. */
#ifndef SHADOWTRACE_BASE_LIBRARY_H
#define SHADOWTRACE_BASE_LIBRARY_H

#include <stddef.h>

struct library_symbol {
    const char *name;
    void *to; /* where the pointer goes: to a function or to data */
};

/*
 * library_load - load a library and look its symbols up.
 * Returns: the handle, for dlclose() or for good; NULL when it, or one of the symbols, is not
 * there.
 */
void *library_load(const char *name, const struct library_symbol *symbols, size_t symbol_count);

/*
 * library_unload_all - dlclose() of all that library_load has loaded, the first LIBRARIES of them:
 * by a library that leaves a process which goes on. Threads: the last one that is left.
 */
#define LIBRARIES 8
void library_unload_all(void);

#endif
