/*
 * hooks/elt.h - the ways in: what the runtime or jitted code calls on every enter, leave and tail
 * call.
 *
 * ELT2 (elt2.c): plain C, called by the runtime's wrapper, which saves the registers. The caller's
 * SP comes from the frame-pointer chain; the first Enter checks that chain.
 * ELT3 (<cpu>/elt3.S): called straight from jitted code; what may be changed and what must be kept
 * is the stub's own promise, proved by tests/unit/hooks/<cpu>.
 *
 * All end in stack_enter and stack_leave (src/tracer/stack/stack_hot.h), or in their slow halves
 * with every register saved.
 */
#ifndef SHADOWTRACE_HOOKS_ELT_H
#define SHADOWTRACE_HOOKS_ELT_H

#include "stack/stack.h"

#include <shadowtrace/clr/hooks.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * For SetEnterLeaveFunctionHooks3, in the forms that this CPU has (elt3.S). The argument is where
 * the stub says, not where C would look. A tail call ends its method as a return does.
 */
void hook_enter3_far(uintptr_t client_id);
void hook_leave3_far(uintptr_t client_id);
void hook_enter3_near(uintptr_t client_id);
void hook_leave3_near(uintptr_t client_id);
void hook_enter3_dtv(uintptr_t client_id);
void hook_leave3_dtv(uintptr_t client_id);

/*
 * pair: one enter and leave of `method` at `sp`, through the stubs as jitted code would call them.
 * For measuring; needs a readable word at sp - 8.
 */
struct elt3_hooks {
    void (*enter)(uintptr_t client_id), (*leave)(uintptr_t client_id);
    void (*pair)(uintptr_t method, uintptr_t sp);
};
void elt3_pair_far(uintptr_t method, uintptr_t sp);
void elt3_pair_near(uintptr_t method, uintptr_t sp);
void elt3_pair_dtv(uintptr_t method, uintptr_t sp);

/*
 * far: bytes from the thread pointer, set by hooks_elt3(). dtv: bytes into the DTV, set by
 * hooks_safe().
 */
extern intptr_t hook_words_distance;
extern uintptr_t hook_words_slot;

/*
 * hooks_safe - can this library reach its thread-local data without changing a register? Call it
 * first: if it returns false, no hook may run. Callbacks may: the runtime calls them as C does, and
 * of the library's code only that compiled without vector registers (GENERAL_REGISTERS in the
 * Makefile) reads such data there.
 */
bool hooks_safe(void);

/*
 * hooks_elt3 - the hooks of this process, where they are safe: near, if their code may be written;
 * else far; dtv without static TLS. Threads: one at first, while no thread runs them yet; then any.
 */
const struct elt3_hooks *hooks_elt3(void);

/* The same with every call traced (hooks/calls.h): stubs of their own, those above stay short. */
void hook_enter3_calls(uintptr_t client_id);
void hook_leave3_calls(uintptr_t client_id);
void hook_tailcall3_calls(uintptr_t client_id);

/* For SetEnterLeaveFunctionHooks2. */
void hook_enter2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                 const struct clr_function_argument_info *arguments);
void hook_leave2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                 const struct clr_function_argument_range *result);
void hook_tailcall2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info);
void hook_enter2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                       const struct clr_function_argument_info *arguments);
void hook_leave2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                       const struct clr_function_argument_range *result);
void hook_tailcall2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info);

/*
 * The same, for hooks that do more than keep the stack: which record is pushed, what the arguments
 * and the result are. Enter and Leave below call these; any may be NULL. `method` and `sp` are
 * those of the frame.
 */
struct elt2_watch {
    uintptr_t (*exact)(uintptr_t method, uintptr_t frame_info);
    uint32_t (*enter)(
        uintptr_t method, uintptr_t sp, uintptr_t frame_info,
        const struct clr_function_argument_info *arguments); /* after the frame was pushed */
    uint32_t (*leave)(uintptr_t method, uintptr_t sp,
                      const struct clr_function_argument_range *result); /* before it is popped */
    bool calls; /* each call is traced, too: Tailcall is then hook_tailcall2_calls */
};
void elt2_watch(const struct elt2_watch *watch); /* once, before the hooks are set; copied */
void hook_enter2_watched(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                         const struct clr_function_argument_info *arguments);
void hook_leave2_watched(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                         const struct clr_function_argument_range *result);

/* Hooks that do nothing: the floor, for measuring. */
void hook_empty3(uintptr_t client_id);

/*
 * What the stubs of traced calls call. Fast: keeps every vector register, so that the stub saves
 * the others only; returns false, with nothing done, when the slow half is wanted. `what` is an
 * enum event_call. Slow: all by itself.
 */
bool calls_enter(uintptr_t method, struct frame_at at);
bool calls_leave(uintptr_t method, uintptr_t sp, uint32_t what);
void calls_enter_slow(uintptr_t method, struct frame_at at);
void calls_leave_slow(uintptr_t method, uintptr_t sp, uint32_t what, uint32_t values);
/* The youngest frame was just pushed; `values`: id of its arguments, or 0. */
void calls_pushed(uint32_t values);

enum elt2_chain { ELT2_CHAIN_UNKNOWN, ELT2_CHAIN_HOLDS, ELT2_CHAIN_BROKEN };

/*
 * elt2_expect - where the wrapper lies: the runtime's image, [low, high). Call before the ELT2
 * hooks are set. The first Enter walks the frame-pointer chain with it; if it does not hold, the
 * hooks do nothing from then on but count themselves in *ignored.
 */
void elt2_expect(uintptr_t low, uintptr_t high, _Atomic(uint64_t) *ignored);
enum elt2_chain elt2_chain_state(void);

/* Registers of a method at its call of a hook. */
struct elt_caller {
    uintptr_t ip, sp, fp;
};

/*
 * elt_caller - the method that calls the Enter hook in whose slow path the caller runs.
 * Returns: whether its call was found; with ELT2 that is looked for in what the runtime's wrapper
 *          keeps.
 * Threads: the hook's own. May run: there only.
 */
bool elt_caller(bool elt2, struct frame_at at, struct elt_caller *out);

/*
 * elt3_expected - whether the ELT3 Enter hook in whose slow path the caller runs got `at` as its
 * method's frame pointer says: such a method has one.
 * Reads nothing that may not be there. Threads: the hook's own.
 */
bool elt3_expected(struct frame_at at);

/*
 * elt2_wrapped - the method in whose wrapper the calling thread is, above the youngest known frame
 * (SP `below`). .NET 8 and 9 throw a thread's abort inside the wrapper, before and after it calls
 * the hook (HelperMethodFrame::Push and Pop call HandleThreadAbort), while the method is on the
 * stack.
 * Returns: whether there is one. May run: in callbacks. Threads: any.
 */
struct elt2_wrapped {
    uintptr_t ip;       /* in the method, behind the call of the hook */
    struct frame_at at; /* as far as the frame pointer tells */
    bool leaving;       /* the wrapper of a Leave or a Tailcall */
};
bool elt2_wrapped(uintptr_t below, struct elt2_wrapped *out);

#endif
