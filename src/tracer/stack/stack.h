/*
 * stack/stack.h - one shadow stack per thread: which methods are live, as the hooks and the
 * exception callbacks tell.
 *
 * A method is an opaque word here: a pointer to a record whose first word is its FunctionID (that
 * much is read, to find "a frame of f" when the runtime names f in an exception callback). A stack
 * is written by its own thread only; other threads find it in the registry, an RCU list, and copy
 * it without stopping anybody.
 *
 *                        | enter, leave, events     | stack_copy_*, | stack_attach, | stack_reclaim
 *   at the same time as  | (exceptions)             | totals        | thread's exit |
 *   enter, leave, events | each on its own stack    | safe          | safe          | safe
 *   stack_copy_*, totals |                          | safe          | safe          | safe
 *   stack_reclaim        |                          |               | safe          | one thread
 */
#ifndef SHADOWTRACE_STACK_STACK_H
#define SHADOWTRACE_STACK_STACK_H

#include "base/atomics.h"

#include "base/cpu.h"

#include <stdbool.h>

/* Where a call's frame is: its caller's stack pointer, and its frame record (base/cpu.h). */
struct frame_at {
    uintptr_t sp;
#if CPU_RECORD_APART
    uintptr_t fp;
#endif
};

#if CPU_RECORD_APART
#define FRAME_RECORD(of) ((of).fp)
#else
#define FRAME_RECORD(of) ((of).sp - 2 * sizeof(uintptr_t))
#endif

/* Of a frame whose record is next to its caller's stack pointer. */
static inline struct frame_at frame_at(uintptr_t sp)
{
#if CPU_RECORD_APART
    return (struct frame_at){sp, sp - 2 * sizeof(uintptr_t)};
#else
    return (struct frame_at){sp};
#endif
}

/* One live call. sp identifies it: unique among a thread's live frames, falling as calls nest. */
struct frame {
    _Atomic(uintptr_t) method; /* record of the method, see above; lives as long as the process */
    _Atomic(uintptr_t) sp;     /* the caller's stack pointer, bytes */
    /* frame_ret(); FRAME_KEPT once one of the next two is written: an Enter writes neither;
     * FRAME_WALKED. */
    _Atomic(uintptr_t) marked_ret;
    uint32_t kept_node, kept_flags; /* frame_node(), frame_flags() */
#if CPU_RECORD_APART
    _Atomic(uintptr_t) fp; /* frame_record() */
#endif
};

/* Address of the frame record: what the method's frame pointer is, and what a callee saves. */
static inline uintptr_t frame_record(const struct frame *frame)
{
#if CPU_RECORD_APART
    return load_relaxed(&frame->fp);
#else
    return load_relaxed(&frame->sp) - 2 * sizeof(uintptr_t);
#endif
}

static inline struct frame_at frame_place(const struct frame *frame)
{
    struct frame_at at = frame_at(load_relaxed(&frame->sp));

#if CPU_RECORD_APART
    at.fp = load_relaxed(&frame->fp);
#endif
    return at;
}

/* No address of a program has these bits: they end below 1 << 62. */
#define FRAME_KEPT   ((uintptr_t)1 << 63)
#define FRAME_WALKED ((uintptr_t)1 << 62) /* see frame_walked() */

#define FRAME_FINALLY 1u /* a finally or fault of it runs, for an exception */
#define FRAME_TRACED  2u /* its call is an event, posted (hooks/calls.h) */
#define FRAME_HELD    4u /* the same, held back: it becomes one if it lasts long enough */
/* All older frames were live when this was looked at, and are while it is. */
#define FRAME_LIVE_BELOW 8u
/* From this bit on: where the method that goes on in it was begun (config.begun); 0: not known. */
#define FRAME_BEGUN_SHIFT 4
#define FRAME_BEGUN_MAX   (UINT32_MAX >> FRAME_BEGUN_SHIFT)

/* Return address as Enter read it (the word may be replaced later), or FRAME_RET_FILTER. */
static inline uintptr_t frame_ret(const struct frame *frame)
{
    return load_relaxed(&frame->marked_ret) & ~(FRAME_KEPT | FRAME_WALKED);
}

static inline bool frame_keeps(const struct frame *frame)
{
    return load_relaxed(&frame->marked_ret) & FRAME_KEPT;
}

/* Has a walk met this call (src/tracer/walk)? An Enter ends that. Owner only, as the next. */
static inline bool frame_walked(const struct frame *frame)
{
    return load_relaxed(&frame->marked_ret) & FRAME_WALKED;
}

static inline void frame_walked_set(struct frame *frame)
{
    store_relaxed(&frame->marked_ret, load_relaxed(&frame->marked_ret) | FRAME_WALKED);
}

/* Id of the context node, 0 until an event first needs it. Owner only, as all that follows. */
static inline uint32_t frame_node(const struct frame *frame)
{
    return frame_keeps(frame) ? frame->kept_node : 0;
}

/* FRAME_ flags. */
static inline uint32_t frame_flags(const struct frame *frame)
{
    return frame_keeps(frame) ? frame->kept_flags : 0;
}

static inline void frame_keep(struct frame *frame, uint32_t node, uint32_t flags)
{
    frame->kept_node = node;
    frame->kept_flags = flags;
    store_relaxed(&frame->marked_ret, load_relaxed(&frame->marked_ret) | FRAME_KEPT);
}

static inline void frame_node_set(struct frame *frame, uint32_t node)
{
    frame_keep(frame, node, frame_flags(frame));
}

static inline void frame_flags_set(struct frame *frame, uint32_t flags)
{
    frame_keep(frame, frame_node(frame), flags);
}

/* Not an address: of the second frame that a method has while its filter runs. */
#define FRAME_RET_FILTER 1

/*
 * Flags in the method that an Enter3 hook gets: the hook calls config.begun, unless the first
 * integer argument shows that this is a call: because there is one (`this`, say), or because there
 * is not.
 */
#define STACK_RESUMABLE    ((uintptr_t)1)
#define STACK_CALL_IF_SOME ((uintptr_t)2)
#define STACK_CALL_IF_NONE ((uintptr_t)4)
#define STACK_TAGS         ((uintptr_t)7)

struct stack;

/* What repaired the stack, beyond matching enters and leaves. Order and names are the log's. */
enum stack_repair {
    STACK_DEAD_ON_ENTER,   /* Enter found frames that had been left without notice */
    STACK_DEAD_ON_LEAVE,   /* Leave or Tailcall did */
    STACK_ORPHAN_LEAVE,    /* Leave or Tailcall without its frame: nothing popped */
    STACK_HANDLER_CUT,     /* frames above the one whose finally or catch is about to run */
    STACK_NATIVE_BOUNDARY, /* frames an exception left on its way into native code */
    STACK_UNWOUND,         /* frames unwound so far, cut when something had to see the stack */
    STACK_FILTER,          /* frames that an exception swallowed in a filter left behind */
    STACK_LOST_FRAME, /* no memory for a frame: the stack is not exact until that call returns */
    STACK_IN_WRAPPER, /* an abort was thrown before the Enter hook or after the Leave hook */
    STACK_SUSPENDED, /* frames of suspended methods of runtime async: they return without a Leave */
    STACK_REPAIRS
};
const char *stack_repair_name(enum stack_repair repair);

/* Counts over all threads, those that ended included. */
struct stack_totals {
    uint64_t calls; /* enters and leaves seen by the hooks */
    uint64_t repairs[STACK_REPAIRS];
    uint64_t threads; /* stacks ever attached */
    uint64_t refused; /* calls and threads for which there was no stack at all: memory ran out */
};

/* A frame of the machine's stack: its frame pointer, and what it returns to. */
struct stack_place {
    uintptr_t fp, ret;
};

struct stack_config {
    /* Frames [from, to) are to be taken out without a Leave: owner, in hooks too. May be NULL. */
    void (*cutting)(struct stack *stack, uint32_t from, uint32_t to);
    /* The thread ends, or its use of this stack: give back what is kept on it. May be NULL. */
    void (*detached)(void *context, struct stack *stack);
    /* FunctionID of the code at ip, or 0. Asked in callbacks, never in a hook. May be NULL. */
    uintptr_t (*function_at)(uintptr_t ip);
    /*
     * Where the runtime's own code that called this frame returns to, if that code keeps no frame
     * itself but leaves its caller's frame pointer in place; else 0. Asked as function_at. May be
     * NULL.
     */
    uintptr_t (*stub_returns_to)(const uintptr_t *frame);
    /*
     * Every call_interval-th Enter of a thread ends here, in the hook; 0: none does. While it is
     * set every Enter takes the slow path.
     */
    uint32_t call_interval;
    void (*called)(void *context, struct stack *stack);
    /*
     * Whether the frame, whose exception is being searched for, is off the
     * machine's stack: a second pass of which nothing was reported. Asked at allocations. NULL
     * where that does not happen.
     */
    bool (*left)(const struct frame *frame);
    /* May this method return without a Leave (runtime async)? NULL: none does. */
    bool (*suspends)(uintptr_t method);
    /*
     * A method was entered that may be one that goes on after it waited (STACK_RESUMABLE);
     * passed[0] to [3]: its first integer arguments, sp: its caller's SP. Returns: where it was
     * begun, at most FRAME_BEGUN_MAX, or 0. Asked in the hook: asks nobody. May be NULL.
     */
    uint32_t (*begun)(void *context, const struct stack *stack, uintptr_t method, uintptr_t sp,
                      const uintptr_t *passed);
    /*
     * Whether `frame`, which is on the machine's stack, lies below code without hooks that was
     * called since an address of that stack, `since`: then *out is the oldest frame of that code.
     * Asked when an exception is thrown while another is being searched for. NULL: it never does.
     */
    bool (*unhooked)(uintptr_t since, const struct frame *frame, struct stack_place *out);
    /*
     * Are the registers of this Enter hook what they should be? Asked in each slow path, before
     * anything is read by them; `false`: it enters nothing. NULL: they are known to be.
     */
    bool (*expected)(void *context, uintptr_t method, struct frame_at at);
    /*
     * The same of a Leave hook that found no frame, on a thread where none has found one yet.
     * `false`: no frame of this thread would ever go: it has none from then on. NULL: known to be.
     */
    bool (*left_as_expected)(void *context, uintptr_t method, uintptr_t sp);
    /* No destructor tells of a thread's end: stack_thread_ended() does. */
    bool unannounced;
    /* Whether that code still runs. Asked in hooks too: it asks nobody. */
    bool (*runs)(const struct stack_place *place);
    void *context;
};

/* stack_start - once, before any hook runs. Returns: 0 or -errno (no thread-specific key left). */
int stack_start(const struct stack_config *config);

/*
 * stack_stop - from now on no stack is made and none grows (a child after fork, which has no
 * resolver). Hooks of threads that have a stack go on in it. Threads: any; takes effect at once.
 */
void stack_stop(void);

/*
 * stack_current - the calling thread's stack, created by the first call.
 * Returns: the stack, or NULL when memory ran out or after stack_stop().
 * Owns:    the registry; gone with the thread. Threads: the owner.
 * May run: anywhere; the first time it maps pages.
 */
struct stack *stack_current(void);

/*
 * stack_thread_ended - under config.unannounced: the thread with that gettid() ends, or has ended.
 * What is on its stack is given back as if a destructor had run. Threads: any; another one than
 * that thread only once that has ended.
 */
void stack_thread_ended(uint32_t os_thread);

/* The calling thread's stack if it has one; never makes one. */
struct stack *stack_peek(void);

uint32_t stack_os_thread(const struct stack *stack); /* gettid() of its thread */

/*
 * stack_generation_set - hand every thread a word: at once to those that have a stack, later ones
 * find it in theirs. It is how a change of configuration reaches a thread without a look at
 * anything shared.
 * Threads: one at a time. value is not 0, and stack_generation() is 0 only until the first call.
 */
void stack_generation_set(uint32_t value);
uint32_t stack_generation(const struct stack *stack);

/*
 * stack_inside - the calling thread is inside the code around a hook that `method`, called at
 * caller's SP `at.sp`, has called: its frame is pushed, if it is not the top. leaving: a Leave's;
 * then the frame is as it was if it has just been left, and `at` is too low in a body entered by
 * on-stack replacement (see stack_leave_low), which no Enter knows.
 * Threads: the owner. May run: in callbacks.
 */
void stack_inside(struct stack *stack, uintptr_t method, struct frame_at at, bool leaving);

/*
 * stack_drop_suspended - takes out the frames of methods of runtime async that have suspended, see
 * config.suspends. frame_address: the caller's own. Threads: the owner. May run: in callbacks,
 * before anything looks at the stack.
 */
void stack_drop_suspended(struct stack *stack, const void *frame_address);

/* SP of the youngest frame's caller; UINTPTR_MAX: no frame. Owner only. */
uintptr_t stack_top_sp(const struct stack *stack);

/*
 * stack_settle - frames of the calling thread, as an allocation must see them: what an exception
 * has unwound so far is cut first.
 * Returns: how many; *top is the youngest frame's address + 1, the one called by it lies at
 *          (*top)[-2], and so on.
 * Owns:    the stack; valid until the thread enters or leaves a method. node may be written,
 *          nothing else.
 */
size_t stack_settle(struct stack *stack, struct frame **top);

/*
 * stack_look - the same without cutting anything: what an exception has unwound so far is left out
 * of the count.
 * Returns and owns: as stack_settle.
 */
size_t stack_look(const struct stack *stack, struct frame **top);

/* Is an exception on its way, or does a filter run? Owner only. */
bool stack_dispatching(const struct stack *stack);

/*
 * Exception callbacks, on the throwing thread. `function` is the FunctionID that the runtime
 * names; `sp` the framePointer of GetNotifiedExceptionClauseInfo (x86-64: the handling frame's SP,
 * bytes; 0 when it gave none).
 * Threads: the owner. May run: in the callback of the same name. Rules: unwind.c.
 */
void stack_exception_thrown(void);
void stack_search_function_enter(uintptr_t function);
bool stack_searched_all(void); /* the search has come to the oldest frame */
void stack_search_filter_enter(uintptr_t function);
void stack_search_filter_leave(void);
void stack_search_catcher_found(void);
void stack_unwind_function_enter(uintptr_t function);
void stack_unwind_function_leave(void);
void stack_unwind_finally_enter(uintptr_t function, uintptr_t sp);
void stack_unwind_finally_leave(void);
void stack_catcher_enter(uintptr_t function, uintptr_t sp);

/* Repairs (1 << enum stack_repair) of this stack since stack_forget_repairs(). Owner only. */
uint32_t stack_touched(const struct stack *stack);
void stack_forget_repairs(struct stack *stack);

/* stack_totals_read - sums over all stacks. Threads: any; a count may lag by the call in flight. */
void stack_totals_read(struct stack_totals *out);

/* A copied frame: struct frame as it was. */
struct stack_copied {
    uintptr_t method, sp, ret;
#if CPU_RECORD_APART
    uintptr_t fp; /* FRAME_RECORD() */
#endif
};

static inline struct stack_copied stack_copied(const struct frame *frame)
{
    return (struct stack_copied)
    {
        .method = load_relaxed(&frame->method), .sp = load_relaxed(&frame->sp),
        .ret = frame_ret(frame),
#if CPU_RECORD_APART
        .fp = frame_record(frame),
#endif
    };
}

/* FunctionID of a copied frame; 0: none. */
static inline uintptr_t stack_copied_function(const struct stack_copied *frame)
{
    return frame->method ? *(const uintptr_t *)frame->method : 0;
}

/* A copy of one thread's stack, in the caller's memory. */
struct stack_copy {
    struct stack_copied *frames; /* the caller's array, oldest first */
    uint32_t capacity;
    uint32_t depth;   /* how deep the stack was; frames[] holds the oldest min(depth, capacity) */
    bool exact;       /* these were its frames at one moment; else it moved at each try */
    bool dispatching; /* an exception is on its way, or a filter runs: maybe between two reports */
    struct stack_copied
        left; /* just above the youngest: the frame left last, if none was entered since */
};

/*
 * stack_copy_thread - copy one thread's frames without stopping it.
 * Returns: 0, or -ESRCH for a thread that has no stack or is gone.
 * Owns:    out and its array stay the caller's; nothing in them points into the registry.
 * Threads: any; the copied thread never waits. May run: anywhere but in a hook; does not block.
 */
int stack_copy_thread(uint32_t os_thread, struct stack_copy *out);

/*
 * stack_copy_drop_suspended - takes out of a whole copy what the thread's next hook or callback
 * would (stack_drop_suspended). The thread is stopped; sp and fp: the stack pointer and the frame
 * pointer of the youngest method on its machine's stack.
 * Returns: how many frames. Threads: any. May run: where the runtime may be asked what code lies at
 * an address; some system calls.
 */
uint32_t stack_copy_drop_suspended(struct stack_copy *copy, uintptr_t sp, uintptr_t fp);

/* What is kept of a copy of a stack: it is not copied again while nothing has changed. */
struct stack_seen {
    uint64_t number,
        state; /* of struct stack_copied_thread; STACK_SEEN_NEVER: copy it in any case */
    bool dispatching;
};
#define STACK_SEEN_NEVER UINT64_MAX

/* One thread in a copy of all. Its frames are frames[first .. first + count), oldest first. */
struct stack_copied_thread {
    uint64_t number, state; /* of its stack: no two have the same; which moment the copy is of */
    size_t earlier;         /* which of seen[] is of this stack; SIZE_MAX: none */
    bool unchanged;         /* it is exactly as it was then: no frame was copied, count is 0 */
    uint32_t os_thread;
    uint32_t depth; /* how deep its stack was; the oldest depth - count frames are left out */
    uint32_t count;
    uint32_t certain; /* its oldest frames that were there at one moment; depth if exact */
    uint32_t tries;
    bool exact, dispatching; /* as in struct stack_copy */
    size_t first;
};

/* Copies of all stacks, in the caller's memory. */
struct stack_copies {
    struct stack_copied *frames;
    size_t capacity;
    struct stack_copied_thread *threads;
    size_t thread_capacity;
    uint32_t most; /* frames of one thread: of a deeper stack the youngest are copied */
    const struct stack_seen *seen; /* of the threads of an earlier copy, in its order */
    size_t seen_count;
    size_t count;                         /* threads copied */
    size_t used;                          /* frames copied */
    size_t threads_wanted, frames_wanted; /* what all would have taken */
};

/*
 * stack_copy_all - copy the stacks of all threads, in one read-side section, without stopping
 * anybody.
 * Returns: 0, or -ENOSPC when not all fitted: threads_wanted and frames_wanted say what is needed
 *          now.
 * Owns:    out and its arrays stay the caller's; nothing in them points into the registry.
 * Threads: any; the copied threads never wait. May run: anywhere but in a hook; does not block or
 *          allocate. A thread that never entered a method, or has ended, is not there.
 */
int stack_copy_all(struct stack_copies *out);

/*
 * stack_copies_grow - room for twice of what the last stack_copy_all wanted; before the first one
 * nothing is needed.
 * Returns: 0, or -ENOMEM. stack_copies_free - the arrays. Threads: who owns them.
 */
int stack_copies_grow(struct stack_copies *copies);
void stack_copies_free(struct stack_copies *copies);

/*
 * stack_any - does any thread's stack have a frame of a method that `is` says? One of a method
 * that was unloaded is dead: left by an exception, and its thread has entered and left nothing
 * since. No such frame comes meanwhile.
 * Returns: whether there is one, or may be. Threads: any. May run: as stack_copy_all.
 */
bool stack_any(bool (*is)(uintptr_t method));

/*
 * stack_measure - the cost of call pairs in this process: calls pair(method, sp) `count` times on
 * a separate stack, which belongs to no thread and is not counted.
 * Returns: nanoseconds in all, 0 when memory ran out. Threads: any that runs no managed code
 *          meanwhile.
 */
uint64_t stack_measure(void (*pair)(uintptr_t method, uintptr_t sp), unsigned count);

/*
 * stack_reclaim - give back stacks of ended threads and outgrown storage, one grace period after
 * they were given up.
 * Returns: whether there was anything. Threads: one (the resolver). Blocks for a grace period;
 *          never in a callback.
 */
bool stack_reclaim(void);

#endif
