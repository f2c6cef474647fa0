/*
 * report/stacks.h - stacks as two tables that share what they have in common, as in speedscope and
 * the Firefox profiler: frames, and stacks, each a frame and the number of the stack of its
 * callers. However many stacks are added, the tables grow with the tree of calls. They may be of
 * several logs.
 */
#ifndef SHADOWTRACE_REPORT_STACKS_H
#define SHADOWTRACE_REPORT_STACKS_H

#include "report/frames.h"

#define REPORT_STACK_NONE UINT32_MAX /* of no frame, and the callers of an outermost one */

struct report_stack {
    /* What it is of: a path of defs, and the place in its leaf. */
    const struct log_defs *defs;
    uint32_t path;
    int32_t il;
    uint32_t parent, frame; /* numbers; parents have lower ones than their children */
};

struct report_stacks {
    struct frame_key *frames;
    struct report_stack *stacks;
    size_t frame_count, frame_capacity, stack_count, stack_capacity;
    struct index frame_index, stack_index;
    struct report_frame *walk; /* frames of the stack being added that are new */
    size_t walk_capacity;
};

void report_stacks_init(struct report_stacks *s);
void report_stacks_fini(struct report_stacks *s); /* also of one that is all 0 */

/*
 * report_stacks_add - the stack of a path of defs (borrowed) and the place in its leaf: *out is its
 * number, REPORT_STACK_NONE if the path has no frame. Takes a step for each frame that is new. It
 * begins `begin` frames out (0: has all), always at the same frame of a path.
 * report_stacks_frame - a frame that is in no stack. Both return: 0 or -ENOMEM.
 */
int report_stacks_add(struct report_stacks *s, const struct log_defs *defs, uint32_t path,
                      int32_t il, uint64_t begin, uint32_t *out);
int report_stacks_frame(struct report_stacks *s, const struct log_defs *defs, uint32_t method,
                        int32_t il, uint32_t *out);

size_t report_stacks_count(const struct report_stacks *s);
size_t report_stacks_frame_count(const struct report_stacks *s);
const struct report_stack *report_stacks_at(const struct report_stacks *s, size_t number);

/*
 * report_stacks_frame_at - *defs is whose method it is. Its path is LOG_PATH_LOST if it stands
 * for callers that the log does not have, else of no meaning.
 */
struct report_frame report_stacks_frame_at(const struct report_stacks *s, size_t number,
                                           const struct log_defs **defs);

#endif
