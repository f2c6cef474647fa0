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

/* A tree that grows at random, each node with another call site and type. */
static char *grown_log(bool live)
{
    static unsigned classes[NODES + 1], ils[NODES + 1];
    size_t size = (size_t)NODES * 400 + METHODS * 100 + 1000, at;
    char *text = malloc(size);
    uint64_t seed = 1;

    assert_non_null(text);
    at = (size_t)snprintf(text, size, HEADER "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n");
    for (unsigned i = 1; i <= METHODS; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "{\"kind\":\"method\",\"id\":%u,\"name\":\"App.C.M%u()\"}\n"
                               "{\"kind\":\"class\",\"id\":%u,\"name\":\"App.T%u\"}\n",
                               i, i, i, i);
    for (unsigned i = 1; i <= NODES; i++) {
        unsigned parent = i == 1 ? 0 : 1 + random_below(&seed, i - 1);

        classes[i] = 1 + random_below(&seed, METHODS);
        ils[i] = random_below(&seed, 200);
        at += (size_t)snprintf(
            text + at, size - at,
            "{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":%u}\n"
            "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":%u,\"bytes\":%u,\"node\":%u,"
            "\"il\":%u}\n",
            i, parent, 1 + random_below(&seed, METHODS), random_below(&seed, 200), i, classes[i],
            24 + 8 * random_below(&seed, 9), i, ils[i]);
    }
    for (unsigned i = 1; live && i <= NODES; i++)
        at += (size_t)snprintf(
            text + at, size - at,
            "{\"kind\":\"live_site\",\"id\":%u,\"node\":%u,\"il\":%u,\"class\":%u}\n"
            "{\"kind\":\"live\",\"t\":9,\"gc\":1,\"site\":%u,\"survived\":1,"
            "\"survived_bytes\":24}\n",
            i, i, ils[i], classes[i], i);
    if (live)
        at += (size_t)snprintf(text + at, size - at,
                               "{\"kind\":\"live_total\",\"t\":9,\"gc\":1,\"depth\":0,\"pause\":1,"
                               "\"allocs\":%u,\"bytes\":%u,\"exact\":true}\n",
                               NODES, NODES * 24);
    assert_true(at < size);
    return text;
}

TEST(a_million_nodes_take_at_most_250_megabytes)
{
    char *text = grown_log(false);
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

/* One site for each node: what is alive takes as much again, not more. */
TEST(a_million_nodes_with_live_objects_take_at_most_250_megabytes)
{
    const struct model_options options = {.live = REPORT_LIVE_AT, .instead = true};
    const struct model_shape shape = {.grain = MODEL_GRAIN_METHOD};
    char *text = grown_log(true);
    ptrdiff_t before = heap_held;
    size_t peak;

    heap_begin();
    model_text(&options, text);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    peak = heap_peak(before);
    print_message("%u nodes, %.0f bytes each\n", tree->node_count, (double)peak / tree->node_count);
    assert_true(peak <= (size_t)tree->node_count * MOST_PER_NODE);
    free(text);
}
