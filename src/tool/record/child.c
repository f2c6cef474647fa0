#include "record/child.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "record/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

/* What this process had before, which COMMAND shall have. */
struct signals {
    sigset_t waited, mask;
    struct sigaction child; /* of SIGCHLD: ignored, there would be no exit status */
};

/* Signals ignored here (nohup, a background job) are left alone: COMMAND inherits that. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

static struct sigaction pipe_before;
static bool pipe_ignored;

void record_child_ignore_pipe(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    pipe_ignored = !sigaction(SIGPIPE, &ignore, &pipe_before);
}

static void signals_take(struct signals *s)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};

    sigemptyset(&s->waited);
    sigaddset(&s->waited, SIGCHLD);
    for (size_t i = 0; i < COUNT_OF(forwarded); i++)
        if (!is_ignored(forwarded[i]))
            sigaddset(&s->waited, forwarded[i]);
    sigaction(SIGCHLD, &standard, &s->child);
    sigprocmask(SIG_BLOCK, &s->waited, &s->mask);
}

static void signals_give_back(const struct signals *s)
{
    sigaction(SIGCHLD, &s->child, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* One that came as COMMAND ended was meant for it: the summary is still written. */
static void signals_drop(const struct signals *s)
{
    static const struct timespec now = {0, 0};

    while (sigtimedwait(&s->waited, NULL, &now) > 0)
        ;
}

/*
 * The kernel sends what is typed at a terminal to its whole foreground group, so COMMAND has it
 * already. A hang-up it sends to the leader of the session first, and if that is us, to us alone.
 * Nor does COMMAND get its own signals back.
 */
static bool has_it_already(const siginfo_t *info, pid_t child)
{
    if (info->si_code == SI_USER && info->si_pid == child)
        return true;
    if (info->si_code != SI_KERNEL || (info->si_signo == SIGHUP && getsid(0) == getpid()))
        return false;
    return getpgid(child) == getpgrp();
}

/* As if SIGTSTP had not been caught: the kernel knows of groups that nobody could continue. */
static void stop_here(void)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops in here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int wait_for(pid_t child, const struct record_child *c, const struct signals *s)
{
    static const struct timespec second = {1, 0};
    siginfo_t info;
    int status;

    for (;;) {
        int number =
            c->tick ? sigtimedwait(&s->waited, &info, &second) : sigwaitinfo(&s->waited, &info);
        bool idle = number < 0 && errno == EAGAIN; /* the second is over */
        pid_t ended = waitpid(child, &status, WNOHANG);

        if (ended == child)
            return exit_status(status);
        if (ended < 0 && errno == ECHILD)
            return CLI_IO; /* somebody else reaped it: cannot be, with one thread */
        if (idle && c->tick)
            c->tick(c->context);
        if (number <= 0 || number == SIGCHLD)
            continue;
        if (!has_it_already(&info, child))
            kill(child, number);
        if (number == SIGTSTP)
            stop_here();
    }
}

/* One the kernel refuses is damaged or for another CPU; a shell would run its bytes. */
static bool is_elf(const char *path)
{
    struct record_elf elf;
    bool found = !record_elf_open(&elf, open(path, O_RDONLY | O_CLOEXEC));

    record_elf_close(&elf);
    errno = ENOEXEC;
    return found;
}

static int refuse_exec(const char *path, int err, struct record_why *why)
{
    if (err == ENOENT) /* the file was there a moment ago */
        return record_refuse(why, RECORD_NOT_FOUND,
                             "%s: its interpreter is missing (the first line of a script, or the "
                             "dynamic linker a program names)",
                             path);
    return record_refuse(why, RECORD_NOT_EXECUTABLE, "%s cannot be executed: %s", path,
                         strerror(err));
}

/* Written by the child, which shares our memory until it is COMMAND; unknown to the compiler. */
struct start {
    const struct signals *signals;
    char **environment;
    volatile int err; /* why there is nothing to execute; 0: it became COMMAND */
};

/* In the child. Dispositions and mask of signals are its own. */
static _Noreturn void become(const struct record_child *c, struct start *start)
{
    signals_give_back(start->signals);
    if (pipe_ignored)
        sigaction(SIGPIPE, &pipe_before, NULL);
    execve(c->path, c->argv, start->environment);
    if (errno == ENOEXEC && !is_elf(c->path)) /* as a shell does with a script that lacks its #! */
        execvpe(c->path, c->argv, start->environment);
    start->err = errno;
    _exit(RECORD_NOT_EXECUTABLE);
}

static void reap(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* By vfork, which copies nothing: we wait until the child is COMMAND, or has ended. */
int record_child_run(const struct record_child *c, int *status, struct record_why *why)
{
    struct signals signals;
    struct start start = {.signals = &signals,
                          .environment = record_environment_list(c->environment)};
    pid_t child;
    int err = 0;

    if (!start.environment)
        return record_refuse(why, CLI_IO, "out of memory");
    signals_take(&signals);
    child = vfork();
    if (child == 0)
        become(c, &start);
    if (child < 0) {
        err = record_refuse(why, CLI_IO, "no process: %s", strerror(errno));
    } else if (start.err) {
        reap(child);
        err = refuse_exec(c->path, start.err, why);
    } else {
        *status = wait_for(child, c, &signals);
    }
    signals_drop(&signals);
    signals_give_back(&signals);
    memory_free(start.environment);
    return err;
}
