/*
 * collect/collect.h - full collections on request while the program runs. A tracer thread, created
 * for the first request, has the runtime run them one at a time. The caller does not wait: it polls
 * its job. A collection can come with a mark in the log, or with a heap dump.
 *
 *     collect.c      the thread and its jobs
 *     graph.c        the dump: what the runtime reports of the heap during a collection
 *     snapshot.c     the same by events
 *     heap_file.c    its file
 */
#ifndef SHADOWTRACE_COLLECT_COLLECT_H
#define SHADOWTRACE_COLLECT_COLLECT_H

#include "collect/graph.h"

struct collect;
struct collect_job;

struct collect_config {
    struct clr_info *info; /* borrowed, as is all below */
    struct graph *graph;
    void *context;
    int (*mark)(void *context, const char *text); /* 0 or -errno; on our thread */
    void (*over)(void *context);                  /* a job is; on our thread, which holds no lock */
};

struct collect_request {
    const char *mark; /* written after it; NULL: none */
    const char *heap; /* path of the dump; NULL: none */
};

enum collect_failure {
    COLLECT_DONE,
    COLLECT_REFUSED,  /* no collection was made: an hresult */
    COLLECT_UNMARKED, /* the mark was not written: -errno */
    COLLECT_NO_HEAP,  /* there is no dump: `heap` says why */
};

struct collect_result {
    enum collect_failure failure;
    int32_t why; /* as said there */
    bool dumps;  /* a dump was asked for */
    struct graph_result heap;
    uint32_t collection; /* its number, as collect_begun() was told */
    uint64_t pause_ns;   /* from GarbageCollectionStarted to GarbageCollectionFinished */
    uint64_t took_ns;    /* from the request to the end: also what was waited for */
};

int collect_new(const struct collect_config *config, struct collect **out); /* 0 or -ENOMEM */

/*
 * collect_ask - a blocking collection of all generations, and what goes with it.
 * Returns: 0 and *out; -EBUSY: one that was asked for is under way; -ESHUTDOWN: the recording ends;
 *          -errno: there is no memory or no thread for it.
 * Owns:    *out is the caller's, until collect_drop(), at any time: the work is done anyway.
 * Threads: any; waits for nothing. Not in a hook or callback, but that of Shutdown.
 */
int collect_ask(struct collect *collect, const struct collect_request *request,
                struct collect_job **out);
bool collect_over(const struct collect_job *job, struct collect_result *out); /* if it is */
void collect_drop(struct collect_job *job);

/* What a job that failed did not do, and why: one line without its end. */
void collect_explain(const struct collect_result *result, char *text, size_t size);

/*
 * From GarbageCollectionStarted and from GarbageCollectionFinished, there after all other parts of
 * the tracer. number: the collections that have begun, including this one; full: of all
 * generations.
 */
void collect_begun(struct collect *collect, uint32_t number, bool full);
void collect_finished(struct collect *collect);

/* collect_stop - none begins any more; waits for the one under way at most timeout_ms. */
void collect_stop(struct collect *collect, unsigned timeout_ms);

#endif
