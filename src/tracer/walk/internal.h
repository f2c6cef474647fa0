/* walk/internal.h - what the files of src/tracer/walk/ share. */
#ifndef SHADOWTRACE_WALK_INTERNAL_H
#define SHADOWTRACE_WALK_INTERNAL_H

#include "walk/images.h"
#include "walk/natives.h"
#include "walk/walk.h"

#include "base/array.h"
#include "base/hash.h"
#include "tree/tree.h"

#include <pthread.h>

struct walk_thread;

struct walk {
    const struct clr_runtime *runtime;
    struct metadata *metadata;
    struct tree *tree;
    struct images *images;
    struct walk_rules *rules;
    bool joined;             /* the process ran before: an unannounced filter may run */
    _Atomic(uint32_t) epoch; /* raised when code was unloaded: its rules are void */
    pthread_mutex_t lock;    /* guards the next two; nothing waits under it */
    struct walk_thread *threads;
    struct walk_totals ended; /* of threads that have ended */
};

/* What code at an address is. */
enum walk_kind {
    KIND_NATIVE,
    KIND_MANAGED,
    KIND_DYNAMIC, /* jitted, of no method that has a name: snapshots have no frame for it */
    KIND_STUB,    /* the same, made by the runtime: marshalling, a delegate of several */
    KIND_HIDDEN,  /* of CoreLib's exception handling: the same */
    KIND_SIGNAL,  /* what a signal handler returns to: the interrupted registers lie above */
    KIND_END,     /* the thread's oldest frame */
    KIND_UNSURE
};

/* Set in a rule's address where the processor stopped: not a return address. */
#define WALK_EXACT ((uintptr_t)1 << 63)

/*
 * From a frame to its caller's: cfa = (by_fp ? rbp : rsp) + cfa; the return address is at
 * cfa + ret, the saved rbp at cfa + fp unless it is kept; the caller's rsp is the CFA.
 */
struct walk_rule {
    /* Of KIND_MANAGED: the method. Of native code that may be unloaded: its image; else NULL. */
    const void *of;
    int32_t cfa, fp;
    uint32_t distance; /* framed managed code: from its stack pointer up to rbp */
    int16_t ret;
    uint8_t kind, why; /* enum walk_kind; KIND_UNSURE: enum walk_why */
    bool by_fp, keeps_fp;
    bool framed;       /* `distance` is set */
    bool exact_caller; /* the caller's address is where a signal came: made up by the runtime */
};

/* Code whose return addresses have one rule: a method's, without its prolog, or a handler's. */
struct walk_body {
    uintptr_t low, high;
    uint32_t epoch; /* in which it was met; 0: it is never unloaded */
    struct walk_rule rule;
};

/*
 * managed.c: the rule of code that is not native. ip: with WALK_EXACT. readable: is the code before
 * it known to be? image: the function there, of precompiled code; else NULL. body->high is 0 if
 * other addresses of that code may have another rule. Returns: WALK_CERTAIN, or why not.
 */
enum walk_why walk_managed(struct walk *walk, uintptr_t ip, bool readable,
                           const struct images_function *image, uint32_t epoch,
                           struct walk_rule *out, struct walk_body *body);

/*
 * managed.c, apart from the runtime: what a prolog says. at: in the instruction that calls or
 * stopped. Returns: as above.
 */
enum walk_why walk_prolog(const uint8_t *code, size_t size, uintptr_t at, bool exact,
                          struct walk_rule *out);

/* bodies.c: the bodies met, by the pages that they lie in. Threads: one at a time. */
struct walk_bodies;
struct walk_bodies *walk_bodies_new(void); /* or NULL */
void walk_bodies_free(struct walk_bodies *bodies);
const struct walk_body *walk_bodies_find(const struct walk_bodies *bodies, uintptr_t at,
                                         uint32_t epoch);
bool walk_bodies_page(const struct walk_bodies *bodies, uintptr_t at,
                      uint32_t epoch); /* does one lie in the page of this address? */
void walk_bodies_add(struct walk_bodies *bodies, const struct walk_body *body); /* if it fits */
void walk_bodies_forget(struct walk_bodies *bodies, uint32_t epoch);            /* older ones */

/* A rule as it is kept: what is copied in one go. */
struct walk_words {
    uint64_t frame; /* cfa : 32, fp : 32 */
    uint64_t flags; /* distance : 32, ret : 16, why : 8, kind : 4, the four that are bool : 4 */
    const void *of;
};

enum { WALK_BY_FP = 1, WALK_KEEPS_FP = 2, WALK_FRAMED = 4, WALK_EXACT_CALLER = 8 };

static inline struct walk_rule walk_rule_unpack(struct walk_words words)
{
    return (struct walk_rule){
        .of = words.of,
        .cfa = (int32_t)words.frame,
        .fp = (int32_t)(words.frame >> 32),
        .distance = (uint32_t)words.flags,
        .ret = (int16_t)(words.flags >> 32),
        .why = (uint8_t)(words.flags >> 48),
        .kind = (uint8_t)(words.flags >> 56 & 15),
        .by_fp = words.flags >> 60 & WALK_BY_FP,
        .keeps_fp = words.flags >> 60 & WALK_KEEPS_FP,
        .framed = words.flags >> 60 & WALK_FRAMED,
        .exact_caller = words.flags >> 60 & WALK_EXACT_CALLER,
    };
}

/*
 * rules.c: the rules met, one for each address, shared by all threads.
 * walk_rule_find - the rule for ip as of this epoch, made if it is new. Returns: the epoch that it
 *                  holds in; 0: for good. *out: its words. Threads: any; without a lock if it is
 *                  not new.
 */
struct walk_rules;
int walk_rules_new(struct walk_rules **out); /* 0 or -ENOMEM */
void walk_rules_free(struct walk_rules *rules);
uint32_t walk_rule_find(struct walk *walk, uintptr_t ip, uint32_t epoch, struct walk_words *out);

/* Is a rule for native code still of the image that it was made for? */
static inline bool walk_words_hold(uintptr_t ip, const struct walk_words *words)
{
    return LIKELY(!words->of) || walk_rule_unpack(*words).kind == KIND_MANAGED ||
           natives_same((ip & ~WALK_EXACT) - !(ip & WALK_EXACT), words->of);
}

/*
 * A step of a walk: where it was, and what was read to get there. The steps of a thread's last walk
 * are kept, oldest first. Where a later walk comes to the same place, and the words that lead on
 * from it are what they were, so are all older steps.
 */
struct walk_step {
    uintptr_t sp, ip, fp; /* ip: as in a rule, with WALK_EXACT */
    /* The words that held ip and fp; NULL: fp is the younger step's; ip was made in another way,
     * and no walk takes over this step from a younger one. */
    const uintptr_t *ip_at, *fp_at;
    const void *of; /* managed: the method; native: the image, if it may be unloaded */
    uint32_t node;  /* of the path down to the thread's start, its own method included */
    uint32_t leaf;  /* 1 + place of the youngest frame from here on; 0: none */
    uint32_t begun; /* where the hooked method that goes on here was begun; 0: not known */
    bool native;    /* it is in native code */
    bool by_fp;     /* its frame is found by fp */
    bool fp_used;   /* of the thread's last walk: by it or an older one */
    bool managed;   /* it is a frame of a method */
    bool nameless;  /* code of no method, with no method younger than it */
    bool dynamic;   /* the same, of a dynamic method */
    /* Of the thread's last walk: how many were read to get here; walk_thread.word and .pair. */
    uint32_t words, pairs;
};

/* A word of the stack that led to a step, and what it was. */
struct walk_word {
    const uintptr_t *at;
    uintptr_t value;
};

/* Two that lie side by side: a saved frame pointer, and the return address above it. */
struct walk_pair {
    const uintptr_t *at;
    uintptr_t value[2];
};

struct walk_steps {
    struct walk_step *step;
    size_t count, capacity;
};

static inline bool walk_steps_add(struct walk_steps *to, const struct walk_step *step, size_t count)
{
    if (!array_reserve(&to->step, &to->capacity, to->count + count))
        return false;
    for (size_t i = 0; i < count; i++)
        to->step[to->count++] = step[i];
    return true;
}

/*
 * The native code between a walk's start and the youngest code that is not native: its return
 * addresses, and where they lay above the stack pointer. Where they lie there again, a walk begins
 * above them.
 */
#define WALK_START_STEPS 24
struct walk_start {
    uintptr_t ip;    /* of the youngest step */
    int32_t fp;      /* where rbp points, above the stack pointer; below 0: no step needs it */
    uint32_t count;  /* steps above it; the last one is not native; 0: free */
    uint32_t sp;     /* of the last one, above that of the youngest */
    uint32_t length; /* bytes of the stack that are read */
    uint32_t ip_at;  /* of the last one, as below */
    int32_t fp_at;   /* the same; below 0: its fp is the youngest one's */
    /*
     * Words above the stack pointer, of the native steps: return addresses, the oldest first; then
     * frame pointers, by how far above the stack pointer they point. A frame pointer with a return
     * address above it, which is not the oldest, is a pair.
     */
    uint32_t ips, words, pairs;
    struct walk_start_word {
        uintptr_t value;
        uint32_t at;
    } word[2 * WALK_START_STEPS];
    struct walk_start_pair {
        uintptr_t value[2];
        uint32_t at;
    } pair[WALK_START_STEPS];
};

/*
 * The hooked frames that a walk has to meet, youngest first. An earlier walk, whose steps are kept,
 * has met the oldest `met` of them: what lies below these is what it was then.
 */
struct walk_hooked {
    struct frame *oldest;
    size_t next; /* how many are left */
    size_t met;
    uintptr_t sp; /* of the youngest of those left; UINTPTR_MAX: none */
};

/* A filter that runs: the steps of its thread when it was entered, youngest first. */
struct walk_filter {
    uintptr_t function, mark; /* mark: stack pointer of the youngest frame that was not native */
    struct walk_steps steps;
    bool certain; /* the steps are known */
};

#define WALK_STARTS 8    /* that a thread remembers; a power of two */
#define WALK_NEAR   1024 /* rules that a thread has at hand; a power of two */
#define WALK_NODES  1024 /* nodes, the same */

/* A rule that a thread has met lately. Half a cache line: one is read for each step. */
struct walk_near {
    uintptr_t ip; /* 0: none */
    struct walk_words words;
};

/* What tree_next() gave lately. */
struct walk_node {
    uintptr_t method, ip; /* method 0: none */
    uint32_t path, next;
};

struct walk_thread {
    _Alignas(CACHE_LINE) struct walk_near near[WALK_NEAR]; /* by address: walk_near() */
    uint32_t met;                                          /* rules that were not at hand */
    uint64_t near_mortal[WALK_NEAR / 64]; /* bit mask of those that hold in this epoch only */
    struct walk_thread *next, **before;   /* under walk->lock */
    uintptr_t low, high;                  /* the thread's stack */
    uint32_t epoch;                       /* of the next */
    struct walk_node node[WALK_NODES];    /* of this epoch */
    struct walk_steps steps;              /* of its last certain walk, oldest first */
    size_t listed;                        /* of the oldest of these, the words are listed: */
    struct walk_word *word;               /* that were read to get to them, oldest first */
    struct walk_pair *pair;               /* the same; each is in one of both */
    size_t word_capacity, pair_capacity;
    bool anchored;           /* each hooked frame that is frame_walked() is in them */
    struct walk_steps fresh; /* those that a walk makes, youngest first */
    uintptr_t first;         /* of the last walk: as walk_filter.mark; 0: none */
    struct walk_start start[WALK_STARTS];
    unsigned start_last, start_new; /* the one that held last; the one to be replaced next */
    struct walk_filter *filter;
    size_t filters, filter_capacity;
    bool unsure; /* a filter could not be kept: from then on no walk is certain */
    bool proven; /* no filter runs that no callback announced */
    struct frame *shadow;
    size_t shadow_capacity;
    _Atomic(uint64_t) taken, declined[WALK_WHYS]; /* written by the owner */
};

static inline unsigned walk_near(uintptr_t ip)
{
    return (unsigned)(hash_word(ip) >> 32) & (WALK_NEAR - 1);
}

/* tree_next(): the nodes of a path, and the calls that they stand for, lie far from each other. */
static inline uint32_t walk_next(struct walk *walk, struct walk_thread *t, uint32_t path,
                                 uintptr_t method, uintptr_t ip)
{
    uint64_t hash = hash_word(ip ^ method << 16 ^ (uintptr_t)path << 32);
    struct walk_node *known = &t->node[hash >> 32 & (WALK_NODES - 1)];
    uint32_t next;

    if (LIKELY(known->ip == ip && known->method == method && known->path == path))
        return known->next;
    next = tree_next(walk->tree, path, method, ip);
    if (!tree_is_cut(next))
        *known = (struct walk_node){method, ip, path, next};
    return next;
}

/*
 * walk_node_on - the node of the thread's managed step `at` onto that of its caller. A call that
 * led there through a dynamic method is marked as such.
 */
static inline uint32_t walk_node_on(struct walk *walk, struct walk_thread *t, size_t at,
                                    uint32_t node)
{
    const struct walk_step *step = &t->steps.step[at];
    uint32_t caller = at ? step[-1].leaf : 0;
    uintptr_t ip = caller ? t->steps.step[caller - 1].ip & ~WALK_EXACT : 0;

    if (UNLIKELY(ip && step[-1].dynamic))
        ip |= TREE_IP_DYNAMIC;
    return walk_next(walk, t, node, (uintptr_t)step->of, ip);
}

/*
 * steps.c: walk_up - walks from the caller of the function that has this frame pointer. hooked: its
 *          `oldest` and `next` are set; NULL, for a filter: there is nothing to meet, no step is
 *          one of the last walk, and t->first is set.
 * Returns: WALK_CERTAIN: then t->steps has the steps; or why not: then it has those that it had.
 */
enum walk_why walk_up(struct walk *walk, struct walk_thread *t, const uintptr_t *fp,
                      struct walk_hooked *hooked);

#endif
