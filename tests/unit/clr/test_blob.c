#include "clr/blob.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <stddef.h>
#include <stdint.h>

/* The examples of ECMA-335 II.23.2. */
TEST(numbers_take_one_two_or_four_bytes)
{
    static const uint8_t bytes[] = {0x03, 0x7F, 0x80, 0x80, 0xAE, 0x57, 0xBF, 0xFF,
                                    0xC0, 0x00, 0x40, 0x00, 0xDF, 0xFF, 0xFF, 0xFF};
    static const uint32_t numbers[] = {0x03, 0x7F, 0x80, 0x2E57, 0x3FFF, 0x4000, 0x1FFFFFFF};
    struct clr_blob b = clr_blob_of(bytes, sizeof(bytes));

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        assert_int_equal(clr_blob_number(&b), numbers[i]);
    assert_false(b.bad);
    assert_ptr_equal(b.at, b.end);
}

TEST(a_token_says_its_table)
{
    static const uint8_t bytes[] = {0x49, 0x48, 0x4A};
    struct clr_blob b = clr_blob_of(bytes, sizeof(bytes));

    assert_int_equal(clr_blob_token(&b), mdtTypeRef | 0x12);
    assert_int_equal(clr_blob_token(&b), mdtTypeDef | 0x12);
    assert_int_equal(clr_blob_token(&b), mdtTypeSpec | 0x12);
    assert_false(b.bad);
}

TEST(what_cannot_be_read_is_zero_and_marks_the_blob)
{
    static const uint8_t cut[][3] = {{0x80}, {0xC0, 0x01, 0x02}, {0xE0}, {0xFF}};
    static const size_t size[] = {1, 3, 1, 1};

    for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++) {
        struct clr_blob b = clr_blob_of(cut[i], size[i]);

        assert_int_equal(clr_blob_number(&b), 0);
        assert_true(b.bad);
        assert_true(b.at <= b.end);
    }
    struct clr_blob none = clr_blob_of(NULL, 5), table = clr_blob_of((const uint8_t[]){7}, 1);

    assert_int_equal(clr_blob_byte(&none), 0);
    assert_true(none.bad);
    assert_int_equal(clr_blob_token(&table), 0); /* of no table */
    assert_true(table.bad);
}
