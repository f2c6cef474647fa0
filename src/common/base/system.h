/*
 * base/system.h - system calls for which musl or an older glibc has no function.
 */
#ifndef SHADOWTRACE_BASE_SYSTEM_H
#define SHADOWTRACE_BASE_SYSTEM_H

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* As rename, but fails if the new name exists. Returns: 0, or -1 with errno. */
static inline int rename_noreplace(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u /* RENAME_NOREPLACE */);
}

/* As tgkill. Returns: 0, or -1 with errno. */
static inline int thread_kill(pid_t process, pid_t thread, int number)
{
    return (int)syscall(SYS_tgkill, process, thread, number);
}

#endif
