#include "terminal/outline.h"

#include "base/array.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Node n has the children 10n + 1 to 10n + 3, as deep as there are digits. */
#define DEPTH 4

static unsigned asked; /* how often for children */

static unsigned digits(uint32_t n)
{
    return n ? 1 + digits(n / 10) : 0;
}

static bool has_children(void *context, uint32_t node)
{
    (void)context;
    return digits(node) < DEPTH;
}

static int children(void *context, uint32_t node, struct outline_children *out)
{
    (void)context;
    asked++;
    if (!array_reserve(&out->nodes, &out->capacity, 3))
        return -ENOMEM;
    out->count = has_children(NULL, node) ? 3 : 0;
    for (uint32_t i = 0; i < out->count; i++)
        out->nodes[i] = 10 * node + i + 1;
    return 0;
}

static struct outline list;

static int begin(void **state)
{
    static const struct outline_source source = {children, has_children, NULL};

    (void)state;
    asked = 0;
    return outline_init(&list, &source, 0);
}

static int end(void **state)
{
    (void)state;
    outline_fini(&list);
    return 0;
}

TEST_EACH(begin, end);

/* "0- 1+ 2+ 3+": open rows with a minus, closed ones with a plus, leaves with neither. */
static const char *rows(void)
{
    static char text[4000];
    size_t at = 0;

    for (size_t i = 0; i < list.count; i++) {
        const struct outline_row *row = &list.rows[i];

        assert_int_equal(row->depth, digits(row->node));
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u%s", i ? " " : "", row->node,
                               row->open                       ? "-"
                               : has_children(NULL, row->node) ? "+"
                                                               : "");
    }
    return text;
}

TEST(rows_open_and_close)
{
    assert_string_equal(rows(), "0+");
    assert_int_equal(outline_open(&list, 0), 0);
    assert_string_equal(rows(), "0- 1+ 2+ 3+");
    assert_int_equal(outline_open(&list, 2), 0);
    assert_int_equal(outline_open(&list, 2), 0); /* it is */
    assert_string_equal(rows(), "0- 1+ 2- 21+ 22+ 23+ 3+");
    assert_int_equal(outline_open(&list, 3), 0);
    assert_string_equal(rows(), "0- 1+ 2- 21- 211+ 212+ 213+ 22+ 23+ 3+");
    assert_int_equal(outline_end(&list, 2), 9);
    assert_int_equal(outline_parent(&list, 5), 3);
    assert_int_equal(outline_parent(&list, 9), 0);
    assert_int_equal(outline_parent(&list, 0), 0);
    outline_close(&list, 2);
    outline_close(&list, 2);
    outline_close(&list, 77);
    assert_string_equal(rows(), "0- 1+ 2+ 3+");
    assert_int_equal(asked, 3);
}

TEST(a_leaf_does_not_open)
{
    const uint32_t path[] = {0, 1, 11, 111, 1111};
    size_t at;

    assert_int_equal(outline_open_path(&list, 0, path, 5, &at), 0);
    assert_int_equal(list.rows[at].node, 1111);
    assert_int_equal(outline_open(&list, at), 0);
    assert_false(list.rows[at].open);
}

TEST(a_path_opens_at_once)
{
    const uint32_t path[] = {2, 21, 213, 2132};
    size_t at;

    assert_int_equal(outline_open(&list, 0), 0);
    assert_int_equal(outline_open_path(&list, 2, path, 4, &at), 0);
    assert_string_equal(rows(), "0- 1+ 2- 21- 211+ 212+ 213- 2131 2132 2133 22+ 23+ 3+");
    assert_int_equal(list.rows[at].node, 2132);
    assert_int_equal(asked, 4);
}

TEST(a_path_that_is_none_opens_as_far_as_it_goes)
{
    const uint32_t path[] = {0, 3, 77, 771};
    size_t at;

    assert_int_equal(outline_open_path(&list, 0, path, 4, &at), 0);
    assert_int_equal(list.rows[at].node, 3);
    assert_int_equal(outline_open_path(&list, 0, path, 1, &at), 0);
    assert_int_equal(at, 0);
}

TEST(a_subtree_opens_as_far_as_there_is_room)
{
    assert_int_equal(outline_open(&list, 0), 0);
    assert_int_equal(outline_open_all(&list, 1, 1000), 0);
    assert_int_equal(list.count, 1 + 3 + 39);
    assert_int_equal(outline_end(&list, 1), 41);
    assert_int_equal(outline_open_all(&list, 0, 1000), 0);
    assert_int_equal(list.count, 1 + 3 + 9 + 27 + 81);
    assert_int_equal(outline_open_all(&list, 0, 20), -E2BIG);
    assert_in_range(list.count, 20, 30);
    assert_string_equal(rows() + strlen(rows()) - 6, " 2+ 3+");
    assert_int_equal(outline_open_all(&list, list.count - 1, 1000), 0);
    assert_int_equal(list.rows[list.count - 1].node, 3333);
}

/* A stack of 100,000 frames: no step may cost as much as there are rows. */
#define DEEP 100000

static int deep_children(void *context, uint32_t node, struct outline_children *out)
{
    (void)context;
    if (!array_reserve(&out->nodes, &out->capacity, 2))
        return -ENOMEM;
    out->nodes[0] = node + 1;
    out->nodes[1] = node + DEEP;
    out->count = 2;
    return 0;
}

static bool deep_has_children(void *context, uint32_t node)
{
    (void)context;
    return node < DEEP - 1;
}

TEST(deep_trees_open_by_their_path)
{
    static uint32_t path[DEEP];
    static const struct outline_source source = {deep_children, deep_has_children, NULL};
    size_t at;

    for (uint32_t i = 0; i < DEEP; i++)
        path[i] = i;
    outline_fini(&list);
    assert_int_equal(outline_init(&list, &source, 0), 0);
    assert_int_equal(outline_open_path(&list, 0, path, DEEP, &at), 0);
    assert_int_equal(at, DEEP - 1);
    assert_int_equal(list.count, 2 * DEEP - 1);
    assert_int_equal(list.rows[list.count - 1].node, DEEP);
    outline_close(&list, 0);
    assert_int_equal(outline_open_all(&list, 0, 1000000), 0);
    assert_int_equal(list.count, 2 * DEEP - 1);
}

TEST(without_memory_nothing_opens)
{
    const uint32_t path[] = {0, 2, 21, 213, 2132};
    size_t at;

    for (long n = 0; n < 12; n++) {
        memory_fail_after(n);
        if (outline_open_path(&list, 0, path, 5, &at))
            outline_close(&list, 0);
        if (outline_open_all(&list, 0, 1000))
            outline_close(&list, 0);
        memory_fail_after(-1);
        rows();
    }
    assert_int_equal(outline_open(&list, 0), 0);
    rows();
}
