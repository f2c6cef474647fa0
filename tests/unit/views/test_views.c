/*
 * Every view of every log: its sums are the log's, its JSON is as the schema says, its text fits;
 * and what each of them says of a log whose numbers are known.
 */
#include "base/atomics.h"
#include "support/test.h"
#include "unit/cli/command_support.h"
#include "unit/readers/memory_log.h"
#include "validate/schema.h"

#include <jansson.h>

#define REPORT(...) RUN(&cmd_report, "report", __VA_ARGS__)
#define JSON(...)   RUN(&cmd_report, "report", "--format=json", __VA_ARGS__)

static const char *const logs[] = {
    "small", "mismatch",    "sites",       "sampled",  "inline",      "damaged",
    "marks", "dynamic",     "native",      "newer",    "sections",    "two",
    "lines", "lines-newer", "shop-events", "shop-jit", "shop-profile"};

/* Views whose rows add up to the total. */
static const char *const views[] = {"overview", "tree",  "sites",   "types",
                                    "methods",  "lines", "modules", "namespaces",
                                    "threads",  "sizes", "time",    "own"};

static const char *fixture(const char *log)
{
    static char path[100];

    snprintf(path, sizeof(path), FIXTURES "%s.ndjson", log);
    return path;
}

static json_t *loaded(struct ran ran, const char *what)
{
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);

    if (ran.status != CLI_OK || !json)
        fail_msg("%s: status %d: %.300s %.1000s", what, ran.status, ran.err, ran.out);
    free(ran.out);
    return json;
}

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static json_int_t sum(const json_t *rows, const char *key)
{
    json_int_t total = 0;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) total += integer(row, key);
    return total;
}

/* A view that the log has nothing for is refused in one line. */
static bool refused(struct ran *ran)
{
    bool is = ran->status == CLI_USAGE && strstr(ran->err, "record without --log sites");

    if (is)
        free(ran->out);
    return is;
}

static void expect_sums(const char *log, const char *view)
{
    struct ran ran = JSON("--view", view, fixture(log));
    json_t *json, *same, *rows, *total, *expected;
    bool estimated;

    if (refused(&ran)) {
        assert_true(strcmp(view, "time") == 0 || strcmp(view, "threads") == 0);
        return;
    }
    json = loaded(ran, view);
    same = loaded(JSON("--by=type", fixture(log)), log);
    rows = json_object_get(json, "rows");
    total = json_object_get(json, "total");
    expected = json_object_get(same, "total");
    estimated = json_is_true(json_object_get(total, "estimated"));
    assert_string_equal(json_string_value(json_object_get(json, "view")), view);
    assert_int_equal(integer(total, "bytes"), integer(expected, "bytes"));
    assert_int_equal(integer(total, "allocs"), integer(expected, "allocs"));
    if (llabs(sum(rows, "bytes") - integer(total, "bytes")) > (estimated ? 10 : 0) ||
        llabs(sum(rows, "allocs") - integer(total, "allocs")) > (estimated ? 10 : 0))
        fail_msg("%s of %s: rows have %lld bytes of %lld", view, log, (long long)sum(rows, "bytes"),
                 (long long)integer(total, "bytes"));
    json_decref(json);
    json_decref(same);
}

TEST(rows_of_every_view_add_up_to_the_log)
{
    for (size_t i = 0; i < COUNT_OF(logs); i++)
        for (size_t k = 0; k < COUNT_OF(views); k++)
            if (access(fixture(logs[i]), R_OK) == 0)
                expect_sums(logs[i], views[k]);
}

TEST(marks_and_times_cut_every_view_alike)
{
    static const char *const bounds[][2] = {{"--from=warm", "--to=one request"},
                                            {"--from=1ms", "--to=100%"},
                                            {"--from=0%", "--to=50%"}};

    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        json_t *by = loaded(JSON("--by=type", bounds[i][0], bounds[i][1], fixture("marks")), "by");

        for (size_t k = 0; k < COUNT_OF(views); k++) {
            json_t *json = loaded(
                JSON("--view", views[k], bounds[i][0], bounds[i][1], fixture("marks")), views[k]);

            assert_int_equal(integer(json_object_get(json, "total"), "bytes"),
                             integer(json_object_get(by, "total"), "bytes"));
            assert_int_equal(sum(json_object_get(json, "rows"), "bytes"),
                             integer(json_object_get(by, "total"), "bytes"));
            json_decref(json);
        }
        json_decref(by);
    }
}

/* ---- the schema ---- */

static void close_object(json_t *definition)
{
    if (json_object_get(definition, "properties"))
        json_object_set_new(definition, "additionalProperties", json_false());
}

static struct report_schema *closed_schema(void)
{
    json_t *json = json_load_file("include/shadowtrace/report_schema.json", 0, NULL), *one;
    struct report_schema *schema;
    char *text, why[200];
    const char *name;

    assert_non_null(json);
    close_object(json);
    json_object_foreach(json_object_get(json, "$defs"), name, one) close_object(one);
    text = json_dumps(json, 0);
    if (report_schema_new(text, strlen(text), &schema, why, sizeof(why)))
        fail_msg("%s", why);
    free(text);
    json_decref(json);
    return schema;
}

static void expect_schema(const struct report_schema *schema, struct ran ran, const char *what)
{
    char why[200];
    json_t *json;

    if (refused(&ran))
        return;
    json = loaded(ran, what);
    if (!report_schema_check(schema, json, why, sizeof(why)))
        fail_msg("%s: %s", what, why);
    json_decref(json);
}

TEST(every_view_is_as_the_schema_says)
{
    struct report_schema *schema = closed_schema();

    for (size_t i = 0; i < COUNT_OF(logs); i++)
        for (size_t k = 0; k < COUNT_OF(views); k++) {
            if (access(fixture(logs[i]), R_OK))
                continue;
            expect_schema(schema, JSON("--view", views[k], fixture(logs[i])), views[k]);
            expect_schema(schema,
                          JSON("--view", views[k], "--top=1", "--own-code=*", "--names=short",
                               "--symbols=tests/fuzz/corpus/symbols", fixture(logs[i])),
                          views[k]);
        }
    expect_schema(schema, JSON("--by=own", fixture("small")), "--by own");
    expect_schema(schema, JSON("--view=sites", "--inline-stacks", fixture("small")), "sites");
    expect_schema(schema, JSON("--view=sites", "--below=*.Add*", fixture("small")), "below");
    expect_schema(schema, JSON("--view=callers", "*String", fixture("small")), "callers");
    expect_schema(schema, JSON("--view=callees", "*.Main*", fixture("small")), "callees");
    report_schema_free(schema);
}

/* ---- text ---- */

static size_t columns_of(const char *line)
{
    size_t columns = 0;

    for (; *line; line++)
        columns += ((unsigned char)*line & 0xC0) != 0x80;
    return columns;
}

TEST(no_row_is_wider_than_100_columns)
{
    for (size_t i = 0; i < COUNT_OF(logs); i++)
        for (size_t k = 0; k < COUNT_OF(views); k++) {
            struct ran ran;

            if (access(fixture(logs[i]), R_OK))
                continue;
            ran = REPORT("--view", views[k], fixture(logs[i]));
            if (refused(&ran))
                continue;
            assert_int_equal(ran.status, CLI_OK);
            for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
                if (columns_of(line) > 100 && !strstr(line, "shadowtrace report"))
                    fail_msg("%s of %s: %s", views[k], logs[i], line);
            free(ran.out);
        }
}

TEST(views_are_as_expected)
{
    static const char *const of_small[] = {"overview", "tree",    "sites",      "types", "methods",
                                           "modules",  "threads", "namespaces", "sizes", "time"};

    for (size_t i = 0; i < COUNT_OF(of_small); i++) {
        char path[100];

        snprintf(path, sizeof(path), FIXTURES "small.view-%s.txt", of_small[i]);
        expect_ran(REPORT("--view", of_small[i], fixture("small")), CLI_OK, path);
    }
    expect_ran(REPORT("--symbols=tests/fuzz/corpus/symbols", fixture("lines")), CLI_OK,
               FIXTURES "lines.view-overview.txt");
    expect_ran(REPORT("--view=lines", "--symbols=tests/fuzz/corpus/symbols", fixture("lines")),
               CLI_OK, FIXTURES "lines.view-lines.txt");
    expect_ran(
        REPORT("--by=own", "--own-code=*", "--symbols=tests/fuzz/corpus/symbols", fixture("lines")),
        CLI_OK, FIXTURES "lines.by-own.txt");
    expect_ran(REPORT(fixture("sampled")), CLI_OK, FIXTURES "sampled.view-overview.txt");
    expect_ran(REPORT("--view=types", fixture("sampled")), CLI_OK,
               FIXTURES "sampled.view-types.txt");
    expect_ran(REPORT(fixture("sites")), CLI_OK, FIXTURES "sites.view-overview.txt");
    expect_ran(REPORT(fixture("damaged")), CLI_OK, FIXTURES "damaged.view-overview.txt");
    expect_ran(REPORT("--view=callers", "System.String", fixture("small")), CLI_OK,
               FIXTURES "small.view-callers.txt");
    expect_ran(REPORT(fixture("small"), "--view=callees", "Program.Main"), CLI_OK,
               FIXTURES "small.view-callees.txt");
}

TEST(callers_and_callees_tell_of_one_method)
{
    json_t *json = loaded(JSON("--view=callers", "*String", fixture("small")), "callers");
    const json_t *first = json_array_get(json_object_get(json, "rows"), 0);

    assert_int_equal(integer(first, "total_bytes"), 144 + 64);
    assert_int_equal(integer(first, "total_allocs"), 4);
    json_decref(json);
    json = loaded(JSON("--view=callees", "Shop.Program.Main", fixture("small")), "callees");
    first = json_array_get(json_object_get(json, "rows"), 0);
    assert_int_equal(integer(first, "total_bytes"), 90024 + 144 + 32);
    json_decref(json);
}

TEST(filters_let_through_what_they_say)
{
    static const struct {
        const char *option;
        json_int_t bytes;
    } some[] = {
        {"--type=string", 144 + 64},
        {"--type=System.String", 144 + 64},
        {"--exclude=System.Byte[]", 144 + 64 + 32},
        {"--exclude=*.Concat*", 131096 + 90024 + 32},
        {"--method=*Basket.Add*", 90024 + 144 + 64},
        {"--below=*Basket.Add*", 90024 + 144 + 64},
    };

    for (size_t i = 0; i < COUNT_OF(some); i++) {
        json_t *json = loaded(JSON("--view=types", some[i].option, fixture("small")), "filter");

        if (integer(json_object_get(json, "total"), "bytes") != some[i].bytes)
            fail_msg("%s: %lld", some[i].option,
                     (long long)integer(json_object_get(json, "total"), "bytes"));
        json_decref(json);
    }
}

TEST(rows_can_be_sorted_by_objects)
{
    json_t *json = loaded(JSON("--view=types", "--sort=allocs", fixture("small")), "sort");
    const json_t *first = json_array_get(json_object_get(json, "rows"), 0);

    assert_string_equal(json_string_value(json_object_get(first, "type")), "System.String");
    json_decref(json);
}

TEST(what_a_log_does_not_have_is_one_clear_line)
{
    expect_complaint(REPORT("--view=time", fixture("sites")), CLI_USAGE,
                     "no times; record without --log sites");
    expect_complaint(REPORT("--from=1ms", fixture("sites")), CLI_USAGE,
                     "record without --log sites");
    expect_complaint(REPORT("--view=callers", "Basket.Ad", fixture("small")), CLI_USAGE,
                     "no method or type matches \"Basket.Ad\"; did you mean \"Basket.Add");
    expect_complaint(REPORT("--view=callees", "System.String", fixture("small")), CLI_USAGE,
                     "is a type, which calls nothing");
    expect_complaint(REPORT("--view=types", "--method=Nothing", fixture("small")), CLI_USAGE,
                     "no method matches \"Nothing\"");
    expect_complaint(REPORT("--own-code=Nothing", fixture("small")), CLI_USAGE, "Nothing");
    expect_complaint(REPORT("--from=cold", fixture("marks")), CLI_USAGE,
                     "no mark \"cold\"; there are \"warm\", \"one request\", \"warm\"");
}

TEST(wrong_options_are_one_clear_line)
{
    expect_complaint(REPORT("--view=colour", "x"), CLI_USAGE, "--view takes overview, tree");
    expect_complaint(REPORT("--view=types", "--by=type", "x"), CLI_USAGE,
                     "--by does not go with --view");
    expect_complaint(REPORT("--view=callers", "x"), CLI_USAGE, "--view callers METHOD LOG");
    expect_complaint(REPORT("--min-share=much", "x"), CLI_USAGE, "--min-share takes a percentage");
    expect_complaint(REPORT("--view=types", "--format=folded", "x"), CLI_USAGE,
                     "--format folded needs --by site");
    expect_complaint(REPORT("--by=type", "--exclude=*", "x"), CLI_USAGE, "--exclude needs --view");
    expect_complaint(REPORT("--view=tree", "--inline-stacks", "--format=json", "x"), CLI_USAGE,
                     "--inline-stacks needs --view sites");
}
