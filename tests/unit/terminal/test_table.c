#include "terminal/table.h"

#include "terminal/text.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DOTS "\xE2\x80\xA6"

enum { BYTES, SHARE, BAR, NAME, PLACE };

static const struct table_column columns[] = {
    [BYTES] = {"bytes", TABLE_COUNT, 0, 0}, [SHARE] = {"share", TABLE_SHARE, 2, 0},
    [BAR] = {"", TABLE_BAR, 4, 4},          [NAME] = {"method", TABLE_NAME, 0, 12},
    [PLACE] = {"line", TABLE_PLACE, 3, 10},
};

static struct table *shop(void)
{
    struct table *t;

    assert_int_equal(table_new(columns, 5, &t), 0);
    table_row(t);
    table_count(t, BYTES, 1234567);
    table_share(t, SHARE, 0.5);
    table_share(t, BAR, 0.5);
    table_name(t, NAME, "", "Shop.Orders.Basket.Add(int)");
    table_place(t, PLACE, "/home/me/shop/Basket.cs:12", NULL);
    table_row(t);
    table_count(t, BYTES, 9);
    table_name(t, NAME, "  ", "Main");
    return t;
}

static char *printed(struct table *t, size_t width, bool colour)
{
    struct table_look look = {.width = width, .colour = colour};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(table_fit(t, &look), 0);
    table_print(t, out);
    fclose(out);
    return text;
}

static void expect(size_t width, const char *expected)
{
    struct table *t = shop();
    char *text = printed(t, width, false);

    assert_string_equal(text, expected);
    free(text);
    table_free(t);
}

TEST(columns_are_as_wide_as_their_cells)
{
    expect(SIZE_MAX, "    bytes  share        method                       line\n"
                     "1,234,567  50.0%  \xE2\x96\x88\xE2\x96\x88    Shop.Orders.Basket.Add(int)  "
                     "/home/me/shop/Basket.cs:12\n"
                     "        9                 Main\n");
}

TEST(names_and_places_are_cut_before_columns_go)
{
    expect(62, "    bytes  share        method               line\n"
               "1,234,567  50.0%  \xE2\x96\x88\xE2\x96\x88    Shop." DOTS "Basket.Add(" DOTS
               ")  " DOTS "/Basket.cs:12\n"
               "        9                 Main\n");
}

TEST(columns_go_by_rank_then_numbers_become_short)
{
    expect(46, "    bytes  share  method          line\n"
               "1,234,567  50.0%  " DOTS "Basket.Add(" DOTS ")  " DOTS "asket.cs:12\n"
               "        9           Main\n");
    expect(30, "    bytes  share  method\n"
               "1,234,567  50.0%  "
               "Bas" DOTS "t.Add(" DOTS ")\n"
               "        9           Main\n");
    expect(20, "bytes  method\n"
               " 1.2M  Basket.Add(" DOTS ")\n"
               "    9    Main\n");
}

TEST(no_width_is_too_small)
{
    struct table *t = shop();

    for (size_t width = 0; width < 120; width++) {
        struct buffer b = BUFFER_INIT;
        struct table_look look = {.width = width, .indent = 1};

        assert_int_equal(table_fit(t, &look), 0);
        assert_true(text_columns(table_head(t, &b)) <= width);
        for (size_t i = 0; i < table_rows(t); i++)
            assert_true(text_columns(table_line(t, i, &b)) <= width);
        buffer_free(&b);
    }
    table_free(t);
}

TEST(a_bar_is_drawn_in_eighths)
{
    static const struct table_column bar[] = {{"", TABLE_BAR, 0, 2}};
    static const double shares[] = {0, 0.001, 0.5, 0.56, 1, 7};
    static const char *const expected[] = {
        "",
        "\xE2\x96\x8F",
        "\xE2\x96\x88",
        "\xE2\x96\x88\xE2\x96\x8F",
        "\xE2\x96\x88\xE2\x96\x88",
        "\xE2\x96\x88\xE2\x96\x88",
    };
    struct table_look look = {.width = 80};
    struct buffer b = BUFFER_INIT;
    struct table *t;

    assert_int_equal(table_new(bar, 1, &t), 0);
    for (size_t i = 0; i < 6; i++) {
        table_row(t);
        table_share(t, 0, shares[i]);
    }
    assert_int_equal(table_fit(t, &look), 0);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(table_line(t, i, &b), expected[i]);
    buffer_free(&b);
    table_free(t);
}

TEST(lines_of_a_deep_tree_leave_room_for_the_name)
{
    static const struct table_column tree[] = {{"method", TABLE_NAME, 0, 0}};
    struct table_look look = {.width = 20};
    struct buffer b = BUFFER_INIT;
    char deep[100001];
    struct table *t;

    memset(deep, '|', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(table_new(tree, 1, &t), 0);
    table_row(t);
    table_name(t, 0, deep, "Type.Method");
    assert_int_equal(table_fit(t, &look), 0);
    assert_string_equal(table_line(t, 0, &b), DOTS "|||||||||Ty" DOTS ".Method");
    buffer_free(&b);
    table_free(t);
}

TEST(what_stands_out_does_so_in_colours_only)
{
    struct table *t = shop();
    char *text;

    table_strong(t);
    text = printed(t, 100, false);
    assert_null(strchr(text, '\033'));
    free(text);
    text = printed(t, 100, true);
    assert_non_null(strstr(text, "\033[1m"));
    free(text);
    table_free(t);
}

TEST(names_and_links_cannot_end_an_escape)
{
    struct table_look look = {.width = 80};
    struct buffer b = BUFFER_INIT;
    struct table *t = shop();

    table_row(t);
    table_name(t, NAME, "\033[2J", "a\033]0;b\007");
    table_place(t, PLACE, "a\nb:1", "file:///a\033\\ b");
    assert_int_equal(table_fit(t, &look), 0);
    assert_non_null(strstr(table_line(t, 2, &b), "?[2Ja?]0;b?"));
    assert_non_null(strstr(b.data, "\033]8;;file:///a\\b\033\\a?b:1\033]8;;\033\\"));
    assert_null(strstr(b.data, "\033["));
    buffer_free(&b);
    table_free(t);
}

TEST(a_name_among_places_is_cut_as_a_name)
{
    struct table_look look = {.width = 62};
    struct buffer b = BUFFER_INIT;
    struct table *t = shop();

    table_row(t);
    table_name(t, PLACE, "", "Shop.Orders.Basket.Remove(int)");
    assert_int_equal(table_fit(t, &look), 0);
    assert_non_null(strstr(table_line(t, 2, &b), "Basket.Remove(" DOTS ")"));
    buffer_free(&b);
    table_free(t);
}

TEST(a_shown_column_says_where_it_is)
{
    struct table_look look = {.width = 30};
    struct table *t = shop();

    assert_int_equal(table_fit(t, &look), 0);
    assert_true(table_shows(t, NAME));
    assert_false(table_shows(t, PLACE));
    assert_int_equal(table_column_at(t, NAME), 18);
    assert_int_equal(table_column_width(t, NAME), 12);
    assert_int_equal(table_column_width(t, PLACE), 0);
    table_clear(t);
    assert_int_equal(table_rows(t), 0);
    table_free(t);
}

TEST(memory_that_runs_out_is_told)
{
    struct table_look look = {.width = 80};
    struct table *t;

    assert_int_equal(table_new(columns, 5, &t), 0);
    memory_fail_after(0);
    table_row(t);
    table_name(t, NAME, "", "a");
    memory_fail_after(-1);
    assert_int_equal(table_fit(t, &look), -ENOMEM);
    table_clear(t);
    assert_int_equal(table_fit(t, &look), 0);
    table_free(t);
}

/* "-" where nobody knows how many, "no end" in place of a time. */
TEST(a_text_in_a_column_of_numbers_stands_in_their_place)
{
    struct table *t = shop();
    char *text;

    table_row(t);
    table_text(t, BYTES, "-");
    text = printed(t, 200, false);
    assert_non_null(strstr(text, "\n        -\n"));
    free(text);
    table_free(t);
}

TEST(a_column_may_be_there_only_if_some_row_fills_it)
{
    static const struct table_column some[] = {{"bytes", TABLE_COUNT, 0, 0},
                                               {"range", TABLE_NUMBER_TEXT, TABLE_IF_FILLED, 0}};
    struct table *t;
    char *text;

    assert_int_equal(table_new(some, 2, &t), 0);
    table_row(t);
    table_count(t, 0, 12);
    text = printed(t, 80, false);
    assert_string_equal(text, "bytes\n   12\n");
    free(text);
    table_row(t);
    table_text(t, 1, "1-2");
    text = printed(t, 80, false);
    assert_string_equal(text, "bytes  range\n   12\n         1-2\n");
    free(text);
    table_free(t);
}
