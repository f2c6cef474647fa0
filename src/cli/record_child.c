#include "cli/record_child.h"

#include "base/atomics.h"
#include "cli/record_elf.h"
#include "cli/record_library.h"

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

/* A signal that is ignored here (nohup, a shell's background job) is left alone: COMMAND inherits that, too. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
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
 * The kernel sends what is typed at a terminal to its whole foreground group, so COMMAND has it already. A hang-up it
 * sends to the leader of the session first, and if that is us, to us alone. Nor does COMMAND get its own signals back.
 */
static bool has_it_already(const siginfo_t *info, pid_t child)
{
    if (info->si_code == SI_USER && info->si_pid == child)
        return true;
    if (info->si_code != SI_KERNEL || (info->si_signo == SIGHUP && getsid(0) == getpid()))
        return false;
    return getpgid(child) == getpgrp();
}

/* As if SIGTSTP had not been caught: the kernel then knows about groups that nobody could continue. */
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

/* One the kernel refuses is for another CPU or damaged; a shell would take its bytes for commands. */
static bool is_elf(const char *path)
{
    struct record_elf elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && !record_elf_open(&elf, fd);

    if (fd >= 0)
        close(fd);
    errno = ENOEXEC;
    return found;
}

/* In the child. Returns only if there is nothing to execute: errno says why. */
static void execute(const struct record_child *c, const struct signals *s)
{
    int err = record_environment_apply(c->environment);

    if (err) {
        errno = -err;
        return;
    }
    signals_give_back(s);
    execv(c->path, c->argv);
    if (errno == ENOEXEC && !is_elf(c->path))
        execvp(c->path, c->argv); /* as a shell does with a script that lacks its #! */
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

/*
 * What the child says on the pipe, which closes when it becomes COMMAND: that the library loaded, or what is wrong with
 * it; then an errno, if there is nothing to execute.
 */
enum { SAYS_LOADED = 'L', SAYS_WRONG = 'W' };

struct report {
    char loaded; /* SAYS_*; 0: it ended while it loaded the library */
    int err;
    char wrong[1024];
};

static void report_write(int fd, const void *data, size_t size)
{
    while (write(fd, data, size) < 0 && errno == EINTR) /* less than PIPE_BUF: all or nothing */
        ;
}

/* Until the other end is closed. */
static size_t read_all(int fd, char *data, size_t size)
{
    size_t used = 0;
    ssize_t got;

    while (used < size) {
        got = read(fd, data + used, size - used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    return used;
}

static void report_read(int fd, struct report *report)
{
    memset(report, 0, sizeof(*report));
    if (read_all(fd, &report->loaded, 1) != 1)
        return;
    if (report->loaded == SAYS_WRONG)
        read_all(fd, report->wrong, sizeof(report->wrong) - 1);
    else if (read_all(fd, (char *)&report->err, sizeof(report->err)) != sizeof(report->err))
        report->err = 0;
}

/* In the child. */
static _Noreturn void become(const struct record_child *c, const struct signals *s, int fd)
{
    const char *wrong = c->library ? record_library_try(c->library) : NULL;
    const char said = wrong ? SAYS_WRONG : SAYS_LOADED;
    int err;

    report_write(fd, &said, 1);
    if (wrong) {
        report_write(fd, wrong, strnlen(wrong, sizeof(((struct report *)0)->wrong) - 1));
        _exit(CLI_IO);
    }
    execute(c, s);
    err = errno;
    report_write(fd, &err, sizeof(err));
    _exit(RECORD_NOT_EXECUTABLE);
}

static void reap(pid_t child, int *status)
{
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
}

/* What became of the child: it runs, and is waited for, or it said why it does not. */
static int follow(const struct record_child *c, pid_t child, const struct report *report,
                  const struct signals *signals, int *status, struct record_why *why)
{
    int ended = 0;

    if (report->loaded == SAYS_LOADED && !report->err) {
        *status = wait_for(child, c, signals);
        return 0;
    }
    reap(child, &ended);
    if (report->loaded == SAYS_LOADED)
        return refuse_exec(c->path, report->err, why);
    return record_library_refuse(c->library, report->wrong, ended, why);
}

int record_child_run(const struct record_child *c, int *status, struct record_why *why)
{
    struct signals signals;
    struct report report;
    int fds[2], err;
    pid_t child;

    if (pipe2(fds, O_CLOEXEC))
        return record_refuse(why, CLI_IO, "no pipe: %s", strerror(errno));
    signals_take(&signals);
    child = fork();
    if (child == 0)
        become(c, &signals, fds[1]);
    err = errno;
    close(fds[1]);
    if (child > 0)
        report_read(fds[0], &report);
    close(fds[0]);
    err = child < 0 ? record_refuse(why, CLI_IO, "no process: %s", strerror(err))
                    : follow(c, child, &report, &signals, status, why);
    signals_drop(&signals);
    signals_give_back(&signals);
    return err;
}
