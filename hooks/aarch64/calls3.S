/*
 * hooks/aarch64/calls3.S - Enter, Leave and Tailcall of ELT3 with every call traced: they keep what
 * elt3.S keeps, and call C. Its fast half (hooks/calls_hot.c) is compiled for general registers
 * only, so these suffice.
 */
#include "save.inc"

        .text

        .globl  hook_enter3_calls
        .hidden hook_enter3_calls
        .type   hook_enter3_calls, %function
        .p2align 6
hook_enter3_calls:
        .cfi_startproc
        SAVE_GENERAL 112
        stp     x10, x11, [sp, #96]
        ldr     x2, [x29]
        mov     x0, x10
        mov     x1, x11
        bl      calls_enter
        mov     w9, w0
        ldp     x10, x11, [sp, #96]
        RESTORE_GENERAL 112
        tbz     w9, #0, 1f
        ret
1:      SAVE_ALL
        ldr     x2, [x29]
        mov     x0, x10
        mov     x1, x11
        bl      calls_enter_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   hook_enter3_calls, .-hook_enter3_calls

        .macro LEAVE_CALLS name, what
        .globl  \name
        .hidden \name
        .type   \name, %function
        .p2align 6
\name:
        .cfi_startproc
        SAVE_GENERAL 112
        stp     x10, x11, [sp, #96]
        mov     x0, x10
        mov     x1, x11
        mov     w2, #\what
        bl      calls_leave
        mov     w9, w0
        ldp     x10, x11, [sp, #96]
        RESTORE_GENERAL 112
        tbz     w9, #0, 1f
        ret
1:      SAVE_ALL
        mov     x0, x10
        mov     x1, x11
        mov     w2, #\what
        mov     w3, #0                            /* no values: those are ELT2's */
        bl      calls_leave_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

        LEAVE_CALLS hook_leave3_calls, 1    /* EVENT_CALL_LEAVE */
        LEAVE_CALLS hook_tailcall3_calls, 2 /* EVENT_CALL_TAIL */

        .section .note.GNU-stack, "", %progbits
