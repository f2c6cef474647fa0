/*
 * server/answer.h - what is answered, made by a copy of the server (job/job.h): it may do with
 * the processes' sums as it likes.
 */
#ifndef SHADOWTRACE_SERVER_ANSWER_H
#define SHADOWTRACE_SERVER_ANSWER_H

#include "serve/options.h"
#include "job/job.h"
#include "server/traced.h"

enum answer_kind {
    ANSWER_ALLOCS,  /* of a process since its start, or since a mark: a profile */
    ANSWER_HEAP,    /* what is alive of it */
    ANSWER_METRICS, /* of all */
    ANSWER_INDEX,   /* the page: all processes, and one of them within it */
    ANSWER_FLAME    /* what is within it: a page of one process */
};

struct answer_ask {
    enum answer_kind kind;
    struct traced_set *set;
    struct traced *of;       /* NULL: all, or none */
    const struct mark *from; /* ALLOCS: since then; NULL: since the start */
    bool whole;              /* FLAME, INDEX: since the start, not of the last minutes */
    bool gzip;               /* not for profiles, which are always compressed */
    uint64_t now_ns;
    uint64_t answered, refused; /* requests, so far */
    const struct serve_options *options;
    double min_share;
};

/* answer_make - as a job_work; ask is a struct answer_ask. Nothing that it makes is freed. */
int answer_make(void *ask, FILE *out, char why[JOB_WHY_SIZE]);

/*
 * answer_load - cells of a process as views want them: logical paths, own code, lines, names.
 * Returns: 0 or -errno. Owns: *l must not move.
 */
struct loading;
int answer_load(const struct answer_ask *ask, struct traced *t, struct loading *l);

/* Each kind's own; out is not packed yet. Return: 0 or -errno. */
int answer_profile(const struct answer_ask *ask, FILE *out);
int answer_metrics(const struct answer_ask *ask, FILE *out);
int answer_index(const struct answer_ask *ask, FILE *out);
int answer_flame(const struct answer_ask *ask, FILE *out);

/* What the page's own style is. */
extern const char answer_style[];

#endif
