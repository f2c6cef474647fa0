/* base/zlib.h - zlib, with its memory from the allocation seam. */
#ifndef SHADOWTRACE_BASE_ZLIB_H
#define SHADOWTRACE_BASE_ZLIB_H

#include "base/memory.h"

#define ZLIB_CONST /* next_in points to const */

#include <zlib.h>

/* A stream's zalloc and zfree. */
static inline void *zlib_alloc(void *context, unsigned count, unsigned size)
{
    (void)context;
    return memory_zalloc(count, size);
}

static inline void zlib_free(void *context, void *block)
{
    (void)context;
    memory_free(block);
}

#endif
