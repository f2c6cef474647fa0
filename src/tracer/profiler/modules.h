/*
 * profiler/modules.h - modules: each as it is loaded, and all that are once somebody begins to ask.
 */
#ifndef SHADOWTRACE_PROFILER_MODULES_H
#define SHADOWTRACE_PROFILER_MODULES_H

#include "profiler/internal.h"

/* modules_meet - one that is loaded. Threads: any. May run: in a callback. */
void modules_meet(struct profiler *p, uintptr_t module_id);

/* modules_gone - one that is about to be unloaded. Threads: any. May run: in a callback. */
void modules_gone(struct profiler *p, uintptr_t module_id);

/* modules_all - `meet` for each that is loaded now. Threads: any, in preemptive mode. */
void modules_all(struct profiler *p, void (*meet)(struct profiler *p, uintptr_t module_id));

/*
 * modules_describe - all, from here on: a sample's type is asked for where nothing can be made any
 * more. Only modules that the runtime has reported as loaded are asked about, and none of them is
 * unloaded meanwhile: the runtime enumerates others, too, and crashes over questions about those.
 * Before the samples begin, so that a program that ends before them does not pay.
 */
void modules_describe(struct profiler *p);

#endif
