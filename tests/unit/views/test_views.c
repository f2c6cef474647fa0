/*
 * Every view of every log: its sums are the log's, its JSON is as the schema says, its text fits;
 * and what each of them says of a log whose numbers are known.
 */
#include "base/atomics.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"
#include "unit/cli/command_support.h"
#include "unit/readers/memory_log.h"
#include "validate/schema.h"

#include <jansson.h>

#define REPORT(...) RUN(&cmd_report, "report", __VA_ARGS__)
#define JSON(...)   RUN(&cmd_report, "report", "--format=json", __VA_ARGS__)

static const char *const logs[] = {
    "small", "mismatch",    "sites",       "sampled",  "inline",       "damaged",
    "marks", "dynamic",     "native",      "newer",    "sections",     "two",
    "lines", "lines-newer", "shop-events", "shop-jit", "shop-profile", "own"};

/* Views whose rows add up to the total. */
static const char *const views[] = {"overview", "tree",    "sites",      "types",   "methods",
                                    "lines",    "modules", "namespaces", "threads", "sizes",
                                    "time",     "own",     "processes"};

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
    static const char *const says[] = {"record without --log sites",
                                       "record without --stacks inline",
                                       "record without --no-lines", "--symbols DIR says where"};

    for (size_t i = 0; i < COUNT_OF(says) && ran->status == CLI_USAGE; i++)
        if (strstr(ran->err, says[i])) {
            assert_string_equal(ran->out, "");
            free(ran->out);
            return true;
        }
    return false;
}

static void expect_sums(const char *log, const char *view)
{
    struct ran ran = JSON("--view", view, fixture(log));
    json_t *json, *same, *rows, *total, *expected;
    bool estimated;

    if (refused(&ran)) {
        assert_true(strcmp(view, "time") == 0 || strcmp(view, "threads") == 0 ||
                    strcmp(view, "modules") == 0 || strcmp(view, "lines") == 0);
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
            struct ran ran = JSON("--view", views[k], bounds[i][0], bounds[i][1], fixture("marks"));
            json_t *json;

            if (refused(&ran))
                continue;
            json = loaded(ran, views[k]);

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
    expect_ran(REPORT("--symbols=tests/fuzz/corpus/symbols", fixture("own-lines")), CLI_OK,
               FIXTURES "own-lines.view-overview.txt");
    /* Its rows stay in order, whatever --top moves in other views. */
    expect_ran(REPORT("--top=1", "tests/fixtures/browse/shop.ndjson"), CLI_OK,
               FIXTURES "shop.overview-top.txt");
    expect_ran(REPORT("--by=own", "--top=1", "tests/fixtures/browse/shop.ndjson"), CLI_OK,
               FIXTURES "shop.by-own-top.txt");
    expect_ran(REPORT("--view=tree", "--no-own", fixture("own-lines")), CLI_OK,
               FIXTURES "own-lines.tree-no-own.txt");
    expect_ran(REPORT(fixture("sampled")), CLI_OK, FIXTURES "sampled.view-overview.txt");
    expect_ran(REPORT("--view=types", fixture("sampled")), CLI_OK,
               FIXTURES "sampled.view-types.txt");
    expect_ran(REPORT(fixture("late-sampled")), CLI_OK, FIXTURES "late-sampled.view-overview.txt");
    expect_ran(REPORT("--by=type", fixture("late-sampled")), CLI_OK,
               FIXTURES "late-sampled.report-type.txt");
    expect_ran(REPORT("--view=types", "--format=json", fixture("late-sampled")), CLI_OK,
               FIXTURES "late-sampled.view-types.json");
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

static const char *const by_keys[] = {"site", "type", "method", "thread", "module", "line", "own"};

TEST(filters_let_through_the_same_by_every_key_and_in_every_view)
{
    static const char *const some[][2] = {
        {"--type=string", "--steady"},
        {"--type=*String", "--type=System.Byte[]"},
        {"--method=*Concat*", "--method=Shop.Basket.Add<T>"},
        {"--exclude=System.Byte[]", "--exclude=*.Concat*"},
        {"--below=*Basket.Add*", "--type=string"},
        {"--own", "--own-code=shop"},
        {"--own", "--own-code=System.*"},
        {"--thread=1", "--exclude=byte[]"},
        {"--thread=2", "--below=Basket.Add*"},
        {"--min-share=10%", "--exclude=string"},
        {"--sort=allocs", "--below=*Main*"},
    };

    for (size_t i = 0; i < COUNT_OF(some); i++) {
        json_t *view =
            loaded(JSON("--view=types", some[i][0], some[i][1], fixture("small")), "view");
        const json_t *total = json_object_get(view, "total");

        for (size_t k = 0; k < COUNT_OF(by_keys); k++) {
            json_t *by = loaded(JSON("--by", by_keys[k], some[i][0], some[i][1], fixture("small")),
                                by_keys[k]);

            if (!json_equal(json_object_get(by, "total"), total))
                fail_msg("--by %s %s %s: %lld bytes, not %lld", by_keys[k], some[i][0], some[i][1],
                         (long long)integer(json_object_get(by, "total"), "bytes"),
                         (long long)integer(total, "bytes"));
            if (strncmp(some[i][0], "--min-share", 11) != 0)
                assert_int_equal(sum(json_object_get(by, "rows"), "bytes"),
                                 integer(total, "bytes"));
            json_decref(by);
        }
        json_decref(view);
    }
}

TEST(rows_by_a_key_are_sorted_cut_and_begin_where_they_are_told)
{
    expect_ran(REPORT("--by=site", "--below=Basket.Add*", "--sort=allocs", fixture("small")),
               CLI_OK, FIXTURES "small.report-below.txt");
    expect_ran(REPORT("--by=type", "--sort=allocs", "--min-share=0.1%", "--exclude=*.List*",
                      fixture("small")),
               CLI_OK, FIXTURES "small.report-sorted.txt");
    expect_ran(REPORT("--format=folded", "--below=Basket.Add*", fixture("small")), CLI_OK,
               FIXTURES "small.report-below.folded");
}

/* The outermost method of a row's stack, in tables or in the row. */
static const char *outermost(const json_t *report, const json_t *row)
{
    const json_t *stacks = json_object_get(report, "stacks"), *stack = json_object_get(row, "stack");

    if (!stacks)
        return json_string_value(json_array_get(stack, json_array_size(stack) - 1));
    for (const json_t *at = stack; json_is_integer(at); at = json_object_get(stack, "parent"))
        stack = json_array_get(stacks, (size_t)json_integer_value(at));
    return json_string_value(
        json_object_get(json_array_get(json_object_get(report, "frames"),
                                       (size_t)integer(stack, "frame")),
                        "method"));
}

TEST(stacks_in_json_begin_where_they_are_told)
{
    static const char *const forms[] = {"--top=100", "--inline-stacks"};

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        json_t *json =
            loaded(JSON("--by=site", "--below=Basket.Add*", forms[i], fixture("small")), forms[i]);
        const json_t *rows = json_object_get(json, "rows");

        assert_int_equal(json_array_size(rows), 2);
        for (size_t row = 0; row < json_array_size(rows); row++)
            assert_string_equal(outermost(json, json_array_get(rows, row)),
                                "Shop.Basket.Add<T>(System.String, T)");
        json_decref(json);
    }
}

/* Scripts count what is not there, too: that is no row, and a line that says so. */
TEST(a_type_that_is_not_there_has_no_rows_by_any_key)
{
    for (size_t k = 0; k < COUNT_OF(by_keys) - 1; k++) {
        struct ran ran = JSON("--by", by_keys[k], "--type=Strin", fixture("small"));
        json_t *json;

        assert_non_null(strstr(ran.err, "no type matches \"Strin\"; did you mean"));
        json = loaded(ran, by_keys[k]);
        assert_int_equal(json_array_size(json_object_get(json, "rows")), 0);
        assert_int_equal(integer(json_object_get(json, "total"), "bytes"), 0);
        json_decref(json);
    }
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

TEST(where_only_own_code_has_hooks_nobody_says_that_no_managed_code_allocated)
{
    static const char *const shown[] = {"--by=site",      "--by=method",       "--by=module",
                                        "--view=methods", "--view=modules",    "--view=sites",
                                        "--view=tree",    "--view=namespaces", "--format=folded"};
    json_t *json;

    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        struct ran ran = REPORT(shown[i], fixture("own"));

        assert_int_equal(ran.status, CLI_OK);
        if (!strstr(ran.out, "(no own frame)") || strstr(ran.out, "(no managed frame)"))
            fail_msg("%s: %s", shown[i], ran.out);
        free(ran.out);
    }
    json = loaded(JSON("--view=methods", fixture("own")), "methods");
    assert_true(
        json_is_null(json_object_get(json_array_get(json_object_get(json, "rows"), 0), "method")));
    json_decref(json);
}

TEST(rows_can_be_sorted_by_objects)
{
    json_t *json = loaded(JSON("--view=types", "--sort=allocs", fixture("small")), "sort");
    const json_t *first = json_array_get(json_object_get(json, "rows"), 0);

    assert_string_equal(json_string_value(json_object_get(first, "type")), "System.String");
    json_decref(json);
}

TEST(every_view_sorts_its_rows_by_objects_or_says_that_it_does_not)
{
    expect_ran(REPORT("--view=tree", "--sort=allocs", "--min-share=0", fixture("small")), CLI_OK,
               FIXTURES "small.view-tree-sorted.txt");
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        struct ran ran = JSON("--view", views[i], "--sort=allocs", fixture("small"));
        json_t *json, *row;
        json_int_t before = INT32_MAX;
        size_t k;

        if (refused(&ran))
            continue;
        if (strcmp(views[i], "time") == 0 || strcmp(views[i], "sizes") == 0) {
            expect_complaint(ran, CLI_USAGE, "--sort does not go with --view");
            continue;
        }
        json = loaded(ran, views[i]);
        json_array_foreach(json_object_get(json, "rows"), k, row)
        {
            bool tree = strcmp(views[i], "tree") == 0;
            json_int_t objects = integer(row, tree ? "total_allocs" : "allocs");

            if (tree && integer(row, "depth") != 1)
                continue;
            if (objects > before)
                fail_msg("%s: row %zu has %lld objects, those above %lld", views[i], k,
                         (long long)objects, (long long)before);
            before = objects;
        }
        json_decref(json);
    }
}

TEST(what_a_log_does_not_have_is_one_clear_line)
{
    expect_complaint(REPORT("--view=time", fixture("sites")), CLI_USAGE,
                     "no times; record without --log sites");
    expect_complaint(REPORT("--from=1ms", fixture("sites")), CLI_USAGE,
                     "record without --log sites");
    expect_complaint(REPORT("--view=lines", fixture("inline")), CLI_USAGE,
                     "does not say which module a method is of; record without --stacks inline");
    expect_complaint(REPORT("--view=lines", fixture("small")), CLI_USAGE,
                     "nothing that allocates has a source line, since no PDB of its modules was "
                     "found; --symbols DIR says where they are");
    expect_complaint(REPORT("--view=lines", "--no-lines", fixture("small")), CLI_USAGE,
                     "--no-lines does not go with --view lines");
    expect_complaint(REPORT("--view=modules", fixture("inline")), CLI_USAGE,
                     "does not say which module a method is of; record without --stacks inline");
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

TEST(a_log_without_allocations_says_why)
{
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        struct ran ran = REPORT("--view", views[i], fixture("shop-jit"));

        assert_int_equal(ran.status, CLI_OK);
        if (!strstr(ran.out, "Allocations were not recorded: `record --events` has to name alloc"))
            fail_msg("%s: %s", views[i], ran.out);
        free(ran.out);
    }
}

/* Its methods have no offsets in their code: nothing tells lines. */
TEST(lines_need_offsets)
{
    char *text = NULL, path[] = "/tmp/shadowtrace-test-lines-XXXXXX";
    size_t size;
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(file_load(fixture("small"), 1 << 20, &text, &size), 0);
    for (char *il = text; (il = strstr(il, ",\"il\":"));)
        for (*il++ = ' '; *il != ',' && *il != '}'; il++)
            *il = ' ';
    assert_int_equal(pwrite(file, text, size, 0), size);
    expect_complaint(REPORT("--view=lines", path), CLI_USAGE,
                     "has no IL offsets, which lines need; record without --no-lines");
    memory_free(text);
    close(file);
    unlink(path);
}

/* Half of a log, and nothing but its header. */
TEST(every_view_marks_a_log_that_is_cut)
{
    static const size_t sizes[] = {2900, 300};
    char *text = NULL, path[] = "/tmp/shadowtrace-test-cut-XXXXXX";
    size_t size;
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(file_load(fixture("small"), 1 << 20, &text, &size), 0);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, text, sizes[i], 0), sizes[i]);
        for (size_t k = 0; k < COUNT_OF(views); k++) {
            struct ran ran = REPORT("--view", views[k], path);
            json_t *json;

            if (refused(&ran))
                continue;
            assert_int_equal(ran.status, CLI_OK);
            if (!strstr(ran.out, "NOT COMPLETE"))
                fail_msg("%s: %s", views[k], ran.out);
            free(ran.out);
            json = loaded(JSON("--view", views[k], path), views[k]);
            assert_true(json_is_false(json_object_get(json_object_get(json, "log"), "complete")));
            json_decref(json);
        }
    }
    memory_free(text);
    close(file);
    unlink(path);
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
    expect_complaint(REPORT("--view=time", "--sort=bytes", "x"), CLI_USAGE,
                     "--sort does not go with --view time: its rows are in the order of their "
                     "times");
    expect_complaint(REPORT("--view=sizes", "--sort=bytes", "x"), CLI_USAGE,
                     "in the order of their sizes");
    expect_complaint(REPORT("--view=types", "--sort=total", "x"), CLI_USAGE,
                     "--sort total does not go with --view types: its rows call nothing");
    expect_complaint(REPORT("--view=threads", "--urls", "x"), CLI_USAGE,
                     "--urls does not go with --view threads: its rows have no lines");
    expect_complaint(REPORT("--by=type", "--sort=total", "x"), CLI_USAGE,
                     "--sort total does not go with --view types");
    expect_complaint(REPORT("--by=type", "--min-share=much", "x"), CLI_USAGE,
                     "--min-share takes a percentage");
    expect_complaint(REPORT("--by=site", "--exclude=Nothing", fixture("small")), CLI_USAGE,
                     "no method or type matches \"Nothing\"");
    expect_complaint(REPORT("--by=site", "--own-code=Nothing", fixture("small")), CLI_USAGE,
                     "Nothing");
    expect_complaint(REPORT("--view=tree", "--inline-stacks", "--format=json", "x"), CLI_USAGE,
                     "--inline-stacks needs --view sites");
}

#define TWO FIXTURES "small.ndjson", FIXTURES "lines.ndjson"

TEST(of_several_logs_each_process_has_a_row)
{
    json_t *both = loaded(JSON("--view=processes", TWO), "both"), *rows, *row;
    const char *const logs_of[] = {"small", "lines"};
    json_int_t bytes = 0;
    size_t i;

    rows = json_object_get(both, "rows");
    assert_int_equal(json_array_size(rows), 2);
    for (size_t k = 0; k < 2; k++) {
        json_t *one = loaded(JSON("--by=type", fixture(logs_of[k])), logs_of[k]);
        json_int_t own = integer(json_object_get(one, "total"), "bytes");
        bool found = false;

        json_array_foreach(rows, i, row) found = found || integer(row, "bytes") == own;
        assert_true(found);
        bytes += own;
        json_decref(one);
    }
    assert_int_equal(integer(json_object_get(both, "total"), "bytes"), bytes);
    json_array_foreach(rows, i, row)
    {
        assert_non_null(json_string_value(json_object_get(row, "process")));
        assert_true(integer(row, "pid") > 0);
    }
    json_decref(both);
    both = loaded(JSON("--view=overview", TWO), "overview");
    assert_int_equal(json_array_size(json_object_get(both, "processes")), 2);
    json_decref(both);
    both = loaded(JSON("--view=overview", FIXTURES "small.ndjson"), "overview of one");
    assert_null(json_object_get(both, "processes"));
    json_decref(both);
}

TEST(process_chooses_logs_by_the_program_that_they_are_of)
{
    json_t *shop = loaded(JSON("--view=processes", "--process=shop", TWO), "shop");
    json_t *all = loaded(JSON("--view=processes", "--process=*", TWO), "all");
    struct ran none = REPORT("--view=types", "--process=nobody", TWO);

    assert_int_equal(json_array_size(json_object_get(shop, "rows")), 1);
    assert_int_equal(json_array_size(json_object_get(all, "rows")), 2);
    assert_int_equal(none.status, CLI_USAGE);
    assert_non_null(strstr(none.err, "no log is of a process \"nobody\"; they are of shop.dll, "));
    json_decref(shop);
    json_decref(all);
    free(none.out);
}

TEST(names_of_processes_reach_no_terminal_as_they_are)
{
    static const char text[] =
        "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":4711,"
        "\"executable\":\"/app/\\u001b[2J\\u202eevil\",\"command\":[\"\\u009b31m\",\"\\r\\n\"],"
        "\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"clock\":1,"
        "\"started\":\"2026-11-21T10:00:00Z\"}\n"
        "{\"kind\":\"thread\",\"id\":1,\"os\":4711}\n"
        "{\"kind\":\"class\",\"id\":1,\"name\":\"Shop.Item\"}\n"
        "{\"kind\":\"alloc\",\"t\":20,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":0}\n";
    char path[] = "/tmp/shadowtrace-views-XXXXXX";
    int fd = mkstemp(path);
    struct ran ran;

    assert_true(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
    close(fd);
    ran = REPORT("--view=processes", path);
    unlink(path);
    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "?[2J?evil (pid 4711)"));
    for (const char *c = ran.out; *c; c++)
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    assert_null(strstr(ran.out, "\u202e"));
    free(ran.out);
}
