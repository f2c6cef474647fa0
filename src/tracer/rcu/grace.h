/*
 * rcu/grace.h - read sections and grace periods (RCU) for the program's threads, with liburcu.
 * Memory that a section reaches through a published pointer stays valid until a grace_wait()
 * returns that began after the pointer was withdrawn.
 *
 * liburcu's readers are registered threads. Its bulletproof flavor registers them automatically in
 * memory that it maps, and aborts if it gets none. So this is a flavor that allocates nothing, with
 * a separate registry: a thread registers at its first section, and a destructor of thread-specific
 * data unregisters it. A thread that cannot register (out of memory, or its last destructors are
 * running) is refused, and its sections are counted instead. The flavor is liburcu-memb: who waits
 * has the kernel put a barrier into each running thread (membarrier(2), as the runtime does), so
 * that a section needs none.
 *
 *                              | grace_enter, grace_leave     | grace_wait
 *   enter, leave at once       | safe                         | safe
 *   grace_wait at once         | safe; the first section of a | safe; one waits for the other
 *                              | thread may wait for a moment |
 */
#ifndef SHADOWTRACE_RCU_GRACE_H
#define SHADOWTRACE_RCU_GRACE_H

/* A section: where it is counted, for a thread that is not registered; else GRACE_REGISTERED. */
struct grace_section {
    int counted;
};

#define GRACE_REGISTERED (-1)

/*
 * Sections nest, and are short: no call that may wait.
 * Threads: any, unannounced; left on the thread that entered. May run: in callbacks and in
 *          destructors of thread-specific data; not in a hook's fast path, not in a signal handler.
 */
struct grace_section grace_enter(void);
void grace_leave(struct grace_section section);

/*
 * grace_register_none - no thread registers from here on: nothing of this library may run when one
 * ends, for it will have been unloaded. Threads: one, before the first section.
 */
void grace_register_none(void);

/*
 * grace_wait - until every section that was open when it was called has ended.
 * Threads: any that is in no section. May run: where waiting is allowed; a child of fork() may wait
 *          for ever.
 */
void grace_wait(void);

#endif
