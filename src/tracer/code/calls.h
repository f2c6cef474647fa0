/* code/calls.h - the calls of a piece of code, where no CPU matters: marking and keeping them. */
#ifndef SHADOWTRACE_CODE_CALLS_H
#define SHADOWTRACE_CODE_CALLS_H

#include "code/cpu_code.h"

#define CALLS_JUMPS 64

/* The calls and the jumps around them, while code is read. Large: only its counts are cleared. */
struct calls_marks {
    uint64_t target[CPU_CALLS], first[CPU_CALLS];
    size_t at[CPU_CALLS], end[CPU_CALLS], from[CALLS_JUMPS], to[CALLS_JUMPS];
    uint32_t calls, jumps;
    bool more_calls, more_jumps;
};

void calls_begin(struct calls_marks *marks);

/* target, first: where it goes, and its first argument, as far as two calls can be compared. */
void calls_mark(struct calls_marks *marks, size_t at, size_t end, uint64_t target, uint64_t first);

/* to: relative to `at`. */
void calls_mark_jump(struct calls_marks *marks, size_t at, int64_t to);

/* size: of the code; what leaves it throws, or goes on. */
void calls_end(const struct calls_marks *marks, size_t size, struct cpu_calls *out);

/* Of the calls in a piece of code those that go where the one in question goes. */
struct cpu_rank {
    uint32_t place; /* of the one in question: 0 is the first */
    uint32_t count; /* 0: unknown; UINT32_MAX: too many to distinguish */
    bool ordered;   /* no jump passes one of them: they lie in the order in which they run */
};

/*
 * Calls of pieces of code that stays: a piece is read once, however many calls in it are asked for.
 * One thread's own; memory_free ends it.
 */
struct calls_memo;
struct calls_memo *calls_memo_new(void); /* NULL: no memory */

/*
 * calls_rank - the place of the call that ends at ret, in code[0, size), which begins with a whole
 * instruction. by_argument: calls are equal only if their first argument looks the same (it is the
 * class for helpers that make objects). memo: NULL if the code may be unloaded, or without memory.
 * Returns: its place. Unknown: code that cannot be read as instructions, no call before ret.
 * Threads: any, while the code stays where it is.
 */
struct cpu_rank calls_rank(struct calls_memo *memo, const uint8_t *code, size_t size, size_t ret,
                           bool by_argument);

#endif
