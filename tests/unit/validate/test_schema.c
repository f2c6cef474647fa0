#include "validate/schema.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <shadowtrace/log_counters.h>
#include <shadowtrace/log_reader.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

static char why[200];

static bool holds(const char *schema_text, const char *value_text)
{
    struct report_schema *schema;
    json_t *value = json_loads(value_text, JSON_DECODE_ANY, NULL);
    bool result;

    assert_non_null(value);
    if (report_schema_new(schema_text, strlen(schema_text), &schema, why, sizeof(why)))
        fail_msg("%s: %s", schema_text, why);
    result = report_schema_check(schema, value, why, sizeof(why));
    report_schema_free(schema);
    json_decref(value);
    return result;
}

#define HOLDS(schema, value) assert_true(holds(schema, value))
#define FAILS(schema, value, words) \
    do { \
        assert_false(holds(schema, value)); \
        assert_string_equal(why, words); \
    } while (0)

TEST(each_keyword_holds_and_fails)
{
    HOLDS("true", "5");
    FAILS("false", "5", "may not be there");
    HOLDS("{\"type\":\"integer\"}", "5");
    HOLDS("{\"type\":\"integer\"}", "5.0");
    FAILS("{\"type\":\"integer\"}", "5.5", "must be of type integer");
    HOLDS("{\"type\":[\"string\",\"null\"]}", "null");
    FAILS("{\"type\":[\"string\",\"null\"]}", "true", "must be of type null");
    HOLDS("{\"type\":\"boolean\"}", "false");
    HOLDS("{\"type\":\"number\"}", "5");
    FAILS("{\"const\":\"x\"}", "\"y\"", "must be \"x\"");
    FAILS("{\"const\":1}", "2", "must be 1");
    HOLDS("{\"const\":1}", "1.0");
    HOLDS("{\"enum\":[\"a\",3,null]}", "3");
    FAILS("{\"enum\":[\"a\",3,null]}", "\"b\"", "may not be \"b\"");
    FAILS("{\"minimum\":1}", "0", "is below 1");
    HOLDS("{\"minimum\":1}", "\"text\"");
    FAILS("{\"maximum\":9007199254740991}", "9007199254740992", "is above 9007199254740991");
    HOLDS("{\"multipleOf\":8}", "24");
    FAILS("{\"multipleOf\":8}", "25", "is not a multiple of 8");
    FAILS("{\"minLength\":2}", "\"\xC3\xA4\"", "has less than 2 characters");
    HOLDS("{\"minLength\":2}", "\"\xC3\xA4\xC3\xA4\"");
    HOLDS("{\"pattern\":\"^0x[0-9a-f]{2}$\"}", "\"0x1f\"");
    FAILS("{\"pattern\":\"^0x[0-9a-f]{2}$\"}", "\"0x1F\"", "does not have the form it must have");
    FAILS("{\"minItems\":1}", "[]", "has less than 1 elements");
    FAILS("{\"maxItems\":1}", "[1,2]", "has more than 1 elements");
    FAILS("{\"items\":{\"type\":\"string\"}}", "[\"a\",[]]", "[1] must be of type string");
    FAILS("{\"required\":[\"a\"]}", "{\"b\":1}", "lacks the member \"a\"");
    FAILS("{\"properties\":{\"a\":{\"items\":{\"minimum\":3}}}}", "{\"a\":[4,2]}",
          "a[1] is below 3");
    HOLDS("{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}");
    FAILS("{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"b\":1}",
          "b may not be there");
    FAILS("{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"b\":\"1\"}",
          "b must be of type integer");
    FAILS("{\"not\":{\"type\":\"string\"}}", "\"x\"", "has a value it may not have");
    HOLDS("{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "7");
    FAILS("{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "3", "must be of type string");
    HOLDS("{\"oneOf\":[{\"type\":\"string\"},{\"minimum\":5,\"type\":\"integer\"}]}", "7");
    FAILS("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}", "7",
          "has more than one of the allowed forms");
    FAILS("{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "7",
          "has none of the allowed forms");
    HOLDS("{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"type\":\"integer\"}}}", "7");
    FAILS("{\"$ref\":\"#/$defs/x\",\"minimum\":8,\"$defs\":{\"x\":{\"type\":\"integer\"}}}", "7",
          "is below 8");
}

TEST(the_complaint_is_of_the_branch_the_value_chose)
{
    static const char schema[] =
        "{\"oneOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"}],\"$defs\":{"
        "\"a\":{\"properties\":{\"kind\":{\"const\":\"a\"},\"n\":{\"minimum\":1}}},"
        "\"b\":{\"properties\":{\"kind\":{\"const\":\"b\"},\"n\":{\"minimum\":9}}}}}";

    HOLDS(schema, "{\"kind\":\"a\",\"n\":1}");
    FAILS(schema, "{\"kind\":\"a\",\"n\":0}", "n is below 1");
    FAILS(schema, "{\"kind\":\"b\",\"n\":5}", "n is below 9");
    FAILS(schema, "{\"kind\":\"c\",\"n\":5}", "has none of the allowed forms");
}

TEST(a_schema_may_lead_to_itself)
{
    static const char tree[] =
        "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":"
        "{\"child\":{\"$ref\":\"#/$defs/t\"}}}}}";

    HOLDS(tree, "{\"child\":{\"child\":{}}}");
    FAILS(tree, "{\"child\":{\"child\":5}}", "child.child must be of type object");
    FAILS("{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"$ref\":\"#/$defs/t\"}}}", "1",
          "is nested too deeply");
}

TEST(what_is_not_understood_is_refused)
{
    static const char *const schemas[][2] = {
        {"", "line 1"},
        {"5", "a schema is an object"},
        {"[]", "a schema is an object"},
        {"{\"if\":{}}", "not understood here: if"},
        {"{\"type\":\"float\"}", "unknown type: float"},
        {"{\"type\":[[\"string\"]]}", "unknown type"},
        {"{\"$ref\":\"#/$defs/none\"}", "$ref leads nowhere"},
        {"{\"$ref\":\"http://elsewhere\"}", "$ref leads nowhere"},
        {"{\"pattern\":\"(\"}", "pattern cannot be used"},
        {"{\"minimum\":\"1\"}", "no number: minimum"},
        {"{\"minItems\":-1}", "no size: minItems"},
        {"{\"oneOf\":[]}", "want a list"},
        {"{\"properties\":[]}", "properties wants an object"},
        {"{\"items\":5}", "a schema is an object"},
        {"{\"enum\":5}", "not understood here: enum"},
        {"{\"a\":1,\"a\":2}", "duplicate"},
    };

    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        struct report_schema *schema;

        assert_int_equal(
            report_schema_new(schemas[i][0], strlen(schemas[i][0]), &schema, why, sizeof(why)),
            -EINVAL);
        assert_null(schema);
        if (!strstr(why, schemas[i][1]))
            fail_msg("%s: %s", schemas[i][0], why);
    }
}

TEST(the_schema_built_in_is_the_one_that_ships)
{
    size_t size;
    char *text = memory_log_file("include/shadowtrace/log_schema.json", &size);
    struct report_schema *schema;

    assert_int_equal(report_schema_size(), size);
    assert_memory_equal(report_schema_text, text, size);
    assert_int_equal(report_schema_text[size], 0);
    assert_int_equal(report_schema_new(text, size, &schema, why, sizeof(why)), 0);
    report_schema_free(schema);
    free(text);
}

/* Has an object these members in the schema, in their form, and `others` more? */
static void expect_counters(const json_t *object, const struct sst_counter *counters, size_t count,
                            size_t others)
{
    static const char *const refs[] = {"#/$defs/count", "#/$defs/count", "#/$defs/counts", NULL};
    const json_t *members = json_object_get(object, "properties");

    for (size_t i = 0; i < count; i++) {
        const json_t *member = json_object_get(members, counters[i].key);
        const char *ref = json_string_value(json_object_get(member, "$ref"));

        if (!member || (refs[counters[i].form] && (!ref || strcmp(ref, refs[counters[i].form]))))
            fail_msg("the schema has no %s, or of another form", counters[i].key);
    }
    assert_int_equal(json_object_size(members), count + others);
}

#define EXPECT_COUNTERS(object, list, others) \
    do { \
        static const struct sst_counter counters[] = {list(SST_COUNTER)}; \
\
        expect_counters(object, counters, COUNT_OF(counters), others); \
    } while (0)

TEST(every_counter_is_in_the_schema)
{
#define REGISTER(list, member, label) {SST_FORM_BY, #member, label},
    static const struct sst_counter registers[] = {SST_REGISTERS(REGISTER)};
    json_t *schema = json_load_file("include/shadowtrace/log_schema.json", 0, NULL);
    const json_t *defs = json_object_get(schema, "$defs"), *end = json_object_get(defs, "end");
    const json_t *check = json_object_get(defs, "check");
    const json_t *of = json_object_get(check, "properties");

    EXPECT_COUNTERS(check, SST_COUNTERS_SNAPSHOTS, 14);
    EXPECT_COUNTERS(json_object_get(json_object_get(end, "properties"), "snapshots"),
                    SST_COUNTERS_SNAPSHOTS, 0);
    EXPECT_COUNTERS(json_object_get(of, "instructions"), SST_COUNTERS_INSTRUCTIONS, 0);
    EXPECT_COUNTERS(json_object_get(of, "threads"), SST_COUNTERS_THREADS, 0);
    EXPECT_COUNTERS(json_object_get(of, "seeds"), SST_COUNTERS_SEEDS, 0);
    EXPECT_COUNTERS(json_object_get(of, "calls"), SST_COUNTERS_CALLS, 0);
    EXPECT_COUNTERS(json_object_get(of, "live"), SST_COUNTERS_LIVE, 0);
    EXPECT_COUNTERS(json_object_get(defs, "check_thread"), SST_COUNTERS_CHECK_THREAD, 3);
    expect_counters(json_object_get(of, "registers"), registers, COUNT_OF(registers), 0);
    json_decref(schema);
}

static bool listed(const json_t *list, const char *word)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (strcmp(json_string_value(one), word) == 0)
            return true;
    }
    return false;
}

static const json_t *member(const json_t *schema, const char *kind, const char *key)
{
    const json_t *definition = json_object_get(json_object_get(schema, "$defs"), kind);

    return json_object_get(json_object_get(definition, "properties"), key);
}

TEST(schema_and_header_have_the_same_words)
{
    json_t *schema = json_loadb(report_schema_text, report_schema_size(), 0, NULL);
    const json_t *later =
        json_object_get(json_object_get(member(schema, "later", "kind"), "not"), "enum");
    const json_t *heaps =
        json_object_get(json_object_get(json_object_get(schema, "$defs"), "heap"), "enum");
    const json_t *calls = json_object_get(member(schema, "node", "call"), "enum");
    const json_t *causes = json_object_get(member(schema, "mismatch", "cause"), "enum");

#define KIND(name, text) \
    assert_true(listed(later, text)); \
    assert_string_equal(json_string_value(json_object_get(member(schema, text, "kind"), "const")), \
                        text);
    SST_KINDS(KIND)
#define HEAP(name, text) assert_true(listed(heaps, text));
    SST_HEAPS(HEAP)
#define CALL(name, text) assert_true(listed(calls, text));
    SST_CALLS(CALL)
#define CAUSE(name, text) assert_true(listed(causes, text));
    SST_CAUSES(CAUSE)
    assert_int_equal(json_array_size(later), SST_KIND_COUNT - 1);
    assert_int_equal(json_array_size(heaps), SST_HEAP_COUNT - 1);
    assert_int_equal(json_array_size(calls), SST_CALL_COUNT - 1);
    assert_int_equal(json_array_size(causes), SST_CAUSE_COUNT - 1);
    assert_int_equal(
        json_integer_value(json_object_get(member(schema, "header", "version"), "const")),
        SST_LOG_VERSION);
    json_decref(schema);
}

TEST(running_out_of_memory_is_said)
{
    struct report_schema *schema = NULL;
    long n = 0;
    int err;

    do {
        memory_fail_after(n++);
        err =
            report_schema_new(report_schema_text, report_schema_size(), &schema, why, sizeof(why));
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
    } while (err);
    assert_true(n > 50);
    report_schema_free(schema);
}
