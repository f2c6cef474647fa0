/*
 * Each log, asked in every way for bytes by line of own code: the answer is that of `report --by own`.
 * (The page is held to the same by tests/e2e/test_agree.py, in a browser's engine.)
 *
 * An answer is a JSON object: "Program.cs:12", a method whose line is not known, or MODEL_NEAR_NONE, and its bytes.
 */
#include "unit/cli/command_support.h"

#include "browse/browse.h"
#include "browse/load.h"
#include "browse/ranking.h"
#include "gate/gate.h"
#include "model/near.h"
#include "retained/retained.h"
#include "server/answer.h"
#include "support/test.h"
#include "unit/heap/made_heap.h"

#include "base/clock.h"

#include <math.h>

#define SYMBOLS "--symbols=tests/fuzz/corpus/symbols"
#define FUZZ    "tests/fuzz/corpus/log/"

static const char *const logs[] = {
    FIXTURES "alive-missed.ndjson",
    FIXTURES "alive-sampled.ndjson",
    FIXTURES "alive.ndjson",
    FIXTURES "damaged.ndjson",
    FIXTURES "dynamic.ndjson",
    FIXTURES "heap.ndjson",
    FIXTURES "inline.ndjson",
    FIXTURES "late-sampled.ndjson",
    FIXTURES "lines-newer.ndjson",
    FIXTURES "lines-sampled.ndjson",
    FIXTURES "lines.ndjson",
    FIXTURES "live.ndjson",
    FIXTURES "marks.ndjson",
    FIXTURES "native.ndjson",
    FIXTURES "newer.ndjson",
    FIXTURES "own-lines.ndjson",
    FIXTURES "own.ndjson",
    FIXTURES "sampled.ndjson",
    FIXTURES "several.ndjson",
    FIXTURES "sites.ndjson",
    FIXTURES "small.ndjson",
    FUZZ "calls.ndjson",
    FUZZ "inlined.ndjson",
    FUZZ "kinds.ndjson",
    FUZZ "window.zst",
};

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/'), *back = strrchr(file, '\\');

    return back && back > slash ? back + 1 : slash ? slash + 1 : file;
}

static void put(json_t *answer, const char *key, double bytes)
{
    const double before = json_number_value(json_object_get(answer, key));

    if (bytes > 0)
        json_object_set_new(answer, key, json_real(before + bytes));
}

/* at: has the members line and line_last. */
static void put_line(json_t *answer, const char *method, const char *file, const json_t *at,
                     double bytes)
{
    const json_int_t line = json_integer_value(json_object_get(at, "line"));
    const json_int_t last = json_integer_value(json_object_get(at, "line_last"));
    char key[600];

    if (file && line && last)
        snprintf(key, sizeof(key), "%s:%lld-%lld", base_name(file), (long long)line,
                 (long long)last);
    else if (file && line)
        snprintf(key, sizeof(key), "%s:%lld", base_name(file), (long long)line);
    else
        snprintf(key, sizeof(key), "%s", method ? method : MODEL_NEAR_NONE);
    put(answer, key, bytes);
}

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static json_t *of_rows(const json_t *rows, const char *bytes)
{
    json_t *answer = json_object(), *row;
    size_t i;

    json_array_foreach(rows, i, row)
        put_line(answer, text_of(row, "method"), text_of(row, "file"), row,
                 json_number_value(json_object_get(row, bytes)));
    return answer;
}

/* estimated: NULL: not needed. */
static json_t *report_of(const char *log, const char *option, const char *value, const char *more,
                         bool *estimated)
{
    json_t *json = printed(
        RUN(&cmd_report, "report", option, value, "--format=json", "--jobs=1", SYMBOLS, log, more));
    json_t *answer = of_rows(json_object_get(json, "rows"), "bytes");

    if (estimated)
        *estimated = json_is_true(json_object_get(json_object_get(json, "total"), "estimated"));
    json_decref(json);
    return answer;
}

/* slack: what each of several rounded estimates of a line may add. part: not all have to be found. */
static void expect_same(const char *log, const char *who, json_t *found, const json_t *truth,
                        bool part, double slack)
{
    const char *key;
    json_t *bytes;

    json_object_foreach(found, key, bytes)
    {
        const double expected = json_number_value(json_object_get(truth, key));

        if (fabs(json_number_value(bytes) - expected) > slack)
            fail_msg("%s: %s has %.0f bytes at %s; report has %.0f", log, who,
                     json_number_value(bytes), key, expected);
    }
    if (!part)
        json_object_foreach((json_t *)(uintptr_t)truth, key,
                            bytes) if (!json_object_get(found, key))
            fail_msg("%s: %s has nothing at %s; report has %.0f", log, who, key,
                     json_number_value(bytes));
    json_decref(found);
}

static json_t *browse_of(const char *log)
{
    static struct load_options options;
    static struct loaded loaded;
    char *paths[] = {(char *)(uintptr_t)log};
    struct buffer name = BUFFER_INIT;
    json_t *answer = json_object();
    struct ranking r;

    options = (struct load_options){.reading.quiet = true,
                                    .symbols = {.item = {"tests/fuzz/corpus/symbols"}, .count = 1}};
    assert_int_equal(browse_load(&cmd_browse, &options, paths, 1, &loaded), 0);
    assert_int_equal(data_style(&loaded.data, NAMES_FULL), 0);
    assert_int_equal(ranking_make(&loaded.data, VIEW_OWN, NULL, &r), 0);
    for (size_t i = 0; i < r.count; i++) {
        r.rows[i].lack = MODEL_NEAR_LACKS_NOTHING; /* the method alone */
        put(answer, ranking_name(&loaded.data, &r, &r.rows[i], &name), r.rows[i].self[MODEL_BYTES]);
    }
    ranking_fini(&r);
    buffer_free(&name);
    browse_load_end(&loaded);
    return answer;
}

/* Lines that a budget has, and what they had when it was learned; NULL: none can be learned. */
static json_t *gate_of(const char *log)
{
    char path[] = "/tmp/shadowtrace-answer-XXXXXX";
    json_t *answer = NULL, *json, *limit;
    struct ran ran;
    size_t i;

    close(mkstemp(path));
    unlink(path);
    ran = RUN(&cmd_gate, "gate", SYMBOLS, "--jobs=1", "--learn", path, log);
    free(ran.out);
    json = json_load_file(path, 0, NULL);
    unlink(path);
    if (json)
        answer = json_object();
    json_array_foreach(json_object_get(json, "limits"), i, limit)
    {
        const json_t *seen = json_object_get(json_object_get(limit, "bytes"), "seen");

        if (!strcmp(text_of(limit, "of"), "line"))
            put_line(answer, text_of(limit, "method"), text_of(limit, "file"), limit,
                     json_number_value(json_array_get(seen, 0)));
    }
    json_decref(json);
    return answer;
}

/* shadowtrace_site_allocated_bytes_total{..., site="F.cs:1",method="M"} 12 */
static json_t *metrics_of(const char *log)
{
    static struct serve_options options = {
        .top = 100, .symbols = {.item = {"tests/fuzz/corpus/symbols"}, .count = 1}};
    struct traced_set set = {.count = 0};
    const struct answer_ask how = {
        .kind = ANSWER_METRICS, .set = &set, .now_ns = clock_ns(), .options = &options};
    json_t *answer = json_object();
    char *text, *line, *rest;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(traced_add(&set, 0, log, clock_ns()), 0);
    while (traced_step(&set, 1000000000, UINT64_MAX))
        ;
    assert_int_equal(answer_metrics(&how, out), 0);
    fclose(out);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char site[300] = "", method[500] = "", *at = strstr(line, "site=\"");

        if (!strstr(line, "site_allocated_bytes_total{") || !at)
            continue;
        sscanf(at, "site=\"%299[^\"]", site);
        at = strstr(line, "method=\"");
        if (at)
            sscanf(at, "method=\"%499[^\"]", method);
        put(answer,
            *site     ? site
            : *method ? method
                      : MODEL_NEAR_NONE,
            strtod(strrchr(line, ' '), NULL));
    }
    free(text);
    traced_free(&set);
    return answer;
}

static json_t *diff_of(const char *log)
{
    char path[] = "/tmp/shadowtrace-answer-XXXXXX";
    static const char nothing[] =
        "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n";
    int fd = mkstemp(path);
    json_t *json, *answer;

    assert_int_equal(write(fd, nothing, sizeof(nothing) - 1), sizeof(nothing) - 1);
    close(fd);
    json = printed(
        RUN(&cmd_diff, "diff", "--by=own", "--format=json", "--jobs=1", SYMBOLS, path, log));
    unlink(path);
    answer = of_rows(json_object_get(json, "rows"), "bytes");
    json_decref(json);
    return answer;
}

/* What an allocation leaves in a log with live objects, and in a dump of which no object is dead. Returns: whether that can
 * say it. A byte of the log is a unit of the dump. */
static bool put_object(struct made_heap *m, json_t *record, uint32_t id, uint64_t *address)
{
    static const char *const members[] = {"t", "thread", "bytes", "allocs", "heap", "values"};
    const uint64_t units = (uint64_t)json_integer_value(json_object_get(record, "bytes"));

    if (json_object_get(record, "stack") || json_object_get(record, "type") ||
        json_object_get(record, "weight"))
        return false;
    for (size_t i = 0; i < COUNT_OF(members); i++)
        json_object_del(record, members[i]);
    json_object_set_new(record, "kind", json_string("live_site"));
    json_object_set_new(record, "id", json_integer(id));
    made_object(m, *address, 1, units, NULL, 0);
    made_root(m, *address, SST_HEAP_ROOT_STACK, 0, 1);
    made_site(m, *address, id);
    *address += units * SST_HEAP_UNIT;
    return true;
}

/* The log's definitions, and its allocations as what a heap is full of. Returns: whether that can say all of them. */
static bool put_heap(struct made_heap *m, FILE *in, FILE *out)
{
    uint64_t address = UINT64_C(0x7f0000000000);
    uint32_t sites = 0, headers = 0;
    char *line = NULL;
    size_t room = 0;
    bool all = true;

    while (getline(&line, &room, in) > 0) {
        json_t *record = json_loads(line, 0, NULL);
        const char *kind = json_is_object(record) ? text_of(record, "kind") : NULL;

        all = all && record;
        if (kind && !strcmp(kind, "header")) {
            headers++;
            json_object_set_new(record, "pid", json_integer(7)); /* made_begin */
            json_object_set_new(record, "clock", json_integer(1000));
        }
        if (kind && (!strcmp(kind, "alloc") || !strcmp(kind, "site")))
            all = put_object(m, record, ++sites, &address) && all;
        else if (kind && !strncmp(kind, "live", strlen("live")))
            kind = NULL;
        if (kind && strcmp(kind, "end") != 0) {
            json_dumpf(record, out, JSON_COMPACT);
            putc('\n', out);
        }
        json_decref(record);
    }
    free(line);
    return all && sites && headers == 1;
}

/* What no own frame holds stands at another frame there; here, too, it is of none. NULL: no dump can say it. */
static json_t *retained_of(const char *log, const json_t *truth)
{
    char copy[] = "/tmp/shadowtrace-answer-XXXXXX", dump[] = "/tmp/shadowtrace-answer-XXXXXX";
    FILE *in = fopen(log, "r"), *out = fdopen(mkstemp(copy), "w");
    json_t *answer = NULL, *json, *rows;
    struct made_heap m;
    const char *key;
    void *next;

    close(mkstemp(dump));
    made_begin(&m, 100);
    if (put_heap(&m, in, out)) {
        made_name(&m, SST_HEAP_CLASSES, 1, 0, "Made");
        made_name(&m, SST_HEAP_NAMES, 1, 0, "Main");
        made_end(&m);
        made_write(&m, dump);
        fflush(out);
        json = printed(RUN(&cmd_retained, "retained", "--format=json", "--top=0", SYMBOLS, copy, dump));
        rows = of_rows(json_object_get(json, "lines"), "bytes");
        answer = json_object();
        for (next = json_object_iter(rows); next; next = json_object_iter_next(rows, next)) {
            key = json_object_iter_key(next);
            put(answer, json_object_get(truth, key) ? key : MODEL_NEAR_NONE,
                json_number_value(json_object_iter_value(next)) / SST_HEAP_UNIT);
        }
        json_decref(rows);
        json_decref(json);
    }
    made_free(&m);
    fclose(in);
    fclose(out);
    unlink(copy);
    unlink(dump);
    return answer;
}

static bool same_line(const json_t *line, const json_t *row)
{
    return json_equal(json_object_get(line, "line"), json_object_get(row, "line")) &&
           json_integer_value(json_object_get(line, "line_last")) ==
               json_integer_value(json_object_get(row, "line_last"));
}

/* Of each file: what its lines made, with calls. */
static void expect_annotated(const char *log, double slack)
{
    json_t *json =
        printed(RUN(&cmd_report, "report", "--by=own", "--format=json", "--jobs=1", SYMBOLS, log));
    json_t *totals = of_rows(json_object_get(json, "rows"), "total_bytes"), *row, *line;
    size_t i, k;

    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        const char *file = text_of(row, "file");
        json_t *found = json_object(), *annotated;

        if (file) {
            annotated =
                printed(RUN(&cmd_annotate, "annotate", "--format=json", SYMBOLS, log, file));
            json_array_foreach(json_object_get(annotated, "lines"), k, line)
                if (same_line(line, row))
                    put_line(found, NULL, file, line,
                             json_number_value(json_object_get(line, "bytes")) +
                                 json_number_value(json_object_get(line, "below_bytes")));
            assert_int_equal(json_object_size(found), 1);
            json_decref(annotated);
        }
        expect_same(log, "annotate", found, totals, true, slack);
    }
    json_decref(totals);
    json_decref(json);
}

TEST(each_view_puts_the_same_bytes_at_the_same_line)
{
    unsigned dumps = 0;

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        bool estimated;
        json_t *truth = report_of(logs[i], "--by", "own", NULL, &estimated);
        json_t *steady = report_of(logs[i], "--by", "own", "--steady", NULL);
        json_t *overview = report_of(logs[i], "--view", "overview", NULL, NULL);
        json_t *gate = gate_of(logs[i]);
        json_t *retained = retained_of(logs[i], truth);
        const double slack = estimated ? 3 : 0;

        expect_same(logs[i], "the overview", overview, truth, false, 0);
        expect_same(logs[i], "diff", diff_of(logs[i]), truth, false, slack);
        expect_same(logs[i], "browse", browse_of(logs[i]), truth, false, slack);
        expect_same(logs[i], "/metrics", metrics_of(logs[i]), truth, false, slack);
        if (gate)
            expect_same(logs[i], "gate", gate, steady, true, slack);
        dumps += retained != NULL;
        if (retained)
            expect_same(logs[i], "retained", retained, truth, false, 0);
        expect_annotated(logs[i], slack);
        json_decref(truth);
        json_decref(steady);
    }
    assert_true(dumps >= 12); /* not of logs that are sampled, damaged, compressed, or have inline stacks */
}
