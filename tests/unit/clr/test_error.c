#include "clr/error.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <shadowtrace/clr/constants.h>

TEST(a_known_result_has_its_name)
{
    char buf[CLR_ERROR_TEXT_SIZE] = "kept";

    assert_string_equal(clr_error_text(S_OK, buf, sizeof(buf)), "S_OK");
    assert_string_equal(clr_error_text(CORPROF_E_STACKSNAPSHOT_UNSAFE, buf, sizeof(buf)),
                        "CORPROF_E_STACKSNAPSHOT_UNSAFE");
    assert_string_equal(clr_error_text((hresult)0x80131375, buf, sizeof(buf)),
                        "CORPROF_E_PROFILER_CANCEL_ACTIVATION");
    assert_string_equal(clr_error_text(E_FAIL, NULL, 0), "E_FAIL");
    assert_string_equal(buf, "kept");
}

TEST(an_unknown_result_is_its_number)
{
    char buf[CLR_ERROR_TEXT_SIZE];

    assert_ptr_equal(clr_error_text((hresult)0x8BADF00D, buf, sizeof(buf)), buf);
    assert_string_equal(buf, "0x8badf00d");
    assert_string_equal(clr_error_text(2, buf, sizeof(buf)), "0x00000002");
}

TEST(a_short_buffer_is_not_overrun)
{
    char buf[CLR_ERROR_TEXT_SIZE];

    for (size_t size = 1; size <= sizeof(buf); size++) {
        memset(buf, 'x', sizeof(buf));
        assert_int_equal(strlen(clr_error_text(2, buf, size)), size - 1);
        for (size_t i = size; i < sizeof(buf); i++)
            assert_int_equal(buf[i], 'x');
    }
    assert_string_equal(clr_error_text(2, NULL, 0), "");
}
