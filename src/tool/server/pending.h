/*
 * server/pending.h - pending answers: each waits until its log is read up to its moment, then a job
 * makes it. Identical requests within one second share an answer.
 *
 *     WAITING (for `seconds` to pass, for the log to be read) -> RUNNING (a job) -> DONE
 *
 * Bounded: PENDING_MAX answers; PENDING_TIMED of them over a given time, each of which holds a
 * mark; PENDING_JOBS made at once.
 */
#ifndef SHADOWTRACE_SERVER_PENDING_H
#define SHADOWTRACE_SERVER_PENDING_H

#include "server/answer.h"

#define PENDING_MAX         64
#define PENDING_TIMED       16
#define PENDING_JOBS        2
#define PENDING_SHARE_NS    UINT64_C(1000000000)
#define PENDING_SECONDS_MAX 600

/* What is asked. */
struct pending_key {
    enum answer_kind kind;
    struct traced *of; /* NULL: all */
    uint64_t seconds;  /* 0: since the start */
    bool whole, gzip;
};

enum pending_state { PENDING_WAITING, PENDING_RUNNING, PENDING_DONE };

struct pending {
    struct pending_key key;
    enum pending_state state;
    uint64_t born_ns, due_ns, made_ns; /* made: when its job was started */
    struct mark *from;                 /* of `seconds` */
    struct job job;
    /* DONE: */
    int err;
    uint64_t size;
    int fd; /* the sender takes it over and sets -1 */
    char why[JOB_WHY_SIZE];
    unsigned waiters; /* that have not taken it yet */
    void *response;   /* theirs; pending_set.release frees it */
};

struct pending_set {
    struct pending *all[PENDING_MAX];
    size_t count;
    struct traced_set *traced;
    const struct serve_options *options;
    double min_share;
    uint64_t answered, refused; /* for /metrics; counted where requests are accepted */
    void (*done)(void *context, struct pending *p); /* once for each answer */
    void (*release)(void *response);
    void *context;
};

/*
 * pending_ask - the answer to that, new or one on its way. Returns: 0 and *out, with one waiter
 * more; -EBUSY: too many; -ENOMEM.
 */
int pending_ask(struct pending_set *set, const struct pending_key *key, uint64_t now_ns,
                struct pending **out);

/*
 * pending_step - begins what can be begun, ends what is done, forgets what is old, and what waits
 * while its clients have all gone.
 */
void pending_step(struct pending_set *set, uint64_t now_ns);

/* Whether some answer waits for its log to be read. */
bool pending_wants_reading(const struct pending_set *set, uint64_t now_ns);
bool pending_any(const struct pending_set *set); /* some are not done */

void pending_hurry(struct pending_set *set, uint64_t now_ns); /* none waits for time to pass */
void pending_abandon(struct pending_set *set); /* all that are not done are, with -ECANCELED */
void pending_free(struct pending_set *set);

#endif
