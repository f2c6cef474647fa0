/* base/image.h - the executables and libraries that are mapped into this process. */
#ifndef SHADOWTRACE_BASE_IMAGE_H
#define SHADOWTRACE_BASE_IMAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID 32 /* bytes at the most; a longer one is passed over */

struct image {
    uintptr_t base; /* what is to be taken off an address to have the file's own */
    uint8_t build_id[IMAGE_BUILD_ID];
    size_t build_id_size; /* 0: it has none */
    char path[PATH_MAX];  /* whatever bytes; "" not known */
};

/*
 * image_find - the image that an address lies in; out may be NULL.
 * Threads: any. Takes the lock of the dynamic loader for a moment: in callbacks, not in a hook.
 */
bool image_find(uintptr_t address, struct image *out);

#endif
