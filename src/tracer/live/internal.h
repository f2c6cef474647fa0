/*
 * live/internal.h - what the files of src/tracer/live/ share.
 *
 *     logs.c     what threads have allocated since the last collection
 *     keys.c     sites, and the sums of what became of their objects
 *     blocks.c   the table: places of live objects
 *     young.c    logs into the table
 *     live.c     one collection; settle.c: what it leaves to be done
 *     compare.c  the table beside the heap
 *     weighed.c  sums of samples instead of all objects
 */
#ifndef SHADOWTRACE_LIVE_INTERNAL_H
#define SHADOWTRACE_LIVE_INTERNAL_H

#include "live/live.h"

#include "base/parker.h"
#include "stack/stack_hot.h" /* RULE */

#define BLOCK_BITS  22 /* of addresses: 4 MB */
#define BLOCK_BYTES ((uintptr_t)1 << BLOCK_BITS)
#define BLOCK_WORDS (1u << (BLOCK_BITS - 3))
#define PLACE_SEEN  (UINT32_C(1) << 31)
#define CLASSES     (1u << 20) /* log ids of classes that have a word */

/* An array in separate pages, counted in live->memory. */
struct pages {
    void *data;
    size_t size; /* bytes */
};

/* Where an object lies in its block, what it is, and since when. */
struct place {
    uint32_t offset; /* of 8 bytes each */
    uint32_t key;
    uint32_t size; /* of 8 bytes each */
    uint32_t born; /* number of the collection that it survived first; PLACE_SEEN */
};

/* place[0 .. sorted) by offset, as of before; behind them what this collection has put there. */
struct block {
    uintptr_t number; /* address >> BLOCK_BITS; 0: none */
    struct place *place;
    struct pages pages;
    uint32_t count, sorted;
    bool dirty; /* on live->dirty */
    bool falls; /* somewhere behind the sorted part, or at its end, an offset is below the last */
};

struct key {
    uint32_t node, site, class;
    uint32_t row; /* index of its row in the sums, if `stamp` is theirs */
    uint32_t stamp;
    bool forgotten, class_gone;
    uint32_t alive;            /* now */
    uint32_t went;             /* as live_looked.went, now */
    struct live_looked looked; /* as of the last look */
};

struct live {
    pthread_mutex_t settling; /* blocks, bounds, ranges, what logs have in `past`; before `lock` */
    pthread_mutex_t lock;     /* keys, sums: who settles, who takes them, who forgets */
    pthread_mutex_t logs_lock, ranges_lock; /* the lists of that name; under `lock` */
    _Atomic(uint32_t) wanted;               /* threads that wait for `lock` during a settling */
    _Atomic(bool) unsettled;                /* of the collection `at_hand`; set under `lock` */
    struct live_collection at_hand;
    uint64_t pause_ns, took_ns; /* its pause; what the table took of it */
    struct parker wake;         /* of the thread that settles */
    pthread_t thread;
    _Atomic(bool) started, stopping, stopped; /* of it */
    _Atomic(uint64_t) limit;                  /* of memory */
    _Atomic(uint64_t) memory, memory_most;
    _Atomic(uint32_t) why; /* enum sst_live_why */
    _Atomic(uint64_t) ticks, collections;
    _Atomic(bool) over;
    struct live_log *logs;
    _Atomic(uintptr_t) *classes;  /* by log id */
    _Atomic(uint32_t) class_most; /* the largest of them */

    struct key *key; /* from 1 */
    uint32_t *slot;  /* open addressing: number of a key; 0 free */
    struct pages key_pages, slot_pages;
    uint32_t keys, slots;
    uint32_t last;          /* the key found last */
    uint64_t look_ns, look; /* the last look: when, and the number of its collection; 0: none */

    struct live_sums sums; /* what has gathered */
    uint32_t stamp;
    bool fresh;     /* a collection was settled since they were taken */
    bool is_behind; /* and then one of which nothing is known: */
    struct live_total behind;

    struct block *block;
    uint32_t *block_slot;
    struct pages block_pages, block_slot_pages, dirty_pages, scratch;
    struct pages spare; /* of blocks that this collection has emptied */
    uint32_t blocks, block_slots;
    uint32_t *dirty; /* blocks to be merged */
    uint32_t dirties;
    struct block *to; /* the block found last */

    struct live_bound *bound; /* by start */
    size_t bounds;
    struct live_range *range; /* by from, once sorted */
    size_t ranges;
    struct pages bound_pages, range_pages, run_pages;
    uint32_t depth;
};

/* Where a walk through addresses that rise has come. */
struct cursor {
    size_t bound, range;
};

/* pages.c: room for `size` bytes; false: out of memory, or the limit is reached. */
bool pages_room(struct live *live, struct pages *pages, size_t size);

/*
 * slots_double - twice as many slots, all free, for a table of open addressing; the first ones if
 * it has none. The caller fills them. false: as pages_room.
 */
bool slots_double(struct live *live, struct pages *pages, uint32_t **slot, uint32_t *slots);
void pages_trim(struct live *live, struct pages *pages, size_t size); /* to that, if it is more */
void pages_free(struct live *live, struct pages *pages);

/* Two words, sorted by the first under a mask; ascending pieces are merged. false: no memory. */
struct pair {
    uint64_t a, b;
} __attribute__((may_alias));
bool pairs_sort(struct live *live, struct pair *pair, size_t count, uint64_t mask);

static inline bool is_collected(const struct live *live, const struct live_bound *bound)
{
    return (bound->generation > 2 ? live->depth == 2 : bound->generation <= live->depth) ||
           !RULE(RULE_LIVE_BOUNDS);
}

/* The bound that it is in; NULL: none that this collection collects. Addresses must not fall. */
static inline const struct live_bound *bound_at(const struct live *live, struct cursor *at,
                                                uintptr_t address)
{
    const struct live_bound *bound = &live->bound[at->bound];

    while (at->bound < live->bounds && bound->end <= address)
        bound = &live->bound[++at->bound];
    return at->bound < live->bounds && bound->start <= address && is_collected(live, bound) ? bound
                                                                                            : NULL;
}

/* The first range that does not end before; NULL: none. Addresses must not fall. */
static inline const struct live_range *range_from(const struct live *live, struct cursor *at,
                                                  uintptr_t address)
{
    const struct live_range *range = &live->range[at->range];

    while (at->range < live->ranges && range->from + range->size <= address)
        range = &live->range[++at->range];
    return at->range < live->ranges ? range : NULL;
}

/* keys.c: what was summed is to be taken */
void sums_tell(struct live *live);

/* live.c. settle_let: between two steps, those who wait for `lock` have it. */
bool threes_sort(struct live *live, void *threes, size_t count);
void total_of(struct live *live, const struct live_collection *c, uint64_t pause, uint64_t took);
void settle_let(struct live *live);

/*
 * logs.c. logs_turn: `now` becomes `past`, which is empty. log_passed: of what has survived the
 * table has places by now; the rest is dead. logs_clear: nothing of `past` is needed any more.
 */
struct live_log *logs_first(struct live *live); /* new ones come before it */
void logs_turn(struct live *live);
void logs_clear(struct live *live);
void log_passed(struct live_log *log, size_t first, size_t end);

/*
 * keys.c. key_of - 0: there is no memory for another one. Keys and rows are many and lie anywhere:
 * keys_ahead brings near what key_of needs for entries that come soon, rows_ahead what died() does
 * for places.
 */
uint32_t key_of(struct live *live, const struct live_entry *entry);
void keys_ahead(const struct live *live, const struct live_entry *entries, size_t count);
void rows_ahead(const struct live *live, const struct place *places, size_t count);
struct live_row *row_of(struct live *live, uint32_t key); /* NULL: there is no memory for it */
void survived(struct live *live, struct live_row *row, uint32_t size);
/* What of a row's site died in that generation, at that age. NULL: as row_of. */
struct live_died *live_died_cell(struct live *live, struct live_row *row, uint32_t generation,
                                 uint32_t age);
void died(struct live *live, const struct place *place, uint32_t generation);
void keys_look(struct live *live, uint64_t now_ns); /* a full collection has ended */
void keys_free(struct live *live);

/* blocks.c */
bool place_put(struct live *live, uintptr_t address, struct place place); /* its offset is set */
void blocks_collect(struct live *live);
void blocks_merge(struct live *live);
struct block *block_find(const struct live *live, uintptr_t number);
void blocks_free(struct live *live);

/* young.c */
struct young_run {
    uint64_t start;
    uint32_t log, run;
};
/* All runs of all logs, of before or of now, by their start; *out is live->run_pages. false: no
 * memory. */
bool young_runs(struct live *live, bool past, struct live_log ***logs, struct young_run **out,
                size_t *count);
void young_collect(struct live *live);
static inline struct live_noted *noted_of(struct live_log *log, bool past)
{
    return past ? &log->past : &log->now;
}
static inline size_t run_end(const struct live_noted *noted, size_t run)
{
    return run + 1 < noted->runs ? noted->run[run + 1].first : noted->entries;
}

#endif
