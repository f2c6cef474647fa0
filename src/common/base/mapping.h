/* base/mapping.h - what an address of this process is mapped from. */
#ifndef SHADOWTRACE_BASE_MAPPING_H
#define SHADOWTRACE_BASE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#define MAPPING_NAME 64 /* with the NUL; a longer one is cut */

struct mapping {
    uintptr_t start, end;
    bool executable;
    char name[MAPPING_NAME]; /* a file's path, "/memfd:...", "[stack]"; "": it has none */
};

/*
 * mapping_find - as /proc/self/maps says at this moment.
 * Returns: false if nothing is mapped there, or the file cannot be read.
 * Threads: any. May run: in callbacks; reads the whole list, about a millisecond. Keeps errno.
 */
bool mapping_find(uintptr_t address, struct mapping *out);

#endif
