/* replay: the calls of tests/fixtures/program as a tree. Counts follow from its text. */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>

#define REPLAY(...) RUN(&cmd_replay, "replay", __VA_ARGS__)
#define SHOP        FIXTURES "shop-events.ndjson"

/* Calls, their bytes and how deep they go, of all rows that are calls. */
struct sums {
    unsigned calls, unwound;
    json_int_t own_allocs, deepest;
};

static struct sums sums_of(struct ran ran, const char *method)
{
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL), *row;
    struct sums sums = {0};
    size_t i;

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(json);
    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "method")),
                   *end = json_string_value(json_object_get(row, "end"));
        json_int_t depth = json_integer_value(json_object_get(row, "depth"));

        if (!name || !end || (method && strcmp(name, method)))
            continue;
        sums.calls++;
        sums.unwound += !strcmp(end, "unwound");
        sums.own_allocs += json_integer_value(json_object_get(row, "allocs"));
        if (depth > sums.deepest)
            sums.deepest = depth;
    }
    json_decref(json);
    free(ran.out);
    return sums;
}

TEST(text_is_as_expected)
{
    expect_ran(REPLAY(SHOP), CLI_OK, FIXTURES "shop.replay.txt");
    expect_ran(REPLAY("--interleaved", "--from=47.1ms", SHOP), CLI_OK,
               FIXTURES "shop.replay-interleaved.txt");
    expect_ran(REPLAY("--limit=5", "--thread=5", SHOP), CLI_OK, FIXTURES "shop.replay-limit.txt");
}

/* Main, Clean; 3 times Open, 4 Serve, 12 Pick, 12 constructors of items, one of an exception. */
TEST(every_call_is_in_the_tree)
{
    struct sums all = sums_of(REPLAY("--format=json", SHOP), NULL),
                pick = sums_of(REPLAY("--format=json", SHOP), "Shop.Program.Pick(System.Int32)");

    assert_int_equal(all.calls, 2 + 3 * (1 + 4 + 12 + 12 + 1));
    assert_int_equal(all.unwound, 3); /* the fourth Serve of each */
    assert_int_equal(all.deepest, 4);
    assert_int_equal(pick.calls, 36);
    assert_int_equal(pick.own_allocs, 36);
}

TEST(a_thread_a_method_and_a_time_choose_calls)
{
    struct sums till = sums_of(REPLAY("--format=json", "--thread=4", SHOP), NULL),
                serve =
                    sums_of(REPLAY("--format=json", "--method=*Serve*", "--depth=1", SHOP), NULL),
                before = sums_of(REPLAY("--format=json", "--to=44ms", SHOP), NULL);

    assert_int_equal(till.calls, 1 + 4 + 12 + 12 + 1);
    assert_int_equal(serve.calls, 12);
    assert_int_equal(serve.own_allocs,
                     36 + 3); /* with what they call: 3 items each, 3 exceptions */
    assert_int_equal(before.calls, 2 + 1 + 4 + 12 + 12 + 1);
}

TEST(without_calls_the_log_tells_what_to_record)
{
    struct ran ran = REPLAY(FIXTURES "small.ndjson");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "record with --events alloc,calls"));
    free(ran.out);
    expect_complaint(REPLAY("--thread=x", SHOP), CLI_USAGE, "--thread");
}
