#include "terminal/list.h"

#include "terminal/key.h"
#include "support/test.h"

static void press(struct list *l, int key)
{
    assert_true(list_key(l, key));
}

TEST(the_window_follows_the_cursor)
{
    struct list l = {0};

    list_show(&l, 100, 10);
    press(&l, KEY_UP);
    assert_int_equal(l.cursor, 0);
    for (int i = 0; i < 12; i++)
        press(&l, i % 2 ? KEY_DOWN : 'j');
    assert_int_equal(l.cursor, 12);
    assert_int_equal(l.first, 3);
    press(&l, KEY_END);
    assert_int_equal(l.cursor, 99);
    assert_int_equal(l.first, 90);
    press(&l, KEY_DOWN);
    assert_int_equal(l.cursor, 99);
    press(&l, 'g');
    assert_int_equal(l.first, 0);
    press(&l, 'G');
    press(&l, 'k');
    assert_int_equal(l.cursor, 98);
    assert_int_equal(l.first, 90);
}

TEST(a_page_keeps_one_row_of_the_one_before)
{
    struct list l = {0};

    list_show(&l, 100, 10);
    press(&l, KEY_PAGE_DOWN);
    assert_int_equal(l.cursor, 9);
    assert_int_equal(l.first, 9);
    press(&l, KEY_PAGE_DOWN);
    press(&l, KEY_PAGE_UP);
    assert_int_equal(l.cursor, 9);
    assert_int_equal(l.first, 9);
    press(&l, KEY_CONTROL('d'));
    assert_int_equal(l.cursor, 14);
    press(&l, KEY_CONTROL('u'));
    assert_int_equal(l.cursor, 9);
    press(&l, KEY_HOME);
    press(&l, KEY_PAGE_UP);
    assert_int_equal(l.cursor, 0);
    for (int i = 0; i < 20; i++)
        press(&l, KEY_PAGE_DOWN);
    assert_int_equal(l.cursor, 99);
    assert_int_equal(l.first, 90);
}

TEST(a_list_may_become_shorter_and_the_window_smaller)
{
    struct list l = {0};

    list_show(&l, 100, 10);
    press(&l, 'G');
    list_show(&l, 5, 10);
    assert_int_equal(l.cursor, 4);
    assert_int_equal(l.first, 0);
    list_show(&l, 5, 2);
    assert_int_equal(l.first, 3);
    list_show(&l, 0, 0);
    assert_int_equal(l.cursor, 0);
    press(&l, 'G');
    press(&l, KEY_DOWN);
    press(&l, KEY_PAGE_DOWN);
    assert_int_equal(l.cursor, 0);
    assert_false(list_key(&l, 'x'));
}

TEST(a_row_that_is_gone_to_is_seen_with_what_is_before_it)
{
    struct list l = {0};

    list_show(&l, 100, 9);
    list_at(&l, 4);
    assert_int_equal(l.first, 0);
    list_at(&l, 50);
    assert_int_equal(l.cursor, 50);
    assert_int_equal(l.first, 47);
    list_at(&l, 1);
    list_show(&l, 100, 9);
    assert_int_equal(l.first, 0);
}

TEST(a_text_moves_as_a_whole)
{
    struct list l = {0};

    list_show(&l, 30, 10);
    assert_true(list_text_key(&l, KEY_DOWN));
    assert_int_equal(l.first, 1);
    assert_true(list_text_key(&l, KEY_END));
    assert_int_equal(l.first, 20);
    assert_true(list_text_key(&l, KEY_DOWN));
    assert_int_equal(l.first, 20);
    list_show(&l, 30, 10);
    assert_int_equal(l.first, 20);
    assert_true(list_text_key(&l, KEY_PAGE_UP));
    assert_int_equal(l.first, 11);
    assert_false(list_text_key(&l, 'x'));
    list_show(&l, 3, 10);
    assert_true(list_text_key(&l, KEY_DOWN));
    assert_int_equal(l.first, 0);
}
