/*
 * values/values.h - arguments and results of chosen methods (--args, --returns), and the exact
 * instantiation of a shared generic method (--exact-generics). ELT2 only: the runtime's wrapper
 * tells where they lie.
 *
 * A method's signature is read once, when its code is compiled and the runtime may be asked
 * (plan.h). A hook copies by that plan and asks nobody; the copy (a record) leaves through the
 * thread's ring, and the writer formats it. Hooks of methods that match cost what they copy; others
 * nothing.
 *
 * What a managed reference leads to is read directly: in cooperative mode nothing moves. By-refs,
 * pointers and spans may lead anywhere: process_vm_readv on ourselves fails instead of faulting,
 * and an object found there counts only if its type was met before. When the method ends, what its
 * by-refs led to is read again; after a collection only on the thread's own stack: the heap may
 * have moved.
 *
 * All of these may run at the same time; values_enter, _leave and _live each on their own thread.
 */
#ifndef SHADOWTRACE_VALUES_VALUES_H
#define SHADOWTRACE_VALUES_VALUES_H

#include "base/buffer.h"
#include "event/event.h"
#include "metadata/metadata.h"
#include "options/options.h"
#include "stack/stack.h"

struct values_plan;

/* What a hook copied: payload of an EVENT_VALUES. One block. */
struct values_record {
    uint32_t id;    /* in the log; 1, 2, ... */
    uint32_t of;    /* arguments: the next older frame's record; result: its arguments'; 0: none */
    uint32_t depth; /* frames below this one */
    bool result;    /* what it returned; else what it was called with */
    bool returns;   /* result: the value is there, not only what its by-refs led to in the end */
    bool out;       /* result: that is there, from out_at on */
    const struct metadata_method *method;
    const struct values_plan *plan;
    size_t size, out_at;
    uint8_t data[]; /* by the plan; see capture.h */
};

struct values_config {
    struct clr_info *info; /* borrowed, as is all below */
    struct metadata *metadata;
    const struct options *options;
};

/*
 * values_start - once, before any hook runs. Returns: 0, -ENOMEM, or -EINVAL if the runtime does
 * not say how strings lie in memory.
 */
int values_start(const struct values_config *config);

/*
 * values_method - a method gets its plan, if a pattern names it. From the mapper. Idempotent.
 * values_class - the layout of a class met at an allocation, for hooks that find objects.
 * Idempotent.
 * Threads: any. May run: there only; asks the runtime, and a collection may run meanwhile.
 */
void values_method(struct metadata_method *method);
void values_class(struct metadata_class *class);

/*
 * values_enter - after the frame was pushed; values_leave - before it is popped. `method` and `sp`
 * are the frame's, the rest is the hook's own.
 * Returns: id of the posted record; 0: the method is not watched, or there was no room (counted).
 * Threads: the owner of the stack. May run: in ELT2 hooks; allocates, never waits.
 */
uint32_t values_enter(uintptr_t method, uintptr_t sp, uintptr_t frame_info,
                      const struct clr_function_argument_info *arguments);
uint32_t values_leave(uintptr_t method, uintptr_t sp,
                      const struct clr_function_argument_range *result);

/*
 * values_exact - the record of the instantiation that is entered; `method` itself if it has only
 * one, or the runtime does not say. Its first word is the same FunctionID.
 * May run: in ELT2 Enter, with the hook's frame info.
 */
uintptr_t values_exact(uintptr_t method, uintptr_t frame_info);

/*
 * From GarbageCollectionStarted, before anything moves, and -Finished. Hooks see it: their threads
 * run in cooperative mode and are stopped before.
 */
void values_collection_started(void);
void values_collection_finished(void);

/* Id of the youngest live frame's record that has one; 0: none. Threads: the owner. */
uint32_t values_live(struct stack *stack);

/* The thread of this stack ends. From stack_config.detached. */
void values_thread_ended(struct stack *stack);

/*
 * values_append - a record as JSON: an object of its arguments, or the result.
 * Returns: 0, or -EAGAIN while the resolver has not named a type in it (out is then as it was).
 */
int values_append(struct buffer *out, const struct values_record *record);
int values_append_out(struct buffer *out,
                      const struct values_record *record); /* what by-refs led to: an object */

/* How many records were posted, and how many had no room. Threads: any. */
void values_totals(uint64_t *posted, uint64_t *lost);

#endif
