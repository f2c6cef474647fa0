#include "unit/model/model_log.h"

TEST_EACH(model_setup, model_teardown);

#define DEFINITIONS \
    "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n{\"kind\":\"thread\",\"id\":2,\"os\":101}\n" \
    "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"App.Main()\"}\n" \
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"il\":1}\n"
#define ALLOC(t, thread, bytes, more) \
    "{\"kind\":\"alloc\",\"t\":" #t ",\"thread\":" #thread ",\"class\":1,\"bytes\":" #bytes \
    ",\"node\":1," more "}\n"

#define END \
    "{\"kind\":\"end\",\"t\":63,\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{},\"bytes\":24}" \
    "\n"

/* Cells in the order in which they came: "thread slice heap size unoptimised: bytes allocs". */
static const char *cells(void)
{
    static char text[4000];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < model_cell_count(model); i++) {
        const struct report_cell *c = model_cell(model, i);

        at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %u %u %u %u: %.0f %.0f\n",
                               c->thread, c->slice, c->heap, c->size, c->unoptimised,
                               model_cell_weight(model, i, MODEL_BYTES),
                               model_cell_weight(model, i, MODEL_ALLOCS));
    }
    return text;
}

static const char some[] = HEADER DEFINITIONS ALLOC(5, 1, 24, "\"il\":3")
    ALLOC(19, 2, 24, "\"il\":3") ALLOC(25, 1, 40, "\"il\":3")
        ALLOC(30, 1, 90000, "\"il\":3,\"heap\":\"large\"") ALLOC(31, 1, 24, "\"il0\":3");

TEST(without_dimensions_only_path_instruction_and_type_tell_apart)
{
    model_text(&plain_options, some);
    assert_string_equal(cells(), "0 0 0 0 0: 90088 4\n0 0 0 0 1: 24 1\n");
    assert_true(model_weight_total(model, MODEL_UNOPTIMISED) == 24);
    assert_true(model_heap_weight(model, SST_HEAP_LARGE, MODEL_BYTES) == 90000);
    assert_true(model_heap_weight(model, SST_HEAP_NORMAL, MODEL_ALLOCS) == 4);
    assert_int_equal(model_slice_count(model), 1);
    assert_int_equal(model_duration_ns(model), 31);
}

TEST(threads_tell_apart)
{
    const struct model_options options = {.dimensions.threads = true};

    model_text(&options, some);
    assert_string_equal(cells(), "1 0 0 0 0: 90064 3\n2 0 0 0 0: 24 1\n1 0 0 0 1: 24 1\n");
}

TEST(sizes_and_heaps_tell_apart)
{
    const struct model_options options = {.dimensions.sizes = true};

    model_text(&options, some);
    assert_string_equal(cells(), "0 0 0 4 0: 48 2\n0 0 0 5 0: 40 1\n0 0 1 16 0: 90000 1\n"
                                 "0 0 0 4 1: 24 1\n");
}

TEST(slices_tell_apart)
{
    const struct model_options options = {.dimensions.slice_ns = 10};

    model_text(&options, some);
    assert_string_equal(cells(), "0 0 0 0 0: 24 1\n0 1 0 0 0: 24 1\n0 2 0 0 0: 40 1\n"
                                 "0 3 0 0 0: 90000 1\n0 3 0 0 1: 24 1\n");
    assert_int_equal(model_slice_count(model), 4);
    assert_int_equal(model_slice_ns(model), 10);
}

TEST(neighbours_are_joined_where_there_would_be_too_many_slices)
{
    const struct model_options options = {.dimensions = {.slice_ns = 1, .slices_max = 4}};

    model_text(&options, some);
    assert_int_equal(model_slice_ns(model), 8);
    assert_int_equal(model_slice_count(model), 4);
    assert_string_equal(cells(), "0 0 0 0 0: 24 1\n0 2 0 0 0: 24 1\n0 3 0 0 0: 90040 2\n"
                                 "0 3 0 0 1: 24 1\n");
}

TEST(the_end_of_a_recording_is_its_duration)
{
    const struct model_options options = {.dimensions = {.slice_ns = 1, .slices_max = 4}};

    model_text(&options, HEADER DEFINITIONS ALLOC(5, 1, 24, "\"il\":3") END);
    assert_int_equal(model_duration_ns(model), 63);
    assert_int_equal(model_slice_ns(model), 16);
    assert_string_equal(cells(), "0 0 0 0 0: 24 1\n");
}

TEST(trees_are_of_slices)
{
    const struct model_options options = {.dimensions = {.slice_ns = 10, .threads = true}};
    const struct model_filter middle = {.has_slices = true, .from_slice = 1, .to_slice = 3},
                              one = {.thread = 1}, steady = {.steady = true};
    const struct model_shape shape = {0};

    model_text(&options, some);
    assert_int_equal(model_tree_of(&middle, &shape), 0);
    assert_true(tree->total[MODEL_BYTES][0] == 64);
    assert_int_equal(model_tree_of(&one, &shape), 0);
    assert_true(tree->total[MODEL_BYTES][0] == 90088);
    assert_int_equal(model_tree_of(&steady, &shape), 0);
    assert_true(tree->total[MODEL_BYTES][0] == 90088);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_true(tree->total[MODEL_UNOPTIMISED][0] == 24);
}

TEST(a_window_cuts_the_log)
{
    struct memory_log m = {.text = some, .size = strlen(some)};
    const struct log_window window = {
        .has_from = true, .has_to = true, .from = {1, 19, 0}, .to = {1, 30, 0}};
    struct log_lines *lines = memory_log_lines(&m);

    model_begin(&plain_options);
    assert_int_equal(model_read_lines(model, lines, "memory", &window), 0);
    assert_int_equal(model_finish(model), 0);
    log_lines_free(lines);
    assert_string_equal(cells(), "0 0 0 0 0: 64 2\n");
}

TEST(several_logs_add_up)
{
    model_begin(&plain_options);
    assert_int_equal(model_read(model, "tests/fixtures/logs/small.ndjson", NULL), 0);
    assert_int_equal(model_read(model, "tests/fixtures/logs/newer.ndjson", NULL), 0);
    assert_int_equal(model_finish(model), 0);
    assert_int_equal(model_log(model)->headers, 2);
    assert_int_equal(model_tree_of(&everything, &(struct model_shape){.types = true}), 0);
    assert_true(tree->total[MODEL_BYTES][0] == model_weight_total(model, MODEL_BYTES));
}

TEST(memory_that_runs_out_is_an_error_and_nothing_more)
{
    static const struct model_shape shape = {
        .grain = MODEL_GRAIN_IL, .types = true, .min_share = 0.01};
    int err = -ENOMEM;

    for (long i = 0; err == -ENOMEM && i < 2000; i++) {
        model_teardown(NULL);
        model_setup(NULL);
        memory_fail_after(i);
        err = model_new(&plain_options, &problems, &model);
        if (!err)
            err = model_read(model, "tests/fixtures/logs/small.ndjson", NULL);
        if (!err)
            err = model_finish(model);
        if (!err)
            err = model_tree_of(&everything, &shape);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
    }
    assert_int_equal(err, 0);
}
