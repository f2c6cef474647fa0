#include "report/diff.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

#define HEADER           "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"
#define CLASS(id, name)  "{\"kind\":\"class\",\"id\":" #id ",\"name\":\"" name "\"}\n"
#define METHOD(id, name) "{\"kind\":\"method\",\"id\":" #id ",\"name\":\"" name "\"}\n"
#define NODE(id, parent, method, il) \
    "{\"kind\":\"node\",\"id\":" #id ",\"parent\":" #parent ",\"method\":" #method ",\"il\":" #il \
    "}\n"
#define ALLOC(class, bytes, node, il) \
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":" #class ",\"bytes\":" #bytes \
                                                                 ",\"node\":" #node ",\"il\":" #il \
                                                                 "}\n"
#define SAMPLED(class, bytes, weight) \
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":" #class ",\"bytes\":" #bytes \
                                                                 ",\"node\":0,\"weight\":" #weight \
                                                                 "}\n"
#define THREAD "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n"

static struct report_problems problems;
static struct report_sites *sides[REPORT_DIFF_SIDES];
static struct report_diff *diff;

/*
 * Lines without symbols: of a path's method its IL offset is the line, in File.cs; an offset of 99 is one of the method's
 * lines, nobody knows which; beyond that there is none. The number of a line: method (number in defs), then the offset.
 */
static uint32_t line_number(void *context, uint32_t path, int32_t il)
{
    const struct report_defs *d = report_sites_defs(context);

    return path == REPORT_PATH_EMPTY || il > 99 ? 0
                                                : report_path(d, path)->method * 100 + (uint32_t)il;
}

static bool line_of(void *context, size_t log, uint32_t number, struct report_diff_line *out)
{
    (void)context, (void)log;
    *out = (struct report_diff_line){number / 100, number % 100 == 99 ? NULL : "File.cs",
                                     number % 100};
    return number;
}

static struct report_sites *sites_of(const char *text, enum report_by by)
{
    static const struct report_filter none = {0};
    struct memory_log m = {.text = text, .size = strlen(text)};
    struct report_lines *lines = memory_log_lines(&m);
    struct report_sites *sites = NULL;

    assert_int_equal(report_sites_new(by, &none, &problems, &sites), 0);
    assert_int_equal(report_sites_read_lines(sites, lines, "memory"), 0);
    report_sites_lines(sites, line_number, sites);
    assert_int_equal(report_sites_finish(sites), 0);
    report_lines_free(lines);
    return sites;
}

static const struct report_diff_logs one_each[REPORT_DIFF_SIDES] = {
    {(const struct report_sites *const *)&sides[0], 1, line_of, NULL},
    {(const struct report_sites *const *)&sides[1], 1, line_of, NULL}};

static void compare(const char *old, const char *new, enum report_by by, bool exact)
{
    sides[REPORT_DIFF_OLD] = sites_of(old, by);
    sides[REPORT_DIFF_NEW] = sites_of(new, by);
    assert_int_equal(report_diff_new(one_each, by, exact, &diff), 0);
}

static int setup(void **state)
{
    (void)state;
    report_problems_init(&problems);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    report_diff_free(diff);
    report_sites_free(sides[0]);
    report_sites_free(sides[1]);
    report_problems_fini(&problems);
    diff = NULL;
    sides[0] = sides[1] = NULL;
    return 0;
}

TEST_EACH(setup, teardown);

static void expect_change(size_t index, uint64_t old, uint64_t new)
{
    const struct report_change *c = report_diff_change(diff, index);

    assert_int_equal(c->side[REPORT_DIFF_OLD].bytes, old);
    assert_int_equal(c->side[REPORT_DIFF_NEW].bytes, new);
    assert_int_equal(c->side[REPORT_DIFF_OLD].row == REPORT_DIFF_NONE, old == 0);
    assert_int_equal(c->side[REPORT_DIFF_NEW].row == REPORT_DIFF_NONE, new == 0);
}

TEST(rows_are_matched_by_names_not_by_ids)
{
    compare(HEADER THREAD CLASS(1, "A") CLASS(2, "B") METHOD(1, "M()") METHOD(2, "N()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8) ALLOC(2, 32, 1, 8),
            HEADER THREAD CLASS(7, "A") CLASS(1, "B") METHOD(9, "M()") METHOD(1, "N()")
                NODE(5, 0, 9, 0) NODE(8, 5, 1, 4) ALLOC(7, 64, 8, 8) ALLOC(1, 32, 5, 8),
            REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 2);
    expect_change(0, 24, 64);
    expect_change(1, 32, 32);
}

TEST(other_builds_have_other_instructions)
{
    static const char old[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") NODE(1, 0, 1, 0)
        ALLOC(1, 24, 1, 8) ALLOC(1, 16, 1, 20);
    static const char new[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") NODE(1, 0, 1, 0)
        ALLOC(1, 24, 1, 9) ALLOC(1, 16, 1, 20);

    compare(old, new, REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
    expect_change(0, 40, 40);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(old, new, REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 3);
    expect_change(2, 16, 16);
}

/* Main calls Work, which calls Leaf; nodes 2 and 4 are Leaf's: below Work, and where that was inlined. */
#define INLINED \
    HEADER THREAD CLASS(1, "A") CLASS(2, "B") METHOD(1, "Main()") METHOD(2, "Work()") \
        METHOD(3, "Leaf()") METHOD(4, "Else()") NODE(1, 0, 1, 0) NODE(3, 1, 2, 4) NODE(2, 3, 3, 4) \
            NODE(4, 1, 3, 4) NODE(5, 1, 4, 4)

TEST(what_is_inlined_in_one_log_is_no_change)
{
    static const char old[] = INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 4, 8);
    static const char new[] = INLINED ALLOC(1, 16, 2, 8) ALLOC(1, 112, 4, 8);
    struct report_diff_sum sum;

    compare(old, new, REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
    expect_change(0, 120, 128);
    report_diff_sum(diff, &sum);
    assert_int_equal(sum.inlined, 1);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(old, new, REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 2);
    expect_change(0, 40, 112);
    expect_change(1, 80, 16);
}

/* Another method, another type, or the same change on both paths. */
TEST(what_is_not_inlined_is_a_change)
{
    struct report_diff_sum sum;

    compare(INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 5, 8) ALLOC(2, 8, 4, 8),
            INLINED ALLOC(1, 16, 2, 8) ALLOC(1, 104, 5, 8) ALLOC(2, 16, 4, 8), REPORT_BY_SITE,
            false);
    assert_int_equal(report_diff_count(diff), 3);
    report_diff_sum(diff, &sum);
    assert_int_equal(sum.inlined, 0);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 4, 8),
            INLINED ALLOC(1, 160, 2, 8) ALLOC(1, 104, 4, 8), REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 2);
}

TEST(what_only_one_log_has_is_there)
{
    compare(HEADER THREAD CLASS(1, "A") CLASS(2, "Gone") ALLOC(1, 24, 0, 0) ALLOC(2, 8, 0, 0),
            HEADER THREAD CLASS(1, "A") CLASS(2, "Fresh") ALLOC(1, 24, 0, 0) ALLOC(2, 80, 0, 0),
            REPORT_BY_TYPE, false);
    assert_int_equal(report_diff_count(diff), 3);
    expect_change(0, 0, 80);
    expect_change(1, 8, 0);
    expect_change(2, 24, 24);
    assert_true(report_change_certain(report_diff_change(diff, 0)));
    assert_false(report_change_certain(report_diff_change(diff, 2)));
}

TEST(a_change_within_the_sampling_is_not_certain)
{
    compare(HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536),
            HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536)
                SAMPLED(1, 24, 65536),
            REPORT_BY_TYPE, false);
    assert_int_equal(report_diff_count(diff), 1);
    assert_false(report_change_certain(report_diff_change(diff, 0)));
}

#define A_OF(bytes) HEADER THREAD CLASS(1, "A") ALLOC(1, bytes, 0, 0)

/* Of a side's logs, the bytes of one row. */
static void several_by(const char *old, const char *old_too, const char *new, enum report_by by)
{
    struct report_sites *logs[3] = {sites_of(old, by), sites_of(old_too, by), sites_of(new, by)};
    const struct report_diff_logs of[REPORT_DIFF_SIDES] = {
        {(const struct report_sites *const *)logs, 2, line_of, NULL},
        {(const struct report_sites *const *)logs + 2, 1, line_of, NULL}};

    report_diff_free(diff);
    assert_int_equal(report_diff_new(of, by, false, &diff), 0);
    for (int i = 0; i < 3; i++)
        report_sites_free(logs[i]);
}

static void several(const char *old, const char *old_too, const char *new)
{
    several_by(old, old_too, new, REPORT_BY_TYPE);
}

TEST(what_the_logs_of_one_side_differ_by_is_no_change)
{
    several(A_OF(40), A_OF(80), A_OF(64));
    assert_true(report_diff_several(diff));
    expect_change(0, 60, 64);
    assert_false(report_change_certain(report_diff_change(diff, 0)));
    several(A_OF(40), A_OF(80), A_OF(120)); /* as far away as they are from one another */
    assert_false(report_change_certain(report_diff_change(diff, 0)));
    several(A_OF(40), A_OF(80), A_OF(128));
    assert_true(report_change_certain(report_diff_change(diff, 0)));
    several(A_OF(80), A_OF(80), A_OF(88));
    assert_true(report_change_certain(report_diff_change(diff, 0)));
    several(A_OF(80), HEADER THREAD CLASS(1, "A"), A_OF(88)); /* one has nothing of it */
    assert_false(report_change_certain(report_diff_change(diff, 0)));
}

TEST(recursion_is_folded)
{
    static const char old[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) NODE(3, 2, 1, 4) NODE(4, 3, 2, 4) ALLOC(1, 24, 4, 8);
    static const char new[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8);

    compare(old, new, REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(old, new, REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 2);
}

TEST(a_static_constructor_belongs_to_nobody)
{
    compare(HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N..cctor()") NODE(1, 0, 1, 0)
                NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            HEADER THREAD CLASS(1, "A") METHOD(1, "Other()") METHOD(2, "N..cctor()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
}

/* One method whose module is of this build; what is at an offset of its node 1 is at that line, see line_number. */
#define BUILD(mvid) \
    HEADER THREAD CLASS(1, "A") CLASS( \
        2, \
        "B") "{\"kind\":\"module\",\"id\":1,\"name\":\"m\",\"path\":\"/m.dll\",\"mvid\":\"" mvid \
             "\"}\n" \
             "{\"kind\":\"method\",\"id\":1,\"name\":\"M()\",\"module\":1}\n" NODE(1, 0, 1, 0)

static void expect_lines(size_t index, uint32_t old, uint32_t new)
{
    const struct report_change *c = report_diff_change(diff, index);
    const uint32_t expected[REPORT_DIFF_SIDES] = {old, new};
    struct report_row row;

    for (int side = 0; side < REPORT_DIFF_SIDES; side++) {
        if (c->side[side].row == REPORT_DIFF_NONE) {
            assert_int_equal(expected[side], 0);
            continue;
        }
        report_sites_row(sides[side], c->side[side].row, &row);
        assert_int_equal(row.line % 100, expected[side]);
    }
}

/* Two lines were written above all of them, and a third line into their middle, which allocates, too. */
TEST(a_line_that_moved_is_the_same_line)
{
    compare(BUILD("old") ALLOC(1, 800, 1, 3) ALLOC(1, 160, 1, 4) ALLOC(2, 24, 1, 4)
                ALLOC(1, 400, 1, 5),
            BUILD("new") ALLOC(1, 800, 1, 5) ALLOC(1, 16, 1, 6) ALLOC(1, 192, 1, 7)
                ALLOC(2, 24, 1, 7) ALLOC(1, 400, 1, 8),
            REPORT_BY_LINE, false);
    assert_int_equal(report_diff_count(diff), 5);
    expect_change(0, 160, 192);
    expect_lines(0, 4, 7);
    expect_change(1, 0, 16);
    expect_change(2, 800, 800);
    expect_lines(2, 3, 5);
    expect_change(3, 400, 400);
    expect_lines(3, 5, 8);
    expect_change(4, 24, 24);
}

/* The cheaper way leaves both of the small ones without the other; of equal ones the line that stayed is matched. */
TEST(lines_are_matched_so_that_least_changed)
{
    compare(BUILD("old") ALLOC(1, 104, 1, 3) ALLOC(1, 5000, 1, 9),
            BUILD("new") ALLOC(1, 5000, 1, 4) ALLOC(1, 80, 1, 9), REPORT_BY_LINE, false);
    assert_int_equal(report_diff_count(diff), 3);
    expect_change(0, 104, 0);
    expect_change(1, 0, 80);
    expect_change(2, 5000, 5000);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(BUILD("old") ALLOC(1, 24, 1, 3) ALLOC(1, 24, 1, 7), BUILD("new") ALLOC(1, 24, 1, 3),
            REPORT_BY_LINE, false);
    expect_change(0, 24, 0);
    expect_lines(0, 7, 0);
}

TEST(lines_of_one_build_are_matched_by_their_numbers)
{
    for (int exact = 0; exact < 2; exact++) {
        if (exact)
            assert_int_equal(teardown(state) | setup(state), 0);
        compare(BUILD("same") ALLOC(1, 800, 1, 3) ALLOC(1, 64, 1, 8),
                exact ? BUILD("other") ALLOC(1, 800, 1, 5) ALLOC(1, 64, 1, 8)
                      : BUILD("same") ALLOC(1, 800, 1, 5) ALLOC(1, 64, 1, 8),
                REPORT_BY_LINE, exact);
        assert_int_equal(report_diff_count(diff), 3);
        expect_lines(2, 8, 8);
        expect_change(2, 64, 64);
    }
}

TEST(what_has_no_line_is_matched_by_method_and_type)
{
    compare(BUILD("old") ALLOC(1, 24, 1, 99) ALLOC(1, 32, 0, 0) ALLOC(2, 40, 1, 120),
            BUILD("new") ALLOC(1, 24, 1, 99) ALLOC(1, 32, 0, 0) ALLOC(2, 48, 1, 150),
            REPORT_BY_LINE, false);
    assert_int_equal(report_diff_count(diff), 3);
    expect_change(0, 40, 48);
    expect_change(1, 32, 32);
    expect_change(2, 24, 24);
}

/* The first side's logs differ in that line, by 40 bytes. */
TEST(of_lines_too_the_noise_of_one_side_is_no_change)
{
    several_by(BUILD("old") ALLOC(1, 400, 1, 3), BUILD("old") ALLOC(1, 440, 1, 3),
               BUILD("new") ALLOC(1, 464, 1, 4), REPORT_BY_LINE);
    assert_int_equal(report_diff_count(diff), 1);
    expect_change(0, 420, 464);
    assert_false(report_change_certain(report_diff_change(diff, 0)));
    several_by(BUILD("old") ALLOC(1, 400, 1, 3), BUILD("old") ALLOC(1, 440, 1, 3),
               BUILD("new") ALLOC(1, 488, 1, 4), REPORT_BY_LINE);
    assert_true(report_change_certain(report_diff_change(diff, 0)));
}

static void memory_runs_out(enum report_by by)
{
    int err = -ENOMEM;

    sides[0] = sites_of(BUILD("old") ALLOC(1, 24, 0, 0) ALLOC(1, 24, 1, 4), by);
    sides[1] = sites_of(BUILD("new") ALLOC(1, 24, 1, 5), by);
    for (long n = 0; err; n++) {
        memory_fail_after(n);
        err = report_diff_new(one_each, by, false, &diff);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        assert_true(n < 100 && (err == 0) == (diff != NULL));
    }
}

TEST(running_out_of_memory_is_said)
{
    memory_runs_out(REPORT_BY_SITE);
    assert_int_equal(teardown(state) | setup(state), 0);
    memory_runs_out(REPORT_BY_LINE);
}
