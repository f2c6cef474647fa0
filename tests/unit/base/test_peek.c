#include "base/peek.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two pages, of which the second cannot be read. */
static char *half_readable(size_t *page)
{
    char *pages;

    *page = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    memset(pages, 'x', 2 * *page);
    assert_int_equal(mprotect(pages + *page, *page, PROT_NONE), 0);
    return pages;
}

TEST(what_is_there_is_copied)
{
    size_t page;
    char *pages = half_readable(&page), copy[16] = {0};

    assert_true(peek(copy, (uintptr_t)pages, sizeof(copy)));
    assert_memory_equal(copy, "xxxxxxxxxxxxxxxx", sizeof(copy));
    assert_int_equal(munmap(pages, 2 * page), 0);
}

TEST(what_is_not_there_does_no_harm)
{
    size_t page;
    char *pages = half_readable(&page), copy[16];

    errno = 12345;
    assert_false(peek(copy, 0, sizeof(copy)));
    assert_false(peek(copy, (uintptr_t)pages + page, sizeof(copy)));
    assert_false(peek(copy, (uintptr_t)pages + page - 8, sizeof(copy)));
    assert_int_equal(errno, 12345);
    assert_int_equal(munmap(pages, 2 * page), 0);
}

TEST(some_is_as_much_as_there_is)
{
    static char copy[3 * 65536];
    size_t page;
    char *pages = half_readable(&page);

    assert_int_equal(peek_some(copy, (uintptr_t)pages + page - 100, 4096), 100);
    assert_int_equal(peek_some(copy, (uintptr_t)pages + page, 4096), 0);
    assert_int_equal(peek_some(copy, (uintptr_t)copy + 65536 + 5, 65536), 65536);
    assert_int_equal(peek_some(copy, (uintptr_t)pages, 0), 0);
    assert_int_equal(munmap(pages, 2 * page), 0);
}
