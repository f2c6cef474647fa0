/* --log sites: counts for each context, class, thread and heap instead of a line for each allocation. */
#include "fixture.h"
#include "support/test.h"

#include <signal.h>
#include <sys/resource.h>

static struct world *w;

static int setup(void **state)
{
    (void)state;
    w = calloc(1, sizeof(*w));
    world_init(w);
    w->options.log = OPTIONS_LOG_SITES;
    w->hub.slots = 65536;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(w);
    free(w);
    return 0;
}

static uint64_t sum(const json_t *lines, const char *key)
{
    uint64_t total = 0;
    size_t i;
    json_t *line;

    json_array_foreach(lines, i, line) if (is(line, "site")) total += (uint64_t)number(line, key);
    return total;
}

static void expect_site_totals(const json_t *lines, uint64_t seen)
{
    const json_t *end = last(lines);

    assert_string_equal(kind_of(end), "end");
    assert_int_equal(number(end, "seen"), seen);
    assert_int_equal(number(end, "seen"), number(end, "written") + number(end, "lost"));
    assert_int_equal(sum(lines, "allocs"), number(end, "written"));
    assert_int_equal(count_of(lines, "alloc"), 0);
}

TEST(allocations_of_one_site_are_one_line)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    uint32_t site = site_new(w, method, 9);
    json_t *lines, *line;

    w->ring = ring_new(w);
    for (unsigned i = 0; i < 1000; i++)
        allocate_on(w->ring, class, node, site, 24 + 8 * (i % 2), EVENT_HEAP_NORMAL);
    start(w);
    stop(w);
    lines = log_read(w);
    assert_int_equal(count_of(lines, "site"), 1);
    line = nth(lines, "site", 0);
    assert_int_equal(number(line, "node"), tree_id(w->tree, node));
    assert_int_equal(number(line, "il"), 9);
    assert_int_equal(number(line, "class"), class->id);
    assert_int_equal(number(line, "thread"), 1);
    assert_int_equal(number(line, "allocs"), 1000);
    assert_int_equal(number(line, "bytes"), 28000);
    assert_null(json_object_get(line, "heap"));
    expect_definitions_first(lines, true);
    expect_site_totals(lines, 1000);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_path_that_was_not_kept_is_a_line_of_its_own)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    uint32_t site = site_new(w, method, 9);
    struct event cut = {.subject = (uintptr_t) class,
                        .node = tree_id(w->tree, node) | TREE_CUT,
                        .site = site,
                        .bytes_kind = event_pack(24, EVENT_HEAP_NORMAL, EVENT_ALLOC)};
    json_t *lines, *line;

    w->ring = ring_new(w);
    for (unsigned i = 0; i < 10; i++) {
        allocate_on(w->ring, class, node, site, 24, EVENT_HEAP_NORMAL);
        cut.ticks = clock_ticks();
        store_relaxed(&w->ring->seen, load_relaxed(&w->ring->seen) + 1);
        assert_int_equal(event_post(w->ring, &cut), 0);
    }
    start(w);
    stop(w);
    lines = log_read(w);
    assert_int_equal(count_of(lines, "site"), 2);
    line = nth(lines, "site", 0);
    assert_null(json_object_get(line, "cut"));
    assert_int_equal(number(line, "il"), 9);
    line = nth(lines, "site", 1);
    assert_true(json_is_true(json_object_get(line, "cut")));
    assert_null(json_object_get(line, "il"));
    assert_int_equal(number(line, "node"), tree_id(w->tree, node));
    assert_int_equal(number(line, "allocs"), 10);
    assert_int_equal(number(last(lines), "cut_allocs"), 10);
    expect_site_totals(lines, 20);
    expect_valid(w->path);
    json_decref(lines);
}

/* A program may end before anything is reported for the first time. */
TEST(sums_are_written_before_the_first_report)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    bool site = false, lost = false;
    json_t *lines = NULL, *line;
    size_t i;

    start(w);
    while (
        !load_acquire(&w->log->shown_part)) /* the first round is over, and has reported nothing */
        usleep(1000);
    w->ring = ring_new(w);
    event_lose(w->ring, EVENT_LOST_NO_CLASS);
    store_relaxed(&w->ring->seen, 1);
    allocate_on(w->ring, class, node, 0, 24, EVENT_HEAP_NORMAL);
    while (!lost) {
        bool cut;

        usleep(10000);
        json_decref(lines);
        lines = lines_read(w->path, &cut);
        json_array_foreach(lines, i, line)
        {
            site |= is(line, "site");
            lost |= is(line, "lost");
            assert_true(site || !lost);
        }
    }
    json_decref(lines);
    stop(w);
}

TEST(each_part_of_a_site_tells_it_apart)
{
    struct metadata_class *class = class_new(w, "C"), *other = class_new(w, "D");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1), *deeper = node_new(w, node, method, 2);
    uint32_t site = site_new(w, method, 9), later = site_new(w, method, 12);
    struct event_ring *first = ring_new(w), *second = ring_new(w);
    json_t *lines;

    for (unsigned i = 0; i < 10; i++) {
        allocate_on(first, class, node, site, 24, EVENT_HEAP_NORMAL);
        allocate_on(first, other, node, site, 24, EVENT_HEAP_NORMAL);
        allocate_on(first, class, deeper, site, 24, EVENT_HEAP_NORMAL);
        allocate_on(first, class, node, later, 24, EVENT_HEAP_NORMAL);
        allocate_on(first, class, node, 0, 24, EVENT_HEAP_NORMAL);
        allocate_on(first, class, node, site, 24, EVENT_HEAP_LARGE);
        allocate_on(first, class, node, site, 24, EVENT_HEAP_PINNED);
        allocate_on(first, class, node, site, 24, EVENT_HEAP_FROZEN);
        allocate_on(first, class, NULL, 0, 24, EVENT_HEAP_NORMAL);
        allocate_on(second, class, node, site, 24, EVENT_HEAP_NORMAL);
    }
    start(w);
    stop(w);
    lines = log_read(w);
    assert_int_equal(count_of(lines, "site"), 10);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(number(nth(lines, "site", i), "allocs"), 10);
    expect_definitions_first(lines, true);
    expect_site_totals(lines, 100);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(many_sites_are_all_counted)
{
    enum { SITES = 20000 }; /* the table grows */
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    json_t *lines;

    w->ring = ring_new(w);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < SITES; i++)
            allocate_on(w->ring, class, node, site_new(w, method, (int32_t)i), 8 * i,
                        EVENT_HEAP_NORMAL);
    start(w);
    stop(w);
    lines = log_read(w);
    assert_true(count_of(lines, "site") >= SITES);
    assert_int_equal(sum(lines, "bytes"), UINT64_C(3) * 8 * SITES * (SITES - 1) / 2);
    expect_site_totals(lines, 3 * SITES);
    expect_valid(w->path);
    json_decref(lines);
}

/* A report comes each half second, or when the machine finds the time. */
static void wait_until_reported(json_int_t bytes)
{
    uint64_t until = clock_ns() + PATIENCE_NS;
    json_int_t found = 0;

    while (found < bytes && clock_ns() < until) {
        bool cut;
        json_t *lines = lines_read(w->path, &cut);

        found = (json_int_t)sum(lines, "bytes");
        json_decref(lines);
        usleep(5000);
    }
    assert_int_equal(found, bytes);
}

TEST(lines_count_what_came_since_the_last)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines;

    for (unsigned round = 0; round < 3; round++) {
        if (round == 0)
            assert_int_equal(world_open(w), 0);
        for (unsigned i = 0; i < 100; i++)
            allocate(w, class, NULL, 24);
        if (round == 0)
            start(w);
        wait_until_reported((json_int_t)(round + 1) * 100 * 24);
    }
    stop(w);
    lines = log_read(w);
    assert_true(count_of(lines, "site") >= 3); /* more, if a report came between two allocations */
    assert_int_equal(sum(lines, "bytes"), 300 * 24);
    expect_site_totals(lines, 300);
    expect_valid(w->path);
    json_decref(lines);
}

/* Until then what was unloaded is not given back, and more is loaded. */
TEST(what_a_grace_period_waits_for_is_written_before_its_time)
{
    struct metadata_class *class = class_new(w, "C");
    uint64_t until = clock_ns() + PATIENCE_NS;

    assert_int_equal(world_open(w), 0);
    w->log->next_sites_ns = UINT64_MAX;
    allocate(w, class, NULL, 24);
    start(w);
    assert_int_equal(log_grace_begin(w->log), 0);
    while (!log_grace_over(w->log) && clock_ns() < until)
        usleep(1000);
    assert_true(log_grace_over(w->log));
    stop(w);
}

TEST(sampled_sites_carry_the_sum_of_weights)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines;
    double weight;

    w->options.sample = 65536;
    for (unsigned i = 0; i < 10; i++)
        allocate(w, class, NULL, 24);
    start(w);
    stop(w);
    lines = log_read(w);
    weight = json_number_value(json_object_get(nth(lines, "site", 0), "weight"));
    assert_true(weight > 655360 && weight < 655360 + 240);
    expect_site_totals(lines, 10);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_site_waits_for_its_names)
{
    struct metadata_class *late = class_new(w, NULL), *known = class_new(w, "Known");
    json_t *lines;

    allocate(w, late, NULL, 24);
    allocate(w, known, NULL, 24);
    start(w);
    usleep(50000);
    store_release(&late->text, "Late");
    stop(w);
    lines = log_read(w);
    expect_definitions_first(lines, true);
    expect_site_totals(lines, 2);
    json_decref(lines);
}

static void expect_whole_part(const char *path)
{
    json_t *lines = lines_read(path, NULL);

    assert_string_equal(kind_of(json_array_get(lines, 0)), "header");
    expect_definitions_first(lines, true);
    json_decref(lines);
}

static ino_t file_number(const char *path)
{
    struct stat status;

    return stat(path, &status) ? 0 : status.st_ino;
}

TEST(each_part_of_a_log_of_limited_size_defines_what_it_uses)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    uint64_t until = clock_ns() + PATIENCE_NS;
    unsigned parts = 0;
    ino_t seen = 0;
    char older[128];

    w->options.max_log = 2000; /* each flush is a part */
    assert_int_equal(world_open(w), 0);
    w->ring = ring_new(w);
    start(w);
    snprintf(older, sizeof(older), "%s.1", w->path);
    while (parts < 4 && clock_ns() < until) { /* counted in one part, written in the next */
        struct event_ring *ended = ring_new(w);

        for (unsigned i = 0; i < 10; i++) {
            uint32_t site = site_new(w, method, (int32_t)i);

            allocate_on(w->ring, class, node, site, 24, EVENT_HEAP_NORMAL);
            allocate_on(ended, class, node, site, 24, EVENT_HEAP_NORMAL);
        }
        event_ring_close(ended); /* by a thread that is gone by then */
        usleep(10000);
        if (file_number(older) != seen) {
            expect_whole_part(older);
            seen = file_number(older);
            parts++;
        }
    }
    stop(w);
    assert_int_equal(parts, 4);
    expect_whole_part(older);
    expect_whole_part(w->path);
}

/* ---- failures ---- */

TEST(what_could_not_be_written_is_counted)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);

    for (rlim_t bytes = 30000; bytes < 30140; bytes += 23) { /* cuts a line anywhere */
        struct rlimit limit, tight;
        uint64_t by[EVENT_LOST_REASONS], seen;
        json_t *lines;
        bool cut;

        assert_int_equal(world_open(w), 0);
        w->ring = ring_new(w);
        for (unsigned i = 0; i < 9000; i++)
            allocate_on(w->ring, class, node, site_new(w, method, (int32_t)(i % 3000)), 24,
                        EVENT_HEAP_NORMAL);
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &limit);
        tight = limit;
        tight.rlim_cur = bytes;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        start(w);
        stop(w);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        lines = lines_read(w->path, &cut);
        log_lost(w->log, by, &seen);
        assert_int_equal(seen, 9000);
        assert_true(by[EVENT_LOST_WRITE_FAILED] > 0);
        assert_int_equal(log_written(w->log) + by[EVENT_LOST_WRITE_FAILED], 9000);
        assert_int_equal(log_written(w->log), sum(lines, "allocs"));
        json_decref(lines);
        world_again(w);
    }
}

/* With the n-th allocation failing for n = 0, 1, 2, ..., until all of them succeed. */
TEST(whatever_allocation_fails_the_counts_hold)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    bool whole = false;

    for (long n = 0; !whole; n++) {
        assert_true(n < 2000);
        w->ring = ring_new(w);
        for (unsigned i = 0; i < 4000; i++) /* more than the first table holds */
            allocate_on(w->ring, class, node, site_new(w, method, (int32_t)i), 24,
                        EVENT_HEAP_NORMAL);
        memory_fail_after(n);
        if (!world_open(w)) {
            uint64_t by[EVENT_LOST_REASONS], seen, lost = 0;
            json_t *lines;

            assert_int_equal(log_start(w->log), 0);
            store_relaxed(&w->hub.stopped, true);
            log_stop(w->log, 5);
            while (!load_acquire(&w->log->ended))
                usleep(100);
            memory_fail_after(-1);
            lines = log_read(w);
            expect_definitions_first(lines, false);
            log_lost(w->log, by, &seen);
            for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
                lost += by[i];
            assert_int_equal(log_written(w->log), sum(lines, "allocs"));
            assert_true(log_written(w->log) + lost <= 4000);
            if (is(last(lines), "end"))
                expect_site_totals(lines, 4000);
            whole = sum(lines, "allocs") == 4000;
            json_decref(lines);
        }
        memory_fail_after(-1);
        world_again(w);
    }
}

static int start_all(void **state)
{
    const struct stack_config config = {0};

    (void)state;
    clock_start();
    return stack_start(&config);
}

TEST_EACH(setup, teardown);
TEST_GROUP(start_all, NULL);
