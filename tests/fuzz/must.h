/* fuzz/must.h - what must hold of any input; not assert(), which NDEBUG removes. */
#ifndef SHADOWTRACE_FUZZ_MUST_H
#define SHADOWTRACE_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MUST(condition) ((condition) ? (void)0 : must(#condition, __FILE__, __LINE__))

static inline void must(const char *condition, const char *file, int line)
{
    printf("%s:%d: does not hold: %s\n", file, line, condition); /* stderr may be silent */
    fflush(stdout);
    abort();
}

/* Makes a new folder, in memory if that can be, and writes its path; size: of `folder`, bytes. */
static inline void must_make_folder(char *folder, size_t size)
{
    snprintf(folder, size, "%s/shadowtrace-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    MUST(mkdtemp(folder));
}

#endif
