/* Code of precompiled images: where it ends, and what it refers to. Encodings are of GNU as. */
#include "clr/function.h"

#include "support/test.h"

static uint32_t referred(const uint32_t *code, uint32_t count, uint32_t at)
{
    uint32_t to = 0;

    return clr_function_refers((const uint8_t *)code, 4 * count, 0x5ff8, at, &to) ? to : 0;
}

TEST(a_reference_is_an_adrp_and_what_uses_its_register)
{
    /* adrp x0, the second page after; nop; ldr x0, [x0, #16] */
    static const uint32_t load[] = {0xD0000000, 0xD503201F, 0xF9400800};
    /* the same of x1, and add x2, x1, #20 */
    static const uint32_t sum[] = {0xD0000001, 0x91005022};
    /* of x1, and only x0 is used */
    static const uint32_t other[] = {0xD0000001, 0xF9400800};

    assert_int_equal(referred(load, 3, 0), 0x7010);
    assert_int_equal(referred(load, 3, 2), 0);
    assert_int_equal(referred(load, 3, 4), 0);
    assert_int_equal(referred(load, 2, 0), 0); /* the code ends before the load */
    assert_int_equal(referred(sum, 2, 0), 0x7014);
    assert_int_equal(referred(other, 2, 0), 0);
}

TEST(packed_unwind_data_has_the_length)
{
    static const uint32_t packed[] = {0x1000, 5u << 2 | 1};

    assert_int_equal(clr_function_end((const uint8_t *)packed, NULL, true), 0x1014);
}
