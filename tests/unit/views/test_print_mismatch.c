#include "views/print_mismatch.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE PRINT_MISMATCH_NONE

/* Stacks leaf first, as in memory; rows from the root. */
static void expect_rows(const uint32_t *shadow, size_t shadow_size, const uint32_t *snapshot,
                        size_t snapshot_size, const struct print_mismatch_row *expected,
                        size_t count)
{
    struct report_mismatch e = {.shadow_size = shadow_size, .snapshot_size = snapshot_size};
    uint32_t a[8] = {0}, b[8] = {0};
    struct print_mismatch_row rows[16];

    for (size_t i = 0; i < shadow_size; i++)
        a[i] = shadow[i];
    for (size_t i = 0; i < snapshot_size; i++)
        b[i] = snapshot[i];
    e.shadow = a;
    e.snapshot = b;
    assert_int_equal(print_mismatch_rows(&e, rows), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].shadow, expected[i].shadow);
        assert_int_equal(rows[i].snapshot, expected[i].snapshot);
    }
}

#define STACK(...) (const uint32_t[]){__VA_ARGS__}, COUNT_OF(((const uint32_t[]){__VA_ARGS__}))
#define ROWS(...) \
    (const struct print_mismatch_row[]){__VA_ARGS__}, \
        COUNT_OF(((const struct print_mismatch_row[]){__VA_ARGS__}))

TEST(a_frame_too_many_stands_alone)
{
    expect_rows(STACK(4, 3, 2, 1), STACK(4, 3, 1), ROWS({0, 0}, {1, NONE}, {2, 1}, {3, 2}));
    expect_rows(STACK(4, 3, 1), STACK(4, 3, 2, 1), ROWS({0, 0}, {NONE, 1}, {1, 2}, {2, 3}));
    expect_rows(STACK(2, 1), NULL, 0, ROWS({0, NONE}, {1, NONE}));
}

TEST(other_stacks_are_laid_side_by_side_from_the_root)
{
    expect_rows(STACK(5, 2, 1), STACK(3, 1), ROWS({0, 0}, {1, 1}, {2, NONE}));
    expect_rows(STACK(3, 1), STACK(5, 2, 1), ROWS({0, 0}, {1, 1}, {NONE, 2}));
}

TEST(two_empty_stacks_have_no_row)
{
    expect_rows(NULL, 0, NULL, 0, NULL, 0);
}

/* An async method and its state machine have one short name. */
TEST(frames_that_differ_do_not_look_alike)
{
    struct log_def methods[] = {
        {.name = "?", .path = "", .defined = true},
        {.name = "Shop.Basket.<Add>d__1.MoveNext()", .path = "", .defined = true},
        {.name = "Shop.Basket.Add(System.Int32)", .path = "", .defined = true},
        {.name = "Shop.Program.Main()", .path = "", .defined = true},
    };
    const struct log_defs defs = {.methods = {.defs = methods, .count = COUNT_OF(methods)}};
    uint32_t shadow[] = {1, 3}, snapshot[] = {2, 3};
    const struct report_mismatch m = {.cause = "cause",
                                      .refused = "",
                                      .repairs = "",
                                      .shadow = shadow,
                                      .shadow_size = 2,
                                      .snapshot = snapshot,
                                      .snapshot_size = 2};
    struct print_stack stack = {.defs = &defs, .naming = {.style = NAMES_SHORT}};
    const struct terminal terminal = {100, false};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(print_stack_names(&stack, NULL), 0);
    print_mismatch(&m, NULL, &stack, &terminal, out);
    fclose(out);
    assert_non_null(strstr(text, "> Shop.Basket.<Add>d__1.MoveNext() "));
    assert_non_null(strstr(text, "| Shop.Basket.Add(System.Int32)\n"));
    assert_non_null(strstr(text, "  Program.Main "));
    names_free(stack.names);
    free(text);
}
