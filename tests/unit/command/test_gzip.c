#include "command/gzip.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "support/test.h"
#include "symbols/inflate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static int into_buffer(void *context, const void *data, size_t size)
{
    buffer_append(context, data, size);
    return 0;
}

static struct gzip *packer(enum gzip_frame frame, struct buffer *b)
{
    struct gzip *g;

    assert_int_equal(gzip_new(frame, GZIP_USUAL, into_buffer, b, &g), 0);
    return g;
}

TEST(what_was_packed_in_pieces_comes_out_whole)
{
    struct buffer packed = BUFFER_INIT, plain = BUFFER_INIT;
    struct gzip *g = packer(GZIP_BARE, &packed);
    uint8_t *out;

    for (uint64_t i = 0; i < 100000; i++)
        buffer_unsigned(&plain, i * i);
    for (size_t at = 0; at < plain.size; at += 977)
        gzip_write(g, plain.data + at, plain.size - at < 977 ? plain.size - at : 977);
    assert_int_equal(gzip_finish(g), 0);
    assert_int_equal(gzip_sums(g)->taken, plain.size);
    assert_int_equal(gzip_sums(g)->given, packed.size);
    assert_true(packed.size < plain.size / 2);
    assert_int_equal(gzip_sums(g)->crc,
                     crc32(0, (const uint8_t *)plain.data, (unsigned)plain.size));
    gzip_free(g);
    assert_int_equal(symbols_inflate((struct symbols_span){(uint8_t *)packed.data, packed.size},
                                     plain.size, &out),
                     0);
    assert_memory_equal(out, plain.data, plain.size);
    memory_free(out);
    buffer_free(&packed);
    buffer_free(&plain);
}

TEST(the_frame_is_that_of_gzip_without_a_time)
{
    struct buffer packed = BUFFER_INIT;
    struct gzip *g = packer(GZIP_FRAME, &packed);
    static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};

    gzip_write(g, "shadow", 6);
    assert_int_equal(gzip_finish(g), 0);
    assert_memory_equal(packed.data, head, sizeof(head));
    assert_int_equal(packed.data[packed.size - 4], 6); /* its last four bytes: the size */
    gzip_free(g);
    buffer_free(&packed);
}

static int refuse(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    ++*(int *)context;
    return -ENOSPC;
}

TEST(a_sink_that_fails_is_asked_once)
{
    struct gzip *g;
    int asked = 0;

    assert_int_equal(gzip_new(GZIP_FRAME, GZIP_SMALLEST, refuse, &asked, &g), 0);
    gzip_write(g, "a", 1);
    assert_int_equal(gzip_finish(g), -ENOSPC);
    gzip_write(g, "b", 1);
    assert_int_equal(gzip_finish(g), -ENOSPC);
    assert_int_equal(asked, 1);
    gzip_free(g);
}

TEST(a_full_device_is_told)
{
    FILE *full = fopen("/dev/full", "w");

    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(gzip_to_file(full, "x", 1), -ENOSPC);
    fclose(full);
}

TEST(without_memory_there_is_none)
{
    struct gzip *g;

    for (long n = 0; n < 4; n++) {
        int err;

        memory_fail_after(n);
        err = gzip_new(GZIP_FRAME, GZIP_USUAL, into_buffer, NULL, &g);
        memory_fail_after(-1);
        assert_int_equal(err, -ENOMEM);
        assert_null(g);
    }
}
