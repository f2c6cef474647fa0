/* The arguments of `record` and `env`. */
#include "unit/record/record_support.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "record/options.h"
#include "record/record.h"
#include "options/options_fields.h"
#include "support/test.h"

#include <errno.h>

static struct record_args parsed;
static struct args args;
static struct capture said;

static int parse_as(const struct cli_command *command, int argc, const char *const *words)
{
    static char *argv[16];
    int status;

    for (int i = 0; i <= argc; i++)
        argv[i] = i < argc ? (char *)(uintptr_t)words[i] : NULL;
    capture_begin(&said);
    memset(&parsed, 0, sizeof(parsed));
    parsed.attaches = command == &cmd_attach;
    status = cli_parse(command, argc, argv, &parsed, &args);
    if (status == CLI_OK && !args.help)
        status = record_options_settle(command, &args, &parsed);
    capture_end(&said);
    return status;
}

#define PARSE(...) \
    parse_as(&cmd_record, ELEMENTS(((const char *const[]){"record", __VA_ARGS__})), \
             (const char *const[]){"record", __VA_ARGS__})
#define PARSE_ENV(...) \
    parse_as(&cmd_env, ELEMENTS(((const char *const[]){"env", __VA_ARGS__})), \
             (const char *const[]){"env", __VA_ARGS__})

#define assert_wrong(parse, words) \
    do { \
        assert_int_equal(parse, CLI_USAGE); \
        assert_says(said.text, words); \
        assert_int_equal(lines_in(said.text), 1); \
        record_options_free(&parsed); \
    } while (0)

TEST_GROUP(folder_setup, folder_teardown);

TEST(every_option_reaches_its_member)
{
    assert_int_equal(PARSE("--hooks", "elt2", "--capture=both", "--stacks", "inline", "--log",
                           "events", "--full=drop", "--quiet", "--progress", "--", "ls", "-l"),
                     CLI_OK);
    assert_string_equal(said.text, "");
    assert_int_equal(parsed.options.hooks, OPTIONS_HOOKS_ELT2);
    assert_int_equal(parsed.options.capture, OPTIONS_CAPTURE_BOTH);
    assert_int_equal(parsed.options.check, 1); /* of both */
    assert_int_equal(parsed.options.stacks, OPTIONS_STACKS_INLINE);
    assert_int_equal(parsed.options.full, OPTIONS_FULL_DROP);
    assert_true(parsed.quiet && parsed.progress);
    assert_int_equal(args.count, 2);
    assert_string_equal(args.word[1], "-l");
    record_options_free(&parsed);
    assert_int_equal(PARSE("--only", "A.*", "--only=B.*", "--exclude", "C", "--types", "T[]",
                           "--process", "csc", "--compress", "--paused", "--no-inline",
                           "--no-lines", "--native", "ls"),
                     CLI_OK);
    assert_int_equal(parsed.options.only.count, 2);
    assert_string_equal(parsed.options.only.pattern[1], "B.*");
    assert_string_equal(parsed.options.exclude.pattern[0], "C");
    assert_string_equal(parsed.options.types.pattern[0], "T[]");
    assert_string_equal(parsed.options.process.pattern[0], "csc");
    assert_true(parsed.options.compress && parsed.options.paused && parsed.options.no_inline &&
                parsed.options.no_lines);
    assert_true(parsed.options.native);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--rich", "ls"), CLI_OK);
    assert_true(parsed.options.rich && !parsed.options.no_rich);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--no-rich", "ls"), CLI_OK);
    assert_true(parsed.options.no_rich);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--keep-tail-calls", "ls"), CLI_OK);
    assert_true(parsed.options.keep_tail_calls && !parsed.options.no_inline);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--sample", "512K", "--min-size", "85000", "--max-log", "2g", "--check",
                           "7", "--max-nodes", "4294967295", "ls"),
                     CLI_OK);
    assert_int_equal(parsed.options.sample, 512 * 1024);
    assert_int_equal(parsed.options.min_size, 85000);
    assert_int_equal(parsed.options.max_log, UINT64_C(2) << 30);
    assert_int_equal(parsed.options.check, 7);
    assert_int_equal(parsed.options.max_nodes, UINT32_MAX);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--sample", "auto", "--sampler", "exact", "ls"), CLI_OK);
    assert_int_equal(parsed.options.sample, 102400);
    assert_int_equal(parsed.options.sampler, OPTIONS_SAMPLER_EXACT);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--always-on", "ls"), CLI_OK);
    assert_int_equal(parsed.options.sample, 102400);
    assert_int_equal(parsed.options.sampler, OPTIONS_SAMPLER_RUNTIME);
    assert_int_equal(parsed.options.log, OPTIONS_LOG_SITES);
    assert_int_equal(parsed.options.budget, 1);
    assert_int_equal(parsed.options.keep, 4);
    assert_int_equal(parsed.options.check, 0);
    assert_true(parsed.options.own && parsed.options.compress && parsed.options.max_log);
    assert_int_equal(parsed.options.framework_frames, OPTIONS_FRAMEWORK_AUTO);
    record_options_free(&parsed);
    assert_int_equal(PARSE_ENV("--always-on", "--capture", "snapshot", "--budget", "3", "--log",
                               "events", "--check", "0"),
                     CLI_OK);
    assert_int_equal(parsed.options.budget, 3);
    assert_int_equal(parsed.options.log, OPTIONS_LOG_EVENTS);
    assert_false(parsed.options.own || parsed.options.sums_every ||
                 parsed.options.framework_frames);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--sampler", "runtime", "ls"), CLI_OK);
    assert_int_equal(parsed.options.sample, 102400);
    record_options_free(&parsed);
}

#define PARSE_ATTACH(...) \
    parse_as(&cmd_attach, ELEMENTS(((const char *const[]){"attach", __VA_ARGS__})), \
             (const char *const[]){"attach", __VA_ARGS__})

TEST(what_is_attached_takes_samples_of_the_runtime_without_hooks)
{
    assert_int_equal(PARSE_ATTACH("4711"), CLI_OK);
    assert_int_equal(parsed.options.capture,
                     CPU_WALKS ? OPTIONS_CAPTURE_WALK : OPTIONS_CAPTURE_SNAPSHOT);
    assert_int_equal(parsed.options.sampler, OPTIONS_SAMPLER_RUNTIME);
    assert_int_equal(parsed.options.sample, 102400);
    assert_int_equal(parsed.options.check, 0);
    assert_int_equal(parsed.options.budget, 1);
    assert_int_equal(parsed.options.detach_after, 0);
    record_options_free(&parsed);
    assert_int_equal(PARSE_ATTACH("--for", "1500ms", "--sample", "1M", "--budget", "0", "4711"),
                     CLI_OK);
    assert_int_equal(parsed.options.detach_after, 1500);
    assert_int_equal(parsed.options.sample, 1 << 20);
    assert_int_equal(parsed.options.budget, 0);
    record_options_free(&parsed);
    assert_int_equal(PARSE_ATTACH("--snapshots", "4711"), CLI_OK);
    assert_int_equal(parsed.options.capture, OPTIONS_CAPTURE_SNAPSHOT);
    record_options_free(&parsed);
    if (CPU_WALKS) {
        assert_int_equal(PARSE_ATTACH("--check", "1", "4711"), CLI_OK);
        assert_int_equal(parsed.options.check, 1);
        record_options_free(&parsed);
    }
    assert_wrong(PARSE_ATTACH("--capture", "shadow", "4711"), "--snapshots");
    assert_wrong(PARSE_ATTACH("--sample", "4K", "4711"), "give --sample 100K or more");
    assert_wrong(PARSE_ATTACH("--own", "4711"), "use `shadowtrace record --own`");
    assert_wrong(PARSE_ATTACH("--args", "X", "4711"), "use `shadowtrace record --args`");
    assert_wrong(PARSE_ATTACH("--sampler", "exact", "4711"), "use `shadowtrace record`");
    assert_wrong(PARSE_ATTACH("-q"), "expected a process id");
    assert_wrong(PARSE_ATTACH("1", "2"), "unexpected argument");
}

TEST(every_option_of_the_tracer_can_be_given)
{
    for (size_t i = 0; i < options_field_count; i++) {
        const char *key = options_fields[i].key;
        const struct args_option *row = args_row(cmd_env.syntax.options);
        char name[32];

        snprintf(name, sizeof(name), "%s", key);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        while (row && strcmp(row->name, name) != 0)
            row = args_row(row + 1);
        /* -o tells, and --for of attach */
        if (!row && strcmp(key, "directory") != 0 && strcmp(key, "detach_after") != 0)
            fail_msg("there is no --%s", name);
    }
}

TEST(the_command_begins_where_options_end)
{
    assert_int_equal(PARSE("--check", "1", "ls", "--check", "x"), CLI_OK);
    assert_string_equal(args.word[0], "ls");
    assert_int_equal(args.count, 3);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--", "--check"), CLI_OK);
    assert_string_equal(args.word[0], "--check");
    record_options_free(&parsed);
    assert_wrong(PARSE("-q"), "expected a command to record");
    assert_int_equal(PARSE("--check", "1", "--help", "--nonsense"), CLI_OK);
    assert_true(args.help);
    record_options_free(&parsed);
}

TEST(an_unknown_option_names_the_near_one)
{
    assert_wrong(PARSE("--chek", "1"), "unknown option --chek; did you mean --check?");
    assert_wrong(PARSE("--max_nodes=4"), "unknown option --max_nodes; did you mean --max-nodes?");
    assert_wrong(PARSE("--zebra"), "unknown option --zebra ");
    assert_wrong(PARSE("-z"), "unknown option -z");
    assert_wrong(PARSE("-qz"), "unknown option -z");
    assert_wrong(PARSE("--max", "4"), "unknown option --max");        /* log or nodes? */
    assert_wrong(PARSE("--status", "/x"), "unknown option --status"); /* only of env */
    assert_wrong(PARSE_ENV("--quiet"), "unknown option --quiet");
    assert_wrong(PARSE("--a\nb"), "unknown option --a?b");
}

TEST(a_wrong_value_is_named)
{
    assert_wrong(PARSE("--hooks", "elt4"), "--hooks takes auto, elt2 or elt3, not \"elt4\"");
    assert_wrong(PARSE("--check"), "--check needs a value");
    assert_wrong(PARSE("-o"), "-o needs a value");
    assert_wrong(PARSE("--check", "often"),
                 "--check takes a whole number, such as 20 or 10k, not \"often\"");
    assert_wrong(PARSE("--check", "-1"), "--check takes a whole number");
    assert_wrong(PARSE("--check", ""), "--check takes a whole number");
    assert_wrong(PARSE("--check", "4KB"), "--check takes a whole number");
    assert_wrong(PARSE("--max-nodes", "4294967296"), "from 0 to 4294967295");
    assert_wrong(PARSE("--sample", "12Q"), "--sample takes a number of bytes");
    assert_wrong(PARSE("--min-size", "auto"), "--min-size takes a number of bytes");
    assert_wrong(PARSE("--sample", "9007199254740992"), "from 0 to 9007199254740991");
    assert_wrong(PARSE("--sample", "99999999999999999999999"), "from 0 to 9007199254740991");
    assert_wrong(PARSE("--compress=yes"), "--compress takes no value");
    assert_wrong(PARSE("--only", ""), "--only must not be empty");
    assert_wrong(PARSE("--only", "\xff"), "which \"?\" is not");
    assert_wrong(PARSE("-o", ""), "-o must not be empty");
    assert_wrong(PARSE("-o", "-", "ls"), "standard output");
    assert_wrong(PARSE_ENV("--format", "xml"),
                 "shell, json, docker, systemd or runsettings, not \"xml\"");
    assert_wrong(PARSE_ENV("--status", "x"), "--status takes an absolute path");
}

TEST(choices_that_contradict_each_other_are_named)
{
    assert_wrong(PARSE("--capture", "both", "--check", "5", "ls"),
                 "--check and --capture contradict");
    assert_wrong(PARSE("--capture", "snapshot", "--check", "1", "ls"),
                 "--check and --capture contradict");
    assert_wrong(PARSE("--stacks", "inline", "--log", "sites", "ls"),
                 "--stacks and --log contradict");
    assert_wrong(PARSE("--sampler", "runtime", "--sample", "4K", "ls"),
                 "--sampler and --sample contradict");
    assert_wrong(PARSE("--live-grows", "3", "ls"),
                 "--check-live, --live-memory and --live-grows need the table of live objects; "
                 "add --live ");
    assert_wrong(PARSE_ENV("--live", "--min-size", "9"),
                 "--live and --types, --min-size, --sample or --paused contradict");
    assert_int_equal(PARSE("--capture", "snapshot", "--check", "0", "ls"), CLI_OK);
    record_options_free(&parsed);
}

TEST(attaching_is_answered_with_what_to_do)
{
    assert_wrong(PARSE("-p", "17"), "use \"shadowtrace attach PID\"");
    assert_wrong(PARSE("--pid", "17"), "use \"shadowtrace attach PID\"");
    assert_wrong(PARSE("--attach=17"), "use \"shadowtrace attach PID\"");
}

TEST(the_output_becomes_absolute)
{
    char expected[2 * PATH_MAX];

    assert_int_equal(PARSE("-o", "a.ndjson", "ls"), CLI_OK);
    snprintf(expected, sizeof(expected), "%s/a.ndjson", test_folder);
    assert_string_equal(parsed.options.output, expected);
    assert_null(parsed.options.directory);
    record_options_free(&parsed);
    assert_int_equal(PARSE("--output=.//./b", "ls"), CLI_OK);
    snprintf(expected, sizeof(expected), "%s/b", test_folder);
    assert_string_equal(parsed.options.output, expected);
    record_options_free(&parsed);
    assert_int_equal(PARSE("-o/x/y", "ls"), CLI_OK);
    assert_string_equal(parsed.options.output, "/x/y");
    record_options_free(&parsed);
}

TEST(a_folder_is_for_the_default_names)
{
    char expected[2 * PATH_MAX];

    assert_int_equal(PARSE("ls"), CLI_OK);
    assert_null(parsed.options.output);
    assert_string_equal(parsed.options.directory, test_folder);
    record_options_free(&parsed);
    assert_int_equal(mkdir("logs", 0700), 0);
    assert_int_equal(PARSE("-o", "logs", "ls"), CLI_OK);
    snprintf(expected, sizeof(expected), "%s/logs", test_folder);
    assert_string_equal(parsed.options.directory, expected);
    record_options_free(&parsed);
    assert_int_equal(PARSE_ENV("-o", "/not/here//"), CLI_OK); /* env may speak of another machine */
    assert_string_equal(parsed.options.directory, "/not/here");
    record_options_free(&parsed);
    assert_int_equal(PARSE("-o", "/", "ls"), CLI_OK);
    assert_string_equal(parsed.options.directory, "/");
    record_options_free(&parsed);
}

TEST(a_log_that_cannot_be_made_is_named)
{
    struct record_why why;
    struct options o;
    char path[] = "/proc/x.ndjson", folder[] = "/no/such/folder", root[] = "/proc";

    write_text("there", "", 0600);
    assert_int_equal(PARSE("-o", "there", "ls"), CLI_OK);
    assert_int_equal(record_options_check_output(&parsed.options, &why), CLI_IO);
    assert_says(why.text, "there exists and will not be overwritten");
    record_options_free(&parsed);
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(PARSE("-o", "link", "ls"), CLI_OK);
    assert_int_equal(record_options_check_output(&parsed.options, &why), CLI_IO);
    record_options_free(&parsed);
    assert_int_equal(PARSE("-o", "new", "ls"), CLI_OK);
    assert_int_equal(record_options_check_output(&parsed.options, &why), CLI_OK);
    assert_int_equal(access("new", F_OK), -1); /* nothing is left behind */
    record_options_free(&parsed);
    options_init(&o);
    o.output = path;
    assert_int_equal(record_options_check_output(&o, &why), CLI_IO);
    assert_says(why.text, "cannot write a log in /proc: ");
    o.output = NULL;
    o.directory = folder;
    assert_int_equal(record_options_check_output(&o, &why), CLI_IO);
    assert_says(why.text, "/no/such/folder: No such file or directory");
    o.directory = root;
    assert_int_equal(record_options_check_output(&o, &why), CLI_IO);
}

TEST(each_failed_allocation_is_reported_and_leaks_nothing)
{
    int status = CLI_IO;

    for (long n = 0; status != CLI_OK && n < 100; n++) {
        memory_fail_after(n);
        status = PARSE("--only", "a", "--only", "b", "-o", "x", "--types=t", "ls");
        memory_fail_after(-1);
        record_options_free(&parsed);
        assert_true(status == CLI_OK || status == CLI_IO);
        assert_int_equal(lines_in(said.text), status == CLI_OK ? 0 : 1);
    }
    assert_int_equal(status, CLI_OK);
}
