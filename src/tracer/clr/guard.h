/*
 * clr/guard.h - what the tracer has turned off because this runtime is not as it needs it. A
 * version says nothing of that: each check is of the thing itself, and it is counted how often it
 * mattered. The log and the summary of `record` name what is off.
 */
#ifndef SHADOWTRACE_CLR_GUARD_H
#define SHADOWTRACE_CLR_GUARD_H

#include "clr/runtime.h"

#include "base/atomics.h"

struct clr_guard {
    _Atomic(uint64_t) hooks;      /* Enter and Leave hooks whose registers are unexpected */
    _Atomic(uint64_t) beginnings; /* 1: nothing is kept before an object, see clr_spare_word() */
    _Atomic(uint64_t) allocated;  /* 1: no clr_allocated on this version */
};

/*
 * clr_spare_word - whether the four bytes right before an object's lock and hash code are unused:
 * an object's header has 8 bytes, and nothing but the lock and hash code in the last four. .NET 11
 * and later say so in the data descriptor that they export for debuggers.
 * Returns: false also where the image of the runtime has no such descriptor.
 * Source: dotnet/runtime docs/design/datacontracts/contract-descriptor.md, data_descriptor.md.
 * Threads: any; makes no runtime call.
 */
bool clr_spare_word(const struct clr_runtime *runtime);

/* The same of a descriptor's text. */
bool clr_spare_word_in(const char *descriptor, size_t size);

#endif
