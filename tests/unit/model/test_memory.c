/* What a model and its trees hold, in bytes for each node: a million take a million times as much. */
#include "unit/model/model_log.h"

#include "support/heap.h"

TEST_EACH(model_setup, model_teardown);

#define NODES         60000
#define METHODS       3000
#define MOST_PER_NODE 250

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % n);
}

/* A tree that grows at random, each node with a call site and a type of its own. */
static char *grown_log(void)
{
    size_t size = (size_t)NODES * 200 + METHODS * 100 + 1000, at;
    char *text = malloc(size);
    uint64_t seed = 1;

    assert_non_null(text);
    at = (size_t)snprintf(text, size, HEADER "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n");
    for (unsigned i = 1; i <= METHODS; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "{\"kind\":\"method\",\"id\":%u,\"name\":\"App.C.M%u()\"}\n"
                               "{\"kind\":\"class\",\"id\":%u,\"name\":\"App.T%u\"}\n",
                               i, i, i, i);
    for (unsigned i = 1; i <= NODES; i++)
        at += (size_t)snprintf(
            text + at, size - at,
            "{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":%u}\n"
            "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":%u,\"bytes\":%u,\"node\":%u,"
            "\"il\":%u}\n",
            i, i == 1 ? 0 : 1 + random_below(&seed, i - 1), 1 + random_below(&seed, METHODS),
            random_below(&seed, 200), i, 1 + random_below(&seed, METHODS),
            24 + 8 * random_below(&seed, 9), i, random_below(&seed, 200));
    assert_true(at < size);
    return text;
}

TEST(a_million_nodes_take_at_most_250_megabytes)
{
    char *text = grown_log();
    ptrdiff_t before = heap_held;

    for (unsigned i = 0; i < 4; i++) {
        const struct model_shape shape = {.grain = i & 1 ? MODEL_GRAIN_IL : MODEL_GRAIN_METHOD,
                                          .types = i / 2};
        size_t peak;

        heap_begin();
        model_text(&plain_options, text);
        assert_int_equal(model_tree_of(&everything, &shape), 0);
        peak = heap_peak(before);
        assert_true(tree->node_count > NODES / 2);
        print_message("%u nodes, %.0f bytes each\n", tree->node_count,
                      (double)peak / tree->node_count);
        assert_true(peak <= (size_t)tree->node_count * MOST_PER_NODE);
        model_teardown(NULL);
        model_setup(NULL);
    }
    free(text);
}
