/*
 * support/x86_64/canary.S - the call that notes every register (canary.h), and hooks that break their promise.
 */
        .bss
        .p2align 3
call_target:    .skip 8
call_rsp:       .skip 8         /* before the call */
after_rsp:      .skip 8
after_rax:      .skip 8

        .text

/*
 * void canary_call(void (*target)(void), const struct canary *in, struct canary *out)
 * The stack holds the caller's registers and `out`; nothing else survives the call on purpose.
 */
        .globl  canary_call
        .type   canary_call, @function
canary_call:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        pushq   %rdx                            /* out; rsp % 16 == 0 now */
        .cfi_adjust_cfa_offset 8
        movq    %rdi, call_target(%rip)
        movq    %rsp, call_rsp(%rip)

        movups  128+0*16(%rsi), %xmm0
        movups  128+1*16(%rsi), %xmm1
        movups  128+2*16(%rsi), %xmm2
        movups  128+3*16(%rsi), %xmm3
        movups  128+4*16(%rsi), %xmm4
        movups  128+5*16(%rsi), %xmm5
        movups  128+6*16(%rsi), %xmm6
        movups  128+7*16(%rsi), %xmm7
        movups  128+8*16(%rsi), %xmm8
        movups  128+9*16(%rsi), %xmm9
        movups  128+10*16(%rsi), %xmm10
        movups  128+11*16(%rsi), %xmm11
        movups  128+12*16(%rsi), %xmm12
        movups  128+13*16(%rsi), %xmm13
        movups  128+14*16(%rsi), %xmm14
        movups  128+15*16(%rsi), %xmm15
        movq    0*8(%rsi), %rax
        movq    1*8(%rsi), %rcx
        movq    2*8(%rsi), %rdx
        movq    3*8(%rsi), %rbx
        movq    5*8(%rsi), %rbp
        movq    7*8(%rsi), %rdi
        movq    8*8(%rsi), %r8
        movq    9*8(%rsi), %r9
        movq    10*8(%rsi), %r10
        movq    11*8(%rsi), %r11
        movq    12*8(%rsi), %r12
        movq    13*8(%rsi), %r13
        movq    14*8(%rsi), %r14
        movq    15*8(%rsi), %r15
        movq    6*8(%rsi), %rsi                 /* last: it was the pointer */
        call    *call_target(%rip)

        movq    %rax, after_rax(%rip)           /* no register is free yet */
        movq    %rsp, after_rsp(%rip)
        movq    call_rsp(%rip), %rsp
        movq    0(%rsp), %rax
        movq    %rcx, 1*8(%rax)
        movq    %rdx, 2*8(%rax)
        movq    %rbx, 3*8(%rax)
        movq    %rbp, 5*8(%rax)
        movq    %rsi, 6*8(%rax)
        movq    %rdi, 7*8(%rax)
        movq    %r8, 8*8(%rax)
        movq    %r9, 9*8(%rax)
        movq    %r10, 10*8(%rax)
        movq    %r11, 11*8(%rax)
        movq    %r12, 12*8(%rax)
        movq    %r13, 13*8(%rax)
        movq    %r14, 14*8(%rax)
        movq    %r15, 15*8(%rax)
        movups  %xmm0, 128+0*16(%rax)
        movups  %xmm1, 128+1*16(%rax)
        movups  %xmm2, 128+2*16(%rax)
        movups  %xmm3, 128+3*16(%rax)
        movups  %xmm4, 128+4*16(%rax)
        movups  %xmm5, 128+5*16(%rax)
        movups  %xmm6, 128+6*16(%rax)
        movups  %xmm7, 128+7*16(%rax)
        movups  %xmm8, 128+8*16(%rax)
        movups  %xmm9, 128+9*16(%rax)
        movups  %xmm10, 128+10*16(%rax)
        movups  %xmm11, 128+11*16(%rax)
        movups  %xmm12, 128+12*16(%rax)
        movups  %xmm13, 128+13*16(%rax)
        movups  %xmm14, 128+14*16(%rax)
        movups  %xmm15, 128+15*16(%rax)
        pushfq                                  /* moves changed no flag, but the direction flag is what counts */
        popq    %rcx
        cld
        movq    %rcx, 384(%rax)
        movq    after_rax(%rip), %rcx
        movq    %rcx, 0*8(%rax)
        movq    after_rsp(%rip), %rcx
        subq    %rsp, %rcx
        movq    %rcx, 4*8(%rax)

        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        popq    %r13
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   canary_call, .-canary_call

        .globl  canary_trash
        .type   canary_trash, @function
canary_trash:
        .cfi_startproc
        pcmpeqd %xmm0, %xmm0                    /* all ones */
        movaps  %xmm0, %xmm1
        movaps  %xmm0, %xmm2
        movaps  %xmm0, %xmm3
        movaps  %xmm0, %xmm4
        movaps  %xmm0, %xmm5
        movaps  %xmm0, %xmm6
        movaps  %xmm0, %xmm7
        movaps  %xmm0, %xmm8
        movaps  %xmm0, %xmm9
        movaps  %xmm0, %xmm10
        movaps  %xmm0, %xmm11
        movaps  %xmm0, %xmm12
        movaps  %xmm0, %xmm13
        movaps  %xmm0, %xmm14
        movaps  %xmm0, %xmm15
        movq    $-1, %rax
        movq    %rax, %rcx
        movq    %rax, %rdx
        movq    %rax, %rsi
        movq    %rax, %rdi
        movq    %rax, %r8
        movq    %rax, %r9
        movq    %rax, %r10
        movq    %rax, %r11
        ret
        .cfi_endproc
        .size   canary_trash, .-canary_trash

        .macro  BAD_HOOK name:req
        .globl  canary_\name
        .type   canary_\name, @function
canary_\name:
        .endm

        BAD_HOOK changes_rdi
        incq    %rdi
        ret

        BAD_HOOK changes_rbx
        incq    %rbx
        ret

        BAD_HOOK changes_rdx
        xorl    %edx, %edx
        ret

        BAD_HOOK changes_high_half_of_xmm1
        movq    %xmm1, %xmm1                    /* keeps the low half, clears the other */
        ret

        BAD_HOOK changes_rsp
        ret     $8

        BAD_HOOK sets_direction_flag
        std
        ret

        BAD_HOOK changes_scratch_only
        incq    %rax
        incq    %r10
        incq    %r11
        pxor    %xmm8, %xmm8
        pxor    %xmm15, %xmm15
        ret

        BAD_HOOK calls_misaligned
        call    *%rbx                           /* without the 8 bytes that are missing */
        ret

        .section .note.GNU-stack, "", @progbits
