/*
 * walk/walk.h - the calling thread's managed frames, by unwinding the machine's stack: the methods
 * that DoStackSnapshot gives, at a fraction of its cost, with precompiled code left alone.
 *
 * Each return address has one rule, made once: where the caller's frame is, from rsp or rbp.
 *     natives.c, cfi.c            native code, by its .eh_frame
 *     managed.c, images.c,
 *     unwind_info.c               managed code, by its prolog; for precompiled code the UNWIND_INFO
 *                                 must say the same
 *     rules.c, bodies.c           the rules that were made, and the code that shares one
 *     steps.c                     the walk, and what is kept of the last one
 *     walk.c                      threads, what filters of exceptions do, code that comes and goes
 *
 * A walk that is not certain gives no path, but the reason. Rules are forgotten when code is
 * unloaded.
 *
 * Where methods are hooked, a walk has to meet each frame of the shadow stack, at its SP and of
 * its method. While a hooked frame lives, what lies below it does not change: a walk that comes to
 * one that an earlier walk has met ends there. So it costs what was called since, whatever the
 * depth.
 */
#ifndef SHADOWTRACE_WALK_WALK_H
#define SHADOWTRACE_WALK_WALK_H

#include "clr/runtime.h"
#include "metadata/metadata.h"
#include "stack/stack.h"
#include "tree/tree.h"

#include <shadowtrace/log_counters.h>

struct walk;

#define WALK_WHY(name, text, label) WALK_##name,
enum walk_why { WALK_CERTAIN, SST_WALK_REASONS(WALK_WHY) WALK_WHYS };
const char *walk_why_name(enum walk_why why);

/* What a walk has found. Of one that is unproven: what it is if walk_proven() says so. Of one that
 * is not certain: `dynamic`, no more. */
struct walk_path {
    uint32_t node; /* in the context tree; 0: there is no managed frame */
    bool dynamic;  /* code of no method, such as a DynamicMethod, is younger than all frames */
    bool fault;    /* of the youngest frame: the processor raised an exception there */
    const struct metadata_method *method; /* of it; NULL: unknown */
    uintptr_t ip;                         /* in it: a return address, unless it is a fault */
};

/* joined: the process ran before. Returns: 0 or -ENOMEM; all but the last are borrowed. */
int walk_new(const struct clr_runtime *runtime, struct metadata *metadata, struct tree *tree,
             bool joined, struct walk **out);
void walk_free(struct walk *walk);

/*
 * walk_self - the path of the calling thread, whose stack `stack` is; top and depth:
 *             stack_settle's, the frames that have to be met. Older steps are those of its last
 *             walk where the machine's stack has not changed.
 * Returns: WALK_CERTAIN, or why it is not: then *out has none.
 * Threads: any, its own. May run: in callbacks; asks the runtime about code that it meets first.
 */
enum walk_why walk_self(struct walk *walk, struct stack *stack, struct frame *top, size_t depth,
                        struct walk_path *out);

/*
 * walk_proven - the calling thread's walk was unproven: in a process that ran before, a filter may
 *               run of which nobody told, and then walks differ from snapshots. A snapshot, taken
 *               at the same place, has `node`.
 * Returns: whether the walk has that, too. Then no such filter runs, and the thread's walks are
 *          certain from this one on.
 */
bool walk_proven(struct walk *walk, struct stack *stack, uint32_t node);

/*
 * walk_path_to - of the thread's last walk, which was certain: the node of a hooked frame that it
 *                met. from: if not NULL, an older one; then the path above it is put onto `node`.
 * Returns: 0: not found. Threads: any, its own. May run: as walk_self.
 */
uint32_t walk_path_to(struct walk *walk, struct stack *stack, const struct frame *to,
                      const struct frame *from, uint32_t node);

/*
 * walk_shadow - the frames of the thread's last walk as those of a shadow stack are, youngest last.
 * Returns: behind the youngest, and how many in *depth; out of memory: none. Valid until the next
 *          call.
 */
struct frame *walk_shadow(struct walk *walk, struct stack *stack, size_t *depth);

/* From ExceptionSearchFilterEnter and Leave. A filter runs on its method's frame: what lies between
 * is not on the way from there. */
void walk_filter_enter(struct walk *walk, uintptr_t function_id);
void walk_filter_leave(struct walk *walk);

void walk_module_loaded(struct walk *walk, uintptr_t module_id);   /* ModuleLoadFinished */
void walk_module_unloaded(struct walk *walk, uintptr_t module_id); /* ModuleUnloadFinished */
void walk_code_unloaded(struct walk *walk);                        /* DynamicMethodUnloaded */

/* The thread of this stack ends. From stack_config.detached. */
void walk_thread_ended(struct walk *walk, struct stack *stack);

/* What walks there were, over all threads. Threads: any. */
struct walk_totals {
    uint64_t taken; /* those that were certain */
    uint64_t declined[WALK_WHYS];
};
void walk_totals_read(struct walk *walk, struct walk_totals *out);

#endif
