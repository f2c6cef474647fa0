/*
 * stack/stack_hot.h - layout of a shadow stack and the inline enter and leave, for
 * src/tracer/stack/, hooks/ and the rooms that run in every event of a thread.
 */
#ifndef SHADOWTRACE_STACK_STACK_HOT_H
#define SHADOWTRACE_STACK_STACK_HOT_H

#include "stack/stack.h"

#define STATE_DEPTH_BITS   24
#define STATE_CHANGE       (UINT64_C(1) << STATE_DEPTH_BITS)
#define STATE_ENTER        (STATE_CHANGE + 1)
#define STATE_LEAVE        (STATE_CHANGE - 1)
#define STATE_DEPTH(state) ((uint32_t)((state) & (STATE_CHANGE - 1)))
#define STACK_NONE         UINT32_MAX /* no such frame: reach, pending */

/* One array of frames in separate pages. frames[0] is the sentinel. */
struct stack_block {
    struct stack_block *next; /* among the retired; readers never look at it */
    size_t mapped;            /* bytes */
    size_t capacity;          /* frames, the sentinel not counted */
    size_t padding;
    struct frame frames[];
};

/* What one exception dispatch has told so far. Frames are indices from the root. */
struct stack_dispatch {
    uint32_t reach;   /* oldest frame that the search has passed, or STACK_NONE */
    uint32_t run;     /* where direct recursion down to reach begins; or STACK_NONE */
    uint32_t pending; /* oldest frame that was reported unwound and is not cut yet, or STACK_NONE */
    uint32_t
        mark; /* depth at the latest report: frames from here on were entered since, and are live */
    uintptr_t searched;    /* FunctionID that the search reported last */
    bool guessed;          /* pending is a guess; a report replaces it */
    bool searching;        /* first pass: nobody has been found to handle it */
    bool unhooked_finally; /* the finally entered last is of a method without hooks */
    uintptr_t thrown;      /* stack pointer when it was thrown: what the search calls lies below */
};

/* A dispatch that waits for managed code inside of it: a filter, a FirstChanceException handler. */
struct stack_save {
    uint32_t depth; /* as it was before that code's first frame */
    bool filter;    /* ended by SearchFilterLeave; else when its first frame is gone */
    struct stack_place
        unhooked; /* that code has no hooks: then it is over when this is gone, too; fp 0: it has */
    struct stack_dispatch dispatch;
};

/*
 * What each call changes. While a thread has a stack they lie in the thread's own memory
 * (stack_words), where a hook finds them at a constant distance: a processor that renames memory
 * then does not wait for the store of the call before. Else in struct stack.
 */
struct stack_words {
    struct frame *top, *limit; /* owner only */
    _Atomic(uint64_t) state;   /* I3 */
};

/*
 * One thread's shadow stack. Writer: the owning thread only. Readers: any thread, in an RCU
 * read-side section.
 * I1  top[-1] always exists: below the oldest frame lies a sentinel with sp UINTPTR_MAX. sp falls
 *     strictly, but where something was entered over frames that a dispatch has yet to cut.
 * I2  limit is lowered to force the slow path: full, a dispatch under way, stack_none (no stack
 *     yet), calls that are looked at (call_interval), frames that there was no memory for
 *     (lost_sp).
 * I3  state = depth : 24, changes : 40, one store per change, after the slots; a copy is exact if
 *     it is the same before and after. top == base + 1 + depth.
 * I4  a replaced block and a detached stack are freed one grace period later, by stack_reclaim,
 *     never sooner.
 * I5  while the dispatch is searching or has something pending, and while a save is open that is
 *     no filter's, limit is lowered. pending and reach at or above depth are stale: those frames
 *     were left, the dispatch is over.
 * I6  a jump is a change by more than the top frame. It is counted before its first store (slots,
 *     state) and again after its last. Where all that had ended before a look are all that had
 *     begun after it, no jump touched what lies between: neither the slots nor, of two states, the
 *     way from one to the other.
 * I7  a thread's memory goes with it. Readers look at words only where `shown` says, between
 *     stack_hold and stack_let_go; it says the thread's memory no more when the thread goes on
 *     from stack_detach.
 */
struct stack {
    struct stack_words *words;           /* owner only */
    struct frame *end;                   /* owner only: where the block is full */
    _Atomic(struct stack_block *) block; /* republished on growth; readers under RCU */
    struct stack_dispatch dispatch;      /* owner only */
    uint32_t touched;                    /* owner only: repairs since last asked */
    /* the rest */
    _Alignas(CACHE_LINE) _Atomic(struct stack *)
        next;                            /* registry; written by pushers and stack_reclaim */
    _Atomic(struct stack_words *) shown; /* I7; NULL: nobody may look */
    _Atomic(uint32_t) holds;             /* readers that look */
    struct stack_words own;              /* before the thread has it, and after */
    _Atomic(bool) gone;                  /* release, the owner's last store */
    _Atomic(bool) dispatching; /* an exception is on its way, or a filter runs; for readers */
    uint32_t os_thread;
    _Atomic(uint32_t) jumps_begun, jumps_ended; /* I6 */
    uint64_t number; /* no other stack has it, not even one of a later thread at this place */
    /* Written once by the owner, else by stack_generation_set(). */
    _Atomic(uint32_t) generation;
    /* Owner only: what the rooms above keep, until config.detached; NULL: nothing yet. */
    struct thread *thread;
    struct alloc_thread *alloc;
    struct values_thread *values;
    struct calls_thread *calls;
    struct stack *given_up;   /* stack_reclaim's: one more that is to be freed */
    struct stack_save *saves; /* outer dispatches, innermost last */
    uint32_t save_count, save_capacity;
    uint32_t uncalled; /* Enters since the last call of config.called */
    uintptr_t lost_sp; /* of the oldest frame that there was no memory for; 0: none is missing */
    bool off;          /* its hooks cannot be believed: it has no frames, and none is pushed */
    uint32_t unsaved;  /* running filters that there was no memory to save a dispatch for */
    struct stack_save saves_inside[8];
    _Atomic(uint64_t) repairs[STACK_REPAIRS]; /* written by the owner, read by all */
    _Atomic(uint64_t) repair_changes;         /* changes of state that were not calls */
};

extern _Thread_local struct stack *stack_self; /* never NULL: &stack_none before the first frame */
/* Its words; without a stack those of an empty one that is full, and state: see registry.c. */
extern _Thread_local struct stack_words stack_words;
extern struct stack stack_none;     /* never written */
extern _Atomic(bool) stack_stopped; /* stack_stop() was called */

/* The thread's end: its words leave its memory (I7). Owner; stack_self is &stack_none before. */
void stack_words_give(struct stack *s);

/* The newest stack of the registry, in a read section. Those of ended threads are marked gone. */
struct stack *stack_registry(void);

void stack_enter_slow(uintptr_t method, struct frame_at at);
void stack_leave_slow(uintptr_t method, uintptr_t sp);
/* As stack_enter, of a method that may go on where it was begun elsewhere (STACK_RESUMABLE). */
void stack_enter_resumable(uintptr_t method, struct frame_at at, const uintptr_t *passed);

/* All of a call but what its frame keeps. Owner only. */
static inline void frame_set(struct frame *frame, uintptr_t method, struct frame_at at,
                             uintptr_t ret)
{
    store_relaxed(&frame->method, method);
    store_relaxed(&frame->sp, at.sp);
    store_relaxed(&frame->marked_ret, ret);
#if CPU_RECORD_APART
    store_relaxed(&frame->fp, at.fp);
#endif
}

/* Wait-free but for the slow path (lock-free); keeps errno. Threads: the owner; in hooks. */
static inline void stack_enter_at(uintptr_t method, struct frame_at at)
{
    struct stack_words *w = &stack_words;
    struct frame *top = w->top; /* our own store: no ordering needed */

    if (UNLIKELY(top >= w->limit || load_relaxed(&top[-1].sp) <= at.sp)) {
        stack_enter_slow(method, at); /* first frame, full, pending unwind, dead frames on top */
        return;
    }
    /* The last change of state before these slots; pairs with look_again(). Nothing on x86. */
    fence_release();
    frame_set(top, method, at, ((const uintptr_t *)FRAME_RECORD(at))[1]);
    w->top = top + 1;
    store_release(&w->state, load_relaxed(&w->state) + STATE_ENTER); /* slots before state */
}

static inline void stack_enter(uintptr_t method, uintptr_t sp)
{
    stack_enter_at(method, frame_at(sp));
}

static inline void stack_leave(uintptr_t method, uintptr_t sp)
{
    struct stack_words *w = &stack_words;
    struct frame *top = w->top;

    if (UNLIKELY(load_relaxed(&top[-1].sp) != sp)) {
        stack_leave_slow(method, sp); /* dead frames above it, or an orphan */
        return;
    }
    w->top = top - 1;
    store_release(&w->state, load_relaxed(&w->state) + STATE_LEAVE);
}

/* stack_current() and stack_settle() for what each allocation does: their usual cases. */
static inline struct stack *stack_current_hot(void)
{
    struct stack *s = stack_self;

    return LIKELY(s != &stack_none && !load_relaxed(&stack_stopped)) ? s : stack_current();
}

/* Whether the thread is in methods that there was no memory for, above those of the stack. */
bool stack_misses_frames(struct stack *s);

static inline bool stack_misses_frames_hot(struct stack *s)
{
    return UNLIKELY(s->words->limit != s->end) && stack_misses_frames(s); /* I2 */
}

static inline size_t stack_settle_hot(struct stack *s, struct frame **top)
{
    if (UNLIKELY(s->words->limit != s->end)) /* I2, I5: there may be something to settle */
        return stack_settle(s, top);
    *top = s->words->top;
    return STATE_DEPTH(load_relaxed(&s->words->state));
}

/*
 * As stack_leave, for a hook that knows the caller's SP only where the method's frame is plain: in
 * a body entered by on-stack replacement the frame pointer lies lower than in the one that the
 * Enter came from, by less than the frame.
 */
void stack_leave_low(uintptr_t method, uintptr_t sp);

/* Owner only, as is stack_frame. */
static inline uint32_t stack_depth(const struct stack *s)
{
    return STATE_DEPTH(load_relaxed(&s->words->state));
}

/* Frame `index` from the root; the sentinel is not counted. Owner only. */
static inline struct frame *stack_frame(const struct stack *s, uint32_t index)
{
    return &load_relaxed(&s->block)->frames[1 + index];
}

/* FunctionID of a frame. */
static inline uintptr_t stack_function(const struct frame *frame)
{
    return *(const uintptr_t *)load_relaxed(&frame->method);
}

/*
 * stack_hold - a stack's words, which stay until stack_let_go. Returns: NULL: nobody may look, and
 * there is nothing to let go. Threads: any, in a read section (I4); the thread's end waits for it.
 */
static inline const struct stack_words *stack_hold(struct stack *s)
{
    const struct stack_words *words;

    add_relaxed(&s->holds, 1);
    fence_full(); /* one of the two sees the other: pairs with the fence in stack_words_give() */
    words = load_acquire(&s->shown);
    if (!words)
        add_relaxed(&s->holds, (uint32_t)-1);
    return words;
}

static inline void stack_let_go(struct stack *s)
{
    fence_release(); /* what was looked at, before */
    add_relaxed(&s->holds, (uint32_t)-1);
}

/* `changes` of the state just made, or about to be, are no calls. Owner only. */
static inline void stack_no_calls(struct stack *s, uint64_t changes)
{
    store_relaxed(&s->repair_changes, load_relaxed(&s->repair_changes) + changes);
}

/* Around the stores of a jump (I6). Owner only. */
static inline void stack_jump_begin(struct stack *s)
{
    store_relaxed(&s->jumps_begun, load_relaxed(&s->jumps_begun) + 1);
    fence_release(); /* before the stores; pairs with the fence in look_again() */
}

static inline void stack_jump_end(struct stack *s)
{
    store_release(&s->jumps_ended, load_relaxed(&s->jumps_begun)); /* pairs with look_begin() */
}

/*
 * Rules that a test build can switch off (SHADOWTRACE_WITHOUT names one, or several with commas),
 * so that a test sees the comparison find the difference. In the product this is the constant true.
 */
enum stack_rule {
    RULE_DEAD_ON_ENTER,
    RULE_DEAD_ON_LEAVE,
    RULE_FILTER_FRAME,
    RULE_FILTER_DISPATCH,
    RULE_HANDLER_CUT,
    RULE_THROWN_CUT,
    RULE_RUN_END,
    RULE_UNWIND_PENDING,
    RULE_FIRST_LEAVE,
    RULE_FINALLY_LEAVE,
    RULE_ALLOC_SETTLES,
    RULE_NESTED,
    RULE_STALE,
    RULE_LIVE_ABOVE,
    RULE_FINALLY_PAIR,
    RULE_DUPLICATE,
    RULE_SUPERSEDED,
    RULE_CUT_GOES_ON,
    RULE_HIDDEN,
    RULE_SILENT_PASS,
    RULE_IN_WRAPPER,
    RULE_SUSPENDED,
    RULE_SUSPENDED_THERE, /* the same, seen by another thread */
    RULE_SUSPENDED_STUB,  /* allocated through code without a frame: what that returns into lives */
    RULE_UNHOOKED,
    RULE_UNHOOKED_GONE,
    RULE_DYNAMIC_RUNS,
    RULE_PINNED,       /* exceptions are pinned while a handler is searched (src/tracer/events) */
    RULE_ENDS_EARLY,   /* of the comparison: without it such snapshots are differences */
    RULE_GRACE_PERIOD, /* of memory, not of frames: without it a reader meets what was given back */
    RULE_LIVE_BOUNDS,  /* of live objects (src/tracer/live): what is not collected is left alone */
    RULE_LIVE_SPLIT,   /* survivors of a run are moved one by one */
    RULE_LIVE_OPEN,    /* an object without a key stays in its log through a collection */
    RULE_LIVE_MERGE,   /* what comes into a block is sorted in */
    RULE_LIVE_DEPTH,   /* the collection's own event has the collected generations */
    /* Of walks (src/tracer/walk): */
    RULE_WALK_FRAMELESS, /* the prolog of managed code says whether it has a frame pointer */
    RULE_WALK_OSR,       /* a body that replaced a running one has that one's frame, too */
    RULE_WALK_HIDDEN,    /* CoreLib's exception handling has no frames */
    RULE_WALK_FILTER,    /* a filter runs on its method's frame, above what it passes */
    RULE_WALK_EXACT,     /* where a signal came is no return address */
    RULE_WALK_MEMO,      /* older steps are the last walk's only if all their words are the same */
    RULE_WALK_START,     /* the native code at the start is what it was only if its words are */
    RULE_WALK_HOOKED,    /* a hooked frame is met at its SP and of its method, or not at all */
    RULE_WALK_BELOW,     /* what lies below a hooked frame is what it was only if it was met then */
    RULE_WALK_EPOCH,     /* what was unloaded is forgotten: rules, steps and nodes */
    RULE_WALK_PROVEN,    /* a filter may run in a thread since before its recording */
    STACK_RULES
};
#ifdef SHADOWTRACE_NEGATIVE
extern uint64_t stack_rules_off;
void stack_rules_read(void); /* rules.c; once */
#define RULE(rule) (!(stack_rules_off >> (rule)&1))
#else
#define RULE(rule) true
#endif

/* ---- shared by the files of src/tracer/stack/, from the bottom up; owner only ---- */

/* storage.c */
void stack_configure(const struct stack_config *config); /* once */
const struct stack_config *stack_config(void);
struct stack *stack_new(void); /* of the calling thread, on no registry; NULL: no memory */
void stack_free(struct stack *s);
void stack_limit_set(struct stack *s); /* what I2 and I5 ask for */
void stack_count(struct stack *s, enum stack_repair why);
void stack_push(struct stack *s, uintptr_t method, struct frame_at at, uintptr_t ret);
/* Takes out the frames from `depth` on; none at or above the present depth. */
void stack_cut(struct stack *s, uint32_t depth, enum stack_repair why);
/* Takes the frames [from, to) out of the middle: those above them are live. */
void stack_splice(struct stack *s, uint32_t from, uint32_t to, enum stack_repair why);
/* Is a frame missing below sp because memory ran out? If not, none is missing any more. */
bool stack_misses(struct stack *s, uintptr_t sp);
struct stack_block *stack_blocks_retired(void); /* outgrown ones, linked by next; the resolver's */
void stack_blocks_free(struct stack_block *block);

/* dispatch.c */
/* Opens a save here, with a fresh dispatch; false: no memory. stack_restore ends the innermost. */
bool stack_save(struct stack *s, bool filter);
void stack_restore(struct stack *s);
/* Is the innermost save of code without hooks, of whose hooked callees none lives? */
bool stack_unhooked_save(const struct stack *s);
/* Drops what is stale (I5); first thing in the slow path and in every event. */
void stack_normalise(struct stack *s);
/*
 * The oldest frame from which direct recursion leads to frame `index`. Some builds leave out the
 * reports of these, and what left the youngest without a handler's running has left them all.
 */
uint32_t stack_run_end(const struct stack *s, uint32_t index);
void stack_settle_pending(struct stack *s, enum stack_repair why);
/* stack_config's, if there are any. */
bool stack_unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out);
bool stack_runs(const struct stack_place *place);
/* The search has ended and nobody said so: what it passed is gone, and pending from here on. */
void stack_swallowed(struct stack *s);
/*
 * The present dispatch has gone beyond what was called when the stack had `depth` frames or more:
 * dispatches that wait for that code to return never go on.
 */
void stack_supersede(struct stack *s, uint32_t depth);

/* registry.c */
/* For an Enter: the stack, created if needed; NULL: none, or it would begin in the middle. */
struct stack *stack_entered(uintptr_t sp);
void stack_count_without(enum stack_repair why); /* on a thread without a stack */

#endif
