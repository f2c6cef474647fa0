/*
 * retained: heap.ndjson beside a dump that is made up here, so small that what it holds can be
 * added up by hand. Sizes: an array of 100 units, nodes of 4, orders of 10, texts of 5, the loose
 * one of 7; in bytes times 8.
 *
 *   (static) array -> node 1 -> node 2 -> node 3 -> node 4 -> node 5     (a list)
 *   node n -> order n -> text n; each order also -> the shared text
 *   (stack of Main) order 6 -> the shared text;  (weak) and nothing else -> the loose one
 *   order 1 is the key of a pair whose value is a byte[]
 */
#include "unit/cli/command_support.h"

#include "support/test.h"
#include "unit/heap/made_heap.h"

#include "retained/retained.h"
#include "validate/schema.h"

#include <jansson.h>
#include <stdio.h>

#define LOG           FIXTURES "heap.ndjson"
#define SYMBOLS       "--symbols=tests/fuzz/corpus/symbols"
#define RETAINED(...) RUN(&cmd_retained, "retained", __VA_ARGS__)

#define ARRAY    UINT64_C(0x7f0000000000)
#define NODE(n)  (ARRAY + 0x1000 + 0x100 * (uint64_t)(n))
#define ORDER(n) (NODE(n) + 32)
#define TEXT(n)  (ORDER(n) + 80)
#define SHARED   (ARRAY + 0x4000)
#define LOOSE    (SHARED + 40)
#define VALUE    (LOOSE + 56)

enum { STRING = 1, BYTES, ORDER_CLASS, NODE_CLASS, OBJECTS, ONLY_DUMP };

static char dump[64];

static void put_orders(struct made_heap *m)
{
    for (unsigned n = 1; n <= 6; n++) {
        if (n <= 5)
            made_object(m, NODE(n), NODE_CLASS, 4, (const uint64_t[]){ORDER(n), NODE(n + 1)},
                        n < 5 ? 2 : 1);
        made_object(m, ORDER(n), ORDER_CLASS, 10, (const uint64_t[]){SHARED, TEXT(n)},
                    n < 6 ? 2 : 1);
        if (n <= 5)
            made_object(m, TEXT(n), STRING, 5, NULL, 0);
    }
}

static void make(struct made_heap *m, const char *path)
{
    made_begin(m, 100);
    made_object(m, ARRAY, OBJECTS, 100, (const uint64_t[]){NODE(1)}, 1);
    put_orders(m);
    made_object(m, SHARED, STRING, 5, NULL, 0);
    made_object(m, LOOSE, ONLY_DUMP, 7, NULL, 0);
    made_object(m, VALUE, ONLY_DUMP, 3, NULL, 0);
    made_root(m, ARRAY, SST_HEAP_ROOT_STATIC, SST_HEAP_ROOT_PINNING, 2);
    made_root(m, ORDER(6), SST_HEAP_ROOT_STACK, 0, 1);
    made_root(m, LOOSE, SST_HEAP_ROOT_HANDLE, SST_HEAP_ROOT_WEAK, 0);
    made_pair(m, ORDER(1), VALUE);
    for (unsigned n = 1; n <= 6; n++) {
        if (n <= 5)
            made_site(m, NODE(n), 1);
        made_site(m, ORDER(n), 2);
        if (n <= 5)
            made_site(m, TEXT(n), 3);
    }
    made_site(m, SHARED, 4);
    made_site(m, VALUE, 99); /* no line of the log says what that is */
    for (uint32_t id = 1; id <= 5; id++)
        made_name(m, SST_HEAP_CLASSES, id, id, "");
    made_name(m, SST_HEAP_CLASSES, ONLY_DUMP, 0, "Older.Than<System.Int32>");
    made_name(m, SST_HEAP_NAMES, 1, 1, "");
    made_name(m, SST_HEAP_NAMES, 2, 0, "Shop.Cache.all");
    made_end(m);
    made_write(m, path);
}

static int write_dump(void **state)
{
    struct made_heap m;

    (void)state;
    snprintf(dump, sizeof(dump), "/tmp/shadowtrace-retained-%d", (int)getpid());
    make(&m, dump);
    made_free(&m);
    return 0;
}

static int remove_dump(void **state)
{
    (void)state;
    unlink(dump);
    return 0;
}

TEST_GROUP(write_dump, remove_dump);

/* The row of an array whose member `key` is `value`. */
static const json_t *row(const json_t *json, const char *array, const char *key, const char *value)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(json, array), i, one)
    {
        const char *text = json_string_value(json_object_get(one, key));

        if (text && strcmp(text, value) == 0)
            return one;
    }
    fail_msg("no row of %s in %s", value, array);
    return NULL;
}

static void expect_sum(const json_t *row, json_int_t objects, json_int_t units,
                       json_int_t retained_objects, json_int_t retained_units)
{
    assert_int_equal(number(row, "objects"), objects);
    assert_int_equal(number(row, "bytes"), 8 * units);
    assert_int_equal(number(row, "retained_objects"), retained_objects);
    assert_int_equal(number(row, "retained_bytes"), 8 * retained_units);
}

TEST(text_is_as_expected)
{
    expect_ran(RETAINED(SYMBOLS, LOG, dump), CLI_OK, FIXTURES "heap.retained.txt");
    expect_ran(RETAINED("--no-lines", "--top=2", "--names=full", LOG, dump), CLI_OK,
               FIXTURES "heap.retained-top.txt");
    expect_ran(RETAINED(SYMBOLS, "--type=Order", LOG, dump), CLI_OK,
               FIXTURES "heap.retained-type.txt");
    expect_ran(RETAINED(SYMBOLS, "--type=*Than*", "--type=string", LOG, dump), CLI_OK,
               FIXTURES "heap.retained-types.txt");
    expect_ran(RETAINED(SYMBOLS, "--type=*Node*", "--format=json", LOG, dump), CLI_OK,
               FIXTURES "heap.retained-node.json");
}

/* Objects of the schema hold no member that it does not name. */
static struct report_schema *schema_new(void)
{
    json_t *json = json_load_file("include/shadowtrace/report_schema.json", 0, NULL), *one;
    struct report_schema *schema;
    const char *name;
    char *text, why[200];

    assert_non_null(json);
    json_object_foreach(json_object_get(json, "$defs"), name, one)
    {
        if (json_object_get(one, "properties"))
            json_object_set_new(one, "additionalProperties", json_false());
    }
    text = json_dumps(json, 0);
    if (report_schema_new(text, strlen(text), &schema, why, sizeof(why)))
        fail_msg("%s", why);
    free(text);
    json_decref(json);
    return schema;
}

TEST(json_is_as_the_schema_says)
{
    static const char *const types[] = {"--top=0", "--type=Order", "--type=*Than*",
                                        "--type=*Node*"};
    struct report_schema *schema = schema_new();
    char why[400];

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        json_t *json = printed(RETAINED(SYMBOLS, "--format=json", types[i], LOG, dump));

        if (!report_schema_check(schema, json, why, sizeof(why)))
            fail_msg("%s: %s", types[i], why);
        json_object_set_new(json, "unheard_of", json_true());
        assert_false(report_schema_check(schema, json, why, sizeof(why)));
        json_decref(json);
    }
    report_schema_free(schema);
}

TEST(each_type_retains_what_only_its_objects_hold)
{
    json_t *json = printed(RETAINED("--no-lines", "--format=json", LOG, dump));
    const json_t *total = json_object_get(json, "total");

    assert_int_equal(number(total, "objects"), 19);
    assert_int_equal(number(total, "bytes"), 8 * (100 + 5 * 4 + 6 * 10 + 5 * 5 + 5 + 3));
    assert_int_equal(number(total, "loose_objects"), 1);
    assert_int_equal(number(total, "loose_bytes"), 8 * 7);
    assert_int_equal(number(json, "roots"), 2);
    expect_sum(row(json, "types", "type", "System.Object[]"), 1, 100, 1 + 5 * 3 + 1,
               100 + 5 * (4 + 10 + 5) + 3);
    /* node 1 holds all others: it alone counts */
    expect_sum(row(json, "types", "type", "Shop.Cache.Node<Shop.Order>"), 5, 5 * 4, 5 * 3 + 1,
               5 * (4 + 10 + 5) + 3);
    expect_sum(row(json, "types", "type", "Shop.Order"), 6, 6 * 10, 6 + 5 + 1, 6 * 10 + 5 * 5 + 3);
    expect_sum(row(json, "types", "type", "System.String"), 6, 6 * 5, 6, 6 * 5);
    expect_sum(row(json, "types", "type", "Older.Than<System.Int32>"), 1, 3, 1, 3);
    assert_int_equal(json_array_size(json_object_get(json, "types")), 5);
    expect_sum(row(json, "lines", "method", "Shop.Basket.Add(System.String)"), 6, 60, 12, 88);
    json_decref(json);
}

TEST(what_all_of_a_type_hold_together_is_more)
{
    json_t *json = printed(RETAINED("--no-lines", "--format=json", "--type=Order", LOG, dump));
    const json_t *asked = json_object_get(json, "asked"), *paths = json_object_get(json, "paths");

    expect_sum(asked, 6, 60, 12, 88);
    assert_int_equal(number(asked, "together_objects"), 13); /* with the shared text */
    assert_int_equal(number(asked, "together_bytes"), 8 * (88 + 5));
    assert_int_equal(number(json, "path_count"), 2);
    assert_int_equal(json_array_size(paths), 2);
    expect_sum(json_array_get(paths, 0), 5, 50, 11, 78); /* of the list: one shape */
    assert_int_equal(json_array_size(json_object_get(json_array_get(paths, 0), "steps")), 3);
    expect_sum(json_array_get(paths, 1), 1, 10, 1, 10);
    json_decref(json);
}

TEST(lines_choose_objects)
{
    json_t *json = printed(RETAINED(SYMBOLS, "--format=json", LOG, dump)), *chosen;
    const json_t *line = json_array_get(json_object_get(json, "lines"), 0);
    const char *file = json_string_value(json_object_get(line, "file"));
    char word[300];

    assert_non_null(file);
    snprintf(word, sizeof(word), "--line=%s:%d", strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
             (int)number(line, "line"));
    chosen = printed(RETAINED(SYMBOLS, "--format=json", word, LOG, dump));
    assert_int_equal(number(json_object_get(chosen, "asked"), "retained_bytes"),
                     number(line, "retained_bytes"));
    assert_int_equal(number(json_object_get(chosen, "asked"), "objects"), number(line, "objects"));
    json_decref(chosen);
    json_decref(json);
    expect_complaint(RETAINED(SYMBOLS, "--line=None.cs:1", LOG, dump), CLI_USAGE,
                     "no live object was allocated at \"None.cs:1\"");
    expect_complaint(RETAINED(SYMBOLS, word, "--type=*Object*", LOG, dump), CLI_USAGE,
                     "no live object has such a type and was allocated at such a line");
}

TEST(ids_of_another_recording_mean_nothing)
{
    char both[80], line[2000];
    FILE *to, *from = fopen(LOG, "r");
    json_t *json;

    snprintf(both, sizeof(both), "%s.ndjson", dump);
    to = fopen(both, "w");
    assert_true(from && to);
    fputs("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":9,"
          "\"executable\":\"/usr/bin/dotnet\",\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"clock\":"
          "5,\"started\":\"2026-11-21T09:00:00Z\"}\n"
          "{\"kind\":\"class\",\"id\":3,\"name\":\"Wrong\"}\n"
          "{\"kind\":\"live_site\",\"id\":99,\"node\":0,\"class\":3}\n",
          to); /* 99 is a site of the dump that its own recording does not define */
    while (fgets(line, sizeof(line), from))
        fputs(line, to);
    fclose(from);
    fclose(to);
    json = printed(RETAINED("--no-lines", "--format=json", both, dump));
    expect_sum(row(json, "types", "type", "Shop.Order"), 6, 60, 12, 88);
    assert_int_equal(number(json, "line_count"), 5);
    expect_sum(json_array_get(json_object_get(json, "lines"), 4), 2, 103, 17, 198);
    json_decref(json);
    unlink(both);
}

TEST(what_cannot_be_read_is_one_line)
{
    char cut[80];
    struct made_heap m;

    expect_complaint(
        RETAINED(LOG, "/tmp/shadowtrace-none"), CLI_IO,
        "/tmp/shadowtrace-none does not exist, and the program has ended; `shadowtrace "
        "record --live --heap-at-exit heap.heap -- COMMAND` writes one");
    expect_complaint(RETAINED(LOG), CLI_USAGE, "a heap dump is missing");
    expect_complaint(RETAINED(LOG, LOG), CLI_IO, "not a heap dump");
    expect_complaint(RETAINED(LOG, "/tmp"), CLI_IO, "it must be a file");
    expect_complaint(RETAINED("--type=None", LOG, dump), CLI_USAGE, "is of a type \"None\"");
    expect_complaint(RETAINED(FIXTURES "small.ndjson", dump), CLI_USAGE, "of process 4711");
    snprintf(cut, sizeof(cut), "%s-cut", dump);
    make(&m, dump);
    m.file.size -= 3;
    made_write(&m, cut);
    expect_complaint(RETAINED(LOG, cut), CLI_IO, "the heap dump is cut");
    unlink(cut);
    made_free(&m);
}

/* Half of the list, and another array. */
static void make_older(struct made_heap *m, const char *path)
{
    made_begin(m, 100);
    made_object(m, ARRAY, OBJECTS, 100, (const uint64_t[]){NODE(1)}, 1);
    made_object(m, NODE(1), NODE_CLASS, 4, (const uint64_t[]){ORDER(1)}, 1);
    made_object(m, ORDER(1), ORDER_CLASS, 10, (const uint64_t[]){TEXT(1)}, 1);
    made_object(m, TEXT(1), STRING, 5, NULL, 0);
    made_object(m, SHARED, OBJECTS, 5, NULL, 0);
    made_root(m, ARRAY, SST_HEAP_ROOT_STATIC, 0, 2);
    made_root(m, SHARED, SST_HEAP_ROOT_HANDLE, SST_HEAP_ROOT_PINNING, 0);
    for (uint32_t id = 1; id <= 5; id++)
        made_name(m, SST_HEAP_CLASSES, id, id, "");
    made_name(m, SST_HEAP_NAMES, 2, 0, "Shop.Cache.all");
    made_end(m);
    made_write(m, path);
}

static void expect_change(const json_t *json, const char *rows, const char *key, const char *name,
                          uint64_t before, uint64_t after)
{
    const json_t *one = row(json, rows, key, name);

    assert_int_equal(number(json_object_get(one, "old"), "retained_bytes"), 8 * before);
    assert_int_equal(number(json_object_get(one, "new"), "retained_bytes"), 8 * after);
}

TEST(two_dumps_are_compared)
{
    struct report_schema *schema = schema_new();
    char older[80], why[400];
    struct made_heap m;
    json_t *json;

    snprintf(older, sizeof(older), "%s-older", dump);
    make_older(&m, older);
    made_free(&m);
    json = printed(RETAINED("--diff", older, "--no-lines", "--format=json", LOG, dump));
    if (!report_schema_check(schema, json, why, sizeof(why)))
        fail_msg("%s", why);
    expect_change(json, "types", "type", "Shop.Order", 15, 88);
    expect_change(json, "types", "type", "System.Object[]", 124, 198);
    expect_change(json, "paths", "path", "a pinned handle -> System.Object[]", 5, 0);
    json_decref(json);
    expect_ran(RETAINED("--diff", older, "--no-lines", LOG, dump), CLI_OK,
               FIXTURES "heap.retained-diff.txt");
    expect_complaint(RETAINED("--diff", older, "--type=Order", LOG, dump), CLI_USAGE,
                     "without --type");
    expect_complaint(RETAINED("--diff-log", LOG, LOG, dump), CLI_USAGE, "needs --diff");
    expect_complaint(RETAINED("--diff", "/tmp/shadowtrace-none", LOG, dump), CLI_IO,
                     "does not exist");
    report_schema_free(schema);
    unlink(older);
}
