#include "terminal/canvas.h"

#include "terminal/letter.h"
#include "base/memory.h"
#include "support/test.h"
#include "unit/terminal/canvas_text.h"

#include <errno.h>
#include <string.h>

#define WIDE     "\xE6\xBC\xA2" /* a letter of two columns */
#define ACUTE    "\xCC\x81"     /* combines with the letter before */
#define ELLIPSIS "\xE2\x80\xA6"

static struct canvas canvas;

static int begin(void **state)
{
    (void)state;
    return canvas_init(&canvas, 3, 10);
}

static int end(void **state)
{
    (void)state;
    canvas_fini(&canvas);
    return 0;
}

TEST_EACH(begin, end);

static const char *sent(const struct canvas *before, bool colour)
{
    static struct buffer out = BUFFER_INIT;

    buffer_clear(&out);
    buffer_text(&out, "");
    canvas_send(&canvas, before, colour, &out);
    return out.data;
}

TEST(letters_have_the_columns_of_a_terminal)
{
    assert_int_equal(letter_columns("abc"), 3);
    assert_int_equal(letter_columns("a" WIDE "b"), 4);
    assert_int_equal(letter_columns("e" ACUTE "a"), 2);
    assert_int_equal(letter_columns("\xF0\x9F\x8D\xB0"), 2); /* a cake */
    assert_int_equal(letter_columns("a\x1b\xff"), 3);
    assert_false(letter_at("\x1b").safe);
}

TEST(numbers_become_letters)
{
    char to[5] = "";

    to[letter_encode(to, 'a')] = '\0';
    assert_string_equal(to, "a");
    to[letter_encode(to, 0xe4)] = '\0';
    assert_string_equal(to, "\xC3\xA4");
    to[letter_encode(to, 0x6f22)] = '\0';
    assert_string_equal(to, WIDE);
    to[letter_encode(to, 0x1f370)] = '\0';
    assert_string_equal(to, "\xF0\x9F\x8D\xB0");
}

TEST(what_does_not_fit_is_left_out)
{
    assert_int_equal(canvas_put(&canvas, 0, 7, 10, CANVAS_PLAIN, "abcdef"), 10);
    assert_string_equal(row_text(&canvas, 0), "       abc");
    assert_int_equal(canvas_put(&canvas, 1, 0, 4, CANVAS_PLAIN, "abcdef"), 4);
    assert_string_equal(row_text(&canvas, 1), "abcd");
    canvas_put(&canvas, 3, 0, 10, CANVAS_PLAIN, "below");
    canvas_put(&canvas, -1, 0, 10, CANVAS_PLAIN, "above");
    canvas_put(&canvas, 2, 12, 10, CANVAS_PLAIN, "beside");
    assert_string_equal(row_text(&canvas, 2), "");
}

TEST(wide_letters_are_never_cut_in_half)
{
    assert_int_equal(canvas_put(&canvas, 0, 0, 3, CANVAS_PLAIN, WIDE WIDE), 2);
    assert_string_equal(row_text(&canvas, 0), WIDE);
    canvas_put(&canvas, 0, 9, 9, CANVAS_PLAIN, WIDE);
    assert_string_equal(row_text(&canvas, 0), WIDE);
}

TEST(marks_join_the_letter_before)
{
    assert_int_equal(canvas_put(&canvas, 0, 0, 10, CANVAS_PLAIN, "e" ACUTE ACUTE "a"), 2);
    assert_string_equal(row_text(&canvas, 0), "e" ACUTE ACUTE "a");
    canvas_put(&canvas, 1, 0, 10, CANVAS_PLAIN, WIDE ACUTE);
    assert_string_equal(row_text(&canvas, 1), WIDE ACUTE);
    canvas_put(&canvas, 2, 0, 10, CANVAS_PLAIN, ACUTE "a"); /* of nothing */
    assert_string_equal(row_text(&canvas, 2), "a");
}

TEST(what_a_terminal_would_act_on_is_a_mark)
{
    canvas_put(&canvas, 0, 0, 10, CANVAS_PLAIN, "a\x1b[2J\r\nb\x9b\xE2\x80\xAE");
    assert_string_equal(row_text(&canvas, 0), "a?[2J??b??");
}

TEST(the_middle_of_a_long_text_is_left_out)
{
    assert_int_equal(canvas_elide(&canvas, 0, 0, 10, CANVAS_PLAIN, "0123456789"), 10);
    assert_string_equal(row_text(&canvas, 0), "0123456789");
    canvas_elide(&canvas, 0, 0, 10, CANVAS_PLAIN, "0123456789abcdef");
    assert_string_equal(row_text(&canvas, 0), "01234" ELLIPSIS "cdef");
    canvas_elide(&canvas, 1, 0, 6, CANVAS_PLAIN, WIDE WIDE WIDE WIDE);
    assert_string_equal(row_text(&canvas, 1), WIDE ELLIPSIS WIDE);
    assert_int_equal(canvas_elide(&canvas, 2, 0, 0, CANVAS_PLAIN, "a"), 0);
    assert_int_equal(canvas_elide(&canvas, 2, 10, 5, CANVAS_PLAIN, "a"), 10);
}

TEST(numbers_stand_on_the_right)
{
    canvas_right(&canvas, 0, 0, 6, CANVAS_PLAIN, "12");
    canvas_right(&canvas, 0, 6, 2, CANVAS_PLAIN, "1234");
    assert_string_equal(row_text(&canvas, 0), "    1212");
}

TEST(only_rows_that_changed_are_sent)
{
    struct canvas before;

    assert_int_equal(canvas_init(&before, 3, 10), 0);
    assert_string_equal(sent(&before, true), "");
    canvas_put(&canvas, 1, 2, 10, CANVAS_PLAIN, "ab");
    assert_string_equal(sent(&before, true), "\033[2;1H  ab\033[K");
    assert_string_equal(sent(NULL, true), "\033[1;1H\033[K\033[2;1H  ab\033[K\033[3;1H\033[K");
    canvas_put(&canvas, 1, 0, 10, CANVAS_PLAIN, "0123456789");
    assert_string_equal(sent(&before, true), "\033[2;1H0123456789"); /* [K would take the last */
    canvas_fini(&before);
}

TEST(styles_are_sent_where_they_change_and_colours_only_if_wanted)
{
    struct canvas before;

    assert_int_equal(canvas_init(&before, 3, 10), 0);
    canvas_put(&canvas, 0, 0, 10, CANVAS_BOLD | CANVAS_RED, "ab");
    canvas_put(&canvas, 0, 2, 10, CANVAS_GREEN, "c");
    assert_string_equal(sent(&before, true), "\033[1;1H\033[0;1;31mab\033[0;32mc\033[0m\033[K");
    assert_string_equal(sent(&before, false), "\033[1;1H\033[0;1mab\033[0mc\033[0m\033[K");
    canvas_restyle(&canvas, 0, 0, 10, CANVAS_REVERSE | CANVAS_BLUE);
    assert_string_equal(sent(&before, true),
                        "\033[1;1H\033[0;1;7;34mab\033[0;7;34mc       \033[0m");
    canvas_fini(&before);
}

TEST(a_terminal_without_room_is_none)
{
    struct canvas none;

    assert_int_equal(canvas_init(&none, -1, 0), 0);
    canvas_put(&none, 0, 0, 10, CANVAS_PLAIN, "a");
    canvas_elide(&none, 0, 0, 10, CANVAS_PLAIN, "a");
    canvas_restyle(&none, 0, 0, 10, CANVAS_BOLD);
    assert_string_equal(all_text(&none), "");
    canvas_fini(&none);
    memory_fail_after(0);
    assert_int_equal(canvas_init(&none, 3, 3), -ENOMEM);
    memory_fail_after(-1);
    assert_int_equal(none.rows, 0);
}
