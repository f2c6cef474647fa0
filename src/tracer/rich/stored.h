/*
 * rich/stored.h - rich debug info where the runtime keeps it. The word before a body's code names
 * the code's header, which names the method and a compressed record. It is read when a site in the
 * body is resolved: without a session, no event is sent for any other body.
 * Source: dotnet/runtime docs/design/datacontracts/ExecutionManager.md; src/coreclr/vm/codeman.h
 * (RealCodeHeader), debuginfostore.cpp, nibblestream.h. .NET 9 and 10 are alike.
 */
#ifndef SHADOWTRACE_RICH_STORED_H
#define SHADOWTRACE_RICH_STORED_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rich_stored {
    RICH_STORED,
    RICH_STORED_NONE,  /* no header of this method, as of precompiled code; or nothing is kept */
    RICH_STORED_TIER0, /* code with patchpoints: nothing is inlined there */
    RICH_STORED_DAMAGED,
    RICH_STORED_NO_MEMORY,
};

/* Pages with headers and records of code that is never unloaded: numbers, by hash; 0: free. */
#define RICH_PAGES_BITS 8
struct rich_pages {
    _Atomic(uintptr_t) page[1 << RICH_PAGES_BITS];
};

/*
 * rich_stored_read - what is kept for the body that begins at `start`, in the form of the event's
 * payload: rich_body_read(). stay: of code that is never unloaded, which can be read as it is, the
 * pages that are known to stay, too; NULL: the code may be unloaded.
 * Owns:    *out is the caller's: memory_free(). NULL unless RICH_STORED.
 * Threads: any; makes system calls, no call of the runtime.
 */
enum rich_stored rich_stored_read(uintptr_t start, struct rich_pages *stay, uintptr_t function,
                                  uint8_t **out, size_t *size);

/* rich_stored_expand - the compressed part. Returns: the payload, or NULL with *damaged. */
uint8_t *rich_stored_expand(const uint8_t *packed, size_t packed_size, uintptr_t function,
                            size_t *size, bool *damaged);

#endif
