#include "unit/model/model_log.h"

TEST_EACH(model_setup, model_teardown);

/* Ids of a log, each with its stack as text. */
struct listing {
    char stack[500];
    uint64_t id[2];
};

static struct listing *list(const char *path, const struct model_shape *shape, uint32_t *count)
{
    struct listing *out;
    uint64_t(*ids)[2];

    model_begin(&plain_options);
    assert_int_equal(model_read(model, path, NULL), 0);
    assert_int_equal(model_finish(model), 0);
    assert_int_equal(model_tree_of(&everything, shape), 0);
    assert_int_equal(model_tree_ids(tree, &ids), 0);
    out = memory_zalloc(tree->node_count, sizeof(*out));
    *count = tree->node_count;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct model_place *p = &tree->places[tree->nodes[i].place];
        const char *above = i ? out[tree->nodes[i].parent].stack : "";

        snprintf(out[i].stack, sizeof(out[i].stack), "%.300s;%.150s+%d", above,
                 model_place_text(tree->nodes[i].place), p->il);
        memcpy(out[i].id, ids[i], sizeof(ids[i]));
    }
    memory_free(ids);
    return out;
}

static void compare(const char *one, const char *other, const struct model_shape *shape,
                    unsigned least)
{
    uint32_t a_count, b_count;
    struct listing *a = list(one, shape, &a_count), *b = list(other, shape, &b_count);
    unsigned same = 0;

    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t j = 0; j < b_count; j++) {
            bool equal = strcmp(a[i].stack, b[j].stack) == 0;

            assert_int_equal(equal, memcmp(a[i].id, b[j].id, sizeof(a[i].id)) == 0);
            same += equal;
        }
    assert_true(same >= least);
    memory_free(a);
    memory_free(b);
}

TEST(a_stack_has_one_id_in_all_recordings)
{
    static const struct model_shape shapes[] = {
        {.types = true}, {.grain = MODEL_GRAIN_IL}, {.grain = MODEL_GRAIN_IL, .types = true}};

    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        compare("tests/fixtures/logs/lines.ndjson", "tests/fixtures/logs/lines-newer.ndjson",
                &shapes[i], 2);
        compare("tests/fixtures/logs/small.ndjson", "tests/fixtures/logs/newer.ndjson", &shapes[i],
                2);
        compare("tests/fixtures/logs/small.ndjson", "tests/fixtures/logs/small.ndjson", &shapes[i],
                5);
    }
}

/* FNV-1a of 128 bits by hand: the root's place (kind 0, no texts, line 0, il -1, no filter). */
TEST(an_id_is_what_it_was)
{
    const struct model_shape shape = {0};
    uint64_t(*ids)[2];

    model_text(&plain_options, HEADER);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_int_equal(model_tree_ids(tree, &ids), 0);
    assert_true(ids[0][0] == 0x2a3982ba0ab054ab);
    assert_true(ids[0][1] == 0xaa4d34a8d9132a0c);
    memory_free(ids);
}
