/*
 * check/check.h - DoStackSnapshot beside the shadow stack: both captured on the allocating thread,
 * compared frame by frame. Never feeds the shadow stack.
 *
 * Equal: the same FunctionIDs in the same order, the same length; FunctionID 0 (a run of unmanaged
 * frames) is dropped from the snapshot, nothing else from either side. So it is with walks, which
 * have all frames. For the shadow stack, with --only or --exclude the
 * snapshot is first reduced to the methods that are hooked; else by those that were left without
 * hooks because with them the runtime fails. A refusal with an empty shadow stack counts as
 * refused, with frames as a mismatch. A walk that is proven to have ended before the oldest frame
 * (early.c) is no comparison, and counted apart.
 */
#ifndef SHADOWTRACE_CHECK_CHECK_H
#define SHADOWTRACE_CHECK_CHECK_H

#include "event/agreement.h"
#include "event/capture.h"
#include "event/event.h"
#include "metadata/metadata.h"
#include "stack/stack.h"
#include "tree/tree.h"

struct check;

struct check_config {
    struct clr_info *info;             /* borrowed */
    struct metadata *metadata;         /* borrowed; for `reduce` and check_capture */
    struct tree *tree;                 /* borrowed; for check_capture */
    struct agreement *agreement;       /* borrowed: counted here */
    uintptr_t native_low, native_high; /* the runtime's image */
    /* For check_call: registers of the entered method at its call of the hook, by caller's SP. */
    bool (*hook_caller)(struct frame_at at, uint64_t *ip, uint64_t *sp, uint64_t *fp);
    bool ends_early; /* this runtime's walks may: see check/early.h */
    bool reduce;     /* drop methods that are not hooked from the snapshot */
    const _Atomic(uint64_t)
        *spared;   /* 0: no method is metadata_method.spared; else those are dropped */
    bool native;   /* --native */
    bool pinvokes; /* snapshots have P/Invoke methods (.NET 11), which no shadow stack has */
    bool log_all;  /* --capture both: an EVENT_SNAPSHOT for every comparison */
    /* Raise COR_PRF_ENABLE_STACK_SNAPSHOT only around a walk: with ELT2 it slows every hook. */
    bool toggle_flag;
};

int check_new(const struct check_config *config, struct check **out); /* 0 or -ENOMEM */

/* One frame of a snapshot. */
struct check_frame {
    uintptr_t function, ip;
    uintptr_t sp, fp; /* of the frame itself, from its CONTEXT; 0 when none was asked for */
};

/* The thread of this stack ends. From stack_config.detached. */
void check_thread_ended(struct stack *stack);

/*
 * check_begin - count a comparison that check_compare is about to make. Before the event of what is
 * compared is in its ring: so whatever the log has is compared or counted as not finished.
 */
void check_begin(struct check *check);

/*
 * check_compare - one snapshot of the calling thread against its shadow stack. The result goes to
 * the agreement counters, a difference to the ring with both stacks.
 * Threads: any, its own stack. May run: in callbacks where the runtime allows an unseeded walk
 *          (ObjectAllocated); not in a hook.
 */
void check_compare(struct check *check, const struct capture *capture);

/*
 * check_capture - context node of the calling thread from a snapshot (--capture snapshot: what a
 * profiler without hooks does). Returns: its id, or of what was kept of it (TREE_CUT); 0 when
 * refused, counted. *leaf: its youngest frame; function 0: none. Otherwise as check_compare.
 */
uint32_t check_capture(struct check *check, struct stack *stack, struct check_frame *leaf);

/*
 * check_path - the same, of a path that is not counted here: for a walk that was not certain.
 * Returns: its id; 0: refused.
 */
uint32_t check_path(struct check *check, struct stack *stack);

/*
 * check_captured - log what check_capture just saw of the calling thread, with --native: after the
 * event it was for.
 */
void check_captured(const struct capture *capture);

bool check_native(const struct check *check); /* native frames are wanted and available */

/*
 * check_frames - --framework-frames: the path of the calling thread with the frames that have no
 * hooks, from a snapshot whose hooked frames are those of its shadow stack: stack, top and depth.
 * Returns: its id; 0: the runtime refused, or the two differ, which is counted: the path of the
 *          shadow stack is what there is. *leaf: whether the youngest frame has hooks.
 * Otherwise as check_compare.
 */
uint32_t check_frames(struct check *check, const struct capture *shadow, bool *leaf);

/*
 * check_leaf - the instruction of the calling thread's youngest managed frame, by a snapshot that
 * ends there.
 * Returns: the address, or 0 when the runtime refused. Otherwise as check_compare.
 */
uintptr_t check_leaf(struct check *check);

/* By a snapshot: no managed frame on the calling thread? false when refused. Otherwise as above. */
bool check_unframed(struct check *check);

/* check_oldest - FunctionID of the calling thread's oldest managed frame; 0: none, or refused. */
uintptr_t check_oldest(struct check *check);

/*
 * check_call - --check-calls: the calling thread's shadow stack, whose youngest frame was just
 * pushed, against a snapshot.
 * Threads: any, its own stack. May run: in an Enter hook's slow path, where this was asked for by
 *          option only. It asks the runtime and may allocate; a difference is posted as event_post
 *          does.
 */
void check_call(struct check *check, struct stack *stack);

#endif
