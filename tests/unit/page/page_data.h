/*
 * unit/page/page_data.h - the data of a page that html or serve made, unpacked.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_PAGE_PAGE_DATA_H
#define SHADOWTRACE_TESTS_UNIT_PAGE_PAGE_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

/* What lies between two texts; to be freed. */
static inline char *between(const char *text, const char *before, const char *behind)
{
    const char *from = strstr(text, before), *to;

    assert_non_null(from);
    from += strlen(before);
    to = strstr(from, behind);
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

static inline size_t of_base64(const char *text, unsigned char *to)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, count = 0;
    size_t size = 0;

    for (; *text && *text != '='; text++) {
        const char *at = strchr(letters, *text);

        assert_non_null(at);
        bits = bits << 6 | (unsigned)(at - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            to[size++] = (unsigned char)(bits >> count);
        }
    }
    return size;
}

struct data {
    unsigned char bytes[1 << 20];
    size_t size, columns; /* where the columns begin */
    json_t *head;
};

static inline void unpack(const char *page, struct data *out)
{
    char *text = between(page, "id=\"data\">", "</script>");
    unsigned char *packed = malloc(strlen(text));
    z_stream z = {.next_in = packed, .next_out = out->bytes, .avail_out = sizeof(out->bytes)};
    json_error_t error;
    uint32_t size;

    z.avail_in = (uInt)of_base64(text, packed);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    out->size = z.total_out;
    inflateEnd(&z);
    assert_memory_equal(out->bytes, "STPAGE1\n", 8);
    memcpy(&size, out->bytes + 8, 4);
    out->columns = 12 + size;
    out->head = json_loadb((const char *)out->bytes + 12, size, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(out->head);
    free(packed);
    free(text);
}

#endif
