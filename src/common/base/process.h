/* base/process.h - what the system says of a process. */
#ifndef SHADOWTRACE_BASE_PROCESS_H
#define SHADOWTRACE_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process_stat {
    long pid, parent; /* parent 0: none */
    uint64_t born;    /* in clock ticks since the machine started; with pid it names the process */
    char state;       /* as in proc(5). R: it runs, or waits for a processor; Z: it has ended */
    char name[64];    /* as the system calls it: 15 bytes, threads of the kernel more */
};

/*
 * process_stat_read - of process `which`: "self", a number, or one of its threads, "self/task/N".
 * Returns: false: it is gone, or is not shown to this user. Source: proc(5), /proc/pid/stat.
 */
bool process_stat_read(const char *which, struct process_stat *out);

#endif
