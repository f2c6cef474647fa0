/*
 * What `export --format rows` writes: as rows_schema.json says, each id defined before it is named, sums that are the
 * report's, one row for each key, and no more of it than the log is large.
 */
#include "support/heap.h"

#include "base/atomics.h"
#include "export/rows_out.h"
#include "unit/cli/command_support.h"
#include "validate/schema.h"

#include "support/test.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#define ROWS(...) RUN(&cmd_export, "export", "--format=rows", "-o-", "--quiet", __VA_ARGS__)
#define DEEP      100000
#define LONG      100000 /* bytes of a name */

static const char *const logs[] = {
    "small",   "inline",      "sites", "dynamic",     "lines",        "sampled",
    "damaged", "lines-newer", "newer", "alive",       "alive-missed", "marks",
    "own",     "native",      "live",  "shop-events", "alive-sampled"};

/* ---- rows that were read ---- */

static json_t *rows_of(struct ran ran)
{
    json_t *rows = json_array();

    if (ran.status != CLI_OK)
        fail_msg("%s", ran.err);
    for (const char *line = ran.out, *end; (end = strchr(line, '\n')); line = end + 1) {
        json_t *row = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, NULL);

        if (!row)
            fail_msg("no JSON: %.*s", (int)(end - line < 500 ? end - line : 500), line);
        json_array_append_new(rows, row);
    }
    assert_true(!*ran.out || ran.out[strlen(ran.out) - 1] == '\n');
    free(ran.out);
    return rows;
}

static const char *text(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static bool is_kind(const json_t *row, const char *kind)
{
    return strcmp(text(row, "kind"), kind) == 0;
}

static json_int_t sum(const json_t *rows, const char *kind, const char *key)
{
    const json_t *row;
    json_int_t total = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (is_kind(row, kind))
            total += json_integer_value(json_object_get(row, key));
    }
    return total;
}

static size_t count(const json_t *rows, const char *kind)
{
    const json_t *row;
    size_t found = 0, i;

    json_array_foreach(rows, i, row) found += is_kind(row, kind);
    return found;
}

/* The first of a kind whose member is that; NULL: the first. */
static const json_t *row_of(const json_t *rows, const char *kind, const char *key,
                            const char *value)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (is_kind(row, kind) && (!key || (text(row, key) && strcmp(text(row, key), value) == 0)))
            return row;
    }
    fail_msg("no %s with %s", kind, value ? value : "");
    return NULL;
}

/* ---- the schema ---- */

/* Closed: a member that nobody describes may not be there. */
static struct report_schema *schema_new(void)
{
    json_t *json = json_load_file("include/shadowtrace/rows_schema.json", 0, NULL), *one;
    struct report_schema *schema;
    const char *name;
    char *closed, why[200];

    assert_non_null(json);
    json_object_foreach(json_object_get(json, "$defs"), name, one)
    {
        if (json_object_get(one, "properties"))
            json_object_set_new(one, "additionalProperties", json_false());
    }
    closed = json_dumps(json, 0);
    if (report_schema_new(closed, strlen(closed), &schema, why, sizeof(why)))
        fail_msg("%s", why);
    free(closed);
    json_decref(json);
    return schema;
}

static void defined(json_t *known, const char *kind, const char *id)
{
    char key[100];

    if (!id)
        return;
    snprintf(key, sizeof(key), "%s %s", kind, id);
    if (!json_object_get(known, key))
        fail_msg("%s is named and not defined", key);
}

static void define(json_t *known, const char *kind, const char *id)
{
    char key[100];

    snprintf(key, sizeof(key), "%s %s", kind, id);
    assert_null(json_object_get(known, key)); /* once only */
    json_object_set_new(known, key, json_true());
}

/* What a row names stands before it. */
static void expect_defined(json_t *known, const json_t *row)
{
    static const char *const references[][3] = {{"frame", "method", "method"},
                                                {"stack", "parent", "stack"},
                                                {"stack", "frame", "frame"},
                                                {"ancestors", "stack", "stack"},
                                                {"ancestors", "own", "frame"},
                                                {"allocated", "stack", "stack"},
                                                {"allocated", "type", "type"},
                                                {"allocated", "recording", "recording"},
                                                {"alive", "recording", "recording"},
                                                {"alive", "stack", "stack"},
                                                {"alive", "type", "type"}};
    const json_t *method;
    size_t i;

    for (size_t r = 0; r < COUNT_OF(references); r++)
        if (is_kind(row, references[r][0]))
            defined(known, references[r][2], text(row, references[r][1]));
    json_array_foreach(json_object_get(row, "methods"), i, method)
        defined(known, "method", json_string_value(method));
    if (text(row, "id"))
        define(known, text(row, "kind"), text(row, "id"));
}

static void expect_keys_once(const json_t *rows, const char *kind)
{
    json_t *keys = json_object();
    const json_t *row;
    size_t i;
    char key[200];

    json_array_foreach(rows, i, row)
    {
        if (!is_kind(row, kind))
            continue;
        snprintf(key, sizeof(key), "%s %s %s %lld", text(row, "recording"), text(row, "stack"),
                 text(row, "type"), json_integer_value(json_object_get(row, "minute")));
        assert_null(json_object_get(keys, key));
        json_object_set_new(keys, key, json_true());
    }
    json_decref(keys);
}

static json_t *reported(const char *path, const char *view)
{
    json_t *json = printed(view ? RUN(&cmd_report, "report", "--format=json", "--view", view, path)
                                : RUN(&cmd_report, "report", "--format=json", "--by=type", path));
    json_t *total = json_incref(json_object_get(json, "total"));

    json_decref(json);
    return total;
}

static void expect_sums(const json_t *rows, const char *path)
{
    const json_t *recording = row_of(rows, "recording", NULL, NULL);
    json_t *total = reported(path, NULL);

    assert_int_equal(sum(rows, "allocated", "bytes"), number(total, "bytes"));
    assert_int_equal(sum(rows, "allocated", "allocs"), number(total, "allocs"));
    assert_int_equal(number(recording, "bytes"), number(total, "bytes"));
    assert_int_equal(number(recording, "allocs"), number(total, "allocs"));
    json_decref(total);
    if (!json_object_get(recording, "live_bytes")) {
        assert_int_equal(count(rows, "alive"), 0);
        return;
    }
    total = reported(path, "end");
    assert_int_equal(sum(rows, "alive", "bytes"), number(recording, "live_bytes"));
    assert_int_equal(sum(rows, "alive", "allocs"), number(recording, "live_allocs"));
    assert_int_equal(number(recording, "live_bytes"),
                     number(total, "live_bytes") + number(total, "young_bytes"));
    assert_int_equal(number(recording, "live_allocs"),
                     number(total, "live_allocs") + number(total, "young_allocs"));
    json_decref(total);
}

TEST(what_is_alive_has_rows_of_its_own)
{
    json_t *rows = rows_of(ROWS(FIXTURES "alive.ndjson"));

    assert_true(count(rows, "alive") > 0);
    assert_true(sum(rows, "alive", "bytes") > 0);
    json_decref(rows);
    /* A part of a log has no end record. */
    rows = rows_of(ROWS("--to=1ms", FIXTURES "alive.ndjson"));
    assert_int_equal(count(rows, "alive"), 0);
    json_decref(rows);
}

/* ---- ids ---- */

TEST(a_recording_and_its_stacks_have_the_same_ids_wherever_they_are_exported)
{
    json_t *here = rows_of(ROWS("--host=a", FIXTURES "small.ndjson")),
           *there = rows_of(ROWS("--host=b", "--container=c", "--names=short",
                                 FIXTURES "small.ndjson", FIXTURES "newer.ndjson"));
    const json_t *one = row_of(here, "recording", NULL, NULL),
                 *other = row_of(there, "recording", NULL, NULL), *row;
    size_t i, recordings = count(there, "recording");

    assert_string_equal(text(one, "host"), "a");
    assert_string_equal(text(other, "host"), "b");
    assert_string_equal(text(other, "container"), "c");
    assert_string_equal(text(one, "id"), text(other, "id"));
    assert_int_equal(recordings, 2);
    json_array_foreach(here, i, row)
    {
        if (is_kind(row, "stack") || is_kind(row, "type"))
            row_of(there, text(row, "kind"), "id", text(row, "id"));
    }
    /* What both logs have is defined once. */
    assert_true(count(there, "stack") < count(here, "stack") * 2);
    json_decref(here);
    json_decref(there);
}

/* ---- logs made up ---- */

static char made[] = "/tmp/shadowtrace-rows-XXXXXX";
static FILE *log_file;

static int begin_log(void **state)
{
    (void)state;
    strcpy(made + sizeof(made) - 7, "XXXXXX");
    log_file = fdopen(mkstemp(made), "w");
    return log_file ? 0 : -1;
}

static int remove_log(void **state)
{
    (void)state;
    return unlink(made);
}

#define LINE(...) fprintf(log_file, __VA_ARGS__)

/* 30 s before a minute ends. */
static void header_line(int pid)
{
    LINE("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":%d,"
         "\"executable\":\"/home/jane/app\",\"command\":[\"/home/jane/app\",\"--password=secret\"],"
         "\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"clock\":7,\"started\":\"2026-11-24T10:00:"
         "30Z\"}\n",
         pid);
}

static size_t end_log(void)
{
    struct stat st;

    fclose(log_file);
    assert_int_equal(stat(made, &st), 0);
    return (size_t)st.st_size;
}

static void small_log(void)
{
    header_line(1);
    LINE("{\"kind\":\"thread\",\"id\":1,\"os\":1}\n"
         "{\"kind\":\"class\",\"id\":1,\"name\":\"T\"}\n"
         "{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}\n"
         "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}\n");
}

static void alloc_line(unsigned node, unsigned long long t, unsigned bytes)
{
    LINE("{\"kind\":\"alloc\",\"t\":%llu,\"thread\":1,\"class\":1,\"bytes\":%u,\"node\":%u,\"il\":"
         "3}\n",
         t, bytes, node);
}

/* ---- logs of each kind ---- */

TEST(rows_of_each_log_are_as_the_schema_says_and_have_the_reports_sums)
{
    struct report_schema *schema = schema_new();
    char path[100], why[200];
    const json_t *row;
    size_t i;

    for (size_t log = 0; log < COUNT_OF(logs); log++) {
        json_t *rows, *known = json_object();

        snprintf(path, sizeof(path), FIXTURES "%s.ndjson", logs[log]);
        rows = rows_of(ROWS("--symbols=tests/fuzz/corpus/symbols", path));
        json_array_foreach(rows, i, row)
        {
            if (!report_schema_check(schema, row, why, sizeof(why)))
                fail_msg("%s, row %zu: %s", logs[log], i + 1, why);
            expect_defined(known, row);
        }
        expect_keys_once(rows, "allocated");
        expect_keys_once(rows, "alive");
        expect_sums(rows, path);
        json_decref(known);
        json_decref(rows);
    }
    report_schema_free(schema);
}

#define SECOND 1000000000ull
#define MINUTE 1795514400ll /* 2026-11-24 10:00 */

TEST(events_are_added_up_by_the_minute_of_the_clock, begin_log, remove_log)
{
    json_t *rows;
    const json_t *row;
    size_t i, found = 0;
    static const json_int_t minutes[] = {MINUTE, MINUTE + 60, MINUTE + 240};
    static const json_int_t bytes[] = {24 + 32, 40 + 48, 56};

    small_log();
    alloc_line(1, 0, 24);
    alloc_line(1, 30 * SECOND - 1, 32);
    alloc_line(1, 30 * SECOND, 40);
    alloc_line(1, 89 * SECOND, 48);
    alloc_line(1, 239 * SECOND, 56);
    end_log();
    rows = rows_of(ROWS(made));
    json_array_foreach(rows, i, row)
    {
        if (!is_kind(row, "allocated"))
            continue;
        assert_in_range(found, 0, 2);
        assert_int_equal(number(row, "minute"), minutes[found]);
        assert_int_equal(number(row, "bytes"), bytes[found++]);
    }
    assert_int_equal(found, 3);
    assert_int_equal(number(row_of(rows, "recording", NULL, NULL), "bucket_s"), 60);
    json_decref(rows);
}

TEST(a_log_that_has_grown_keeps_its_keys_and_only_adds, begin_log, remove_log)
{
    json_t *before, *after;
    const json_t *row;
    size_t i;

    small_log();
    alloc_line(1, 0, 24);
    fflush(log_file);
    before = rows_of(ROWS(made));
    alloc_line(1, SECOND, 24);
    alloc_line(1, 60 * SECOND, 24);
    end_log();
    after = rows_of(ROWS(made));
    assert_int_equal(json_array_size(after), json_array_size(before) + 1);
    json_array_foreach(before, i, row)
    {
        const json_t *now = json_array_get(after, i);

        if (is_kind(row, "recording"))
            assert_string_equal(text(row, "id"), text(now, "id"));
        else if (!is_kind(row, "allocated"))
            assert_true(json_equal(row, now));
        else
            assert_true(number(now, "minute") == number(row, "minute") &&
                        number(row, "allocs") == 1 && number(now, "allocs") == 2);
    }
    json_decref(before);
    json_decref(after);
}

/* A plug-in that was loaded twice, from two folders: its methods have one name, in modules of one name. */
TEST(what_has_one_name_has_one_row, begin_log, remove_log)
{
    json_t *rows;

    header_line(1);
    for (unsigned i = 1; i < 3; i++) {
        LINE("{\"kind\":\"module\",\"id\":%u,\"name\":\"Plugin\",\"path\":\"/%u/Plugin.dll\"}\n", i,
             i);
        LINE("{\"kind\":\"class\",\"id\":%u,\"name\":\"T\",\"module\":%u}\n", i, i);
        LINE("{\"kind\":\"method\",\"id\":%u,\"name\":\"A.B()\",\"module\":%u}\n", i, i);
        LINE("{\"kind\":\"node\",\"id\":%u,\"parent\":0,\"method\":%u}\n", i, i);
        LINE("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":%u,\"bytes\":%u,\"node\":%u,"
             "\"il\":3}\n",
             i, 100 * i, i);
    }
    end_log();
    rows = rows_of(ROWS(made));
    assert_int_equal(count(rows, "allocated"), 1);
    assert_int_equal(count(rows, "stack"), 1);
    assert_int_equal(count(rows, "method"), 1);
    assert_int_equal(sum(rows, "allocated", "bytes"), 300);
    assert_int_equal(sum(rows, "allocated", "allocs"), 2);
    json_decref(rows);
}

TEST(estimates_have_intervals_and_variances_that_add_up)
{
    const json_t *recording, *row;
    double variance = 0;
    json_t *rows;
    size_t i;

    rows = rows_of(ROWS(FIXTURES "sampled.ndjson"));
    recording = row_of(rows, "recording", NULL, NULL);
    assert_true(json_is_true(json_object_get(recording, "estimated")));
    assert_true(number(recording, "bytes_low") < number(recording, "bytes"));
    assert_true(number(recording, "bytes_high") > number(recording, "bytes"));
    assert_string_equal(json_string_value(json_object_get(recording, "sampler")), "exact");
    assert_null(json_object_get(recording, "allocs_low")); /* they are of several sizes */
    json_array_foreach(rows, i, row)
    {
        if (is_kind(row, "allocated"))
            variance += json_real_value(json_object_get(row, "bytes_variance"));
    }
    assert_true(variance > 0);
    assert_true(sum(rows, "allocated", "seen_bytes") < sum(rows, "allocated", "bytes"));
    json_decref(rows);
}

TEST(a_recording_says_from_when_its_samples_count)
{
    const json_t *recording;
    json_t *rows;

    rows = rows_of(ROWS(FIXTURES "late-sampled.ndjson"));
    recording = row_of(rows, "recording", NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(recording, "sampler")), "runtime");
    assert_true(number(recording, "before_bytes") == 101144944);
    assert_true(number(recording, "sampling_since_ns") == 330000000);
    assert_null(json_object_get(recording, "before_bytes_most"));
    json_decref(rows);
}

/* As that of the end: its samples are what is alive, and what came behind the last collection. */
TEST(what_is_alive_by_estimate_has_its_range)
{
    json_t *rows = rows_of(ROWS(FIXTURES "alive-sampled.ndjson")),
           *total = reported(FIXTURES "alive-sampled.ndjson", "end");
    const json_t *recording = row_of(rows, "recording", NULL, NULL), *row,
                 *range = json_object_get(total, "bytes_range");
    double variance = 0;
    size_t i;

    assert_int_equal(number(recording, "live_bytes_low"),
                     json_integer_value(json_array_get(range, 0)));
    assert_int_equal(number(recording, "live_bytes_high"),
                     json_integer_value(json_array_get(range, 1)));
    json_array_foreach(rows, i, row)
    {
        if (is_kind(row, "alive"))
            variance += json_real_value(json_object_get(row, "bytes_variance"));
    }
    assert_true(variance > 1e10);
    json_decref(rows);
    json_decref(total);
    rows = rows_of(ROWS(FIXTURES "alive.ndjson")); /* counted */
    assert_null(json_object_get(row_of(rows, "recording", NULL, NULL), "live_bytes_low"));
    json_decref(rows);
}

/* ---- what is left out ---- */

TEST(with_redact_no_argument_and_no_folder_is_left, begin_log, remove_log)
{
    struct ran plain, redacted;
    json_t *rows;

    small_log();
    alloc_line(1, 0, 24);
    end_log();
    plain = ROWS(made);
    redacted = ROWS("--redact", made);
    assert_non_null(strstr(plain.out, "--password=secret"));
    assert_non_null(strstr(plain.out, "/home/jane/app"));
    assert_null(strstr(redacted.out, "secret"));
    assert_null(strstr(redacted.out, "jane"));
    assert_non_null(strstr(redacted.out, "\"program\":\"app\""));
    free(plain.out);
    free(redacted.out);
    rows =
        rows_of(ROWS("--redact", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "lines.ndjson"));
    row_of(rows, "frame", "file", "First.razor");
    assert_true(sum(rows, "frame", "line") > 0);
    json_decref(rows);
    plain = ROWS("--redact", "--symbols=tests/fuzz/corpus/symbols", FIXTURES "lines.ndjson");
    assert_null(strchr(plain.out, '/'));
    assert_null(strstr(plain.out, "\\\\"));
    free(plain.out);
}

/* ---- large ones ---- */

static size_t occurrences(const char *in, const char *what)
{
    size_t found = 0;

    for (; (in = strstr(in, what)); in++)
        found++;
    return found;
}

TEST(a_very_deep_stack_takes_as_many_rows_as_frames, begin_log, remove_log)
{
    struct ran ran;
    size_t size;
#ifndef __SANITIZE_THREAD__
    ptrdiff_t before;
#endif

    small_log();
    for (unsigned i = 1; i <= 3; i++)
        LINE("{\"kind\":\"method\",\"id\":%u,\"name\":\"Deep.M%u()\"}\n", i + 1, i);
    for (unsigned i = 2; i <= DEEP; i++)
        LINE("{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":3}\n", i, i - 1,
             2 + i % 3);
    for (unsigned i = 1; i <= DEEP; i++)
        alloc_line(i, i, 24);
    size = end_log();
#ifndef __SANITIZE_THREAD__
    heap_begin();
    before = heap_held;
#endif
    ran = ROWS("--jobs=1", made);
#ifndef __SANITIZE_THREAD__
    assert_in_range(heap_peak(before), 1, 200u << 20);
#endif
    assert_in_range(strlen(ran.out), size, 10 * size);
    assert_int_equal(ran.status, CLI_OK);
    assert_int_equal(occurrences(ran.out, "\"kind\":\"stack\""), DEEP);
    assert_int_equal(occurrences(ran.out, "\"kind\":\"allocated\""), DEEP);
    assert_int_equal(occurrences(ran.out, "\"kind\":\"method\""), 4);
    free(ran.out);
}

TEST(a_stack_of_very_many_methods_names_the_outermost_and_innermost, begin_log, remove_log)
{
    const unsigned depth = 5000;
    const json_t *longest = NULL, *row;
    json_t *rows;
    size_t i;

    small_log();
    for (unsigned m = 2; m <= depth; m++) {
        LINE("{\"kind\":\"method\",\"id\":%u,\"name\":\"Deep.M%u()\"}\n", m, m);
        LINE("{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":3}\n", m, m - 1, m);
    }
    alloc_line(depth, 1, 24);
    end_log();
    rows = rows_of(ROWS(made));
    assert_int_equal(count(rows, "ancestors"), 1);
    longest = row_of(rows, "ancestors", NULL, NULL);
    assert_int_equal(json_array_size(json_object_get(longest, "methods")), 1000);
    assert_int_equal(number(longest, "left_out"), depth - 1000);
    row = row_of(rows, "method", "name", "A.B()");
    assert_string_equal(json_string_value(json_array_get(json_object_get(longest, "methods"), 0)),
                        text(row, "id"));
    row = row_of(rows, "method", "name", "Deep.M5000()");
    json_array_foreach(json_object_get(longest, "methods"), i, row)
        assert_true(json_is_string(row));
    json_decref(rows);
}

TEST(a_long_name_is_written_once_however_many_places_it_has, begin_log, remove_log)
{
    char *name = malloc(LONG + 1);
    struct ran ran;
    size_t size;

    memset(name, 'x', LONG);
    name[LONG] = '\0';
    small_log();
    LINE("{\"kind\":\"method\",\"id\":2,\"name\":\"%s\"}\n{\"kind\":\"class\",\"id\":2,\"name\":\"%"
         "s\"}\n",
         name, name);
    for (unsigned i = 2; i < 3000; i++) {
        LINE("{\"kind\":\"node\",\"id\":%u,\"parent\":1,\"method\":2,\"il\":%u}\n", i, i);
        LINE("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":%u,\"il\":"
             "%u}\n",
             i, i);
    }
    size = end_log();
    ran = ROWS(made);
    assert_int_equal(ran.status, CLI_OK);
    assert_in_range(strlen(ran.out), 2 * LONG, 10 * size);
    free(ran.out);
    free(name);
}

/* ---- packed ---- */

static char *file_text(const char *path, size_t *size)
{
    char *data = malloc(1 << 22);
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    *size = fread(data, 1, 1 << 22, file);
    fclose(file);
    unlink(path);
    return data;
}

TEST(the_ending_says_how_rows_are_packed, begin_log, remove_log)
{
    struct ran plain = ROWS("--host=h", FIXTURES "small.ndjson"), ran;
    char path[100], *data, *text_ = malloc(1 << 22);
    size_t size, expected = strlen(plain.out);
    z_stream z = {.next_out = (Bytef *)text_, .avail_out = 1 << 22};

    end_log();
    snprintf(path, sizeof(path), "%s.zst", made);
    ran = RUN(&cmd_export, "export", "--format=rows", "--host=h", "-o", path,
              FIXTURES "small.ndjson");
    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.err, " in 7 objects, "));
    free(ran.out);
    data = file_text(path, &size);
    assert_int_equal(ZSTD_decompress(text_, 1 << 22, data, size), expected);
    assert_memory_equal(text_, plain.out, expected);
    free(data);
    snprintf(path, sizeof(path), "%s.gz", made);
    ran = RUN(&cmd_export, "export", "--format=rows", "--host=h", "-o", path,
              FIXTURES "small.ndjson");
    assert_int_equal(ran.status, CLI_OK);
    free(ran.out);
    data = file_text(path, &size);
    z.next_in = (Bytef *)data;
    z.avail_in = (unsigned)size;
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_int_equal(z.total_out, expected);
    assert_memory_equal(text_, plain.out, expected);
    free(data);
    free(text_);
    free(plain.out);
}

/* ---- what cannot be done ---- */

TEST(a_log_that_does_not_say_when_it_was_recorded_is_refused, begin_log, remove_log)
{
    LINE("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":1}\n");
    end_log();
    expect_complaint(ROWS(made), CLI_IO, "does not say when it was recorded");
}

TEST(recordings_behind_one_another_are_refused, begin_log, remove_log)
{
    header_line(1);
    header_line(2);
    end_log();
    expect_complaint(ROWS(made), CLI_IO, "holds 2 recordings");
}

TEST(what_does_not_go_together_is_refused)
{
    static const char *const only[] = {"--redact", "--host=a", "--container=a"};

    for (size_t i = 0; i < COUNT_OF(only); i++)
        expect_complaint(RUN(&cmd_export, "export", only[i], FIXTURES "small.ndjson"), CLI_USAGE,
                         "go with --format rows");
    expect_complaint(ROWS("--min-share=1", FIXTURES "small.ndjson"), CLI_USAGE, "--min-share");
    expect_complaint(ROWS("--each", FIXTURES "small.ndjson"), CLI_USAGE, "--each");
    expect_complaint(RUN(&cmd_export, "export", "--format=rows", "--no-lines", "-o", "/dev/full",
                         FIXTURES "small.ndjson"),
                     CLI_IO, "cannot write /dev/full: No space left on device");
}

/* ---- copies that write for somebody ---- */

TEST(what_a_copy_has_written_is_learned_and_not_written_again)
{
    static const uint64_t before[2] = {1, 2}, since[2] = {3, 4};
    const struct export_rows_options options = {.host = "host"};
    struct export_rows *copy, *rows;
    char *told = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&told, &size);

    assert_int_equal(export_rows_new(out, &options, &copy), 0);
    assert_int_equal(export_rows_new(out, &options, &rows), 0);
    assert_true(rows_define(copy, ROWS_STACKS, before));
    export_rows_to(copy, out);
    assert_true(rows_define(copy, ROWS_STACKS, since));
    assert_false(rows_define(copy, ROWS_STACKS, before));
    assert_int_equal(export_rows_told(copy, out), 0);
    fclose(out);

    assert_int_equal(export_rows_learn(rows, told, size), 0);
    assert_int_equal(export_rows_known(rows), 1);
    assert_false(rows_define(rows, ROWS_STACKS, since));
    assert_true(rows_define(rows, ROWS_FRAMES, since)); /* each table has its own */
    export_rows_forget(rows);
    assert_int_equal(export_rows_known(rows), 0);
    assert_true(rows_define(rows, ROWS_STACKS, since));
    memset(told, 0xff, size);
    assert_int_equal(export_rows_learn(rows, told, size), -EBADMSG);
    export_rows_free(copy);
    export_rows_free(rows);
    free(told);
}
