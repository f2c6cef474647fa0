#include "report/checks.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"
#define CHECK(n, shadow) \
    "{\"kind\":\"check\",\"t\":1,\"taken\":" #n ",\"compared\":" #n ",\"equal\":" #n \
    ",\"mismatched\":0,\"refused\":0,\"shadow\":" shadow ",\"snapshot\":[[1000," #n "]]," \
    "\"by_depth\":[{\"from\":1,\"to\":10,\"count\":" #n ",\"shadow_ns\":60,\"snapshot_ns\":900}]," \
    "\"repairs\":{\"handler_cut\":" #n "}}\n"
#define MISMATCH \
    "{\"kind\":\"mismatch\",\"t\":2,\"thread\":1,\"cause\":\"shadow_extra\",\"first\":0," \
    "\"shadow\":[1],\"snapshot\":[],\"repairs\":[]}\n"

static struct log_problems problems;
static struct report_checks checks;

static int setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    return report_checks_init(&checks, &problems);
}

static int teardown(void **state)
{
    (void)state;
    report_checks_fini(&checks);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static void read_text(const char *text)
{
    struct memory_log m = {.text = text, .size = strlen(text)};
    struct log_lines *lines = memory_log_lines(&m);

    assert_int_equal(report_checks_read_lines(&checks, lines, "memory"), 0);
    log_lines_free(lines);
    assert_int_equal(report_checks_finish(&checks), 0);
}

static json_int_t tally(const json_t *counts, const char *key)
{
    return json_integer_value(json_object_get(counts, key));
}

TEST(the_last_check_counts)
{
    read_text(HEADER CHECK(2, "[[20,2]]") CHECK(5, "[[20,4],[40,1]]"));
    assert_int_equal(checks.compared, 5);
    assert_int_equal(checks.equal, 5);
    assert_int_equal(checks.shadow.count, 5);
    assert_int_equal(checks.depths[0].count, 5);
    assert_int_equal(tally(checks.repairs, "handler_cut"), 5);
    assert_true(fabs(report_mean(&checks.shadow) - 24) < 1e-9);
}

TEST(the_end_record_has_the_later_counts)
{
    read_text(HEADER CHECK(
        5,
        "[[20,5]]") "{\"kind\":\"end\",\"t\":3,\"seen\":9,\"written\":9,\"lost\":0,\"lost_by\":{},"
                    "\"bytes\":0,"
                    "\"repairs\":{\"handler_cut\":8},\"hooks\":{\"calls\":77,\"ns_per_pair\":2.5},"
                    "\"snapshots\":{\"taken\":9,\"compared\":7,\"equal\":7,\"mismatched\":0,"
                    "\"refused\":2,"
                    "\"refused_by\":{\"0x80131360\":2}}}\n");
    assert_int_equal(checks.taken, 9);
    assert_int_equal(checks.compared, 7);
    assert_int_equal(checks.refused, 2);
    assert_int_equal(tally(checks.refused_by, "0x80131360"), 2);
    assert_int_equal(tally(checks.repairs, "handler_cut"), 8);
    assert_int_equal(checks.hook_calls, 77);
    assert_true(checks.hook_ns_per_pair == 2.5);
}

/* A prefix that ends between a mismatch and the next check must not look perfect. */
TEST(mismatches_after_the_last_check_count)
{
    read_text(HEADER "{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}\n" CHECK(5, "[[20,5]]")
                  MISMATCH MISMATCH);
    assert_int_equal(checks.mismatched, 2);
    assert_int_equal(checks.compared, 7);
    assert_int_equal(checks.equal, 5);
    assert_int_equal(tally(checks.mismatched_by, "shadow_extra"), 2);
    assert_int_equal(checks.mismatch_count, 1);
    assert_int_equal(checks.mismatches[0].shadow_size, 1);
    assert_string_equal(log_method(&checks.defs, checks.mismatches[0].shadow[0])->name, "A.B()");
}

TEST(repairs_of_a_prefix_are_the_latest_known)
{
    read_text(HEADER CHECK(
        5, "[[20,5]]") "{\"kind\":\"repair\",\"t\":3,\"reason\":\"handler_cut\",\"count\":6}\n"
                       "{\"kind\":\"repair\",\"t\":3,\"reason\":\"filter\",\"count\":1}\n");
    assert_int_equal(tally(checks.repairs, "handler_cut"), 6);
    assert_int_equal(tally(checks.repairs, "filter"), 1);
}

TEST(recordings_behind_one_another_add_up)
{
    read_text(HEADER CHECK(5, "[[40,5]]") HEADER CHECK(3, "[[20,3]]"));
    assert_int_equal(checks.compared, 8);
    assert_int_equal(checks.shadow.count, 8);
    assert_int_equal(report_quantile(&checks.shadow, 0.3), 20);
    assert_int_equal(report_quantile(&checks.shadow, 0.5), 40);
    assert_int_equal(checks.depth_count, 1);
    assert_int_equal(checks.depths[0].count, 8);
}

TEST(quantiles_are_what_that_share_does_not_exceed)
{
    struct report_bucket buckets[] = {{10, 98}, {50, 1}, {1000, 1}};
    const struct report_histogram h = {buckets, 3, 3, 100, 2030}, empty = {NULL, 0, 0, 0, 0};

    assert_int_equal(report_quantile(&h, 0.5), 10);
    assert_int_equal(report_quantile(&h, 0.98), 10);
    assert_int_equal(report_quantile(&h, 0.99), 50);
    assert_int_equal(report_quantile(&h, 1), 1000);
    assert_int_equal(report_quantile(&empty, 0.5), 0);
    assert_true(report_mean(&empty) == 0);
}

TEST(exact_sums_are_better_than_bucket_middles)
{
    read_text(HEADER
              "{\"kind\":\"check\",\"t\":1,\"taken\":2,\"compared\":2,\"equal\":2,\"mismatched\":0,"
              "\"refused\":0,\"shadow\":[[20,2]],\"shadow_ns\":43}\n");
    assert_true(report_mean(&checks.shadow) == 21.5);
}

TEST(a_log_of_snapshots_has_no_cost_of_the_shadow_stack)
{
    read_text(HEADER
              "{\"kind\":\"check\",\"t\":1,\"taken\":2,\"compared\":0,\"equal\":0,\"mismatched\":0,"
              "\"refused\":0,\"shadow\":[[0,2]],\"shadow_ns\":0,\"snapshot\":[[900,2]]}\n");
    assert_int_equal(checks.shadow.count, 0);
    assert_int_equal(checks.snapshot.count, 2);
}

TEST(damaged_checks_are_noted_and_the_rest_is_used)
{
    read_text(HEADER CHECK(2, "[[20,2]]") "{\"kind\":\"check\",\"t\":1,\"taken\":\"many\"}\n"
                                          "{\"kind\":\"mismatch\",\"t\":2}\n"
                                          "{\"kind\":\"repair\",\"t\":2,\"reason\":5}\n" CHECK(
                                              3, "[[20],7,[-1,5],[1,\"x\"],[30,3]]"));
    assert_int_equal(problems.count, 3);
    assert_int_equal(checks.compared, 3);
    assert_int_equal(checks.shadow.count, 3);
}

#define BY_THREAD(thread, compared, equal) \
    "{\"kind\":\"check_thread\",\"t\":1,\"thread\":" #thread ",\"compared\":" #compared \
    ",\"equal\":" #equal ",\"refused\":1,\"shadow_ns\":100,\"snapshot_ns\":900}\n"
#define THREAD(thread) "{\"kind\":\"thread\",\"id\":" #thread ",\"os\":9}\n"

TEST(each_thread_has_its_last_figures)
{
    read_text(HEADER THREAD(1) THREAD(7) BY_THREAD(7, 2, 2) BY_THREAD(1, 3, 3) BY_THREAD(7, 5, 4));
    assert_int_equal(checks.thread_count, 2);
    assert_int_equal(checks.threads[0].compared, 3);
    assert_int_equal(checks.threads[1].compared, 5);
    assert_int_equal(checks.threads[1].equal, 4);
    assert_int_equal(checks.threads[1].refused, 1);
    assert_int_equal(checks.threads[1].snapshot_ns, 900);
    assert_int_equal(problems.count, 0);
}

TEST(threads_of_two_recordings_stay_apart)
{
    read_text(HEADER THREAD(1) BY_THREAD(1, 2, 2) HEADER THREAD(1) BY_THREAD(1, 9, 9));
    assert_int_equal(checks.thread_count, 2);
    assert_int_equal(checks.threads[0].compared, 2);
    assert_int_equal(checks.threads[1].compared, 9);
}

#define PART(n, pid) \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":" #pid \
    ",\"clock\":9,\"part\":" #n "}\n"

TEST(parts_of_one_recording_go_on)
{
    read_text(PART(1, 7) THREAD(1) CHECK(2, "[[20,2]]") BY_THREAD(1, 2, 2) PART(2, 7) THREAD(1)
                  CHECK(5, "[[20,5]]") BY_THREAD(1, 5, 5));
    assert_int_equal(checks.compared, 5);
    assert_int_equal(checks.shadow.count, 5);
    assert_int_equal(checks.thread_count, 1);
    assert_int_equal(checks.threads[0].compared, 5);
    assert_int_equal(checks.log.headers, 1);
}

TEST(parts_of_other_processes_do_not)
{
    read_text(PART(1, 7) CHECK(2, "[[20,2]]") PART(2, 8) CHECK(5, "[[20,5]]") PART(2, 8)
                  CHECK(1, "[[20,1]]"));
    assert_int_equal(checks.compared, 8);
    assert_int_equal(checks.log.headers, 2); /* one of them twice */
}

TEST(impossible_figures_of_a_thread_are_noted)
{
    read_text(HEADER THREAD(1) BY_THREAD(1, 2, 3) BY_THREAD(0, 2, 2));
    assert_int_equal(problems.count, 2);
    assert_int_equal(checks.thread_count, 0);
}

TEST(running_out_of_memory_is_said_at_every_place)
{
    static const char text[] =
        HEADER "{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}\n" CHECK(5, "[[20,5]]") MISMATCH;
    long n = 0;
    int err;

    do {
        struct memory_log m = {.text = text, .size = sizeof(text) - 1};
        struct log_lines *lines = memory_log_lines(&m);
        struct report_checks c;

        memory_fail_after(n++);
        err = report_checks_init(&c, &problems);
        if (!err)
            err = report_checks_read_lines(&c, lines, "memory");
        if (!err)
            err = report_checks_finish(&c);
        memory_fail_after(-1);
        report_checks_fini(&c);
        log_lines_free(lines);
        assert_true(err == 0 || err == -ENOMEM);
    } while (err);
    assert_true(n > 10);
}
