#include "model/names.h"
#include "model/own.h"

#include "unit/model/model_log.h"

#include <dirent.h>

TEST_EACH(model_setup, model_teardown);

#define DEFINITIONS \
    HEADER "{\"kind\":\"module\",\"id\":1,\"name\":\"App\",\"path\":\"/a/App.dll\"}\n" \
           "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n" \
           "{\"kind\":\"thread\",\"id\":2,\"os\":101}\n" \
           "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n" \
           "{\"kind\":\"class\",\"id\":2,\"name\":\"App.Thing[]\",\"module\":1}\n" \
           "{\"kind\":\"method\",\"id\":1,\"name\":\"App.P.Main()\",\"module\":1,\"token\":1}\n" \
           "{\"kind\":\"method\",\"id\":2,\"name\":\"App.P.Work(System.Int32)\",\"module\":1}\n" \
           "{\"kind\":\"method\",\"id\":3,\"name\":\"App.P.Help()\",\"module\":1}\n" \
           "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n" \
           "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2,\"il\":7}\n" \
           "{\"kind\":\"node\",\"id\":3,\"parent\":1,\"method\":2,\"il\":9}\n" \
           "{\"kind\":\"node\",\"id\":4,\"parent\":3,\"method\":3,\"il\":2}\n"
#define ALLOC(thread, class, bytes, node, il) \
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":" #thread \
    ",\"class\":" #class ",\"bytes\":" #bytes ",\"node\":" #node ",\"il\":" #il "}\n"

static const char some[] = DEFINITIONS ALLOC(1, 1, 24, 2, 3) ALLOC(2, 1, 32, 2, 3)
    ALLOC(1, 2, 800, 1, 1) ALLOC(1, 1, 40, 3, 3) ALLOC(1, 2, 100, 4, 5) ALLOC(1, 1, 64, 0, 0);

TEST(methods_are_told_apart_by_their_callers)
{
    const struct model_shape shape = {.grain = MODEL_GRAIN_METHOD};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(), "all 0/1060 0/6\n"
                                           " App.P.Main() 800/996 1/5\n"
                                           "  App.P.Work(System.Int32) 96/196 3/4\n"
                                           "   App.P.Help() 100/100 1/1\n"
                                           " (no managed frame) 64/64 1/1\n");
    assert_int_equal(tree->nodes[1].end, 4);
    assert_int_equal(tree->nodes[3].parent, 2);
}

TEST(instructions_are_where_the_next_frame_is_called_or_the_object_made)
{
    const struct model_shape shape = {.grain = MODEL_GRAIN_IL};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(), "all 0/1060 0/6\n"
                                           " App.P.Main() +1 800/800 1/1\n"
                                           " App.P.Main() +9 0/140 0/2\n"
                                           "  App.P.Work(System.Int32) +2 0/100 0/1\n"
                                           "   App.P.Help() +5 100/100 1/1\n"
                                           "  App.P.Work(System.Int32) +3 40/40 1/1\n"
                                           " (no managed frame) 64/64 1/1\n"
                                           " App.P.Main() +7 0/56 0/2\n"
                                           "  App.P.Work(System.Int32) +3 56/56 2/2\n");
}

TEST(lines_tell_frames_apart_if_symbols_know_them)
{
    static const char *const dirs[] = {"tests/fuzz/corpus/symbols"};
    const struct model_shape shape = {.grain = MODEL_GRAIN_LINE};
    struct source_lines *lines;

    model_begin(&plain_options);
    assert_int_equal(model_read(model, "tests/fixtures/logs/lines.ndjson", NULL), 0);
    assert_int_equal(model_finish(model), 0);
    assert_int_equal(source_lines_new(model_defs(model), dirs, 1, NULL, NULL, NULL, &lines), 0);
    assert_int_equal(model_know(model, NULL, lines), 0);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(),
                        "all 0/136592 0/10\n"
                        " (no managed frame) 131096/131096 1/1\n"
                        " Shop.Program.Main(System.String[]):8 0/5368 0/6\n"
                        "  Shop.Basket.Add(System.String):33 4120/4120 1/1\n"
                        "  Shop.Basket.Add(System.String):27 1024/1248 1/5\n"
                        "   System.String.Concat(System.String, System.String) 224/224 4/4\n"
                        " Shop.Program.Main(System.String[]):700 64/64 1/1\n"
                        " Shop.Program.Main(System.String[]):7 40/40 1/1\n"
                        " Shop.Basket.NoCode() 24/24 1/1\n");
    source_lines_free(lines);
}

TEST(types_are_leaves)
{
    const struct model_shape shape = {.types = true};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(), "all 0/1060 0/6\n"
                                           " App.P.Main() 0/996 0/5\n"
                                           "  App.Thing[] 800/800 1/1\n"
                                           "  App.P.Work(System.Int32) 0/196 0/4\n"
                                           "   App.P.Help() 0/100 0/1\n"
                                           "    App.Thing[] 100/100 1/1\n"
                                           "   System.String 96/96 3/3\n"
                                           " (no managed frame) 0/64 0/1\n"
                                           "  System.String 64/64 1/1\n");
}

TEST(what_is_too_small_goes_into_its_parent)
{
    const struct model_shape shape = {.types = true, .min_share = 0.1};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(), "all 64/1060 1/6\n"
                                           " App.P.Main() 0/996 0/5\n"
                                           "  App.Thing[] 800/800 1/1\n"
                                           "  App.P.Work(System.Int32) 196/196 4/4\n");
    assert_int_equal(tree->folded_nodes, 5);
    assert_true(tree->folded_bytes == 64 + 100 + 96);
    assert_int_equal(tree->cell_count, 5);
    assert_int_equal(tree->first_cell[1], 1);
    assert_int_equal(tree->first_cell[4], 5);
    assert_int_equal(model_cell(model, tree->cells[0])->path, LOG_PATH_EMPTY);
}

static double bytes_of(const struct model_filter *filter)
{
    const struct model_shape shape = {0};

    assert_int_equal(model_tree_of(filter, &shape), 0);
    return tree->total[MODEL_BYTES][0];
}

#define GLOBS(...) \
    { \
        .globs = (const char *const[]){__VA_ARGS__}, .count = 1 \
    }

TEST(filters_select)
{
    const struct model_options threads = {.dimensions.threads = true};

    model_text(&threads, some);
    assert_true(bytes_of(&(struct model_filter){.types = GLOBS("*String")}) == 160);
    assert_true(bytes_of(&(struct model_filter){.methods = GLOBS("App.P.Work")}) == 196);
    assert_true(bytes_of(&(struct model_filter){.methods = GLOBS("App.P.Work(System.Int32)")}) ==
                196);
    assert_true(bytes_of(&(struct model_filter){.exclude = GLOBS("*.Help*")}) == 960);
    assert_true(bytes_of(&(struct model_filter){.exclude = GLOBS("*Thing*")}) == 160);
    assert_true(bytes_of(&(struct model_filter){.thread = 2}) == 32);
    assert_true(bytes_of(&(struct model_filter){
                    .types = {.globs = (const char *const[]){"*Thing*", "*String"}, .count = 2}}) ==
                1060);
}

TEST(stacks_can_begin_below_a_method)
{
    const struct model_filter below = {.below = GLOBS("*Work*")};
    const struct model_shape shape = {0};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&below, &shape), 0);
    assert_string_equal(model_tree_text(), "all 0/196 0/4\n"
                                           " App.P.Work(System.Int32) 96/196 3/4\n"
                                           "  App.P.Help() 100/100 1/1\n");
}

TEST(a_glob_that_matches_nothing_is_told_the_nearest_name)
{
    const struct model_shape shape = {0};

    model_text(&plain_options, some);
    assert_int_equal(model_tree_of(&(struct model_filter){.methods = GLOBS("P.Wrok")}, &shape),
                     -ENOENT);
    assert_string_equal(why, "no method matches \"P.Wrok\"; did you mean \"App.P.Work\"?");
    assert_int_equal(model_tree_of(&(struct model_filter){.types = GLOBS("*Strng*")}, &shape),
                     -ENOENT);
    assert_string_equal(why, "no type matches \"*Strng*\"; did you mean \"String\"?");
    assert_int_equal(
        model_tree_of(&(struct model_filter){.exclude = GLOBS("nothing like it")}, &shape),
        -ENOENT);
    assert_string_equal(why, "no method or type matches \"nothing like it\"");
}

TEST(globs_mean_the_names_that_are_shown_too)
{
    struct names *shown, *full;

    model_text(&plain_options, some);
    assert_int_equal(names_new(model_defs(model), NAMES_SHORT, &shown), 0);
    assert_int_equal(names_new(model_defs(model), NAMES_FULL, &full), 0);
    model_call(model, shown, full);
    assert_true(bytes_of(&(struct model_filter){.types = GLOBS("string")}) == 160);
    assert_true(bytes_of(&(struct model_filter){.types = GLOBS("System.String")}) == 160);
    assert_true(bytes_of(&(struct model_filter){.types = GLOBS("Thing[]")}) == 900);
    assert_true(bytes_of(&(struct model_filter){.methods = GLOBS("P.Work")}) == 196);
    assert_int_equal(model_tree_of(&(struct model_filter){.types = GLOBS("strnig")},
                                   &(struct model_shape){.types = true}),
                     -ENOENT);
    assert_string_equal(why, "no type matches \"strnig\"; did you mean \"string\"?");
    names_free(shown);
    names_free(full);
}

TEST(a_model_without_allocations_has_a_root)
{
    const struct model_shape shape = {.min_share = 0.01, .types = true};

    model_text(&plain_options, HEADER);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    assert_string_equal(model_tree_text(), "all 0/0 0/0\n");
}

#define DEEP 100000

/* A log of one stack DEEP frames deep, which allocates in every tenth of them. */
static char *deep_log(void)
{
    size_t size = (size_t)DEEP * 160, at = 0;
    char *text = malloc(size);

    assert_non_null(text);
    at += (size_t)snprintf(text, size, "%s", DEFINITIONS);
    for (unsigned i = 1; i < DEEP; i++) {
        at +=
            (size_t)snprintf(text + at, size - at,
                             "{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":4}\n",
                             i + 10, i == 1 ? 0 : i + 9, 1 + i % 3);
        if (i % 10 == 0)
            at += (size_t)snprintf(text + at, size - at,
                                   "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,"
                                   "\"bytes\":24,\"node\":%u,\"il\":3}\n",
                                   i + 10);
        assert_true(at < size - 200);
    }
    return text;
}

/* Each frame once, whatever the depth: this takes milliseconds, frame by frame it would minutes. */
TEST(deep_stacks_cost_as_much_as_they_have_frames)
{
    char *text = deep_log();
    uint64_t(*ids)[2];

    model_text(&plain_options, text);
    free(text);
    for (unsigned i = 0; i < 6; i++) {
        const struct model_shape shape = {.grain = (enum model_grain)(i % 3),
                                          .types = i / 3,
                                          .fold_recursion = i / 3,
                                          .min_share = i / 3 * 1e-9};

        assert_int_equal(model_tree_of(&everything, &shape), 0);
        assert_true(tree->node_count >= DEEP - 10);
        assert_true(tree->total[MODEL_BYTES][0] == (DEEP / 10 - 1) * 24);
        assert_int_equal(tree->nodes[DEEP - 20].depth >= DEEP / 2, 1);
    }
    assert_int_equal(model_tree_ids(tree, &ids), 0);
    memory_free(ids);
}

/* The sums of a log's alloc and site lines, by a reader of another kind. */
static void sums_of(const char *path, uint64_t *bytes, uint64_t *allocs)
{
    size_t size;
    char *text = memory_log_file(path, &size);

    *bytes = *allocs = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *json = json_loads(line, 0, NULL);
        const char *kind = json_string_value(json_object_get(json, "kind"));
        bool site = kind && strcmp(kind, "site") == 0, alloc = kind && strcmp(kind, "alloc") == 0;

        if (site || alloc) {
            *bytes += (uint64_t)json_integer_value(json_object_get(json, "bytes"));
            *allocs += site ? (uint64_t)json_integer_value(json_object_get(json, "allocs")) : 1;
        }
        json_decref(json);
    }
    free(text);
}

/* Folded or not, with whatever is known of the log's code. */
static void check_shape(const struct model_shape *shape, const double total[2])
{
    double self = 0;

    assert_int_equal(model_tree_of(&everything, shape), 0);
    assert_true(tree->total[MODEL_BYTES][0] == total[0]);
    assert_true(tree->total[MODEL_ALLOCS][0] == total[1]);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct model_node *n = &tree->nodes[i];
        double sum = tree->self[MODEL_BYTES][i], before = -1;

        self += sum;
        assert_true(i == 0 || (n->parent < i && n->end <= tree->nodes[n->parent].end));
        for (uint32_t child = i + 1; child < n->end; child = tree->nodes[child].end) {
            assert_int_equal(tree->nodes[child].parent, i);
            assert_true(before < 0 || tree->total[MODEL_BYTES][child] <= before);
            sum += before = tree->total[MODEL_BYTES][child];
        }
        assert_true(model_estimated(model) || sum == tree->total[MODEL_BYTES][i]);
    }
    assert_true(model_estimated(model) || self == total[0]);
    assert_int_equal(tree->first_cell[tree->node_count], tree->cell_count);
    assert_int_equal(tree->cell_count, model_cell_count(model));
}

static void check_log(const char *path)
{
    struct model_own *own;
    uint64_t bytes, allocs;
    double total[2];

    model_begin(&plain_options);
    assert_int_equal(model_read(model, path, NULL), 0);
    assert_int_equal(model_finish(model), 0);
    assert_int_equal(
        model_own_new(model_defs(model), model_log(model), NULL, NULL, 0, &own, why, sizeof(why)),
        0);
    assert_int_equal(model_know(model, own, NULL), 0);
    total[0] = model_weight_total(model, MODEL_BYTES);
    total[1] = model_weight_total(model, MODEL_ALLOCS);
    if (!model_estimated(model) && !model_log(model)->skipped) {
        sums_of(path, &bytes, &allocs);
        assert_true(total[0] == (double)bytes);
        assert_true(total[1] == (double)allocs);
    }
    for (unsigned i = 0; i < 48; i++)
        check_shape(&(struct model_shape){.grain = (enum model_grain)(i % 3),
                                          .types = i / 3 & 1,
                                          .fold_recursion = i / 6 & 1,
                                          .fold_framework = i / 12 & 1,
                                          .min_share = i / 24 ? 0.02 : 0},
                    total);
    model_own_free(own);
}

TEST(every_fixture_adds_up)
{
    static const char folder[] = "tests/fixtures/logs";
    DIR *dir = opendir(folder);
    unsigned count = 0;

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[300];

        if (!strstr(entry->d_name, ".ndjson"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, "version2.ndjson") == 0)
            continue; /* cannot be read */
        print_message("%s\n", path);
        check_log(path);
        count++;
    }
    closedir(dir);
    assert_true(count > 15);
}
