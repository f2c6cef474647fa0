/*
 * A log of which anything is missing, and every command that reads logs: none may say that it is complete, and each
 * says that it is not. Of the whole log each says that it is complete.
 */
#include "unit/cli/command_support.h"
#include "support/test.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <zstd.h>

#define ALLOCS 18777
#define CUT    7000
#define ROOM   (4u << 20)

static char whole[ROOM], damaged[ROOM], folder[] = "/tmp/shadowtrace-complete-XXXXXX", path[100];
static size_t whole_size;
static size_t first_alloc, cut_from, cut_to, end_at; /* offsets of lines */

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    whole_size += (size_t)vsnprintf(whole + whole_size, ROOM - whole_size, format, args);
    va_end(args);
    whole[whole_size++] = '\n';
}

/* A log with something for every command, without the member `records`: as older versions wrote it. */
static int make(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/log.ndjson", folder);
    line("{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,\"executable\":"
         "\"x\","
         "\"runtime\":\"10.0.1\",\"hooks\":\"elt3\",\"clock\":5,\"started\":\"2026-11-21T10:00:"
         "00Z\"}");
    line("{\"kind\":\"thread\",\"id\":1,\"os\":7}");
    line("{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}");
    line("{\"kind\":\"method\",\"id\":1,\"name\":\"A.B()\"}");
    line("{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}");
    line("{\"kind\":\"calls\",\"t\":1,\"thread\":1,\"depth\":0,\"e\":[1,1,0,1]}");
    line("{\"kind\":\"exception\",\"t\":3,\"thread\":1,\"node\":1,\"event\":\"thrown\",\"id\":1,"
         "\"class\":1}");
    line("{\"kind\":\"gc\",\"t\":4,\"thread\":1,\"gc\":1,\"ns\":1,\"reason\":\"other\","
         "\"generations\":[0],"
         "\"before\":[1,1,1,1,1],\"after\":[1,1,1,1,1]}");
    line("{\"kind\":\"jit\",\"t\":5,\"thread\":1,\"method\":1,\"ns\":1,\"tier\":\"first\"}");
    line("{\"kind\":\"suspend\",\"t\":6,\"thread\":1,\"reason\":\"gc\",\"ns\":2,\"stop_ns\":1}");
    line("{\"kind\":\"sample\",\"t\":7,\"os\":7,\"node\":1,\"source\":\"shadow\",\"depth\":1}");
    first_alloc = whole_size;
    for (int i = 0; i < ALLOCS; i++) {
        if (i == 5000)
            cut_from = whole_size;
        if (i == 5000 + CUT)
            cut_to = whole_size;
        line("{\"kind\":\"alloc\",\"t\":%d,\"thread\":1,\"class\":1,\"bytes\":32,\"node\":1,\"il\":"
             "4}",
             10 + i);
    }
    end_at = whole_size;
    line("{\"kind\":\"end\",\"t\":99999,\"seen\":%d,\"written\":%d,\"lost\":0,\"lost_by\":{},"
         "\"bytes\":%d,"
         "\"calls\":{\"entered\":1,\"left\":1,\"tail_calls\":0,\"unwound\":0,\"ends_missing\":0,"
         "\"open\":0,"
         "\"missing\":0},\"events\":{\"gc\":{\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{}},"
         "\"exceptions\":{\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{}},"
         "\"jit\":{\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{}},"
         "\"suspend\":{\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{}}}}",
         ALLOCS, ALLOCS, 32 * ALLOCS);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

TEST_GROUP(make, forget);

static void store(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

struct view {
    const struct cli_command *command;
    const char *words[5];
    bool json, twice;
};

static const struct view views[] = {
    {&cmd_report, {"report", "--no-lines"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--by=type"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--by=method"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--by=line"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--by=thread"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--by=module"}, false, false},
    {&cmd_report, {"report", "--no-lines", "--format=json"}, true, false},
    {&cmd_events, {"events", "--no-lines", "exceptions"}, false, false},
    {&cmd_events, {"events", "--no-lines", "gc"}, false, false},
    {&cmd_events, {"events", "--no-lines", "gc", "--format=json"}, true, false},
    {&cmd_events, {"events", "--no-lines", "jit"}, false, false},
    {&cmd_events, {"events", "--no-lines", "suspensions"}, false, false},
    {&cmd_events, {"events", "--no-lines", "calls"}, false, false},
    {&cmd_profile, {"profile"}, false, false},
    {&cmd_profile, {"profile", "--format=json"}, true, false},
    {&cmd_replay, {"replay"}, false, false},
    {&cmd_replay, {"replay", "--format=json"}, true, false},
    {&cmd_compare, {"compare"}, false, false},
    {&cmd_compare, {"compare", "--format=json"}, true, false},
    {&cmd_diff, {"diff", "--no-lines"}, false, true},
    {&cmd_diff, {"diff", "--no-lines", "--format=json"}, true, true},
    {&cmd_validate, {"validate", "--format=json"}, true, false},
};

/* Without a place in their format for it: a line on stderr, and nothing if all is there. */
static const struct view silent[] = {
    {&cmd_report, {"report", "--format=folded"}, false, false},
    {&cmd_profile, {"profile", "--format=folded"}, false, false},
    {&cmd_validate, {"validate"}, false, false},
};

static struct ran look(const struct view *view)
{
    const char *words[8] = {NULL};
    size_t count = 0;

    while (view->words[count]) {
        words[count] = view->words[count];
        count++;
    }
    words[count++] = path;
    if (view->twice)
        words[count] = path;
    return run_command(view->command, words);
}

static bool has(const struct ran *ran, const char *words)
{
    return strstr(ran->out, words) || strstr(ran->err, words);
}

static bool says_complete(const struct ran *ran)
{
    return has(ran, "complete to its end") || has(ran, "No event was lost") ||
           has(ran, "\"complete\":true") || has(ran, "\"complete\": true");
}

static bool says_incomplete(const struct ran *ran)
{
    return has(ran, "NOT COMPLETE") || has(ran, "not complete") || has(ran, "\"complete\":false") ||
           has(ran, "\"complete\": false");
}

static void expect(const struct view *view, bool complete, bool quiet, const char *what)
{
    struct ran ran = look(view);

    if (says_complete(&ran) != (complete && !quiet) || says_incomplete(&ran) == complete)
        fail_msg("%s: %s %s %s %s says:\n%s%s", what, view->words[0],
                 view->words[1] ? view->words[1] : "", view->words[2] ? view->words[2] : "",
                 view->words[3] ? view->words[3] : "", ran.out, ran.err);
    if (!complete && view->twice && !view->json)
        assert_non_null(
            strstr(strstr(ran.out, "NOT COMPLETE") + 1, "NOT COMPLETE")); /* each side */
    free(ran.out);
}

static void expect_all(const char *text, size_t size, bool complete, const char *what)
{
    store(text, size);
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        expect(&views[i], complete, false, what);
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
        expect(&silent[i], complete, true, what);
}

/* The whole log without [from, to). */
static size_t without(size_t from, size_t to)
{
    memcpy(damaged, whole, from);
    memcpy(damaged + from, whole + to, whole_size - to);
    return whole_size - (to - from);
}

static size_t line_end(size_t from)
{
    return (size_t)((char *)memchr(whole + from, '\n', whole_size - from) - whole) + 1;
}

TEST(a_whole_log_is_complete)
{
    expect_all(whole, whole_size, true, "whole");
}

TEST(lines_cut_from_the_middle)
{
    struct ran ran;

    expect_all(damaged, without(cut_from, cut_to), false, "7,000 lines cut out");
    ran = look(&views[0]);
    assert_non_null(strstr(ran.out, "7,000 of 18,777 allocations are missing"));
    assert_non_null(strstr(ran.out, "224,000 of 600,864 bytes are missing"));
    free(ran.out);
    ran = look(&views[sizeof(views) / sizeof(views[0]) - 1]);
    assert_int_equal(ran.status, CLI_CHECK); /* validate */
    free(ran.out);
}

TEST(one_event_cut_out)
{
    const char *const kinds[] = {"exception", "gc", "jit", "suspend", "calls"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char wanted[40];
        const char *at;
        size_t from;

        snprintf(wanted, sizeof(wanted), "{\"kind\":\"%s\"", kinds[i]);
        at = strstr(whole, wanted);
        assert_non_null(at);
        from = (size_t)(at - whole);
        store(damaged, without(from, line_end(from)));
        expect(&views[0], false, false, kinds[i]);
        expect(&views[6], false, false, kinds[i]);
    }
}

TEST(a_definition_cut_out)
{
    size_t from = (size_t)(strstr(whole, "{\"kind\":\"node\"") - whole);

    expect_all(damaged, without(from, line_end(from)), false, "no node");
}

TEST(without_a_header)
{
    expect_all(damaged, without(0, line_end(0)), false, "no header");
}

TEST(without_an_end)
{
    expect_all(whole, end_at, false, "no end");
    expect_all(whole, whole_size / 2, false, "cut in the middle");
}

/* Whatever its message is: it is one line, of no more than its room, and letters stay whole. */
TEST(a_log_that_an_unhandled_exception_ended_says_so)
{
    static const struct view text = {&cmd_report, {"report", "--no-lines"}, false, false};
    static const char *const types[] = {"System.InvalidOperationException", "My.Long"};
    char message[1200] = "no \\\"such\\\" item\\n\\u001b[1m";
    struct ran ran;
    size_t size = end_at;

    memcpy(damaged, whole, end_at);
    for (size_t i = 0; i < 2; i++) { /* the last one counts */
        for (size_t k = 0; i && k < 100; k++)
            memcpy(message + 4 * k, "\360\237\230\200", 5); /* an emoji */
        size += (size_t)snprintf(damaged + size, sizeof(damaged) - size,
                                 "{\"kind\":\"unhandled\",\"t\":1,\"os\":7,\"type\":\"%s\","
                                 "\"message\":\"%s\"}\n",
                                 types[i], message);
        expect_all(damaged, size, false, "an unhandled exception");
        ran = look(&text);
        assert_non_null(strstr(ran.out, i ? "an unhandled exception ended the program, My.Long: "
                                            "\360\237\230\200"
                                          : "an unhandled exception ended the program, "
                                            "System.InvalidOperationException: no \"such\" item"));
        assert_null(strchr(ran.out, 0x1b));
        assert_true(utf8_valid(ran.out));
        assert_null(strstr(ran.out, "was killed"));
        free(ran.out);
    }
    /* With an end it is complete. */
    memcpy(damaged + size, whole + end_at, whole_size - end_at);
    store(damaged, size + whole_size - end_at);
    ran = look(&text);
    assert_null(strstr(ran.out, "ended the program"));
    free(ran.out);
}

TEST(a_header_twice)
{
    size_t header = line_end(0);

    memcpy(damaged, whole, header);
    memcpy(damaged + header, whole, whole_size);
    expect_all(damaged, whole_size + header, false, "header twice");
}

TEST(two_recordings_in_a_file)
{
    char *pid;

    memcpy(damaged, whole, whole_size);
    memcpy(damaged + whole_size, whole, whole_size);
    expect_all(damaged, 2 * whole_size, false, "the same recording twice");
    pid = strstr(damaged + whole_size, "\"pid\":7");
    assert_non_null(pid);
    pid[6] = '8';
    expect_all(damaged, 2 * whole_size, false, "two recordings");
}

TEST(damaged_compressed_data)
{
    static char packed[ROOM];
    size_t size = ZSTD_compress(packed, sizeof(packed), whole, whole_size, 3);

    assert_false(ZSTD_isError(size));
    expect_all(packed, size, true, "compressed");
    expect_all(packed, size / 2, false, "compressed, cut");
    memset(packed + size / 2, 0x55, 20);
    expect_all(packed, size, false, "compressed, damaged");
}

/* The whole log, its end record with these members, too. Returns its size. */
static size_t with_end_members(const char *members)
{
    const char *end = strstr(whole, "{\"kind\":\"end\",");
    size_t at = (size_t)(end - whole) + strlen("{\"kind\":\"end\","), size = strlen(members);

    memcpy(damaged, whole, at);
    memcpy(damaged + at, members, size);
    memcpy(damaged + at + size, whole + at, whole_size - at);
    return whole_size + size;
}

TEST(paths_that_had_no_room)
{
    expect_all(damaged, with_end_members("\"beginnings_lost\":3,"), false, "beginnings lost");
}

TEST(what_a_newer_runtime_has_turned_off)
{
    static const struct {
        const char *members, *said;
    } all[] = {
        {"\"off\":{\"hooks\":5},", "call stacks are OFF"},
        {"\"off\":{\"beginnings\":1},", "the beginnings of async methods are OFF"},
        {"\"off\":{\"allocated\":1},", "the bytes allocated before sampling are OFF"},
        {"\"hooks\":{\"calls\":1,\"ns_per_pair\":1,\"missed\":0,\"unpatched\":2},",
         "2 parts of CoreLib's allocation path are unknown"},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ran ran;

        expect_all(damaged, with_end_members(all[i].members), false, all[i].members);
        ran = look(&views[0]);
        assert_non_null(strstr(ran.out, all[i].said));
        free(ran.out);
    }
}

/* What was asked for and did not happen is not to be asked for again. */
TEST(no_collection_is_not_no_recording)
{
    static const char log[] =
        "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,\"clock\":5,"
        "\"options\":{\"events\":[\"alloc\",\"gc\"]}}\n";
    struct ran ran;

    store(log, sizeof(log) - 1);
    ran = look(&views[8]);
    assert_non_null(strstr(ran.out, "none happened while it was recorded with --events gc"));
    free(ran.out);
    ran = look(&views[10]);
    assert_non_null(strstr(ran.out, "record with --events alloc,jit"));
    free(ran.out);
}
