/*
 * Rows of a model: every key adds up to the log's total, orders and limits choose what is in front,
 * and the row without own frame is always there. The log:
 *     Main (App.dll)  -> Add (App.dll) -> Concat (Lib.dll)   24 bytes of A, thread 1
 *     Main            -> Add -> Add -> Concat               100 bytes of B, thread 2
 *     Main                                                   40 bytes of A, thread 1
 *     Concat alone                                            8 bytes of B, thread 1
 */
#include "unit/model/model_log.h"

#include "model/own.h"
#include "model/rows.h"

static const char log_text[] =
    HEADER "{\"kind\":\"module\",\"id\":1,\"name\":\"App.dll\"}\n"
           "{\"kind\":\"module\",\"id\":2,\"name\":\"Lib.dll\"}\n"
           "{\"kind\":\"method\",\"id\":1,\"name\":\"App.Program.Main()\",\"module\":1}\n"
           "{\"kind\":\"method\",\"id\":2,\"name\":\"App.Basket.Add()\",\"module\":1}\n"
           "{\"kind\":\"method\",\"id\":3,\"name\":\"Lib.Text.Concat()\",\"module\":2}\n"
           "{\"kind\":\"class\",\"id\":1,\"name\":\"A\"}\n"
           "{\"kind\":\"class\",\"id\":2,\"name\":\"B\"}\n"
           "{\"kind\":\"thread\",\"id\":1}\n"
           "{\"kind\":\"thread\",\"id\":2}\n"
           "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}\n"
           "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2}\n"
           "{\"kind\":\"node\",\"id\":3,\"parent\":2,\"method\":3}\n"
           "{\"kind\":\"node\",\"id\":4,\"parent\":2,\"method\":2}\n"
           "{\"kind\":\"node\",\"id\":5,\"parent\":4,\"method\":3}\n"
           "{\"kind\":\"node\",\"id\":6,\"parent\":0,\"method\":3}\n"
           "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":3}\n"
           "{\"kind\":\"alloc\",\"t\":2,\"thread\":2,\"class\":2,\"bytes\":100,\"node\":5}\n"
           "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1}\n"
           "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"class\":2,\"bytes\":8,\"node\":6}\n";

static const struct model_options options = {.dimensions = {.threads = true, .sizes = true}};
static struct model_own *own;
static struct model_rows rows;

static int setup(void **state)
{
    static const char *const patterns[] = {"App.*"};
    const struct model_shape shape = {.grain = MODEL_GRAIN_IL};
    int err = model_setup(state);

    model_text(&options, log_text);
    assert_int_equal(model_own_new(model_defs(model), model_log(model), NULL, patterns, 1, &own,
                                   why, sizeof(why)),
                     0);
    assert_int_equal(model_know(model, own, NULL), 0);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    return err;
}

static int teardown(void **state)
{
    int err = model_teardown(state);

    model_rows_fini(&rows);
    model_own_free(own);
    own = NULL;
    return err;
}

TEST_EACH(setup, teardown);

static void make(const struct model_rows_options *wanted)
{
    model_rows_fini(&rows);
    assert_int_equal(model_rows_init(&rows, tree, wanted), 0);
}

/* "Add 24/124, ...": what the row is of, its own bytes, and those with calls. */
static void expect_methods(const char *expected)
{
    char text[400] = "";

    for (size_t i = 0; i < model_rows_shown(&rows); i++) {
        const struct model_row *row = &rows.rows[i];
        const char *name = row->what ? log_method(model_defs(model), row->what - 1)->name : "-";
        size_t at = strlen(text);

        name = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
        snprintf(text + at, sizeof(text) - at, "%s%s %.0f/%.0f", at ? ", " : "", name,
                 model_row_self(&rows, row, MODEL_BYTES), model_row_total(&rows, row, MODEL_BYTES));
    }
    assert_string_equal(text, expected);
}

TEST(rows_of_every_key_add_up_to_the_total)
{
    for (int key = MODEL_BY_SITE; key <= MODEL_BY_SIZE; key++) {
        double bytes = 0, types = 0;

        make(&(struct model_rows_options){.key = (enum model_key)key});
        assert_int_equal(model_rows_shown(&rows), rows.count);
        for (size_t i = 0; i < rows.count; i++) {
            bytes += model_row_self(&rows, &rows.rows[i], MODEL_BYTES);
            for (size_t k = 0; k < rows.rows[i].type_count; k++)
                types += rows.types[rows.rows[i].first_type + k].bytes;
        }
        assert_true(bytes == 172);
        assert_true(types == (model_rows_inclusive(&rows) ? 172 : 0));
    }
}

TEST(recursion_counts_once_in_what_lies_below_a_method)
{
    make(&(struct model_rows_options){.key = MODEL_BY_METHOD});
    expect_methods("Concat() 132/132, Main() 40/164, Add() 0/124");
    make(&(struct model_rows_options){.key = MODEL_BY_METHOD, .sort = MODEL_SORT_TOTAL});
    expect_methods("Main() 40/164, Concat() 132/132, Add() 0/124");
    make(&(struct model_rows_options){.key = MODEL_BY_METHOD, .no_totals = true});
    expect_methods("Concat() 132/0, Main() 40/0");
}

TEST(allocations_count_for_the_nearest_own_frame_and_the_row_without_one_is_always_shown)
{
    make(&(struct model_rows_options){.key = MODEL_BY_OWN});
    expect_methods("Add() 124/124, Main() 40/164, - 8/8");
    make(&(struct model_rows_options){.key = MODEL_BY_OWN, .top = 1});
    expect_methods("Add() 124/124, - 8/8");
    assert_true(model_row_foreign(&rows, &rows.rows[1]));
    make(&(struct model_rows_options){.key = MODEL_BY_OWN, .min_bytes = 40});
    expect_methods("Add() 124/124, Main() 40/164");
    make(&(struct model_rows_options){.key = MODEL_BY_OWN, .min_share = 0.5});
    expect_methods("Add() 124/124");
}

TEST(rows_are_in_the_order_asked_for)
{
    make(&(struct model_rows_options){.key = MODEL_BY_THREAD});
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0].what, 2); /* 100 bytes */
    make(&(struct model_rows_options){.key = MODEL_BY_THREAD, .sort = MODEL_SORT_ALLOCS});
    assert_int_equal(rows.rows[0].what, 1); /* 3 objects */
    make(&(struct model_rows_options){.key = MODEL_BY_SIZE, .top = 1});
    assert_int_equal(model_rows_shown(&rows), 4); /* sizes are never cut, and go from small on */
    assert_int_equal(rows.rows[0].what, 3);
    assert_int_equal(rows.rows[3].what, 6);
}

TEST(each_cell_knows_its_row)
{
    uint32_t *of = NULL;

    make(&(struct model_rows_options){.key = MODEL_BY_TYPE, .of_cells = true});
    assert_int_equal(model_rows_of_cells(&rows, &of), 0);
    for (size_t i = 0; i < model_cell_count(model); i++)
        assert_int_equal(rows.rows[of[i]].what, model_cell(model, i)->class_number);
    memory_free(of);
}

static const char once_log[] =
    HEADER "{\"kind\":\"method\",\"id\":1,\"name\":\"App.Program.Main()\"}\n"
           "{\"kind\":\"method\",\"id\":2,\"name\":\"App.Table..cctor()\"}\n"
           "{\"kind\":\"method\",\"id\":3,\"name\":\"App.Table.Fill()\"}\n"
           "{\"kind\":\"method\",\"id\":4,\"name\":\"System.AppContext.Setup(System.Char**)\"}\n"
           "{\"kind\":\"class\",\"id\":1,\"name\":\"A\"}\n"
           "{\"kind\":\"thread\",\"id\":1}\n"
           "{\"kind\":\"thread\",\"id\":2}\n"
           "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}\n"
           "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2}\n"
           "{\"kind\":\"node\",\"id\":3,\"parent\":2,\"method\":3}\n"
           "{\"kind\":\"node\",\"id\":4,\"parent\":1,\"method\":3}\n"
           "{\"kind\":\"node\",\"id\":5,\"parent\":0,\"method\":4}\n"
           "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":3}\n"
           "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":72,\"node\":4}\n"
           "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":5}\n";

TEST(what_static_constructors_make_is_told_apart)
{
    static const struct model_filter parts[] = {{.once = true}, {.no_once = true}};
    static const double bytes[] = {64, 72};
    const struct model_shape shape = {.grain = MODEL_GRAIN_METHOD};

    model_text(&options, once_log);
    assert_false(model_path_once(model, model_cell(model, 0)->path));
    assert_int_equal(model_know(model, NULL, NULL), 0);
    assert_true(model_weight_total(model, MODEL_ONCE) == 64);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    make(&(struct model_rows_options){.key = MODEL_BY_METHOD});
    expect_methods("Fill() 96/96, Char**) 40/40, Main() 0/96, cctor() 0/24");
    assert_true(model_row_self(&rows, &rows.rows[0], MODEL_ONCE) == 24);
    assert_true(model_row_self(&rows, &rows.rows[1], MODEL_ONCE) == 40);
    for (size_t i = 0; i < 2; i++) {
        model_rows_fini(&rows);
        assert_int_equal(model_tree_of(&parts[i], &shape), 0);
        assert_true(tree->total[MODEL_BYTES][0] == bytes[i]);
    }
}
