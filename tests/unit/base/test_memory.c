/* Pages that grow, and pools: no block is handed out twice, to any thread. */
#include "base/memory.h"

#include "base/atomics.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 4
#define BLOCKS  20000u

static struct memory_pool pool;

static int setup(void **state)
{
    (void)state;
    pool = (struct memory_pool){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    memory_pool_free(&pool);
    return 0;
}

TEST_EACH(setup, teardown);

static size_t size_of(unsigned i)
{
    return i % 1000 == 7 ? 300000 : 1 + i % 200; /* some are larger than what is mapped at a time */
}

/* Blocks of one thread, each filled with its mark. */
static void *fill(void *mark)
{
    uintptr_t bad = 0;
    unsigned char **block = calloc(BLOCKS, sizeof(*block));

    for (unsigned i = 0; i < BLOCKS; i++) {
        block[i] = memory_pool_zalloc(&pool, 1, size_of(i));
        bad += !block[i] || (uintptr_t)block[i] % 16 != 0 || block[i][0] != 0 ||
               block[i][size_of(i) - 1] != 0;
        if (block[i])
            memset(block[i], (int)(uintptr_t)mark, size_of(i));
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        bad += !block[i] || block[i][0] != (uintptr_t)mark ||
               block[i][size_of(i) - 1] != (uintptr_t)mark;
    free(block);
    return (void *)bad;
}

TEST(threads_at_once_share_no_block)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *bad;

        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
}

TEST(a_pool_without_memory_gives_nothing_and_goes_on)
{
    char *first;

    memory_fail_after(0);
    assert_null(memory_pool_zalloc(&pool, 1, 8));
    memory_fail_after(1); /* the block, but no page */
    assert_null(memory_pool_zalloc(&pool, 1, 8));
    memory_fail_after(-1);
    first = memory_pool_zalloc(&pool, 3, 8);
    assert_non_null(first);
    assert_ptr_equal(memory_pool_zalloc(&pool, 1, 8), first + 32);
}

TEST(pages_that_grow_keep_what_they_hold)
{
    size_t size = 4096;
    char *pages = memory_pages_grow(NULL, 0, size);

    assert_non_null(pages);
    for (unsigned round = 0; round < 8; round++, size *= 2) {
        memset(pages, 'a' + (int)round, size);
        memory_fail_after(0);
        assert_null(memory_pages_grow(pages, size, 2 * size));
        memory_fail_after(-1);
        pages = memory_pages_grow(pages, size, 2 * size);
        assert_non_null(pages);
        assert_int_equal(pages[0], 'a' + round);
        assert_int_equal(pages[size - 1], 'a' + round);
        assert_int_equal(pages[2 * size - 1], 0);
    }
    memory_pages_unmap(pages, size);
}

TEST(reserved_space_is_used_piece_by_piece)
{
    size_t size = (size_t)1 << 30;
    char *space = memory_pages_reserve(size);

    assert_non_null(space);
    assert_true(memory_pages_use(space, 8192));
    space[8191] = 1;
    assert_true(memory_pages_use(space, 8192));
    assert_int_equal(space[8191], 1);
    memory_fail_after(0);
    assert_false(memory_pages_use(space + 8192, 4096));
    memory_fail_after(-1);
    memory_pages_unmap(space, size);
}

/* The kernel does not take back what the program has locked, as all of it is by mlockall. */
TEST(cleared_pages_are_zero)
{
    const size_t size = 8192;
    char *pages = memory_pages_map(size);
    int locked = 0;

    assert_non_null(pages);
    for (int round = 0; round < 2; round++) {
        memset(pages, 1, size);
        memory_pages_clear(pages, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(pages[i], 0);
        if (!round)
            locked = !mlock(pages, size);
    }
    memory_pages_unmap(pages, size);
    if (!locked)
        skip(); /* pages may not be locked here */
}
