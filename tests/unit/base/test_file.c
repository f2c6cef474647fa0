#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(a_file_is_read_from_an_offset_to_its_end)
{
    FILE *file = tmpfile();
    char text[16];

    assert_non_null(file);
    fputs("0123456789", file);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(file_read_at(fileno(file), text, 4, 3), 4);
    assert_memory_equal(text, "3456", 4);
    assert_int_equal(file_read_at(fileno(file), text, sizeof(text), 8), 2);
    assert_int_equal(file_read_at(fileno(file), text, sizeof(text), 100), 0);
    assert_int_equal(file_read_at(fileno(file), text, sizeof(text), UINT64_MAX), -EINVAL);
    assert_int_equal(file_read_at(-1, text, sizeof(text), 0), -EBADF);
    fclose(file);
}

TEST(a_small_text_is_cut_to_fit)
{
    char path[] = "/tmp/test_file_XXXXXX", text[6];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    assert_int_equal(file_read_text(path, text, sizeof(text)), 5);
    assert_string_equal(text, "01234");
    unlink(path);
    errno = 12345;
    assert_int_equal(file_read_text(path, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    assert_int_equal(errno, 12345);
}

TEST(a_file_is_loaded_if_it_is_one_and_not_too_large)
{
    char path[] = "/tmp/test_file_XXXXXX", *data;
    int fd = mkstemp(path);
    size_t size;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    assert_int_equal(file_load(path, 10, &data, &size), 0);
    assert_int_equal(size, 10);
    assert_string_equal(data, "0123456789");
    memory_free(data);
    assert_int_equal(file_load(path, 9, &data, &size), -EFBIG);
    assert_null(data);
    memory_fail_after(0);
    assert_int_equal(file_load(path, 10, &data, &size), -ENOMEM);
    memory_fail_after(-1);
    unlink(path);
    assert_int_equal(file_load(path, 10, &data, &size), -ENOENT);
    assert_int_equal(file_load("/dev/null", 10, &data, &size), -EINVAL);
}
