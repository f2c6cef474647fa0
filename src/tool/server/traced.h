/*
 * server/traced.h - the processes that are served: each with its log, followed; the sums of that,
 * which only grow; and marks of the last minutes.
 *
 * Memory of one is what its log defines (about 40 bytes for each call path, of which a recording
 * has at most --max-nodes) and 48 bytes for each path and type that allocates, 80 with --live or
 * --sample; a mark takes 16 (48 of a sampled log) for each of these, and TRACED_MARKS are kept.
 */
#ifndef SHADOWTRACE_SERVER_TRACED_H
#define SHADOWTRACE_SERVER_TRACED_H

#include "follow/follow.h"
#include "server/mark.h"

#define TRACED_MAX   64 /* processes at once */
#define TRACED_MARKS 11
#define TRACED_MARK_NS \
    UINT64_C(30000000000) /* between two marks: the last five minutes, and up to half a minute */

enum traced_state {
    TRACED_FOLLOWED,
    TRACED_ENDED,  /* its log is read to the end */
    TRACED_FAILED, /* its log is read no more, for `why` */
};

struct traced_file {
    uint64_t device, inode; /* inode 0: there was none */
    int64_t born_s;         /* numbers of inodes are used again */
    uint32_t born_ns;
    uint64_t size;
};

struct traced {
    long pid;      /* 0: a log of the command line, before its header was read */
    char *path;    /* of its log, as it was found */
    bool given;    /* on the command line */
    bool closing;  /* its log has ended: what is behind the end is read, then it is over */
    bool replaced; /* something else is at its path, which is followed as another one */
    enum traced_state state;
    char why[300];
    struct log_problems problems;
    struct report_cells cells;
    struct follow *follow;
    struct follow_losses losses;
    struct traced_file seen;          /* given: at its path when it was over */
    struct mark *marks[TRACED_MARKS]; /* in order */
    size_t mark_count;
    uint64_t passed_ns; /* when the last look began that ended with everything read; 0: none yet */
    uint64_t look_ns;   /* when the one that goes on began; 0: none does */
    uint64_t over_ns;   /* when it ended or failed */
    unsigned used;      /* answers that are being made of it: it stays */
};

struct traced_set {
    struct traced *all[TRACED_MAX]; /* in the order in which they were found */
    size_t count;
    size_t turn; /* whose turn it is to be read */
    /* Gets a line for people about a log that was truncated or replaced. NULL: not needed. */
    void (*say)(void *context, const char *text);
    void *context;
};

/*
 * traced_add - begin to follow. pid 0: the log's header says. Returns: 0; -ENOSPC: there are
 * TRACED_MAX that run; -ENOMEM. A log that cannot be opened is there as one that failed.
 */
int traced_add(struct traced_set *set, long pid, const char *path, uint64_t now_ns);

/*
 * traced_step - read what has come, for about `most_ns`, of one after the other, and take the marks
 * that are due. max_memory: of all of them; the one that is read when it is passed fails. Where
 * another recording is at the path of a log of the command line that one is followed, too.
 * Returns: whether there is more to be read already.
 */
bool traced_step(struct traced_set *set, uint64_t most_ns, uint64_t max_memory);

/* traced_expire - those go that were over for keep_ns. */
void traced_expire(struct traced_set *set, uint64_t keep_ns, uint64_t now_ns);
void traced_free(struct traced_set *set);

/* The first found that still runs; otherwise the last that ended. NULL: none. */
struct traced *traced_default(const struct traced_set *set);
struct traced *traced_find(const struct traced_set *set, long pid); /* the latest of that number */
struct traced *traced_find_log(const struct traced_set *set, const char *path);

/* Whether another one of the same number and log was found later, and its header is read. */
bool traced_is_outdated(const struct traced_set *set, const struct traced *t);

/*
 * traced_known  - its log was once read to where it ended then; before that sums are of its
 * beginning.
 * traced_passed - everything is read that was in its log at some moment since then.
 * Both are true of one that is over.
 */
bool traced_known(const struct traced *t);
bool traced_passed(const struct traced *t, uint64_t since_ns);

/* What the program is called; and all that it has allocated, by its log so far. */
const char *traced_program(const struct traced *t);
struct mark_sums traced_total(const struct traced *t);
bool traced_live(const struct traced *t);         /* its log says what is alive */
bool traced_live_settled(const struct traced *t); /* and not only half of a collection of it */

#endif
