#include "process/deputy.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_GROUP 65534 /* what Linux shows for one that it does not know */

/* ---- whose rights ---- */

/*
 * The second number of a line: "Uid:\t1000\t1000\t1000\t1000" has the real id, then the
 * effective one.
 */
static bool take_effective(const char *text, const char *label, unsigned *out)
{
    const char *line = strstr(text, label);

    return line && sscanf(line + strlen(label), "%*u %u", out) == 1;
}

/* Read below the open /proc/PID: that fails once the process is gone. */
static int read_ids(struct deputy *d)
{
    char text[4096];
    int fd = openat(d->process, "status", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    int err = got < 0 ? -errno : 0;

    if (fd >= 0)
        close(fd);
    if (err)
        return err == -ENOENT ? -ESRCH : err;
    text[got] = '\0';
    return take_effective(text, "\nUid:", &d->uid) && take_effective(text, "\nGid:", &d->gid)
               ? 0
               : -EPROTO;
}

static int open_both(struct deputy *d, const char *path)
{
    d->process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (d->process < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    d->root = openat(d->process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (d->root < 0)
        return errno == ENOENT ? -ESRCH : -errno; /* a zombie has none */
    return read_ids(d);                           /* after the root: see deputy.h */
}

int deputy_open(struct deputy *d, long pid)
{
    char path[64];
    int err;

    *d = DEPUTY_NONE;
    snprintf(path, sizeof(path), "/proc/%ld", pid);
    err = open_both(d, path);
    return !err && geteuid() && d->uid != geteuid() ? -EPERM : err;
}

int deputy_of_user(struct deputy *d, uid_t uid)
{
    *d = (struct deputy){.process = -1, .uid = uid, .gid = NO_GROUP};
    d->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return d->root < 0 ? -errno : 0;
}

void deputy_close(struct deputy *d)
{
    if (d->process >= 0)
        close(d->process);
    if (d->root >= 0)
        close(d->root);
    *d = DEPUTY_NONE;
}

bool deputy_lives(const struct deputy *d)
{
    return d->process >= 0 && !faccessat(d->process, "status", F_OK, 0);
}

/* ---- the child ---- */

/*
 * From here on the kernel holds us to what that user may do. The groups go first: root's own
 * must not stay. Who is not root has only itself to be. The capabilities are dropped explicitly,
 * because the ids alone do not when the id is 0.
 */
static int become(const struct deputy *d)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};

    if (!geteuid() && (setgroups(0, NULL) || setresgid(d->gid, d->gid, d->gid)))
        return -errno;
    if (setresuid(d->uid, d->uid, d->uid) || syscall(SYS_capset, &header, none) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* our memory is a copy of root's: no debugger of theirs */
    return 0;
}

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static void answer(int socket, int err, int fd)
{
    union control control = {.room = ""};
    struct iovec part = {&err, sizeof(err)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    }
    sendmsg(socket, &message, MSG_NOSIGNAL);
}

static _Noreturn void serve(const struct deputy *d, int socket, deputy_work *work, void *context)
{
    int fd = -1, err = become(d);

    if (!err)
        err = work(d, context, &fd);
    answer(socket, err, fd);
    _exit(0); /* what stdio holds is the parent's to write */
}

/* ---- the parent ---- */

static int receive(int socket, int *fd)
{
    union control control = {.room = ""};
    int err = 0;
    struct iovec part = {&err, sizeof(err)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    const struct cmsghdr *header;

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(err))
        return -ECANCELED;
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(header), sizeof(*fd));
    return err;
}

static int wait_for(int socket, unsigned seconds)
{
    struct pollfd fd = {socket, POLLIN, 0};
    int n;

    do
        n = poll(&fd, 1, (int)seconds * 1000);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n > 0 ? 0 : -ETIMEDOUT;
}

int deputy_run(const struct deputy *d, unsigned seconds, deputy_work *work, void *context, int *out)
{
    int pair[2], fd = -1, err;
    pid_t child;

    if (out)
        *out = -1;
    if (d->root < 0)
        return -ESRCH;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -errno;
    child = fork();
    err = child < 0 ? -errno : 0;
    if (!child) {
        close(pair[0]);
        serve(d, pair[1], work, context);
    }
    close(pair[1]);
    if (!err)
        err = wait_for(pair[0], seconds);
    if (!err)
        err = receive(pair[0], &fd);
    close(pair[0]);
    if (child > 0) {
        kill(child, SIGKILL); /* it has answered, or never will */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (out && err >= 0)
        *out = fd;
    else if (fd >= 0)
        close(fd);
    return err;
}

/* ---- in the child ---- */

/* One name after the other, without links. */
static int walk(int root, const char *path)
{
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
    char name[NAME_MAX + 1];

    for (path += strspn(path, "/"); at >= 0 && *path; path += strspn(path, "/")) {
        size_t length = strcspn(path, "/");

        snprintf(name, sizeof(name), "%.*s", (int)length, path);
        errno = length > NAME_MAX ? ENAMETOOLONG : EXDEV;
        next = length > NAME_MAX || !strcmp(name, "..")
                   ? -1
                   : openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
        path += length;
    }
    if (at < 0)
        return -errno;
    next = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(at);
    return next < 0 ? -errno : next;
}

int deputy_folder(const struct deputy *d, const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, d->root, path, &how, sizeof(how));

    if (fd >= 0)
        return (int)fd;
    return errno == ENOSYS || errno == EPERM || errno == EAGAIN ? walk(d->root, path) : -errno;
}
