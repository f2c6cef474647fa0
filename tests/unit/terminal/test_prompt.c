#include "terminal/prompt.h"

#include "terminal/key.h"
#include "support/test.h"
#include "unit/terminal/canvas_text.h"

#include <string.h>

static struct prompt prompt;

static int begin(void **state)
{
    (void)state;
    memset(&prompt, 0, sizeof(prompt));
    prompt_begin(&prompt, "");
    return 0;
}

TEST_EACH(begin, NULL);

static void type(const char *letters)
{
    for (; *letters; letters++)
        assert_int_equal(prompt_key(&prompt, (unsigned char)*letters), PROMPT_GOES_ON);
}

static void press(int key)
{
    assert_int_equal(prompt_key(&prompt, key), PROMPT_GOES_ON);
}

TEST(a_line_is_typed_and_changed)
{
    type("abc");
    press(KEY_LEFT);
    press(KEY_BACKSPACE);
    press(0x6f22);
    assert_string_equal(prompt.text, "a\xE6\xBC\xA2"
                                     "c");
    press(KEY_LEFT);
    press(KEY_DELETE);
    press(KEY_HOME);
    press(KEY_LEFT);
    type("x");
    press(KEY_END);
    press(KEY_RIGHT);
    type("y z");
    assert_string_equal(prompt.text, "xacy z");
    press(KEY_CONTROL('w'));
    assert_string_equal(prompt.text, "xacy ");
    press(KEY_CONTROL('w'));
    assert_string_equal(prompt.text, "");
    press(KEY_BACKSPACE);
    assert_int_equal(prompt_key(&prompt, KEY_ENTER), PROMPT_DONE);
}

TEST(parts_of_a_line_are_deleted)
{
    prompt_begin(&prompt, "one two three");
    press(KEY_CONTROL('w'));
    press(KEY_CONTROL('a'));
    press(KEY_RIGHT);
    press(KEY_CONTROL('k'));
    assert_string_equal(prompt.text, "o");
    press(KEY_CONTROL('e'));
    press(KEY_CONTROL('u'));
    assert_string_equal(prompt.text, "");
}

TEST(a_line_is_left)
{
    type("abc");
    assert_int_equal(prompt_key(&prompt, KEY_ESCAPE), PROMPT_LEFT);
}

TEST(what_was_typed_before_comes_back)
{
    type("one");
    assert_int_equal(prompt_key(&prompt, KEY_ENTER), PROMPT_DONE);
    prompt_begin(&prompt, "");
    type("two");
    assert_int_equal(prompt_key(&prompt, KEY_ENTER), PROMPT_DONE);
    prompt_begin(&prompt, "");
    type("now");
    press(KEY_UP);
    assert_string_equal(prompt.text, "two");
    press(KEY_UP);
    press(KEY_UP);
    assert_string_equal(prompt.text, "one");
    press(KEY_DOWN);
    press(KEY_DOWN);
    press(KEY_DOWN);
    assert_string_equal(prompt.text, "now");
    for (int i = 0; i < PROMPT_KEPT + 3; i++) {
        prompt_begin(&prompt, "");
        press('a' + i);
        assert_int_equal(prompt_key(&prompt, KEY_ENTER), PROMPT_DONE);
    }
    assert_int_equal(prompt.kept_count, PROMPT_KEPT);
}

TEST(a_line_has_an_end_and_no_control_letters)
{
    for (int i = 0; i < 2 * PROMPT_SIZE; i++)
        press(0x6f22);
    assert_in_range(strlen(prompt.text), PROMPT_SIZE - 4, PROMPT_SIZE - 1);
    prompt_begin(&prompt, "a\x1b[2J");
    assert_string_equal(prompt.text, "a?[2J");
    press(0x202e); /* would turn the line around */
    press(KEY_F1);
    press(1 << 8);
    assert_string_equal(prompt.text, "a?[2J\xC4\x80");
}

TEST(the_cursor_is_seen_whatever_the_width)
{
    struct canvas c;

    assert_int_equal(canvas_init(&c, 1, 20), 0);
    type("0123456789abcdefghij");
    prompt_draw(&prompt, &c, 0, "find");
    assert_string_equal(row_text(&c, 0), "find: 789abcdefghij");
    assert_int_equal(c.cells[19].style, CANVAS_REVERSE);
    press(KEY_HOME);
    prompt_draw(&prompt, &c, 0, "find");
    assert_string_equal(row_text(&c, 0), "find: 0123456789abcd");
    assert_int_equal(c.cells[6].style, CANVAS_REVERSE);
    canvas_fini(&c);
}
