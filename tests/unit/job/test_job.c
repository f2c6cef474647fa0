#include "job/job.h"

#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY ((uint64_t)64 << 20)

static int number = 1;

static int ends(struct job *job, uint64_t *size, char why[JOB_WHY_SIZE])
{
    int err = 0;

    while (!job_poll(job, &err, size, why))
        poll(NULL, 0, 1);
    return err;
}

static int writes(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    (void)why;
    number = 2;
    fprintf(out, "%s %d", (const char *)context, number);
    return 0;
}

TEST(what_a_job_writes_is_there_and_what_it_changes_is_its_own)
{
    char why[JOB_WHY_SIZE], text[20] = "";
    uint64_t size = 0;
    struct job job;

    assert_int_equal(job_start(&job, writes, (void *)(uintptr_t) "answer", MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), 0);
    assert_int_equal(size, 8);
    assert_int_equal(pread(job.fd, text, sizeof(text), 0), 8);
    assert_string_equal(text, "answer 2");
    assert_int_equal(number, 1);
    job_kill(&job);
}

static int fails(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    fputs("half an answer", out);
    snprintf(why, JOB_WHY_SIZE, "%s", (const char *)context);
    return -ENOENT;
}

TEST(why_a_job_failed_is_told)
{
    char why[JOB_WHY_SIZE];
    uint64_t size;
    struct job job;

    assert_int_equal(job_start(&job, fails, (void *)(uintptr_t) "no such thing", MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), -EIO);
    assert_string_equal(why, "no such thing");
    job_kill(&job);
    assert_int_equal(job_start(&job, fails, (void *)(uintptr_t) "", MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), -EIO);
    assert_string_equal(why, "No such file or directory");
    job_kill(&job);
}

static int takes_too_much(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    volatile char *block = memory_alloc(4 * MEMORY);

    (void)context;
    (void)why;
    fputs("a", out);
    if (!block)
        return -ENOMEM;
    *block = 1;
    return 0;
}

#ifndef __SANITIZE_ADDRESS__ /* whose allocator ends the process */
TEST(a_job_has_so_much_memory_and_no_more)
{
    char why[JOB_WHY_SIZE];
    uint64_t size;
    struct job job;

    assert_int_equal(job_start(&job, takes_too_much, NULL, MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), -EIO);
    assert_string_equal(why, "out of memory");
    job_kill(&job);
    assert_int_equal(job_start(&job, takes_too_much, NULL, 8 * MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), 0);
    job_kill(&job);
}
#endif

static int dies(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    (void)context;
    (void)out;
    (void)why;
    raise(SIGKILL);
    return 0;
}

TEST(a_job_that_dies_is_a_failure)
{
    char why[JOB_WHY_SIZE];
    uint64_t size;
    struct job job;

    assert_int_equal(job_start(&job, dies, NULL, MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), -EIO);
    assert_non_null(strstr(why, "signal 9"));
    job_kill(&job);
}

static int looks(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    (void)why;
    fputc(fcntl(*(int *)context, F_GETFD) < 0 ? 'n' : 'y', out);
    return 0;
}

TEST(a_job_holds_no_connection_open)
{
    char why[JOB_WHY_SIZE], has = 0;
    uint64_t size;
    struct job job;
    int ends_of[2];

    assert_int_equal(pipe(ends_of), 0);
    assert_int_equal(job_start(&job, looks, &ends_of[1], MEMORY), 0);
    assert_int_equal(ends(&job, &size, why), 0);
    assert_int_equal(pread(job.fd, &has, 1, 0), 1);
    assert_int_equal(has, 'n');
    job_kill(&job);
    close(ends_of[0]);
    close(ends_of[1]);
}

static int __attribute__((noreturn)) waits(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    (void)context;
    (void)out;
    (void)why;
    pause();
    abort();
}

TEST(a_job_can_be_killed)
{
    struct job job;
    pid_t pid;

    assert_int_equal(job_start(&job, waits, NULL, MEMORY), 0);
    pid = job.pid;
    job_kill(&job);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
    assert_int_equal(job.fd, -1);
    job_kill(&job);
}
