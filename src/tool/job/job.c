#include "job/job.h"

#include "base/error.h"
#include "base/file.h"
#include "command/command.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILED 1 /* exit status; the text is why */

/*
 * Its standard output is closed to it, and so is every connection: clients see their ends at once.
 */
static void close_all_but(int fd)
{
    if (fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0U, 0);
}

static void limit_memory(uint64_t more)
{
    struct rlimit limit;
    char text[64];
    uint64_t pages;

    if (!file_read_text("/proc/self/statm", text, sizeof(text)) || getrlimit(RLIMIT_AS, &limit))
        return;
    pages = strtoull(text, NULL, 10);
    more += pages * (uint64_t)sysconf(_SC_PAGESIZE);
    if (limit.rlim_max == RLIM_INFINITY || more < limit.rlim_max)
        limit.rlim_cur = more;
    (void)setrlimit(RLIMIT_AS, &limit); /* a limit that cannot be set is none */
}

/* As a separate process: restores signals that were redirected to a descriptor. */
static void settle(int fd, uint64_t max_memory)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_all_but(fd);
    limit_memory(max_memory);
    alarm(JOB_SECONDS);
}

static _Noreturn void fail(int fd, const char *why)
{
    size_t size = strlen(why);

    if (ftruncate(fd, 0) || pwrite(fd, why, size, 0) != (ssize_t)size)
        _exit(FAILED + 1);
    _exit(FAILED);
}

static _Noreturn void work_in_copy(int fd, job_work *work, void *context, uint64_t max_memory)
{
    char why[JOB_WHY_SIZE] = "";
    FILE *out;
    int err;

    settle(fd, max_memory);
    out = fdopen(fd, "w");
    err = out ? work(context, out, why) : -errno;
    if (!err && (fflush(out) || ferror(out)))
        err = -ENOMEM; /* of what lies in memory nothing else can fail */
    if (err)
        fail(fd, *why ? why : error_text(err));
    _exit(0);
}

int job_start(struct job *job, job_work *work, void *context, uint64_t max_memory)
{
    int fd = memfd_create("answer", MFD_CLOEXEC), err;
    pid_t pid;

    *job = (struct job){.fd = -1};
    if (fd < 0)
        return -errno;
    fflush(NULL); /* or the copy would write it once more */
    pid = fork();
    if (pid == 0)
        work_in_copy(fd, work, context, max_memory);
    if (pid < 0) {
        err = -errno;
        close(fd);
        return err;
    }
    *job = (struct job){pid, fd};
    return 0;
}

bool job_poll(struct job *job, int *err, uint64_t *size, char why[JOB_WHY_SIZE])
{
    int status = 0;
    struct stat st;
    ssize_t got;
    pid_t pid = waitpid(job->pid, &status, WNOHANG);

    if (pid == 0 || (pid < 0 && errno == EINTR))
        return false;
    job->pid = 0;
    *why = '\0';
    *size = fstat(job->fd, &st) ? 0 : (uint64_t)st.st_size;
    *err = pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
    if (pid > 0 && WIFSIGNALED(status)) {
        if (WTERMSIG(status) == SIGALRM)
            snprintf(why, JOB_WHY_SIZE, "it took more than %d s", JOB_SECONDS);
        else
            snprintf(why, JOB_WHY_SIZE, "the process that made the answer was ended by signal %d",
                     WTERMSIG(status));
    } else if (*err) {
        got = file_read_at(job->fd, why, JOB_WHY_SIZE - 1, 0);
        why[got > 0 ? got : 0] = '\0';
    }
    return true;
}

void job_kill(struct job *job)
{
    if (job->pid > 0) {
        kill(job->pid, SIGKILL);
        while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (job->fd >= 0)
        close(job->fd);
    *job = (struct job){.fd = -1};
}

int job_signals(const struct cli_command *command, int *out)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    *out = sigprocmask(SIG_BLOCK, &set, NULL) ? -1 : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return cli_failed(command, *out < 0 ? -errno : 0);
}

uint64_t job_memory(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}
