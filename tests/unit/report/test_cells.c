/* Cells of logs that are not as the recorder writes them: without a header, as the end of one that was cut. */
#include "report/cells.h"

#include "unit/readers/memory_log.h"
#include "base/buffer.h"
#include "support/test.h"

#define NAMES \
    "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n{\"kind\":\"class\",\"id\":1,\"name\":\"C\"}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"M()\"}\n{\"kind\":\"node\",\"id\":1,\"parent\":0," \
    "\"method\":1}\n"

#include <inttypes.h>

static struct log_problems problems;
static struct report_cells cells;
static struct buffer text;

static int setup(void **state)
{
    static const struct report_cells_options options = {
        .paths = true, .ils = true, .types = true, .live = REPORT_LIVE_AT};

    (void)state;
    log_problems_init(&problems);
    text = (struct buffer)BUFFER_INIT;
    return report_cells_init(&cells, &options, &problems);
}

static int teardown(void **state)
{
    (void)state;
    report_cells_fini(&cells);
    log_problems_fini(&problems);
    buffer_free(&text);
    return 0;
}

TEST_EACH(setup, teardown);

/* An allocation at each of these places: a cell each. more: further members. */
static void allocate(unsigned places, const char *more)
{
    for (unsigned i = 0; i < places; i++)
        buffer_format(&text,
                      "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":"
                      "1,\"il\":%u%s}\n",
                      i + 1, i, more);
}

static void read_text(void)
{
    struct memory_log m = {.text = text.data, .size = text.size};
    struct log_lines *lines = memory_log_lines(&m);

    assert_false(text.failed);
    assert_int_equal(report_cells_read_lines(&cells, lines, "memory"), 0);
    log_lines_free(lines);
}

/* Allocations that wait to be added up become cells when the first live line comes. */
TEST(there_is_room_for_what_is_alive_of_each_cell_in_a_log_without_a_header)
{
    buffer_text(&text, NAMES);
    allocate(20, "");
    buffer_text(&text, "{\"kind\":\"live_site\",\"id\":1,\"node\":1,\"il\":0,\"class\":1}\n");
    read_text();
    assert_int_equal(cells.count, 20);
    assert_true(cells.lives_capacity >= cells.count);
}

TEST(there_is_room_for_a_variance_of_each_cell_when_the_first_weight_comes)
{
    buffer_text(&text, NAMES);
    allocate(20, "");
    allocate(1, ",\"weight\":100");
    read_text();
    assert_true(cells.sampled && cells.sampled_capacity >= cells.count);
    assert_int_equal(report_cells_finish(&cells), 0);
    assert_int_equal(cells.count, 20);
}

/* A jump of the clock joins more than 31 times as many slices as there were. */
TEST(slices_are_joined_as_often_as_a_late_time_needs)
{
    report_cells_fini(&cells);
    assert_int_equal(
        report_cells_init(
            &cells, &(struct report_cells_options){.paths = true, .slice_ns = 1, .slices_max = 256},
            &problems),
        0);
    buffer_text(&text, NAMES);
    allocate(200, "");
    buffer_format(&text,
                  "{\"kind\":\"alloc\",\"t\":%" PRIu64
                  ",\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1}\n",
                  UINT64_C(1) << 40);
    read_text();
    assert_int_equal(report_cells_finish(&cells), 0);
    assert_int_equal(cells.slice_ns, UINT64_C(1) << 33);
    for (size_t i = 0; i < cells.count; i++)
        assert_true(cells.cells[i].slice == 0 || cells.cells[i].slice == 128);
}
