/*
 * base/peek.h - memory of this process that may not be there. A fault would end the program, so the
 * kernel copies; where it may not (seccomp), such memory is unreadable.
 */
#ifndef SHADOWTRACE_BASE_PEEK_H
#define SHADOWTRACE_BASE_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEEK_SOME_MAX 65536 /* bytes */

/*
 * peek - copy size bytes at `from` (0: nothing is there). Returns: whether all could be read.
 * Threads: any. May run: anywhere; one system call, errno is kept.
 */
bool peek(void *to, uintptr_t from, size_t size);

/* peek_some - as many bytes as can be read, PEEK_SOME_MAX at most. Returns: how many. */
size_t peek_some(void *to, uintptr_t from, size_t size);

#endif
