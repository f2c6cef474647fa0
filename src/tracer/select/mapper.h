/* select/mapper.h - FunctionIDMapper2: which methods get hooks, and what they pass to them. */
#ifndef SHADOWTRACE_SELECT_MAPPER_H
#define SHADOWTRACE_SELECT_MAPPER_H

#include "select/corelib.h"
#include "select/selection.h"

/*
 * mapper_map - the client id of a function that is being compiled: our record with the tags of
 * stack/stack.h; without one, the FunctionID itself. Returns: never 0; *hook says whether it gets
 * hooks.
 * Threads: the compiling one. May run: in the mapper; asks the runtime.
 */
uintptr_t mapper_map(struct selection *s, uintptr_t function_id, int32_t *hook);

/* From JITCachedFunctionSearchStarted: may precompiled code be used? What is refused is compiled,
 * and comes to the mapper. */
bool mapper_accepts_precompiled(struct selection *s, struct corelib *corelib,
                                uintptr_t function_id);

#endif
