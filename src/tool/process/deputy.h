/*
 * process/deputy.h - a child process that works in folders which another user controls.
 *
 * The owner of a folder can rename, replace or mount over everything in it at any moment. A check
 * made by a process with more rights therefore always comes too early, and root never touches a
 * path there. A deputy does: it has the user and group id of the inspected process, no other group
 * and no capability, and it resolves paths below that process's root. It reaches only files that
 * this user could reach anyway: the kernel decides, not a check in this program.
 *
 * Two facts make the ids safe. /proc/PID, held open, never names a later process with the same
 * number. The root is opened before the ids are read, and a process in a namespace of an
 * unprivileged user cannot gain an id that this user lacks, because set-uid programs have no effect
 * there.
 */
#ifndef SHADOWTRACE_PROCESS_DEPUTY_H
#define SHADOWTRACE_PROCESS_DEPUTY_H

#include <stdbool.h>
#include <sys/types.h>

struct deputy {
    int process; /* /proc/PID; -1: none */
    int root;    /* of its file system; -1: none */
    uid_t uid;   /* its effective ids */
    gid_t gid;
};

#define DEPUTY_NONE ((struct deputy){.process = -1, .root = -1})

/*
 * deputy_open - the process whose rights a deputy will have.
 * Returns: 0; -ESRCH; -EPERM: it belongs to another user, and this one is not root; -errno.
 * Owns:    deputy_close, even on failure.
 */
int deputy_open(struct deputy *d, long pid);

/*
 * deputy_of_user - a user without a process, and without its group, in our own root. For root.
 * Returns, Owns: the same.
 */
int deputy_of_user(struct deputy *d, uid_t uid);
void deputy_close(struct deputy *d);

/* deputy_lives - whether the process that was opened still exists; never another of its number. */
bool deputy_lives(const struct deputy *d);

/*
 * deputy_run - calls work(d, context, out) in a deputy, which then exits.
 * work:    returns 0, a count or -errno; may put a descriptor into *out. It sees a copy of our
 *          memory.
 * Returns: what work returned; -ETIMEDOUT after `seconds`, when the deputy is killed;
 *          -ECANCELED: somebody killed it; -errno. out: NULL, or the descriptor that work gave,
 *          -1 for none.
 * Threads: a process with one thread.
 */
typedef int deputy_work(const struct deputy *d, void *context, int *out);
int deputy_run(const struct deputy *d, unsigned seconds, deputy_work *work, void *context,
               int *out);

/*
 * deputy_folder - in a deputy: opens a folder by its absolute path, as the process resolves it:
 * links stay below its root. A kernel without openat2, or a seccomp filter that refuses it,
 * costs the links: then a path with one is refused.
 * Returns: a descriptor or -errno; -ELOOP, -ENOTDIR: a link.
 */
int deputy_folder(const struct deputy *d, const char *path);

#endif
