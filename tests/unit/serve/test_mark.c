#include "server/mark.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <math.h>

#define SMALL   "tests/fixtures/logs/small.ndjson"
#define SAMPLED "tests/fixtures/logs/sampled.ndjson"

static struct log_problems problems;
static struct report_cells cells;
static struct mark *marks[3];

static int setup(void **state)
{
    static const struct report_cells_options options = {.paths = true, .ils = true, .types = true};

    (void)state;
    log_problems_init(&problems);
    return report_cells_init(&cells, &options, &problems);
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mark_free(marks[i]);
        marks[i] = NULL;
    }
    report_cells_fini(&cells);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

/* Reads a log; marks are taken behind these many of its lines. */
static void read_with_marks(const char *path, const size_t *after, size_t count)
{
    size_t size, from = 0;
    char *text = memory_log_file(path, &size);

    for (size_t i = 0; i <= count; i++) {
        size_t to = from;

        while (to < size && (i == count || to < after[i]))
            to = (size_t)(strchr(text + to, '\n') - text) + 1;
        if (to > from) {
            struct memory_log m = {.text = text + from, .size = to - from};
            struct log_lines *lines = memory_log_lines(&m);

            assert_int_equal(report_cells_read_lines(&cells, lines, "memory"), 0);
            log_lines_free(lines);
        }
        from = to;
        if (i < count)
            assert_int_equal(mark_new(&cells, 1000 * (i + 1), &marks[i]), 0);
    }
    free(text);
}

static struct mark_sums sum(void)
{
    struct mark_sums total = {0, 0};

    for (size_t i = 0; i < cells.count; i++) {
        total.bytes += cells.cells[i].bytes;
        total.allocs += cells.cells[i].allocs;
    }
    return total;
}

TEST(since_a_mark_there_is_what_came_behind_it)
{
    static const size_t at[] = {1800};
    struct mark_sums all, before, after;

    read_with_marks(SMALL, at, 1);
    assert_int_equal(report_cells_flush(&cells), 0);
    all = sum();
    before = mark_total(marks[0]);
    assert_true(all.allocs == 7 && all.bytes == 221360);
    assert_true(before.allocs > 0 && before.allocs < 7);
    mark_since(&cells, marks[0]);
    after = sum();
    assert_true(before.bytes + after.bytes == all.bytes);
    assert_true(before.allocs + after.allocs == all.allocs);
    for (size_t i = 0; i < cells.count; i++)
        assert_true(cells.cells[i].allocs > 0);
    assert_int_equal(report_cells_finish(&cells), 0);
    assert_true(sum().bytes == after.bytes);
}

TEST(slices_between_marks_add_up_to_what_came_since_the_first)
{
    static const size_t at[] = {1, 1700, 2000};
    struct mark_sums all;
    double bytes[3] = {0, 0, 0};

    read_with_marks(SMALL, at, 3);
    assert_int_equal(report_cells_flush(&cells), 0);
    all = sum();
    assert_int_equal(mark_slices(&cells, marks, 3, 1000, 4000), 0);
    for (size_t i = 0; i < cells.count; i++) {
        assert_true(cells.cells[i].slice < 3);
        bytes[cells.cells[i].slice] += cells.cells[i].bytes;
    }
    assert_true(bytes[0] == mark_total(marks[1]).bytes);
    assert_true(bytes[0] + bytes[1] == mark_total(marks[2]).bytes);
    assert_true(bytes[0] + bytes[1] + bytes[2] == all.bytes);
    assert_int_equal(report_cells_finish(&cells), 0);
    assert_true(sum().bytes == all.bytes);
}

TEST(estimates_and_their_variances_are_taken_apart_too)
{
    static const size_t at[] = {700};
    struct report_cell_sampled all = {0, 0, 0, 0}, rest = {0, 0, 0, 0}, before = {0, 0, 0, 0};

    read_with_marks(SAMPLED, at, 1);
    assert_int_equal(report_cells_flush(&cells), 0);
    assert_non_null(cells.sampled);
    for (size_t i = 0; i < cells.count; i++)
        report_cell_sampled_add(&all, &cells.sampled[i]);
    for (size_t i = 0; marks[0]->sampled && i < marks[0]->count; i++)
        report_cell_sampled_add(&before, &marks[0]->sampled[i]);
    if (!marks[0]->sampled)
        before = (struct report_cell_sampled){0, 0, mark_total(marks[0]).bytes,
                                              mark_total(marks[0]).allocs};
    mark_since(&cells, marks[0]);
    for (size_t i = 0; i < cells.count; i++)
        report_cell_sampled_add(&rest, &cells.sampled[i]);
    assert_true(rest.allocs > 0 && rest.allocs < all.allocs);
    assert_true(rest.allocs + before.allocs == all.allocs);
    assert_true(rest.bytes + before.bytes == all.bytes);
    assert_true(fabs(rest.bytes_variance + before.bytes_variance - all.bytes_variance) < 1);
}

TEST(without_memory_there_is_no_mark_and_nothing_has_changed)
{
    static const size_t at[] = {1};
    struct mark *m = NULL;
    int err = -ENOMEM;

    read_with_marks(SMALL, at, 1);
    for (long n = 0; err; n++) {
        memory_fail_after(n);
        err = mark_new(&cells, 1, &m);
        memory_fail_after(-1);
        assert_true(err == -ENOMEM ? m == NULL : err == 0);
    }
    assert_true(mark_total(m).bytes == 221360);
    mark_free(m);
}
