#include "readers/record.h"

#include "base/il.h"
#include "base/atomics.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct log_parser parser;
static char padded[4096];

static int setup(void **state)
{
    (void)state;
    log_parser_init(&parser);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_parser_fini(&parser);
    return 0;
}

TEST_GROUP(setup, teardown);

static struct log_line line_of(const char *text)
{
    struct log_line line = {.size = strlen(text), .text = padded, .at = {7, 70}};

    memcpy(padded, text, line.size);
    memset(padded + line.size, '\n', LOG_LINE_PADDING);
    return line;
}

static void expect_same_alloc(const struct log_alloc *a, const struct log_alloc *b)
{
    assert_int_equal(a->unoptimised, b->unoptimised);
    assert_int_equal(a->call, b->call);
    assert_int_equal(a->t, b->t);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->allocs, b->allocs);
    assert_true(a->weight == b->weight);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->class_id, b->class_id);
    assert_int_equal(a->node, b->node);
    assert_int_equal(a->il, b->il);
    assert_int_equal(a->heap, b->heap);
    assert_int_equal(a->cut, b->cut);
    assert_int_equal(a->inlined, b->inlined);
    assert_int_equal(a->stack_size, b->stack_size);
    assert_int_equal(a->type_size, b->type_size);
    if (a->stack)
        assert_memory_equal(a->stack, b->stack, a->stack_size);
    if (a->type)
        assert_memory_equal(a->type, b->type, a->type_size);
}

static void expect_same(const struct log_record *a, const struct log_record *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->at.line, b->at.line);
    assert_int_equal(a->at.offset, b->at.offset);
    if (a->kind == SST_KIND_NODE) {
        assert_int_equal(a->node.id, b->node.id);
        assert_int_equal(a->node.parent, b->node.parent);
        assert_int_equal(a->node.method, b->node.method);
        assert_int_equal(a->node.il, b->node.il);
        assert_int_equal(a->node.call, b->node.call);
        assert_int_equal(a->node.filter, b->node.filter);
        assert_int_equal(a->node.begun, b->node.begun);
        assert_int_equal(a->node.inlined, b->node.inlined);
    } else {
        expect_same_alloc(&a->alloc, &b->alloc);
    }
}

/* Lines that must be read by hand: they are what a log consists of. */
TEST(usual_lines_are_read_by_hand_as_jansson_reads_them)
{
    static const char *const lines[] = {
        "{\"kind\":\"alloc\",\"t\":20925256,\"thread\":1,\"class\":2,\"bytes\":8184,\"node\":0,"
        "\"heap\":\"pinned\"}",
        "{\"kind\":\"alloc\",\"t\":0,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":17,\"il\":0}",
        "{\"kind\":\"alloc\",\"t\":9007199254740991,\"thread\":4294967294,\"class\":4294967294,"
        "\"bytes\":9007199254740991,\"node\":4294967294,\"il\":268435455}",
        "{\"kind\":\"alloc\",\"bytes\":24,\"node\":1,\"class\":2,\"thread\":1,\"t\":5}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":"
        "5120.5}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":0."
        "1}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":"
        "524300.00381470128}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":1."
        "5e3}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":"
        "9007199254740991}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"stack\":[],\"type\":"
        "\"A.B\"}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"type\":\"A.B\","
        "\"stack\":[\"C.D(System.Int32)\"]}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"il\":3,\"stack\":[\"C."
        "D()\",\"E.F()\"]}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"later\":"
        "\"x\",\"more\":-1.5,"
        "\"yes\":true,\"no\":false,\"none\":null}",
        "{\"kind\":\"site\",\"node\":3,\"il\":9,\"class\":4,\"thread\":2,\"allocs\":7,\"bytes\":"
        "168,\"heap\":\"large\"}",
        "{\"kind\":\"site\",\"node\":3,\"class\":4,\"allocs\":7,\"bytes\":168,\"weight\":1000}",
        "{\"kind\":\"site\",\"node\":3,\"class\":4,\"allocs\":7,\"bytes\":168,\"cut\":true}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":0,\"cut\":"
        "true}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"cut\":"
        "false}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"il0\":140}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"il\":7,"
        "\"call\":\"dynamic\"}",
        "{\"kind\":\"site\",\"node\":3,\"call\":\"dynamic\",\"class\":4,\"allocs\":7,\"bytes\":"
        "168}",
        "{\"kind\":\"site\",\"node\":3,\"il0\":0,\"class\":4,\"allocs\":7,\"bytes\":168}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"il\":8,"
        "\"il_last\":60}",
        "{\"kind\":\"site\",\"node\":3,\"il0\":65535,\"il_last\":69630,\"class\":4,\"allocs\":7,"
        "\"bytes\":168}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"il\":12,\"il_last\":13,"
        "\"begun\":4,\"inlined\":6}",
        "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"il\":12,\"filter\":true}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"call\":\"unhooked\",\"filter\":"
        "false}",
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct log_line line = line_of(lines[i]);
        struct log_record hand, any;

        assert_true(log_parse_by_hand(&parser, &line, &hand));
        assert_null(hand.json);
        assert_int_equal(log_parse_any(&parser, &line, &any), 0);
        expect_same(&hand, &any);
        assert_int_equal(hand.at.line, 7);
    }
}

static void expect_same_live(const struct log_live_line *a, const struct log_live_line *b)
{
    const char *one = a->died, *other = b->died;
    struct log_died x = {0, 0, 0, 0}, y = x;

    assert_int_equal(a->gc, b->gc);
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->survived, b->survived);
    assert_int_equal(a->survived_bytes, b->survived_bytes);
    assert_int_equal(a->opening, b->opening);
    assert_int_equal(!one, !other);
    while (one && log_died_next(&one, &x)) {
        assert_true(log_died_next(&other, &y));
        assert_memory_equal(&x, &y, sizeof(x));
    }
    assert_true(!one || !log_died_next(&other, &y));
}

TEST(lines_of_live_objects_are_read_by_hand_as_jansson_reads_them)
{
    static const char *const lines[] = {
        "{\"kind\":\"live\",\"site\":7,\"gc\":2,\"survived\":3,\"survived_bytes\":72}",
        "{\"kind\":\"live\",\"site\":7,\"gc\":2,\"died\":[[0,1,2,48],[4,15,1,"
        "9007199254740991]]}",
        "{\"kind\":\"live\",\"site\":4294967294,\"gc\":0,\"survived\":1,"
        "\"survived_bytes\":24,\"opening\":true}",
    };
    struct log_record hand, any;
    struct log_died died;
    struct log_line line;
    const char *at;

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        line = line_of(lines[i]);
        assert_true(log_parse_by_hand(&parser, &line, &hand));
        assert_int_equal(log_parse_any(&parser, &line, &any), 0);
        assert_int_equal(any.kind, SST_KIND_LIVE);
        expect_same_live(&hand.live, &any.live);
    }
    line = line_of(lines[1]);
    assert_true(log_parse_by_hand(&parser, &line, &hand));
    at = hand.live.died;
    assert_true(log_died_next(&at, &died) && log_died_next(&at, &died));
    assert_int_equal(died.generation, 4);
    assert_int_equal(died.age, 15);
    assert_int_equal(died.objects, 1);
    assert_int_equal(died.bytes, 9007199254740991);
    assert_false(log_died_next(&at, &died));
}

#define SITE "{\"kind\":\"live_site\",\"id\":9,\"node\":3,\"il0\":12,\"class\":2,\"unloaded\":true"

TEST(a_site_is_read_by_hand_as_jansson_reads_it_with_what_became_of_its_objects)
{
    static const char *const lines[] = {
        SITE "}", SITE ",\"inlined\":5,\"il_last\":60}",
        SITE ",\"survived\":3,\"survived_bytes\":72}",
        SITE ",\"gc\":2,\"survived\":3,\"survived_bytes\":72,\"died\":[[0,1,2,48]]}",
        SITE ",\"gc\":2,\"survived\":3,\"survived_bytes\":72,\"opening\":true}"};
    struct log_record hand, any;
    struct log_line line;

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        line = line_of(lines[i]);
        assert_true(log_parse_by_hand(&parser, &line, &hand));
        assert_int_equal(log_parse_any(&parser, &line, &any), 0);
        expect_same_alloc(&hand.alloc, &any.alloc);
        expect_same_live(&hand.live, &any.live);
        assert_int_equal(hand.alloc.id, 9);
        assert_int_equal(any.alloc.id, 9);
        assert_true(hand.alloc.unloaded && any.alloc.unloaded);
        assert_int_equal(hand.live.site, i > 2 ? 9 : 0);
        assert_int_equal(hand.live.survived, i > 2 ? 3 : 0);
        assert_int_equal(!hand.live.died, i != 3);
        assert_int_equal(hand.live.opening, i == 4);
    }
}

/* Right, but written otherwise: jansson reads them. */
TEST(unusual_lines_are_left_to_jansson)
{
    static const char *const lines[] = {
        "{ \"kind\": \"alloc\", \"t\": 1, \"thread\": 1, \"class\": 2, \"bytes\": 24, \"node\": 1 "
        "}",
        "{\"t\":1,\"kind\":\"alloc\",\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"stack\":["
        "\"\\u0041.B()\"]}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"stack\":["
        "\"\xC3\x84.B()\"]}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"x\":{\"y\":"
        "[1]}}",
        "{\"kind\":\"alloc\",\"\\u0074\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}",
        "{\"kind\":\"alloc\",\"t\":1,\"t\":2,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}\r",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"heap\":"
        "\"new\"}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"call\":\"new\"}",
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct log_line line = line_of(lines[i]);
        struct log_record record;

        assert_false(log_parse_by_hand(&parser, &line, &record));
        assert_int_equal(log_parse(&parser, &line, &record), 0);
        assert_non_null(record.json);
    }
}

TEST(what_is_wrong_is_refused_and_named)
{
    static const char *const lines[][2] = {
        {"", "not JSON"},
        {"\n", "not JSON"},
        {"hello", "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thr", "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":01,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"x\":"
         "1e999}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"x\":"
         "\"\xFF\"}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"x\":"
         "\"\\u0000\"}",
         "not JSON"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":99999999999999999999,"
         "\"node\":1}",
         "not JSON"},
        {"{\"kind\":\"live\",\"gc\":1}", "site"},
        {"{\"kind\":\"live\",\"site\":1}", "gc"},
        {"{\"kind\":\"live\",\"site\":1,\"gc\":1,\"died\":[[1,2,3]]}", "died"},
        {"{\"kind\":\"live\",\"site\":1,\"gc\":1,\"died\":[[1,2,3,-4]]}", "died"},
        {"{\"kind\":\"live\",\"site\":1,\"gc\":1,\"died\":7}", "died"},
        {"{\"kind\":\"live_site\",\"id\":0,\"node\":3,\"class\":2}", "id"},
        {"{\"kind\":\"live_site\",\"id\":1,\"node\":3,\"class\":2,\"gc\":1,\"died\":7}", "died"},
        {"[1]", "no record"},
        {"{}", "no record"},
        {"{\"kind\":3}", "no record"},
        {"{\"kind\":\"alloc\",\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1}",
         "\"t\" is missing"},
        {"{\"kind\":\"alloc\",\"t\":1,\"class\":2,\"bytes\":24,\"node\":1}",
         "\"thread\" is missing"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"bytes\":24,\"node\":1}",
         "\"class\" is missing"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24}",
         "\"node\" is missing"},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":0,\"class\":2,\"bytes\":24,\"node\":1}",
         "\"thread\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":4294967295,\"bytes\":24,\"node\":1}",
         "\"class\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":-24,\"node\":1}",
         "\"bytes\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":9007199254740992,\"node\":"
         "1}",
         "\"bytes\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":\"24\",\"node\":1}",
         "\"bytes\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24.0,\"node\":1}",
         "\"bytes\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"il\":"
         "2147483648}",
         "\"il\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":-"
         "1}",
         "\"weight\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"weight\":"
         "1e301}",
         "\"weight\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"stack\":[1]}",
         "\"stack\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"stack\":{}}",
         "\"stack\""},
        {"{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":1,\"type\":5}",
         "\"type\""},
        {"{\"kind\":\"site\",\"node\":3,\"class\":4,\"bytes\":168}", "\"allocs\" is missing"},
        {"{\"kind\":\"site\",\"node\":3,\"class\":4,\"allocs\":7,\"bytes\":168,\"cut\":1}",
         "\"cut\""},
        {"{\"kind\":\"node\",\"id\":0,\"parent\":0,\"method\":1}", "\"id\""},
        {"{\"kind\":\"node\",\"id\":1,\"parent\":0}", "\"method\" is missing"},
        {"{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"filter\":1}", "\"filter\""},
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct log_line line = line_of(lines[i][0]);
        struct log_record record;

        assert_false(log_parse_by_hand(&parser, &line, &record));
        assert_int_equal(log_parse(&parser, &line, &record), -EBADMSG);
        if (!strstr(parser.why, lines[i][1]))
            fail_msg("%s: %s", lines[i][0], parser.why);
    }
}

/* One byte changed anywhere: by hand only what jansson takes too, with the same meaning. */
TEST(by_hand_is_never_more_lenient)
{
    static const char *const lines[] = {
        "{\"kind\":\"alloc\",\"t\":10,\"thread\":1,\"class\":2,\"bytes\":24,\"node\":10,\"il\":5,"
        "\"heap\":\"large\",\"weight\":5.25,\"cut\":true}",
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,\"type\":\"A\","
        "\"stack\":[\"C\",\"D\"],\"x\":\"y\",\"z\":-0.5}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"il\":12,\"call\":\"stub\","
        "\"filter\":true}",
        "{\"kind\":\"node\",\"id\":10,\"parent\":9,\"method\":5,\"il\":12,\"il_last\":19}",
    };
    unsigned taken = 0;

    for (size_t i = 0; i < COUNT_OF(lines); i++)
        for (size_t at = 0; at < strlen(lines[i]); at++)
            for (int c = 1; c < 256; c++) {
                struct log_line line = line_of(lines[i]);
                struct log_record hand, any;

                padded[at] = (char)c;
                if (!log_parse_by_hand(&parser, &line, &hand))
                    continue;
                taken++;
                if (log_parse_any(&parser, &line, &any))
                    fail_msg("byte %zu as 0x%02x: by hand only: %.*s", at, (unsigned)c,
                             (int)line.size, line.text);
                expect_same(&hand, &any);
            }
    assert_true(taken > 1000);
}

TEST(kinds_of_a_later_version_are_no_error)
{
    struct log_line line = line_of("{\"kind\":\"zz\",\"t\":1,\"generation\":2}");
    struct log_record record;

    assert_int_equal(log_parse(&parser, &line, &record), 0);
    assert_int_equal(record.kind, SST_KIND_UNKNOWN);
}

TEST(an_instruction_of_unoptimised_code_has_a_name_of_its_own)
{
    struct log_line line = line_of("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,"
                                   "\"bytes\":24,\"node\":1,\"il0\":140}");
    struct log_record record;

    assert_int_equal(log_parse(&parser, &line, &record), 0);
    assert_int_equal(record.alloc.il, 140);
    assert_true(record.alloc.unoptimised);
    line = line_of("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,"
                   "\"bytes\":24,\"node\":1,\"il\":3,\"il0\":140}");
    assert_int_equal(log_parse(&parser, &line, &record), -EBADMSG);
}

TEST(an_instruction_may_be_one_of_several)
{
    static const char alloc[] = "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,"
                                "\"bytes\":24,\"node\":1,\"il\":%s}";
    static const struct {
        const char *members;
        uint32_t first, last;
        int err;
    } cases[] = {
        {"8,\"il_last\":60", 8, 60, 0},         {"65535,\"il_last\":69630", 65535, 69630, 0},
        {"268435455", 268435455, 268435455, 0}, {"8,\"il_last\":8", 0, 0, -EBADMSG},
        {"8,\"il_last\":7", 0, 0, -EBADMSG},    {"8,\"il_last\":\"9\"", 0, 0, -EBADMSG},
        {"8,\"il_last\":4104", 0, 0, -EBADMSG}, {"65536,\"il_last\":65537", 0, 0, -EBADMSG},
        {"268435456", 0, 0, -EBADMSG},
    };
    struct log_record record;
    struct log_line line;
    char text[256];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        snprintf(text, sizeof(text), alloc, cases[i].members);
        line = line_of(text);
        assert_int_equal(log_parse(&parser, &line, &record), cases[i].err);
        if (cases[i].err)
            continue;
        assert_int_equal(il_first(record.alloc.il), cases[i].first);
        assert_int_equal(il_last(record.alloc.il), cases[i].last);
    }
    line = line_of("{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"il\":2,\"il_last\":9}");
    assert_int_equal(log_parse(&parser, &line, &record), 0);
    assert_int_equal(il_last(record.node.il), 9);
}

TEST(unknown_members_are_counted_both_ways)
{
    struct log_line line = line_of("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,"
                                   "\"bytes\":24,\"node\":1,\"a\":1,\"b\":2}");
    struct log_record record;
    uint64_t before = parser.unknown_members;

    assert_true(log_parse_by_hand(&parser, &line, &record));
    assert_int_equal(parser.unknown_members, before + 2);
    assert_int_equal(log_parse_any(&parser, &line, &record), 0);
    assert_int_equal(parser.unknown_members, before + 4);
}

TEST(frames_of_an_inline_stack_come_one_by_one)
{
    struct log_line line =
        line_of("{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":2,\"bytes\":24,"
                "\"stack\":[\"a\\\"b\",\"\",\"c]\"]}");
    static const char *const expected[] = {"\"a\\\"b\"", "\"\"", "\"c]\""};
    struct log_record record;
    const char *at, *frame;
    size_t size, count = 0;

    assert_int_equal(log_parse(&parser, &line, &record), 0);
    for (at = record.alloc.stack; (frame = log_stack_next(&at, &size)); count++) {
        assert_true(count < COUNT_OF(expected));
        assert_int_equal(size, strlen(expected[count]));
        assert_memory_equal(frame, expected[count], size);
    }
    assert_int_equal(count, COUNT_OF(expected));
}
