#include "symbols/bundle.h"

#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/shadowtrace-bundle-XXXXXX";

static const uint8_t mark[32] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
                                 0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
                                 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

#define HEADER  200
#define FILE_AT 100

static uint8_t image[512];
static size_t image_size;

static void put(uint64_t value, size_t size)
{
    memcpy(image + image_size, &value, size);
    image_size += size;
}

static void put_text(const char *text)
{
    put(strlen(text), 1);
    memcpy(image + image_size, text, strlen(text));
    image_size += strlen(text);
}

/* A host with its mark, the file "app.dll" of ten bytes, and a manifest of version 6. */
static int make(void **state)
{
    (void)state;
    memset(image, 0, sizeof(image));
    image_size = 8;
    put(HEADER, 8);
    memcpy(image + image_size, mark, sizeof(mark));
    memcpy(image + FILE_AT, "MZ34567890", 10);
    image_size = HEADER;
    put(6, 4);
    put(0, 4);
    put(2, 4);
    put_text("identity");
    image_size += 40;
    for (int i = 0; i < 2; i++) {
        put(FILE_AT, 8);
        put(10, 8);
        put(0, 8);
        put(1, 1);
        put_text(i ? "app.dll" : "other.dll");
    }
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

TEST_EACH(make, NULL);
TEST_GROUP(make_file, remove_file);

static int read_name(const char *name, uint8_t **data, size_t *size)
{
    struct symbols_error error;
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, image_size, file), image_size);
    fclose(file);
    return symbols_bundle_read(path, name, data, size, &error);
}

TEST(a_file_is_read_out_of_a_bundle)
{
    uint8_t *data = NULL;
    size_t size = 0;

    assert_int_equal(read_name("app.dll", &data, &size), 0);
    assert_int_equal(size, 10);
    assert_memory_equal(data, "MZ34567890", 10);
    memory_free(data);
    assert_int_equal(read_name("missing.dll", &data, &size), -ENOENT);
}

TEST(a_program_that_is_no_bundle_has_none)
{
    uint8_t *data;
    size_t size;

    memset(image + 8, 0, 8); /* a host that nothing was bundled with */
    assert_int_equal(read_name("app.dll", &data, &size), -ENOENT);
    make(NULL);
    image[20] ^= 1; /* no mark */
    assert_int_equal(read_name("app.dll", &data, &size), -ENOENT);
    assert_int_equal(symbols_bundle_read("/nowhere/app", "app.dll", &data, &size, NULL), -ENOENT);
}

TEST(a_damaged_bundle_is_said)
{
    uint8_t *data = NULL;
    size_t size;

    image[HEADER] = 7; /* a newer version */
    assert_int_equal(read_name("app.dll", &data, &size), -EBADMSG);
    for (size_t at = HEADER; at < image_size; at++) {
        make(NULL);
        image[at] ^= 0xff;
        data = NULL;
        if (read_name("app.dll", &data, &size) == 0)
            memory_free(data);
        make(NULL);
        image_size = at; /* cut */
        assert_int_not_equal(read_name("app.dll", &data, &size), 0);
        make(NULL);
    }
}
