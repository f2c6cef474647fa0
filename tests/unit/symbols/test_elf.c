/* Names of native functions: of this program itself, and of files that are damaged in many ways. */
#include "symbols/elf.h"

#include "base/image.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY "/tmp/symbols-elf-test"

static uint8_t *whole;
static size_t whole_size;
static struct image self;
static char path[64];

__attribute__((noinline)) static int named_here(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

static int setup(void **state)
{
    FILE *in = fopen("/proc/self/exe", "rb");
    struct stat st;

    (void)state;
    if (!in || fstat(fileno(in), &st))
        return -1;
    whole_size = (size_t)st.st_size;
    whole = memory_alloc(whole_size);
    if (!whole || fread(whole, 1, whole_size, in) != whole_size)
        return -1;
    fclose(in);
    snprintf(path, sizeof(path), "%s.%d", COPY, (int)getpid());
    return image_find((uintptr_t)setup, &self) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    memory_free(whole);
    return 0;
}

TEST_GROUP(setup, teardown);

static void write_copy(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/* Whatever it says of such a file: it says it, and a name can be asked for. */
static void use_copy(void)
{
    struct symbols_elf *elf = NULL;

    if (symbols_elf_open(path, NULL, &elf) == 0)
        for (uint64_t at = 0; at < whole_size; at += 4099) {
            const char *name = symbols_elf_name(elf, at);

            assert_true(!name || *name);
        }
    symbols_elf_free(elf);
}

TEST(a_function_is_found_by_each_address_of_its_code)
{
    uint64_t at = (uintptr_t)named_here - self.base;
    struct symbols_elf *elf;

    assert_int_equal(named_here(1), 2);
    assert_int_equal(symbols_elf_open("/proc/self/exe", NULL, &elf), 0);
    assert_string_equal(symbols_elf_name(elf, at), "named_here");
    assert_string_equal(symbols_elf_name(elf, at + 1), "named_here");
    assert_null(symbols_elf_name(elf, 0));
    assert_null(symbols_elf_name(elf, UINT64_MAX));
    symbols_elf_free(elf);
}

TEST(another_build_is_not_taken)
{
    char id[2 * IMAGE_BUILD_ID + 1] = "";
    struct symbols_elf *elf;

    for (size_t i = 0; i < self.build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", self.build_id[i]);
    if (*id) {
        assert_int_equal(symbols_elf_open("/proc/self/exe", id, &elf), 0);
        symbols_elf_free(elf);
    }
    assert_int_equal(symbols_elf_open("/proc/self/exe", "0123", &elf), -ESTALE);
    assert_null(elf);
}

TEST(what_is_no_elf_file_is_told)
{
    struct symbols_elf *elf;

    assert_int_equal(symbols_elf_open("/nowhere/lib.so", NULL, &elf), -ENOENT);
    assert_int_equal(symbols_elf_open("/tmp", NULL, &elf), -EIO);
    assert_int_equal(symbols_elf_open("/dev/zero", NULL, &elf), -EIO);
    write_copy((const uint8_t *)"hello", 5);
    assert_int_equal(symbols_elf_open(path, NULL, &elf), -EBADMSG);
    write_copy(NULL, 0);
    assert_int_equal(symbols_elf_open(path, NULL, &elf), -EBADMSG);
}

TEST(a_file_may_end_anywhere)
{
    for (size_t size = 1; size <= sizeof(Elf64_Ehdr) + 8; size++) {
        write_copy(whole, size);
        use_copy();
    }
    for (unsigned part = 1; part < 24; part++) {
        write_copy(whole, whole_size / 24 * part);
        use_copy();
    }
}

TEST(headers_may_say_anything)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    Elf64_Ehdr header;
    uint8_t *section;

    memcpy(&header, whole, sizeof(header));
    write_copy(whole, whole_size);
    for (size_t at = 0; at < sizeof(header) + (size_t)header.e_shnum * sizeof(Elf64_Shdr); at++) {
        off_t where = (off_t)(at < sizeof(header) ? at : header.e_shoff + at - sizeof(header));
        uint8_t value = values[at % sizeof(values)];
        int fd;

        section = whole + where;
        fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, &value, 1, where), 1);
        if (at < sizeof(header) || at % 8 == 5)
            use_copy();
        assert_int_equal(pwrite(fd, section, 1, where), 1);
        close(fd);
    }
}
