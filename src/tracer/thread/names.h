/*
 * thread/names.h - names that threads are given, often before they have an operating system thread:
 * kept by ThreadID until ThreadAssignedToOSThread tells which it is.
 */
#ifndef SHADOWTRACE_THREAD_NAMES_H
#define SHADOWTRACE_THREAD_NAMES_H

#include "event/event.h"

#include <pthread.h>

struct thread_names {
    pthread_mutex_t lock;    /* guards the list; held for list work only */
    _Atomic(uint32_t) given; /* counts what changes an answer of thread_names_find() */
    struct thread_name {
        struct thread_name *next;
        uintptr_t thread_id;
        uint32_t os; /* 0: not assigned yet */
        char *name;  /* UTF-8, NULL: none given */
    } * first;
};

#define THREAD_NAMES_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER, 0, NULL \
    }

/*
 * Both return an event payload for EVENT_THREAD_NAME once name and OS thread are known, else NULL;
 * the caller posts it. Threads: any. May run: in the callback of the same purpose.
 */
struct event_name *thread_names_assigned(struct thread_names *names, uintptr_t thread_id,
                                         uint32_t os);
struct event_name *thread_names_given(struct thread_names *names, uintptr_t thread_id,
                                      const char *name);
/* The name of the thread with that gettid(), cut to fit. Returns: has it one? Threads: any. */
bool thread_names_find(struct thread_names *names, uint32_t os, char *text, size_t size);
void thread_names_destroyed(struct thread_names *names,
                            uintptr_t thread_id); /* the id may be used again */

#endif
