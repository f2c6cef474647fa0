/* walk/internal.h - what the files of src/tracer/walk/ share. */
#ifndef SHADOWTRACE_WALK_INTERNAL_H
#define SHADOWTRACE_WALK_INTERNAL_H

#include "walk/images.h"
#include "walk/natives.h"
#include "walk/walk.h"

#include "base/array.h"
#include "tree/tree.h"

#include <pthread.h>

struct walk_thread;

struct walk {
    const struct clr_runtime *runtime;
    struct metadata *metadata;
    struct tree *tree;
    struct images *images;
    _Atomic(uint32_t) epoch; /* raised when code was unloaded: rules made before are void */
    pthread_mutex_t lock;    /* guards the next two; nothing waits under it */
    struct walk_thread *threads;
    struct walk_totals ended; /* of threads that have ended */
};

/* What code at an address is. */
enum walk_kind {
    KIND_NATIVE,
    KIND_MANAGED,
    KIND_NAMELESS, /* jitted, of no method: snapshots have no frame for it */
    KIND_HIDDEN,   /* of CoreLib's exception handling: the same */
    KIND_SIGNAL,   /* what a signal handler returns to: the interrupted registers lie above */
    KIND_END,      /* the thread's oldest frame */
    KIND_UNSURE
};

/* Set in a rule's address where the processor stopped: not a return address. */
#define WALK_EXACT ((uintptr_t)1 << 63)

/*
 * From a frame to its caller's: cfa = (by_fp ? rbp : rsp) + cfa; the return address is at
 * cfa + ret, the saved rbp at cfa + fp unless it is kept; the caller's rsp is the CFA.
 */
struct walk_rule {
    uintptr_t ip;
    const void *image;              /* native code that may be unloaded: its image; else NULL */
    struct metadata_method *method; /* of KIND_MANAGED */
    int32_t cfa, fp, ret;
    uint32_t distance; /* framed managed code: from its stack pointer up to rbp */
    uint32_t caller;   /* place of the rule that the caller had last */
    uint8_t kind, why; /* enum walk_kind; KIND_UNSURE: enum walk_why */
    bool by_fp, keeps_fp;
    bool framed;       /* `distance` is set */
    bool exact_caller; /* the caller's address is where a signal came: made up by the runtime */
};

/*
 * managed.c: the rule of code that is not native, in *out, whose ip is set. at: an address in the
 * instruction. Returns: WALK_CERTAIN, or why not.
 */
enum walk_why walk_managed(struct walk *walk, uintptr_t at, struct walk_rule *out);

/* managed.c, apart from the runtime: what a prolog says. Returns: as above. */
enum walk_why walk_prolog(const uint8_t *code, size_t size, uintptr_t at, bool exact,
                          struct walk_rule *out);

/* The rules that a thread has met, by address. */
struct walk_rules {
    uint32_t epoch, count, capacity; /* place 0 is no rule: where callers are first looked for */
    struct walk_rule *rule;
    uint32_t *place; /* by hash of the address; twice as many as the capacity */
};

/*
 * rules.c: walk_rule_of - the place of the rule for an address; `from` is the one that its callee
 * has. 0: out of memory. Threads: the owner.
 */
uint32_t walk_rule_of(struct walk *walk, struct walk_rules *rules, uintptr_t ip, uint32_t from);
void walk_rules_forget(struct walk_rules *rules, uint32_t epoch);
void walk_rules_fini(struct walk_rules *rules);

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
    bool managed;   /* it is a frame of a method */
    bool nameless;  /* code of no method, with none younger than the youngest frame */
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

/* A filter that runs: the steps of its thread when it was entered, youngest first. */
struct walk_filter {
    uintptr_t function, mark; /* mark: stack pointer of the youngest frame that was not native */
    struct walk_steps steps;
    bool certain; /* the steps are known */
};

struct walk_thread {
    struct walk_thread *next, **before; /* under walk->lock */
    uintptr_t low, high;                /* the thread's stack */
    struct walk_rules rules;
    struct walk_steps steps; /* of its last certain walk, oldest first */
    struct walk_steps fresh; /* those that a walk makes, youngest first */
    uintptr_t first;         /* of the last walk: as walk_filter.mark; 0: none */
    struct walk_filter *filter;
    size_t filters, filter_capacity;
    bool unsure; /* a filter could not be kept: from then on no walk is certain */
    struct frame *shadow;
    size_t shadow_capacity;
    _Atomic(uint64_t) taken, declined[WALK_WHYS]; /* written by the owner */
};

/*
 * steps.c: walk_up - walks from the caller of the function that has this frame pointer. memo: older
 *          steps may be those of the last walk; else t->first is set.
 * Returns: WALK_CERTAIN: then t->steps has the steps; or why not: then it has those that it had.
 */
enum walk_why walk_up(struct walk *walk, struct walk_thread *t, const uintptr_t *fp, bool memo);

#endif
