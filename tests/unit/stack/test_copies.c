/*
 * Copies of all stacks, taken while their threads call, return, throw, grow and end at full speed. The calls are such
 * that every stack the program can have is known: level n is always method n % METHODS at its own place. Above some
 * level the frames may be of a handler, which was called in place of those that it found. A copy that says it is exact
 * has to be one of these; of another, the frames that it calls certain.
 *
 * COPIES and SECONDS in the environment set the length of the long test, THREADS the number of threads. These have the
 * lowest priority: they take all that is left of the processors, and the reader gets its share.
 */
#include "stack/stack_hot.h"

#include "base/clock.h"
#include "rcu/grace.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_LEVELS 2200u /* beyond the first block: a stack that deep grows */
#define LEVELS      200u
#define UNSEEN      3u  /* frames thrown out of by an exception whose handler nobody reports, */
#define HANDLING    20u /* and those of the handler, which come over them */
#define METHODS     8u
#define STRIDE      2u
#define MOST_FRAMES (MOST_LEVELS + UNSEEN)
#define FRAMES      (64u * 2u * MOST_FRAMES)
#define THREADS     64u
/* Every atomic store is made under a lock of TSan's: who loses its processor there keeps the reader waiting for long. */
#ifdef __SANITIZE_THREAD__
#define GIVE_WAY() sched_yield()
#else
#define GIVE_WAY() (void)0
#endif
#define PATIENCE_NS \
    UINT64_C(120000000000) /* until something that must happen is taken not to happen */
#define ENDED   100u       /* threads, at least, where they end */
#define PLAIN   0x500000u  /* return addresses: plus the level */
#define HANDLER 0x900000u

static const uintptr_t methods[METHODS] = {100, 101, 102, 103, 104, 105, 106, 107};

struct machine {
    uintptr_t words[(MOST_LEVELS + 2) * STRIDE];
};

struct fleet {
    _Atomic(bool) over;
    _Atomic(unsigned) started;
    _Atomic(uint64_t) calls, thrown, spliced, ended;
    unsigned threads;
    bool churn; /* threads end, and grow their stacks */
};

struct tally {
    uint64_t copies, threads, exact, unchanged, torn, uncertain, failed, short_of_room;
};

static uint64_t setting(const char *name, uint64_t standard)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : standard;
}

static uintptr_t sp_of(const struct machine *m, unsigned level)
{
    return (uintptr_t)&m->words[(MOST_LEVELS + 1 - level) * STRIDE];
}

static unsigned next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 33);
}

static void enter_from(struct machine *m, unsigned level, unsigned kind)
{
    m->words[(MOST_LEVELS + 1 - level) * STRIDE - 1] = kind + level; /* the return address */
    stack_enter((uintptr_t)&methods[level % METHODS], sp_of(m, level));
}

static void enter(struct machine *m, unsigned level)
{
    enter_from(m, level, PLAIN);
}

static void leave(const struct machine *m, unsigned level)
{
    stack_leave((uintptr_t)&methods[level % METHODS], sp_of(m, level));
}

/*
 * The frames above `level` are thrown out of, the handler in their place is not reported: its frames come over
 * theirs until somebody looks. Then they move down.
 */
static void handle_unseen(struct fleet *fleet, struct machine *m, unsigned level)
{
    struct frame *top;

    for (unsigned i = 1; i <= UNSEEN; i++)
        enter(m, level + i);
    stack_exception_thrown();
    stack_search_function_enter(methods[(level + UNSEEN) % METHODS]);
    stack_search_catcher_found();
    for (unsigned i = UNSEEN; i >= 1; i--)
        stack_unwind_function_enter(methods[(level + i) % METHODS]);
    for (unsigned i = 1; i <= HANDLING; i++)
        enter_from(m, level + i, HANDLER);
    if (stack_settle(stack_current(), &top) == level + HANDLING)
        add_relaxed(&fleet->spliced, 1);
    for (unsigned i = HANDLING; i >= 1; i--)
        leave(m, level + i);
}

/* A random depth. Every eighth is of the deepest that a stack can have, where handlers come over frames. */
static unsigned random_level(unsigned most, uint64_t *random)
{
    if (next_random(random) % 8 == 0)
        return most - HANDLING - next_random(random) % 4;
    return next_random(random) % most + 1;
}

/* From `from` calls deep to a random depth and back, by returns or by an exception caught half way. */
static unsigned step(struct fleet *fleet, struct machine *m, unsigned level, unsigned most,
                     uint64_t *random)
{
    unsigned to = random_level(most, random), start = level;

    while (level < to)
        enter(m, ++level);
    if (level > to && next_random(random) % 4 == 0) {
        stack_exception_thrown();
        stack_search_function_enter(methods[level % METHODS]);
        stack_search_catcher_found();
        stack_catcher_enter(methods[to % METHODS],
                            sp_of(m, CPU_HANDLER_SP_OF_CALLER ? to : to + 1));
        level = to;
        add_relaxed(&fleet->thrown, 1);
    }
    for (; level > to; level--)
        leave(m, level);
    if (level + HANDLING <= most && next_random(random) % 4 == 0)
        handle_unseen(fleet, m, level);
    add_relaxed(&fleet->calls, start > to ? start - to : to - start);
    return level;
}

static void *run(void *context)
{
    struct fleet *fleet = context;
    struct machine *m = memory_zalloc(1, sizeof(*m));
    uint64_t random = clock_ns() | 1;
    unsigned level = 0, steps = 0;

    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    if (m)
        enter(m, ++level);
    add_relaxed(&fleet->started, 1);
    while (m && !load_relaxed(&fleet->over) && !(fleet->churn && steps++ > 200)) {
        GIVE_WAY();
        level = step(fleet, m, level, fleet->churn ? MOST_LEVELS : LEVELS, &random);
    }
    for (; m && level > 0; level--)
        leave(m, level);
    memory_free(m);
    return NULL;
}

/* Threads that end and are followed by others. */
static void *spawn(void *context)
{
    struct fleet *fleet = context;
    pthread_t thread;

    while (!load_relaxed(&fleet->over)) {
        if (pthread_create(&thread, NULL, run, fleet))
            break;
        pthread_join(thread, NULL);
        add_relaxed(&fleet->ended, 1);
    }
    return NULL;
}

static void *reclaim(void *context)
{
    struct fleet *fleet = context;
    const struct timespec pause = {0, 200000};

    while (!load_relaxed(&fleet->over)) {
        stack_reclaim();
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Levels 1, 2, ... by plain calls, then perhaps a handler's from some level on. */
static bool possible(const struct stack_copied *frame, uint32_t count, bool dispatching)
{
    uintptr_t level = 0, kind = PLAIN;

    for (uint32_t i = 0; i < count; i++) {
        uintptr_t ret = frame[i].ret, own = ret < HANDLER ? PLAIN : HANDLER;

        /* Over frames that the dispatch has yet to take away; else in the place of what was there. */
        if (own == HANDLER && kind == PLAIN && (dispatching || ret == HANDLER + level + 1))
            level = ret - HANDLER - 1;
        if (own < kind || ret != own + level + 1 ||
            frame[i].method != (uintptr_t)&methods[ret % METHODS] ||
            (i && frame[i].sp - frame[i - 1].sp != (uintptr_t)0 - STRIDE * sizeof(uintptr_t) &&
             own == kind))
            return false;
        kind = own;
        level++;
    }
    return true;
}

static void judge(const struct stack_copies *copies, struct tally *tally)
{
    tally->copies++;
    for (size_t i = 0; i < copies->count; i++) {
        const struct stack_copied_thread *t = &copies->threads[i];

        tally->threads++;
        tally->exact += t->exact;
        tally->unchanged += t->unchanged;
        if (t->unchanged)
            continue; /* nothing was copied */
        tally->short_of_room += t->count != t->depth;
        if (t->exact && !possible(copies->frames + t->first, t->count, t->dispatching))
            tally->torn++;
        if (!t->exact && !possible(copies->frames + t->first, t->certain, true))
            tally->uncertain++;
    }
}

/* Two copies of the same stack in the same state have the same frames. */
static void judge_twice(const struct stack_copies *first, const struct stack_copies *second,
                        struct tally *tally)
{
    for (size_t i = 0; i < second->count; i++) {
        const struct stack_copied_thread *t = &second->threads[i],
                                         *u = t->earlier == SIZE_MAX ? NULL
                                                                     : &first->threads[t->earlier];

        if (u && u->exact && t->exact && u->state == t->state && !t->unchanged &&
            (u->depth != t->depth || memcmp(first->frames + u->first, second->frames + t->first,
                                            t->depth * sizeof(*first->frames)) != 0))
            tally->torn++;
        if (u && t->unchanged && (!u->exact || u->state != t->state || u->depth != t->depth))
            tally->torn++;
    }
}

static struct stack_copies *copies_new(void)
{
    struct stack_copies *copies = memory_zalloc(1, sizeof(*copies));

    assert_non_null(copies);
    copies->capacity = FRAMES;
    copies->frames = memory_alloc(FRAMES * sizeof(*copies->frames));
    copies->thread_capacity = 4 * THREADS;
    copies->threads = memory_alloc(4 * THREADS * sizeof(*copies->threads));
    copies->most = MOST_FRAMES;
    assert_true(copies->frames && copies->threads);
    return copies;
}

static void copies_free(struct stack_copies *copies)
{
    memory_free(copies->frames);
    memory_free(copies->threads);
    memory_free(copies);
}

/* What is known of a copy. anew: it is to be copied again although nothing has changed. */
static size_t see(const struct stack_copies *copies, bool anew, struct stack_seen *seen)
{
    for (size_t i = 0; i < copies->count; i++) {
        const struct stack_copied_thread *t = &copies->threads[i];

        seen[i] = (struct stack_seen){t->number, t->exact && !anew ? t->state : STACK_SEEN_NEVER,
                                      t->dispatching};
    }
    return copies->count;
}

/* All stacks, and then those that have changed since; every other time all of them again. */
static void copy_twice(struct stack_copies *first, struct stack_copies *second, struct tally *tally)
{
    struct stack_seen seen[4 * THREADS];

    tally->failed += stack_copy_all(first) != 0;
    judge(first, tally);
    second->seen_count = see(first, tally->copies % 4 == 1, seen);
    second->seen = seen;
    tally->failed += stack_copy_all(second) != 0;
    judge(second, tally);
    judge_twice(first, second, tally);
}

/* What the tests ask for has been met at least once, however slow the machine. */
static bool has_seen_all(const struct fleet *fleet, const struct tally *tally)
{
    if (fleet->churn)
        return load_relaxed(&fleet->ended) > 0;
    return tally->exact > 0 && tally->unchanged > 0 && load_relaxed(&fleet->thrown) > 0 &&
           load_relaxed(&fleet->spliced) > 0;
}

static void watch(struct fleet *fleet, uint64_t count, struct tally *tally)
{
    pthread_t threads[THREADS], reclaimer;
    struct stack_copies *first = copies_new(), *second = copies_new();
    const struct timespec step = {0, 1000000};
    uint64_t from;

    for (unsigned i = 0; i < fleet->threads; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fleet->churn ? spawn : run, fleet), 0);
    assert_int_equal(pthread_create(&reclaimer, NULL, reclaim, fleet), 0);
    while (load_relaxed(&fleet->started) < fleet->threads)
        nanosleep(&step, NULL);
    from = clock_ns();
    while (((tally->copies < count || !load_relaxed(&fleet->spliced) ||
             (fleet->churn && load_relaxed(&fleet->ended) < ENDED)) &&
            clock_ns() - from < setting("SECONDS", 20) * 1000000000ull) ||
           (!has_seen_all(fleet, tally) && clock_ns() - from < PATIENCE_NS))
        copy_twice(first, second, tally);
    store_relaxed(&fleet->over, true);
    for (unsigned i = 0; i < fleet->threads; i++)
        pthread_join(threads[i], NULL);
    pthread_join(reclaimer, NULL);
    while (stack_reclaim())
        ;
    copies_free(first);
    copies_free(second);
}

static void report(const char *what, const struct fleet *fleet, const struct tally *t)
{
    print_message("%s: %llu copies of all threads, %llu stacks, %.3f %% exact (%llu unchanged), "
                  "%llu torn; %llu calls, "
                  "%llu exceptions, %llu moves of frames, %llu threads ended\n",
                  what, (unsigned long long)t->copies, (unsigned long long)t->threads,
                  t->threads ? 100.0 * (double)t->exact / (double)t->threads : 0,
                  (unsigned long long)t->unchanged, (unsigned long long)t->torn,
                  (unsigned long long)load_relaxed(&fleet->calls),
                  (unsigned long long)load_relaxed(&fleet->thrown),
                  (unsigned long long)load_relaxed(&fleet->spliced),
                  (unsigned long long)load_relaxed(&fleet->ended));
}

TEST(no_copy_of_threads_at_full_speed_is_torn)
{
    struct fleet fleet = {.threads = (unsigned)setting("THREADS", 64)};
    struct tally tally = {0};

    watch(&fleet, setting("COPIES", 2000), &tally);
    report("full speed", &fleet, &tally);
    assert_int_equal(tally.torn, 0);
    assert_int_equal(tally.uncertain, 0);
    assert_int_equal(tally.short_of_room, 0);
    assert_int_equal(tally.failed, 0);
    assert_true(tally.exact > 0 && tally.unchanged > 0);
    assert_true(load_relaxed(&fleet.thrown) > 0 && load_relaxed(&fleet.spliced) > 0);
}

TEST(no_copy_is_torn_while_threads_end_and_stacks_grow)
{
    struct fleet fleet = {.threads = (unsigned)setting("THREADS", 64) / 8 + 1, .churn = true};
    struct tally tally = {0};

    watch(&fleet, setting("COPIES", 2000), &tally);
    report("churn", &fleet, &tally);
    assert_int_equal(tally.torn, 0);
    assert_int_equal(tally.uncertain, 0);
    assert_int_equal(tally.short_of_room, 0);
    assert_true(load_relaxed(&fleet.ended) > 0);
}

TEST(a_copy_without_room_says_what_it_needs)
{
    struct machine *m = memory_zalloc(1, sizeof(*m));
    struct stack_copied frames[8];
    struct stack_copied_thread threads[1];
    struct stack_copies copies = {
        .frames = frames, .capacity = 8, .threads = threads, .thread_capacity = 1, .most = 100};

    assert_non_null(m);
    for (unsigned level = 1; level <= 20; level++)
        enter(m, level);
    assert_int_equal(stack_copy_all(&copies), -ENOSPC);
    assert_int_equal(copies.frames_wanted, 20);
    assert_int_equal(threads[0].count, 8);
    assert_ptr_equal(frames[7].method, &methods[20 % METHODS]); /* the youngest are there */
    copies.most = 8;
    assert_int_equal(stack_copy_all(&copies), 0);
    assert_int_equal(threads[0].depth, 20);
    for (unsigned level = 20; level > 0; level--)
        leave(m, level);
    memory_free(m);
}

/* Copies the only stack there is, told what was seen of it. */
static struct stack_copied_thread copy_only(struct stack_seen *seen, struct stack_copied *frames)
{
    struct stack_copied_thread thread = {.number = 0};
    struct stack_copies copies = {.frames = frames,
                                  .capacity = 8,
                                  .threads = &thread,
                                  .thread_capacity = 1,
                                  .most = 100,
                                  .seen = seen,
                                  .seen_count = 1};

    assert_int_equal(stack_copy_all(&copies), 0);
    assert_int_equal(copies.count, 1);
    *seen = (struct stack_seen){thread.number, thread.state, thread.dispatching};
    return thread;
}

TEST(a_stack_that_has_not_changed_is_not_copied)
{
    struct machine *m = memory_zalloc(1, sizeof(*m));
    struct stack_seen seen = {0, STACK_SEEN_NEVER, false};
    struct stack_copied_thread t;
    struct stack_copied frames[8];

    assert_non_null(m);
    enter(m, 1);
    enter(m, 2);
    t = copy_only(&seen, frames);
    assert_true(!t.unchanged && t.exact && t.count == 2 && t.earlier == SIZE_MAX);
    t = copy_only(&seen, frames);
    assert_true(t.unchanged && t.exact && t.count == 0 && t.depth == 2 && t.earlier == 0);
    leave(m, 2);
    enter_from(m, 2, HANDLER); /* as deep as before, and another call */
    t = copy_only(&seen, frames);
    assert_true(!t.unchanged && t.count == 2 && t.earlier == 0 && frames[1].ret == HANDLER + 2);
    seen.number++; /* of a later thread, in every other way the same */
    t = copy_only(&seen, frames);
    assert_true(!t.unchanged && t.count == 2 && t.earlier == SIZE_MAX);
    stack_exception_thrown();
    t = copy_only(&seen, frames);
    assert_true(!t.unchanged && t.dispatching);
    stack_search_catcher_found();
    leave(m, 2);
    leave(m, 1);
    memory_free(m);
}

TEST(no_copy_is_exact_while_frames_are_on_the_move)
{
    struct machine *m = memory_zalloc(1, sizeof(*m));
    struct stack_seen seen = {0, STACK_SEEN_NEVER, false};
    struct stack_copied frames[8];

    assert_non_null(m);
    enter(m, 1);
    stack_jump_begin(stack_current());
    assert_false(copy_only(&seen, frames).exact);
    stack_jump_end(stack_current());
    assert_true(copy_only(&seen, frames).exact);
    leave(m, 1);
    memory_free(m);
}

TEST(a_word_reaches_every_thread)
{
    stack_generation_set(7);
    assert_int_equal(stack_generation(stack_current()), 7);
    stack_generation_set(8);
    assert_int_equal(stack_generation(stack_current()), 8);
}

static bool mapped(const void *address)
{
    uintptr_t page = (uintptr_t)address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    unsigned char resident;

    return mincore((void *)page, 1, &resident) == 0 || errno != ENOMEM;
}

struct reader {
    _Atomic(bool) in, reclaiming, reclaimed;
    pid_t reclaimer;
    bool there_while_reading;
};

/* In a read-side section until memory has been freed, or the freeing thread has been seen to wait. */
static void *read_slowly(void *context)
{
    struct reader *reader = context;
    const struct stack_block *block;
    const struct timespec step = {0, 1000000};
    struct grace_section section = grace_enter();

    block = load_acquire(&stack_registry()->block);
    store_release(&reader->in, true);
    for (unsigned waits = 0; waits < 50 && !load_acquire(&reader->reclaimed);) {
        waits += load_acquire(&reader->reclaiming) && test_sleeps(reader->reclaimer);
        nanosleep(&step, NULL);
    }
    reader->there_while_reading = mapped(block);
    grace_leave(section);
    return NULL;
}

/* The negative control of this file: without the grace period this fails (SHADOWTRACE_WITHOUT=grace_period). */
TEST(nothing_is_given_back_while_a_reader_may_look)
{
    struct machine *m = memory_zalloc(1, sizeof(*m));
    struct reader reader = {.reclaimer = (pid_t)syscall(SYS_gettid)};
    const struct timespec step = {0, 1000000};
    pthread_t thread;

    assert_non_null(m);
    enter(m, 1);
    while (stack_reclaim())
        ;
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    while (!load_acquire(&reader.in))
        nanosleep(&step, NULL);
    for (unsigned level = 2; level <= MOST_LEVELS; level++) /* outgrows its block */
        enter(m, level);
    store_release(&reader.reclaiming, true);
    assert_true(stack_reclaim());
    store_release(&reader.reclaimed, true);
    pthread_join(thread, NULL);
    for (unsigned level = MOST_LEVELS; level > 0; level--)
        leave(m, level);
    memory_free(m);
    assert_true(reader.there_while_reading);
}

struct ending {
    _Atomic(struct stack *) stack;
    _Atomic(bool) may_end;
    struct machine machine;
};

static void *end_when_told(void *context)
{
    struct ending *ending = context;
    const struct timespec step = {0, 1000000};

    enter(&ending->machine, 1);
    enter(&ending->machine, 2);
    store_release(&ending->stack, stack_current());
    while (!load_acquire(&ending->may_end))
        nanosleep(&step, NULL);
    return NULL;
}

static bool ends_within_ms(pthread_t thread, unsigned ms)
{
    const struct timespec step = {0, 1000000};

    for (unsigned i = 0; i < ms; i++) {
        if (pthread_tryjoin_np(thread, NULL) == 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

/* A thread's words are in its own memory (I7), which goes when it has ended. */
TEST(nothing_is_given_back_while_words_are_read)
{
    struct ending *ending = memory_zalloc(1, sizeof(*ending));
    const struct timespec step = {0, 1000000};
    const struct stack_words *words;
    struct grace_section section;
    struct stack *s;
    uint64_t last;
    pthread_t thread;

    assert_non_null(ending);
    assert_int_equal(pthread_create(&thread, NULL, end_when_told, ending), 0);
    while (!(s = load_acquire(&ending->stack)))
        nanosleep(&step, NULL);
    section = grace_enter();
    words = stack_hold(s);
    assert_true(words && words != &s->own);
    last = load_acquire(&words->state);
    assert_int_equal(STATE_DEPTH(last), 2);
    store_release(&ending->may_end, true);
    assert_false(ends_within_ms(thread, 50));
    assert_int_equal(load_acquire(&words->state), last);
    stack_let_go(s);
    assert_int_equal(pthread_join(thread, NULL), 0);
    words = stack_hold(s);
    assert_ptr_equal(words, &s->own); /* where they may be read for as long as the stack is there */
    assert_int_equal(load_acquire(&words->state), last);
    stack_let_go(s);
    grace_leave(section);
    memory_free(ending);
}

static int start(void **state)
{
    const struct stack_config config = {.context = NULL};

    (void)state;
    clock_start();
    return stack_start(&config);
}

TEST_GROUP(start, NULL);
