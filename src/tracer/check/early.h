/*
 * check/early.h - proof that a walk of the runtime ended before the thread's oldest frame: .NET 8 (and 9 with its older
 * exception handling) goes no further than a method in whose finally, run without an exception, a catch has thrown,
 * while another catch of it runs, and does not even begin (E_FAIL) in that catch itself.
 */
#ifndef SHADOWTRACE_CHECK_EARLY_H
#define SHADOWTRACE_CHECK_EARLY_H

#include "check/walk.h"

/*
 * check_ended_early - has the walk of the calling thread met the youngest of its shadow frames (oldest first) and none
 * of the others, or none at all, though all of those are on the machine's stack? The chain of frame pointers, from the
 * last frame of the walk on, or from here, has to lead to each of them, with the return address its Enter found, and to
 * no other method that a comparison looks at.
 * Threads: the walk's. May run: where the runtime may be asked what code lies at an address.
 */
bool check_ended_early(const struct check_walk *walk, hresult result,
                       const struct stack_copied *shadow, size_t depth);

/* The same of another thread, which is stopped: only of a walk that has met frames. */
bool check_ended_early_there(const struct check_walk *walk, const struct stack_copied *shadow,
                             size_t depth);

#endif
