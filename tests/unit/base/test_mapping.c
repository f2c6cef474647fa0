#include "base/mapping.h"
#include "support/test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(code_of_this_program_is_mapped_from_its_file)
{
    struct mapping mapping;
    char path[4096] = "";

    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_true(mapping_find((uintptr_t)&mapping_find, &mapping));
    assert_true(mapping.executable);
    assert_true((uintptr_t)&mapping_find >= mapping.start &&
                (uintptr_t)&mapping_find < mapping.end);
    assert_int_equal(strncmp(mapping.name, path, sizeof(mapping.name) - 1), 0);
}

TEST(the_stack_has_a_name_but_no_file)
{
    struct mapping mapping;

    assert_true(mapping_find((uintptr_t)&mapping, &mapping));
    assert_false(mapping.executable);
    assert_string_equal(mapping.name, "[stack]");
}

TEST(memory_has_no_name)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapping mapping;

    assert_ptr_not_equal(page, MAP_FAILED);
    assert_true(mapping_find((uintptr_t)page, &mapping));
    assert_true(mapping.executable);
    assert_string_equal(mapping.name, "");
    assert_int_equal(munmap(page, size), 0);
    errno = 12345;
    assert_false(mapping_find((uintptr_t)page, &mapping));
    assert_int_equal(errno, 12345);
}
