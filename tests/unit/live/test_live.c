/* The table of live objects, beside a made-up heap of which everything is known. */
#include "live/live.h"
#include "base/memory.h"
#include "stack/stack_hot.h" /* rules that are off */
#include "support/test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define REGION  UINT64_C(0x400000)
#define BASE    UINT64_C(0x7f0000000000)
#define REGIONS 100
#define OBJECTS 1200000
#define THREADS 3
#define SITES   50

struct object {
    uintptr_t address;
    uint32_t size, site; /* size: of 8 bytes each */
    uint32_t survived;   /* collections; 0: young */
    uint32_t region;
    bool open;
};

/* A heap of regions, each of one generation; the objects of a region lie in its order. */
static struct {
    struct live *live;
    struct live_log *log[THREADS];
    struct object object[OBJECTS];
    size_t count;
    struct {
        uint32_t generation; /* UINT32_MAX: free */
        uintptr_t next;
    } region[REGIONS];
    int64_t alive[SITES + 1], bytes[SITES + 1]; /* by what was taken */
    uint64_t random, collections;
    bool mixes;
    struct live_sums sums;
} h;

static uint64_t draw(uint64_t below)
{
    h.random ^= h.random << 13;
    h.random ^= h.random >> 7;
    h.random ^= h.random << 17;
    return h.random % below;
}

static uint64_t no_time(void)
{
    return 0;
}

static int setup(void **state)
{
    (void)state;
#ifdef SHADOWTRACE_NEGATIVE
    stack_rules_read();
#endif
    memset(&h, 0, sizeof(h));
    h.random = 88172645463325252u;
    for (size_t i = 0; i < REGIONS; i++)
        h.region[i].generation = UINT32_MAX;
    assert_int_equal(live_new(UINT64_C(1) << 30, &h.live), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_non_null(h.log[i] = live_log_new(h.live));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    live_sums_free(&h.sums);
    live_free(h.live);
    return 0;
}

TEST_EACH(setup, teardown);

/* A region of a generation with room; a new one if needed. */
static uint32_t region_of(uint32_t generation, uint32_t size, uint32_t not_below)
{
    uint32_t freed = REGIONS;

    for (uint32_t i = not_below; i < REGIONS; i++) {
        if (h.region[i].generation == generation &&
            h.region[i].next + size * 8 <= BASE + (i + 1) * REGION)
            return i;
        if (h.region[i].generation == UINT32_MAX && freed == REGIONS)
            freed = i;
    }
    assert_true(freed < REGIONS);
    h.region[freed].generation = generation;
    h.region[freed].next = BASE + freed * REGION + 40;
    return freed;
}

static struct object *allocate(uint32_t thread, uint32_t generation, uint32_t size, uint32_t site)
{
    uint32_t region = region_of(generation, size, 0);
    struct object *o = &h.object[h.count++];

    assert_true(h.count < OBJECTS);
    *o = (struct object){h.region[region].next, size, site, 0, region, false};
    h.region[region].next += size * 8 + (draw(50) ? 0 : 64); /* a hole now and then */
    assert_true(live_note(h.log[thread], o->address));
    return o;
}

static void known(uint32_t thread, const struct object *o)
{
    const struct live_entry entry = {o->site, o->site + 1, o->site + 2, o->size};

    live_known(h.log[thread], &entry);
}

static bool is_collected(const struct object *o, uint32_t depth)
{
    uint32_t generation = h.region[o->region].generation;

    return generation > 2 ? depth == 2 : generation <= depth;
}

static void bounds_tell(void)
{
    struct live_bound bound[REGIONS];
    size_t count = 0;

    for (uint32_t i = REGIONS; i-- > 0;) /* not in their order */
        if (h.region[i].generation != UINT32_MAX)
            bound[count++] = (struct live_bound){BASE + i * REGION, BASE + (i + 1) * REGION,
                                                 h.region[i].generation};
    live_begin(h.live, bound, count);
}

static int by_address(const void *a, const void *b)
{
    const struct object *one = a, *other = b;

    return one->address < other->address ? -1 : one->address > other->address;
}

/* Where what survives goes: compacted into regions of the next generation, or where it was. */
static void move(bool compact, uint32_t depth)
{
    struct live_range range[512];
    size_t ranges = 0;
    uint32_t generation[REGIONS];
    bool emptied[REGIONS] = {false};

    for (uint32_t i = 0; i < REGIONS; i++)
        generation[i] = h.region[i].generation;
    for (uint32_t i = 0; i < REGIONS; i++)
        emptied[i] =
            compact && generation[i] != UINT32_MAX && generation[i] <= 2 && generation[i] <= depth;
    for (size_t i = 0; i < h.count; i++) {
        struct object *o = &h.object[i];
        uintptr_t to = o->address;
        uint32_t from = o->region;

        if (!is_collected(o, depth))
            continue;
        if (emptied[from]) {
            uint32_t next = generation[from] < 2 ? generation[from] + 1 : 2;

            o->region = region_of(next, o->size, 0);
            while (emptied[o->region])
                o->region = region_of(next, o->size, o->region + 1);
            to = h.region[o->region].next;
            h.region[o->region].next += o->size * 8;
        }
        if (ranges && range[ranges - 1].from + range[ranges - 1].size == o->address &&
            range[ranges - 1].to + range[ranges - 1].size == to)
            range[ranges - 1].size += o->size * 8;
        else
            range[ranges++] = (struct live_range){o->address, to, o->size * 8};
        if (ranges == 512) {
            live_moved(h.live, range, ranges);
            ranges = 0;
        }
        o->address = to;
    }
    live_moved(h.live, range, ranges);
    for (uint32_t i = 0; i < REGIONS; i++)
        if (emptied[i])
            h.region[i].generation = UINT32_MAX;
}

/* Objects from `first` up to `end` move to a new address; contiguous objects stay contiguous. */
static uintptr_t shift(size_t first, size_t end, uintptr_t to)
{
    struct live_range range = {0, to, 0};

    for (size_t i = first; i < end; i++) {
        struct object *o = &h.object[i];

        if (range.from + range.size != o->address) {
            live_moved(h.live, &range, range.size > 0);
            range = (struct live_range){o->address, to, 0};
        }
        range.size += o->size * 8;
        o->address = to;
        to += o->size * 8;
    }
    live_moved(h.live, &range, range.size > 0);
    return to;
}

/*
 * What survives of a region goes to one of those that are collected, its own perhaps: down, or up,
 * and its upper half may come first.
 */
static void mix(uint32_t depth)
{
    uint32_t from[REGIONS], to[REGIONS], generation[REGIONS], count = 0;
    size_t first = 0, end, middle;

    for (uint32_t i = 0; i < REGIONS; i++)
        if (h.region[i].generation <= 2 && h.region[i].generation <= depth) {
            from[count] = to[count] = i;
            generation[count++] = h.region[i].generation;
        }
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = draw(2) ? i - 1 : (uint32_t)draw(i), was = to[i - 1];

        to[i - 1] = to[other];
        to[other] = was;
    }
    for (uint32_t i = 0; i < count; i++, first = end) {
        uintptr_t start = BASE + from[i] * REGION, next = BASE + to[i] * REGION;
        uint64_t room = REGION;

        while (first < h.count && h.object[first].address < start)
            first++;
        for (end = first; end < h.count && h.object[end].address < start + REGION; end++) {
            room -= h.object[end].size * 8;
            h.object[end].region = to[i];
        }
        middle = draw(2) ? first : first + (end - first) / 2;
        next += draw(2) ? 8 * draw(room / 8) : 0;
        next = shift(middle, end, next);
        h.region[to[i]].next = shift(first, middle, next);
        h.region[to[i]].generation = generation[i];
    }
    for (size_t i = 0; i < h.count; i++)
        if (h.region[h.object[i].region].generation > 2 && is_collected(&h.object[i], depth))
            shift(i, i + 1, h.object[i].address);
}

/* One of `keep` objects of what is collected stays. */
static void collect(uint32_t depth, bool compact, uint32_t keep)
{
    const struct live_collection c = {.depth = depth, .ticks = 1, .now_ns = no_time};
    size_t kept = 0;

    qsort(h.object, h.count, sizeof(*h.object), by_address);
    bounds_tell();
    for (size_t i = 0; i < h.count; i++)
        if (!is_collected(&h.object[i], depth) || h.object[i].open || !draw(keep))
            h.object[kept++] = h.object[i];
    h.count = kept;
    if (compact && h.mixes && draw(2))
        mix(depth);
    else
        move(compact, depth);
    for (size_t i = 0; i < h.count; i++)
        h.object[i].survived += !h.object[i].open;
    live_end(h.live, &c);
    h.collections++;
}

/* Every object is in the table, or in a log, and nothing else is. */
static void compare(void)
{
    struct live_compare *c = live_compare_new(h.live);

    assert_non_null(c);
    for (size_t i = 0; i < h.count; i++)
        assert_int_equal(live_compare_met(c, h.object[i].address),
                         h.object[i].open ? LIVE_OPEN : h.object[i].site + 2);
    assert_int_equal(live_compare_met(c, BASE + 8), 0);
    assert_int_equal(live_compare_end(c), 0);
}

/* Sums by site, as a reader of the log adds them up, are what has survived. */
static void sums(void)
{
    int64_t alive[SITES + 1] = {0}, bytes[SITES + 1] = {0};

    assert_true(live_take(h.live, &h.sums));
    for (size_t i = 0; i < h.sums.rows; i++) {
        const struct live_row *row = &h.sums.row[i];

        h.alive[row->node] += row->survived;
        h.bytes[row->node] += (int64_t)row->survived_bytes;
        for (uint32_t d = row->died; d; d = h.sums.died[d - 1].next) {
            assert_in_range(h.sums.died[d - 1].age, 1, LIVE_AGE_MOST);
            h.alive[row->node] -= h.sums.died[d - 1].objects;
            h.bytes[row->node] -= (int64_t)h.sums.died[d - 1].bytes;
        }
    }
    for (size_t i = 0; i < h.count; i++)
        if (h.object[i].survived) {
            alive[h.object[i].site]++;
            bytes[h.object[i].site] += h.object[i].size * 8;
        }
    assert_memory_equal(alive, h.alive, sizeof(alive));
    assert_memory_equal(bytes, h.bytes, sizeof(bytes));
    assert_int_equal(h.sums.total.collection, h.collections);
    assert_int_equal(h.sums.total.why, SST_LIVE_EXACT);
    assert_false(live_take(h.live, &h.sums));
}

static void fill(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = (uint32_t)draw(THREADS), large = !draw(200), pinned = !draw(100);

        known(thread, allocate(thread,
                               large    ? 3
                               : pinned ? 4
                                        : 0,
                               (uint32_t)(large ? 4000 : 3 + draw(6)), (uint32_t)draw(SITES) + 1));
    }
}

TEST(what_is_alive_is_in_the_table_whatever_a_collection_does)
{
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        uint32_t depth = (uint32_t)(draw(10) ? draw(2) : 2);

        fill(4000);
        collect(depth, draw(3) != 0, (uint32_t)draw(4) + 2);
        compare();
        if (draw(2))
            sums();
    }
}

TEST(a_collection_may_move_anything_anywhere)
{
    (void)state;
    h.mixes = true;
    for (unsigned round = 0; round < 200; round++) {
        fill(3000);
        collect((uint32_t)(draw(4) ? draw(2) : 2), draw(4) != 0, (uint32_t)draw(4) + 2);
        compare();
        if (draw(2))
            sums();
    }
}

TEST(what_a_collection_has_walked_through_takes_no_memory_beside_the_table)
{
    (void)state;
    for (size_t i = 0; i < OBJECTS - 1000; i++)
        known(0, allocate(0, 0, 4, (uint32_t)(i % SITES) + 1));
    collect(0, true, 1);
    compare();
    sums();
    assert_in_range(h.sums.total.memory_most, 1, 34 * OBJECTS); /* 38 with the whole log */
    for (size_t i = 0; i < 100; i++)
        known(0, allocate(0, 0, 4, 1 + (uint32_t)draw(SITES)));
    collect(2, false, 3);
    compare();
    sums();
}

TEST(an_object_whose_key_comes_late_is_young_until_it_is_known)
{
    struct object *o;
    uintptr_t before;

    (void)state;
    fill(1000);
    o = allocate(0, 0, 5, 7);
    o->open = true;
    before = o->address;
    collect(0, true, 3);
    compare();
    for (size_t i = 0; i < h.count; i++)
        if (h.object[i].open)
            o = &h.object[i];
    assert_int_not_equal(o->address, before);
    assert_int_equal(live_open_address(h.log[0]), o->address);
    known(0, o);
    o->open = false;
    compare();
    sums();
    collect(2, true, 1);
    compare();
    sums();
}

/* What is allocated before the last collection is settled, in ever larger logs. */
TEST(the_program_runs_on_while_a_collection_is_settled)
{
    (void)state;
    assert_int_equal(live_start(h.live), 0);
    h.mixes = true;
    for (unsigned round = 0; round < 100; round++) {
        fill(1000 + 100 * round);
        collect((uint32_t)(draw(4) ? draw(2) : 2), draw(4) != 0, (uint32_t)draw(3) + 3);
        live_hold(h.live);
        live_unhold(h.live);
        fill(1000 + (size_t)draw(5000));
        if (draw(3))
            compare();
        if (draw(2)) {
            live_settle(h.live);
            sums();
        }
    }
    live_stop(h.live, 10000);
    compare();
    collect(2, true, 3);
    sums();
}

TEST(sums_are_taken_once_the_thread_has_settled_them)
{
    (void)state;
    assert_int_equal(live_start(h.live), 0);
    for (unsigned round = 0; round < 100; round++) {
        uint64_t ticks = live_ticks(h.live);

        fill(2000);
        collect(0, true, 2);
        assert_int_equal(live_ticks(h.live), 1);
        assert_true(!round == !ticks);
        while (!live_take(h.live, &h.sums))
            sched_yield();
        assert_int_equal(h.sums.total.collection, round + 1);
        assert_int_equal(h.sums.total.objects, h.count);
    }
    live_stop(h.live, 10000);
}

TEST(allocations_told_of_within_another_get_their_own_keys)
{
    struct object *outer, *inner;

    (void)state;
    outer = allocate(1, 0, 5, 7);
    inner = allocate(1, 0, 6, 8);
    known(1, inner);
    known(1, outer);
    compare();
    collect(0, true, 1);
    compare();
}

TEST(a_table_that_is_full_says_so_and_goes_on)
{
    (void)state;
    live_free(h.live);
    assert_int_equal(live_new(100000, &h.live), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_non_null(h.log[i] = live_log_new(h.live));
    for (size_t i = 0; i < 20000; i++) {
        const struct live_entry entry = {1, 2, 3, 4};

        if (live_note(h.log[0], BASE + i * 32))
            live_known(h.log[0], &entry);
    }
    h.region[0].generation = 0;
    collect(0, false, 1);
    assert_true(live_take(h.live, &h.sums));
    assert_int_equal(h.sums.total.why, SST_LIVE_MEMORY);
    assert_true(h.sums.total.memory <= 100000);
}

/* Whatever is not exact: what a reader of the log adds up is what the total says, of no site below 0. */
static void add_up(void)
{
    int64_t alive = 0, bytes = 0;

    assert_true(live_take(h.live, &h.sums));
    for (size_t i = 0; i < h.sums.rows; i++) {
        const struct live_row *row = &h.sums.row[i];

        h.alive[row->node] += row->survived;
        h.bytes[row->node] += (int64_t)row->survived_bytes;
        for (uint32_t d = row->died; d; d = h.sums.died[d - 1].next) {
            assert_in_range(h.sums.died[d - 1].age, 1, LIVE_AGE_MOST);
            h.alive[row->node] -= h.sums.died[d - 1].objects;
            h.bytes[row->node] -= (int64_t)h.sums.died[d - 1].bytes;
        }
    }
    for (size_t i = 0; i <= SITES; i++) {
        assert_true(h.alive[i] >= 0 && h.bytes[i] >= 0);
        alive += h.alive[i];
        bytes += h.bytes[i];
    }
    assert_int_equal(h.sums.total.objects, alive);
    assert_int_equal(h.sums.total.bytes, bytes);
}

TEST(memory_that_runs_out_anywhere_is_said_and_sums_still_add_up)
{
    (void)state;
    for (uint32_t n = 0; n < 120; n++) {
        live_sums_free(&h.sums); /* so that rows need memory again */
        fill(500);
        memory_fail_after((long)(n % 60));
        collect(1 + n % 2, n % 3 != 0, 3);
        live_settle(h.live); /* it is there that most of it is needed */
        memory_fail_after(-1);
        add_up();
    }
    assert_int_equal(h.sums.total.why, SST_LIVE_MEMORY);
}

/* Two runs that change their order as they move: what the second finds after it has to be sorted. */
static void swap_two_runs(long fail_after)
{
    const struct live_bound bound = {BASE, BASE + REGION, 0};
    const struct live_collection c = {.depth = 0, .ticks = 1, .now_ns = no_time};
    const uint64_t half = REGION / 2, to = BASE + 9 * REGION;
    struct live_range range[] = {{BASE, to + half, half}, {BASE + half, to, half}};
    struct object o = {.address = BASE, .size = 3};

    for (int i = 0; i < 2; i++) { /* one survives and dies: there is room to count the dead */
        if (!i) {
            assert_true(live_note(h.log[0], o.address));
            known(0, &o);
        }
        live_begin(h.live, &bound, 1);
        live_moved(h.live, &(struct live_range){BASE, BASE, 24}, !i);
        live_end(h.live, &c);
    }
    for (uint32_t i = 0; i < 600; i++) {
        o.address = BASE + i % 300 * 24 + (i < 300 ? 0 : half);
        assert_true(live_note(h.log[0], o.address));
        known(0, &o);
    }
    live_begin(h.live, &bound, 1);
    live_moved(h.live, range, 2);
    live_end(h.live, &c);
    memory_fail_after(fail_after);
    live_settle(h.live);
    memory_fail_after(-1);
}

TEST(what_there_is_no_memory_to_sort_has_survived_a_collection)
{
    uint64_t let_go = 0;

    for (long n = 0; n < 20; n++) {
        teardown(state);
        setup(state);
        swap_two_runs(n);
        add_up();
        let_go += h.sums.total.why == SST_LIVE_MEMORY && h.sums.rows && !h.sums.total.objects;
    }
    assert_true(let_go);
    assert_int_equal(h.sums.total.why, SST_LIVE_EXACT);
    assert_int_equal(h.sums.total.objects, 600);
}

TEST(a_collection_of_which_nothing_is_known_comes_behind_what_was_exact)
{
    const struct live_collection c = {.depth = 2, .ticks = 9, .now_ns = no_time};
    uint64_t alive;

    (void)state;
    fill(1000);
    collect(2, true, 3);
    fill(1000);
    live_settle(h.live); /* as it was exact then */
    live_inexact(h.live, SST_LIVE_SESSION);
    live_skip(h.live, &c);
    live_skip(h.live, &c);
    assert_int_equal(live_ticks(h.live), 1);
    assert_true(live_take(h.live, &h.sums));
    assert_int_equal(h.sums.total.why, SST_LIVE_EXACT);
    assert_int_equal(h.sums.total.collection, 1);
    assert_true(h.sums.rows);
    alive = h.sums.total.objects;
    assert_int_equal(live_ticks(h.live), 9);
    assert_true(live_take(h.live, &h.sums));
    assert_int_equal(h.sums.total.why, SST_LIVE_SESSION);
    assert_int_equal(h.sums.total.collection, 3);
    assert_int_equal(h.sums.total.objects, alive);
    assert_int_equal(h.sums.rows, 0);
    assert_false(live_take(h.live, &h.sums));
    assert_false(live_is_over(h.live));
    live_over(h.live, &c);
    assert_true(live_is_over(h.live));
    assert_true(live_take(h.live, &h.sums));
    assert_int_equal(h.sums.total.collection, 4);
}

static bool class_is_gone(uintptr_t class)
{
    return class == 1009;
}

TEST(what_was_unloaded_is_not_found_again)
{
    const uint32_t nodes[] = {3, 5};
    const struct live_gone gone = {.nodes = nodes, .node_count = 2, .class_gone = class_is_gone};
    uint32_t first = 0, again = 0, others = 0;
    bool class_gone;

    (void)state;
    live_class_set(h.live, 9, 1009);
    for (unsigned round = 0; round < 2; round++) {
        known(0, allocate(0, 0, 4, 5));
        known(0, allocate(0, 0, 4, 7));
        known(0, allocate(0, 0, 4, 8));
        collect(0, true, 1);
        assert_true(live_take(h.live, &h.sums));
        for (size_t i = 0; i < h.sums.rows; i++) {
            const struct live_row *row = &h.sums.row[i];

            if (row->node == 5)
                *(round ? &again : &first) = row->key;
            else
                others ^= row->key << row->node; /* the site of node 7 has a class that is gone */
        }
        if (!round)
            live_forget(h.live, &gone);
    }
    assert_int_not_equal(first, again);
    live_hold(h.live);
    assert_true(live_forgotten(h.live, first, &class_gone));
    assert_false(class_gone);
    assert_false(live_forgotten(h.live, again, &class_gone));
    live_unhold(h.live);
    assert_int_equal(live_class(h.live, 9), 0);
    compare();
}
