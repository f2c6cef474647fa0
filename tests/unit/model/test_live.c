/* What is alive, of a log that can be added up by head: tests/fixtures/logs/alive.ndjson. */
#include "unit/model/model_log.h"

#define LOG  "tests/fixtures/logs/alive.ndjson"
#define ITEM 40 /* bytes of what each site makes */
#define TEXT 32
#define MS   1000000u

TEST_EACH(model_setup, model_teardown);

static struct report_live_spans spans;

static struct report_live_bound gc(uint64_t number)
{
    return (struct report_live_bound){.given = true, .is_gc = true, .gc = number};
}

static struct report_live_bound at(uint64_t t)
{
    return (struct report_live_bound){.given = true, .at = {.recording = 1, .t = t * MS}};
}

static const struct report_live_bound none;

/* Sums are whole numbers, held exactly. */
#define assert_same(have, want) assert_int_equal((int64_t)(have), (int64_t)(want))

static void ask_text(const char *text, enum report_live_question question,
                     struct report_live_bound from, struct report_live_bound to, bool instead)
{
    const struct model_options options = {.live = question, .instead = instead};
    struct memory_log m = {.text = text, .size = strlen(text)};
    struct log_marks marks = {.marks = NULL};
    struct log_lines *lines = memory_log_lines(&m);

    assert_int_equal(log_marks_read_lines(lines, &marks), 0);
    log_lines_free(lines);
    report_live_spans_fini(&spans);
    assert_int_equal(report_live_choose(&marks, question, &from, &to, &spans), 0);
    log_marks_fini(&marks);
    model_begin(&options);
    model_spans(model, &spans);
    lines = memory_log_lines(&m);
    assert_int_equal(model_read_lines(model, lines, "memory", NULL), 0);
    log_lines_free(lines);
    assert_int_equal(model_finish(model), 0);
    report_live_spans_fini(&spans);
    assert_int_equal(problems.count, 0);
}

static void ask(enum report_live_question question, struct report_live_bound from,
                struct report_live_bound to)
{
    size_t size;
    char *text = memory_log_file(LOG, &size);

    ask_text(text, question, from, to, true);
    free(text);
}

/* Of all cells of a type: a weight. */
static double of(const char *type, enum model_weight weight)
{
    double sum = 0;

    for (size_t i = 0; i < model_cell_count(model); i++)
        if (strcmp(log_class(model_defs(model), model_cell(model, i)->class_number)->name, type) ==
            0)
            sum += model_cell_weight(model, i, weight);
    return sum;
}

static void expect(const char *type, double allocs, double bytes)
{
    assert_same(of(type, MODEL_ALLOCS), allocs);
    assert_same(of(type, MODEL_BYTES), bytes);
}

static void expect_all(double allocs, double bytes)
{
    assert_same(model_weight_total(model, MODEL_ALLOCS), allocs);
    assert_same(model_weight_total(model, MODEL_BYTES), bytes);
}

TEST(alive_at_a_moment_is_what_had_survived_and_not_died_by_the_collection_before_it)
{
    ask(REPORT_LIVE_AT, none, at(2500));
    expect("Shop.Item", 2, 2 * ITEM);
    expect("System.String", 1, TEXT);
    expect("System.Byte[]", 1, 90024);
    expect_all(4, 90136);
    assert_int_equal(model_live(model)->at.last.gc, 1);

    ask(REPORT_LIVE_AT, none, gc(2));
    expect("Shop.Item", 5, 5 * ITEM);
    expect("System.String", 0, 0);
    expect_all(6, 90224);
    assert_int_equal(model_live(model)->at.last.full, 0);
}

TEST(before_the_first_collection_nothing_is_known)
{
    ask(REPORT_LIVE_AT, none, at(1999));
    expect_all(0, 0);
    assert_int_equal(model_live(model)->asked, 0);
}

TEST(the_peak_is_what_the_collection_left_that_left_most)
{
    ask(REPORT_LIVE_PEAK, none, none);
    expect("Shop.Item", 5, 5 * ITEM);
    expect("System.Byte[]", 1, 100024);
    expect_all(6, 100224);
    assert_int_equal(model_live(model)->at.last.gc, 3);
    assert_int_equal(model_live(model)->at.last.full, 3);
}

TEST(the_end_tells_what_was_found_alive_from_what_was_made_later)
{
    ask(REPORT_LIVE_END, none, none);
    assert_same(of("Shop.Item", MODEL_LIVE_BYTES), 5 * ITEM);
    assert_same(of("Shop.Item", MODEL_BESIDE_BYTES), ITEM);
    assert_same(of("System.String", MODEL_LIVE_ALLOCS), 0);
    assert_same(of("System.String", MODEL_BESIDE_ALLOCS), 2); /* one in front of its line */
    expect("Shop.Item", 6, 6 * ITEM);
    expect_all(8, 6 * ITEM + 2 * TEXT);
    assert_same(model_weight_total(model, MODEL_LIVE_BYTES), 200);
}

TEST(grown_is_the_difference_of_two_moments_to_the_byte)
{
    ask(REPORT_LIVE_GROWN, at(2500), at(6500));
    expect("Shop.Item", 3, 3 * ITEM);
    expect("System.String", -1, -TEXT);
    expect("System.Byte[]", 0, 10000);
    expect_all(6 - 4, 100224 - 90136);

    ask(REPORT_LIVE_GROWN, none, gc(3));
    expect_all(6, 100224);
    ask(REPORT_LIVE_GROWN, gc(3), gc(3));
    expect_all(0, 0);
}

TEST(temporary_is_what_was_allocated_and_never_survived)
{
    ask(REPORT_LIVE_TEMPORARY, none, none);
    expect("Shop.Item", 0, 0);
    expect("System.String", 6, 6 * TEXT);
    expect("System.Byte[]", 0, 0);
    assert_same(of("System.String", MODEL_LIVE_ALLOCS), 1);

    ask(REPORT_LIVE_TEMPORARY, gc(1), gc(2));
    expect("System.String", 4, 4 * TEXT);
    expect_all(4, 4 * TEXT);
}

TEST(lifetimes_account_for_all_that_was_allocated_before_the_last_collection)
{
    static const double expected[][4] = {
        {1, 1, 1, TEXT}, {2, 3, 1, ITEM}, {3, 1, 1, 100024}, {3, 2, 1, 90024}};
    const struct report_live *live;
    double bytes = 0;

    ask(REPORT_LIVE_LIFETIMES, none, none);
    live = model_live(model);
    expect("Shop.Item", 6, 6 * ITEM);
    expect_all(15, 6 * ITEM + 7 * TEXT + 190048);
    assert_int_equal(live->death_count, COUNT_OF(expected));
    for (size_t i = 0; i < live->death_count; i++) {
        const struct report_live_death *d = &live->deaths[i];
        size_t k = 0;

        while (k < COUNT_OF(expected) &&
               (expected[k][0] != d->generation || expected[k][1] != d->age))
            k++;
        assert_true(k < COUNT_OF(expected));
        assert_same(d->allocs, expected[k][2]);
        assert_same(d->bytes, expected[k][3]);
        assert_true(d->number < model_cell_count(model));
        bytes += d->bytes;
    }
    assert_same(bytes + model_weight_total(model, MODEL_LIVE_BYTES) +
                    model_weight_total(model, MODEL_BESIDE_BYTES),
                model_weight_total(model, MODEL_BYTES));
}

TEST(beside_what_was_allocated_the_question_has_columns_of_its_own)
{
    size_t size;
    char *text = memory_log_file(LOG, &size);

    ask_text(text, REPORT_LIVE_END, none, none, false);
    free(text);
    expect("Shop.Item", 7, 7 * ITEM);
    expect_all(18, 7 * ITEM + 9 * TEXT + 190048);
    assert_same(model_weight_total(model, MODEL_LIVE_BYTES), 200);
    assert_same(model_weight_total(model, MODEL_BESIDE_BYTES), ITEM + 2 * TEXT);
}

/* ---- parts ---- */

#define BEGIN(number) \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":5,\"clock\":7," \
    "\"part\":" number "}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"A.B.C()\"}\n" \
    "{\"kind\":\"class\",\"id\":1,\"name\":\"A.T\"}\n" \
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}\n"
#define SITE(id, il, more) \
    "{\"kind\":\"live_site\",\"id\":" id ",\"node\":1,\"il\":" il ",\"class\":1" more "}\n"
#define PART(number) BEGIN(number) SITE("1", "3", "") SITE("2", "9", "")
#define TOTAL(t, number, objects, size, more) \
    "{\"kind\":\"live_total\",\"t\":" t ",\"gc\":" number \
    ",\"depth\":2,\"pause\":1,\"allocs\":" objects ",\"bytes\":" size ",\"exact\":true" more "}\n"
#define LIVE(number, site, more) "{\"kind\":\"live\",\"site\":" site ",\"gc\":" number more "}\n"
#define FIRST \
    PART("1") \
    LIVE("1", "1", ",\"survived\":3,\"survived_bytes\":72") \
    LIVE("1", "2", ",\"survived\":1,\"survived_bytes\":24") TOTAL("10", "1", "4", "96", "")
#define SECOND \
    BEGIN("2") \
    SITE("1", "3", ",\"gc\":1,\"survived\":3,\"survived_bytes\":72,\"opening\":true") \
    SITE("2", "9", ",\"gc\":1,\"survived\":1,\"survived_bytes\":24,\"opening\":true") \
    TOTAL("10", "1", "4", "96", ",\"opening\":true") \
    LIVE("2", "1", ",\"died\":[[2,1,2,48]]") \
    LIVE("2", "2", ",\"survived\":5,\"survived_bytes\":120") TOTAL("20", "2", "7", "168", "")

TEST(parts_of_a_recording_go_on_where_the_one_before_ended)
{
    ask_text(FIRST SECOND, REPORT_LIVE_AT, none, none, true);
    expect_all(7, 168);
    ask_text(FIRST SECOND, REPORT_LIVE_GROWN, gc(1), none, true);
    expect_all(3, 72);
    ask_text(FIRST SECOND, REPORT_LIVE_TEMPORARY, none, none, true);
    assert_same(model_weight_total(model, MODEL_LIVE_ALLOCS), 9);
}

TEST(a_part_alone_begins_with_what_was_alive)
{
    ask_text(SECOND, REPORT_LIVE_AT, none, none, true);
    expect_all(7, 168);
    ask_text(SECOND, REPORT_LIVE_AT, none, gc(1), true);
    expect_all(4, 96);
    ask_text(SECOND, REPORT_LIVE_TEMPORARY, none, none, true); /* an opening survived nothing */
    assert_same(model_weight_total(model, MODEL_LIVE_ALLOCS), 5);
}

TEST(what_stands_behind_the_last_total_counts_nowhere)
{
    ask_text(FIRST LIVE("2", "1", ",\"died\":[[2,1,2,48]]")
                 SITE("3", "5", ",\"gc\":2,\"survived\":5,\"survived_bytes\":120"),
             REPORT_LIVE_AT, none, none, true);
    expect_all(4, 96);
}

TEST(what_died_in_a_part_that_is_gone_is_not_alive)
{
    ask_text(FIRST PART("3")
                 LIVE("3", "2", ",\"survived\":1,\"survived_bytes\":24,\"opening\":true")
                     TOTAL("30", "3", "1", "24", ",\"opening\":true"),
             REPORT_LIVE_AT, none, none, true);
    expect_all(1, 24);
    ask_text(FIRST PART("3") TOTAL("30", "3", "0", "0", ",\"opening\":true"), REPORT_LIVE_AT, none,
             none, true);
    expect_all(0, 0);
}

TEST(recordings_add_up_each_at_its_own_end)
{
    ask_text(FIRST "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":6,"
                   "\"clock\":7}\n"
                   "{\"kind\":\"class\",\"id\":1,\"name\":\"A.T\"}\n"
                   "{\"kind\":\"live_site\",\"id\":1,\"node\":0,\"class\":1}\n" //
             LIVE("1", "1", ",\"survived\":1,\"survived_bytes\":32")
                 TOTAL("10", "1", "1", "32", ""),
             REPORT_LIVE_END, none, none, true);
    expect_all(5, 128);
    assert_int_equal(model_live(model)->asked, 2);
}

/* ---- what is wrong ---- */

TEST(sums_that_do_not_add_up_are_a_problem)
{
    static const char text[] = PART("1") LIVE("1", "1", ",\"survived\":3,\"survived_bytes\":72")
        TOTAL("10", "1", "4", "72", "");
    const struct model_options options = {.live = REPORT_LIVE_END, .instead = true};

    model_text(&options, text);
    assert_int_equal(problems.count, 1);
    assert_true(model_live(model)->wrong);
    assert_non_null(strstr(problems.kept[0].text, "4 objects, 72 bytes"));
}

TEST(a_site_that_nobody_defined_counts_all_the_same)
{
    static const char text[] = PART("1") LIVE("1", "9", ",\"survived\":3,\"survived_bytes\":72")
        TOTAL("10", "1", "3", "72", "");
    const struct model_options options = {.live = REPORT_LIVE_END, .instead = true};

    model_text(&options, text);
    assert_int_equal(problems.count, 1);
    expect_all(3, 72);
}

TEST(why_sums_are_not_exact_is_kept)
{
    ask_text(PART("1") "{\"kind\":\"live_total\",\"t\":5,\"gc\":1,\"depth\":0,\"pause\":1,"
                       "\"allocs\":0,\"bytes\":0,\"exact\":false,\"why\":\"memory\"}\n",
             REPORT_LIVE_END, none, none, true);
    assert_int_equal(model_live(model)->why, SST_LIVE_MEMORY);
}
