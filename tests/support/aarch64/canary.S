/*
 * support/aarch64/canary.S - the call that notes every register (canary.h), and hooks that break their promise. x29 is
 * the frame record of canary_call, as a method's is at its call of a hook.
 */
        .text
        .globl  canary_call
        .type   canary_call, %function
canary_call:
        stp     x29, x30, [sp, #-192]!
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     x27, x28, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        str     x2, [sp, #160]
        mov     x17, x0
        mov     x16, x1
        add     x15, x1, #256
        .irp n, 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30
        ldp     q\n, q31, [x15], #32
        .endr
        add     x15, x16, #256
        .irp n, 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31
        ldr     q\n, [x15, #16]
        add     x15, x15, #32
        .endr
        ldp     x0, x1, [x16, #0]
        ldp     x2, x3, [x16, #16]
        ldp     x4, x5, [x16, #32]
        ldp     x6, x7, [x16, #48]
        ldp     x8, x9, [x16, #64]
        ldp     x10, x11, [x16, #80]
        ldp     x12, x13, [x16, #96]
        ldp     x14, x15, [x16, #112]
        ldp     x19, x20, [x16, #152]
        ldp     x21, x22, [x16, #168]
        ldp     x23, x24, [x16, #184]
        ldp     x25, x26, [x16, #200]
        ldp     x27, x28, [x16, #216]
        blr     x17
        ldr     x16, [x29, #160]
        stp     x0, x1, [x16, #0]
        stp     x2, x3, [x16, #16]
        stp     x4, x5, [x16, #32]
        stp     x6, x7, [x16, #48]
        stp     x8, x9, [x16, #64]
        stp     x10, x11, [x16, #80]
        stp     x12, x13, [x16, #96]
        stp     x14, x15, [x16, #112]
        stp     x19, x20, [x16, #152]
        stp     x21, x22, [x16, #168]
        stp     x23, x24, [x16, #184]
        stp     x25, x26, [x16, #200]
        stp     x27, x28, [x16, #216]
        mov     x15, sp
        sub     x15, x29, x15
        str     x15, [x16, #248]                 /* 0: the stack pointer is what it was */
        add     x15, x16, #256
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        str     q\n, [x15], #16
        .endr
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        ldp     x29, x30, [sp], #192
        ret
        .size   canary_call, .-canary_call

        .globl  canary_trash
        .type   canary_trash, %function
canary_trash:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
        mov     x\n, #-1
        .endr
        .irp n, 0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        movi    v\n\().2d, #0xffffffffffffffff
        .endr
        .irp n, 8,9,10,11,12,13,14,15
        mov     v\n\().d[1], xzr               /* the low halves are kept */
        .endr
        ret
        .size   canary_trash, .-canary_trash

        .macro  BAD_HOOK name:req
        .globl  canary_\name
        .type   canary_\name, %function
canary_\name:
        .endm

        BAD_HOOK changes_x0
        add     x0, x0, #1
        ret

        BAD_HOOK changes_x8
        add     x8, x8, #1
        ret

        BAD_HOOK changes_x19
        add     x19, x19, #1
        ret

        BAD_HOOK changes_high_half_of_q1
        mov     v1.d[1], xzr
        ret

        .section .note.GNU-stack, "", %progbits
