/*
 * profiler/registers.h - on a runtime newer than those that this build was tested on: do the ELT3
 * hooks find in their registers what they take from them?
 */
#ifndef SHADOWTRACE_PROFILER_REGISTERS_H
#define SHADOWTRACE_PROFILER_REGISTERS_H

#include "profiler/internal.h"

/*
 * registers_expected - stack_config.expected; context: the profiler. The client id has to be one
 * that the mapper gave out, and the caller's SP has to fit the method's frame pointer. Each thread
 * asks before its first frame; where enough have held, the rest is believed. After the first that
 * does not hold none is, and each Enter that asks is counted in guard.hooks.
 */
bool registers_expected(void *context, uintptr_t method, struct frame_at at);

/*
 * registers_left_as_expected - stack_config.left_as_expected: the same of a Leave. Where its
 * registers are unexpected, every Leave is without its frame, so that each thread's first one asks.
 */
bool registers_left_as_expected(void *context, uintptr_t method, uintptr_t sp);

#endif
