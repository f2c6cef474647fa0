/* profiler/serve.h - the control socket, and what is answered there from the other rooms. */
#ifndef SHADOWTRACE_PROFILER_SERVE_H
#define SHADOWTRACE_PROFILER_SERVE_H

#include "profiler/internal.h"

/* Before the log, which says why there is no socket: the program runs without. 0 or -ENOMEM. */
int serve_open(struct profiler *p);

void serve_start(struct profiler *p); /* from here on others may ask */

/* Which hooks there are, in words of the log. */
const char *serve_hooks(const struct profiler *p);

/*
 * serve_heap_at_exit - --heap-at-exit: waits for the dump, at most 60 s. From Shutdown, while all
 * else still runs.
 */
void serve_heap_at_exit(struct profiler *p);

#endif
