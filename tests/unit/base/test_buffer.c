/* Text buffers: UTF-8 of whatever bytes, JSON strings, numbers, and what remains when memory runs out. */
#include "base/atomics.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define REPLACED "\xef\xbf\xbd"

static int memory_is_back(void **state)
{
    (void)state;
    memory_fail_after(-1);
    return 0;
}

static size_t encode(uint32_t code, unsigned char *to)
{
    if (code < 0x80) {
        to[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (unsigned char)(0xc0 | code >> 6);
        to[1] = (unsigned char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (unsigned char)(0xe0 | code >> 12);
        to[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (unsigned char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (unsigned char)(0xf0 | code >> 18);
    to[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (unsigned char)(0x80 | (code & 0x3f));
    return 4;
}

/* A sequence is valid if the code point that its payload bits say is no surrogate and encodes to the same bytes. */
static size_t valid_length(const unsigned char *at, size_t left)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};

    for (size_t n = 1; n <= 4 && n <= left; n++) {
        uint32_t code = at[0] & lead_bits[n];
        unsigned char again[4];

        for (size_t i = 1; i < n; i++)
            code = code << 6 | (at[i] & 0x3f);
        if (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && encode(code, again) == n &&
            memcmp(again, at, n) == 0)
            return n;
    }
    return 0;
}

static void expect_cleaned(struct buffer *b, const char *text)
{
    char expected[64];
    size_t size = 0, length = strlen(text);

    for (size_t i = 0; i < length;) {
        size_t n = valid_length((const unsigned char *)text + i, length - i);

        memcpy(expected + size, n ? text + i : REPLACED, n ? n : 3);
        size += n ? n : 3;
        i += n ? n : 1;
    }
    buffer_clear(b);
    buffer_utf8(b, text);
    if (b->failed || b->size != size || memcmp(b->data, expected, size) != 0)
        fail_msg("%02x %02x %02x %02x", (unsigned char)text[0], (unsigned char)text[1],
                 (unsigned char)text[2], (unsigned char)text[3]);
}

TEST(every_code_point_is_kept)
{
    struct buffer b = BUFFER_INIT;

    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        char text[8] = {0};
        size_t size;

        if (code == 0xd800)
            code = 0xe000;
        size = encode(code, (unsigned char *)text);
        buffer_clear(&b);
        buffer_utf8(&b, text);
        if (b.size != size || memcmp(b.data, text, size) != 0)
            fail_msg("U+%04" PRIX32, code);
    }
    buffer_free(&b);
}

TEST(every_surrogate_is_replaced)
{
    struct buffer b = BUFFER_INIT;

    for (uint32_t code = 0xd800; code <= 0xdfff; code++) {
        char text[4] = {0};

        encode(code, (unsigned char *)text);
        buffer_clear(&b);
        buffer_utf8(&b, text);
        assert_string_equal(b.data,
                            REPLACED REPLACED REPLACED); /* none of its bytes stands for anything */
    }
    buffer_free(&b);
}

TEST(every_pair_of_bytes_is_cleaned)
{
    struct buffer b = BUFFER_INIT;

    for (unsigned first = 1; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            char text[4] = {(char)first, (char)second};

            expect_cleaned(&b, text);
        }
    buffer_free(&b);
}

/* Bytes on both sides of every border in the table of well-formed sequences: overlong forms, surrogates, what lies
 * past U+10FFFF, continuation bytes that are missing or stray. */
TEST(every_four_bytes_at_a_border_are_cleaned)
{
    static const unsigned char border[] = {0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                           0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                           0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    const size_t count = sizeof(border);
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < count * count * count * count; i++) {
        char text[8] = {(char)border[i % count], (char)border[i / count % count],
                        (char)border[i / count / count % count],
                        (char)border[i / count / count / count]};

        expect_cleaned(&b, text);
    }
    buffer_free(&b);
}

TEST(a_sequence_cut_short_ends_with_the_text)
{
    static const char *const cut[] = {"\xc3",         "\xe2\x82", "\xe2",
                                      "\xf0\x9f\x8c", "\xf0\x9f", "\xf0"};
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < COUNT_OF(cut); i++) {
        char *exact = strdup(cut[i]); /* a sanitizer sees a read past the end */

        buffer_clear(&b);
        buffer_utf8(&b, exact);
        assert_int_equal(b.size, 3 * strlen(exact));
        for (size_t at = 0; at < b.size; at += 3)
            assert_memory_equal(b.data + at, REPLACED, 3);
        free(exact);
    }
    buffer_free(&b);
}

TEST(json_strings_escape_what_json_asks_for)
{
    struct buffer b = BUFFER_INIT;

    buffer_json_string(&b, "a\"b\\c\n\t\x01\x1f/\x7f\xc3\xa4");
    assert_string_equal(b.data, "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u001f/\\u007f\xc3\xa4\"");
    buffer_clear(&b);
    buffer_json_string(&b, "");
    assert_string_equal(b.data, "\"\"");
    buffer_free(&b);
}

TEST(json_strings_load_as_the_same_text)
{
    struct buffer b = BUFFER_INIT;

    for (uint32_t code = 1; code <= 0x10ffff; code += code < 0x3000 ? 1 : 97) {
        char text[16] = "<";
        json_t *json;

        if (code >= 0xd800 && code < 0xe000)
            continue;
        strcpy(text + 1 + encode(code, (unsigned char *)text + 1), ">");
        buffer_clear(&b);
        buffer_json_string(&b, text);
        json = json_loads(b.data, JSON_DECODE_ANY, NULL);
        if (!json || strcmp(json_string_value(json), text) != 0)
            fail_msg("U+%04" PRIX32 ": %s", code, b.data);
        json_decref(json);
    }
    buffer_free(&b);
}

TEST(numbers_are_decimal)
{
    static const uint64_t values[] = {0,
                                      1,
                                      9,
                                      10,
                                      99,
                                      100,
                                      4294967295u,
                                      4294967296u,
                                      (UINT64_C(1) << 53) - 1,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char expected[32];

        snprintf(expected, sizeof(expected), "%" PRIu64, values[i]);
        buffer_clear(&b);
        buffer_unsigned(&b, values[i]);
        assert_string_equal(b.data, expected);
        assert_int_equal(b.size, strlen(expected));
    }
    buffer_free(&b);
}

TEST(appends_follow_each_other_across_growth)
{
    struct buffer b = BUFFER_INIT;

    for (unsigned i = 0; i < 1000; i++) {
        buffer_format(&b, "%u", i);
        buffer_char(&b, ',');
        buffer_text(&b, i % 2 ? "" : "even,");
        assert_int_equal(b.data[b.size], '\0');
    }
    assert_false(b.failed);
    assert_memory_equal(b.data, "0,even,1,2,even,3,", 18);
    assert_string_equal(b.data + b.size - 13, "998,even,999,");
    buffer_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
}

TEST(a_format_longer_than_the_room_is_whole)
{
    struct buffer b = BUFFER_INIT;
    char long_text[301];

    memset(long_text, 'x', 300);
    long_text[300] = '\0';
    for (size_t length = 50; length < 80; length++) { /* around the first capacity */
        buffer_free(&b);
        buffer_format(&b, "%.*s", (int)length, long_text);
        assert_int_equal(b.size, length);
        assert_int_equal(strlen(b.data), length);
    }
    buffer_format(&b, "[%s]", long_text);
    assert_int_equal(b.size, 79 + 302);
    buffer_free(&b);
}

TEST(reserved_room_counts_once_it_is_added)
{
    struct buffer b = BUFFER_INIT;
    char *room = buffer_reserve(&b, 1000);

    assert_non_null(room);
    memset(room, 'r', 1000);
    assert_int_equal(b.size, 0);
    b.size += 1000;
    buffer_text(&b, "end");
    assert_int_equal(b.size, 1003);
    assert_memory_equal(b.data + 997, "rrrend", 6);
    buffer_free(&b);
}

/* Each way to append, when the buffer has to grow and cannot. */
static void append_number(struct buffer *b)
{
    buffer_unsigned(b, UINT64_MAX);
}
static void append_bytes(struct buffer *b)
{
    buffer_append(b, "0123456789abcdef0123456789abcdef", 32);
}
static void append_text(struct buffer *b)
{
    buffer_text(b, "0123456789abcdef");
}
static void append_char(struct buffer *b)
{
    buffer_char(b, 'c');
}
static void append_format(struct buffer *b)
{
    buffer_format(b, "%d", 123456789);
}
static void append_utf8(struct buffer *b)
{
    buffer_utf8(b, "\xc3\xa4");
}
static void append_reserve(struct buffer *b)
{
    assert_null(buffer_reserve(b, 1));
}

TEST(a_failed_append_keeps_the_content_and_marks_the_buffer, NULL, memory_is_back)
{
    static void (*const appends[])(struct buffer *) = {append_number, append_bytes,  append_text,
                                                       append_char,   append_format, append_utf8,
                                                       append_reserve};

    for (size_t i = 0; i < COUNT_OF(appends); i++) {
        struct buffer b = BUFFER_INIT;

        buffer_char(&b, '.');
        while (b.size + 1 < b.capacity)
            buffer_char(&b, '.');
        memory_fail_after(0);
        appends[i](&b);
        assert_true(b.failed);
        assert_int_equal(b.size, 63);
        assert_int_equal(strspn(b.data, "."), 63);
        assert_int_equal(b.data[63], '\0');
        memory_fail_after(-1);
        buffer_char(&b, '!'); /* the mark stays until somebody looks */
        assert_true(b.failed);
        buffer_clear(&b);
        assert_false(b.failed);
        assert_int_equal(b.size, 0);
        buffer_free(&b);
    }
}

TEST(a_failed_first_append_leaves_nothing, NULL, memory_is_back)
{
    struct buffer b = BUFFER_INIT;

    memory_fail_after(0);
    buffer_text(&b, "text");
    buffer_json_string(&b, "text");
    assert_true(b.failed);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
    assert_null(buffer_take(&b));
    assert_false(b.failed);
    memory_fail_after(-1);
    buffer_free(&b);
}

TEST(taking_gives_the_text_and_empties_the_buffer, NULL, memory_is_back)
{
    struct buffer b = BUFFER_INIT;
    char *text;

    buffer_text(&b, "taken");
    text = buffer_take(&b);
    assert_string_equal(text, "taken");
    assert_null(b.data);
    memory_free(text);
    text = buffer_take(&b);
    assert_string_equal(text, ""); /* nothing appended is a text, too */
    memory_free(text);
    memory_fail_after(0);
    assert_null(buffer_take(&b));
    memory_fail_after(-1);
}

TEST(what_fits_in_lent_room_allocates_nothing, NULL, memory_is_back)
{
    char room[16];
    struct buffer b = BUFFER_ON(room);
    char *text;

    memory_fail_after(0);
    buffer_text(&b, "fifteen letters");
    assert_false(b.failed);
    assert_ptr_equal(b.data, room);
    buffer_char(&b, '!');
    assert_true(b.failed);
    assert_string_equal(b.data, "fifteen letters");
    assert_null(buffer_take(&b)); /* marked */
    b = (struct buffer)BUFFER_ON(room);
    buffer_text(&b, "lent");
    assert_null(buffer_take(&b)); /* a separate string takes memory */
    memory_fail_after(-1);
    b = (struct buffer)BUFFER_ON(room);
    text = buffer_take(&b);
    assert_string_equal(text, "");
    memory_free(text);
    b = (struct buffer)BUFFER_ON(room);
    buffer_text(&b, "fifteen letters");
    buffer_text(&b, " and more");
    assert_string_equal(b.data, "fifteen letters and more");
    assert_ptr_not_equal(b.data, room);
    text = buffer_take(&b);
    assert_string_equal(text, "fifteen letters and more");
    memory_free(text);
    b = (struct buffer)BUFFER_ON(room);
    buffer_text(&b, "lent");
    text = buffer_take(&b);
    assert_ptr_not_equal(text, room);
    assert_string_equal(text, "lent");
    memory_free(text);
}
