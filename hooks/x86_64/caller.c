#include "hooks/elt.h"

#include "hooks/x86_64/saved.h"

#include "base/peek.h"

#define FRAMES 64  /* ours and the wrapper's between a slow path and the method, at the most */
#define OWN    4   /* ours between elt3_expected and the method, at the most */
#define WORDS  128 /* of the wrapper's stub, above its own C++ frame */

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

/*
 * The stub of ELT2's wrapper keeps, in this order: the method's frame pointer, its stack pointer
 * at the call, the return address of the call, the method's caller's SP. Each is known otherwise,
 * or found where another points.
 */
static bool in_wrapper(const uintptr_t *frame, uintptr_t caller_sp, struct elt_caller *out)
{
    for (const uintptr_t *word = frame + 2;
         word < frame + WORDS && (uintptr_t)(word + 4) <= out->fp; word++) {
        if (word[0] != out->fp || word[3] != caller_sp || word[1] <= (uintptr_t)(word + 3) ||
            word[1] > out->fp || word[1] % (2 * sizeof(uintptr_t)) ||
            ((const uintptr_t *)word[1])[-1] != word[2])
            continue;
        out->sp = word[1];
        out->ip = word[2];
        return true;
    }
    return false;
}

bool elt_caller(bool elt2, struct frame_at at, struct elt_caller *out)
{
    const uintptr_t *frame;

    out->fp = FRAME_RECORD(at);
    frame = innermost(__builtin_frame_address(0), out->fp);
    if (!frame)
        return false;
    if (elt2)
        return in_wrapper(frame, at.sp, out);
    /* The slow path's own frame, and above it what the stub saved. */
    frame += 2 + HOOK_SAVED_BYTES / sizeof(uintptr_t);
    out->ip = frame[0];
    out->sp = (uintptr_t)(frame + 1);
    return out->sp <= out->fp;
}

bool elt3_expected(struct frame_at at)
{
    uintptr_t fp = (uintptr_t)__builtin_frame_address(0), saved;

    for (unsigned i = 0; i < OWN; i++) {
        if (!peek(&saved, fp, sizeof(saved)) || saved <= fp || saved % sizeof(saved))
            return false;
        if (saved == FRAME_RECORD(at))
            return true;
        fp = saved;
    }
    return false;
}
