#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

TEST(only_a_regular_file_of_its_owner_is_opened)
{
    char folder[] = "/tmp/test_file_XXXXXX";
    int at, fd;

    assert_non_null(mkdtemp(folder));
    at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(openat(at, "plain", O_CREAT | O_WRONLY, 0600));
    assert_int_equal(mkfifoat(at, "fifo", 0600), 0);
    assert_int_equal(symlinkat("plain", at, "link"), 0);
    assert_int_equal(symlinkat("/dev/null", at, "device"), 0);
    fd = file_open_regular(at, "plain", O_RDWR | O_NOFOLLOW, geteuid());
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    fd = file_open_regular(at, "link", O_RDONLY, FILE_ANY_OWNER);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(file_open_regular(at, "link", O_RDONLY | O_NOFOLLOW, FILE_ANY_OWNER), -EINVAL);
    assert_int_equal(file_open_regular(at, "fifo", O_RDONLY, FILE_ANY_OWNER), -EINVAL);
    assert_int_equal(file_open_regular(at, "device", O_RDONLY, FILE_ANY_OWNER), -EINVAL);
    assert_int_equal(file_open_regular(at, "plain", O_RDONLY, geteuid() + 1), -EPERM);
    assert_int_equal(file_open_regular(at, "none", O_RDONLY, FILE_ANY_OWNER), -ENOENT);
    for (int i = 0; i < 4; i++)
        unlinkat(at, (const char *[]){"plain", "fifo", "link", "device"}[i], 0);
    close(at);
    rmdir(folder);
}
