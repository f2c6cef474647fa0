/*
 * bench/placement.S - hooks like those of hooks/x86_64/elt3.S, each detail of which can be changed, and the compiled code
 * of fib that calls them. placement.py says what is defined:
 *
 *   SELF    how a thread finds its words: 0 by two loads, 1 by one from a constant distance, 2 they are themselves in the
 *           thread's memory, found by a load, 3 the same at a constant distance; 4: no hooks, they return at once
 *   STATE   changes are counted by 2 both hooks, 1 Enter, 0 none
 *   LINK    1: a frame lies where the stack pointer says, and names the one below; 0: frames lie side by side
 *   DOWN    1: frames grow down; KEEP 1: node and flags are not cleared; AHEAD 1: the next frame is fetched
 *   LIMIT   where the end of the block is said, bytes from the top; SKEW: bytes the hooks lie behind a cache line's begin
 */
#define FRAME 32
#define MASK  0xffffff /* placement.c maps as much for a thread */

/* A word of the thread's; the placeholder is what placement.c writes the distance over. */
#if SELF == 3
#define WORD(offset, self) %fs:0x7EADBE00 + offset
#elif SELF == 2
#define WORD(offset, self) %fs:offset(self)
#else
#define WORD(offset, self) offset(self)
#endif

        .macro THREAD_WORDS to
#if SELF == 2
        movq    placement_words@gottpoff(%rip), \to
#elif SELF == 1
        movq    %fs:0x7EADBE80, \to
#elif SELF == 0
        movq    placement_self@gottpoff(%rip), \to
        movq    %fs:(\to), \to
#endif
        .endm

        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
#if SKEW
        .skip   SKEW
#endif
\name:
        .cfi_startproc
        .endm

        .text
        .globl  placement_begin, placement_end
        .hidden placement_begin, placement_end
placement_begin:
FUNCTION placement_enter
#if SELF != 4
        testb   $1, %r14b
        jnz     1f
        THREAD_WORDS %rax
#if LINK
        leaq    (%r15,%r15), %r10
        andl    $MASK, %r10d
        addq    WORD(24, %rax), %r10
        movq    WORD(0, %rax), %r11
        cmpq    $0, WORD(LIMIT, %rax)
        je      1f
        movq    %r11, 24(%r10)
#else
        movq    WORD(0, %rax), %r10
        cmpq    WORD(LIMIT, %rax), %r10
#if DOWN
        jbe     1f
        cmpq    %r15, 8 + FRAME(%r10)
#else
        jae     1f
        cmpq    %r15, 8 - FRAME(%r10)
#endif
        jbe     1f
#endif
        movq    -8(%r15), %r11
        movq    %r14, (%r10)
        movq    %r15, 8(%r10)
        movq    %r11, 16(%r10)
#if !KEEP && !LINK
        movq    $0, 24(%r10)
#endif
#if AHEAD
        prefetchw 3 * FRAME(%r10)
#endif
#if !LINK && DOWN
        subq    $FRAME, %r10
#elif !LINK
        addq    $FRAME, %r10
#endif
        movq    %r10, WORD(0, %rax)
#if STATE
        addq    $16777217, WORD(16, %rax)
#endif
        ret
1:      pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        subq    $136, %rsp
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        call    placement_slow
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        addq    $136, %rsp
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
#endif
        ret
        .cfi_endproc
        .size   placement_enter, .-placement_enter

FUNCTION placement_leave
#if SELF != 4
        THREAD_WORDS %r9
#if LINK
        leaq    (%rsi,%rsi), %r8
        andl    $MASK, %r8d
        addq    WORD(24, %r9), %r8
        cmpq    %rsi, 8(%r8)
        jne     1f
        movq    24(%r8), %r8
#else
        movq    WORD(0, %r9), %r8
#if DOWN
        cmpq    %rsi, 8 + FRAME(%r8)
        jne     1f
        addq    $FRAME, %r8
#else
        cmpq    %rsi, 8 - FRAME(%r8)
        jne     1f
        subq    $FRAME, %r8
#endif
#endif
        movq    %r8, WORD(0, %r9)
#if STATE == 2
        addq    $16777215, WORD(16, %r9)
#endif
1:
#endif
        ret
        .cfi_endproc
        .size   placement_leave, .-placement_leave
placement_end:

/* What the runtime compiles fib to, with its hooks, called through pointers as there. */
FUNCTION placement_fib
        pushq   %rbp
        pushq   %r15
        pushq   %r14
        pushq   %rbx
        pushq   %rax
        leaq    32(%rsp), %rbp
        movabsq $0x123450, %r14
        leaq    16(%rbp), %r15
        call    *placement_enter_at(%rip)
        movl    %edi, %ebx
        cmpl    $2, %ebx
        jl      2f
        leal    -1(%rbx), %edi
        call    *placement_fib_at(%rip)
        movl    %eax, %r15d
        leal    -2(%rbx), %edi
        call    *placement_fib_at(%rip)
        addl    %r15d, %eax
1:      movabsq $0x123450, %rdi
        leaq    16(%rbp), %rsi
        call    *placement_leave_at(%rip)
        nop
        addq    $8, %rsp
        popq    %rbx
        popq    %r14
        popq    %r15
        popq    %rbp
        ret
2:      movl    %ebx, %eax
        jmp     1b
        .cfi_endproc
        .size   placement_fib, .-placement_fib

        .section .note.GNU-stack, "", @progbits
