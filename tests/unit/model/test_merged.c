#include "model/merged.h"

#include "base/glob.h"

#include "unit/model/model_log.h"

static struct model_merged *merged;

static int teardown(void **state)
{
    model_merged_free(merged);
    merged = NULL;
    return model_teardown(state);
}

TEST_EACH(model_setup, teardown);

#define METHOD(id, name) "{\"kind\":\"method\",\"id\":" #id ",\"name\":\"App." name "()\"}\n"
#define NODE(id, parent, method) \
    "{\"kind\":\"node\",\"id\":" #id ",\"parent\":" #parent ",\"method\":" #method ",\"il\":1}\n"
#define ALLOC(bytes, node) \
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":" #bytes ",\"node\":" #node \
    ",\"il\":3}\n"

/*
 * Main 1 -> A 2 -> F 3 (10) -> F 4 (20) -> B 5 (5) -> F 6 (40)
 *        -> B 7 -> F 8 (100) -> C 9 (1)
 */
static const char recursive[] =
    HEADER "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n{\"kind\":\"class\",\"id\":1,\"name\":\"T\"}"
           "\n" METHOD(1, "Main") METHOD(2, "A") METHOD(3, "B") METHOD(4, "C") METHOD(5, "F")
               NODE(1, 0, 1) NODE(2, 1, 2) NODE(3, 2, 5) NODE(4, 3, 5) NODE(5, 4, 3) NODE(6, 5, 5)
                   NODE(7, 1, 3) NODE(8, 7, 5) NODE(9, 8, 4) ALLOC(10, 3) ALLOC(20, 4) ALLOC(5, 5)
                       ALLOC(40, 6) ALLOC(100, 8) ALLOC(1, 9);

static void merge(const char *name, enum model_direction direction, bool types)
{
    const enum model_place_kind kind = types ? MODEL_PLACE_TYPE : MODEL_PLACE_METHOD;
    const struct model_shape shape = {.types = types};
    uint32_t places[20];
    size_t count = 0;

    model_text(&plain_options, recursive);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    for (uint32_t i = 0; i < tree->place_count; i++) {
        char text[100];

        snprintf(text, sizeof(text), "%s", model_place_text(i));
        text[strcspn(text, "(")] = '\0';
        if (tree->places[i].kind == kind && glob_match(name, text))
            places[count++] = i;
    }
    model_merged_free(merged);
    merged = model_merged_new(tree, places, count, direction);
    assert_non_null(merged);
}

/* All rows as text, opened one after the other. */
static const char *rows(void)
{
    static char text[4096];
    size_t at = 0;

    for (uint32_t row = 0; row < model_merged_count(merged); row++) {
        struct model_merged_row r = *model_merged_row(merged, row);
        uint32_t first, count;

        assert_int_equal(model_merged_open(merged, row, &first, &count), 0);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %s %.0f/%.0f %.0f/%.0f <%u\n", row,
                               model_place_text(r.place), r.self[MODEL_BYTES], r.total[MODEL_BYTES],
                               r.self[MODEL_ALLOCS], r.total[MODEL_ALLOCS], r.parent);
        for (uint32_t i = first; i < first + count; i++)
            assert_int_equal(model_merged_row(merged, i)->parent, row);
    }
    return text;
}

TEST(callers_of_a_method_are_those_of_its_outermost_frames)
{
    merge("App.F", MODEL_CALLERS, false);
    assert_string_equal(rows(), "0 App.F() 170/176 4/6 <0\n"
                                "1 App.B() 100/101 1/2 <0\n"
                                "2 App.A() 70/75 3/4 <0\n"
                                "3 App.Main() 100/101 1/2 <1\n"
                                "4 App.Main() 70/75 3/4 <2\n");
}

TEST(callees_of_a_method_are_what_it_calls)
{
    merge("App.F", MODEL_CALLEES, false);
    assert_string_equal(rows(), "0 App.F() 170/176 4/6 <0\n"
                                "1 App.F() 20/65 1/3 <0\n"
                                "2 App.C() 1/1 1/1 <0\n"
                                "3 App.B() 5/45 1/2 <1\n"
                                "4 App.F() 40/40 1/1 <3\n");
}

TEST(callers_of_a_type_are_what_makes_its_objects)
{
    uint32_t first, count;

    merge("T", MODEL_CALLERS, true);
    assert_int_equal(model_merged_open(merged, 0, &first, &count), 0);
    assert_int_equal(count, 3);
    assert_string_equal(model_place_text(model_merged_row(merged, first)->place), "App.F()");
    assert_true(model_merged_row(merged, first)->total[MODEL_BYTES] == 170);
    assert_true(model_merged_row(merged, first)->self[MODEL_BYTES] == 170);
    assert_true(model_merged_row(merged, 0)->total[MODEL_BYTES] == 176);
}

TEST(callers_that_several_nodes_share_are_one_row)
{
    merge("App.?", MODEL_CALLERS,
          false); /* A, B, C and F: the outermost ones are A, and the B that Main calls */
    assert_string_equal(rows(), "0 App.A() 176/176 6/6 <0\n"
                                "1 App.Main() 176/176 6/6 <0\n");
}
