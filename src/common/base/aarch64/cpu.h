/* base/aarch64/cpu.h - AArch64. */
#ifndef SHADOWTRACE_BASE_CPU_AARCH64_H
#define SHADOWTRACE_BASE_CPU_AARCH64_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define CPU_NAME    "AArch64"
#define CPU_MACHINE "aarch64" /* as uname says it, and the names of libunwind */
#define CPU_DOTNET  "arm64"   /* as .NET does */

/* The kernel's name for the clock that cpu_counter() reads, if it is the same on all cores. */
#define CPU_CLOCK_SOURCE "arch_sys_counter"

/* Source: Arm ARM (DDI 0487), D12.2: the virtual count, readable in user mode under Linux. */
static inline uint64_t cpu_counter(void)
{
    uint64_t now;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

/* In a loop that waits. */
static inline void cpu_relax(void)
{
    __asm__ volatile("yield");
}

/* 4, 16 or 64 KB, as the kernel was built. */
static inline size_t cpu_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* glibc's first version here, and its number for the kernel's struct stat (_STAT_VER_LINUX). */
#define CPU_GLIBC_FIRST "GLIBC_2.17"
#define CPU_STAT_LAYOUT 0

#define CPU_WALKS 0 /* --capture walk: the rules of src/tracer/walk are those of x86-64 */

/*
 * A frame record is two words: the caller's frame pointer and the return address. It lies anywhere
 * in the frame, at its lower end as a rule; a hooked method's frame pointer points to it.
 */
#define CPU_RECORD_APART 1

/*
 * Is the framePointer of an exception clause the SP of the handling frame's caller, or its own?
 * Source: dotnet/runtime, ESTABLISHER_FRAME_ADDRESS_IS_CALLER_SP.
 */
#define CPU_HANDLER_SP_OF_CALLER 1

/* Registers, numbered as libunwind does: x0 to x30, sp, pc. */
#define CPU_REGISTERS 33
#define CPU_FP        29
#define CPU_SP        31
#define CPU_IP        32

#define CPU_CALL_BYTES 4 /* of the longest call instruction, and what is read before it */

/* Where code begins, and its unwind data. Source: dotnet/runtime src/coreclr/inc/clrnt.h. */
#define CPU_RUNTIME_FUNCTION_BYTES 8

#endif
