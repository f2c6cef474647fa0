/*
 * code/code.h - which IL an instruction belongs to: from a return address, or a fault's, to an IL
 * offset, through the runtime's code ranges and maps, the IL and the machine code itself.
 */
#ifndef SHADOWTRACE_CODE_CODE_H
#define SHADOWTRACE_CODE_CODE_H

#include "metadata/metadata.h"

#include "base/il.h"

/*
 * code_il_call, code_il_alloc, code_il_unnamed - IL offset of the instruction that returns to `ip`
 * inside `method` (NULL: caller not hooked), given what was called or made there (NULL: not known),
 * or that it has no name: a delegate or a pointer led to it. The runtime's maps end at statements;
 * where a statement calls more than once, that tells which instruction it was. What was made may
 * have been by a method without hooks: then the machine code tells whom the instruction calls, or
 * which calls run right before and after it.
 * inlined: NULL, or what gets the innermost frame of those that were inlined into `method` there
 *          (code/inlined.h), 0: none; the offset is that of the call of the outermost. Of
 *          CODE_IL_OTHER: those that were inlined into the code without hooks.
 * Returns: the offset, or several (base/il.h), >= 0; or one of enum code_il: CODE_IL_UNMAPPED or
 *          CODE_IL_PRECOMPILED if nothing tells.
 * Threads: as metadata_method_resolve. Asks the runtime for ranges and maps, once per body of code;
 *          on a managed thread a collection may run: an ObjectID from before is worthless after it.
 */
int32_t code_il_call(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                     struct metadata_method *callee, uint32_t *inlined);
int32_t code_il_alloc(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                      struct metadata_class *made, uint32_t *inlined);
int32_t code_il_unnamed(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                        uint32_t *inlined);

/*
 * code_il_fault - the first IL offset of the statement in which the processor raised an exception,
 * as the runtime maps it. Returns, threads: as code_il_call.
 */
int32_t code_il_fault(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                      uint32_t *inlined);

/*
 * code_unoptimised_alloc - would the program not make the allocation at `ip`, instruction `il`,
 * without us? It is a box, or what stands for a token, made by an unoptimised body of a method with
 * optimised code that makes none: compiled ahead of time, which the runtime would use if nobody
 * asked for hooks. The profiling API tells no tiers: see tier.c and, for what precompiled code
 * makes, precompiled.c.
 * Returns: false too for what can be unloaded, and where nothing is known of the image.
 * Threads: the resolver; others get false.
 */
bool code_unoptimised_alloc(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                            int32_t il, struct metadata_class *made);

enum code_il {
    CODE_IL_PENDING = -1, /* not resolved yet: never returned by code_il_* */
    CODE_IL_NATIVE = -2,  /* returns into the runtime or other native code */
    CODE_IL_STUB = -3, /* jitted code without metadata, or a stub: outside of every known method */
    CODE_IL_DYNAMIC = -4, /* in a DynamicMethod */
    CODE_IL_UNMAPPED =
        -5,            /* in the method's code, but the runtime maps it to no IL (prolog, epilog) */
    CODE_IL_NONE = -6, /* no return address was kept (filter frame, or not asked for) */
    CODE_IL_OTHER = -7, /* in the code of another method than the parent: an unhooked one between */
    CODE_IL_PRECOMPILED = -8, /* as _UNMAPPED, in code that was compiled ahead of time */
};

/* Is the code of this FunctionID, which has no method, made by the runtime for itself? If not, it
 * is a dynamic method's. Threads: any; callbacks. */
bool code_is_stub(struct metadata *metadata, uintptr_t function);

/*
 * code_il_outside - does the call that returns to `ip` lie in jitted code that is not of `method`?
 * hosts: NULL, or of _OTHER: whether own methods are inlined there. The code stays then.
 * Returns: CODE_IL_DYNAMIC, _STUB, _OTHER; 0: no, or not known. Threads: any; callbacks.
 */
int32_t code_il_outside(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                        bool *hosts);

/* A place on the calling thread's stack: return address, stack pointer then, frame pointer. */
struct code_place {
    uintptr_t ip, sp, fp;
};

/*
 * code_caller - goes up from a place in code without hooks to the first frame in `method`, the
 * youngest with hooks. limit: the stack above is not read. The prolog identifies frames without a
 * frame pointer.
 * Returns: its ip, right after a call; 0: not found, or not certain. Threads: any; callbacks.
 */
uintptr_t code_caller(struct metadata *metadata, const struct metadata_method *method,
                      const struct code_place *from, uintptr_t limit);

/* Frees what this folder keeps in a method's record: metadata_config.forget. */
void code_bodies_free(struct metadata_method *method);

#endif
