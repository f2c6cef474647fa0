#include "clr/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <shadowtrace/clr/constants.h>

static void a_known_result_has_its_name(void **state)
{
    char buf[CLR_ERROR_TEXT_SIZE] = "kept";

    (void)state;
    assert_string_equal(clr_error_text(S_OK, buf, sizeof(buf)), "S_OK");
    assert_string_equal(clr_error_text(CORPROF_E_STACKSNAPSHOT_UNSAFE, buf, sizeof(buf)),
                        "CORPROF_E_STACKSNAPSHOT_UNSAFE");
    assert_string_equal(clr_error_text((hresult)0x80131375, buf, sizeof(buf)),
                        "CORPROF_E_PROFILER_CANCEL_ACTIVATION");
    assert_string_equal(clr_error_text(E_FAIL, NULL, 0), "E_FAIL");
    assert_string_equal(buf, "kept");
}

static void an_unknown_result_is_its_number(void **state)
{
    char buf[CLR_ERROR_TEXT_SIZE];

    (void)state;
    assert_ptr_equal(clr_error_text((hresult)0x8BADF00D, buf, sizeof(buf)), buf);
    assert_string_equal(buf, "0x8badf00d");
    assert_string_equal(clr_error_text(2, buf, sizeof(buf)), "0x00000002");
}

static void a_short_buffer_is_not_overrun(void **state)
{
    char buf[CLR_ERROR_TEXT_SIZE];

    (void)state;
    for (size_t size = 1; size <= sizeof(buf); size++) {
        memset(buf, 'x', sizeof(buf));
        assert_int_equal(strlen(clr_error_text(2, buf, size)), size - 1);
        for (size_t i = size; i < sizeof(buf); i++)
            assert_int_equal(buf[i], 'x');
    }
    assert_string_equal(clr_error_text(2, NULL, 0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_result_has_its_name),
        cmocka_unit_test(an_unknown_result_is_its_number),
        cmocka_unit_test(a_short_buffer_is_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
