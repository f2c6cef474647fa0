#include "report/diff.h"

#include "unit/report/memory_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static struct report_sites *sites_of(const char *text, enum report_by by)
{
    static const struct report_filter none = {0};
    struct memory_log m = {.text = text, .size = strlen(text)};
    struct report_lines *lines = memory_log_lines(&m);
    struct report_sites *sites = NULL;

    assert_int_equal(report_sites_new(by, &none, &problems, &sites), 0);
    assert_int_equal(report_sites_read_lines(sites, lines, "memory"), 0);
    assert_int_equal(report_sites_finish(sites), 0);
    report_lines_free(lines);
    return sites;
}

static const struct report_diff_logs one_each[REPORT_DIFF_SIDES] = {
    {(const struct report_sites *const *)&sides[0], 1},
    {(const struct report_sites *const *)&sides[1], 1}};

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

static void expect_change(size_t index, uint64_t old, uint64_t new)
{
    const struct report_change *c = report_diff_change(diff, index);

    assert_int_equal(c->side[REPORT_DIFF_OLD].bytes, old);
    assert_int_equal(c->side[REPORT_DIFF_NEW].bytes, new);
    assert_int_equal(c->side[REPORT_DIFF_OLD].row == REPORT_DIFF_NONE, old == 0);
    assert_int_equal(c->side[REPORT_DIFF_NEW].row == REPORT_DIFF_NONE, new == 0);
}

static void rows_are_matched_by_names_not_by_ids(void **state)
{
    (void)state;
    compare(HEADER THREAD CLASS(1, "A") CLASS(2, "B") METHOD(1, "M()") METHOD(2, "N()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8) ALLOC(2, 32, 1, 8),
            HEADER THREAD CLASS(7, "A") CLASS(1, "B") METHOD(9, "M()") METHOD(1, "N()")
                NODE(5, 0, 9, 0) NODE(8, 5, 1, 4) ALLOC(7, 64, 8, 8) ALLOC(1, 32, 5, 8),
            REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 2);
    expect_change(0, 24, 64);
    expect_change(1, 32, 32);
}

static void other_builds_have_other_instructions(void **state)
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

static void what_is_inlined_in_one_log_is_no_change(void **state)
{
    static const char old[] = INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 4, 8);
    static const char new[] = INLINED ALLOC(1, 16, 2, 8) ALLOC(1, 112, 4, 8);
    struct report_diff_sum sum;

    (void)state;
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
static void what_is_not_inlined_is_a_change(void **state)
{
    struct report_diff_sum sum;

    (void)state;
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

static void what_only_one_log_has_is_there(void **state)
{
    (void)state;
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

static void a_change_within_the_sampling_is_not_certain(void **state)
{
    (void)state;
    compare(HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536),
            HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536)
                SAMPLED(1, 24, 65536),
            REPORT_BY_TYPE, false);
    assert_int_equal(report_diff_count(diff), 1);
    assert_false(report_change_certain(report_diff_change(diff, 0)));
}

#define A_OF(bytes) HEADER THREAD CLASS(1, "A") ALLOC(1, bytes, 0, 0)

/* Of a side's logs, the bytes of one row. */
static void several(const char *old, const char *old_too, const char *new)
{
    struct report_sites *logs[3] = {sites_of(old, REPORT_BY_TYPE),
                                    sites_of(old_too, REPORT_BY_TYPE),
                                    sites_of(new, REPORT_BY_TYPE)};
    const struct report_diff_logs of[REPORT_DIFF_SIDES] = {
        {(const struct report_sites *const *)logs, 2},
        {(const struct report_sites *const *)logs + 2, 1}};

    report_diff_free(diff);
    assert_int_equal(report_diff_new(of, REPORT_BY_TYPE, false, &diff), 0);
    for (int i = 0; i < 3; i++)
        report_sites_free(logs[i]);
}

static void what_the_logs_of_one_side_differ_by_is_no_change(void **state)
{
    (void)state;
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

static void recursion_is_folded(void **state)
{
    static const char old[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) NODE(3, 2, 1, 4) NODE(4, 3, 2, 4) ALLOC(1, 24, 4, 8);
    static const char new[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8);

    (void)state;
    compare(old, new, REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
    assert_int_equal(teardown(state) | setup(state), 0);
    compare(old, new, REPORT_BY_SITE, true);
    assert_int_equal(report_diff_count(diff), 2);
}

static void a_static_constructor_belongs_to_nobody(void **state)
{
    (void)state;
    compare(HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N..cctor()") NODE(1, 0, 1, 0)
                NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            HEADER THREAD CLASS(1, "A") METHOD(1, "Other()") METHOD(2, "N..cctor()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            REPORT_BY_SITE, false);
    assert_int_equal(report_diff_count(diff), 1);
}

static void running_out_of_memory_is_said(void **state)
{
    int err = -ENOMEM;

    (void)state;
    sides[0] = sites_of(HEADER THREAD CLASS(1, "A") ALLOC(1, 24, 0, 0), REPORT_BY_SITE);
    sides[1] = sites_of(HEADER, REPORT_BY_SITE);
    for (long n = 0; err; n++) {
        memory_fail_after(n);
        err = report_diff_new(one_each, REPORT_BY_SITE, false, &diff);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        assert_true(n < 100 && (err == 0) == (diff != NULL));
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(rows_are_matched_by_names_not_by_ids),
        T(other_builds_have_other_instructions),
        T(what_is_inlined_in_one_log_is_no_change),
        T(what_is_not_inlined_is_a_change),
        T(what_only_one_log_has_is_there),
        T(a_change_within_the_sampling_is_not_certain),
        T(what_the_logs_of_one_side_differ_by_is_no_change),
        T(recursion_is_folded),
        T(a_static_constructor_belongs_to_nobody),
        T(running_out_of_memory_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
