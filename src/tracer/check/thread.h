/*
 * check/thread.h - what a thread that compares itself keeps. Inside of src/tracer/check/ only.
 */
#ifndef SHADOWTRACE_CHECK_THREAD_H
#define SHADOWTRACE_CHECK_THREAD_H

#include "check/seed.h"
#include "check/walk.h"

struct check_thread {
    struct check_walk walk;
    struct seed *seed; /* NULL until a walk needs one */
};

bool check_thread_ready(struct check *check, struct check_thread **thread); /* made if it is NULL */
struct seed *check_thread_seed(struct check_thread *thread); /* NULL when memory ran out */

#endif
