/*
 * hooks/x86_64/calls3.S - Enter, Leave and Tailcall of ELT3 with every call traced: they keep what
 * elt3.S keeps, and call C. Its fast half (hooks/calls_hot.c) is compiled for general registers
 * only, so these suffice.
 * Proof: tests/unit/hooks/x86_64/test_calls.c.
 */
#include "save.inc"

        .text

/*
 * In:  r14 our method record (client id), r15 the caller's SP; rsp % 16 == 8.
 * May change: rax, r10, r11, flags. Keeps all else.
 */
        .globl  hook_enter3_calls
        .hidden hook_enter3_calls
        .type   hook_enter3_calls, @function
        .p2align 6
hook_enter3_calls:
        .cfi_startproc
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    calls_enter
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testb   %al, %al
        jz      1f
        ret
1:      SAVE_ALL
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    calls_enter_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   hook_enter3_calls, .-hook_enter3_calls

/*
 * In:  rdi our method record (client id), rsi the caller's SP; rsp % 16 == 8.
 * May change: rdi, rsi, r8-r11, flags. Keeps rax, rdx, rcx, xmm0, xmm1: they hold what the method
 * returns (elt3.S).
 */
        .macro LEAVE_CALLS name, what
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        movl    $\what, %edx
        call    calls_leave
        movl    %eax, %r9d
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        testb   %r9b, %r9b
        jz      1f
        ret
1:      SAVE_ALL
        movl    $\what, %edx
        xorl    %ecx, %ecx                        /* no values: those are ELT2's */
        call    calls_leave_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

        LEAVE_CALLS hook_leave3_calls, 1    /* EVENT_CALL_LEAVE */
        LEAVE_CALLS hook_tailcall3_calls, 2 /* EVENT_CALL_TAIL */

        .section .note.GNU-stack, "", @progbits
