#include "readers/lines.h"

#include "base/memory.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <zstd.h>

static void expect_line(struct log_lines *l, const char *text, uint64_t number, uint64_t offset,
                        bool cut)
{
    struct log_line line;

    assert_int_equal(log_lines_next(l, &line), 1);
    assert_int_equal(line.size, strlen(text));
    assert_memory_equal(line.text, text, line.size);
    assert_int_equal(line.at.line, number);
    assert_int_equal(line.at.offset, offset);
    assert_int_equal(line.cut, cut);
    assert_false(line.too_long);
    for (size_t i = 0; i < LOG_LINE_PADDING; i++) /* readable, sanitizers watch */
        assert_true(i > 0 || line.text[line.size + i] == '\n' || line.text[line.size + i]);
}

static void expect_end(struct log_lines *l)
{
    struct log_line line;

    assert_int_equal(log_lines_next(l, &line), 0);
    assert_int_equal(log_lines_next(l, &line), 0); /* and stays there */
}

TEST(lines_are_the_same_however_the_bytes_come)
{
    static const char text[] = "one\n\nthree three\nfour";

    for (size_t chunk = 1; chunk <= sizeof(text); chunk++) {
        struct memory_log m = {.text = text, .size = sizeof(text) - 1, .chunk = chunk};
        struct log_lines *l = memory_log_lines(&m);

        expect_line(l, "one", 1, 0, false);
        expect_line(l, "", 2, 4, false);
        expect_line(l, "three three", 3, 5, false);
        expect_line(l, "four", 4, 17, true);
        expect_end(l);
        assert_null(log_lines_damage(l));
        assert_int_equal(log_lines_taken(l), sizeof(text) - 1);
        log_lines_free(l);
    }
}

TEST(an_empty_log_has_no_lines)
{
    struct memory_log m = {.text = "", .size = 0};
    struct log_lines *l = memory_log_lines(&m);

    expect_end(l);
    log_lines_free(l);
}

TEST(a_line_longer_than_a_chunk_is_whole)
{
    size_t size = 3000000;
    char *text = malloc(size);
    struct memory_log m = {.text = text, .size = size, .chunk = 70000};
    struct log_lines *l = memory_log_lines(&m);
    struct log_line line;

    assert_non_null(text);
    memset(text, 'x', size);
    text[0] = '\n';
    text[size - 3] = '\n';
    expect_line(l, "", 1, 0, false);
    assert_int_equal(log_lines_next(l, &line), 1);
    assert_int_equal(line.size, size - 4);
    expect_line(l, "xx", 3, size - 2, true);
    expect_end(l);
    log_lines_free(l);
    free(text);
}

/* Endless without holding it. */
struct endless {
    size_t left;
};

static ssize_t endless_read(void *context, void *to, size_t size)
{
    struct endless *e = context;
    size_t some = size < e->left ? size : e->left;

    memset(to, 'y', some);
    e->left -= some;
    if (some && e->left == 0)
        memcpy((char *)to + some - 4, "\nab\n", 4);
    return (ssize_t)some;
}

/* Bytes of a log that is read while it is written: after each piece there is no more for now. */
struct in_pieces {
    const char *text;
    size_t size, at, piece;
    bool waits;
};

static ssize_t pieces_read(void *context, void *to, size_t size)
{
    struct in_pieces *p = context;
    size_t left = p->size - p->at, some = p->piece < left ? p->piece : left;

    p->waits = !p->waits;
    if (p->waits && left)
        return -EAGAIN;
    some = some < size ? some : size;
    memcpy(to, p->text + p->at, some);
    p->at += some;
    return (ssize_t)some;
}

static int next_of_pieces(struct log_lines *l, struct log_line *line)
{
    int more;

    do
        more = log_lines_next(l, line);
    while (more == -EAGAIN);
    return more;
}

TEST(a_line_beyond_the_limit_is_passed_over_though_it_comes_in_pieces)
{
    size_t size = LOG_LINE_MAX + (6 << 20);
    char *text = malloc(size);
    struct in_pieces p = {.text = text, .size = size, .piece = (1 << 20) - 7};
    const struct log_source source = {pieces_read, NULL, &p};
    struct log_line line;
    struct log_lines *l;

    assert_non_null(text);
    memset(text, 'y', size);
    memcpy(text, "one\n", 4);
    memcpy(text + size - 5, "\ntwo\n", 5);
    assert_int_equal(log_lines_from(&source, &l), 0);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_int_equal(line.size, 3);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_true(line.too_long);
    assert_int_equal(line.at.line, 2);
    assert_int_equal(line.at.offset, 4);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_int_equal(line.at.line, 3);
    assert_int_equal(line.at.offset, size - 4);
    assert_memory_equal(line.text, "two", 3);
    assert_int_equal(next_of_pieces(l, &line), 0);
    log_lines_free(l);
    free(text);
}

TEST(blocks_pass_over_a_line_beyond_the_limit_in_pieces_too)
{
    size_t size = LOG_LINE_MAX + (3 << 20);
    char *text = malloc(size);
    struct in_pieces p = {.text = text, .size = size, .piece = (1 << 20) - 7};
    const struct log_source source = {pieces_read, NULL, &p};
    struct log_block block = {.data = NULL};
    struct log_lines *l;
    int more;

    assert_non_null(text);
    memset(text, 'y', size);
    text[size - 1] = '\n';
    assert_int_equal(log_lines_from(&source, &l), 0);
    while ((more = log_lines_block(l, &block)) == -EAGAIN)
        ;
    assert_int_equal(more, 1);
    assert_true(block.too_long);
    assert_false(block.cut);
    assert_int_equal(block.offset, 0);
    assert_int_equal(log_lines_block(l, &block), 0);
    log_block_fini(&block);
    log_lines_free(l);
    free(text);
}

/* Whether a log is packed is known after four bytes, of which the first may come alone. */
TEST(a_packed_log_that_comes_byte_by_byte_is_unpacked)
{
    char packed[200];
    size_t size = ZSTD_compress(packed, sizeof(packed), "one\ntwo\n", 8, 3);
    struct in_pieces p = {.text = packed, .size = size, .piece = 1};
    const struct log_source source = {pieces_read, NULL, &p};
    struct log_line line;
    struct log_lines *l;

    assert_false(ZSTD_isError(size));
    assert_int_equal(log_lines_from(&source, &l), 0);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_memory_equal(line.text, "one\n", 4);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_memory_equal(line.text, "two\n", 4);
    assert_int_equal(line.at.offset, 4);
    assert_int_equal(next_of_pieces(l, &line), 0);
    assert_null(log_lines_damage(l));
    log_lines_free(l);
}

static ssize_t nothing_yet(void *context, void *to, size_t size)
{
    struct memory_log *m = context;
    ssize_t got = memory_log_read(context, to, size);

    return got || m->fail_at ? got : -EAGAIN;
}

/* A server looks ten times a second at a packed log that does not grow. */
TEST(a_packed_log_may_rest_for_long)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    char packed[200];
    ZSTD_outBuffer out = {packed, sizeof(packed), 0};
    ZSTD_inBuffer in = {"one\n", 4, 0};
    struct memory_log m = {.text = packed};
    const struct log_source source = {nothing_yet, NULL, &m};
    struct log_line line;
    struct log_lines *l;

    while (ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush))
        ;
    ZSTD_freeCCtx(z);
    m.size = out.pos;
    assert_int_equal(log_lines_from(&source, &l), 0);
    assert_int_equal(log_lines_next(l, &line), 1);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(log_lines_next(l, &line), -EAGAIN);
    assert_null(log_lines_damage(l));
    log_lines_free(l);
}

TEST(no_more_is_unpacked_than_is_allowed)
{
    size_t size = 100 << 20, most = 0;
    char *packed = malloc(ZSTD_compressBound(size)), *text = malloc(size);
    struct memory_log m = {.text = packed};
    struct log_lines *l = memory_log_lines(&m);
    struct log_line line;
    unsigned waits = 0;
    int more;

    assert_true(packed && text);
    memset(text, 'y', size);
    text[size - 1] = '\n';
    m.size = ZSTD_compress(packed, ZSTD_compressBound(size), text, size, 1);
    assert_false(ZSTD_isError(m.size));
    log_lines_allow(l, 1 << 20);
    while ((more = log_lines_next(l, &line)) == -EAGAIN) {
        size_t unfinished = log_lines_unfinished(l);

        assert_true(unfinished - most <= 1 << 20);
        most = unfinished;
        waits++;
        log_lines_allow(l, 1 << 20);
    }
    assert_int_equal(more, 1);
    assert_true(line.too_long);
    assert_int_equal(waits, 99);
    assert_int_equal(log_lines_next(l, &line), -EAGAIN);
    log_lines_allow(l, 1);
    assert_int_equal(log_lines_next(l, &line), 0);
    log_lines_free(l);
    free(packed);
    free(text);
}

TEST(what_was_read_of_a_line_can_be_forgotten)
{
    struct in_pieces p = {.text = "one\ntw one\ntwo\n", .size = 15, .piece = 6};
    const struct log_source source = {pieces_read, NULL, &p};
    struct log_line line;
    struct log_lines *l;

    assert_int_equal(log_lines_from(&source, &l), 0);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_int_equal(log_lines_next(l, &line), -EAGAIN);
    assert_int_equal(log_lines_unfinished(l), 2);
    log_lines_break(l, false);
    assert_int_equal(log_lines_unfinished(l), 0);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_memory_equal(line.text, " one\n", 5);
    log_lines_break(l, true);
    assert_int_equal(next_of_pieces(l, &line), 1);
    assert_int_equal(line.text[0], '\0');
    log_lines_free(l);
}

TEST(a_line_beyond_the_limit_is_passed_over)
{
    struct endless e = {LOG_LINE_MAX * 3};
    const struct log_source source = {endless_read, NULL, &e};
    struct log_lines *l;
    struct log_line line;

    assert_int_equal(log_lines_from(&source, &l), 0);
    assert_int_equal(log_lines_next(l, &line), 1);
    assert_true(line.too_long);
    assert_int_equal(line.size, 0);
    assert_int_equal(line.at.line, 1);
    expect_line(l, "ab", 2, LOG_LINE_MAX * 3 - 3, false);
    expect_end(l);
    log_lines_free(l);
}

TEST(reading_that_fails_is_not_an_end)
{
    struct memory_log m = {.text = "a\nb", .size = 3, .fail_at = -EIO};
    struct log_lines *l = memory_log_lines(&m);
    struct log_line line;

    expect_line(l, "a", 1, 0, false);
    assert_int_equal(log_lines_next(l, &line), -EIO);
    log_lines_free(l);
}

TEST(what_cannot_be_opened_says_why)
{
    struct log_lines *l;

    assert_int_equal(log_lines_open("/nowhere/at/all", &l), -ENOENT);
    assert_null(l);
}

/* Two frames, as a log has that is flushed each second. */
static size_t compress_two(const char *text, size_t size, char *to, size_t room)
{
    size_t half = ZSTD_compress(to, room, text, size / 2, 3);
    size_t rest = ZSTD_compress(to + half, room - half, text + size / 2, size - size / 2, 3);

    assert_false(ZSTD_isError(half));
    assert_false(ZSTD_isError(rest));
    return half + rest;
}

TEST(a_compressed_log_reads_as_the_plain_one)
{
    static const char text[] = "first line\nsecond line\nthird";
    char packed[1024];
    size_t size = compress_two(text, sizeof(text) - 1, packed, sizeof(packed));

    for (size_t chunk = 1; chunk <= size; chunk++) {
        struct memory_log m = {.text = packed, .size = size, .chunk = chunk};
        struct log_lines *l = memory_log_lines(&m);

        expect_line(l, "first line", 1, 0, false);
        expect_line(l, "second line", 2, 11, false);
        expect_line(l, "third", 3, 23, true);
        expect_end(l);
        assert_null(log_lines_damage(l));
        log_lines_free(l);
    }
}

TEST(a_compressed_log_cut_anywhere_is_a_prefix)
{
    static const char text[] = "first line\nsecond line\nthird line, longer than the others\n";
    char packed[1024], read[1024];
    size_t size = compress_two(text, sizeof(text) - 1, packed, sizeof(packed));

    for (size_t cut = 0; cut < size; cut++) {
        struct memory_log m = {.text = packed, .size = cut, .chunk = 7};
        struct log_lines *l = memory_log_lines(&m);
        struct log_line line;
        size_t used = 0;
        int more;

        while ((more = log_lines_next(l, &line)) == 1) {
            memcpy(read + used, line.text, line.size);
            used += line.size;
            if (!line.cut)
                read[used++] = '\n';
        }
        assert_int_equal(more, 0);
        if (cut < 4) { /* not even the magic number: four bytes of anything */
            assert_int_equal(used, cut);
        } else {
            assert_true(used < sizeof(text));
            assert_memory_equal(read, text, used);
            assert_true(log_lines_damage(l) || used == (sizeof(text) - 1) / 2);
        }
        log_lines_free(l);
    }
}

TEST(damaged_compressed_data_ends_the_log)
{
    static const char text[] = "first line\nsecond line\n";
    char packed[1024];
    size_t size = ZSTD_compress(packed, sizeof(packed), text, sizeof(text) - 1, 3);
    struct memory_log m = {.text = packed, .size = size};
    struct log_lines *l = memory_log_lines(&m);
    struct log_line line;

    packed[5] ^= 0x55;
    while (log_lines_next(l, &line) == 1)
        assert_true(line.at.line < 5);
    log_lines_free(l);
    memcpy(packed + size, "garbage", 7); /* behind a good frame */
    packed[5] ^= 0x55;
    m.size = size + 7;
    l = memory_log_lines(&m);
    expect_line(l, "first line", 1, 0, false);
    expect_line(l, "second line", 2, 11, false);
    expect_end(l);
    assert_non_null(log_lines_damage(l));
    log_lines_free(l);
}

TEST(running_out_of_memory_is_said)
{
    char *text = malloc(2000000);
    struct memory_log m = {.text = text, .size = 2000000};

    assert_non_null(text);
    memset(text, 'z', 2000000);
    for (long n = 0;; n++) {
        const struct log_source source = {memory_log_read, NULL, &m};
        struct log_lines *l = NULL;
        struct log_line line;
        int err;

        m.at = 0;
        memory_fail_after(n);
        err = log_lines_from(&source, &l);
        if (!err)
            err = log_lines_next(l, &line);
        memory_fail_after(-1);
        log_lines_free(l);
        if (err == 1)
            break;
        assert_int_equal(err, -ENOMEM);
        assert_true(n < 20);
    }
    free(text);
}
