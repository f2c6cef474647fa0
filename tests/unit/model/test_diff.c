#include "model/diff.h"

#include "model/own.h"
#include "unit/model/rows_log.h"
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

static struct rows_log sides[DIFF_SIDES];
static struct diff *diff;

/*
 * Lines without symbols: the line of a call site is its IL offset, in File.cs; an offset of 99 is an unknown line of the
 * method; larger ones have no line.
 */
#define LINES 20
static struct model_place places[3][LINES]; /* by log */

static void sites_to_lines(struct rows_log *l, struct model_place *at)
{
    for (size_t i = 0; i < l->rows.count; i++) {
        struct model_row *row = &l->rows.rows[i];
        const uint32_t path = row->what;

        assert_true(i < LINES);
        at[i] = (struct model_place){.file = row->il == 99 ? NULL : "File.cs",
                                     .line = (uint32_t)row->il};
        row->place = &at[i];
        row->what = path == LOG_PATH_EMPTY || row->il > 99
                        ? 0
                        : log_call_path(model_defs(l->model), path)->method + 1;
    }
    l->rows.options.key = MODEL_BY_LINE_TYPE;
}

static void read_side(struct rows_log *l, const char *text, enum model_key key, size_t log)
{
    static const struct model_filter all = {.thread = 0};
    const bool lines = key == MODEL_BY_LINE_TYPE;

    assert_int_equal(rows_log_read(l, text, lines ? MODEL_BY_SITE : key, &all, false), 0);
    if (lines)
        sites_to_lines(l, places[log]);
}

static void compare(const char *old, const char *new, enum model_key by, bool exact)
{
    const struct model_rows *rows[] = {&sides[DIFF_OLD].rows, &sides[DIFF_NEW].rows};
    const struct diff_logs one_each[DIFF_SIDES] = {{&rows[0], 1}, {&rows[1], 1}};

    read_side(&sides[DIFF_OLD], old, by, DIFF_OLD);
    read_side(&sides[DIFF_NEW], new, by, DIFF_NEW);
    assert_int_equal(diff_new(one_each, exact, &diff), 0);
}

static int teardown(void **state)
{
    (void)state;
    diff_free(diff);
    rows_log_free(&sides[DIFF_OLD]);
    rows_log_free(&sides[DIFF_NEW]);
    diff = NULL;
    return 0;
}

TEST_EACH(NULL, teardown);

static void expect_change(size_t index, uint64_t old, uint64_t new)
{
    const struct diff_change *c = diff_change(diff, index);

    assert_int_equal(c->side[DIFF_OLD].bytes, old);
    assert_int_equal(c->side[DIFF_NEW].bytes, new);
    assert_int_equal(c->side[DIFF_OLD].row == DIFF_NONE, old == 0);
    assert_int_equal(c->side[DIFF_NEW].row == DIFF_NONE, new == 0);
}

TEST(rows_are_matched_by_names_not_by_ids)
{
    compare(HEADER THREAD CLASS(1, "A") CLASS(2, "B") METHOD(1, "M()") METHOD(2, "N()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8) ALLOC(2, 32, 1, 8),
            HEADER THREAD CLASS(7, "A") CLASS(1, "B") METHOD(9, "M()") METHOD(1, "N()")
                NODE(5, 0, 9, 0) NODE(8, 5, 1, 4) ALLOC(7, 64, 8, 8) ALLOC(1, 32, 5, 8),
            MODEL_BY_SITE, true);
    assert_int_equal(diff_count(diff), 2);
    expect_change(0, 24, 64);
    expect_change(1, 32, 32);
}

TEST(other_builds_have_other_instructions)
{
    static const char old[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") NODE(1, 0, 1, 0)
        ALLOC(1, 24, 1, 8) ALLOC(1, 16, 1, 20);
    static const char new[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") NODE(1, 0, 1, 0)
        ALLOC(1, 24, 1, 9) ALLOC(1, 16, 1, 20);

    compare(old, new, MODEL_BY_SITE, false);
    assert_int_equal(diff_count(diff), 1);
    expect_change(0, 40, 40);
    assert_int_equal(teardown(state), 0);
    compare(old, new, MODEL_BY_SITE, true);
    assert_int_equal(diff_count(diff), 3);
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
    struct diff_sum sum;

    compare(old, new, MODEL_BY_SITE, false);
    assert_int_equal(diff_count(diff), 1);
    expect_change(0, 120, 128);
    diff_sum(diff, &sum);
    assert_int_equal(sum.inlined, 1);
    assert_int_equal(teardown(state), 0);
    compare(old, new, MODEL_BY_SITE, true);
    assert_int_equal(diff_count(diff), 2);
    expect_change(0, 40, 112);
    expect_change(1, 80, 16);
}

/* Leaf and Else are of the framework; both are inlined into Main, and one more than the other. */
TEST(what_is_made_below_the_same_own_frames_is_no_change_if_nothing_more_is)
{
    static const char *const main_only[] = {"Main*"};
    static const char old[] = INLINED ALLOC(1, 180, 5, 8) ALLOC(1, 60, 2, 8) ALLOC(1, 8, 1, 8);
    static const char new[] = INLINED ALLOC(1, 80, 5, 8) ALLOC(1, 100, 2, 8) ALLOC(1, 68, 1, 8);
    const struct model_rows *rows[] = {&sides[DIFF_OLD].rows, &sides[DIFF_NEW].rows};
    const struct diff_logs one_each[DIFF_SIDES] = {{&rows[0], 1}, {&rows[1], 1}};
    struct model_own *own[DIFF_SIDES];
    char why[100];

    compare(old, new, MODEL_BY_SITE, false);
    assert_int_not_equal(diff_count(diff), 1); /* whose frames are whose is not known */
    diff_free(diff);
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct model *m = sides[side].model;

        assert_int_equal(model_own_new(model_defs(m), model_log(m), NULL, main_only, 1, &own[side],
                                       why, sizeof(why)),
                         0);
        assert_int_equal(model_know(m, own[side], NULL), 0);
    }
    assert_int_equal(diff_new(one_each, false, &diff), 0);
    assert_int_equal(diff_count(diff), 1);
    expect_change(0, 248, 248);
    for (int side = 0; side < DIFF_SIDES; side++)
        model_own_free(own[side]);
}

/* Another method, another type, or the same change on both paths. */
TEST(what_is_not_inlined_is_a_change)
{
    struct diff_sum sum;

    compare(INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 5, 8) ALLOC(2, 8, 4, 8),
            INLINED ALLOC(1, 16, 2, 8) ALLOC(1, 104, 5, 8) ALLOC(2, 16, 4, 8), MODEL_BY_SITE,
            false);
    assert_int_equal(diff_count(diff), 3);
    diff_sum(diff, &sum);
    assert_int_equal(sum.inlined, 0);
    assert_int_equal(teardown(state), 0);
    compare(INLINED ALLOC(1, 80, 2, 8) ALLOC(1, 40, 4, 8),
            INLINED ALLOC(1, 160, 2, 8) ALLOC(1, 104, 4, 8), MODEL_BY_SITE, false);
    assert_int_equal(diff_count(diff), 2);
}

TEST(what_only_one_log_has_is_there)
{
    compare(HEADER THREAD CLASS(1, "A") CLASS(2, "Gone") ALLOC(1, 24, 0, 0) ALLOC(2, 8, 0, 0),
            HEADER THREAD CLASS(1, "A") CLASS(2, "Fresh") ALLOC(1, 24, 0, 0) ALLOC(2, 80, 0, 0),
            MODEL_BY_TYPE, false);
    assert_int_equal(diff_count(diff), 3);
    expect_change(0, 0, 80);
    expect_change(1, 8, 0);
    expect_change(2, 24, 24);
    assert_true(diff_change_certain(diff_change(diff, 0)));
    assert_false(diff_change_certain(diff_change(diff, 2)));
}

TEST(a_change_within_the_sampling_is_not_certain)
{
    compare(HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536),
            HEADER THREAD CLASS(1, "A") SAMPLED(1, 24, 65536) SAMPLED(1, 24, 65536)
                SAMPLED(1, 24, 65536),
            MODEL_BY_TYPE, false);
    assert_int_equal(diff_count(diff), 1);
    assert_false(diff_change_certain(diff_change(diff, 0)));
}

#define A_OF(bytes) HEADER THREAD CLASS(1, "A") ALLOC(1, bytes, 0, 0)

/* Of a side's logs, the bytes of one row. */
static void several_by(const char *old, const char *old_too, const char *new, enum model_key by)
{
    const char *const texts[] = {old, old_too, new};
    const struct model_rows *rows[3];
    struct rows_log logs[3];
    const struct diff_logs of[DIFF_SIDES] = {{rows, 2}, {rows + 2, 1}};

    for (size_t i = 0; i < 3; i++) {
        read_side(&logs[i], texts[i], by, i);
        rows[i] = &logs[i].rows;
    }
    diff_free(diff);
    assert_int_equal(diff_new(of, false, &diff), 0);
    for (int i = 0; i < 3; i++)
        rows_log_free(&logs[i]);
}

static void several(const char *old, const char *old_too, const char *new)
{
    several_by(old, old_too, new, MODEL_BY_TYPE);
}

TEST(what_the_logs_of_one_side_differ_by_is_no_change)
{
    several(A_OF(40), A_OF(80), A_OF(64));
    assert_true(diff_several(diff));
    expect_change(0, 60, 64);
    assert_false(diff_change_certain(diff_change(diff, 0)));
    several(A_OF(40), A_OF(80), A_OF(120)); /* as far away as they are from one another */
    assert_false(diff_change_certain(diff_change(diff, 0)));
    several(A_OF(40), A_OF(80), A_OF(128));
    assert_true(diff_change_certain(diff_change(diff, 0)));
    several(A_OF(80), A_OF(80), A_OF(88));
    assert_true(diff_change_certain(diff_change(diff, 0)));
    several(A_OF(80), HEADER THREAD CLASS(1, "A"), A_OF(88)); /* one has nothing of it */
    assert_false(diff_change_certain(diff_change(diff, 0)));
}

TEST(recursion_is_folded)
{
    static const char old[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) NODE(3, 2, 1, 4) NODE(4, 3, 2, 4) ALLOC(1, 24, 4, 8);
    static const char new[] = HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N()")
        NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8);

    compare(old, new, MODEL_BY_SITE, false);
    assert_int_equal(diff_count(diff), 1);
    assert_int_equal(teardown(state), 0);
    compare(old, new, MODEL_BY_SITE, true);
    assert_int_equal(diff_count(diff), 2);
}

TEST(a_static_constructor_belongs_to_nobody)
{
    compare(HEADER THREAD CLASS(1, "A") METHOD(1, "M()") METHOD(2, "N..cctor()") NODE(1, 0, 1, 0)
                NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            HEADER THREAD CLASS(1, "A") METHOD(1, "Other()") METHOD(2, "N..cctor()")
                NODE(1, 0, 1, 0) NODE(2, 1, 2, 4) ALLOC(1, 24, 2, 8),
            MODEL_BY_SITE, false);
    assert_int_equal(diff_count(diff), 1);
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
    const struct diff_change *c = diff_change(diff, index);
    const uint32_t expected[DIFF_SIDES] = {old, new};

    for (int side = 0; side < DIFF_SIDES; side++) {
        if (c->side[side].row == DIFF_NONE) {
            assert_int_equal(expected[side], 0);
            continue;
        }
        assert_int_equal(sides[side].rows.rows[c->side[side].row].place->line, expected[side]);
    }
}

/* Two lines were written above all of them, and a third line into their middle, which allocates, too. */
TEST(a_line_that_moved_is_the_same_line)
{
    compare(BUILD("old") ALLOC(1, 800, 1, 3) ALLOC(1, 160, 1, 4) ALLOC(2, 24, 1, 4)
                ALLOC(1, 400, 1, 5),
            BUILD("new") ALLOC(1, 800, 1, 5) ALLOC(1, 16, 1, 6) ALLOC(1, 192, 1, 7)
                ALLOC(2, 24, 1, 7) ALLOC(1, 400, 1, 8),
            MODEL_BY_LINE_TYPE, false);
    assert_int_equal(diff_count(diff), 5);
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
            BUILD("new") ALLOC(1, 5000, 1, 4) ALLOC(1, 80, 1, 9), MODEL_BY_LINE_TYPE, false);
    assert_int_equal(diff_count(diff), 3);
    expect_change(0, 104, 0);
    expect_change(1, 0, 80);
    expect_change(2, 5000, 5000);
    assert_int_equal(teardown(state), 0);
    compare(BUILD("old") ALLOC(1, 24, 1, 3) ALLOC(1, 24, 1, 7), BUILD("new") ALLOC(1, 24, 1, 3),
            MODEL_BY_LINE_TYPE, false);
    expect_change(0, 24, 0);
    expect_lines(0, 7, 0);
}

TEST(lines_of_one_build_are_matched_by_their_numbers)
{
    for (int exact = 0; exact < 2; exact++) {
        if (exact)
            assert_int_equal(teardown(state), 0);
        compare(BUILD("same") ALLOC(1, 800, 1, 3) ALLOC(1, 64, 1, 8),
                exact ? BUILD("other") ALLOC(1, 800, 1, 5) ALLOC(1, 64, 1, 8)
                      : BUILD("same") ALLOC(1, 800, 1, 5) ALLOC(1, 64, 1, 8),
                MODEL_BY_LINE_TYPE, exact);
        assert_int_equal(diff_count(diff), 3);
        expect_lines(2, 8, 8);
        expect_change(2, 64, 64);
    }
}

TEST(what_has_no_line_is_matched_by_method_and_type)
{
    compare(BUILD("old") ALLOC(1, 24, 1, 99) ALLOC(1, 32, 0, 0) ALLOC(2, 40, 1, 120),
            BUILD("new") ALLOC(1, 24, 1, 99) ALLOC(1, 32, 0, 0) ALLOC(2, 48, 1, 150),
            MODEL_BY_LINE_TYPE, false);
    assert_int_equal(diff_count(diff), 3);
    expect_change(0, 40, 48);
    expect_change(1, 32, 32);
    expect_change(2, 24, 24);
}

/* 300 bytes of line 3 are of no known line in the newer log, and 40 of line 5. */
TEST(what_has_no_line_in_one_log_only_is_no_change)
{
    static const char old[] =
        BUILD("same") ALLOC(1, 400, 1, 3) ALLOC(1, 90, 1, 5) ALLOC(1, 8, 1, 99);
    static const char new[] =
        BUILD("same") ALLOC(1, 100, 1, 3) ALLOC(1, 50, 1, 5) ALLOC(1, 348, 1, 99);
    struct diff_sum sum;

    compare(old, new, MODEL_BY_LINE_TYPE, false);
    assert_int_equal(diff_count(diff), 1);
    expect_change(0, 498, 498);
    diff_sum(diff, &sum);
    assert_int_equal(sum.inlined, 2);
    assert_int_equal(teardown(state), 0);
    compare(old, new, MODEL_BY_LINE_TYPE, true);
    assert_int_equal(diff_count(diff), 3);
    assert_int_equal(teardown(state), 0);
    compare(old, BUILD("same") ALLOC(1, 400, 1, 3) ALLOC(1, 90, 1, 5) ALLOC(1, 348, 1, 99),
            MODEL_BY_LINE_TYPE, false); /* nothing lost it */
    assert_int_equal(diff_count(diff), 3);
    expect_change(0, 8, 348);
}

/* The first side's logs differ in that line, by 40 bytes. */
TEST(of_lines_too_the_noise_of_one_side_is_no_change)
{
    several_by(BUILD("old") ALLOC(1, 400, 1, 3), BUILD("old") ALLOC(1, 440, 1, 3),
               BUILD("new") ALLOC(1, 464, 1, 4), MODEL_BY_LINE_TYPE);
    assert_int_equal(diff_count(diff), 1);
    expect_change(0, 420, 464);
    assert_false(diff_change_certain(diff_change(diff, 0)));
    several_by(BUILD("old") ALLOC(1, 400, 1, 3), BUILD("old") ALLOC(1, 440, 1, 3),
               BUILD("new") ALLOC(1, 488, 1, 4), MODEL_BY_LINE_TYPE);
    assert_true(diff_change_certain(diff_change(diff, 0)));
}

static void memory_runs_out(enum model_key by)
{
    const struct model_rows *rows[] = {&sides[DIFF_OLD].rows, &sides[DIFF_NEW].rows};
    const struct diff_logs one_each[DIFF_SIDES] = {{&rows[0], 1}, {&rows[1], 1}};
    int err = -ENOMEM;

    read_side(&sides[DIFF_OLD], BUILD("old") ALLOC(1, 24, 0, 0) ALLOC(1, 24, 1, 4), by, DIFF_OLD);
    read_side(&sides[DIFF_NEW], BUILD("new") ALLOC(1, 24, 1, 5), by, DIFF_NEW);
    for (long n = 0; err; n++) {
        memory_fail_after(n);
        err = diff_new(one_each, false, &diff);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        assert_true(n < 100 && (err == 0) == (diff != NULL));
    }
}

TEST(running_out_of_memory_is_said)
{
    memory_runs_out(MODEL_BY_SITE);
    assert_int_equal(teardown(state), 0);
    memory_runs_out(MODEL_BY_LINE_TYPE);
}
