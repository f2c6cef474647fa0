/*
 * server/find.h - which processes of this user are traced, and where their logs are: by their
 * control sockets, as `shadowtrace list` has it. A process is asked by a job (job/job.h): one
 * that is stopped does not answer for seconds.
 */
#ifndef SHADOWTRACE_SERVER_FIND_H
#define SHADOWTRACE_SERVER_FIND_H

#include "job/job.h"
#include "server/traced.h"

#define FIND_MAX 256 /* sockets looked at */

struct find_one {
    long pid;
    bool asked;        /* its log is known */
    uint64_t retry_ns; /* it did not answer: not to be asked before */
    bool there;        /* at the last look */
};

struct find {
    struct find_one all[FIND_MAX]; /* sockets that were there at the last look */
    size_t count;
    struct job job; /* that asks; pid 0: none */
    uint64_t look_ns;
};

void find_init(struct find *f);

/*
 * find_step - looks once a second; processes that were found go into the set. Returns: 0, or -errno
 * of a folder that cannot be trusted, with a line in why.
 */
int find_step(struct find *f, struct traced_set *set, uint64_t now_ns, char *why, size_t why_size);
void find_fini(struct find *f);

#endif
