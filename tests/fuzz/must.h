/* fuzz/must.h - what must hold of any input; not assert(), which NDEBUG removes. */
#ifndef SHADOWTRACE_FUZZ_MUST_H
#define SHADOWTRACE_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) ((condition) ? (void)0 : must(#condition, __FILE__, __LINE__))

static inline void must(const char *condition, const char *file, int line)
{
    printf("%s:%d: does not hold: %s\n", file, line, condition); /* stderr may be silent */
    fflush(stdout);
    abort();
}

#endif
