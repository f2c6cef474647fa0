/*
 * hooks/x86_64/elt3.S - FunctionEnter3, FunctionLeave3, FunctionTailcall3, called straight from
 * jitted code.
 *
 * The twins of stack_enter and stack_leave in src/tracer/stack/stack_hot.h; offsets are generated
 * from the C structures.
 * Source: dotnet/runtime src/coreclr/jit/targetamd64.h (RBM_PROFILER_ENTER_TRASH,
 * RBM_PROFILER_LEAVE_TRASH) and codegenxarch.cpp (genProfilingEnterCallback). Proof:
 * tests/unit/hooks/x86_64/test_preserve.c. What a method of runtime async returns:
 * docs/design/coreclr/botr/clr-abi.md (RBM_ASYNC_CONTINUATION_RET).
 */
#include "save.inc"
#include "stack_offsets.h"

        .section .rodata.hook_places, "a", @progbits
        .balign 4
        .globl  hook_places
        .hidden hook_places
hook_places:
        .text

/*
 * The hooks in three forms (near.c chooses). Where a thread's own words lie is known only when the
 * library is loaded. A word of struct stack_words is `\base WORD\at`: `at` names the register that
 * THREAD_WORDS loads.
 *   near  In static TLS, at the same distance from the thread pointer in every thread. The distance
 *         is part of each instruction, where near.c writes it; hook_places lists these places. `at`
 *         is blank.
 *   far   In static TLS; each hook loads the distance.
 *   dtv   In a block that each thread's vector (DTV) points to: musl, whose layout near.c checks.
 */
        .macro THREAD_WORDS form, to, by
        .ifc    \form, far
        movq    hook_words_distance(%rip), %\to
        .endif
        .ifc    \form, dtv
        movq    hook_words_slot(%rip), %\to
        movq    %fs:8, %\by
        movq    (%\by,%\to), %\to
        .endif
        .endm

/* After each such instruction; its displacement ends `behind` bytes before this point. */
        .macro NOTE at, behind
        .ifb    \at
900:    .pushsection .rodata.hook_places, "a", @progbits
        .long   900b - 4 - \behind - .
        .popsection
        .endif
        .endm

/* The new frame, its method as the hook got it. slow: no stack, full, pending, or dead frames. */
        .macro PUSH_FRAME form, base, at, slow
        THREAD_WORDS \form, rax, r10
        movq    \base STACK_TOP\at, %r10
        NOTE    "\at", 0
        cmpq    \base STACK_LIMIT\at, %r10
        NOTE    "\at", 0
        jae     \slow
        cmpq    %r15, FRAME_SP-FRAME_SIZE(%r10)
        jbe     \slow
        movq    -8(%r15), %r11                    /* return address */
        movq    %r14, FRAME_METHOD(%r10)
        movq    %r15, FRAME_SP(%r10)
        movq    %r11, FRAME_RET(%r10)
        .endm

/* Seen from now on. Slots before state: x86 keeps the order of stores. */
        .macro SHOW_FRAME base, at
        addq    $FRAME_SIZE, %r10
        movq    %r10, \base STACK_TOP\at
        NOTE    "\at", 0
        addq    $STACK_STATE_ENTER, \base STACK_STATE\at
        NOTE    "\at", 4
        .endm

/*
 * In:  r14 our method record (client id), with the tags of stack/stack.h if it may go on after it
 *      waited; r15 the caller's SP; rdi rsi rdx rcx its first arguments; rsp % 16 == 8.
 * May change: rax, r10, r11, flags. Keeps all else, the arguments in rdi rsi rdx rcx r8 r9 and
 * xmm0-7 above all.
 */
        .macro ENTER name, form, base, at
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        testb   $STACK_RESUMABLE, %r14b
        jnz     2f
        PUSH_FRAME \form, "\base", "\at", 1f
        SHOW_FRAME "\base", "\at"
        ret
1:      SAVE_ALL
        movq    %r14, %rdi
        andq    $~STACK_TAGS, %rdi
        movq    %r15, %rsi
        call    stack_enter_slow
        RESTORE_ALL
        ret
2:      testb   $STACK_CALL_IF_SOME | STACK_CALL_IF_NONE, %r14b
        jz      3f
        testq   %rdi, %rdi
        setz    %al                               /* 2 or 4, as the tag that says: a call */
        leal    2(%rax,%rax), %eax
        testb   %al, %r14b
        jz      3f
        PUSH_FRAME \form, "\base", "\at", 1b
        andq    $~STACK_TAGS, FRAME_METHOD(%r10)
        SHOW_FRAME "\base", "\at"
        ret
3:      SAVE_ALL
        leaq    SAVED_ARGUMENTS(%rsp), %rdx
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    stack_enter_resumable
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

/*
 * In:  rdi our method record (client id), rsi the caller's SP; rsp % 16 == 8.
 * May change: rdi, rsi, r8-r11, flags. Keeps rax, rdx, xmm0, xmm1: they hold the return value; and
 * rcx, in which a method of runtime async returns its continuation, though the runtime's masks of
 * .NET 10 let a hook change it. A tail call ends its frame just the same; its arguments are set up
 * after the hook.
 */
        .macro LEAVE name, form, base, at
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        THREAD_WORDS \form, r9, r8
        movq    \base STACK_TOP\at, %r8
        NOTE    "\at", 0
        cmpq    %rsi, FRAME_SP-FRAME_SIZE(%r8)    /* the top frame ends: the usual case */
        jne     1f                                /* dead frames above it, or an orphan */
        subq    $FRAME_SIZE, %r8
        movq    %r8, \base STACK_TOP\at
        NOTE    "\at", 0
        addq    $STACK_STATE_LEAVE, \base STACK_STATE\at
        NOTE    "\at", 4
        ret
1:      SAVE_ALL
        andq    $~STACK_TAGS, %rdi
        call    stack_leave_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

/* void name(uintptr_t method, uintptr_t sp): one call pair, as jitted code makes it. */
        .macro PAIR name, enter, leave
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %r14
        movq    %rsi, %r15
        call    \enter
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    \leave
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   \name, .-\name
        .endm

        .macro FORM form, base, enter_at, leave_at
        ENTER   hook_enter3_\form, \form, "\base", "\enter_at"
        LEAVE   hook_leave3_\form, \form, "\base", "\leave_at"
        PAIR    elt3_pair_\form, hook_enter3_\form, hook_leave3_\form
        .endm

        FORM    far, "%fs:", "(%rax)", "(%r9)"
        FORM    near, "%fs:"
        FORM    dtv, "stack_words@dtpoff+", "(%rax)", "(%r9)"

        .globl  hook_empty3
        .hidden hook_empty3
        .type   hook_empty3, @function
hook_empty3:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   hook_empty3, .-hook_empty3

        .section .rodata.hook_places, "a", @progbits
        .globl  hook_places_end
        .hidden hook_places_end
hook_places_end:

        .section .note.GNU-stack, "", @progbits
