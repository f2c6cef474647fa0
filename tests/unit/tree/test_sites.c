/* Instructions: one site for one key, whoever asks, and what happens when there is no room. */
#include "tree/sites.h"

#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

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

static void an_allocation_is_found_again_and_keeps_its_first_class(void **state)
{
    uint32_t site = tree_site_alloc(sites, 0x10, 0x108, 0x77),
             other = tree_site_alloc(sites, 0x10, 0x110, 0x77),
             elsewhere = tree_site_alloc(sites, 0x20, 0x108, 0x77);

    (void)state;
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

static void each_part_of_the_key_tells_calls_apart(void **state)
{
    (void)state;
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 0), 1);
    assert_int_equal(tree_site_call(sites, 2, 1, 1, 0), 2);
    assert_int_equal(tree_site_call(sites, 1, 2, 1, 0), 3);
    assert_int_equal(tree_site_call(sites, 1, 1, 2, 0), 4);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 7), 5);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 0), 1);
    assert_int_equal(tree_site_call(sites, 1, 1, 1, 7), 5);
}

static void without_room_there_is_no_site(void **state)
{
    (void)state;
    teardown(NULL);
    assert_int_equal(make(2), 0);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x108, 1), 1);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x110, 1), 0);
    assert_int_equal(tree_site_alloc(sites, 0x10, 0x108, 1), 1);
    assert_int_equal(load_relaxed(&sites->numbers.refused), 1);
}

static void without_memory_there_are_none(void **state)
{
    (void)state;
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

static void threads_at_once_make_no_site_twice(void **state)
{
    static uint32_t id[THREADS][KEYS];
    pthread_t threads[THREADS];
    struct tree_site *site;
    uint32_t live = 0;

    (void)state;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_allocation_is_found_again_and_keeps_its_first_class),
        TEST(each_part_of_the_key_tells_calls_apart),
        TEST(without_room_there_is_no_site),
        TEST(without_memory_there_are_none),
        TEST(threads_at_once_make_no_site_twice),
    };

    return cmocka_run_group_tests_name("sites", tests, NULL, NULL);
}
