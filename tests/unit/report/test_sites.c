#include "report/sites.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

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

static struct report_problems problems;
static struct report_sites *sites;

static int setup(void **state)
{
    (void)state;
    report_problems_init(&problems);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    report_sites_free(sites);
    sites = NULL;
    report_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static void read_text(enum report_by by, const struct report_filter *filter, const char *text)
{
    struct memory_log m = {.text = text, .size = strlen(text), .chunk = 100};
    struct report_lines *lines = memory_log_lines(&m);

    report_sites_free(sites);
    assert_int_equal(report_sites_new(by, filter, &problems, &sites), 0);
    assert_int_equal(report_sites_read_lines(sites, lines, "memory"), 0);
    assert_int_equal(report_sites_finish(sites), 0);
    report_lines_free(lines);
}

static const struct report_filter everything = {0};

static struct report_row row(size_t index)
{
    struct report_row out;

    assert_true(index < report_sites_count(sites));
    report_sites_row(sites, index, &out);
    return out;
}

static const char four[] = DEFINITIONS
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":2,\"il\":3}\n"
    "{\"kind\":\"alloc\",\"t\":2,\"thread\":2,\"class\":1,\"bytes\":32,\"node\":2,\"il\":3}\n"
    "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":2,\"bytes\":800,\"node\":1}\n"
    "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":0}\n";

TEST(sites_add_up_most_bytes_first)
{
    struct report_row r;

    read_text(REPORT_BY_SITE, &everything, four);
    assert_int_equal(report_sites_count(sites), 3);
    r = row(0);
    assert_int_equal(r.bytes, 800);
    assert_string_equal(report_class(report_sites_defs(sites), r.class_number)->name,
                        "App.Thing[]");
    assert_int_equal(r.il, REPORT_NO_IL);
    r = row(1);
    assert_int_equal(r.bytes, 56);
    assert_int_equal(r.allocs, 2);
    assert_int_equal(r.il, 3);
    assert_string_equal(report_method(report_sites_defs(sites), r.method)->name,
                        "App.Work(System.Int32)");
    assert_string_equal(report_module(report_sites_defs(sites), r.module)->name, "App");
    r = row(2);
    assert_int_equal(r.path, REPORT_PATH_EMPTY);
    assert_int_equal(r.bytes, 40);
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 896);
    assert_int_equal(r.allocs, 4);
    assert_int_equal(problems.count, 0);
}

TEST(every_key_gives_the_same_total)
{
    static const size_t rows[] = {3, 2, 3, 2, 2};

    for (int by = REPORT_BY_SITE; by <= REPORT_BY_MODULE; by++) {
        uint64_t bytes = 0, allocs = 0;
        double share = 0;

        read_text((enum report_by)by, &everything, four);
        assert_int_equal(report_sites_count(sites), rows[by]);
        for (size_t i = 0; i < report_sites_count(sites); i++) {
            bytes += row(i).bytes;
            allocs += row(i).allocs;
            share += row(i).share;
        }
        assert_int_equal(bytes, 896);
        assert_int_equal(allocs, 4);
        assert_true(fabs(share - 1) < 1e-9);
    }
}

TEST(filters_select_and_the_rest_still_counts_as_the_log)
{
    const struct report_filter type = {.type = "*String"}, method = {.method = "App.Work(*"},
                               thread = {.thread = 2}, root = {.method = "*Main*"};
    struct report_row r;

    read_text(REPORT_BY_SITE, &type, four);
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 96);
    report_sites_all(sites, &r);
    assert_int_equal(r.bytes, 896);
    read_text(REPORT_BY_TYPE, &method, four);
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 56);
    read_text(REPORT_BY_TYPE, &root, four); /* below Main, too */
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 856);
    read_text(REPORT_BY_MODULE, &thread, four);
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 32);
}

TEST(the_same_path_is_one_row_whatever_its_nodes)
{
    read_text(REPORT_BY_SITE, &everything,
              DEFINITIONS
              "{\"kind\":\"node\",\"id\":3,\"parent\":1,\"method\":2,\"il\":7}\n"
              "{\"kind\":\"node\",\"id\":4,\"parent\":3,\"method\":2,\"il\":9}\n"
              "{\"kind\":\"node\",\"id\":5,\"parent\":2,\"method\":2,\"il\":9}\n"
              "{\"kind\":\"node\",\"id\":6,\"parent\":2,\"method\":2,\"il\":8}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":4}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":5}\n"
              "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":6}\n");
    assert_int_equal(report_sites_count(sites), 2);
    assert_int_equal(row(0).allocs, 2);
    assert_int_equal(row(1).allocs, 1);
}

TEST(a_type_loaded_again_is_one_row)
{
    read_text(REPORT_BY_TYPE, &everything,
              DEFINITIONS
              "{\"kind\":\"module\",\"id\":2,\"name\":\"App\",\"path\":\"/a/App.dll\"}\n"
              "{\"kind\":\"class\",\"id\":3,\"name\":\"App.Thing[]\",\"module\":2}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":3,\"bytes\":24,\"node\":1}\n");
    assert_int_equal(report_sites_count(sites), 1);
    assert_int_equal(row(0).allocs, 2);
}

TEST(inline_stacks_give_the_same_paths)
{
    struct report_row r;

    read_text(
        REPORT_BY_SITE, &everything,
        HEADER
        "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"L()\","
        "\"R()\"]}\n"
        "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"\\u004c("
        ")\",\"R()\"]}\n"
        "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[\"R()\"]}"
        "\n"
        "{\"kind\":\"alloc\",\"t\":4,\"thread\":1,\"type\":\"A\",\"bytes\":24,\"stack\":[]}\n");
    assert_int_equal(report_sites_count(sites), 3);
    r = row(0);
    assert_int_equal(r.allocs, 2);
    assert_string_equal(report_method(report_sites_defs(sites), r.method)->name, "L()");
    r.path = report_path(report_sites_defs(sites), r.path)->parent;
    assert_string_equal(report_method(report_sites_defs(sites),
                                      report_path(report_sites_defs(sites), r.path)->method)
                            ->name,
                        "R()");
    assert_int_equal(report_path(report_sites_defs(sites), r.path)->parent, REPORT_PATH_EMPTY);
    assert_int_equal(problems.count, 0);
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
    read_text(REPORT_BY_SITE, &everything, text);
    for (path = row(0).path; path != REPORT_PATH_EMPTY; depth++)
        path = report_path(report_sites_defs(sites), path)->parent;
    assert_int_equal(depth, 20000);
}

TEST(ids_nobody_defined_are_noted_once_and_still_count)
{
    struct report_row r;

    read_text(REPORT_BY_SITE, &everything,
              DEFINITIONS
              "{\"kind\":\"node\",\"id\":3,\"parent\":77,\"method\":2}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":9,\"bytes\":24,\"node\":88}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":9,\"bytes\":24,\"node\":88}\n"
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":3}\n");
    assert_int_equal(problems.count, 3); /* node 77, node 88, class 9 */
    assert_string_equal(problems.kept[0].text, "node 77 is used but not defined");
    assert_int_equal(problems.kept[0].place.line, 11);
    assert_int_equal(report_sites_count(sites), 2);
    r = row(0);
    assert_int_equal(r.path, REPORT_PATH_LOST);
    assert_string_equal(report_class(report_sites_defs(sites), r.class_number)->name,
                        "(class 9, not in the log)");
    report_sites_total(sites, &r);
    assert_int_equal(r.bytes, 72);
}

TEST(logs_behind_one_another_do_not_mix_their_ids)
{
    read_text(
        REPORT_BY_TYPE, &everything,
        DEFINITIONS
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1}\n" HEADER
        "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n"
        "{\"kind\":\"class\",\"id\":1,\"name\":\"Other\"}\n"
        "{\"kind\":\"class\",\"id\":2,\"name\":\"System.String\"}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":800,\"node\":0}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}\n");
    assert_int_equal(report_sites_count(sites), 2);
    assert_int_equal(row(0).bytes, 800);
    assert_int_equal(row(1).allocs, 2); /* the same type in both */
    assert_int_equal(report_sites_defs(sites)->thread_count, 3);
    assert_int_equal(problems.count,
                     1); /* node 1 of the second, though by type nobody asks for it */
}

TEST(heaps_are_told_apart_in_the_total)
{
    uint64_t bytes;

    read_text(REPORT_BY_TYPE, &everything,
              DEFINITIONS "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":90000,"
                          "\"node\":1,\"heap\":\"large\"}\n"
                          "{\"kind\":\"site\",\"node\":1,\"class\":1,\"allocs\":3,\"bytes\":72,"
                          "\"heap\":\"frozen\"}\n");
    assert_int_equal(report_sites_heap(sites, SST_HEAP_LARGE, &bytes), 1);
    assert_int_equal(bytes, 90000);
    assert_int_equal(report_sites_heap(sites, SST_HEAP_FROZEN, &bytes), 3);
    assert_int_equal(bytes, 72);
}

TEST(site_records_add_their_counts)
{
    read_text(REPORT_BY_SITE, &everything,
              DEFINITIONS "{\"kind\":\"site\",\"node\":2,\"il\":4,\"class\":1,\"thread\":1,"
                          "\"allocs\":3,\"bytes\":72}\n"
                          "{\"kind\":\"site\",\"node\":2,\"il\":4,\"class\":1,\"thread\":2,"
                          "\"allocs\":2,\"bytes\":80}\n");
    assert_int_equal(report_sites_count(sites), 1);
    assert_int_equal(row(0).allocs, 5);
    assert_int_equal(row(0).bytes, 152);
    read_text(REPORT_BY_THREAD, &everything,
              DEFINITIONS "{\"kind\":\"site\",\"node\":2,\"class\":1,\"allocs\":3,\"bytes\":72}\n");
    assert_int_equal(row(0).thread, 0); /* the log does not say which */
}

TEST(what_was_not_sampled_stands_for_itself)
{
    struct report_row r;

    read_text(REPORT_BY_TYPE, &everything,
              DEFINITIONS
              "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1}\n"
              "{\"kind\":\"alloc\",\"t\":2,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1,"
              "\"weight\":4000}\n"
              "{\"kind\":\"alloc\",\"t\":3,\"thread\":1,\"class\":2,\"bytes\":40,\"node\":1,"
              "\"weight\":40}\n");
    assert_true(report_sites_estimated(sites));
    r = row(0);
    assert_int_equal(r.bytes, 4040);
    assert_int_equal(r.allocs, 101);
    assert_int_equal(r.sampled, 2);
    assert_true(r.bytes_range.low < 4040 && r.bytes_range.low >= 80);
    assert_true(r.bytes_range.high > 8000);
    r = row(1); /* taken with certainty: no interval */
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
            struct report_row r;

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
            read_text(REPORT_BY_TYPE, &everything, text);
            r = row(0);
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
        struct report_lines *lines = memory_log_lines(&m);
        struct report_sites *s = NULL;

        memory_fail_after(n++);
        err = report_sites_new(REPORT_BY_SITE, &everything, &problems, &s);
        if (!err)
            err = report_sites_read_lines(s, lines, "memory");
        if (!err)
            err = report_sites_finish(s);
        memory_fail_after(-1);
        report_sites_free(s);
        report_lines_free(lines);
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
    read_text(REPORT_BY_SITE, &everything, text);
    assert_int_equal(report_sites_count(sites), 20000);
    for (size_t i = 0; i < 20000; i++) {
        assert_int_equal(row(i).allocs, 2);
        bytes += row(i).bytes;
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
    const struct report_defs *d = report_sites_defs(sites);
    const struct report_row of = row(index);
    char text[200] = "";
    int32_t il = of.il;

    for (uint32_t path = of.path; path != REPORT_PATH_EMPTY; path = report_path(d, path)->parent) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s@%d", *text ? " < " : "",
                 report_method(d, report_path(d, path)->method)->name, il);
        il = report_path(d, path)->il;
    }
    assert_string_equal(text, expected);
}

TEST(inlined_methods_are_frames_of_the_path)
{
    read_text(REPORT_BY_SITE, &everything, inlined);
    frames_are(0, "App.Make()@4 < App.Add()@11 < App.Main()@7");
    frames_are(1, "App.Work(System.Int32)@3 < App.Add()@11 < App.Main()@7");
}

TEST(physical_paths_are_those_of_the_machine)
{
    const struct report_filter physical = {.physical = true};

    read_text(REPORT_BY_SITE, &physical, inlined);
    frames_are(0, "App.Main()@7");
    frames_are(1, "App.Work(System.Int32)@3 < App.Main()@7");
}
