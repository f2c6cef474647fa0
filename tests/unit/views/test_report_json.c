/*
 * What `report --format json` prints: as report_schema.json says in every form, the same stacks in tables as in arrays,
 * and no more than the tree of calls needs.
 */
#include "support/heap.h"

#include "base/atomics.h"
#include "readers/complete.h"
#include "validate/schema.h"
#include "unit/cli/command_support.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <jansson.h>

#define REPORT(...)  RUN(&cmd_report, "report", "--format=json", __VA_ARGS__)
#define EVENTS(...)  RUN(&cmd_events, "events", "--format=json", __VA_ARGS__)
#define PROFILE(...) RUN(&cmd_profile, "profile", "--format=json", __VA_ARGS__)
#define DIFF(...)    RUN(&cmd_diff, "diff", "--format=json", __VA_ARGS__)
#define SAMPLES      "tests/fuzz/corpus/readers/profile.ndjson"
#define VERY_DEEP    500000
#define DEEP         1000 /* frames, and rows on each of them */

static const char *const logs[] = {"small",  "mismatch", "sites", "sampled",
                                   "inline", "damaged",  "marks", "dynamic",
                                   "native", "newer",    "lines", "lines-newer"};

static const char *const events[] = {"tests/fuzz/corpus/readers/kinds.ndjson",
                                     "tests/fuzz/corpus/readers/events.ndjson"};

/* ---- the schema ---- */

/* Members that are not described may not be there: else nobody would know what they mean. */
static void close_object(json_t *definition)
{
    if (json_object_get(definition, "properties"))
        json_object_set_new(definition, "additionalProperties", json_false());
}

static json_t *schema_json(void)
{
    json_t *json = json_load_file("include/shadowtrace/report_schema.json", 0, NULL), *one;
    const char *name;

    assert_non_null(json);
    close_object(json);
    json_object_foreach(json_object_get(json, "$defs"), name, one) close_object(one);
    return json;
}

static struct report_schema *schema_new(void)
{
    json_t *json = schema_json();
    char *text = json_dumps(json, 0), why[200];
    struct report_schema *schema;

    if (report_schema_new(text, strlen(text), &schema, why, sizeof(why)))
        fail_msg("%s", why);
    free(text);
    json_decref(json);
    return schema;
}

static void expect_valid(const struct report_schema *schema, json_t *json, const char *what)
{
    char why[200];

    if (!report_schema_check(schema, json, why, sizeof(why)))
        fail_msg("%s: %s", what, why);
    json_decref(json);
}

static const char *fixture(const char *log)
{
    static char path[100];

    snprintf(path, sizeof(path), FIXTURES "%s.ndjson", log);
    return path;
}

TEST(every_form_is_as_the_schema_says)
{
    static const char *const keys[] = {"type", "method", "thread", "module", "line"};
    struct report_schema *schema = schema_new();

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        const char *path = fixture(logs[i]);

        expect_valid(schema, printed(REPORT(path)), path);
        expect_valid(schema, printed(REPORT("--physical", "--names=raw", path)), path);
        expect_valid(schema, printed(REPORT("--urls", "--type=*String", path)), path);
        expect_valid(schema, printed(REPORT("--inline-stacks", path)), path);
        expect_valid(schema, printed(REPORT("--inline-stacks", "--physical", path)), path);
        expect_valid(schema, printed(REPORT("--inline-stacks", "--depth=1", path)), path);
        for (size_t k = 0; k < COUNT_OF(keys); k++)
            expect_valid(schema, printed(REPORT("--by", keys[k], path)), path);
    }
    expect_valid(schema, printed(REPORT("--from=warm", "--to=one request", fixture("marks"))),
                 "marks");
    report_schema_free(schema);
}

TEST(every_topic_is_as_the_schema_says)
{
    static const char *const topics[] = {"exceptions", "gc", "jit", "suspensions", "calls"};
    struct report_schema *schema = schema_new();
    size_t rows = 0;

    for (size_t i = 0; i < COUNT_OF(events); i++)
        for (size_t k = 0; k < COUNT_OF(topics); k++) {
            json_t *json = printed(EVENTS(topics[k], events[i]));

            assert_string_equal(json_string_value(json_object_get(json, "topic")), topics[k]);
            rows += json_array_size(json_object_get(json, "rows"));
            expect_valid(schema, json, topics[k]);
            json = printed(EVENTS(topics[k], "--inline-stacks", "--depth=1", events[i]));
            expect_valid(schema, json, topics[k]);
        }
    assert_true(rows > 8);
    report_schema_free(schema);
}

TEST(every_difference_is_as_the_schema_says)
{
    static const char *const keys[] = {"site", "type", "method", "thread", "module", "line"};
    struct report_schema *schema = schema_new();

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        char old[100];
        const char *new = fixture(logs[i]);

        snprintf(old, sizeof(old), "%s", fixture(i % 2 ? "newer" : "small"));
        for (size_t k = 0; k < COUNT_OF(keys); k++)
            expect_valid(schema, printed(DIFF("--by", keys[k], old, new)), new);
        expect_valid(schema, printed(DIFF("--physical", "--exact", old, new)), new);
        expect_valid(schema, printed(DIFF("--inline-stacks", old, new)), new);
        expect_valid(schema, printed(DIFF("--inline-stacks", "--depth=1", old, new)), new);
        expect_valid(schema, printed(DIFF(old, new, "--", new, new)), new);
    }
    report_schema_free(schema);
}

TEST(every_profile_is_as_the_schema_says)
{
    struct report_schema *schema = schema_new();

    expect_valid(schema, printed(PROFILE(SAMPLES)), "tables");
    expect_valid(schema, printed(PROFILE("--inline-stacks", SAMPLES)), "arrays");
    expect_valid(schema, printed(PROFILE("--inline-stacks", "--depth=1", SAMPLES)), "cut");
    report_schema_free(schema);
}

TEST(what_is_not_described_does_not_pass)
{
    static const char *const wrong[][2] = {
        {"{\"schema\":3}", "schema"},   {"{\"by\":\"colour\"}", "by"},
        {"{\"row_count\":-1}", "row"},  {"{\"other\":1}", "other"},
        {"{\"stacks\":[[0,1]]}", "st"}, {"{\"frames\":[{\"method\":\"\"}]}", "frames"},
        {"{\"schema\":1}", "stack_il"}, {"{\"by\":\"type\"}", "stack"},
    };
    struct report_schema *schema = schema_new();
    char why[200];

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        json_t *json = printed(REPORT(fixture("small")));

        assert_true(report_schema_check(schema, json, why, sizeof(why)));
        json_object_update_new(json, json_loads(wrong[i][0], 0, NULL));
        assert_false(report_schema_check(schema, json, why, sizeof(why)));
        json_decref(json);
    }
    report_schema_free(schema);
}

TEST(the_schema_has_every_word)
{
    json_t *schema = schema_json();
    const json_t *gap = json_object_get(json_object_get(schema, "$defs"), "gap"),
                 *words = json_object_get(
                     json_object_get(json_object_get(gap, "properties"), "reason"), "enum");

    assert_int_equal(json_array_size(words), LOG_GAP_COUNT);
    for (size_t i = 0; i < LOG_GAP_COUNT; i++)
        assert_string_equal(json_string_value(json_array_get(words, i)),
                            log_gap_word((enum log_gap_kind)i));
    json_decref(schema);
}

/* ---- tables and arrays ---- */

static const json_t *frame_of(const json_t *report, const json_t *stack)
{
    const json_t *frames = json_object_get(report, "frames"),
                 *frame = json_object_get(stack, "frame");

    assert_true((size_t)json_integer_value(frame) < json_array_size(frames));
    return json_array_get(frames, (size_t)json_integer_value(frame));
}

/* A row's stack in the tables is what its arrays say. */
static void expect_same_stack(const json_t *report, const json_t *row, const json_t *whole)
{
    const json_t *stacks = json_object_get(report, "stacks"), *at = json_object_get(row, "stack");
    const json_t *names = json_object_get(whole, "stack"), *il = json_object_get(whole, "stack_il");
    size_t depth = 0;

    for (; !json_is_null(at); depth++) {
        size_t number = (size_t)json_integer_value(at);
        const json_t *stack = json_array_get(stacks, number), *frame = frame_of(report, stack);

        assert_non_null(stack);
        assert_string_equal(json_string_value(json_object_get(frame, "method")),
                            json_string_value(json_array_get(names, depth)));
        assert_int_equal(json_integer_value(json_object_get(frame, "il")),
                         json_integer_value(json_array_get(il, depth)));
        assert_int_equal(json_object_get(frame, "il") == NULL,
                         json_is_null(json_array_get(il, depth)));
        at = json_object_get(stack, "parent");
        assert_true(json_is_null(at) || (size_t)json_integer_value(at) < number);
    }
    assert_int_equal(depth, json_array_size(names));
}

static void expect_all_different(const json_t *array)
{
    json_t *seen = json_object(), *one;
    size_t i;

    json_array_foreach(array, i, one)
    {
        char *text = json_dumps(one, JSON_SORT_KEYS);

        assert_null(json_object_get(seen, text));
        json_object_set_new(seen, text, json_true());
        free(text);
    }
    json_decref(seen);
}

TEST(tables_say_what_arrays_say)
{
    size_t stacks = 0, i;

    for (size_t k = 0; k < COUNT_OF(logs); k++) {
        json_t *tables = printed(REPORT(fixture(logs[k])));
        json_t *arrays = printed(REPORT("--inline-stacks", fixture(logs[k])));
        const json_t *rows = json_object_get(arrays, "rows");
        json_t *row;

        assert_int_equal(json_integer_value(json_object_get(tables, "schema")), 2);
        assert_int_equal(json_integer_value(json_object_get(arrays, "schema")), 1);
        assert_int_equal(json_array_size(rows), json_array_size(json_object_get(tables, "rows")));
        json_array_foreach(json_object_get(tables, "rows"), i, row)
            expect_same_stack(tables, row, json_array_get(rows, i));
        expect_all_different(json_object_get(tables, "frames"));
        expect_all_different(json_object_get(tables, "stacks"));
        stacks += json_array_size(json_object_get(tables, "stacks"));
        json_decref(tables);
        json_decref(arrays);
    }
    assert_true(stacks > 50);
}

/* Of a row that one log has and of a row that the other has. */
TEST(tables_of_differences_say_what_arrays_say)
{
    json_t *tables = printed(DIFF(fixture("small"), FIXTURES "newer.ndjson")), *row;
    json_t *arrays = printed(DIFF("--inline-stacks", fixture("small"), FIXTURES "newer.ndjson"));
    size_t i, gone = 0, added = 0;

    json_array_foreach(json_object_get(tables, "rows"), i, row)
    {
        json_t *old = json_object_get(row, "old"), *new = json_object_get(row, "new");

        gone += !json_integer_value(json_object_get(new, "allocs"));
        added += !json_integer_value(json_object_get(old, "allocs"));
        expect_same_stack(tables, row, json_array_get(json_object_get(arrays, "rows"), i));
    }
    assert_true(gone && added);
    json_decref(tables);
    json_decref(arrays);
}

TEST(tables_of_a_profile_say_what_arrays_say)
{
    static const char *const sources[] = {"shadow", "snapshot"};
    json_t *tables = printed(PROFILE(SAMPLES)), *row;
    json_t *arrays = printed(PROFILE("--inline-stacks", SAMPLES));
    size_t i, rows = 0;

    for (size_t k = 0; k < COUNT_OF(sources); k++) {
        const json_t *here = json_object_get(json_object_get(tables, sources[k]), "stacks"),
                     *whole = json_object_get(json_object_get(arrays, sources[k]), "stacks");

        json_array_foreach(here, i, row)
        {
            expect_same_stack(tables, row, json_array_get(whole, i));
            rows++;
        }
    }
    assert_true(rows > 1);
    json_decref(tables);
    json_decref(arrays);
}

TEST(tables_of_events_say_what_arrays_say)
{
    size_t stacks = 0, i, k;
    json_t *row, *by;

    for (size_t n = 0; n < COUNT_OF(events); n++) {
        json_t *tables = printed(EVENTS("exceptions", events[n]));
        json_t *arrays = printed(EVENTS("exceptions", "--inline-stacks", events[n]));

        json_array_foreach(json_object_get(tables, "rows"), i, row)
            expect_same_stack(tables, row, json_array_get(json_object_get(arrays, "rows"), i));
        stacks += json_array_size(json_object_get(tables, "stacks"));
        json_decref(tables);
        json_decref(arrays);
        tables = printed(EVENTS("gc", events[n]));
        arrays = printed(EVENTS("gc", "--inline-stacks", events[n]));
        json_array_foreach(json_object_get(tables, "rows"), i, row)
        {
            const json_t *whole = json_array_get(json_object_get(arrays, "rows"), i);

            json_array_foreach(json_object_get(row, "by"), k, by)
                expect_same_stack(tables, by, json_array_get(json_object_get(whole, "by"), k));
        }
        stacks += json_array_size(json_object_get(tables, "stacks"));
        json_decref(tables);
        json_decref(arrays);
    }
    assert_true(stacks > 10);
}

TEST(arrays_are_cut_where_asked)
{
    json_t *report = printed(REPORT("--inline-stacks", "--depth=2", fixture("small"))), *row;
    size_t i, cut = 0;

    json_array_foreach(json_object_get(report, "rows"), i, row)
    {
        size_t frames = json_array_size(json_object_get(row, "stack"));

        assert_true(frames <= 2);
        assert_int_equal(frames, json_array_size(json_object_get(row, "stack_il")));
        if (!json_object_get(row, "depth"))
            continue;
        assert_int_equal(frames, 2);
        assert_int_equal(json_integer_value(json_object_get(row, "depth")), 3);
        cut++;
    }
    assert_int_equal(cut, 2);
    json_decref(report);
}

TEST(what_does_not_go_together_is_said)
{
    expect_complaint(REPORT("--depth=3", "x"), CLI_USAGE,
                     "--depth with --format json needs --inline-stacks");
    expect_complaint(EVENTS("gc", "--depth=3", "x"), CLI_USAGE,
                     "--depth with --format json needs --inline-stacks");
    expect_complaint(RUN(&cmd_report, "report", "--inline-stacks", "x"), CLI_USAGE,
                     "--inline-stacks needs --format json");
}

/* ---- logs made here ---- */

static char made[] = "/tmp/shadowtrace-made-XXXXXX";
static FILE *log_file;

#define LINE(...) fprintf(log_file, __VA_ARGS__)

static int begin_log(void **state)
{
    (void)state;
    memset(strchr(made, '\0') - 6, 'X', 6);
    log_file = fdopen(mkstemp(made), "w");
    LINE("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,"
         "\"executable\":\"x\",\"runtime\":\"10.0.1\",\"hooks\":\"elt3\",\"clock\":5,"
         "\"started\":\"2026-11-21T10:00:00Z\"}\n"
         "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n"
         "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n");
    return 0;
}

static void line_method(unsigned id, const char *name)
{
    LINE("{\"kind\":\"method\",\"id\":%u,\"name\":\"%s\"}\n", id, name);
}

static void line_node(unsigned id, unsigned parent, unsigned method, unsigned il)
{
    LINE("{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":%u}\n", id, parent,
         method, il);
}

static void line_alloc(unsigned node, unsigned il)
{
    LINE("{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":%u,"
         "\"il\":%u}\n",
         node, node, il);
}

static size_t end_log(void)
{
    long size = ftell(log_file);

    assert_int_equal(fclose(log_file), 0);
    return (size_t)size;
}

static int remove_log(void **state)
{
    (void)state;
    return unlink(made);
}

static const json_t *only_row(const json_t *report)
{
    const json_t *rows = json_object_get(report, "rows");

    assert_int_equal(json_array_size(rows), 1);
    return json_array_get(rows, 0);
}

TEST(who_started_an_async_method_is_a_frame, begin_log, remove_log)
{
    static const char *const names[] = {
        "App.Main()", "App.Work()",
        "System.Runtime.CompilerServices.AsyncTaskMethodBuilder.Start<T>(T&)",
        "App.<Work>d__1.MoveNext()", "X.Box.MoveNext()"};
    struct report_schema *schema = schema_new();
    const json_t *by, *frame;
    json_t *report;

    for (unsigned i = 0; i < COUNT_OF(names); i++)
        line_method(i + 1, names[i]);
    line_node(1, 0, 1, 0);
    line_node(2, 1, 2, 5); /* Main calls Work, which begins its machine */
    line_node(3, 2, 3, 3);
    line_node(4, 3, 4, 4);
    line_node(5, 0, 5, 0);
    line_node(6, 5, 4, 7); /* and that is resumed */
    line_alloc(6, 9);
    end_log();
    report = printed(REPORT("--physical", made));
    by = json_object_get(only_row(report), "started_by");
    assert_int_equal(json_array_size(by), 1);
    frame = json_array_get(json_object_get(report, "frames"),
                           (size_t)json_integer_value(json_array_get(by, 0)));
    assert_string_equal(json_string_value(json_object_get(frame, "method")), "App.Main()");
    assert_int_equal(json_integer_value(json_object_get(frame, "il")), 5);
    expect_valid(schema, report, "tables");
    report = printed(REPORT("--physical", "--inline-stacks", made));
    by = json_object_get(only_row(report), "started_by");
    frame = json_array_get(by, 0);
    assert_string_equal(json_string_value(json_object_get(frame, "method")), "App.Main()");
    assert_int_equal(json_integer_value(json_object_get(frame, "il")), 5);
    expect_valid(schema, report, "arrays");
    report_schema_free(schema);
}

/* Deeper than a recursive walk, frame by frame, could go. */
TEST(sampled_stacks_may_be_as_deep_as_a_log_has_them, begin_log, remove_log)
{
    char *at;
    size_t frames = 1;
    struct ran ran;
    json_t *json;

    line_method(1, "A;B()");
    for (unsigned i = 0; i < VERY_DEEP; i++)
        line_node(i + 1, i, 1, 3);
    LINE("{\"kind\":\"sample\",\"t\":1,\"thread\":1,\"source\":\"shadow\",\"node\":%u,"
         "\"depth\":%u}\n",
         VERY_DEEP, VERY_DEEP);
    end_log();
    ran = RUN(&cmd_profile, "profile", "--format=folded", made);
    assert_int_equal(ran.status, CLI_OK);
    for (at = ran.out; (at = strchr(at, ';')); at++)
        frames++;
    assert_int_equal(frames, VERY_DEEP);
    assert_int_equal(strncmp(ran.out, "A:B();A:B();", strlen("A:B();A:B();")), 0);
    assert_string_equal(strrchr(ran.out, ';'), ";A:B() 1\n");
    free(ran.out);
    json = printed(PROFILE(made));
    assert_int_equal(json_array_size(json_object_get(json, "stacks")), VERY_DEEP);
    json_decref(json);
}

/* A recursion that allocates at each of its levels, every time at another place. */
TEST(output_and_memory_grow_with_the_tree_not_with_depth, begin_log, remove_log)
{
    size_t size, most;
    ptrdiff_t before;
    struct ran ran;
    json_t *json;

    line_method(1, "Deep.Program.Walk(Deep.Node)");
    for (unsigned i = 0; i < DEEP; i++) {
        line_node(i + 1, i, 1, i);
        line_alloc(i + 1, i);
    }
    size = end_log();
    heap_begin();
    before = heap_held;
    ran = REPORT("--jobs=1", made);
    most = heap_peak(before);
    assert_in_range(strlen(ran.out), DEEP, 3 * size);
#ifndef __SANITIZE_THREAD__
    assert_in_range(most, DEEP, 8u << 20);
#endif
    json = printed(ran);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), DEEP);
    assert_in_range(json_array_size(json_object_get(json, "stacks")), DEEP, 2 * DEEP);
    json_decref(json);
}

TEST(a_tree_has_all_its_levels_unless_depth_limits_them, begin_log, remove_log)
{
    enum { LEVELS = 20 };
    char name[40];
    json_t *json;

    for (unsigned i = 0; i < LEVELS; i++) {
        snprintf(name, sizeof(name), "App.Program.Level%u()", i);
        line_method(i + 1, name);
        line_node(i + 1, i, i + 1, 3);
    }
    line_alloc(LEVELS, 3);
    end_log();
    json = printed(REPORT("--view=tree", made));
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 1 + LEVELS); /* and (all) */
    json_decref(json);
    json = printed(REPORT("--view=tree", "--depth=3", made));
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 1 + 3);
    json_decref(json);
}
