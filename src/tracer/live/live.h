/*
 * live/live.h - the table of live objects: which objects are alive, and where each was allocated,
 * kept through every collection. It does not call the runtime. Its callers report allocations, the
 * parts of the heap that a collection collects, and the objects that it moved or left alive there.
 *
 *   allocation   goes into the thread's log (struct live_log): runs of contiguous objects, of which
 *                only the sizes are kept. Objects that die young cost no more than that.
 *   collection   live_begin: the parts of the heap, by generation; live_moved: which objects
 *                survive, and their new addresses; live_end: each thread gets an empty log.
 *   settling     a tracer thread applies the collection to logs and blocks while the program runs,
 *                or the first that needs the table does: the next collection, or a comparison. A
 *                runtime with several heaps keeps a processor busy for each until its pause is
 *                over.
 *   table        blocks of 4 MB of address space, each a sorted list of places (16 bytes an
 *                object). Blocks of what is not collected are not touched.
 *   sums         what survived and died, by site, until live_take takes them.
 *
 * A site here is a key: node, instruction and class of an allocation.
 */
#ifndef SHADOWTRACE_LIVE_LIVE_H
#define SHADOWTRACE_LIVE_LIVE_H

#include "base/atomics.h"

#include <pthread.h>
#include <shadowtrace/log_reader.h>
#include <stdbool.h>

#define LIVE_GENERATIONS 5          /* 0, 1, 2, large objects, pinned ones */
#define LIVE_AGE_MOST    15         /* collections survived; more are not distinguished */
#define LIVE_OPEN        UINT32_MAX /* class of an entry whose key is not known yet */

struct live;

/* One allocation of a log; its address follows from the run it is in. */
struct live_entry {
    uint32_t node, site;
    uint32_t class; /* log id; LIVE_OPEN; 0: the entry counts for nothing */
    uint32_t size;  /* of 8 bytes each */
};

/* Contiguous objects. */
struct live_run {
    uintptr_t start; /* of the first one */
    size_t first;    /* its entry; the run ends where the next one begins */
};

/* Contiguous allocations. */
struct live_noted {
    struct live_entry *entry;
    struct live_run *run;
    size_t entries, entry_room, runs, run_room;
};

/*
 * What one thread has allocated since the last collection, and what it had allocated before that
 * until it is settled. `now` is written by that thread, where it holds up collections; by the
 * collection while all threads are stopped. No lock.
 */
struct live_log {
    struct live_noted now;
    uintptr_t expected;     /* where the next object lies if it goes on with the run; 0: nowhere */
    uintptr_t newest;       /* address of the newest entry */
    uint32_t open;          /* entries whose key is not known yet */
    uint32_t lost;          /* for lack of memory */
    struct live_noted past; /* of who settles; in the end it is empty, and the next `now` */
    size_t passed_from, passed_to; /* entries of it that are needed no more */
    size_t stayed;                 /* as many of those are alive */
    size_t given;                  /* bytes of such that are given back until it is empty */
    size_t kept;                   /* bytes of entries, of those that collections before needed */
    bool over;                     /* `ended` when the collection came: nothing is behind `past` */
    struct live *live;
    struct live_log *next;
    _Atomic(bool) ended; /* its thread has: the next collection frees it */
};

/* live_new - memory: bytes that the table may take. Returns: 0 or -ENOMEM. */
int live_new(uint64_t memory, struct live **out);
void live_free(struct live *live);

/* live_log_new - Returns: NULL when memory ran out. Threads: any; not while a collection runs. */
struct live_log *live_log_new(struct live *live);

/* live_inexact - the table is not exact from here on; the first reason stays. Threads: any. */
void live_inexact(struct live *live, enum sst_live_why why);

/* live_class - what log id `id` of a class stands for, a word of the caller's. 0 if it is gone. */
bool live_class_set(struct live *live, uint32_t id, uintptr_t class);
uintptr_t live_class(const struct live *live, uint32_t id);

bool live_log_grow(struct live_log *log); /* live_note's slow path */
void live_known_late(struct live_log *log, const struct live_entry *known);

/*
 * live_note - an object was allocated here. Call it before anything that may let a collection run.
 * Then call live_known or live_unknown once for each noted object, the latest first.
 * Returns: false: out of memory, and nothing was noted.
 */
static inline bool live_note(struct live_log *log, uintptr_t object)
{
    struct live_noted *now = &log->now;

    if (UNLIKELY(now->entries == now->entry_room || now->runs == now->run_room) &&
        !live_log_grow(log))
        return false;
    if (object != log->expected || UNLIKELY(log->open))
        now->run[now->runs++] = (struct live_run){object, now->entries};
    now->entry[now->entries++].class = LIVE_OPEN;
    log->newest = object;
    log->expected = 0;
    log->open++;
    return true;
}

static inline void live_known(struct live_log *log, const struct live_entry *known)
{
    struct live_entry *newest = &log->now.entry[log->now.entries - 1];

    if (UNLIKELY(!log->open || newest->class != LIVE_OPEN)) {
        live_known_late(log, known);
        return;
    }
    *newest = *known;
    log->expected = log->newest + (uintptr_t)known->size * 8;
    log->open--;
}

/* What the object is, is not known: it counts for nothing, and the run ends. */
void live_unknown(struct live_log *log);

/* Where the object noted last lies by now, of those whose key is not known yet. */
uintptr_t live_open_address(const struct live_log *log);

/* A part of the heap. */
struct live_bound {
    uintptr_t start, end;
    uint32_t generation;
};

/* What stays alive: bytes from `from` on lie at `to` from now on. */
struct live_range {
    uintptr_t from, to;
    size_t size;
};

/* What is known of a collection at its end. */
struct live_collection {
    uint32_t depth; /* the oldest generation that was collected */
    uint64_t ticks; /* a moment in its pause */
    uint64_t began_ns;
    uint64_t (*now_ns)(void);
};

/*
 * One collection, while all threads are stopped. live_begin - the bounds of what there is; copied.
 * live_moved - from several threads, too. live_end - what it did is known, and is to be settled.
 * live_skip  - instead of live_end, when nothing is known of it, after live_inexact: the logs are
 *              emptied. Sums of before that are not taken yet stay what they are: its own total
 *              comes behind theirs.
 */
void live_begin(struct live *live, const struct live_bound *bounds, size_t count);
void live_moved(struct live *live, const struct live_range *ranges, size_t count);
void live_end(struct live *live, const struct live_collection *collection);
void live_skip(struct live *live, const struct live_collection *collection);

/*
 * live_settle - when it returns, the table and the sums include the last collection. Threads: any;
 * helps with the settling, or waits for the thread that does it.
 * live_start  - starts a thread that settles. Returns: 0 or -errno; without the thread, the first
 *               that needs the table settles. live_stop - waits for its end, for at most
 *               timeout_ms.
 */
void live_settle(struct live *live);
int live_start(struct live *live);
void live_stop(struct live *live, unsigned timeout_ms);

/*
 * live_over - collections are no longer reported: the sums do not change, and no more memory is
 * taken. After live_inexact. Threads: any; unlike in live_end, the program's threads may run.
 */
void live_over(struct live *live, const struct live_collection *collection);

/* ---- what became of objects: live_take ---- */

struct live_died {
    uint32_t next; /* of the same row: index + 1; 0: none */
    uint8_t generation, age;
    uint32_t objects;
    uint64_t bytes;
};

struct live_row {
    uint32_t key; /* id of the site: 1, 2, ... */
    uint32_t node, site, class;
    uint32_t died; /* as live_died.next */
    uint32_t survived;
    uint64_t survived_bytes;
};

/* Sums of the table after a collection. */
struct live_total {
    uint64_t collection; /* 1, 2, ...; 0: there was none */
    uint64_t full;       /* the last one that was full */
    uint64_t ticks, pause_ns, pauses_ns, table_ns;
    uint64_t objects, bytes, memory, memory_most;
    uint32_t depth;
    enum sst_live_why why; /* 0: it is exact */
    uint64_t looks;        /* see live_looked */
};

/* What is taken: all since the last time, up to the collection of `total`. */
struct live_sums {
    struct live_total total;
    struct live_row *row;
    struct live_died *died;
    size_t rows, row_room, dead, dead_room;
};

/*
 * live_take - *sums is exchanged for what has gathered; zeroed, or as it was taken before.
 * Returns: whether there was a collection since; false while the last one is not settled, and
 * live_start's thread will do so. Threads: one.
 */
bool live_take(struct live *live, struct live_sums *sums);
void live_sums_free(struct live_sums *sums);

/* The ticks of the last collection, settled or not. Threads: any. */
uint64_t live_ticks(const struct live *live);

/* The number of collections that have ended. Threads: any. */
uint64_t live_collections(const struct live *live);

/* After live_over: what was young then comes into no sums. Threads: any. */
bool live_is_over(const struct live *live);

/*
 * live_forget - what these numbers stand for is gone, and they will be used again: sites with such
 * a node, instruction or class are not found any more. gone: of a class. Sorted numbers. All sums
 * of before must have been taken. Threads: one, beside all else.
 */
struct live_gone {
    const uint32_t *nodes, *sites;
    size_t node_count, site_count;
    bool (*class_gone)(uintptr_t class);
};
void live_forget(struct live *live, const struct live_gone *gone);
/*
 * live_hold - nothing is forgotten until live_unhold; who settles waits. live_forgotten - of a key
 * that was taken; while it is held.
 */
void live_hold(struct live *live);
void live_unhold(struct live *live);
bool live_forgotten(const struct live *live, uint32_t key, bool *class_gone);

/*
 * A look is a full collection at least LIVE_LOOK_NS after the previous look: the live objects of
 * each key are kept until the next. live_looks - the number of looks; live_looked - what the last
 * look found for a key that was taken; both while it is held.
 */
#define LIVE_LOOK_NS 1000000000u
struct live_looked {
    uint32_t alive;
    uint32_t went; /* of those that a look had found, dead at a later one; of all looks so far */
};
uint64_t live_looks(const struct live *live);
struct live_looked live_looked(const struct live *live, uint32_t key);

/*
 * live_each - every object of the table, with the id of its site; those of 4 MB ascend.
 * Behind live_end, while all threads are stopped.
 */
void live_each(struct live *live, void (*each)(void *context, uintptr_t object, uint32_t key),
               void *context);

/* ---- estimates: the sums are of samples, and there is no table ---- */

/* A sample: a site, and what it stands for there. */
struct live_weighed {
    struct live_entry what;
    uint32_t key; /* of its site; 0: it has survived no collection yet */
    uint32_t objects;
    uint64_t bytes, born;
};

/*
 * One collection: live_weigh_begin and live_weigh_end around what became of samples in it.
 * live_weigh_survived - for the first time; live_weigh_more - it stands for more from now on;
 * live_weigh_died - of one that had survived. Returns: false: memory ran out, and it is forgotten.
 * Threads: one at a time, which holds (live_hold).
 */
void live_weigh_begin(struct live *live);
bool live_weigh_survived(struct live *live, struct live_weighed *sample);
bool live_weigh_more(struct live *live, struct live_weighed *sample, uint32_t objects,
                     uint64_t bytes);
void live_weigh_died(struct live *live, const struct live_weighed *sample, uint32_t generation);
void live_weigh_end(struct live *live, const struct live_collection *collection, uint64_t took_ns);

/* ---- the table beside the heap: compare.c; all threads stand, and no collection runs ---- */

struct live_compare;

/* live_compare_new - all that should be there is noted. Returns: NULL when memory ran out. */
struct live_compare *live_compare_new(struct live *live);

/* live_compare_met - an object of the heap. Returns: log id of its class; 0: it is not there;
 * LIVE_OPEN: its key is not known yet. */
uint32_t live_compare_met(struct live_compare *compare, uintptr_t object);

/* live_compare_end - Returns: how many of those that should be there were not met. */
uint64_t live_compare_end(struct live_compare *compare);

#endif
