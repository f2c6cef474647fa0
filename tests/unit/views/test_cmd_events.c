/*
 * events TOPIC. The logs are recordings of tests/fixtures/program: how often something happens is
 * counted in its text. Times were added up from the log's lines by a few lines of Python that know
 * only what log_schema.json says.
 */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>

#define EVENTS(...) RUN(&cmd_events, "events", "--no-lines", __VA_ARGS__)
#define SHOP        FIXTURES "shop-events.ndjson"
#define COMPILED    FIXTURES "shop-jit.ndjson"

static const json_t *row(const json_t *json, const char *table, size_t index)
{
    const json_t *found = json_array_get(json_object_get(json, table), index);

    assert_non_null(found);
    return found;
}

static const json_t *row_of(const json_t *json, const char *method)
{
    size_t i;
    const json_t *found;

    json_array_foreach(json_object_get(json, "rows"), i, found)
    {
        if (!strcmp(json_string_value(json_object_get(found, "method")), method))
            return found;
    }
    fail_msg("no row of %s", method);
    return NULL;
}

TEST(text_is_as_expected)
{
    expect_ran(EVENTS("exceptions", SHOP), CLI_OK, FIXTURES "shop.exceptions.txt");
    expect_ran(EVENTS("gc", SHOP), CLI_OK, FIXTURES "shop.gc.txt");
    expect_ran(EVENTS("suspensions", SHOP), CLI_OK, FIXTURES "shop.suspensions.txt");
    expect_ran(EVENTS("calls", SHOP), CLI_OK, FIXTURES "shop.calls.txt");
    expect_ran(EVENTS("jit", COMPILED), CLI_OK, FIXTURES "shop.jit.txt");
}

TEST(json_is_as_expected)
{
    expect_ran(EVENTS("--format=json", "exceptions", SHOP), CLI_OK,
               FIXTURES "shop.exceptions.json");
    expect_ran(EVENTS("--format=json", "gc", SHOP), CLI_OK, FIXTURES "shop.gc.json");
}

/* Three threads open the shop, each meets the fourth customer; two of them have no Main below. */
TEST(each_exception_is_thrown_and_caught_once)
{
    json_t *json = printed(EVENTS("--format=json", "exceptions", SHOP));

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 2);
    assert_int_equal(number(row(json, "rows", 0), "thrown"), 2);
    assert_int_equal(number(row(json, "rows", 1), "thrown"), 1);
    assert_int_equal(number(row(json, "catchers", 0), "caught"), 3);
    assert_int_equal(number(row(json, "catchers", 0), "ns"), 51707 + 19318 + 22493);
    json_decref(json);
}

/* Main opens the shop, then cleans twice: 12 items of 24 bytes and an exception of 120 before. */
TEST(a_collection_has_what_was_allocated_before_it)
{
    json_t *json = printed(EVENTS("--format=json", "gc", SHOP));
    const json_t *first = row(json, "rows", 0), *second = row(json, "rows", 1),
                 *since = json_object_get(json, "since");

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 2);
    assert_int_equal(number(first, "allocs"), 13);
    assert_int_equal(number(first, "bytes"), 12 * 24 + 120);
    assert_int_equal(number(first, "ns"), 86008);
    assert_int_equal(json_array_size(json_object_get(first, "generations")), 1);
    assert_int_equal(number(second, "bytes"), 0);
    assert_int_equal(json_array_size(json_object_get(second, "generations")), 5);
    assert_int_equal(number(since, "allocs"), 2 * 13);
    assert_int_equal(number(since, "bytes"), 2 * (12 * 24 + 120));
    json_decref(json);
}

TEST(suspensions_are_added_up_by_reason)
{
    json_t *json = printed(EVENTS("--format=json", "suspensions", SHOP));
    const json_t *gc = row(json, "rows", 0);

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 1);
    assert_string_equal(json_string_value(json_object_get(gc, "reason")), "gc");
    assert_int_equal(number(gc, "count"), 2);
    assert_int_equal(number(gc, "ns"), 396611 + 94050);
    assert_int_equal(number(gc, "longest_ns"), 396611);
    assert_int_equal(number(gc, "stop_ns"), 6229 + 2623);
    json_decref(json);
}

TEST(calls_are_counted_and_timed_by_method)
{
    static const struct {
        const char *method;
        json_int_t calls, total, self, longest, unwound;
    } expected[] = {
        {"Shop.Program.Main(System.String[])", 1, 64294858, 63256428, 64294858, 0},
        {"Shop.Program.Open()", 3, 620145, 53678, 488078, 0},
        {"Shop.Program.Serve(System.Int32)", 12, 566467, 380218, 269032, 3},
        {"Shop.Program.Pick(System.Int32)", 36, 183385, 178447, 135151, 0},
        {"Shop.Program.Clean()", 1, 550352, 550352, 550352, 0},
        {"Shop.Item..ctor()", 36, 4938, 4938, 4287, 0},
        {"Shop.OutOfStock..ctor()", 3, 2864, 2864, 2574, 0},
    };
    json_t *json = printed(EVENTS("--format=json", "calls", SHOP));

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 7);
    assert_int_equal(number(json, "missing"), 0);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const json_t *found = row_of(json, expected[i].method);

        assert_int_equal(number(found, "calls"), expected[i].calls);
        assert_int_equal(number(found, "total_ns"), expected[i].total);
        assert_int_equal(number(found, "self_ns"), expected[i].self);
        assert_int_equal(number(found, "longest_ns"), expected[i].longest);
        assert_int_equal(number(found, "unwound"), expected[i].unwound);
    }
    json_decref(json);
}

/* Seven methods of the program's own, and three of the framework that no image had. */
TEST(each_method_is_compiled_once)
{
    json_t *json = printed(EVENTS("--format=json", "jit", COMPILED));
    json_int_t compiled = 0;

    assert_int_equal(json_array_size(json_object_get(json, "rows")), 10);
    for (size_t i = 0; i < 10; i++)
        compiled += number(row(json, "rows", i), "compiled");
    assert_int_equal(compiled, 10);
    assert_int_equal(number(row_of(json, "Shop.Program.Open()"), "ns"), 103985);
    json_decref(json);
}

TEST(top_shows_the_first_rows_and_says_how_many_there_are)
{
    struct ran ran = EVENTS("--top=2", "calls", SHOP);

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "Program.Open"));
    assert_null(strstr(ran.out, "Shop.Program.Pick"));
    free(ran.out);
}

TEST(without_the_topic_the_log_tells_what_to_record)
{
    struct ran ran = EVENTS("exceptions", FIXTURES "small.ndjson");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "record with --events alloc,exceptions"));
    free(ran.out);
    expect_complaint(EVENTS("weather", SHOP), CLI_USAGE, "weather");
}
