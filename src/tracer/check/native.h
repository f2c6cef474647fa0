/*
 * check/native.h - native frames, by libunwind, of a thread that waits in the system.
 *
 * libunwind is loaded when first asked for. Where it is missing nothing else suffers.
 */
#ifndef SHADOWTRACE_CHECK_NATIVE_H
#define SHADOWTRACE_CHECK_NATIVE_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `known` has a bit for each register whose value is known. */
struct native_registers {
    uint64_t value[CPU_REGISTERS];
    uint64_t known;
};

struct native;

int native_new(struct native **out); /* 0, -ENOSYS without libunwind, -ENOMEM */
void native_free(struct native *native);

enum native_result {
    NATIVE_FOUND,
    NATIVE_RUNS, /* it is running: its registers cannot be read */
    NATIVE_LOST, /* no unwind information, or a register was needed that is not known */
};

/*
 * native_first - walk another thread of this process, from where it waits in the system, up to the
 * first instruction for which `wanted` says yes. Its stack is read by a system call: it may go
 * away.
 * Threads: one at a time. Blocks on nothing but the system.
 */
enum native_result native_first(struct native *native, uint32_t os_thread,
                                bool (*wanted)(void *context, uintptr_t ip), void *context,
                                struct native_registers *out);

/*
 * native_run - native frames of the calling thread from `start` on, a register set of one of them,
 * youngest first, while they lie below the stack pointer `end` and in some image: the run ends at
 * code that was compiled at run time.
 * Returns: how many addresses ip got, at most `room`; they are return addresses.
 */
size_t native_run(struct native *native, const struct native_registers *start, uintptr_t end,
                  uintptr_t *ip, size_t room);

#endif
