/* What a library has allocated when it leaves a process is given back, and nothing else. */
#include "base/memory.h"
#include "base/memory_scope.h"
#include "support/test.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  2000u
#define MANY    3000u /* mappings: more than there is room for at first */

static int teardown(void **state)
{
    (void)state;
    memory_scope_end();
    return 0;
}

TEST_EACH(NULL, teardown);

static size_t in_use(void)
{
    return mallinfo2().uordblks;
}

static bool is_mapped(const void *pages)
{
    unsigned char resident;
    void *page = (void *)((uintptr_t)pages & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1));

    return mincore(page, 1, &resident) == 0;
}

TEST(blocks_that_nobody_freed_are_given_back)
{
    char kept[2000] = {0}, *text; /* all blocks are larger than what a thread keeps in store */
    size_t before = in_use();

    memset(kept, 'k', sizeof(kept) - 1);
    assert_int_equal(memory_scope_begin(), 0);
    for (size_t i = 0; i < 100; i++)
        assert_non_null(memory_alloc(5000 + i));
    text = memory_strdup(kept);
    text = memory_realloc(text, 9000);
    assert_string_equal(text, kept);
    memory_free(memory_zalloc(10, 500));
    memory_free(NULL);
    assert_non_null(memory_realloc(NULL, 7000));
    assert_int_equal((uintptr_t)text % 16, 0);
    assert_true(in_use() > before + 500000);
    memory_scope_end();
    assert_true(in_use() <= before);
}

/* malloc maps the first one, too, but raises its threshold when that is freed: the second one is in its heap. */
TEST(large_blocks_are_given_back_to_the_system_when_they_are_freed)
{
    char *block;

    assert_int_equal(memory_scope_begin(), 0);
    for (size_t i = 0; i < 2; i++) {
        block = memory_zalloc(1024, 1024);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        memset(block, 'x', 1024 * 1024);
        memory_free(block);
        assert_false(is_mapped(block));
    }
    block = memory_alloc(1024 * 1024); /* left to the end */
    memory_scope_end();
    assert_false(is_mapped(block));
}

TEST(a_block_keeps_its_bytes_when_it_grows_and_shrinks)
{
    static const size_t sizes[] = {100, 40000, 5000000, 300000, 200, 16};
    char *block;

    assert_int_equal(memory_scope_begin(), 0);
    block = memory_strdup("0123456789");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        block = memory_realloc(block, sizes[i]);
        assert_non_null(block);
        assert_string_equal(block, "0123456789");
        memset(block + 11, 'x', sizes[i] - 11);
    }
    memory_free(block);
    block = memory_zalloc(200, 1);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(block[i], 0);
}

TEST(what_is_larger_than_memory_is_refused)
{
    assert_int_equal(memory_scope_begin(), 0);
    assert_null(memory_alloc(SIZE_MAX - 8));
    assert_null(memory_zalloc(SIZE_MAX / 2, 4));
    assert_null(memory_realloc(NULL, SIZE_MAX - 8));
}

TEST(pages_are_given_back_wherever_they_moved_and_what_went_before_is_left_alone)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *kept, *grown, *cut, *gone;

    assert_int_equal(memory_scope_begin(), 0);
    kept = memory_pages_map(page);
    grown = memory_pages_grow(memory_pages_map(page), page, 64 * page);
    cut = memory_pages_map(4 * page);
    memory_pages_unmap(cut + page, 3 * page); /* its end */
    gone = memory_pages_map(page);
    memory_pages_unmap(gone, page);
    assert_ptr_equal(mmap(gone, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     gone); /* somebody else's by now */
    kept[0] = grown[63 * page] = cut[0] = 'x';
    memory_scope_end();
    assert_false(is_mapped(kept) || is_mapped(grown) || is_mapped(grown + 63 * page));
    assert_false(is_mapped(cut));
    assert_true(is_mapped(gone));
    munmap(gone, page);
}

TEST(there_may_be_any_number_of_mappings)
{
    static void *pages[MANY];

    assert_int_equal(memory_scope_begin(), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_non_null(pages[i] = memory_pages_map(4096));
    for (size_t i = 0; i < MANY; i += 2)
        memory_pages_unmap(pages[i], 4096);
    memory_scope_end();
    for (size_t i = 0; i < MANY; i++)
        assert_false(is_mapped(pages[i]));
}

static void *churn(void *context)
{
    void *block[8] = {NULL};

    (void)context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        block[i % 8] = memory_realloc(block[i % 8], 16 + i % 300);
        if (i % 3 == 0) {
            memory_free(block[i % 8]);
            block[i % 8] = NULL;
        }
        memory_pages_unmap(memory_pages_map(4096), 4096);
    }
    return NULL; /* the last blocks stay */
}

TEST(threads_at_once_lose_nothing)
{
    pthread_t thread[THREADS];
    size_t before;

    for (size_t i = 0; i < THREADS; i++) { /* arenas are made at the first block of a thread */
        assert_int_equal(pthread_create(&thread[i], NULL, churn, NULL), 0);
        pthread_join(thread[i], NULL);
    }
    before = in_use();
    assert_int_equal(memory_scope_begin(), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, churn, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    memory_scope_end();
    assert_true(in_use() <= before + 65536); /* the C library's own, of threads */
}
