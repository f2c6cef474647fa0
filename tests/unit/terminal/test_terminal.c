#include "terminal/terminal.h"

#include "terminal/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_file_gets_the_fixed_width_and_no_colour(void **state)
{
    struct terminal t = terminal_from(false, 200, "xterm", NULL);

    (void)state;
    assert_int_equal(t.width, TEXT_WIDTH);
    assert_false(t.colour);
    assert_string_equal(terminal_strong(&t), "");
    assert_string_equal(terminal_plain(&t), "");
}

static void a_terminal_gets_its_own_width_within_limits(void **state)
{
    (void)state;
    assert_int_equal(terminal_from(true, 132, "xterm", NULL).width, 132);
    assert_int_equal(terminal_from(true, 20, "xterm", NULL).width, 80);
    assert_int_equal(terminal_from(true, 5000, "xterm", NULL).width, 240);
    assert_int_equal(terminal_from(true, 0, "xterm", NULL).width, TEXT_WIDTH);
}

static void colours_can_be_declined(void **state)
{
    (void)state;
    assert_true(terminal_from(true, 80, "xterm", NULL).colour);
    assert_true(terminal_from(true, 80, "xterm", "").colour);
    assert_false(terminal_from(true, 80, "xterm", "1").colour);
    assert_false(terminal_from(true, 80, "dumb", NULL).colour);
    assert_false(terminal_from(true, 80, "", NULL).colour);
    assert_false(terminal_from(true, 80, NULL, NULL).colour);
}

static void a_stream_without_a_file_is_no_terminal(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(terminal_of(out).width, TEXT_WIDTH);
    assert_false(terminal_of(out).colour);
    fclose(out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gets_the_fixed_width_and_no_colour),
        cmocka_unit_test(a_terminal_gets_its_own_width_within_limits),
        cmocka_unit_test(colours_can_be_declined),
        cmocka_unit_test(a_stream_without_a_file_is_no_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
