#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>
#include <sys/stat.h>

#define EXPORT(...) RUN(&cmd_export, "export", __VA_ARGS__)

TEST(collapsed_stacks_are_as_expected)
{
    expect_ran(EXPORT("--format=collapsed", "-o-", "--min-share=0", FIXTURES "small.ndjson"),
               CLI_OK, FIXTURES "small.export.collapsed");
    expect_ran(EXPORT("--format=collapsed", "-o-", "--min-share=20%", FIXTURES "small.ndjson"),
               CLI_OK, FIXTURES "small.export-20.collapsed");
    expect_ran(EXPORT("--format=collapsed", "-o-", "--names=short", "--from=warm",
                      "--to=one request", FIXTURES "marks.ndjson"),
               CLI_OK, FIXTURES "marks.export.collapsed");
}

TEST(speedscope_is_as_expected_and_says_what_is_missing)
{
    expect_ran(EXPORT("--format=speedscope", "-o-", FIXTURES "damaged.ndjson"), CLI_OK,
               FIXTURES "damaged.export.speedscope.json");
}

TEST(lines_are_those_of_the_symbols)
{
    struct ran ran = EXPORT("--format=speedscope", "-o-", "--symbols=tests/fuzz/corpus/symbols",
                            FIXTURES "lines.ndjson");

    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "Zweite Datei \303\274.cs\",\"line\":33}"));
    assert_non_null(strstr(ran.out, "First.razor\",\"line\":700}"));
    free(ran.out);
}

TEST(each_allocation_stands_in_the_profile_of_its_thread_in_order)
{
    struct ran ran = EXPORT("--format=speedscope", "--each", "-o-", FIXTURES "small.ndjson");
    json_t *json = json_loads(ran.out, 0, NULL), *profiles, *weights;
    const json_t *weight;
    size_t i;
    json_int_t sum = 0;

    assert_int_equal(ran.status, CLI_OK);
    profiles = json_object_get(json, "profiles");
    assert_int_equal(json_array_size(profiles), 4); /* bytes, objects, two threads */
    for (size_t p = 2; p < 4; p++) {
        weights = json_object_get(json_array_get(profiles, p), "weights");
        assert_int_equal(json_array_size(weights),
                         json_array_size(json_object_get(json_array_get(profiles, p), "samples")));
        json_array_foreach(weights, i, weight) sum += json_integer_value(weight);
    }
    assert_int_equal(sum,
                     json_integer_value(json_object_get(json_array_get(profiles, 0), "endValue")));
    json_decref(json);
    free(ran.out);
}

/* The sum of the numbers at the ends of lines. */
static uint64_t collapsed_sum(const char *text)
{
    uint64_t sum = 0;

    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *number = end;

        while (number > line && number[-1] != ' ')
            number--;
        sum += strtoull(number, NULL, 10);
    }
    return sum;
}

static uint64_t collapsed(const char *const *words)
{
    struct ran ran = run_command(&cmd_export, words);
    uint64_t sum = collapsed_sum(ran.out);

    assert_int_equal(ran.status, CLI_OK);
    free(ran.out);
    return sum;
}
#define COLLAPSED(...) \
    collapsed((const char *const[]){"export", "--format=collapsed", "-o-", __VA_ARGS__, NULL})

static uint64_t reported(const char *first, const char *second)
{
    struct ran ran = RUN(&cmd_report, "report", "--format=json", first, second);
    json_t *json = json_loads(ran.out, 0, NULL);
    json_int_t bytes = json_integer_value(json_object_get(json_object_get(json, "total"), "bytes"));

    assert_non_null(json);
    json_decref(json);
    free(ran.out);
    return (uint64_t)bytes;
}

TEST(logs_are_summed_and_what_is_small_is_not_lost)
{
    static const char *const logs[] = {"small",   "inline",  "sites", "dynamic", "lines",
                                       "sampled", "damaged", "marks", "newer"};

    for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
        char path[100];
        uint64_t bytes;

        snprintf(path, sizeof(path), FIXTURES "%s.ndjson", logs[i]);
        bytes = reported("--by=type", path);
        assert_int_equal(COLLAPSED(path), bytes);
        assert_int_equal(COLLAPSED("--min-share=100", path), bytes);
        assert_int_equal(COLLAPSED(path, FIXTURES "native.ndjson"),
                         reported(path, FIXTURES "native.ndjson"));
    }
}

TEST(filters_are_those_of_reports)
{
    uint64_t all = COLLAPSED(FIXTURES "small.ndjson"),
             strings = COLLAPSED("--type=System.String", FIXTURES "small.ndjson"),
             others = COLLAPSED("--exclude=System.String", FIXTURES "small.ndjson");

    assert_true(strings > 0 && others > 0);
    assert_int_equal(strings + others, all);
    assert_int_equal(strings, reported("--type=System.String", FIXTURES "small.ndjson"));
    assert_int_equal(COLLAPSED("--thread=2", FIXTURES "sites.ndjson"),
                     reported("--thread=2", FIXTURES "sites.ndjson"));
}

static char folder[40];

static int in_a_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/shadowtrace-export-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* The files made by the test are all that is in it. */
static int out_of_it(void **state)
{
    (void)state;
    return rmdir(folder);
}

TEST(a_file_is_named_after_the_log_and_not_written_twice, in_a_folder, out_of_it)
{
    char log[100], made[100], copy[200];
    struct ran ran;
    struct stat st;

    snprintf(log, sizeof(log), "%s/a.ndjson", folder);
    snprintf(made, sizeof(made), "%s/a.pb.gz", folder);
    snprintf(copy, sizeof(copy), "cp " FIXTURES "small.ndjson %s", log);
    assert_int_equal(system(copy), 0);
    ran = EXPORT(log);
    assert_int_equal(ran.status, CLI_OK);
    assert_string_equal(ran.out, "");
    assert_non_null(strstr(ran.err, "a.pb.gz: "));
    assert_non_null(strstr(ran.err, "Open it with go tool pprof"));
    free(ran.out);
    assert_int_equal(stat(made, &st), 0);
    expect_complaint(EXPORT(log), CLI_USAGE, "a.pb.gz exists");
    unlink(made);
    unlink(log);
}

TEST(what_cannot_be_written_leaves_nothing, in_a_folder, out_of_it)
{
    char made[100];

    snprintf(made, sizeof(made), "%s/a", folder);
    expect_complaint(EXPORT("-o", made, "--type=Nonsense", FIXTURES "small.ndjson"), CLI_USAGE,
                     "Nonsense");
    expect_complaint(EXPORT("-o", "/dev/full", FIXTURES "small.ndjson"), CLI_IO,
                     "cannot write /dev/full: No space left on device");
    expect_complaint(EXPORT("-o", "/dev/full", "--format=collapsed", FIXTURES "small.ndjson"),
                     CLI_IO, "cannot write /dev/full: No space left on device");
}

/* Formats have no place for the ranges of sites: that of the whole is said. */
TEST(what_is_alive_by_estimate_is_said_to_be)
{
    static const char *const words[] = {"collapsed", "speedscope"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct ran ran = RUN(&cmd_export, "export", "--format", words[i], "-o-", "--no-lines",
                             FIXTURES "alive-sampled.ndjson");

        assert_int_equal(ran.status, CLI_OK);
        assert_non_null(strstr(ran.err, "inuse: estimated from samples that are alive; the exact "
                                        "bytes lie between 415.2k and 1.6M"));
        free(ran.out);
    }
}
