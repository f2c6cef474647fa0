/* The table of options: what it takes, what it refuses and how, and its help page. */
#include "args/args.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "options/options_fields.h"
#include "support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct values {
    uint64_t top, size, time;
    uint32_t thread, view, topic;
    bool wide, all;
    const char *text;
    struct args_list dirs;
    struct options options;
};

static const char *const views[] = {"sites", "types", "threads", NULL};

static const struct args_option rows[] = {
    {.name = "top",
     .letter = 't',
     .kind = ARGS_COUNT,
     .argument = "N",
     .group = "Shown",
     .help = "rows shown; 0: all",
     .standard = 20,
     ARGS_AT(struct values, top)},
    {.name = "min-bytes",
     .kind = ARGS_BYTES,
     .argument = "BYTES",
     .help = "rows of BYTES and more",
     .aliases = "least smallest",
     ARGS_AT(struct values, size)},
    {.name = "interval",
     .kind = ARGS_DURATION,
     .argument = "TIME",
     .help = "between looks",
     .unit = 1000000000,
     .standard = 1000000000,
     .least = 1000000,
     .limit = UINT64_C(3600000000000),
     ARGS_AT(struct values, time)},
    {.name = "thread",
     .kind = ARGS_COUNT,
     .argument = "ID",
     .help = "this one only",
     .least = 1,
     ARGS_AT(struct values, thread)},
    {.name = "view",
     .kind = ARGS_WORD,
     .words = views,
     .help = "which view",
     .standard = 1,
     ARGS_AT(struct values, view)},
    {.name = "wide",
     .letter = 'w',
     .kind = ARGS_FLAG,
     .help = "names in full",
     ARGS_AT(struct values, wide)},
    {.name = "all", .letter = 'a', .kind = ARGS_FLAG, .help = "all", ARGS_AT(struct values, all)},
    {.name = "gc",
     .kind = ARGS_FLAG,
     .group = "Topics",
     .help = "collections",
     ARGS_AT(struct values, topic)},
    {.name = "jit", .kind = ARGS_FLAG, .help = "compilation", ARGS_AT(struct values, topic)},
    {.name = "method",
     .kind = ARGS_TEXT,
     .argument = "PATTERN",
     .help = "of matching methods",
     ARGS_AT(struct values, text)},
    {.name = "symbols",
     .letter = 'S',
     .kind = ARGS_LIST,
     .argument = "DIR",
     .help =
         "look for symbols there, too, which this sentence makes long enough for three lines of a "
         "page that is no wider than eighty columns, as far as its words allow",
     ARGS_AT(struct values, dirs)},
    {.name = "events",
     .kind = ARGS_FIELD,
     .argument = "LIST",
     .help = "which",
     ARGS_AT(struct values, options)},
    {.name = "max-nodes",
     .kind = ARGS_FIELD,
     .argument = "N",
     .help = "paths",
     ARGS_AT(struct values, options)},
    {.name = "hooks", .kind = ARGS_FIELD, .help = "hooks", ARGS_AT(struct values, options)},
    {.name = "min-duration",
     .kind = ARGS_FIELD,
     .argument = "TIME",
     .help = "calls",
     .unit = 1,
     ARGS_AT(struct values, options)},
    {.name = "check-threads",
     .kind = ARGS_FIELD,
     .argument = "TIME",
     .help = "so often",
     .unit = 1000000,
     ARGS_AT(struct values, options)},
    {.name = "call-buffer",
     .kind = ARGS_FIELD,
     .argument = "BYTES",
     .help = "room",
     ARGS_AT(struct values, options)},
    {.name = "only",
     .kind = ARGS_FIELD,
     .argument = "PATTERN",
     .help = "these",
     ARGS_AT(struct values, options)},
    {.name = "compress", .kind = ARGS_FIELD, .help = "zstd", ARGS_AT(struct values, options)},
    {.name = "attach",
     .letter = 'p',
     .kind = ARGS_REFUSED,
     .aliases = "pid",
     .help = "cannot attach"},
    {.name = "mode", .kind = ARGS_OLD, .help = "view=threads"},
    {.name = "mark", .kind = ARGS_TOPIC, .argument = "TEXT", .group = "Actions", .help = "a mark"},
    {.name = NULL},
};

static struct args_syntax syntax = {.options = rows, .max = 3, .expected = "a log: LOG"};
static struct values got;
static struct args args;
static char why[ARGS_WHY_SIZE];

static int parse(const char *const *words)
{
    static char *argv[32];
    int argc = 0, err;

    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    argv[argc] = NULL;
    options_fini(&got.options);
    memset(&got, 0, sizeof(got));
    err = args_parse(&syntax, argc, argv, &got, &args, why);
    assert_int_equal(err == -EINVAL, *why != '\0');
    return err;
}

#define PARSE(...) parse((const char *const[]){"command", __VA_ARGS__, NULL})

#define assert_refused(line, ...) \
    do { \
        assert_int_equal(PARSE(__VA_ARGS__), -EINVAL); \
        assert_string_equal(why, line); \
    } while (0)

TEST(every_kind_reaches_its_member)
{
    assert_int_equal(PARSE("--top", "7", "--min-bytes=64k", "--interval", "1.5ms", "--thread=9",
                           "--view", "threads", "--wide", "--gc", "--method", "A.*", "--symbols",
                           "x", "--symbols=y", "--events", "alloc,gc", "--hooks=elt2"),
                     0);
    assert_int_equal(got.top, 7);
    assert_int_equal(got.size, 65536);
    assert_int_equal(got.time, 1500000);
    assert_int_equal(got.thread, 9);
    assert_int_equal(got.view, 2);
    assert_int_equal(got.topic, 1);
    assert_true(got.wide && !got.all);
    assert_string_equal(got.text, "A.*");
    assert_int_equal(got.dirs.count, 2);
    assert_string_equal(got.dirs.item[1], "y");
    assert_int_equal(got.options.events, 1u << OPTIONS_ALLOC | 1u << OPTIONS_GC);
    assert_int_equal(got.options.hooks, OPTIONS_HOOKS_ELT2);
    assert_int_equal(PARSE("--min-duration", "5us", "--check-threads", "2s", "--only", "A",
                           "--only", "B", "--compress", "--max-nodes=4M", "--call-buffer=1m"),
                     0);
    assert_int_equal(got.options.min_duration, 5000);
    assert_int_equal(got.options.check_threads, 2000);
    assert_int_equal(got.options.only.count, 2);
    assert_true(got.options.compress);
    assert_int_equal(got.options.max_nodes, 4000000);
    assert_int_equal(got.options.call_buffer, 1 << 20);
}

TEST(without_options_there_are_the_defaults)
{
    assert_int_equal(parse((const char *const[]){"command", NULL}), 0);
    assert_int_equal(got.top, 20);
    assert_int_equal(got.time, 1000000000);
    assert_int_equal(got.view, 1);
    assert_int_equal(args.count, 0);
    assert_null(args.word[0]);
    assert_false(args_given(&syntax, &args, "top"));
    assert_int_equal(PARSE("--top=20"), 0);
    assert_true(args_given(&syntax, &args, "top"));
    assert_false(args_given(&syntax, &args, "wide"));
}

TEST(short_options_may_be_joined)
{
    assert_int_equal(PARSE("-wat5", "-S", "x", "-Sy"), 0);
    assert_true(got.wide && got.all);
    assert_int_equal(got.top, 5);
    assert_int_equal(got.dirs.count, 2);
    assert_refused("unknown option -z", "-wz");
    assert_refused("-S needs a value", "-wS");
}

TEST(names_may_be_cut_short_and_have_others)
{
    assert_int_equal(PARSE("--min-b=3", "--wi", "--sy=d"), 0);
    assert_int_equal(got.size, 3);
    assert_true(got.wide);
    assert_int_equal(PARSE("--smallest=4"), 0);
    assert_int_equal(got.size, 4);
    assert_int_equal(PARSE("--least", "5"), 0);
    assert_int_equal(got.size, 5);
    assert_int_equal(PARSE("--he"), 0);
    assert_true(args.help);
}

TEST(other_arguments_stand_anywhere)
{
    assert_int_equal(PARSE("a", "--top", "1", "-", "--", "--wide"), 0);
    assert_int_equal(args.count, 3);
    assert_string_equal(args.word[0], "a");
    assert_string_equal(args.word[1], "-");
    assert_string_equal(args.word[2], "--wide");
    assert_null(args.word[3]);
    assert_int_equal(args.apart, 2);
    assert_false(got.wide);
    assert_int_equal(PARSE("a", "b"), 0);
    assert_int_equal(args.apart, 2);
}

TEST(another_program_keeps_its_options)
{
    syntax.stops = true;
    syntax.max = 9;
    assert_int_equal(PARSE("--wide", "ls", "--all", "--", "-x"), 0);
    assert_int_equal(args.count, 4);
    assert_string_equal(args.word[1], "--all");
    assert_string_equal(args.word[2], "--");
    assert_int_equal(PARSE("--", "--all", "--"), 0);
    assert_int_equal(args.count, 2);
    syntax.stops = false;
    syntax.max = 3;
    assert_false(got.all);
}

TEST(wrong_numbers_of_arguments_are_refused)
{
    syntax.min = 1;
    assert_refused("expected a log: LOG", "--wide");
    syntax.min = 0;
    assert_refused("unexpected argument \"d\"", "a", "b", "c", "d", "e");
}

TEST(help_ends_the_reading)
{
    assert_int_equal(PARSE("--wide", "--help", "--nonsense"), 0);
    assert_true(args.help);
    assert_int_equal(PARSE("-wh", "--nonsense"), 0);
    assert_true(args.help);
    assert_refused("--help takes no value", "--help=x");
}

TEST(unknown_options_name_the_near_one)
{
    assert_refused("unknown option --tpo; did you mean --top?", "--tpo", "3");
    assert_refused("unknown option --max_nodes; did you mean --max-nodes?", "--max_nodes=4");
    assert_refused("unknown option --zebra", "--zebra");
    assert_refused("unknown option --mark", "--mark=x"); /* only explained */
    assert_refused("unknown option --zzzzzzzz", "--zzzzzzzz");
}

TEST(wrong_values_are_refused)
{
    assert_refused("--top takes a whole number, such as 20 or 10k, not \"x\"", "--top=x");
    assert_refused("-t takes a whole number, such as 20 or 10k, not \"-1\"", "-t-1");
    assert_refused("--top takes a whole number, such as 20 or 10k, not \"\"", "--top", "");
    assert_refused("--thread takes a number from 1 to 4294967295, not 0", "--thread=0");
    assert_refused("--thread takes a number from 1 to 4294967295, not 5G", "--thread=5G");
    assert_refused("--min-bytes takes a number of bytes, such as 65536, 64K or 1MiB, not \"1KB\"",
                   "--min-bytes=1KB");
    assert_refused("--interval takes a duration, such as 20us, 1.5ms or 2s, not \"1h\"",
                   "--interval=1h");
    assert_refused("--interval takes a duration from 1ms to 3600s, not 2us", "--interval=2us");
    assert_refused("--interval takes a duration from 1ms to 3600s, not 3601", "--interval=3601");
    assert_refused("--check-threads takes a duration, such as 20us, 1.5ms or 2s, not \"1us\"",
                   "--check-threads=1us");
    assert_refused("--view takes sites, types or threads, not \"x\"", "--view=x");
    assert_refused("--hooks takes auto, elt2 or elt3, not \"elt4\"", "--hooks", "elt4");
    assert_refused("--method must not be empty", "--method=");
    assert_refused("--only takes UTF-8 text, which \"\xff\" is not", "--only", "\xff");
    assert_refused("--top needs a value", "--top");
    assert_refused("--method needs a value", "--method", "--", "--top", "1");
    assert_refused("--wide takes no value", "--wide=yes");
    assert_refused("--compress takes no value", "--compress=yes");
    assert_int_equal(PARSE("--events=alloc,x"), -EINVAL);
    assert_non_null(strstr(why, "--events does not know \"x\"; it takes all, or some of alloc, "));
}

TEST(what_many_try_is_answered)
{
    assert_refused("cannot attach", "--pid=4");
    assert_refused("cannot attach", "--attach");
    assert_refused("cannot attach", "-p", "4");
}

TEST(an_old_spelling_is_read_as_the_new_one)
{
    assert_int_equal(PARSE("--top", "7"), 0);
    assert_null(args.old);
    assert_int_equal(PARSE("--mode", "--wide"), 0);
    assert_int_equal(got.view, 2);
    assert_true(args_given(&syntax, &args, "view"));
    assert_string_equal(args.old->name, "mode");
    assert_refused("unknown option --mod", "--mod");
}

TEST(a_list_has_an_end)
{
    const char *words[40] = {"command"};
    int count = 1;

    for (; count <= 16; count++)
        words[count] = "-Sx";
    assert_int_equal(parse(words), 0);
    assert_int_equal(got.dirs.count, 16);
    words[count] = "-Sx";
    assert_int_equal(parse(words), -EINVAL);
    assert_string_equal(why, "-S can be given at most 16 times");
}

TEST(numbers_have_one_grammar)
{
    static const struct {
        enum args_kind kind;
        const char *text;
        int err;
        uint64_t value;
    } cases[] = {
        {ARGS_COUNT, "1k", 0, 1000},
        {ARGS_COUNT, "1K", 0, 1000},
        {ARGS_COUNT, "2m", 0, 2000000},
        {ARGS_COUNT, "3G", 0, UINT64_C(3000000000)},
        {ARGS_BYTES, "1k", 0, 1024},
        {ARGS_BYTES, "1K", 0, 1024},
        {ARGS_BYTES, "1m", 0, 1 << 20},
        {ARGS_BYTES, "2g", 0, UINT64_C(2) << 30},
        {ARGS_BYTES, "18446744073709551615", 0, UINT64_MAX},
        {ARGS_BYTES, "18446744073709551616", -ERANGE, 0},
        {ARGS_BYTES, "99999999999999999999999", -ERANGE, 0},
        {ARGS_BYTES, "18446744073709551615G", -ERANGE, 0},
        {ARGS_BYTES, "1.5K", -EINVAL, 0},
        {ARGS_BYTES, "1KB", -EINVAL, 0},
        {ARGS_BYTES, "3KiB", 0, 3072},
        {ARGS_BYTES, "2mib", 0, 2 << 20},
        {ARGS_BYTES, "1Ki", -EINVAL, 0},
        {ARGS_COUNT, "1KiB", -EINVAL, 0},
        {ARGS_BYTES, "K", -EINVAL, 0},
        {ARGS_BYTES, " 1", -EINVAL, 0},
        {ARGS_BYTES, "+1", -EINVAL, 0},
        {ARGS_BYTES, "0x10", -EINVAL, 0},
        {ARGS_BYTES, "", -EINVAL, 0},
        {ARGS_DURATION, "7", 0, 7000},
        {ARGS_DURATION, "1.5", 0, 1500},
        {ARGS_DURATION, "20us", 0, 20000},
        {ARGS_DURATION, "0.25s", 0, 250000000},
        {ARGS_DURATION, "1234567890123456789ns", 0, UINT64_C(1234567890123456789)},
        {ARGS_DURATION, "1.", 0, 1000},
        {ARGS_DURATION, "1m", -EINVAL, 0},
        {ARGS_DURATION, ".5s", -EINVAL, 0},
        {ARGS_DURATION, "1e3", -EINVAL, 0},
        {ARGS_DURATION, "20000000000s", -ERANGE, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t value = 0;

        assert_int_equal(args_number(cases[i].kind, cases[i].text, 1000, UINT64_MAX, &value),
                         cases[i].err);
        assert_int_equal(value, cases[i].value);
    }
}

static char *page(size_t width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(args_print_options(out, rows, NULL, width), 0);
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

TEST(the_help_page_is_made_of_the_rows)
{
    char *text = page(80);

    assert_ptr_equal(
        strstr(text, "Shown:\n  -t, --top N           rows shown; 0: all (default 20)\n"), text);
    assert_has(text, "\n  --interval TIME       between looks (default 1s)\n");
    assert_has(
        text,
        "\n  --view sites|types|threads\n                        which view (default types)\n");
    assert_has(text, "\n  -w, --wide            names in full\n");
    assert_has(text, "\n\nTopics:\n  --gc                  collections\n");
    assert_has(text,
               "\n  -S, --symbols DIR     look for symbols there, too, which this sentence makes\n"
               "                        long enough");
    assert_has(text, " allow (may be\n                        repeated)\n");
    assert_has(text, "\n  --max-nodes N         paths (default 4M)\n");
    assert_has(text, "\n  --call-buffer BYTES   room (default 1GiB)\n");
    assert_has(text, "\n  --events LIST         which\n");
    assert_has(text, "\n  --only PATTERN        these (may be repeated)\n");
    assert_has(text, "\n\nActions:\n  mark TEXT             a mark\n");
    assert_has(text, "\n\n  -h, --help            show this page\n");
    assert_null(strstr(text, "attach"));
    free(text);
}

TEST(the_short_page_has_the_usual_rows_and_says_how_many_there_are_besides)
{
    static const char *const usual[] = {"wide", "jit", NULL};
    char *text = NULL;
    size_t size = 0, all = 0;
    FILE *out = open_memstream(&text, &size);

    for (const struct args_option *row = args_row(rows); row; row = args_row(row + 1))
        all += args_is_shown(row);
    assert_int_equal(args_print_options(out, rows, usual, 80), all - 2);
    fclose(out);
    assert_string_equal(text, "Shown:\n  -w, --wide            names in full\n\nTopics:\n"
                              "  --jit                 compilation\n\n"
                              "  -h, --help            show this page\n");
    free(text);
}

TEST(no_line_is_wider_than_asked)
{
    for (size_t width = 50; width <= 120; width += 10) {
        char *text = page(width);

        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            assert_true(strlen(line) <= width && line[strlen(line) - 1] != ' ');
        free(text);
    }
}

TEST(each_failed_allocation_is_told)
{
    int err = -ENOMEM;

    for (long n = 0; err && n < 100; n++) {
        memory_fail_after(n);
        err = PARSE("--only", "a", "--only=b");
        memory_fail_after(-1);
        assert_true(!err || err == -ENOMEM);
    }
    assert_int_equal(err, 0);
    assert_int_equal(got.options.only.count, 2);
    options_fini(&got.options);
}
