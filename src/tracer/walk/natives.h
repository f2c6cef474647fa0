/*
 * walk/natives.h - the library or program that native code belongs to, without a lock: by glibc's
 * _dl_find_object (2.35). Without that function no native code is known, and every walk falls
 * back.
 */
#ifndef SHADOWTRACE_WALK_NATIVES_H
#define SHADOWTRACE_WALK_NATIVES_H

#include "walk/cfi.h"

struct natives_place {
    struct cfi_table table;
    const void *image; /* the dynamic loader's record of it */
    /* It is never unloaded: the program, .NET's host, the C library, the runtime, this one. */
    bool stays;
};

/* natives_known - can native code be found in this process? Threads: any. */
bool natives_known(void);

/*
 * natives_start - once. runtime: an address in the runtime's image. leaves: the process will go on
 * without this library, and is left as it was: .NET's host is not kept loaded.
 */
void natives_start(uintptr_t runtime, bool leaves);

/*
 * natives_find - what an address lies in. Returns: false if in no image, or its table cannot be
 * read (then *out has the image, and a NULL table.header).
 * natives_same - does it still lie in that image? Threads: any. May run: anywhere.
 */
bool natives_find(uintptr_t address, struct natives_place *out);
bool natives_same(uintptr_t address, const void *image);

#endif
