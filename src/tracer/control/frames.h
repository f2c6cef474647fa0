/*
 * control/frames.h - copied frames as JSON text. What a method and a call look like is worked out
 * once and kept.
 */
#ifndef SHADOWTRACE_CONTROL_FRAMES_H
#define SHADOWTRACE_CONTROL_FRAMES_H

#include "base/buffer.h"
#include "metadata/metadata.h"
#include "stack/stack.h"

struct frames;

struct frames *frames_new(struct metadata *metadata); /* NULL: no memory */
void frames_free(struct frames *f);

/* Some methods, each once. */
struct frames_methods {
    struct metadata_method **method;
    size_t count, capacity;
};

/*
 * frames_put - [method,il],[method],... of the frames of one thread, youngest first, and into
 * *methods, which was empty, which methods these are. lines: IL offsets, too. Out of memory marks
 * `out`.
 */
void frames_put(struct frames *f, const struct stack_copied *frames, uint32_t count, bool lines,
                struct frames_methods *methods, struct buffer *out);

/* frames_define - {"id":...} of the methods not defined since frames_begin(), with commas. */
void frames_begin(struct frames *f);
void frames_define(struct frames *f, const struct frames_methods *methods, struct buffer *out);

/* Name of a method; "?": may be gone, never named. Threads: as metadata_method_resolve. */
const char *frames_name(struct metadata *metadata, struct metadata_method *method);

#endif
