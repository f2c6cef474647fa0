/*
 * hooks/aarch64/elt3.S - FunctionEnter3, FunctionLeave3, FunctionTailcall3, called straight from
 * jitted code.
 *
 * The twins of stack_enter_at and stack_leave in src/tracer/stack/stack_hot.h; offsets are
 * generated from the C structures.
 * Source: dotnet/runtime src/coreclr/jit/targetarm64.h (REG_PROFILER_ENTER_ARG_FUNC_ID x10,
 * REG_PROFILER_ENTER_ARG_CALLER_SP x11; RBM_PROFILER_ENTER_TRASH: all that a callee may change but
 * x0-x8, q0-q7), codegenarm64.cpp (genProfilingEnterCallback: behind the prolog, x29 is set up).
 * Proof: tests/unit/hooks/aarch64/test_slow_call.c.
 */
#include "save.inc"
#include "stack_offsets.h"

        .text

/* The thread's struct stack_words; near.c has the distance. */
        .macro THREAD_WORDS to, with
        adrp    \to, hook_words_distance
        ldr     \to, [\to, #:lo12:hook_words_distance]
        mrs     \with, tpidr_el0
        add     \to, \to, \with
        .endm

        .macro CONSTANT to, value
        mov     \to, #(\value & 0xffff)
        movk    \to, #((\value >> 16) & 0xffff), lsl #16
        .endm

/*
 * The new frame. slow: no stack, full, pending, or dead frames. x9 words, x12 top.
 *
 * Order of the stores, of which other threads make copies (stack/copy.c): x86-64 keeps it, this CPU
 * must be told to.
 * - dmb ishst: the last change of state is seen before these slots are. Else a Leave's change could
 *   come after what this Enter writes over the frame that was left: a copy would read the new slot
 *   between two looks at the old state. It pairs with the fence in look_again().
 * - stlr: the slots are seen before the state that counts them. It pairs with the load in
 *   look_begin(). The top needs no order: only this thread reads it.
 * Leave writes no slot; its stlr only keeps the state behind what the thread read before.
 */
        .macro PUSH_FRAME slow, method
        THREAD_WORDS x9, x12
        ldp     x12, x13, [x9, #STACK_TOP]        /* top, limit */
        cmp     x12, x13
        b.hs    \slow
        ldur    x14, [x12, #FRAME_SP-FRAME_SIZE]
        cmp     x14, x11
        b.ls    \slow
        ldr     x15, [x29, #8]                    /* return address */
        dmb     ishst
        str     \method, [x12, #FRAME_METHOD]
        str     x11, [x12, #FRAME_SP]
        str     x15, [x12, #FRAME_RET]
        str     x29, [x12, #FRAME_FP]
        add     x12, x12, #FRAME_SIZE
        str     x12, [x9, #STACK_TOP]
        ldr     x13, [x9, #STACK_STATE]
        CONSTANT x14, STACK_STATE_ENTER
        add     x13, x13, x14
        add     x9, x9, #STACK_STATE
        stlr    x13, [x9]
        .endm

/*
 * In:  x10 our method record (client id), with the tags of stack/stack.h; x11 the caller's SP; x29
 *      the method's frame pointer; x0-x7 its first arguments.
 * May change: x9-x17, q16-q31, flags.
 */
        .macro ENTER name
        .globl  \name
        .hidden \name
        .type   \name, %function
        .p2align 6
\name:
        .cfi_startproc
        tbnz    x10, #0, 2f                       /* STACK_RESUMABLE */
        PUSH_FRAME 1f, x10
        ret
1:      SAVE_ALL
        ldr     x2, [x29]                         /* the method's frame pointer */
        and     x0, x10, #~STACK_TAGS
        mov     x1, x11
        bl      stack_enter_slow
        RESTORE_ALL
        ret
2:      tst     x10, #(STACK_CALL_IF_SOME | STACK_CALL_IF_NONE)
        b.eq    3f
        cmp     x0, #0
        mov     w12, #STACK_CALL_IF_SOME
        mov     w13, #STACK_CALL_IF_NONE
        csel    w12, w13, w12, eq
        tst     x10, x12
        b.eq    3f
        and     x16, x10, #~STACK_TAGS
        PUSH_FRAME 1b, x16
        ret
3:      SAVE_ALL
        add     x3, sp, #SAVED_ARGUMENTS
        ldr     x2, [x29]
        mov     x0, x10
        mov     x1, x11
        bl      stack_enter_resumable
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

/* In: x10 our method record (client id), x11 the caller's SP. May change as Enter. */
        .macro LEAVE name
        .globl  \name
        .hidden \name
        .type   \name, %function
        .p2align 6
\name:
        .cfi_startproc
        THREAD_WORDS x9, x12
        ldr     x12, [x9, #STACK_TOP]
        ldur    x14, [x12, #FRAME_SP-FRAME_SIZE]
        cmp     x14, x11                          /* the top frame ends: the usual case */
        b.ne    1f                                /* dead frames above it, or an orphan */
        sub     x12, x12, #FRAME_SIZE
        str     x12, [x9, #STACK_TOP]
        ldr     x13, [x9, #STACK_STATE]
        CONSTANT x14, STACK_STATE_LEAVE
        add     x13, x13, x14
        add     x9, x9, #STACK_STATE
        stlr    x13, [x9]
        ret
1:      SAVE_ALL
        and     x0, x10, #~STACK_TAGS
        mov     x1, x11
        bl      stack_leave_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

/* void name(uintptr_t method, uintptr_t sp): one call pair, as jitted code makes it. */
        .macro PAIR name, enter, leave
        .globl  \name
        .hidden \name
        .type   \name, %function
\name:
        .cfi_startproc
        stp     x29, x30, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        mov     x10, x0
        mov     x11, x1
        bl      \enter
        ldp     x10, x11, [sp, #16]
        bl      \leave
        ldp     x29, x30, [sp], #32
        .cfi_adjust_cfa_offset -32
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

        ENTER   hook_enter3_far
        LEAVE   hook_leave3_far
        PAIR    elt3_pair_far, hook_enter3_far, hook_leave3_far

        .globl  hook_empty3
        .hidden hook_empty3
        .type   hook_empty3, %function
hook_empty3:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   hook_empty3, .-hook_empty3

        .section .note.GNU-stack, "", %progbits
