/*
 * hooks/x86_64/elt3.S - FunctionEnter3, FunctionLeave3, FunctionTailcall3, called straight from
 * jitted code.
 *
 * The twins of stack_enter and stack_leave in src/tracer/stack/stack_hot.h; offsets are generated
 * from the C structures.
 * Source: dotnet/runtime src/coreclr/jit/targetamd64.h (RBM_PROFILER_ENTER_TRASH,
 * RBM_PROFILER_LEAVE_TRASH) and codegenxarch.cpp (genProfilingEnterCallback). Proof:
 * tests/unit/hooks/test_preserve.c. What a method of runtime async returns:
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
 * This thread's stack (never NULL) into `to`. A library learns only when it is loaded how far its
 * thread-local words lie from the thread's own: hooks_shorten() writes that in here, over the load
 * of it, and notes of these places are in hook_places.
 */
        .macro THREAD_STACK to
900:    movq    stack_self@gottpoff(%rip), %\to
        movq    %fs:(%\to), %\to
        .pushsection .rodata.hook_places, "a", @progbits
        .long   900b - .
        .popsection
        .endm

/* The new frame, its method as the hook got it. slow: no stack, full, pending, or dead frames. */
        .macro PUSH_FRAME slow
        THREAD_STACK rax
        movq    STACK_TOP(%rax), %r10
        cmpq    STACK_LIMIT(%rax), %r10
        jae     \slow
        cmpq    %r15, FRAME_SP-FRAME_SIZE(%r10)
        jbe     \slow
        movq    -8(%r15), %r11                    /* return address */
        movq    %r14, FRAME_METHOD(%r10)
        movq    %r15, FRAME_SP(%r10)
        movq    %r11, FRAME_RET(%r10)
        .endm

/* Seen from now on. Slots before state: x86 keeps the order of stores. */
        .macro SHOW_FRAME
        addq    $FRAME_SIZE, %r10
        movq    %r10, STACK_TOP(%rax)
        addq    $STACK_STATE_ENTER, STACK_STATE(%rax)
        .endm

/*
 * In:  r14 our method record (client id), with the tags of stack/stack.h if it may go on after it
 *      waited; r15 the caller's SP; rdi rsi rdx rcx its first arguments; rsp % 16 == 8.
 * May change: rax, r10, r11, flags. Keeps all else, the arguments in rdi rsi rdx rcx r8 r9 and
 * xmm0-7 above all.
 */
        .globl  hook_enter3
        .hidden hook_enter3
        .type   hook_enter3, @function
        .p2align 6
hook_enter3:
        .cfi_startproc
        testb   $STACK_RESUMABLE, %r14b
        jnz     2f
        PUSH_FRAME 1f
        SHOW_FRAME
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
        PUSH_FRAME 1b
        andq    $~STACK_TAGS, FRAME_METHOD(%r10)
        SHOW_FRAME
        ret
3:      SAVE_ALL
        leaq    SAVED_ARGUMENTS(%rsp), %rdx
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    stack_enter_resumable
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   hook_enter3, .-hook_enter3

/*
 * In:  rdi our method record (client id), rsi the caller's SP; rsp % 16 == 8.
 * May change: rdi, rsi, r8-r11, flags. Keeps rax, rdx, xmm0, xmm1: they hold the return value; and
 * rcx, in which a method of runtime async returns its continuation, though the runtime's masks of
 * .NET 10 let a hook change it. A tail call ends its frame just the same; its arguments are set up
 * after the hook.
 */
        .globl  hook_leave3, hook_tailcall3
        .hidden hook_leave3, hook_tailcall3
        .type   hook_leave3, @function
        .type   hook_tailcall3, @function
        .p2align 6
hook_leave3:
hook_tailcall3:
        .cfi_startproc
        THREAD_STACK r9
        movq    STACK_TOP(%r9), %r8
        cmpq    %rsi, FRAME_SP-FRAME_SIZE(%r8)    /* the top frame ends: the usual case */
        jne     1f                                /* dead frames above it, or an orphan */
        subq    $FRAME_SIZE, %r8
        movq    %r8, STACK_TOP(%r9)
        addq    $STACK_STATE_LEAVE, STACK_STATE(%r9)
        ret
1:      SAVE_ALL
        andq    $~STACK_TAGS, %rdi
        call    stack_leave_slow
        RESTORE_ALL
        ret
        .cfi_endproc
        .size   hook_leave3, .-hook_leave3
        .size   hook_tailcall3, .-hook_tailcall3

        .globl  hook_empty3
        .hidden hook_empty3
        .type   hook_empty3, @function
hook_empty3:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   hook_empty3, .-hook_empty3

/* void elt3_pair(uintptr_t method, uintptr_t sp): one call pair, as jitted code makes it. */
        .globl  elt3_pair
        .hidden elt3_pair
        .type   elt3_pair, @function
elt3_pair:
        .cfi_startproc
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %r14
        movq    %rsi, %r15
        call    hook_enter3
        movq    %r14, %rdi
        movq    %r15, %rsi
        call    hook_leave3
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   elt3_pair, .-elt3_pair

        .section .rodata.hook_places, "a", @progbits
        .globl  hook_places_end
        .hidden hook_places_end
hook_places_end:

        .section .note.GNU-stack, "", @progbits
