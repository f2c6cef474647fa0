/* Records by id: found whatever comes and goes beside them, by readers that wait for nobody. */
#include "metadata/table.h"

#include "rcu/grace.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 5000

static struct metadata_entry entries[MANY];
static struct metadata_table table;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(metadata_table_init(&table), 0);
    for (size_t i = 0; i < MANY; i++)
        entries[i].key = 0x7f0000001000 + i * 64;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    metadata_table_fini(&table);
    return 0;
}

TEST_EACH(setup, teardown);

static void put(struct metadata_entry *entry)
{
    assert_int_equal(metadata_table_room(&table), 0);
    metadata_table_put(&table, entry);
}

TEST(an_empty_table_has_nothing)
{
    assert_null(metadata_table_find(&table, entries[0].key));
    metadata_table_remove(&table, entries[0].key);
    assert_null(metadata_table_find(&table, 0));
}

TEST(all_are_found_however_many_there_are)
{
    for (size_t i = 0; i < MANY; i++) {
        assert_null(metadata_table_find(&table, entries[i].key));
        put(&entries[i]);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(metadata_table_find(&table, entries[i].key), &entries[i]);
}

TEST(an_entry_takes_the_place_of_one_with_the_same_key)
{
    struct metadata_entry other = entries[7];

    for (size_t i = 0; i < 100; i++)
        put(&entries[i]);
    put(&other);
    assert_ptr_equal(metadata_table_find(&table, entries[7].key), &other);
    metadata_table_remove(&table, other.key);
    assert_null(metadata_table_find(&table, other.key));
    put(&entries[7]);
    assert_ptr_equal(metadata_table_find(&table, entries[7].key), &entries[7]);
}

TEST(what_is_removed_hides_no_other_and_takes_no_room_for_good)
{
    for (size_t i = 0; i < 100; i++)
        put(&entries[i]);
    metadata_slots_free(metadata_table_outgrown(&table));
    assert_int_equal(metadata_table_room(&table), 0);
    assert_null(metadata_table_outgrown(&table)); /* large enough */
    for (size_t i = 100; i < MANY; i++) {
        put(&entries[i]);
        metadata_table_remove(&table, entries[i].key);
        assert_null(metadata_table_find(&table, 0));
        for (size_t k = 0; k < 100; k += 9)
            assert_ptr_equal(metadata_table_find(&table, entries[k].key), &entries[k]);
    }
    assert_in_range(table.used, 100, 512);
}

TEST(without_memory_it_fills_up_and_then_refuses)
{
    size_t i = 0;

    memory_fail_after(0);
    for (; i < MANY && metadata_table_room(&table) == 0; i++)
        metadata_table_put(&table, &entries[i]);
    assert_in_range(i, 129, 255); /* of 256: a look-up ends at a free slot */
    assert_int_equal(metadata_table_room(&table), -ENOMEM);
    for (size_t k = 0; k < MANY; k++)
        assert_ptr_equal(metadata_table_find(&table, entries[k].key), k < i ? &entries[k] : NULL);
    memory_fail_after(-1);
    put(&entries[i]);
    assert_ptr_equal(metadata_table_find(&table, entries[i].key), &entries[i]);
}

TEST(a_table_without_memory_is_none)
{
    struct metadata_table other;

    memory_fail_after(0);
    assert_int_equal(metadata_table_init(&other), -ENOMEM);
    metadata_table_fini(&other);
}

static _Atomic(size_t) there; /* entries that a reader has to find */

static void *read_all(void *arg)
{
    size_t *lost = arg, count;

    do {
        count = load_acquire(&there);
        for (size_t i = 0; i < count; i++) {
            struct grace_section section = grace_enter();

            *lost += metadata_table_find(&table, entries[i].key) != &entries[i];
            grace_leave(section);
        }
    } while (count < MANY);
    return NULL;
}

TEST(readers_find_what_was_there_while_it_grows)
{
    size_t lost[2] = {0, 0};
    pthread_t reader[2];

    store_relaxed(&there, 0);
    for (size_t i = 0; i < COUNT_OF(reader); i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_all, &lost[i]), 0);
    for (size_t i = 0; i < MANY; i++) {
        struct metadata_slots *outgrown;

        put(&entries[i]);
        store_release(&there, i + 1);
        outgrown = metadata_table_outgrown(&table);
        if (outgrown)
            grace_wait();
        metadata_slots_free(outgrown); /* unmapped: a reader that is still in it ends this test */
    }
    for (size_t i = 0; i < COUNT_OF(reader); i++) {
        pthread_join(reader[i], NULL);
        assert_int_equal(lost[i], 0);
    }
}
