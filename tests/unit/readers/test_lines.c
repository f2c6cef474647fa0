#include "readers/lines.h"

#include "base/memory.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <zstd.h>

static void expect_line(struct report_lines *l, const char *text, uint64_t number, uint64_t offset,
                        bool cut)
{
    struct report_line line;

    assert_int_equal(report_lines_next(l, &line), 1);
    assert_int_equal(line.size, strlen(text));
    assert_memory_equal(line.text, text, line.size);
    assert_int_equal(line.at.line, number);
    assert_int_equal(line.at.offset, offset);
    assert_int_equal(line.cut, cut);
    assert_false(line.too_long);
    for (size_t i = 0; i < REPORT_LINE_PADDING; i++) /* readable, sanitizers watch */
        assert_true(i > 0 || line.text[line.size + i] == '\n' || line.text[line.size + i]);
}

static void expect_end(struct report_lines *l)
{
    struct report_line line;

    assert_int_equal(report_lines_next(l, &line), 0);
    assert_int_equal(report_lines_next(l, &line), 0); /* and stays there */
}

TEST(lines_are_the_same_however_the_bytes_come)
{
    static const char text[] = "one\n\nthree three\nfour";

    for (size_t chunk = 1; chunk <= sizeof(text); chunk++) {
        struct memory_log m = {.text = text, .size = sizeof(text) - 1, .chunk = chunk};
        struct report_lines *l = memory_log_lines(&m);

        expect_line(l, "one", 1, 0, false);
        expect_line(l, "", 2, 4, false);
        expect_line(l, "three three", 3, 5, false);
        expect_line(l, "four", 4, 17, true);
        expect_end(l);
        assert_null(report_lines_damage(l));
        assert_int_equal(report_lines_taken(l), sizeof(text) - 1);
        report_lines_free(l);
    }
}

TEST(an_empty_log_has_no_lines)
{
    struct memory_log m = {.text = "", .size = 0};
    struct report_lines *l = memory_log_lines(&m);

    expect_end(l);
    report_lines_free(l);
}

TEST(a_line_longer_than_a_chunk_is_whole)
{
    size_t size = 3000000;
    char *text = malloc(size);
    struct memory_log m = {.text = text, .size = size, .chunk = 70000};
    struct report_lines *l = memory_log_lines(&m);
    struct report_line line;

    assert_non_null(text);
    memset(text, 'x', size);
    text[0] = '\n';
    text[size - 3] = '\n';
    expect_line(l, "", 1, 0, false);
    assert_int_equal(report_lines_next(l, &line), 1);
    assert_int_equal(line.size, size - 4);
    expect_line(l, "xx", 3, size - 2, true);
    expect_end(l);
    report_lines_free(l);
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

TEST(a_line_beyond_the_limit_is_passed_over)
{
    struct endless e = {REPORT_LINE_MAX * 3};
    const struct report_source source = {endless_read, NULL, &e};
    struct report_lines *l;
    struct report_line line;

    assert_int_equal(report_lines_from(&source, &l), 0);
    assert_int_equal(report_lines_next(l, &line), 1);
    assert_true(line.too_long);
    assert_int_equal(line.size, 0);
    assert_int_equal(line.at.line, 1);
    expect_line(l, "ab", 2, REPORT_LINE_MAX * 3 - 3, false);
    expect_end(l);
    report_lines_free(l);
}

TEST(reading_that_fails_is_not_an_end)
{
    struct memory_log m = {.text = "a\nb", .size = 3, .fail_at = -EIO};
    struct report_lines *l = memory_log_lines(&m);
    struct report_line line;

    expect_line(l, "a", 1, 0, false);
    assert_int_equal(report_lines_next(l, &line), -EIO);
    report_lines_free(l);
}

TEST(what_cannot_be_opened_says_why)
{
    struct report_lines *l;

    assert_int_equal(report_lines_open("/nowhere/at/all", &l), -ENOENT);
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
        struct report_lines *l = memory_log_lines(&m);

        expect_line(l, "first line", 1, 0, false);
        expect_line(l, "second line", 2, 11, false);
        expect_line(l, "third", 3, 23, true);
        expect_end(l);
        assert_null(report_lines_damage(l));
        report_lines_free(l);
    }
}

TEST(a_compressed_log_cut_anywhere_is_a_prefix)
{
    static const char text[] = "first line\nsecond line\nthird line, longer than the others\n";
    char packed[1024], read[1024];
    size_t size = compress_two(text, sizeof(text) - 1, packed, sizeof(packed));

    for (size_t cut = 0; cut < size; cut++) {
        struct memory_log m = {.text = packed, .size = cut, .chunk = 7};
        struct report_lines *l = memory_log_lines(&m);
        struct report_line line;
        size_t used = 0;
        int more;

        while ((more = report_lines_next(l, &line)) == 1) {
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
            assert_true(report_lines_damage(l) || used == (sizeof(text) - 1) / 2);
        }
        report_lines_free(l);
    }
}

TEST(damaged_compressed_data_ends_the_log)
{
    static const char text[] = "first line\nsecond line\n";
    char packed[1024];
    size_t size = ZSTD_compress(packed, sizeof(packed), text, sizeof(text) - 1, 3);
    struct memory_log m = {.text = packed, .size = size};
    struct report_lines *l = memory_log_lines(&m);
    struct report_line line;

    packed[5] ^= 0x55;
    while (report_lines_next(l, &line) == 1)
        assert_true(line.at.line < 5);
    report_lines_free(l);
    memcpy(packed + size, "garbage", 7); /* behind a good frame */
    packed[5] ^= 0x55;
    m.size = size + 7;
    l = memory_log_lines(&m);
    expect_line(l, "first line", 1, 0, false);
    expect_line(l, "second line", 2, 11, false);
    expect_end(l);
    assert_non_null(report_lines_damage(l));
    report_lines_free(l);
}

TEST(running_out_of_memory_is_said)
{
    char *text = malloc(2000000);
    struct memory_log m = {.text = text, .size = 2000000};

    assert_non_null(text);
    memset(text, 'z', 2000000);
    for (long n = 0;; n++) {
        const struct report_source source = {memory_log_read, NULL, &m};
        struct report_lines *l = NULL;
        struct report_line line;
        int err;

        m.at = 0;
        memory_fail_after(n);
        err = report_lines_from(&source, &l);
        if (!err)
            err = report_lines_next(l, &line);
        memory_fail_after(-1);
        report_lines_free(l);
        if (err == 1)
            break;
        assert_int_equal(err, -ENOMEM);
        assert_true(n < 20);
    }
    free(text);
}
