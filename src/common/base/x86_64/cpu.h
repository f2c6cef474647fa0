/* base/x86_64/cpu.h - x86-64. */
#ifndef SHADOWTRACE_BASE_CPU_X86_64_H
#define SHADOWTRACE_BASE_CPU_X86_64_H

#include <stddef.h>
#include <stdint.h>

#define CPU_NAME    "x86-64"
#define CPU_MACHINE "x86_64" /* as uname says it, and the names of libunwind */
#define CPU_DOTNET  "x64"    /* as .NET does */

/* The kernel's name for the clock that cpu_counter() reads, if it is the same on all cores. */
#define CPU_CLOCK_SOURCE "tsc"

static inline uint64_t cpu_counter(void)
{
    return __builtin_ia32_rdtsc();
}

/* In a loop that waits. */
static inline void cpu_relax(void)
{
    __builtin_ia32_pause();
}

static inline size_t cpu_page_size(void)
{
    return 4096;
}

/* glibc's first version here, and its number for the kernel's struct stat (_STAT_VER_LINUX). */
#define CPU_GLIBC_FIRST "GLIBC_2.2.5"
#define CPU_STAT_LAYOUT 1

#define CPU_WALKS 1 /* --capture walk */

/*
 * A frame record is two words: the caller's frame pointer and the return address. It ends at the
 * caller's stack pointer; a hooked method's frame pointer points to it.
 */
#define CPU_RECORD_APART 0

/* Is the framePointer of an exception clause the SP of the handling frame's caller, or its own? */
#define CPU_HANDLER_SP_OF_CALLER 0

/* Registers, numbered as in the psABI: rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip. */
#define CPU_REGISTERS 17
#define CPU_FP        6
#define CPU_SP        7
#define CPU_IP        16

#define CPU_CALL_BYTES 8 /* of the longest call instruction, and what is read before it */

#define CPU_RUNTIME_FUNCTION_BYTES 12 /* where code begins and ends, its unwind data */

#endif
