#include "hooks/elt.h"

#include "hooks/aarch64/saved.h"
#include "hooks/wrapper.h"

#include "base/peek.h"

#define FRAMES 64 /* the tracer's and the wrapper's, between a slow path and the method */
#define OWN    4  /* the tracer's between elt3_expected and the method */

/* The innermost frame whose saved frame pointer is the method's, or NULL: the chain must rise. */
static const uintptr_t *innermost(const uintptr_t *frame, uintptr_t fp)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        if (*frame == fp)
            return frame;
        if (*frame <= (uintptr_t)frame || *frame > fp || *frame % sizeof(uintptr_t))
            return NULL;
        frame = (const uintptr_t *)*frame;
    }
    return NULL;
}

/* The stub's frame record, of this library (save.inc) or the runtime: what it saved follows. */
bool elt_caller(bool elt2, struct frame_at at, struct elt_caller *out)
{
    const uintptr_t *frame = innermost(__builtin_frame_address(0), at.fp);

    out->fp = at.fp;
    if (!frame)
        return false;
    out->ip = frame[DATA_PC];
    out->sp = elt2 ? frame[DATA_PROBE_SP] : (uintptr_t)frame + HOOK_SAVED_BYTES;
    return out->sp <= out->fp && (!elt2 || frame[DATA_PROFILED_SP] == at.sp);
}

/* The method's frame lies below its caller's SP, and the caller's own frame record above it. */
bool elt3_expected(struct frame_at at)
{
    uintptr_t fp = (uintptr_t)__builtin_frame_address(0), saved, callers;

    for (unsigned i = 0; i < OWN; i++) {
        if (!peek(&saved, fp, sizeof(saved)) || saved <= fp || saved % sizeof(saved))
            return false;
        if (saved == at.fp)
            return at.sp > at.fp && at.sp % (2 * sizeof(saved)) == 0 &&
                   peek(&callers, at.fp, sizeof(callers)) && callers >= at.sp;
        fp = saved;
    }
    return false;
}
