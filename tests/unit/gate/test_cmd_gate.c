/*
 * gate, the command, over fixtures: lines.ndjson and lines-newer.ndjson are two runs of one build,
 * whose Basket.Add makes 4 strings at line 27 in the older and 12 in the newer one.
 */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include "gate/gate.h"

#include "base/file.h"
#include "base/memory.h"

#include <sys/stat.h>

#define SYMBOLS   "--symbols=tests/fuzz/corpus/symbols"
#define OWN       "--own-code=Shop.*"
#define OLD       FIXTURES "lines.ndjson"
#define NEW       FIXTURES "lines-newer.ndjson"
#define GATE(...) RUN(&cmd_gate, "gate", SYMBOLS, OWN, "--jobs=1", __VA_ARGS__)
#define LINE      "Zweite Datei \xc3\xbc.cs"
#define HEAD      "{\"budget\":\"shadowtrace\",\"version\":1,\"limits\":["

static char folder[] = "/tmp/shadowtrace-gate-XXXXXX";
static char budget[64], log_path[64], also[80];

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

TEST_GROUP(make_folder, remove_folder);

static int setup(void **state)
{
    (void)state;
    snprintf(budget, sizeof(budget), "%s/budget.json", folder);
    snprintf(log_path, sizeof(log_path), "%s/log.ndjson", folder);
    snprintf(also, sizeof(also), "%s/also", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    unlink(budget);
    unlink(log_path);
    unlink(also);
    return 0;
}

TEST_EACH(setup, teardown);

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void budget_of(const char *limits)
{
    char text[2048];
    int size = snprintf(text, sizeof(text), HEAD "%s]}", limits);

    write_file(budget, text, (size_t)size);
}

/* A log with each `from` become `to`; of it the first `most` bytes. */
static void log_of(const char *fixture, const char *from, const char *to, size_t most)
{
    char *text, *made = NULL, *at, *next;
    size_t size, made_size;
    FILE *out = open_memstream(&made, &made_size);

    assert_int_equal(file_load(fixture, 1 << 20, &text, &size), 0);
    for (at = text; from && (next = strstr(at, from)); at = next + strlen(from))
        fprintf(out, "%.*s%s", (int)(next - at), at, to);
    fputs(at, out);
    fclose(out);
    write_file(log_path, made, most < made_size ? most : made_size);
    free(made);
    memory_free(text);
}

static void expect(struct ran ran, int status, const char *const *words)
{
    if (ran.status != status)
        fail_msg("status %d, not %d: %.3000s %.1000s", ran.status, status, ran.out, ran.err);
    for (; *words; words++)
        if (!strstr(ran.out, *words) && !strstr(ran.err, *words))
            fail_msg("no \"%s\" in %.3000s %.1000s", *words, ran.out, ran.err);
    free(ran.out);
}
#define EXPECT(ran, status, ...) expect(ran, status, (const char *const[]){__VA_ARGS__, NULL})

static void learn(const char *log)
{
    EXPECT(GATE("--learn", budget, log), CLI_OK, "");
}

TEST(a_log_is_within_the_budget_that_was_learned_from_it)
{
    learn(OLD);
    EXPECT(GATE(budget, OLD), CLI_OK, ": 12 held; 1 log.");
}

TEST(a_line_that_allocates_more_is_broken_and_named_with_its_source)
{
    learn(OLD);
    EXPECT(GATE(budget, NEW), CLI_CHECK, "broken: ", LINE ":27 Shop.Basket.Add(System.String)",
           "13 objects, the budget allows 5", "1,696 bytes, the budget allows 1,248", "10 held");
    EXPECT(GATE(budget, NEW, OLD), CLI_CHECK, "(1 of 2 logs, " NEW ")");
}

static const char *const formats[] = {"text", "junit", "sarif", "github", "gitlab", "markdown"};

TEST(each_format_has_the_line_and_the_count_and_the_exit_status_is_the_same)
{
    static const char *const places[] = {
        LINE ":27", LINE ":27", "%C3%BC.cs", LINE ",line=27", "\"lines\":{\"begin\":27}",
        LINE ":27"};

    learn(OLD);
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        EXPECT(GATE("--format", formats[i], budget, NEW), CLI_CHECK, places[i],
               "13 objects, the budget allows 5");
}

TEST(a_cut_log_is_never_held_and_broken_only_by_what_it_has)
{
    learn(OLD);
    for (size_t size = 2200; size > 1000; size -= 300) {
        log_of(OLD, NULL, NULL, size);
        EXPECT(GATE(budget, log_path), CLI_IO, "0 held, 12 not judged", "the log is not complete");
    }
    log_of(NEW, NULL, NULL, 2500);
    EXPECT(GATE(budget, log_path), CLI_CHECK, "broken: ", "at least ", "not judged: ");
    unlink(budget);
    EXPECT(GATE("--learn", budget, log_path), CLI_IO, "cannot learn from it");
    assert_int_equal(access(budget, F_OK), -1);
}

TEST(lines_of_another_build_are_found_by_their_text_and_their_order)
{
    learn(OLD);
    log_of(budget, "\"line\":27", "\"line\":22", SIZE_MAX);
    rename(log_path, budget);
    log_of(budget, "\"line\":33", "\"line\":28", SIZE_MAX);
    rename(log_path, budget);
    /* of the same build a number is what it says */
    EXPECT(GATE(budget, OLD), CLI_CHECK, LINE ":27", "at a line that the budget does not have");
    log_of(budget, "a19433e6", "00000000", SIZE_MAX);
    rename(log_path, budget);
    EXPECT(GATE(budget, OLD), CLI_OK, "12 held");
    EXPECT(GATE(budget, NEW), CLI_CHECK, LINE ":27", "13 objects, the budget allows 5");
}

TEST(what_a_log_lacks_or_does_not_name_is_not_judged)
{
    static const struct {
        const char *limit, *why;
    } all[] = {
        {"{\"of\":\"method\",\"method\":\"Shop.Basket.Add\",\"per\":\"call\",\"objects\":{\"max\":"
         "9}}",
         "record with --events alloc,calls"},
        {"{\"of\":\"whole\",\"live_objects\":{\"max\":9}}", "record with --live"},
        {"{\"of\":\"method\",\"method\":\"Shop.Basket.Ad\",\"objects\":{\"max\":9}}",
         "no method matches \"Shop.Basket.Ad\""},
        {"{\"of\":\"type\",\"type\":\"System.Strin\",\"objects\":{\"max\":9}}",
         "no type matches \"System.Strin\""},
        {"{\"of\":\"whole\",\"per\":\"span\",\"from\":\"a\",\"to\":\"b\",\"objects\":{\"max\":9}}",
         "no mark \"a\""},
        {"{\"of\":\"whole\",\"objects\":{\"over_baseline\":5}}", "--baseline"},
    };

    for (size_t i = 0; i < COUNT_OF(all); i++) {
        budget_of(all[i].limit);
        for (size_t k = 0; k < COUNT_OF(formats); k++)
            EXPECT(GATE("--format", formats[k], budget, OLD), CLI_IO, "");
        EXPECT(GATE("--format=gitlab", budget, OLD), CLI_IO, "not judged, ");
        EXPECT(GATE(budget, OLD), CLI_IO, "not judged: ", all[i].why);
    }
}

TEST(lines_that_the_log_or_its_symbols_cannot_tell_are_not_judged)
{
    learn(OLD);
    EXPECT(RUN(&cmd_gate, "gate", OWN, budget, OLD), CLI_IO, "no source line is known of embedded");
    log_of(OLD, "\"options\":{", "\"options\":{\"no_lines\":true,", SIZE_MAX);
    EXPECT(GATE(budget, log_path), CLI_IO, "record without --no-lines");
    log_of(OLD, "\"options\":{", "\"options\":{\"types\":[\"A\"],", SIZE_MAX);
    EXPECT(GATE(budget, log_path), CLI_IO, "0 held, 12 not judged", "record without --types");
}

/* The sampled log with its end: 3 events that stand for about 3,279 objects. */
static void sampled_log(void)
{
    FILE *out;

    log_of(FIXTURES "sampled.ndjson", NULL, NULL, SIZE_MAX);
    out = fopen(log_path, "a");
    assert_non_null(out);
    fputs("{\"kind\":\"end\",\"t\":9,\"seen\":3,\"written\":3,\"lost\":0,\"lost_by\":{},"
          "\"bytes\":1000080,\"threads\":1,\"nodes\":1,\"repairs\":{},\"log_bytes\":0}\n",
          out);
    assert_int_equal(fclose(out), 0);
}

TEST(a_sample_is_judged_if_its_interval_decides)
{
    sampled_log();
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":100}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_CHECK, "about 3,279 (");
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":3000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_IO, "the sample does not decide it");
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":3300}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_IO, "the sample does not decide it");
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":90000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_OK, "1 held");
}

/* 1.1 MB are estimated since 0.33 s, and 101,144,944 bytes came before. */
TEST(what_came_before_samples_counted_may_be_of_any_line)
{
    const char *late = FIXTURES "late-sampled.ndjson";

    budget_of("{\"of\":\"whole\",\"bytes\":{\"max\":2000000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, late), CLI_CHECK, "1 broken");
    budget_of("{\"of\":\"whole\",\"bytes\":{\"max\":110000000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, late), CLI_OK, "1 held");
    budget_of("{\"of\":\"type\",\"type\":\"System.Byte[]\",\"bytes\":{\"max\":2000000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, late), CLI_IO, "1 not judged", "101,144,944 bytes");
    budget_of("{\"of\":\"type\",\"type\":\"System.Byte[]\",\"bytes\":{\"max\":110000000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, late), CLI_OK, "1 held");
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":90000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, late), CLI_IO, "1 not judged");
}

TEST(spans_are_from_a_mark_to_the_next_one_of_the_other_name)
{
    budget_of("{\"of\":\"whole\",\"per\":\"span\",\"from\":\"warm\",\"to\":\"one request\","
              "\"objects\":{\"max\":2}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, FIXTURES "marks.ndjson"), CLI_OK, "1 held");
    unlink(budget);
    budget_of("{\"of\":\"whole\",\"per\":\"span\",\"from\":\"warm\",\"to\":\"one request\","
              "\"objects\":{\"max\":1}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, FIXTURES "marks.ndjson"), CLI_CHECK,
           "2 objects, the budget allows 1", "from \"warm\" to \"one request\"");
}

TEST(live_objects_are_those_after_the_last_collection_or_at_a_mark)
{
    budget_of("{\"of\":\"whole\",\"live_objects\":{\"max\":1000}},"
              "{\"of\":\"whole\",\"at\":\"warm\",\"live_bytes\":{\"max\":1000000}},"
              "{\"of\":\"whole\",\"at\":\"cold\",\"live_bytes\":{\"max\":1000000}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, FIXTURES "alive.ndjson"), CLI_IO, "2 held, 1 not judged",
           "no mark \"cold\"");
}

TEST(a_budget_learned_with_live_objects_is_one_that_can_be_read)
{
    unlink(budget);
    EXPECT(RUN(&cmd_gate, "gate", "--learn", "--by", "whole", "--live", budget,
               FIXTURES "alive.ndjson"),
           CLI_OK, "learned from 1 log");
    EXPECT(RUN(&cmd_gate, "gate", budget, FIXTURES "alive.ndjson"), CLI_OK, "held; 1 log.");
}

TEST(calls_are_what_a_method_s_sum_is_divided_by)
{
    /* recorded with --types, which a gate does not judge: as if these were all there are */
    log_of(FIXTURES "shop-events.ndjson", "\"types\":[\"Shop.*\"]", "\"types\":[]", SIZE_MAX);
    budget_of(
        "{\"of\":\"method\",\"method\":\"*Main*\",\"per\":\"call\",\"objects\":{\"max\":13}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_OK, "1 held");
    budget_of(
        "{\"of\":\"method\",\"method\":\"*Main*\",\"per\":\"call\",\"objects\":{\"max\":12}}");
    EXPECT(RUN(&cmd_gate, "gate", budget, log_path), CLI_CHECK, "for each call",
           "13 objects, the budget allows 12");
}

TEST(a_baseline_bounds_each_line_as_a_learned_budget_would)
{
    budget_of("{\"of\":\"other lines\",\"objects\":{\"over_baseline\":\"50%\"}}");
    EXPECT(GATE("--baseline", OLD, budget, OLD), CLI_OK, "5 held");
    EXPECT(GATE("--baseline", OLD, budget, NEW), CLI_CHECK, LINE ":27",
           "13 objects, the budget allows 7 (baseline + 50%)");
    EXPECT(GATE("--baseline", NEW, budget, OLD), CLI_CHECK, "First.razor:700",
           "1 object at a line that the budget does not have");
}

TEST(an_update_learns_anew_what_was_learned_and_leaves_the_rest)
{
    learn(OLD);
    log_of(budget, "\"limits\":[",
           "\"limits\":[{\"of\":\"type\",\"type\":\"System.Byte[]\","
           "\"objects\":{\"max\":77}},",
           SIZE_MAX);
    rename(log_path, budget);
    EXPECT(GATE("--update", budget, NEW), CLI_OK, LINE ":27: objects 5 -> 13",
           "First.razor:700: objects 1 -> -");
    EXPECT(GATE(budget, NEW), CLI_OK, "11 held");
    EXPECT(GATE("--update", "--format=markdown", budget, NEW), CLI_OK, "0 bounds changed");
    log_of(budget, NULL, NULL, SIZE_MAX);
    EXPECT(GATE("--was", log_path, budget, NEW), CLI_OK, "0 bounds changed since");
}

TEST(control_characters_in_names_reach_no_format)
{
    log_of(NEW, "Shop.Basket.Add", "Shop.\\u001b[2J\\u202e|`<b>&'%0A::error::\\nBasket.Add",
           SIZE_MAX);
    budget_of("{\"of\":\"other lines\",\"objects\":{\"max\":0}},"
              "{\"of\":\"method\",\"method\":\"Shop.\\u001b[2J*\",\"objects\":{\"max\":0}},"
              "{\"of\":\"type\",\"type\":\"<a>\\u0007\\n\\u2028|\",\"objects\":{\"max\":0}}");
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct ran ran = GATE("--format", formats[i], budget, log_path);

        assert_int_equal(ran.status, CLI_CHECK);
        for (const unsigned char *at = (const unsigned char *)ran.out; *at; at++)
            if ((*at < 0x20 && *at != '\n') || *at == 0x7f ||
                (at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae))
                fail_msg("%s: a control character in %s", formats[i], ran.out);
        if (strcmp(formats[i], "github") == 0)
            assert_null(strstr(ran.out, "\n::error::"));
        if (strcmp(formats[i], "markdown") == 0)
            assert_null(strstr(ran.out, "<b>"));
        if (strcmp(formats[i], "junit") == 0)
            assert_null(strstr(ran.out, "<b>"));
        free(ran.out);
    }
}

TEST(a_budget_is_of_one_program_of_those_that_a_folder_has_logs_of)
{
    static const char words[] = "the logs are of dotnet and Other, if not more; --process NAME";

    log_of(OLD, "/usr/bin/dotnet", "/app/Other", SIZE_MAX);
    EXPECT(GATE("--learn", budget, OLD, log_path), CLI_USAGE, words);
    assert_int_equal(access(budget, F_OK), -1);
    EXPECT(GATE("--learn", "--process=dotnet", budget, OLD, log_path), CLI_OK, "from 1 log;");
    EXPECT(GATE(budget, OLD, log_path), CLI_USAGE, words);
    EXPECT(GATE("--update", budget, OLD, log_path), CLI_USAGE, words);
    EXPECT(GATE("--process=Oth*", budget, OLD, log_path), CLI_OK, "12 held; 1 log.");
    EXPECT(GATE("--process=Nobody", budget, OLD, log_path), CLI_USAGE, "no log is of a process");
    log_of(OLD, "/usr/bin/dotnet", "/app/dotnet.dll", SIZE_MAX);
    EXPECT(GATE(budget, OLD, log_path), CLI_OK, "12 held; 2 logs.");
}

TEST(arguments_that_do_not_go_together_are_refused)
{
    budget_of("{\"of\":\"whole\",\"objects\":{\"max\":99}}");
    EXPECT(GATE("--learn", "--update", budget, OLD), CLI_USAGE, "do not go together");
    EXPECT(GATE("--learn", budget, OLD), CLI_USAGE, "exists");
    EXPECT(GATE("--by", "lines", budget, OLD), CLI_USAGE, "--learn");
    EXPECT(GATE("--learn", "--by", "line", also, OLD), CLI_USAGE, "did you mean \"lines\"?");
    EXPECT(GATE("--learn", "--span", "a", also, OLD), CLI_USAGE, "FROM..TO");
    EXPECT(GATE("--slack", "5", "--update", budget, OLD), CLI_USAGE, "5%");
    EXPECT(GATE("--also", "xml=x", budget, OLD), CLI_USAGE, "FORMAT=FILE");
    EXPECT(GATE("--update", "--format=sarif", budget, OLD), CLI_USAGE, "text or markdown");
    EXPECT(GATE("/nowhere/budget.json", OLD), CLI_IO, "cannot read /nowhere/budget.json");
    EXPECT(GATE("/tmp", OLD), CLI_IO, "not a regular file");
    EXPECT(GATE(budget, "/nowhere/log"), CLI_IO, "cannot read /nowhere/log");
    budget_of("");
    EXPECT(GATE(budget, OLD), CLI_USAGE, "no limit");
}

TEST(another_format_goes_to_a_file_that_is_there_when_it_is_whole)
{
    char option[96];
    struct stat made;

    learn(OLD);
    snprintf(option, sizeof(option), "--also=junit=%s", also);
    EXPECT(GATE(option, budget, NEW), CLI_CHECK, "broken");
    assert_int_equal(stat(also, &made), 0);
    assert_true(made.st_size > 500);
    EXPECT(GATE(option, budget, NEW), CLI_USAGE, "exists");
}

TEST(without_memory_it_fails_in_a_line_and_never_says_held)
{
    int status = -1;

    learn(OLD);
    for (long n = 0; status != CLI_OK; n += n < 2000 ? 97 : 997) {
        struct ran ran;

        memory_fail_after(n);
        ran = GATE("--quiet", budget, OLD);
        memory_fail_after(-1);
        status = ran.status;
        if (status != CLI_OK)
            assert_int_equal(status, CLI_IO);
        free(ran.out);
        assert_true(n < 1000000);
    }
}
