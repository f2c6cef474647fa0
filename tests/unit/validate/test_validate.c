/*
 * What single breaches look like is in tests/fixtures/logs/invalid.ndjson, held by
 * unit/views/test_cmd_validate.c.
 */
#include "validate/validate.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct report_schema *shipped; /* made once: that takes longer than to read a small log */
static struct log_problems problems;
static struct report_validation result;

static int validate(const char *text, size_t size)
{
    struct memory_log m = {.text = text, .size = size, .chunk = 0};
    struct log_lines *lines = memory_log_lines(&m);
    int err;

    log_problems_fini(&problems);
    err = report_validate_lines(lines, "memory", shipped, NULL, &problems, &result);
    log_lines_free(lines);
    return err;
}

TEST(every_prefix_of_a_valid_log_is_valid)
{
    static const char *const logs[] = {"small",   "mismatch", "native", "sites",
                                       "sampled", "inline",   "live"};

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        char path[100], *text;
        size_t size;

        snprintf(path, sizeof(path), "tests/fixtures/logs/%s.ndjson", logs[i]);
        text = memory_log_file(path, &size);
        for (size_t cut = 0; cut <= size; cut++) {
            assert_int_equal(validate(text, cut), 0);
            if (problems.count)
                fail_msg("%s cut at %zu: %s", path, cut, problems.kept[0].text);
            assert_int_equal(result.cut, cut > 0 && text[cut - 1] != '\n');
        }
        free(text);
    }
}

/* The text with one change, which must be noticed in these words. */
static void breach(const char *text, const char *from, const char *to, const char *words)
{
    const char *at = strstr(text, from);
    char *changed = malloc(strlen(text) + strlen(to) + 1);

    assert_non_null(at);
    assert_non_null(changed);
    memcpy(changed, text, (size_t)(at - text));
    strcpy(changed + (at - text), to);
    strcat(changed, at + strlen(from));
    assert_int_equal(validate(changed, strlen(changed)), 0);
    assert_true(problems.count > 0);
    if (!strstr(problems.kept[0].text, words))
        fail_msg("%s instead of %s: %s", to, from, problems.kept[0].text);
    free(changed);
}

TEST(sums_of_live_objects_that_do_not_add_up_are_noticed)
{
    size_t size;
    char *file = memory_log_file("tests/fixtures/logs/live.ndjson", &size), *text;

    text = strndup(file, size);
    assert_int_equal(validate(text, size), 0);
    assert_int_equal(problems.count, 0);
    breach(text, "\"class\":3,\"gc\":1,\"survived\":1", "\"class\":3,\"gc\":1,\"survived\":2",
           "by the lines before");
    breach(text, "\"class\":3,\"gc\":1,", "\"class\":3,", "has a gc");
    breach(text, "\"site\":3,\"gc\":4", "\"site\":4,\"gc\":4", "live_site 4 is not");
    breach(text, "[[1,2,1,32]]", "[[1,2,9,32]]", "more of a site died");
    breach(text, "[[1,2,1,32]]", "[[5,2,1,32]]", "of no generation or age");
    breach(text, "[[1,2,1,32]]", "[[1,0,1,32]]", "of no generation or age");
    breach(text, "\"gc\":4,\"depth\"", "\"gc\":2,\"depth\"", "gc falls from 4 to 2");
    breach(text, "\"exact\":true", "\"exact\":false", "says why");
    breach(text, "\"node\":2,\"il\":7,\"class\":2,\"gc\"", "\"node\":9,\"il\":7,\"class\":2,\"gc\"",
           "node 9 is not defined");
    free(text);
    free(file);
}

/* The lines of a collection may lie in two parts; those of the first are in the second's opening. */
TEST(a_part_that_begins_between_the_lines_of_a_collection_opens_as_of_the_one_before)
{
    static const char opening[] =
        "{\"kind\":\"live\",\"site\":1,\"gc\":3,\"survived\":3,\"survived_bytes\":96,"
        "\"opening\":true}\n"
        "{\"kind\":\"live\",\"site\":3,\"gc\":3,\"survived\":1,\"survived_bytes\":100024,"
        "\"opening\":true}\n"
        "{\"kind\":\"live_total\",\"t\":4000,\"gc\":3,\"depth\":1,\"pause\":500,\"pauses\":1200,"
        "\"table_ns\":80,\"allocs\":4,\"bytes\":100120,\"memory\":4096,\"exact\":true,"
        "\"opening\":true}\n";
    size_t size;
    char *file = memory_log_file("tests/fixtures/logs/live.ndjson", &size), text[8192], *at;
    const char *rest, *end;

    file[size - 1] = '\0';
    rest = strstr(file, "{\"kind\":\"live\",\"site\":3,\"gc\":4");
    end = strstr(file, "{\"kind\":\"end\"");
    assert_non_null(rest);
    assert_non_null(end);
    snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(rest - file), file, opening, (int)(end - rest),
             rest);
    assert_int_equal(validate(text, strlen(text)), 0);
    if (problems.count)
        fail_msg("%s", problems.kept[0].text);
    at = strstr(text, "\"site\":1,\"gc\":3,\"survived\":3");
    assert_non_null(at);
    at[strlen("\"site\":1,\"gc\":")] = '2';
    assert_int_equal(validate(text, strlen(text)), 0);
    assert_non_null(strstr(problems.kept[0].text, "gc falls from 3 to 2"));
    free(file);
}

/* One byte changed: it never crashes, and what it lets pass jansson takes. */
TEST(changed_bytes_are_survived)
{
    size_t size;
    char *text = memory_log_file("tests/fixtures/logs/small.ndjson", &size);
    uint64_t caught = 0;

    for (size_t at = 0; at < size; at++) {
        char was = text[at];

        text[at] = (char)(was ^ (1 << at % 7));
        if (validate(text, size) != -EPROTO)
            caught += problems.count > 0;
        text[at] = was;
    }
    assert_true(caught > size / 2);
    free(text);
}

TEST(running_out_of_memory_is_said_at_every_place)
{
    size_t size;
    char *text = memory_log_file("tests/fixtures/logs/small.ndjson", &size);
    long n = 0;
    int err;

    do {
        struct memory_log m = {.text = text, .size = size};
        struct log_lines *lines = memory_log_lines(&m);

        log_problems_fini(&problems);
        memory_fail_after(n++);
        err = report_validate_lines(lines, "memory", NULL, NULL, &problems, &result);
        memory_fail_after(-1);
        log_lines_free(lines);
        assert_true(err == 0 || err == -ENOMEM);
        assert_int_equal(problems.count, 0);
    } while (err);
    assert_true(n > 50);
    free(text);
}

static int setup(void **state)
{
    char why[200];

    (void)state;
    return report_schema_new(report_schema_text, report_schema_size(), &shipped, why, sizeof(why));
}

static int teardown(void **state)
{
    (void)state;
    report_schema_free(shipped);
    log_problems_fini(&problems);
    return 0;
}

TEST_GROUP(setup, teardown);
