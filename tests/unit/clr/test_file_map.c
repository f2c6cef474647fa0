/* Metadata read from the module's file: the same bytes, and only from the file that was loaded. */
#include "clr/file_map.h"

#include "base/memory.h"
#include "support/test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PE = 128,
    SECTIONS = PE + 24 + 240,
    ADDRESS = 0x2000, /* of the only section once it is loaded */
    RAW = 0x1200,     /* in the file: not where a page begins */
    METADATA = 0x60,  /* in the section */
    SIZE = 0x3000,    /* of the metadata */
};

static uint8_t file[RAW + METADATA + SIZE], image[ADDRESS + METADATA + SIZE];
static char path[] = "/tmp/shadowtrace-test-XXXXXX";

static void put(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void file_write(size_t size)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(file, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static int setup(void **state)
{
    (void)state;
    memset(file, 0, sizeof(file));
    memcpy(file, "MZ", 2);
    put(file + 60, PE);
    memcpy(file + PE, "PE\0", 4);
    file[PE + 6] = 1;
    file[PE + 20] = 240;
    put(file + SECTIONS + 8, METADATA + SIZE);
    put(file + SECTIONS + 12, ADDRESS);
    put(file + SECTIONS + 16, METADATA + SIZE);
    put(file + SECTIONS + 20, RAW);
    for (size_t i = RAW; i < sizeof(file); i++)
        file[i] = (uint8_t)(i * 7 + i / 256);
    memcpy(image, file, 1024);
    memcpy(image + ADDRESS, file + RAW, METADATA + SIZE);
    file_write(sizeof(file));
    return 0;
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_EACH(setup, NULL);
TEST_GROUP(make_file, remove_file);

static const uint8_t *map(void)
{
    return clr_file_map(path, image, image + ADDRESS + METADATA, SIZE);
}

TEST(the_file_has_the_same_bytes_also_after_they_were_given_back)
{
    const uint8_t *own = map();

    assert_non_null(own);
    assert_ptr_not_equal(own, image + ADDRESS + METADATA);
    for (unsigned i = 0; i < 3; i++) {
        assert_memory_equal(own, image + ADDRESS + METADATA, SIZE);
        clr_file_map_discard();
    }
}

TEST(a_file_that_is_not_the_loaded_one_is_not_read)
{
    file[PE + 8]++; /* its time stamp */
    file_write(sizeof(file));
    assert_null(map());
    file[PE + 8]--;
    file[RAW + METADATA]++;
    file_write(sizeof(file));
    assert_null(map());
    file[RAW + METADATA]--;
    file_write(sizeof(file) - 1);
    assert_null(map());
    file_write(100);
    assert_null(map());
    unlink(path);
    assert_null(map());
    assert_null(clr_file_map("", image, image + ADDRESS + METADATA, SIZE));
}

TEST(without_memory_there_is_none)
{
    for (long count = 0; count < 2; count++) {
        memory_fail_after(count);
        assert_null(map());
        memory_fail_after(-1);
    }
    assert_non_null(map());
}
