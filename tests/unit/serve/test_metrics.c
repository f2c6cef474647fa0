/* What /metrics says of fixtures, whose numbers are read out of their lines. */
#include "server/answer.h"

#include "unit/readers/memory_log.h"
#include "base/clock.h"
#include "support/test.h"

#include <unistd.h>

#define LOGS "tests/fixtures/logs/"

static struct traced_set set;
static struct serve_options options = {.top = 20};
static char *text;

static int teardown(void **state)
{
    (void)state;
    traced_free(&set);
    free(text);
    text = NULL;
    return 0;
}

static int nothing(void **state)
{
    (void)state;
    return 0;
}

TEST_EACH(nothing, teardown);

static void follow_log(const char *path)
{
    assert_int_equal(traced_add(&set, 0, path, clock_ns()), 0);
    while (traced_step(&set, 1000000000, UINT64_MAX))
        ;
}

static void ask(void)
{
    const struct answer_ask how = {
        .kind = ANSWER_METRICS, .set = &set, .now_ns = clock_ns(), .options = &options};
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(answer_metrics(&how, out), 0);
    fclose(out);
}

/* The value of the sample that begins like that, up to its closing brace. */
static double value(const char *sample)
{
    const char *at = strstr(text, sample);

    if (!at || (at > text && at[-1] != '\n'))
        fail_msg("no %s in\n%s", sample, text);
    return strtod(strchr(at, '}') + 1, NULL);
}

static size_t lines_with(const char *word)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

TEST(sums_are_those_of_the_log)
{
    follow_log(LOGS "small.ndjson");
    ask();
    assert_true(value("shadowtrace_allocations_total{pid=\"4711\",program=\"shop.dll\"") == 7);
    assert_true(value("shadowtrace_allocated_bytes_total{pid=\"4711\"") == 221360);
    assert_true(value("shadowtrace_type_allocated_bytes_total{pid=\"4711\",program=\"shop.dll\","
                      "log=\"" LOGS "small.ndjson\",type=\"System.Byte[]\"}") > 131095);
    assert_true(value("shadowtrace_up{") == 0); /* it has ended */
    assert_true(value("shadowtrace_lost_allocations_total{") == 0);
    assert_null(strstr(text, "shadowtrace_missing_total"));
    assert_null(strstr(text, "shadowtrace_live_bytes"));
}

TEST(every_family_is_described_once_and_stands_together)
{
    follow_log(LOGS "small.ndjson");
    follow_log(LOGS "alive.ndjson");
    ask();
    assert_int_equal(lines_with("# TYPE shadowtrace_allocated_bytes_total "), 1);
    assert_int_equal(lines_with("\nshadowtrace_allocated_bytes_total{"), 2);
    assert_int_equal(lines_with("# TYPE"), lines_with("# HELP"));
    assert_int_equal(lines_with("shadowtrace_serve_processes 2"), 1);
}

TEST(what_is_alive_is_that_of_the_last_collection)
{
    const struct report_live *live;

    follow_log(LOGS "alive.ndjson");
    live = &set.all[0]->cells.live;
    assert_true(live->last.bytes > 0);
    assert_true(traced_live(set.all[0]));
    assert_true(traced_live_settled(set.all[0]));
    ask();
    assert_true(value("shadowtrace_live_bytes{") == (double)live->last.bytes);
    assert_true(value("shadowtrace_live_objects{") == (double)live->last.allocs);
}

TEST(only_the_heaviest_types_and_sites_are_there)
{
    options.top = 1;
    follow_log(LOGS "small.ndjson");
    ask();
    options.top = 20;
    assert_int_equal(lines_with("\nshadowtrace_type_allocated_bytes_total{"), 1);
    assert_true(lines_with("\nshadowtrace_site_allocated_bytes_total{") <= 2);
}

TEST(damage_is_counted_by_reason)
{
    follow_log(LOGS "damaged.ndjson");
    ask();
    assert_true(value("shadowtrace_log_unusable_lines_total{") > 0);
    assert_true(lines_with("reason=\"damaged\"") == 1);
}

/* A log with one allocation of each of these types. */
static void write_types(const char *path, const char *const *types, size_t count)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fputs("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":1,\"clock\":1}\n"
          "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n",
          file);
    for (size_t i = 0; i < count; i++)
        fprintf(
            file,
            "{\"kind\":\"module\",\"id\":%zu,\"name\":\"m%zu\",\"path\":\"\"}\n"
            "{\"kind\":\"class\",\"id\":%zu,\"name\":\"%s\",\"module\":%zu,\"token\":33554433}\n"
            "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":%zu,\"bytes\":24,\"node\":0}\n",
            i + 1, i + 1, i + 1, types[i], i + 1, i + 1);
    fclose(file);
}

TEST(types_of_one_name_are_one_sample_and_hostile_names_are_quoted)
{
    static const char *const types[] = {"App.Same", "App.Same", "App.Q\\\"\\\\\\n\\u202ex"};
    char path[] = "/tmp/test-metrics-XXXXXX";

    close(mkstemp(path));
    write_types(path, types, 3);
    follow_log(path);
    unlink(path);
    ask();
    assert_int_equal(lines_with("\nshadowtrace_type_allocations_total{"), 2);
    assert_int_equal(lines_with("type=\"App.Same\"} 2\n"), 1);
    assert_int_equal(lines_with("type=\"App.Q\\\"\\\\??x\"} 1\n"), 1);
}

TEST(a_name_without_end_is_cut_between_letters)
{
    char name[2000], *labels, path[] = "/tmp/test-metrics-XXXXXX";
    const char *types[] = {name};

    memset(name, 'a', 399);
    for (size_t i = 399; i + 3 < sizeof(name); i += 2)
        memcpy(name + i, "\xc3\xa4", 3);
    close(mkstemp(path));
    write_types(path, types, 1);
    follow_log(path);
    unlink(path);
    ask();
    labels = strstr(text, "type=\"");
    assert_non_null(labels);
    assert_int_equal(strcspn(labels + 6, "\""), 399);
}

TEST(what_came_before_samples_counted_has_a_counter_of_its_own)
{
    follow_log(LOGS "late-sampled.ndjson");
    ask();
    assert_true(value("shadowtrace_allocated_before_sampling_bytes_total{pid=\"4711\"") ==
                101144944);
    assert_null(strstr(text, "shadowtrace_allocated_before_sampling_bytes_most{"));
}
