/*
 * report/frames.h - the frames of a call path, one by one, leaf first: each with the place in it
 * where the next inner frame, or what the stack was taken for, is.
 */
#ifndef SHADOWTRACE_REPORT_FRAMES_H
#define SHADOWTRACE_REPORT_FRAMES_H

#include "readers/defs.h"

struct report_frame {
    uint32_t path;
    uint32_t method;
    int32_t il; /* below 0: LOG_NO_IL - enum sst_call */
    bool filter;
};

/* il: in the leaf, or LOG_NO_IL. Returns: false if the path has no frame. */
static inline bool report_frame_first(const struct log_defs *d, uint32_t path, int32_t il,
                                      struct report_frame *f)
{
    const struct log_call_path *p = log_call_path(d, path);

    *f = (struct report_frame){path, p->method, il, p->filter};
    return path != LOG_PATH_EMPTY;
}

/* From a frame to the one that called it. Returns: false if that one was the outermost. */
static inline bool report_frame_outer(const struct log_defs *d, struct report_frame *f)
{
    const struct log_call_path *inner = log_call_path(d, f->path);

    return f->path != LOG_PATH_LOST && report_frame_first(d, inner->parent, inner->il, f);
}

/* Why a frame has no il. */
static inline enum sst_call report_frame_call(const struct report_frame *f)
{
    return f->il < 0 ? (enum sst_call)(LOG_NO_IL - f->il) : SST_CALL_NONE;
}

#endif
