/* Instructions: one site per key for all threads, and a full table. */
#include "tree/sites.h"

#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct tree_sites *sites;

static int make(uint32_t max_sites)
{
    const struct tree_sites_config config = {.max_sites = max_sites};

    return tree_sites_new(&config, &sites);
}

static int setup(void **state)
{
    (void)state;
    return make(1000000);
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    tree_sites_free(sites);
    sites = NULL;
    return 0;
}

TEST_EACH(setup, teardown);

TEST(an_allocation_is_found_again_and_keeps_its_first_class)
{
    uint32_t site = tree_site_alloc(sites, 0x10, 0x108, 0x77),
             other = tree_site_alloc(sites, 0x10, 0x110, 0x77),
             elsewhere = tree_site_alloc(sites, 0x20, 0x108, 0x77);

    assert_int_equal(site, 1);
    assert_int_equal(other, 2);
    assert_int_equal(elsewhere, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(tree_site_alloc(sites, 0x10, 0x108, 0x88), site);
        assert_int_equal(tree_site_alloc(sites, 0x10, 0x110, 0x88), other);
    }
    assert_true(tree_site_at(sites, site)->target == 0x77);
    assert_true(tree_site_at(sites, site)->method == 0x10);
    assert_true(tree_site_at(sites, site)->ip == 0x108);
    assert_int_equal(tree_site_il(tree_site_at(sites, site)), TREE_IL_PENDING);
    assert_null(tree_site_by_id(sites, 4));
}

TEST(each_part_of_the_key_tells_calls_apart)
{
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 0), 1);
    assert_int_equal(tree_site_call(sites, 2, 1, 1, 0), 2);
    assert_int_equal(tree_site_call(sites, 1, 2, 1, 0), 3);
    assert_int_equal(tree_site_call(sites, 1, 1, 2, 0), 4);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 7), 5);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 0), 1);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 7), 5);
}

TEST(without_room_there_is_no_site)
{
    teardown(NULL);
    assert_int_equal(make(2), 0);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x108, 1), 1);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x110, 1), 0);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x108, 1), 1);
    assert_int_equal(load_relaxed(&sites->numbers.refused), 1);
}

TEST(without_memory_there_are_none)
{
    teardown(NULL);
    for (long fail = 0;; fail++) {
        int err;

        memory_fail_after(fail);
        err = make(1000);
        memory_fail_after(-1);
        if (!err) {
            assert_true(fail > 3); /* itself, its buckets, address space, its first sites */
            return;
        }
        assert_int_equal(err, -ENOMEM);
        assert_null(sites);
    }
}

/* ---- four threads, the same keys ---- */

#define THREADS 4
#define KEYS    40000u

static void *insert(void *context)
{
    uint32_t *id = context;

    for (uint32_t i = 0; i < KEYS; i++)
        id[i] = tree_site_call(sites, 1 + i % 3, i / 3, 5, 0);
    return NULL;
}

TEST(threads_at_once_make_no_site_twice)
{
    static uint32_t id[THREADS][KEYS];
    pthread_t threads[THREADS];
    struct tree_site *site;
    uint32_t live = 0;

    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, insert, id[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < KEYS; i++)
        for (unsigned t = 1; t < THREADS; t++)
            assert_int_equal(id[t][i], id[0][i]);
    for (uint32_t i = 1; (site = tree_site_by_id(sites, i)); i++) {
        assert_int_not_equal(load_acquire(&site->state), TREE_RESERVED);
        live += load_acquire(&site->state) == TREE_LIVE;
    }
    assert_int_equal(live, KEYS);
}
