/*
 * job/job.h - work on a copy: a process is forked from this one, which has all it knows, writes
 * its answer into memory that both see, and ends. So an answer may change what it is made of (paths
 * become logical ones, cells are joined), may run out of memory, or may die, and nobody else
 * notices; and logs are read on meanwhile.
 */
#ifndef SHADOWTRACE_JOB_JOB_H
#define SHADOWTRACE_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct cli_command;

#define JOB_SECONDS  60 /* after this time it is killed */
#define JOB_WHY_SIZE 200

struct job {
    pid_t pid; /* 0: none */
    int fd;    /* what it writes; -1: none */
};

/* Runs in the copy. Returns: 0, or -errno; then `why`, if it was set, says more. */
typedef int job_work(void *context, FILE *out, char why[JOB_WHY_SIZE]);

/*
 * job_start - max_memory: bytes that it may take beyond what this process has.
 * Returns: 0; -errno: it could not be started. Threads: this process has one.
 */
int job_start(struct job *job, job_work *work, void *context, uint64_t max_memory);

/*
 * job_poll - whether it has ended; then *err is what its work returned, or -EIO if it died, and why
 * says why. Its descriptor is the caller's from then on, at its beginning: job->fd, *size bytes.
 */
bool job_poll(struct job *job, int *err, uint64_t *size, char why[JOB_WHY_SIZE]);

void job_kill(struct job *job); /* and waits for its end; also of none */

/*
 * job_signals - what ends this process, and the end of a job, into a descriptor; a client that goes
 * away is no signal. Returns: CLI_OK and *out, the caller's; else the command has said why not.
 */
int job_signals(const struct cli_command *command, int *out);

/* job_memory - bytes that this process has allocated. */
uint64_t job_memory(void);

#endif
