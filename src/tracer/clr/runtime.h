/* clr/runtime.h - the runtime that this process runs on: what each room needs to know of it. */
#ifndef SHADOWTRACE_CLR_RUNTIME_H
#define SHADOWTRACE_CLR_RUNTIME_H

#include <shadowtrace/clr/info.h>

#include <stdbool.h>
#include <stddef.h>

#define CLR_MAJOR_OLDEST 8  /* .NET 8 */
#define CLR_MAJOR_NEWEST 11 /* that the tests of this build have run on */

struct clr_runtime {
    struct clr_info *info; /* the runtime's; released where this library leaves it */
    int info_version;      /* info is an ICorProfilerInfo<this> */
    unsigned major;        /* 8 of .NET 8.0.11 */
    uintptr_t low, high;   /* its image: [low, high) */
    char text[64];         /* "8.0.11" */
};

/*
 * clr_runtime_read - all but the image, from the IUnknown given to initialize().
 * Returns: 0, or -ENOTSUP and why: this runtime is none to profile.
 */
int clr_runtime_read(struct clr_runtime *r, void *unknown, char *why, size_t size);

/* Does it make handles of objects for a profiler? From ICorProfilerInfo13 on. */
static inline bool clr_runtime_has_handles(const struct clr_runtime *r)
{
    return r->info_version >= 13;
}

/* Newer than any that the tests of this build have run on? */
static inline bool clr_runtime_unverified(const struct clr_runtime *r)
{
    return r->major > CLR_MAJOR_NEWEST;
}

#endif
