/*
 * profiler/serve.h - the control socket, and what is answered there from the other rooms.
 */
#ifndef SHADOWTRACE_PROFILER_SERVE_H
#define SHADOWTRACE_PROFILER_SERVE_H

#include "profiler/internal.h"

/* The socket comes before the log, which says why there is none: the program runs on without. 0 or -ENOMEM. */
int serve_open(struct profiler *p);

void serve_start(struct profiler *p); /* from here on others may ask */

/* Which hooks there are, in words of the log. */
const char *serve_hooks(const struct profiler *p);

#endif
