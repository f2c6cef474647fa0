/* report --view live and its kin: of a log that can be added up by head (unit/model/test_live.c). */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>

#define LOG          FIXTURES "alive.ndjson"
#define REPORT(...)  RUN(&cmd_report, "report", __VA_ARGS__, "--no-lines", LOG)
#define DIFFER(...)  RUN(&cmd_diff, "diff", __VA_ARGS__)
#define LIVE_OF(...) json_of(REPORT("--format=json", __VA_ARGS__))

static json_t *json_of(struct ran ran)
{
    json_t *json;

    assert_int_equal(ran.status, CLI_OK);
    json = json_loads(ran.out, 0, NULL);
    if (!json)
        print_error("%.2000s\n", ran.out);
    assert_non_null(json);
    free(ran.out);
    return json;
}

/* A member of the total; rows have to come to it. */
static json_int_t sum_of(const json_t *json, const char *member)
{
    json_int_t sum = 0,
               total = json_integer_value(json_object_get(json_object_get(json, "total"), member));
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        sum += json_integer_value(json_object_get(row, member));
    }
    assert_int_equal(sum, total);
    return total;
}

static void expect_sum(json_t *json, const char *member, json_int_t want)
{
    assert_int_equal(sum_of(json, member), want);
    json_decref(json);
}

TEST(each_view_is_as_expected)
{
    static const char *const views[] = {"live", "peak", "end", "grown", "temporary", "lifetimes"};

    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        char path[100];

        snprintf(path, sizeof(path), FIXTURES "alive.view-%s.txt", views[i]);
        expect_ran(REPORT("--view", views[i]), CLI_OK, path);
    }
    expect_ran(REPORT("--view=lifetimes", "--by=type"), CLI_OK,
               FIXTURES "alive.view-lifetimes-type.txt");
    expect_ran(REPORT("--view=end", "--by=site", "--format=json"), CLI_OK,
               FIXTURES "alive.view-end.json");
    expect_ran(REPORT("--view=overview"), CLI_OK, FIXTURES "alive.view-overview.txt");
}

#define SAMPLED             FIXTURES "alive-sampled.ndjson"
#define SAMPLED_REPORT(...) RUN(&cmd_report, "report", __VA_ARGS__, "--no-lines", SAMPLED)

/* alive-sampled.ndjson: each object is a sample of the runtime, and stands for others. */
TEST(what_is_estimated_has_its_range_in_each_view)
{
    static const char *const views[] = {"live", "peak", "end", "temporary", "lifetimes"};

    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        char path[100];

        snprintf(path, sizeof(path), FIXTURES "alive-sampled.view-%s.txt", views[i]);
        expect_ran(SAMPLED_REPORT("--view", views[i]), CLI_OK, path);
    }
    expect_ran(SAMPLED_REPORT("--view=grown", "--from=warm"), CLI_OK,
               FIXTURES "alive-sampled.view-grown.txt");
    expect_ran(SAMPLED_REPORT("--view=grown", "--from=warm", "--by=tree"), CLI_OK,
               FIXTURES "alive-sampled.tree-grown.txt");
    expect_ran(SAMPLED_REPORT("--view=lifetimes", "--by=type"), CLI_OK,
               FIXTURES "alive-sampled.view-lifetimes-type.txt");
    expect_ran(SAMPLED_REPORT("--view=grown", "--from=warm", "--by=site", "--format=json"), CLI_OK,
               FIXTURES "alive-sampled.view-grown.json");
    expect_ran(SAMPLED_REPORT("--view=overview"), CLI_OK,
               FIXTURES "alive-sampled.view-overview.txt");
}

/* A member of bytes has a range that holds it, above 0 or not. */
static void expect_range(const json_t *row, const char *member)
{
    char key[60];
    const json_t *range;
    double value = json_number_value(json_object_get(row, member));

    snprintf(key, sizeof(key), "%s_range", member);
    range = json_object_get(row, key);
    if (value == 0)
        return;
    assert_int_equal(json_array_size(range), 2);
    assert_true(json_number_value(json_array_get(range, 0)) <= value);
    assert_true(json_number_value(json_array_get(range, 1)) >= value);
}

TEST(no_estimate_of_what_is_alive_is_without_its_range)
{
    static const char *const views[] = {"live", "peak", "end", "grown", "temporary", "lifetimes"},
                             *const keys[] = {"site", "type", "method", "module"},
                             *const members[] = {"live_bytes",     "young_bytes",
                                                 "before_bytes",   "grown_bytes",
                                                 "survived_bytes", "temporary_bytes",
                                                 "bytes",          "died_young_bytes"};
    size_t seen = 0;

    for (size_t v = 0; v < sizeof(views) / sizeof(*views); v++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
            json_t *json =
                json_of(SAMPLED_REPORT("--format=json", "--view", views[v], "--by", keys[k]));
            const json_t *row;
            size_t i;

            json_array_foreach(json_object_get(json, "rows"), i, row)
            {
                for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++)
                    expect_range(row, members[m]);
                seen++;
            }
            for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++)
                expect_range(json_object_get(json, "total"), members[m]);
            assert_true(json_number_value(json_object_get(json_object_get(json, "total"),
                                                          "unsampled_most")) > 300000);
            json_decref(json);
        }
    assert_true(seen > 30);
}

TEST(rows_by_any_key_come_to_the_total)
{
    static const char *const keys[] = {"site", "type", "method",   "module",
                                       "line", "own",  "namespace"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(keys[i], "line") == 0)
            continue; /* the log's files are not there */
        expect_sum(LIVE_OF("--view=peak", "--by", keys[i]), "live_bytes", 100224);
        expect_sum(LIVE_OF("--view=grown", "--from=warm", "--to=later", "--by", keys[i]),
                   "grown_bytes", 100224 - 90136);
        expect_sum(LIVE_OF("--view=temporary", "--by", keys[i]), "temporary_bytes", 6 * 32);
        expect_sum(LIVE_OF("--view=lifetimes", "--by", keys[i]), "died_young_bytes", 6 * 32);
        expect_sum(LIVE_OF("--view=end", "--by", keys[i]), "young_bytes", 40 + 2 * 32);
        expect_sum(LIVE_OF("--view=end", "--by", keys[i]), "live_bytes", 200);
    }
}

/* Own sums of the rows come to the total, and so do those below each; as `report --view Q` has it. */
static void expect_tree(json_t *json, const char *member, json_int_t want)
{
    json_t *rows = json_object_get(json, "rows");
    size_t count = json_array_size(rows), i;
    json_int_t *below = calloc(count, sizeof(*below));
    json_t *row;

    assert_true(count > 2);
    assert_non_null(below);
    json_array_foreach(rows, i, row)
    {
        json_int_t own = json_integer_value(json_object_get(row, member));
        json_t *parent = json_object_get(row, "parent");
        size_t over = i;

        below[i] += own;
        for (; json_is_integer(parent);
             parent = json_object_get(json_array_get(rows, over), "parent")) {
            over = (size_t)json_integer_value(parent);
            below[over] += own;
        }
    }
    assert_int_equal(below[0], want);
    for (i = 0; strcmp(member, "young_bytes") != 0 && i < count; i++)
        assert_int_equal(
            below[i], json_integer_value(json_object_get(json_array_get(rows, i), "total_bytes")));
    free(below);
    expect_sum(json, member, want);
}

TEST(trees_of_what_is_alive_come_to_the_total)
{
    expect_tree(LIVE_OF("--view=peak", "--by=tree"), "live_bytes", 100224);
    expect_tree(LIVE_OF("--view=live", "--at=warm", "--by=tree"), "live_bytes", 90136);
    expect_tree(LIVE_OF("--view=temporary", "--by=tree"), "temporary_bytes", 6 * 32);
    expect_tree(LIVE_OF("--view=end", "--by=tree"), "young_bytes", 40 + 2 * 32);
    expect_tree(LIVE_OF("--view=grown", "--from=warm", "--to=later", "--by=tree"), "grown_bytes",
                100224 - 90136);
    /* Callers have shrunk, and are there. */
    expect_tree(LIVE_OF("--view=grown", "--from=warm", "--by=tree"), "grown_bytes", 200 - 90136);
}

TEST(callers_and_callees_of_what_is_alive)
{
    expect_ran(REPORT("--view=end", "--by=callers", "*Item"), CLI_OK,
               FIXTURES "alive.callers-end.txt");
    expect_ran(REPORT("--view=peak", "--by=callees", "Web.Handle"), CLI_OK,
               FIXTURES "alive.callees-peak.txt");
    expect_ran(REPORT("--view=grown", "--from=warm", "--by=tree", "--depth=9"), CLI_OK,
               FIXTURES "alive.tree-grown.txt");
    expect_complaint(REPORT("--view=end", "--by=callers"), CLI_USAGE, "expected a method");
    expect_complaint(REPORT("--view=lifetimes", "--by=tree"), CLI_USAGE, "lifetimes has no tree");
}

TEST(a_moment_is_a_mark_a_time_or_a_collection)
{
    static const char *const same[] = {"--at=warm", "--at=2500ms", "--at=1", "--at=25%"};

    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        expect_sum(LIVE_OF("--view=live", same[i]), "live_bytes", 90136);
    expect_sum(LIVE_OF("--view=live", "--at=99"), "live_bytes", 200);
    expect_sum(LIVE_OF("--view=live", "--at=0"), "live_bytes", 0);
    expect_complaint(REPORT("--view=live", "--at=cold"), CLI_USAGE, "no mark \"cold\"");
}

/* alive-missed.ndjson: collections 1, 4, 5, 9; the mark "between" was set before 4 and written after it. */
static void expect_missed(const char *when, json_int_t gc, json_int_t missed, const char *said)
{
    char at[40];
    struct ran ran;
    json_t *json, *of;

    snprintf(at, sizeof(at), "--at=%s", when);
    ran = RUN(&cmd_report, "report", "--view=live", "--format=json", "--no-lines", at,
              FIXTURES "alive-missed.ndjson");
    if (said ? !strstr(ran.err, said) : *ran.err)
        fail_msg("at %s: %s", when, ran.err);
    json = json_of(ran);
    of = json_object_get(json, "collection");
    assert_int_equal(json_integer_value(json_object_get(of, "gc")), gc);
    assert_int_equal(json_integer_value(json_object_get(of, "missed")), missed);
    json_decref(json);
}

TEST(an_answer_of_another_collection_than_was_asked_for_says_so)
{
    expect_missed("1", 1, 0, NULL);
    expect_missed("2", 1, 1, "collection 2 has no separate sums");
    expect_missed("3", 1, 2, "The answer is for collection 1\n");
    expect_missed("4", 4, 0, NULL);
    expect_missed("8", 5, 3, "The answer is for collection 5\n");
    expect_missed("9", 9, 0, NULL);
    expect_missed("12", 9, 0, "collection 12 is not in the log: the answer is for collection 9\n");
    expect_missed("5s", 4, 0, NULL);
    expect_missed("6.1s", 5, 3,
                  "for collection 5, and 3 after it, which may have run before \"6.1s\"");
    expect_missed("warm", 1, 0, NULL); /* 2 and 3 are behind its line */
    expect_missed("between", 1, 2, "for collection 1, and 2 after it, which may have run before");
    expect_missed("later", 5, 0, NULL);
    expect_ran(
        RUN(&cmd_report, "report", "--view=peak", "--no-lines", FIXTURES "alive-missed.ndjson"),
        CLI_OK, FIXTURES "alive-missed.view-peak.txt");
    expect_ran(RUN(&cmd_report, "report", "--view=grown", "--from=2", "--to=8", "--no-lines",
                   FIXTURES "alive-missed.ndjson"),
               CLI_OK, FIXTURES "alive-missed.view-grown.txt");
}

TEST(filters_choose_among_live_objects)
{
    expect_sum(LIVE_OF("--view=peak", "--type=*Byte*"), "live_bytes", 100024);
    expect_sum(LIVE_OF("--view=peak", "--method=*Cache*"), "live_bytes", 200);
    expect_sum(LIVE_OF("--view=peak", "--exclude=*Cache*"), "live_bytes", 100024);
    expect_sum(LIVE_OF("--view=live", "--at=warm", "--below=*Handle*"), "live_bytes", 90136);
    expect_sum(LIVE_OF("--view=live", "--at=warm", "--own"), "live_bytes", 90136);
}

TEST(what_makes_no_sense_is_refused)
{
    static const char without[] = FIXTURES "small.ndjson";

    expect_complaint(RUN(&cmd_report, "report", "--view=live", "--no-lines", without), CLI_USAGE,
                     "record with --live");
    expect_complaint(REPORT("--view=end", "--by=thread"), CLI_USAGE, "not by thread");
    expect_complaint(REPORT("--view=end", "--thread=1"), CLI_USAGE, "not by thread");
    expect_complaint(REPORT("--view=end", "--from=warm"), CLI_USAGE, "--at WHEN");
    expect_complaint(REPORT("--view=peak", "--at=warm"), CLI_USAGE, "--at needs --view live");
    expect_complaint(REPORT("--at=warm"), CLI_USAGE, "--at needs --view live");
    expect_complaint(REPORT("--view=end", "--sort=total"), CLI_USAGE, "--sort total");
    expect_complaint(REPORT("--view=types", "--by=type"), CLI_USAGE, "--by does not go");
    expect_complaint(DIFFER("--view=end", without, without), CLI_USAGE, "record with --live");
    expect_complaint(RUN(&cmd_export, "export", "--format=heaptrack", "-o-", without), CLI_USAGE,
                     "recorded with --live");
}

TEST(logs_differ_by_what_is_alive)
{
    struct ran ran = DIFFER("--view=peak", "--by=type", "--no-lines", LOG, LOG);

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "6 objects alive at the peak, 100,224 bytes"));
    free(ran.out);
}
