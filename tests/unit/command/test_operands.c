/* Directories as operands: each means all logs in it. */
#include "command/operands.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/shadowtrace-operands-XXXXXX";
static const char *const made[] = {"b.ndjson", "a.ndjson", "page.html", "other.json", "empty"};

static void put(const char *name, const char *text)
{
    char path[sizeof(folder) + 40];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_log(const char *name, unsigned clock)
{
    char text[300];

    snprintf(text, sizeof(text),
             "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":%u,"
             "\"executable\":\"/app/Shop\",\"runtime\":\"10.0.12\",\"hooks\":\"elt3\","
             "\"clock\":%u,\"started\":\"2026-11-21T10:00:00Z\"}\n",
             clock, clock);
    put(name, text);
}

/* Two logs, the later one first by its name, and files that are none. */
static int setup(void **state)
{
    char inner[sizeof(folder) + 40];

    (void)state;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    put_log("a.ndjson", 900);
    put_log("b.ndjson", 300);
    put("page.html", "<!doctype html>\n");
    put("other.json", "{\"kind\":\"header\",\"format\":\"another\",\"clock\":1}\n");
    put("empty", "");
    snprintf(inner, sizeof(inner), "%s/inner", folder);
    return mkdir(inner, 0700);
}

static int teardown(void **state)
{
    char path[sizeof(folder) + 40];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, made[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/inner", folder);
    return rmdir(path) || rmdir(folder);
}

TEST_EACH(setup, teardown);

static void expect(const struct args *args, size_t count, const char *const *names)
{
    assert_int_equal(args->count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(strrchr(args->word[i], '/') ? strrchr(args->word[i], '/') + 1
                                                        : args->word[i],
                            names[i]);
    assert_null(args->word[count]);
}

TEST(a_folder_is_its_logs_in_the_order_in_which_they_began)
{
    char *words[] = {"x.ndjson", folder, "y.ndjson", NULL};
    struct args args = {.word = words, .count = 3, .apart = 3};
    struct operands operands;

    assert_int_equal(operands_expand(&args, 0, &operands), 0);
    expect(&args, 4, (const char *const[]){"x.ndjson", "b.ndjson", "a.ndjson", "y.ndjson"});
    assert_int_equal(args.apart, 4);
    operands_free(&operands);
}

TEST(a_folder_may_end_in_a_slash)
{
    char slash[sizeof(folder) + 2], first[sizeof(folder) + 40];
    char *words[] = {slash, NULL};
    struct args args = {.word = words, .count = 1, .apart = 1};
    struct operands operands;

    snprintf(slash, sizeof(slash), "%s/", folder);
    snprintf(first, sizeof(first), "%s/b.ndjson", folder);
    assert_int_equal(operands_expand(&args, 0, &operands), 0);
    assert_string_equal(args.word[0], first);
    operands_free(&operands);
}

TEST(words_apart_stay_apart)
{
    char *words[] = {folder, "y.ndjson", NULL};

    for (size_t apart = 0; apart < 3; apart++) {
        struct args args = {.word = words, .count = 2, .apart = apart};
        struct operands operands;

        assert_int_equal(operands_expand(&args, 0, &operands), 0);
        assert_int_equal(args.count, 3);
        assert_int_equal(args.apart, apart ? apart + 1 : 0);
        operands_free(&operands);
    }
}

TEST(words_before_the_first_are_no_logs)
{
    char *words[] = {folder, folder, NULL};
    struct args args = {.word = words, .count = 2, .apart = 2};
    struct operands operands;

    assert_int_equal(operands_expand(&args, 1, &operands), 0);
    assert_int_equal(args.count, 3);
    assert_ptr_equal(args.word[0], folder);
    operands_free(&operands);
}

TEST(a_folder_without_a_log_stays_as_it_is)
{
    char inner[sizeof(folder) + 40];
    char *words[] = {inner, "-", "not there", NULL};
    struct args args = {.word = words, .count = 3, .apart = 3};
    struct operands operands;

    snprintf(inner, sizeof(inner), "%s/inner", folder);
    assert_int_equal(operands_expand(&args, 0, &operands), 0);
    assert_ptr_equal(args.word, words);
    expect(&args, 3, (const char *const[]){"inner", "-", "not there"});
    operands_free(&operands);
}
