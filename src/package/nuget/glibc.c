/*
 * What the package's programs use of glibc and glibc had not yet at the oldest version they are
 * linked for (stubs.py): hidden here, so that it comes before the C library's own. Linked into the
 * package's command and library only; what is built for this machine uses its glibc.
 */
#include "base/cpu.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define LAYOUT CPU_STAT_LAYOUT

/* stat, lstat, fstat and fstatat were inline functions over these until 2.33. */
int __xstat(int layout, const char *path, struct stat *out);
int __lxstat(int layout, const char *path, struct stat *out);
int __fxstat(int layout, int fd, struct stat *out);
int __fxstatat(int layout, int folder, const char *path, struct stat *out, int flags);

HIDDEN int stat(const char *restrict path, struct stat *restrict out)
{
    return __xstat(LAYOUT, path, out);
}

HIDDEN int lstat(const char *restrict path, struct stat *restrict out)
{
    return __lxstat(LAYOUT, path, out);
}

HIDDEN int fstat(int fd, struct stat *out)
{
    return __fxstat(LAYOUT, fd, out);
}

HIDDEN int fstatat(int folder, const char *restrict path, struct stat *restrict out, int flags)
{
    return __fxstatat(LAYOUT, folder, path, out, flags);
}

/* Since 2.28; the system call is older, and its callers know that a file system may refuse it. */
HIDDEN int renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

/* Since 2.27; the system call is older. */
HIDDEN int memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

/* Since 2.25; the system call is older. */
HIDDEN ssize_t getrandom(void *out, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, out, size, flags);
}

/* Both since 2.30. */
HIDDEN pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

HIDDEN int tgkill(pid_t process, pid_t thread, int signal)
{
    return (int)syscall(SYS_tgkill, process, thread, signal);
}
