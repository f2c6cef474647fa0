#include "base/compressed.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

TEST(numbers_of_each_length_are_read)
{
    /* The examples of ECMA-335 II.23.2. */
    static const struct {
        uint32_t value;
        size_t size;
        uint8_t bytes[4];
    } known[] = {
        {0x03, 1, {0x03}},
        {0x7f, 1, {0x7f}},
        {0x80, 2, {0x80, 0x80}},
        {0x2e57, 2, {0xae, 0x57}},
        {0x3fff, 2, {0xbf, 0xff}},
        {0x4000, 4, {0xc0, 0x00, 0x40, 0x00}},
        {0x1fffffff, 4, {0xdf, 0xff, 0xff, 0xff}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint32_t value;

        assert_int_equal(compressed_read(known[i].bytes, 4, &value), known[i].size);
        assert_int_equal(value, known[i].value);
        assert_int_equal(compressed_read(known[i].bytes, known[i].size - 1, &value), 0);
        assert_int_equal(value, 0);
    }
}

TEST(what_no_length_begins_with_is_none)
{
    static const uint8_t bytes[] = {0xe0, 0, 0, 0};
    uint32_t value;

    assert_int_equal(compressed_read(bytes, sizeof(bytes), &value), 0);
    assert_int_equal(compressed_read(bytes, 0, &value), 0);
}
