/*
 * base/grace.h - read sections and grace periods (RCU) for threads that are not ours. What is reached through a published
 * pointer in a section stays until grace_wait(), begun after the pointer was taken back, has returned.
 *
 * A section is a count in one of a few cache lines. liburcu keeps a record per thread instead, which is cheaper for who
 * has sections all the time; ours are rare, and that record has to come from somewhere: the bulletproof flavour maps
 * memory and aborts when there is none, and the thread-local word of every flavour is allocated by the dynamic linker at
 * its first use, which ends the process when malloc fails. Here nothing is registered, so that nothing can be refused,
 * and nothing is left behind by a thread that ends without notice.
 *
 *                              | grace_enter, grace_leave | grace_wait
 *   enter, leave at once       | safe (wait-free)         | safe
 *   grace_wait at once         | safe (wait-free)         | safe; one waits for the other
 */
#ifndef SHADOWTRACE_BASE_GRACE_H
#define SHADOWTRACE_BASE_GRACE_H

/* A section: where it is counted. */
struct grace_section {
    unsigned at;
};

/*
 * Sections nest, and are short: no call that may wait.
 * Threads: any, unannounced. May run: anywhere, in a signal handler and a destructor of thread-specific data, too.
 */
struct grace_section grace_enter(void);
void grace_leave(struct grace_section section); /* on the thread that entered or on another */

/*
 * grace_wait - until every section that was open when it was called has ended.
 * Threads: any that is in no section. May run: where waiting is allowed; a child of fork() may wait for ever.
 */
void grace_wait(void);

#endif
