/* gate: the budget's file, bounds from what logs had, the difference of two budgets. */
#include "support/test.h"

#include "gate/budget.h"
#include "gate/change.h"
#include "gate/learn.h"
#include "report/align.h"
#include "validate/schema.h"

#include "base/memory.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct budget budget, other;
static char why[400];

static int setup(void **state)
{
    (void)state;
    budget_init(&budget);
    budget_init(&other);
    why[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    budget_free(&budget);
    budget_free(&other);
    return 0;
}

TEST_EACH(setup, teardown);

#define HEAD "{\"budget\":\"shadowtrace\",\"version\":1,\"limits\":["
#define TAIL "]}"

static int parse(const char *text)
{
    budget_free(&budget);
    return budget_parse(text, strlen(text), &budget, why, sizeof(why));
}

#define ALL_KINDS \
    HEAD "{\"of\":\"whole\",\"objects\":{\"max\":5289,\"seen\":[5280,5289]}}," \
         "{\"of\":\"line\",\"method\":\"Shop.Cart.Add()\",\"file\":\"Cart.cs\",\"line\":12," \
         "\"text\":\"new Item();\",\"type\":\"Shop.Item\",\"bytes\":{\"max\":24}}," \
         "{\"of\":\"other lines\",\"objects\":{\"over_baseline\":\"2.5%\"}}," \
         "{\"of\":\"method\",\"method\":\"Shop.*\",\"per\":\"call\",\"objects\":{\"max\":2.5}}," \
         "{\"of\":\"type\",\"type\":\"System.String\",\"per\":\"span\",\"from\":\"a\",\"to\":" \
         "\"b\"," \
         "\"objects\":{\"over_baseline\":3}}," \
         "{\"of\":\"whole\",\"at\":\"warm\",\"live_objects\":{\"max\":1}," \
         "\"live_bytes\":{\"max\":64}}" TAIL

/* As it is written. Owns: the caller's, to be freed with free. */
static char *written(const struct budget *b)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(budget_write(b, out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(a_budget_that_is_written_is_read_as_it_was)
{
    char *first, *second;

    assert_int_equal(parse(ALL_KINDS), 0);
    assert_int_equal(budget.count, 6);
    first = written(&budget);
    assert_int_equal(parse(first), 0);
    second = written(&budget);
    assert_string_equal(first, second);
    assert_true(budget.limits[2].bounds[BUDGET_OBJECTS].percent);
    assert_true(fabs(budget.limits[2].bounds[BUDGET_OBJECTS].over - 2.5) < 1e-12);
    assert_true(fabs(budget.limits[3].bounds[BUDGET_OBJECTS].max - 2.5) < 1e-12);
    assert_false(budget.limits[4].bounds[BUDGET_OBJECTS].percent);
    free(first);
    free(second);
}

TEST(what_is_written_is_what_the_published_schema_says)
{
    json_t *schema = json_load_file("include/shadowtrace/budget_schema.json", 0, NULL), *json;
    char *rules = json_dumps(schema, 0), *text;
    struct report_schema *compiled;

    assert_non_null(rules);
    assert_int_equal(report_schema_new(rules, strlen(rules), &compiled, why, sizeof(why)), 0);
    assert_int_equal(parse(ALL_KINDS), 0);
    text = written(&budget);
    json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!report_schema_check(compiled, json, why, sizeof(why)))
        fail_msg("%s: %s", why, text);
    json_decref(json);
    json_decref(schema);
    report_schema_free(compiled);
    free(rules);
    free(text);
}

TEST(what_is_no_budget_is_refused_with_the_place_and_the_reason)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"", "no JSON"},
        {"[1]", "no budget"},
        {"{\"kind\":\"header\"}", "no budget"},
        {"{\"budget\":\"shadowtrace\",\"version\":2,\"limits\":[]}", "version 2"},
        {"{\"budget\":\"shadowtrace\",\"version\":1}", "limits"},
        {"{\"budget\":\"shadowtrace\",\"version\":1,\"limit\":[],\"limits\":[]}", "limit"},
        {HEAD "{\"of\":\"hole\"}" TAIL, "limits[0].of is \"hole\""},
        {HEAD "{}" TAIL, "limits[0].of is missing"},
        {HEAD "{\"of\":\"whole\"}" TAIL, "no limit"},
        {HEAD "{\"of\":\"whole\",\"objects\":{}}" TAIL, "either max or over_baseline"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"max\":1,\"over_baseline\":1}}" TAIL,
         "either max or over_baseline"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"maximum\":1}}" TAIL, "objects.maximum"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"max\":-1}}" TAIL, "objects.max"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"max\":\"1\"}}" TAIL, "objects.max"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"over_baseline\":\"much\"}}" TAIL, "over_baseline"},
        {HEAD "{\"of\":\"line\",\"objects\":{\"max\":1}}" TAIL, "limits[0]"},
        {HEAD "{\"of\":\"line\",\"method\":\"M\",\"file\":\"src/A.cs\",\"line\":1,"
              "\"objects\":{\"max\":1}}" TAIL,
         "without its folders"},
        {HEAD "{\"of\":\"whole\",\"per\":\"call\",\"objects\":{\"max\":1}}" TAIL, "per call"},
        {HEAD
         "{\"of\":\"method\",\"method\":\"M\",\"per\":\"call\",\"live_bytes\":{\"max\":1}}" TAIL,
         "per call"},
        {HEAD "{\"of\":\"whole\",\"per\":\"span\",\"from\":\"a\",\"objects\":{\"max\":1}}" TAIL,
         "go together"},
        {HEAD "{\"of\":\"whole\",\"from\":\"a\",\"to\":\"b\",\"objects\":{\"max\":1}}" TAIL,
         "go together"},
        {HEAD "{\"of\":\"whole\",\"at\":\"a\",\"objects\":{\"max\":1}}" TAIL, "live objects"},
        {HEAD "{\"of\":\"whole\",\"objects\":{\"max\":1}},"
              "{\"of\":\"whole\",\"objects\":{\"max\":2}}" TAIL,
         "limits[1]: the same limit"},
    };

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (parse(wrong[i].text) != -EINVAL || !strstr(why, wrong[i].why))
            fail_msg("%s: \"%s\" has no \"%s\"", wrong[i].text, why, wrong[i].why);
    }
}

TEST(without_memory_a_budget_is_not_read_and_nothing_is_lost)
{
    int err = -ENOMEM;

    for (long n = 0; err == -ENOMEM || err == -EINVAL; n++) {
        budget_free(&budget);
        memory_fail_after(n);
        err = budget_parse(ALL_KINDS, strlen(ALL_KINDS), &budget, why, sizeof(why));
        memory_fail_after(-1);
    }
    assert_int_equal(err, 0);
    assert_int_equal(budget.count, 6);
}

TEST(what_does_not_vary_gets_no_room_and_what_varies_more_the_fewer_logs_there_are)
{
    assert_true(learn_room(0, 1000, 5) <= 0);
    assert_true(learn_room(10, 100, 5) >= 30);
    assert_true(learn_room(10, 100, 2) > learn_room(10, 100, 5));
    assert_true(learn_room(10, 100, 5) > learn_room(10, 100, 50));
    assert_true(learn_room(1, 10000, 5) >= 200); /* close together by chance */
}

TEST(the_difference_of_two_budgets_is_what_came_went_and_changed)
{
    const char *now = HEAD "{\"of\":\"whole\",\"objects\":{\"max\":6000}},"
                           "{\"of\":\"line\",\"method\":\"Shop.Cart.Add()\",\"file\":\"Cart.cs\","
                           "\"line\":99,\"text\":\"new Item();\",\"type\":\"Shop.Item\","
                           "\"bytes\":{\"max\":24}},"
                           "{\"of\":\"type\",\"type\":\"New\",\"objects\":{\"max\":1}}" TAIL;
    struct gate_changes c;

    assert_int_equal(parse(ALL_KINDS), 0);
    assert_int_equal(budget_parse(now, strlen(now), &other, why, sizeof(why)), 0);
    assert_int_equal(gate_changes_new(&budget, &other, &c), 0);
    /* the whole, the new type; other lines, method, type, two of live: the line only moved */
    assert_int_equal(c.count, 7);
    assert_ptr_equal(c.changes[0].was, &budget.limits[0]);
    assert_ptr_equal(c.changes[0].is, &other.limits[0]);
    assert_null(c.changes[1].was);
    assert_string_equal(c.changes[1].is->type, "New");
    assert_null(c.changes[2].is);
    assert_int_equal(c.changes[2].was->of, BUDGET_OTHER_LINES);
    gate_changes_free(&c);
    assert_int_equal(gate_changes_new(&budget, &budget, &c), 0);
    assert_int_equal(c.count, 0);
    gate_changes_free(&c);
}

/* A budget of lines of one method: {number, text, objects}, ended by a number of 0. */
struct line {
    int number;
    const char *text;
    int objects;
};

static void parse_lines(const struct line *lines, struct budget *out)
{
    char text[2000] = HEAD;

    for (; lines->number; lines++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used,
                 "{\"of\":\"line\",\"method\":\"Shop.Cart.Add()\",\"file\":\"Cart.cs\",\"line\":%d,"
                 "\"text\":\"%s\",\"objects\":{\"max\":%d}}%s",
                 lines->number, lines->text, lines->objects, lines[1].number ? "," : TAIL);
    }
    assert_int_equal(budget_parse(text, strlen(text), out, why, sizeof(why)), 0);
}

TEST(a_line_that_was_edited_is_the_one_it_replaced)
{
    static const struct line was[] = {{7, "a", 1}, {8, "b", 2}, {9, "c", 3}, {0, NULL, 0}},
                             edited[] = {{7, "a", 1}, {9, "b2", 5}, {10, "c", 3}, {0, NULL, 0}},
                             more[] = {{7, "a", 1},
                                       {9, "b2", 5},
                                       {10, "c2", 3},
                                       {11, "d", 4},
                                       {0, NULL, 0}};
    struct gate_changes c;

    parse_lines(was, &budget);
    parse_lines(edited, &other);
    assert_int_equal(gate_changes_new(&budget, &other, &c), 0);
    assert_int_equal(c.count, 1);
    assert_ptr_equal(c.changes[0].was, &budget.limits[1]);
    assert_ptr_equal(c.changes[0].is, &other.limits[1]);
    gate_changes_free(&c);
    budget_free(&other);
    parse_lines(more, &other);
    assert_int_equal(gate_changes_new(&budget, &other, &c), 0);
    assert_int_equal(c.count, 5); /* three are new and two are gone: which is which? */
    gate_changes_free(&c);
}

static double match(const void *context, size_t old, size_t new)
{
    const int *const *lists = context;

    return abs(lists[0][old] - lists[1][new]);
}

static double gone(const void *context, size_t old)
{
    return ((const int *const *)context)[0][old];
}

static double added(const void *context, size_t new)
{
    return ((const int *const *)context)[1][new];
}

TEST(lists_are_matched_in_their_order_as_cheaply_as_possible)
{
    static const int old[] = {10, 500, 3}, new[] = {500, 40, 3};
    const int *const lists[] = {old, new};
    const struct align how = {3, 3, match, gone, added, lists};
    size_t found[3];

    assert_int_equal(align(&how, found), 0);
    assert_true(found[0] == ALIGN_NONE);
    assert_int_equal(found[1], 0);
    assert_int_equal(found[2], 2);
}

TEST(numbers_are_shown_with_commas_and_means_with_what_they_need)
{
    static const struct {
        double value;
        const char *text;
    } all[] = {{0, "0"},
               {999, "999"},
               {1000, "1,000"},
               {1234567, "1,234,567"},
               {-1234, "-1,234"},
               {2.5, "2.5"},
               {2.001, "2.001"},
               {1e15, "1,000,000,000,000,000"},
               {1999.99, "1,999.99"},
               {0.0001, "0"}};

    for (size_t i = 0; i < COUNT_OF(all); i++) {
        struct buffer b = BUFFER_INIT;

        budget_number(all[i].value, &b);
        assert_string_equal(b.data, all[i].text);
        buffer_free(&b);
    }
}
