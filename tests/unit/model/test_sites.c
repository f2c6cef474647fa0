#include "unit/model/rows_log.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"
#define DEFINITIONS \
    HEADER "{\"kind\":\"module\",\"id\":1,\"name\":\"App\",\"path\":\"/a/App.dll\"}\n" \
           "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n" \
           "{\"kind\":\"thread\",\"id\":2,\"os\":101}\n" \
           "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n" \
           "{\"kind\":\"class\",\"id\":2,\"name\":\"App.Thing[]\",\"module\":1}\n" \
           "{\"kind\":\"method\",\"id\":1,\"name\":\"App.Main()\",\"module\":1,\"token\":1}\n" \
           "{\"kind\":\"method\",\"id\":2,\"name\":\"App.Work(System.Int32)\",\"module\":1}\n" \
           "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n" \
           "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2,\"il\":7}\n"

static struct rows_log made;

static int teardown(void **state)
{
    (void)state;
    rows_log_free(&made);
    return 0;
}

TEST_EACH(NULL, teardown);

static const struct model_filter everything = {.thread = 0};

static void read_text(enum model_key by, const struct model_filter *filter, const char *text)
{
    rows_log_free(&made);
    assert_int_equal(rows_log_read(&made, text, by, filter, false), 0);
}

static const struct model_row *row(size_t index)
{
    assert_true(index < made.rows.count);
    return &made.rows.rows[index];
}

static struct model_amount amount(size_t index)
{
    double weights[MODEL_WEIGHTS];
    struct model_amount out;

    model_row_weights(&made.rows, row(index), false, weights);
    model_amount_of(made.model, weights, &out);
    return out;
}

static const char *method_of(const struct model_row *r)
{
    const struct log_defs *d = model_defs(made.model);

    return log_method(d, log_call_path(d, r->what)->method)->name;
}

static double total(enum model_weight weight)
{
    return made.tree->total[weight][0];
}

static const char four[] = DEFINITIONS
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":2,\"il\":3}\n"
    "{\"kind\":\"alloc\",\"t\":2,\"thread\":2,\"class\":1,\"bytes\":32,\"node\":2,\"il\":3}\n"
    "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":2,\"bytes\":800,\"node\":1}\n"
    "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":0}\n";

TEST(sites_add_up_most_bytes_first)
{
    const struct log_defs *d;

    read_text(MODEL_BY_SITE, &everything, four);
    d = model_defs(made.model);
    assert_int_equal(made.rows.count, 3);
    assert_int_equal(amount(0).bytes, 800);
    assert_string_equal(log_class(d, row(0)->class_number)->name, "App.Thing[]");
    assert_int_equal(row(0)->il, LOG_NO_IL);
    assert_int_equal(amount(1).bytes, 56);
    assert_int_equal(amount(1).allocs, 2);
    assert_int_equal(row(1)->il, 3);
    assert_string_equal(method_of(row(1)), "App.Work(System.Int32)");
    assert_int_equal(row(2)->what, LOG_PATH_EMPTY);
    assert_int_equal(amount(2).bytes, 40);
    assert_true(total(MODEL_BYTES) == 896 && total(MODEL_ALLOCS) == 4);
    assert_int_equal(made.problems.count, 0);
}

TEST(every_key_gives_the_same_total)
{
    static const struct {
        enum model_key key;
        size_t rows;
    } keys[] = {{MODEL_BY_SITE, 3},
                {MODEL_BY_TYPE, 2},
                {MODEL_BY_METHOD, 3},
                {MODEL_BY_THREAD, 2},
                {MODEL_BY_MODULE, 2}};

    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        uint64_t bytes = 0, allocs = 0;

        read_text(keys[k].key, &everything, four);
        assert_int_equal(made.rows.count, keys[k].rows);
        for (size_t i = 0; i < made.rows.count; i++) {
            bytes += amount(i).bytes;
            allocs += amount(i).allocs;
        }
        assert_int_equal(bytes, 896);
        assert_int_equal(allocs, 4);
    }
}

#define GLOB(text) \
    { \
        (const char *const[]){text}, 1 \
    }

TEST(filters_select_and_the_rest_still_counts_as_the_log)
{
    const struct model_filter type = {.types = GLOB("*String")},
                              method = {.methods = GLOB("App.Work(*")}, thread = {.thread = 2},
                              root = {.methods = GLOB("*Main*")};

    read_text(MODEL_BY_SITE, &type, four);
    assert_true(total(MODEL_BYTES) == 96);
    assert_true(model_weight_total(made.model, MODEL_BYTES) == 896);
    read_text(MODEL_BY_TYPE, &method, four);
    assert_true(total(MODEL_BYTES) == 56);
    read_text(MODEL_BY_TYPE, &root, four); /* below Main, too */
    assert_true(total(MODEL_BYTES) == 856);
    read_text(MODEL_BY_MODULE, &thread, four);
    assert_true(total(MODEL_BYTES) == 32);
}

TEST(the_same_path_is_one_row_whatever_its_nodes)
{
    read_text(MODEL_BY_SITE, &everything,
              DEFINITIONS
              "{\"kind\":\"node\",\"id\":3,\"parent\":1,\"method\":2,\"il\":7}\n"
              "{\"kind\":\"node\",\"id\":4,\"parent\":3,\"method\":2,\"il\":9}\n"
              "{\"kind\":\"node\",\"id\":5,\"parent\":2,\"method\":2,\"il\":9}\n"
              "{\"kind\":\"node\",\"id\":6,\"parent\":2,\"method\":2,\"il\":8}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":4}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":5}\n"
              "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":6}\n");
    assert_int_equal(made.rows.count, 2);
    assert_int_equal(amount(0).allocs, 2);
    assert_int_equal(amount(1).allocs, 1);
}

TEST(a_type_loaded_again_is_one_row)
{
    read_text(MODEL_BY_TYPE, &everything,
              DEFINITIONS
              "{\"kind\":\"module\",\"id\":2,\"name\":\"App\",\"path\":\"/a/App.dll\"}\n"
              "{\"kind\":\"class\",\"id\":3,\"name\":\"App.Thing[]\",\"module\":2}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":3,\"bytes\":24,\"node\":1}\n");
    assert_int_equal(made.rows.count, 1);
    assert_int_equal(amount(0).allocs, 2);
}

TEST(inline_stacks_give_the_same_paths)
{
    const struct log_defs *d;
    uint32_t root;

    read_text(
        MODEL_BY_SITE, &everything,
        HEADER
        "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"L()\","
        "\"R()\"]}\n"
        "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"\\u004c("
        ")\",\"R()\"]}\n"
        "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"R()\"]}"
        "\n"
        "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[]}\n");
    assert_int_equal(made.rows.count, 3);
    d = model_defs(made.model);
    assert_int_equal(amount(0).allocs, 2);
    assert_string_equal(method_of(row(0)), "L()");
    root = log_call_path(d, row(0)->what)->parent;
    assert_string_equal(log_method(d, log_call_path(d, root)->method)->name, "R()");
    assert_int_equal(log_call_path(d, root)->parent, LOG_PATH_EMPTY);
    assert_int_equal(made.problems.count, 0);
}

TEST(a_very_deep_inline_stack_is_one_path)
{
    static char text[300000];
    size_t used = (size_t)sprintf(
        text,
        HEADER "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[");
    uint32_t path, depth = 0;

    for (int i = 0; i < 20000; i++)
        used += (size_t)sprintf(text + used, "%s\"M%d()\"", i ? "," : "", i % 3);
    sprintf(text + used, "]}\n");
    read_text(MODEL_BY_SITE, &everything, text);
    for (path = row(0)->what; path != LOG_PATH_EMPTY; depth++)
        path = log_call_path(model_defs(made.model), path)->parent;
    assert_int_equal(depth, 20000);
}

TEST(ids_nobody_defined_are_noted_once_and_still_count)
{
    read_text(MODEL_BY_SITE, &everything,
              DEFINITIONS
              "{\"kind\":\"node\",\"id\":3,\"parent\":77,\"method\":2}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":9,\"bytes\":24,\"node\":88}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":9,\"bytes\":24,\"node\":88}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":3}\n");
    assert_int_equal(made.problems.count, 3); /* node 77, node 88, class 9 */
    assert_string_equal(made.problems.kept[0].text, "node 77 is used but not defined");
    assert_int_equal(made.problems.kept[0].place.line, 11);
    assert_int_equal(made.rows.count, 2);
    assert_int_equal(row(0)->what, LOG_PATH_LOST);
    assert_string_equal(log_class(model_defs(made.model), row(0)->class_number)->name,
                        "(class 9, not in the log)");
    assert_true(total(MODEL_BYTES) == 72);
}

TEST(logs_behind_one_another_do_not_mix_their_ids)
{
    read_text(
        MODEL_BY_TYPE, &everything,
        DEFINITIONS
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1}\n" HEADER
        "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n"
        "{\"kind\":\"class\",\"id\":1,\"name\":\"Other\"}\n"
        "{\"kind\":\"class\",\"id\":2,\"name\":\"System.String\"}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":800,\"node\":0}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}\n");
    assert_int_equal(made.rows.count, 2);
    assert_int_equal(amount(0).bytes, 800);
    assert_int_equal(amount(1).allocs, 2); /* the same type in both */
    assert_int_equal(model_defs(made.model)->thread_count, 3);
    assert_int_equal(made.problems.count,
                     1); /* node 1 of the second, though types do not need it */
}

TEST(heaps_are_told_apart_in_the_total)
{
    read_text(MODEL_BY_TYPE, &everything,
              DEFINITIONS "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":90000,"
                          "\"node\":1,\"heap\":\"large\"}\n"
                          "{\"kind\":\"site\",\"node\":1,\"class\":1,\"allocs\":3,\"bytes\":72,"
                          "\"heap\":\"frozen\"}\n");
    assert_true(model_heap_weight(made.model, SST_HEAP_LARGE, MODEL_ALLOCS) == 1);
    assert_true(model_heap_weight(made.model, SST_HEAP_LARGE, MODEL_BYTES) == 90000);
    assert_true(model_heap_weight(made.model, SST_HEAP_FROZEN, MODEL_ALLOCS) == 3);
    assert_true(model_heap_weight(made.model, SST_HEAP_FROZEN, MODEL_BYTES) == 72);
}

TEST(site_records_add_their_counts)
{
    read_text(MODEL_BY_SITE, &everything,
              DEFINITIONS "{\"kind\":\"site\",\"node\":2,\"il\":4,\"class\":1,\"thread\":1,"
                          "\"allocs\":3,\"bytes\":72}\n"
                          "{\"kind\":\"site\",\"node\":2,\"il\":4,\"class\":1,\"thread\":2,"
                          "\"allocs\":2,\"bytes\":80}\n");
    assert_int_equal(made.rows.count, 1);
    assert_int_equal(amount(0).allocs, 5);
    assert_int_equal(amount(0).bytes, 152);
    read_text(MODEL_BY_THREAD, &everything,
              DEFINITIONS "{\"kind\":\"site\",\"node\":2,\"class\":1,\"allocs\":3,\"bytes\":72}\n");
    assert_int_equal(row(0)->what, 0); /* the log does not say which */
}

TEST(what_was_not_sampled_stands_for_itself)
{
    struct model_amount r;

    read_text(MODEL_BY_TYPE, &everything,
              DEFINITIONS
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1,"
              "\"weight\":4000}\n"
              "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":2,\"bytes\":40,\"node\":1,"
              "\"weight\":40}\n");
    assert_true(model_estimated(made.model));
    r = amount(0);
    assert_int_equal(r.bytes, 4040);
    assert_int_equal(r.allocs, 101);
    assert_int_equal(r.sampled, 2);
    assert_true(r.bytes_range.low < 4040 && r.bytes_range.low >= 80);
    assert_true(r.bytes_range.high > 8000);
    r = amount(1); /* taken with certainty: no interval */
    assert_int_equal(r.bytes, 40);
    assert_true(r.bytes_range.low == 40 && r.bytes_range.high == 40);
}

/*
 * Poisson sampling by bytes, as --sample does it: each object is taken with 1 - exp(-bytes / rate).
 */
TEST(intervals_hold_the_exact_bytes_in_95_of_100_cases)
{
    static const struct {
        unsigned objects, bytes;
    } kinds[] = {{30000, 24}, {2000, 96}, {300, 8000}, {1000, 640}};
    static char text[1 << 20];
    const double rate = 16384;
    uint64_t random = 88172645463325252u;
    unsigned held = 0, cases = 0;

    for (int seed = 0; seed < 100; seed++)
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            double taken = -expm1(-(double)kinds[k].bytes / rate),
                   exact = (double)kinds[k].objects * kinds[k].bytes;
            size_t used = (size_t)sprintf(text, DEFINITIONS), events = 0;
            struct model_amount r;

            for (unsigned i = 0; i < kinds[k].objects; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                if ((double)(random >> 11) / 9007199254740992.0 >= taken)
                    continue;
                events++;
                used += (size_t)sprintf(
                    text + used,
                    "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":1,\"bytes\":%u,"
                    "\"node\":1,\"weight\":%.17g}\n",
                    i, kinds[k].bytes, kinds[k].bytes / taken);
            }
            if (events == 0)
                continue;
            read_text(MODEL_BY_TYPE, &everything, text);
            r = amount(0);
            held += r.bytes_range.low <= exact && exact <= r.bytes_range.high;
            cases++;
        }
    if (cases < 390)
        fail_msg("only %u cases had an event", cases);
    if (held < cases * 92 / 100 || held > cases * 99 / 100)
        fail_msg("%u of %u intervals hold the exact figure", held, cases);
}

TEST(running_out_of_memory_is_said_at_every_place)
{
    long n = 0;
    int err;

    do {
        struct memory_log m = {.text = four, .size = sizeof(four) - 1};
        struct log_lines *lines = memory_log_lines(&m);

        rows_log_free(&made);
        memory_fail_after(n++);
        err = rows_log_read_lines(&made, lines, MODEL_BY_SITE, &everything, false);
        memory_fail_after(-1);
        log_lines_free(lines);
        assert_true(err == 0 || err == -ENOMEM);
    } while (err);
    assert_true(n > 15);
}

TEST(many_sites_are_all_found_again)
{
    static char text[1 << 22];
    size_t used = (size_t)sprintf(text, DEFINITIONS);
    uint64_t bytes = 0;

    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 20000; i++)
            used += (size_t)sprintf(text + used,
                                    "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":%u,"
                                    "\"bytes\":24,\"node\":%u,\"il\":%u}\n",
                                    i, 1 + i % 2, i / 2 % 3, i / 6);
    read_text(MODEL_BY_SITE, &everything, text);
    assert_int_equal(made.rows.count, 20000);
    for (size_t i = 0; i < 20000; i++) {
        assert_int_equal(amount(i).allocs, 2);
        bytes += amount(i).bytes;
    }
    assert_int_equal(bytes, 960000);
}

/* Main has Add inlined, and Add has Make: Make allocates, and Add calls Save. */
static const char inlined[] = DEFINITIONS
    "{\"kind\":\"method\",\"id\":3,\"name\":\"App.Add()\",\"module\":1}\n"
    "{\"kind\":\"method\",\"id\":4,\"name\":\"App.Make()\",\"module\":1}\n"
    "{\"kind\":\"inlined\",\"id\":1,\"method\":3,\"il\":11}\n"
    "{\"kind\":\"inlined\",\"id\":2,\"parent\":1,\"method\":4,\"il\":4}\n"
    "{\"kind\":\"node\",\"id\":3,\"parent\":1,\"method\":2,\"il\":7,\"inlined\":1}\n"
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":400,\"node\":1,\"il\":7,"
    "\"inlined\":2}\n"
    "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":3,\"il\":3}\n";

/* "Method@il < ...", leaf first. */
static void frames_are(size_t index, const char *expected)
{
    const struct log_defs *d = model_defs(made.model);
    const struct model_row *of = row(index);
    char text[200] = "";
    int32_t il = of->il;

    for (uint32_t path = of->what; path != LOG_PATH_EMPTY; path = log_call_path(d, path)->parent) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s@%d", *text ? " < " : "",
                 log_method(d, log_call_path(d, path)->method)->name, il);
        il = log_call_path(d, path)->il;
    }
    assert_string_equal(text, expected);
}

TEST(inlined_methods_are_frames_of_the_path)
{
    read_text(MODEL_BY_SITE, &everything, inlined);
    frames_are(0, "App.Make()@4 < App.Add()@11 < App.Main()@7");
    frames_are(1, "App.Work(System.Int32)@3 < App.Add()@11 < App.Main()@7");
}

TEST(physical_paths_are_those_of_the_machine)
{
    rows_log_free(&made);
    assert_int_equal(rows_log_read(&made, inlined, MODEL_BY_SITE, &everything, true), 0);
    frames_are(0, "App.Main()@7");
    frames_are(1, "App.Work(System.Int32)@3 < App.Main()@7");
}
