/*
 * events/unhandled.h - an exception that nothing handles ends the process without another
 * callback. It is seen here before that: nothing was found to catch it, and the oldest frame of the
 * thread was searched (.NET 8, which then ends the process) or is left (later ones, which leave all
 * frames before that). Its type and message are kept from the throw on: the object may move.
 *
 * Costs a throw some 100 ns, and nothing else. Not for processes that are attached to.
 */
#ifndef SHADOWTRACE_EVENTS_UNHANDLED_H
#define SHADOWTRACE_EVENTS_UNHANDLED_H

#include "clr/runtime.h"
#include "metadata/metadata.h"
#include "stack/stack.h"

struct unhandled;
struct unhandled_thread;

struct unhandled_config {
    const struct clr_runtime *runtime; /* borrowed, as is all below */
    struct metadata *metadata;
    bool hooks_all; /* the oldest frame of a shadow stack is that of the thread */
    uintptr_t (*oldest)(void *context); /* else: FunctionID of the calling thread's; 0: not known */
    /* Says so in the log, and waits until it is there. message: UTF-8, "" none. */
    void (*tell)(void *context, const char *type, const char *message);
    void *context;
};

struct unhandled *unhandled_new(const struct unhandled_config *config); /* NULL: no memory */

/*
 * In the callbacks of these names, after the stack was told. u may be NULL.
 * Threads: the one that throws. May wait, once, for the log.
 */
void unhandled_thrown(struct unhandled *u, uintptr_t object);
void unhandled_searched(struct unhandled *u, uintptr_t function); /* ExceptionSearchFunctionEnter */
void unhandled_search_leave(struct unhandled *u);
void unhandled_found(struct unhandled *u);
void unhandled_caught(struct unhandled *u); /* ExceptionCatcherEnter */
void unhandled_filter_enter(struct unhandled *u);
void unhandled_filter_leave(struct unhandled *u);
void unhandled_unwind(struct unhandled *u, uintptr_t function); /* ExceptionUnwindFunctionEnter */

/* The thread of this stack ends. Before thread_ended(). */
void unhandled_thread_ended(struct stack *stack);

#endif
