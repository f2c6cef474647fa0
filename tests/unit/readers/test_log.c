#include "readers/log.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#define SMALL  "tests/fixtures/logs/small.ndjson"
#define HEADER "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"

static struct log_problems problems;
static struct log_defs defs;
static struct log_input report;
static uint64_t allocs;

static int count_allocs(void *context, const struct log_record *record)
{
    (void)context;
    allocs += record->kind == SST_KIND_ALLOC;
    return 0;
}

static const struct log_consumer consumer = {count_allocs, NULL, NULL, NULL};

static int setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    log_input_init(&report);
    allocs = 0;
    return log_defs_init(&defs, &problems);
}

static int teardown(void **state)
{
    (void)state;
    log_input_fini(&report);
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static int read_bytes(const char *text, size_t size, size_t chunk)
{
    struct memory_log m = {.text = text, .size = size, .chunk = chunk};
    struct log_lines *lines = memory_log_lines(&m);
    int err = log_input_read_lines(lines, "memory", &defs, &consumer, &report);

    log_lines_free(lines);
    return err;
}

static int read_text(const char *text)
{
    return read_bytes(text, strlen(text), 0);
}

TEST(cut_at_every_byte_it_reads_up_to_the_cut)
{
    size_t size;
    char *text = memory_log_file(SMALL, &size);
    uint64_t lines = 0, whole = 0;

    for (size_t cut = 0; cut <= size; cut++) {
        bool at_end = cut > 0 && text[cut - 1] == '\n';
        bool complete = cut < size && text[cut] == '\n'; /* all of a record, but its newline */

        if (at_end)
            lines++;
        whole = lines + complete;
        teardown(state);
        assert_int_equal(setup(state), 0);
        assert_int_equal(read_bytes(text, cut, 1 + cut % 97), 0);
        assert_int_equal(report.lines, lines + (cut > 0 && !at_end));
        assert_int_equal(report.lines - report.skipped, whole);
        assert_int_equal(report.skipped, problems.count);
        assert_int_equal(log_input_ended(&report), whole == 29);
        if (cut == size)
            assert_int_equal(allocs, 7);
    }
    free(text);
}

TEST(cut_compressed_at_every_byte_it_reads_up_to_the_cut)
{
    static char packed[1 << 16];
    size_t size, packed_size;
    char *text = memory_log_file(SMALL, &size);

    packed_size = ZSTD_compress(packed, sizeof(packed), text, size, 3);
    for (size_t cut = 4; cut <= packed_size; cut++) {
        teardown(state);
        assert_int_equal(setup(state), 0);
        assert_int_equal(read_bytes(packed, cut, 0), 0);
        assert_int_equal(log_input_ended(&report), cut == packed_size);
        assert_int_equal(problems.count, cut < packed_size); /* one line, wherever it is cut */
    }
    assert_int_equal(allocs, 7);
    free(text);
}

TEST(a_file_without_any_record_is_no_log)
{
    assert_int_equal(read_text("root:x:0:0\ndaemon:x:1:1\n"), -EBADMSG);
    assert_non_null(strstr(report.why, "not a shadowtrace log"));
    teardown(state);
    assert_int_equal(setup(state), 0);
    assert_int_equal(read_text("{\"kind\":\"head"), 0); /* how a log begins */
    assert_int_equal(report.cut, 1);
    teardown(state);
    assert_int_equal(setup(state), 0);
    assert_int_equal(read_text("{\"kinds\":"), -EBADMSG);
}

TEST(a_large_file_that_is_no_log_is_not_read_to_its_end)
{
    static char text[4000000];

    memset(text, '\n', sizeof(text));
    assert_int_equal(read_bytes(text, sizeof(text), 0), -EBADMSG);
    assert_true(report.lines < 2000);
}

TEST(a_later_version_is_refused)
{
    assert_int_equal(read_text("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":2}\n"),
                     -EPROTO);
    assert_non_null(strstr(report.why, "log version 2"));
    assert_int_equal(read_text("{\"kind\":\"header\",\"format\":\"other\",\"version\":1}\n"),
                     -EBADMSG);
    assert_non_null(strstr(report.why, "\"other\""));
}

TEST(damaged_lines_are_noted_with_their_place)
{
    assert_int_equal(
        read_text(HEADER
                  "{\"kind\":\"thread\",\"id\":1,\"os\":5}\nBOOM\n"
                  "{\"kind\":\"class\",\"id\":0,\"name\":\"x\"}\n"
                  "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":8,\"node\":0}\n"),
        0);
    assert_int_equal(report.skipped, 2);
    assert_int_equal(problems.count, 3);
    assert_int_equal(problems.kept[0].place.line, 3);
    assert_int_equal(problems.kept[0].place.offset,
                     strlen(HEADER "{\"kind\":\"thread\",\"id\":1,\"os\":5}\n"));
    assert_string_equal(problems.kept[0].file, "memory");
    assert_non_null(strstr(problems.kept[1].text, "\"id\""));
    assert_string_equal(problems.kept[2].text, "class 1 is used but not defined");
    assert_int_equal(allocs, 1);
}

TEST(problems_beyond_the_limit_are_counted)
{
    for (int i = 0; i < 250; i++)
        log_problem(
            &problems, (struct log_place){1, 0}, "number %d \x01 %.*s", i, 180 + i % 100,
            "and something long, and something long, and something long, and something long, "
            "and something long, and something long, and something long, and something long, "
            "and something long, and something long, and something "
            "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4");
    assert_int_equal(problems.count, 250);
    assert_int_equal(problems.kept_count, LOG_PROBLEMS);
    assert_null(strchr(problems.kept[0].text, '\x01'));
    assert_true(strlen(problems.kept[0].text) > 150);
    for (size_t i = 0; i < LOG_PROBLEMS; i++) { /* the cut fell between letters */
        json_t *text = json_string(problems.kept[i].text);

        assert_non_null(text);
        json_decref(text);
    }
}

TEST(losses_are_the_last_of_each_reason_and_the_end_has_the_say)
{
    assert_int_equal(
        read_text(HEADER "{\"kind\":\"lost\",\"t\":1,\"reason\":\"ring_full\",\"count\":5}\n"
                         "{\"kind\":\"lost\",\"t\":2,\"reason\":\"ring_full\",\"count\":9}\n"
                         "{\"kind\":\"lost\",\"t\":2,\"reason\":\"no_memory\",\"count\":1}\n"),
        0);
    assert_int_equal(log_input_lost(&report), 10);
    assert_false(log_input_ended(&report));
    assert_int_equal(read_text(HEADER
                               "{\"kind\":\"lost\",\"t\":1,\"reason\":\"ring_full\",\"count\":5}\n"
                               "{\"kind\":\"end\",\"t\":3,\"lost\":7}\n"),
                     0);
    assert_int_equal(log_input_lost(&report), 17);
    assert_false(log_input_ended(&report)); /* the first of the two has no end */
}

TEST(losses_of_other_families_are_told_apart)
{
    json_t *others;

    assert_int_equal(
        read_text(HEADER
                  "{\"kind\":\"family_lost\",\"t\":1,\"family\":\"calls\",\"seen\":9,\"written\":8,"
                  "\"lost\":1,\"lost_by\":{}}\n"
                  "{\"kind\":\"family_lost\",\"t\":2,\"family\":\"jit\",\"seen\":9,\"written\":7,"
                  "\"lost\":2,\"lost_by\":{}}\n"),
        0);
    others = log_input_lost_others(&report);
    assert_int_equal(json_integer_value(json_object_get(others, "calls")), 1);
    assert_int_equal(json_integer_value(json_object_get(others, "jit")), 2);
    json_decref(others);
    assert_int_equal(
        read_text(HEADER
                  "{\"kind\":\"end\",\"t\":3,\"lost\":0,\"values\":{\"posted\":4,\"lost\":5},"
                  "\"events\":{\"calls\":{\"lost\":10},\"gc\":{\"lost\":0}}}\n"),
        0);
    others = log_input_lost_others(&report); /* of both recordings */
    assert_int_equal(json_object_size(others), 3);
    assert_int_equal(json_integer_value(json_object_get(others, "calls")), 11);
    assert_int_equal(json_integer_value(json_object_get(others, "values")), 5);
    json_decref(others);
    assert_int_equal(log_input_lost(&report), 0);
}

TEST(what_a_later_version_adds_is_counted)
{
    assert_int_equal(read_text(HEADER
                               "{\"kind\":\"zz\",\"t\":1}\n{\"kind\":\"zz\",\"t\":2}\n"
                               "{\"kind\":\"thread\",\"id\":1,\"os\":5,\"mood\":\"fine\"}\n"),
                     0);
    assert_int_equal(report.unknown_records, 2);
    assert_int_equal(report.unknown_members, 1);
    assert_int_equal(problems.count, 0);
}

TEST(a_far_out_id_costs_little)
{
    assert_int_equal(
        read_text(HEADER
                  "{\"kind\":\"method\",\"id\":4294967294,\"name\":\"A.B()\"}\n"
                  "{\"kind\":\"node\",\"id\":4000000000,\"parent\":0,\"method\":4294967294}\n"),
        0);
    assert_int_equal(problems.count, 0);
    assert_true(log_id_map_get(&defs.path_ids, 4000000000u) > 0);
}
