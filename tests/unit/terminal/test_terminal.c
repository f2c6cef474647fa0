#include "terminal/terminal.h"

#include "terminal/text.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

TEST(a_file_gets_the_fixed_width_and_no_colour)
{
    struct terminal t = terminal_from(false, 200, "xterm", NULL);

    assert_int_equal(t.width, TEXT_WIDTH);
    assert_false(t.colour);
    assert_string_equal(terminal_strong(&t), "");
    assert_string_equal(terminal_plain(&t), "");
}

TEST(a_terminal_gets_its_own_width_within_limits)
{
    assert_int_equal(terminal_from(true, 132, "xterm", NULL).width, 132);
    assert_int_equal(terminal_from(true, 20, "xterm", NULL).width, 20);
    assert_int_equal(terminal_from(true, 3, "xterm", NULL).width, 20);
    assert_int_equal(terminal_from(true, 5000, "xterm", NULL).width, 240);
    assert_int_equal(terminal_from(true, 0, "xterm", NULL).width, TEXT_WIDTH);
}

TEST(colours_can_be_declined)
{
    assert_true(terminal_from(true, 80, "xterm", NULL).colour);
    assert_true(terminal_from(true, 80, "xterm", "").colour);
    assert_false(terminal_from(true, 80, "xterm", "1").colour);
    assert_false(terminal_from(true, 80, "dumb", NULL).colour);
    assert_false(terminal_from(true, 80, "", NULL).colour);
    assert_false(terminal_from(true, 80, NULL, NULL).colour);
}

TEST(a_name_has_room_on_any_line)
{
    FILE *out = tmpfile();

    assert_non_null(out);
    assert_int_equal(terminal_room(out, 30), TEXT_WIDTH - 30);
    assert_int_equal(terminal_room(out, TEXT_WIDTH - 3), 24);
    assert_int_equal(terminal_room(out, 1000), 24);
    fclose(out);
}

TEST(a_stream_without_a_file_is_no_terminal)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(terminal_of(out).width, TEXT_WIDTH);
    assert_false(terminal_of(out).colour);
    fclose(out);
    free(text);
}
