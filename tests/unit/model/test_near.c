/*
 * The line of own code, of own-lines.ndjson. Main calls all at line 8, but for the last:
 *     1,000 bytes  in Basket.Add, the log does not say where
 *       200 bytes  in Basket.NoCode, which has no lines
 *        56 bytes  in string.Concat, called by Basket.Add at line 27
 *     3,000 bytes  in string.Concat, below no frame of own code
 *   3 x 40 bytes  of Shop.Item: in Main at line 7, in Basket.Add at 27, and in Basket.NoCode
 * Reports, budgets, metrics and `browse` put them in the same places.
 */
#include "unit/cli/command_support.h"
#include "unit/model/model_log.h"

#include "browse/browse.h"
#include "browse/load.h"
#include "browse/ranking.h"
#include "gate/gate.h"
#include "model/near.h"
#include "model/rows.h"
#include "report/frames.h"
#include "server/answer.h"

#include "base/clock.h"

#define LOG     FIXTURES "own-lines.ndjson"
#define SYMBOLS "tests/fuzz/corpus/symbols"
#define FILE_   "Zweite Datei \xc3\xbc.cs"
#define ADD     "Shop.Basket.Add(System.String)"
#define MAIN    "Shop.Program.Main(System.String[])"

static struct source_lines *lines;
static struct model_own *own;

static void know(const char *const *own_code, size_t count)
{
    static const char *const dirs[] = {SYMBOLS};

    model_begin(&plain_options);
    assert_int_equal(model_read(model, LOG, NULL), 0);
    assert_int_equal(model_finish(model), 0);
    assert_int_equal(source_lines_new(model_defs(model), dirs, 1, NULL, NULL, NULL, &lines), 0);
    assert_int_equal(model_own_new(model_defs(model), model_log(model), lines, own_code, count,
                                   &own, why, sizeof(why)),
                     0);
    assert_int_equal(model_know(model, own, lines), 0);
}

static int teardown(void **state)
{
    model_teardown(state);
    model_own_free(own);
    source_lines_free(lines);
    own = NULL;
    lines = NULL;
    return 0;
}

TEST_EACH(model_setup, teardown);

/* The place of the cell with these bytes. */
static bool place_of(struct model_near *near, double bytes, struct model_near_place *out)
{
    for (size_t i = 0; i < model_cell_count(model); i++)
        if (model_cell(model, i)->bytes == bytes)
            return model_near_find(near, model_cell(model, i)->path, model_cell(model, i)->il, out);
    fail_msg("no cell of %.0f bytes", bytes);
    return false;
}

static const char *method_of(const struct model_near_place *place)
{
    return log_method(model_defs(model), place->method)->name;
}

TEST(an_own_frame_whose_line_is_not_known_keeps_what_it_allocates)
{
    struct model_near_place at;
    struct model_near near;

    know(NULL, 0);
    assert_int_equal(model_near_init(&near, model_defs(model), own, lines), 0);
    assert_true(place_of(&near, 1000, &at));
    assert_string_equal(method_of(&at), ADD);
    assert_null(at.line.file);
    assert_int_equal(at.lack, MODEL_NEAR_LACKS_OFFSET);
    assert_true(place_of(&near, 200, &at)); /* what the compiler adds counts for its caller */
    assert_string_equal(method_of(&at), MAIN);
    assert_int_equal(at.line.line, 8);
    assert_true(place_of(&near, 56, &at));
    assert_string_equal(method_of(&at), ADD);
    assert_int_equal(at.line.line, 27);
    assert_int_equal(at.lack, MODEL_NEAR_LACKS_NOTHING);
    assert_false(place_of(&near, 3000, &at));
    model_near_fini(&near);
}

TEST(if_no_own_frame_has_lines_it_is_the_innermost_and_the_reason_is_known)
{
    static const char *const patterns[] = {"*NoCode*", "*Concat*"};
    struct model_near_place at;
    struct model_near near;

    know(patterns, 2);
    assert_int_equal(model_near_init(&near, model_defs(model), own, lines), 0);
    assert_true(place_of(&near, 200, &at));
    assert_int_equal(at.lack, MODEL_NEAR_LACKS_SOURCE);
    assert_true(place_of(&near, 3000, &at));
    assert_int_equal(at.lack, MODEL_NEAR_LACKS_SYMBOLS);
    model_near_fini(&near);
    assert_int_equal(model_near_init(&near, model_defs(model), own, NULL), 0);
    assert_true(place_of(&near, 3000, &at));
    assert_int_equal(at.lack, MODEL_NEAR_LACKS_NOTHING); /* nobody asked for lines */
    model_near_fini(&near);
}

TEST(nodes_of_a_tree_are_as_paths)
{
    const struct model_shape shape = {.grain = MODEL_GRAIN_LINE};
    struct model_near near;
    uint32_t *nodes;

    know(NULL, 0);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_int_equal(model_near_init(&near, model_defs(model), own, lines), 0);
    assert_int_equal(model_near_nodes(&near, tree, &nodes, NULL), 0);
    for (uint32_t node = 0; node < tree->node_count; node++)
        for (uint32_t i = tree->first_cell[node]; i < tree->first_cell[node + 1]; i++) {
            const struct report_cell *cell = model_cell(model, tree->cells[i]);
            const struct model_place *place = &tree->places[tree->nodes[nodes[node]].place];
            struct model_near_place at;
            bool found = model_near_find(&near, cell->path, cell->il, &at);

            assert_int_equal(found, nodes[node] != 0);
            if (found) {
                assert_int_equal(place->method, at.method);
                assert_ptr_equal(place->file, at.line.file);
                assert_int_equal(place->line, at.line.line);
            }
        }
    memory_free(nodes);
    model_near_fini(&near);
}

/* ---- generated code ---- */

/*
 * Main (written) calls Scan (generated), which calls Next (generated) and Add (written):
 *     100 bytes in Next, 20 in Scan, 3 in Add, and 4,000 in Scan as the outermost.
 */
static const char generated_log[] = HEADER
    "{\"kind\":\"module\",\"id\":1,\"name\":\"App\",\"owner\":\"own\"}\n"
    "{\"kind\":\"method\",\"id\":1,\"name\":\"Main\",\"module\":1,\"token\":1}\n"
    "{\"kind\":\"method\",\"id\":2,\"name\":\"Scan\",\"module\":1,\"token\":2}\n"
    "{\"kind\":\"method\",\"id\":3,\"name\":\"Next\",\"module\":1,\"token\":3}\n"
    "{\"kind\":\"method\",\"id\":4,\"name\":\"Add\",\"module\":1,\"token\":4}\n"
    "{\"kind\":\"class\",\"id\":1,\"name\":\"A\"}\n"
    "{\"kind\":\"thread\",\"id\":1}\n"
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}\n"
    "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2,\"il\":1}\n"
    "{\"kind\":\"node\",\"id\":3,\"parent\":2,\"method\":3,\"il\":1}\n"
    "{\"kind\":\"node\",\"id\":4,\"parent\":2,\"method\":4,\"il\":1}\n"
    "{\"kind\":\"node\",\"id\":5,\"parent\":0,\"method\":2}\n"
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":100,\"node\":3,\"il\":1}\n"
    "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":20,\"node\":2,\"il\":1}\n"
    "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":1,\"bytes\":3,\"node\":4,\"il\":1}\n"
    "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"class\":1,\"bytes\":4000,\"node\":5,\"il\":1}\n";

static void know_generated(void)
{
    static const char *const files[] = {"Main.cs", "obj/Regex.g.cs", "obj/Regex.g.cs", "Add.cs"};

    model_text(&plain_options, generated_log);
    assert_int_equal(source_lines_new(model_defs(model), NULL, 0, NULL, NULL, NULL, &lines), 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(source_lines_give(lines, i + 1, 1, files[i], 10 * (i + 1)), 0);
        assert_int_equal(source_lines_give(lines, i + 1, SOURCE_LINE_LAST, files[i], 99), 0);
    }
    assert_int_equal(
        model_own_new(model_defs(model), model_log(model), lines, NULL, 0, &own, why, sizeof(why)),
        0);
    assert_int_equal(model_know(model, own, lines), 0);
}

/* "Main.cs:10 120 Next", by line: its bytes, and the generated code that it goes before. */
static void expect_lines(const char *expected)
{
    const struct model_shape shape = {.grain = MODEL_GRAIN_LINE};
    struct model_rows rows;
    char text[300] = "";

    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_int_equal(
        model_rows_init(&rows, tree, &(struct model_rows_options){.key = MODEL_BY_OWN}), 0);
    for (size_t i = 0; i < rows.count; i++) {
        const struct model_row *row = &rows.rows[i];
        const struct model_row_passed *passed = model_row_passed(&rows, row);
        size_t at = strlen(text);

        if (model_row_self(&rows, row, MODEL_BYTES) > 0)
            snprintf(text + at, sizeof(text) - at, "%s:%u %.0f %s\n", row->place->file,
                     row->place->line, model_row_self(&rows, row, MODEL_BYTES),
                     passed ? log_method(model_defs(model), passed->place->method)->name : "-");
    }
    assert_string_equal(text, expected);
    model_rows_fini(&rows);
}

TEST(the_nearest_written_line_goes_before_generated_code)
{
    static const double bytes[] = {100, 20, 3, 4000};
    static const uint32_t numbers[] = {10, 10, 40, 20};
    struct model_near_place at;
    struct model_near near;

    know_generated();
    assert_int_equal(model_near_init(&near, model_defs(model), own, lines), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_true(place_of(&near, bytes[i], &at));
        assert_int_equal(at.line.line, numbers[i]);
    }
    model_near_fini(&near);
    expect_lines("obj/Regex.g.cs:20 4000 -\nMain.cs:10 120 Next\nAdd.cs:40 3 -\n");
    source_lines_show_generated(lines);
    expect_lines("obj/Regex.g.cs:20 4020 -\nobj/Regex.g.cs:30 100 -\nAdd.cs:40 3 -\n");
}

/* ---- everybody says the same ---- */

struct said {
    const char *method, *file; /* file: without folders; NULL: no line. method NULL: no own frame */
    long line;
    double bytes;
};
static const struct said truth[] = {{NULL, NULL, 0, 3000},
                                    {ADD, NULL, 0, 1000},
                                    {MAIN, FILE_, 8, 240},
                                    {ADD, FILE_, 27, 96},
                                    {MAIN, FILE_, 7, 40}};

static void expect_rows(const char *option, const char *value)
{
    struct ran ran =
        RUN(&cmd_report, "report", option, value, "--format=json", "--symbols", SYMBOLS, LOG);
    json_t *json = json_loads(ran.out, 0, NULL), *rows = json_object_get(json, "rows"), *row;
    size_t i, count = 0;

    assert_int_equal(ran.status, CLI_OK);
    json_array_foreach(rows, i, row)
    {
        const char *file = json_string_value(json_object_get(row, "file"));

        if (json_integer_value(json_object_get(row, "bytes")) == 0)
            continue;
        assert_true(count < COUNT_OF(truth));
        assert_int_equal(json_integer_value(json_object_get(row, "bytes")), truth[count].bytes);
        assert_int_equal(json_integer_value(json_object_get(row, "line")), truth[count].line);
        assert_int_equal(json_is_true(json_object_get(row, "no_own_frame")),
                         truth[count].method == NULL);
        assert_int_equal(json_object_get(row, "no_line") != NULL, count == 1);
        if (truth[count].method)
            assert_string_equal(json_string_value(json_object_get(row, "method")),
                                truth[count].method);
        assert_true(!file == !truth[count].file);
        if (file)
            assert_string_equal(strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
                                truth[count].file);
        count++;
    }
    assert_int_equal(count, COUNT_OF(truth));
    json_decref(json);
    free(ran.out);
}

TEST(reports_put_bytes_at_the_line)
{
    expect_rows("--by", "own");
    expect_rows("--view", "overview");
}

TEST(a_budget_puts_bytes_at_the_line)
{
    char path[] = "/tmp/shadowtrace-near-XXXXXX";
    struct ran ran;
    json_t *json, *limit;
    size_t i, count = 0;

    close(mkstemp(path));
    unlink(path);
    ran = RUN(&cmd_gate, "gate", "--symbols", SYMBOLS, "--jobs=1", "--learn", path, LOG);
    assert_int_equal(ran.status, CLI_OK);
    free(ran.out);
    json = json_load_file(path, 0, NULL);
    unlink(path);
    json_array_foreach(json_object_get(json, "limits"), i, limit)
    {
        long line = (long)json_integer_value(json_object_get(limit, "line"));
        const json_t *most = json_object_get(limit, "bytes");

        if (strcmp(json_string_value(json_object_get(limit, "of")), "line") != 0)
            continue;
        for (size_t k = 1; k < COUNT_OF(truth); k++)
            if (truth[k].line == line) {
                assert_string_equal(json_string_value(json_object_get(limit, "method")),
                                    truth[k].method);
                assert_int_equal(json_integer_value(json_object_get(most, "max")), truth[k].bytes);
                assert_true(line || !json_object_get(limit, "text"));
                count++;
            }
    }
    assert_int_equal(count, COUNT_OF(truth) - 1);
    json_decref(json);
}

TEST(metrics_put_bytes_at_the_line)
{
    static struct serve_options options = {.top = 2, .symbols = {.item = {SYMBOLS}, .count = 1}};
    struct traced_set set = {.count = 0};
    const struct answer_ask how = {
        .kind = ANSWER_METRICS, .set = &set, .now_ns = clock_ns(), .options = &options};
    char *text, sample[400];
    size_t size;
    FILE *out;

    for (options.top = 1; options.top < 20; options.top += 18) {
        out = open_memstream(&text, &size);
        if (!set.count)
            assert_int_equal(traced_add(&set, 0, LOG, clock_ns()), 0);
        while (traced_step(&set, 1000000000, UINT64_MAX))
            ;
        assert_int_equal(answer_metrics(&how, out), 0);
        fclose(out);
        for (size_t i = 0; i < (options.top == 1 ? 2 : COUNT_OF(truth)); i++) {
            const struct said *s = &truth[i];
            char site[100] = "";

            if (s->file)
                snprintf(site, sizeof(site), "%s:%ld", s->file, s->line);
            snprintf(sample, sizeof(sample), "site=\"%s\",method=\"%s\"%s} %.0f\n", site,
                     s->method ? s->method : "", s->method ? "" : ",own=\"false\"", s->bytes);
            if (!strstr(text, sample))
                fail_msg("no %s in %s", sample, text);
        }
        free(text);
    }
    traced_free(&set);
}

TEST(browse_puts_bytes_at_the_line)
{
    static struct load_options options;
    static struct loaded loaded;
    char *paths[] = {(char *)(uintptr_t)LOG};
    struct buffer name = BUFFER_INIT;
    struct ranking r;
    size_t count = 0;

    options =
        (struct load_options){.reading.quiet = true, .symbols = {.item = {SYMBOLS}, .count = 1}};
    assert_int_equal(browse_load(&cmd_browse, &options, paths, 1, &loaded), 0);
    assert_int_equal(data_style(&loaded.data, NAMES_FULL), 0);
    assert_int_equal(ranking_make(&loaded.data, VIEW_OWN, NULL, &r), 0);
    for (size_t i = 0; i < r.count && r.rows[i].self[MODEL_BYTES] > 0; i++, count++) {
        const struct said *s = &truth[count];
        char expected[100] = MODEL_NEAR_NONE;

        if (s->file)
            snprintf(expected, sizeof(expected), "%s:%ld", s->file, s->line);
        else if (s->method)
            snprintf(expected, sizeof(expected), "%s (optimised)", s->method);
        assert_int_equal(r.rows[i].self[MODEL_BYTES], s->bytes);
        assert_string_equal(ranking_name(&loaded.data, &r, &r.rows[i], &name), expected);
    }
    assert_int_equal(count, COUNT_OF(truth));
    ranking_fini(&r);
    buffer_free(&name);
    browse_load_end(&loaded);
}
