/*
 * What single breaches look like is in tests/fixtures/logs/invalid.ndjson, held by
 * unit/views/test_cmd_validate.c.
 */
#include "validate/validate.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

static struct report_schema *shipped; /* made once: that takes longer than to read a small log */
static struct report_problems problems;
static struct report_validation result;

static int validate(const char *text, size_t size)
{
    struct memory_log m = {.text = text, .size = size, .chunk = 0};
    struct report_lines *lines = memory_log_lines(&m);
    int err;

    report_problems_fini(&problems);
    err = report_validate_lines(lines, "memory", shipped, NULL, &problems, &result);
    report_lines_free(lines);
    return err;
}

TEST(every_prefix_of_a_valid_log_is_valid)
{
    static const char *const logs[] = {"small", "mismatch", "native", "sites", "sampled", "inline"};

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
        struct report_lines *lines = memory_log_lines(&m);

        report_problems_fini(&problems);
        memory_fail_after(n++);
        err = report_validate_lines(lines, "memory", NULL, NULL, &problems, &result);
        memory_fail_after(-1);
        report_lines_free(lines);
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
    report_problems_fini(&problems);
    return 0;
}

TEST_GROUP(setup, teardown);
