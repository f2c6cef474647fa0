/*
 * check/calls.h - --check-calls: a snapshot from inside of an Enter hook. There the runtime finds
 * no place to begin a walk (.NET 10 refuses, or leaves the youngest frames out), so it is given
 * one: a CONTEXT of the method just entered, at its call of the hook.
 *
 * A method called from native code that has not been let in yet is no managed frame to the runtime:
 * its thread does not run managed code, and there a seed is ignored. Such a frame more in the
 * shadow stack is counted apart.
 */
#ifndef SHADOWTRACE_CHECK_CALLS_H
#define SHADOWTRACE_CHECK_CALLS_H

#include "check/check.h"

/*
 * check_call - compare the calling thread's shadow stack, whose youngest frame was just pushed,
 * with a snapshot.
 * Threads: any, its own stack. May run: in an Enter hook's slow path, where this was asked for by
 *          option only. It asks the runtime and may allocate; a difference is posted as event_post
 *          does.
 */
void check_call(struct check *check, struct stack *stack);

#endif
