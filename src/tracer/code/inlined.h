/*
 * code/inlined.h - frames of methods that the JIT inlined, where rich debug info tells of them.
 * A frame is a method and the instruction in it, and the frame that it was inlined into; each is
 * kept once and has a number. Frames of code that can be unloaded have none.
 */
#ifndef SHADOWTRACE_CODE_INLINED_H
#define SHADOWTRACE_CODE_INLINED_H

#include "metadata/metadata.h"

struct code_inlined {
    const struct metadata_method *method; /* its text is resolved */
    int32_t il;       /* of what it calls or makes: base/il.h; below 0: not known */
    uint32_t parent;  /* inlined into; 0: into the method that has code, at the site's own il */
    uint32_t written; /* the writer's own, as of a method */
};

/* The frame of a number that a site has. Threads: any. */
struct code_inlined *code_inlined_at(const struct metadata *metadata, uint32_t number);

/*
 * code_inlined_below - the frame of a number, of which nothing was known above, with `above` there.
 * Returns: its number; 0: as code_inlined_number. Threads: any.
 */
uint32_t code_inlined_below(struct metadata *metadata, uint32_t above, uint32_t number);

/* Frees all: with metadata_free(). */
void code_inlined_free(struct metadata *metadata);

#endif
