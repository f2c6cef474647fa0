/*
 * rich/stored.h - rich debug info where the runtime keeps it. The word before a body's code names
 * the code's header, which names the method and a compressed record. It is read when a site in the
 * body is resolved: without a session, no event is sent for any other body.
 * Source: dotnet/runtime docs/design/datacontracts/ExecutionManager.md; src/coreclr/vm/codeman.h
 * (RealCodeHeader), debuginfostore.cpp, nibblestream.h. .NET 9 and 10 are alike.
 */
#ifndef SHADOWTRACE_RICH_STORED_H
#define SHADOWTRACE_RICH_STORED_H

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

/*
 * rich_stored_read - what is kept for the body that begins at `start`, in the form of the event's
 * payload: rich_body_read(). stays: the code is never unloaded, so it can be read as it is.
 * Owns:    *out is the caller's: memory_free(). NULL unless RICH_STORED.
 * Threads: any; makes system calls, no call of the runtime.
 */
enum rich_stored rich_stored_read(uintptr_t start, bool stays, uintptr_t function, uint8_t **out,
                                  size_t *size);

/* rich_stored_expand - the compressed part. Returns: the payload, or NULL with *damaged. */
uint8_t *rich_stored_expand(const uint8_t *packed, size_t packed_size, uintptr_t function,
                            size_t *size, bool *damaged);

#endif
