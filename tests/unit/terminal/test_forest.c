#include "terminal/forest.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "support/test.h"

#include <stdlib.h>

#define NONE FOREST_NONE

/* "0 .1 ..2(3)": items with a dot for each row above, those that nobody asked for in brackets. */
static const char *drawn(const uint32_t *parents, uint32_t items, const uint32_t *order,
                         size_t asked)
{
    static struct buffer b;
    struct forest f;

    buffer_clear(&b);
    assert_int_equal(forest_make(&f, parents, items, order, asked), 0);
    for (size_t i = 0; i < f.count; i++) {
        buffer_text(&b, i ? " " : "");
        for (uint32_t k = 0; k < f.rows[i].depth; k++)
            buffer_text(&b, ".");
        buffer_format(&b, f.rows[i].asked ? "%u" : "(%u)", f.rows[i].item);
    }
    forest_fini(&f);
    assert_false(b.failed);
    return b.size ? b.data : "";
}

#define DRAWN(parents, ...) \
    drawn(parents, COUNT_OF(parents), (uint32_t[]){__VA_ARGS__}, \
          COUNT_OF(((uint32_t[]){__VA_ARGS__})))

TEST(an_item_stands_before_those_that_come_from_it)
{
    static const uint32_t parents[] = {NONE, 0, 1, 0, NONE};

    assert_string_equal(DRAWN(parents, 0, 1, 2, 3, 4), "0 .1 ..2 .3 4");
    assert_string_equal(DRAWN(parents, 4, 3, 2, 1, 0), "4 0 .3 .1 ..2");
}

TEST(siblings_are_in_the_order_in_which_they_or_what_is_below_them_is_asked_for)
{
    static const uint32_t parents[] = {NONE, 0, 0, 2, NONE};

    assert_string_equal(DRAWN(parents, 3, 1, 4, 0, 2), "0 .2 ..3 .1 4");
}

TEST(what_an_item_comes_from_is_there_though_nobody_asked)
{
    static const uint32_t parents[] = {NONE, 0, 1, 0};

    assert_string_equal(DRAWN(parents, 2), "(0) .(1) ..2");
    assert_string_equal(DRAWN(parents, 2, 2, 1), "(0) .1 ..2");
    assert_string_equal(drawn(parents, 4, NULL, 0), "");
    assert_string_equal(drawn(NULL, 0, NULL, 0), "");
}

TEST(a_circle_is_cut_and_each_item_is_there_once)
{
    static const uint32_t pair[] = {1, 0, 0, NONE}, self[] = {0, 0}, away[] = {NONE, 7};

    assert_string_equal(DRAWN(pair, 2, 3), "3 (0) .2 .(1)");
    assert_string_equal(DRAWN(self, 1), "(0) .1");
    assert_string_equal(DRAWN(away, 1), "1");
}

TEST(a_chain_as_deep_as_there_are_items_needs_no_recursion)
{
    enum { ITEMS = 300000 };
    uint32_t *parents = malloc(ITEMS * sizeof(*parents));
    const uint32_t last = ITEMS - 1;
    struct forest f;

    assert_non_null(parents);
    for (uint32_t i = 0; i < ITEMS; i++)
        parents[i] = i ? i - 1 : NONE;
    assert_int_equal(forest_make(&f, parents, ITEMS, &last, 1), 0);
    assert_int_equal(f.count, ITEMS);
    assert_int_equal(f.rows[ITEMS - 1].depth, ITEMS - 1);
    forest_fini(&f);
    free(parents);
}
