/*
 * walk/images.h - precompiled images that the runtime has loaded, and the functions that each has.
 *
 *                              | images_find | images_add, images_remove
 *   at the same time           | safe        | safe
 */
#ifndef SHADOWTRACE_WALK_IMAGES_H
#define SHADOWTRACE_WALK_IMAGES_H

#include "walk/unwind_info.h"

#include <shadowtrace/clr/info.h>

#include <stddef.h>

struct images;

int images_new(struct clr_info *info, struct images **out); /* 0 or -ENOMEM */
void images_free(struct images *images);

/*
 * images_add - from ModuleLoadFinished; an image without precompiled code is left out. Returns: 0,
 *              or -ENOMEM: its code is not found.
 * images_remove - from ModuleUnloadFinished.
 */
int images_add(struct images *images, uintptr_t module_id);
void images_remove(struct images *images, uintptr_t module_id);

struct images_function {
    const uint8_t *code; /* of a method, or of one of its handlers */
    uint32_t size;
    const uint8_t *info, *end; /* UNWIND_INFO, and where the image ends */
};

/* images_find - the function that holds `ip`, in an image that stays loaded meanwhile. */
bool images_find(const struct images *images, uintptr_t ip, struct images_function *out);

#endif
