/* Completion: what a value or an operand is, and that the tables of each shell have all of them. */
#include "completion/completion.h"

#include "base/atomics.h"
#include "cli/commands.h"
#include "completion/values.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The part of the tables from `begin` to `end`; NULL: none. In static memory. */
static const char *part(const struct buffer *tables, const char *begin, const char *end)
{
    static char text[20000];
    const char *from = strstr(tables->data, begin), *to = from ? strstr(from, end) : NULL;

    if (!to || (size_t)(to - from) >= sizeof(text))
        return NULL;
    snprintf(text, sizeof(text), "%.*s", (int)(to - from), from);
    return text;
}

static void expect_all(const struct buffer *tables, const char *shell, const char *begin,
                       const char *end, const char *before, const char *behind)
{
    const struct cli_command *command;
    const char *group;
    size_t options = 0;

    assert_false(tables->failed);
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        const struct args_option *row = completion_row(command->syntax.options);
        char first[100], wanted[100];
        const char *own;

        snprintf(first, sizeof(first), begin, command->name);
        own = *end ? part(tables, first, end) : tables->data;
        if (!own)
            fail_msg("%s has no %s", shell, first);
        for (; row; row = completion_row(row + 1), options++) {
            const char *const *word = args_words(row);
            const char *at;

            snprintf(wanted, sizeof(wanted), "%s%s%s%s", *end ? "" : first, before, row->name,
                     behind);
            at = strstr(own, wanted);
            if (!at)
                fail_msg("%s: %s lacks %s", shell, command->name, wanted);
            for (; word && *word; word++)
                if (!strstr(tables->data, *word))
                    fail_msg("%s: --%s of %s lacks %s", shell, row->name, command->name, *word);
        }
    }
    assert_true(options > 100);
}

TEST(bash_has_every_option_of_every_command)
{
    struct buffer b = BUFFER_INIT;

    completion_bash(&b);
    expect_all(&b, "bash", "    %s) REPLY='", "\n", " --", "");
    buffer_free(&b);
}

TEST(zsh_has_every_option_of_every_command)
{
    struct buffer b = BUFFER_INIT;

    completion_zsh(&b);
    expect_all(&b, "zsh", "_shadowtrace-%s()", "\n}\n", "--", "");
    buffer_free(&b);
}

TEST(fish_has_every_option_of_every_command)
{
    struct buffer b = BUFFER_INIT;

    completion_fish(&b);
    expect_all(&b, "fish", "__shadowtrace_takes %s'", "", " -l ", " ");
    buffer_free(&b);
}

/* ---- operands ---- */

static void expect_operands(const struct cli_command *command, const char *expected)
{
    static const char *const names[] = {
        [COMPLETION_NOTHING] = "nothing",   [COMPLETION_FILES] = "files",
        [COMPLETION_FOLDERS] = "folders",   [COMPLETION_PIDS] = "pids",
        [COMPLETION_COMMANDS] = "commands", [COMPLETION_PROGRAM] = "program",
        [COMPLETION_WORDS] = "words",       [COMPLETION_SET] = "set",
        [COMPLETION_TOPICS] = "topics",     [COMPLETION_OF_TOPIC] = "of topic",
    };
    struct completion_operand operands[COMPLETION_OPERANDS_MAX];
    char text[200] = "";
    struct buffer b = BUFFER_ON(text);
    size_t count = completion_operands(command, operands);

    for (size_t i = 0; i < count; i++)
        buffer_format(&b, "%s%s %s%s", i ? ", " : "", operands[i].name, names[operands[i].what],
                      operands[i].repeats ? "..." : "");
    assert_string_equal(b.data, expected);
    buffer_free(&b);
}

TEST(operands_are_what_the_usage_line_calls_them)
{
    static const char *const expected[][2] = {
        {"record", "COMMAND program..."},
        {"env", ""},
        {"dump", "PID pids"},
        {"ctl", "PID pids, ACTION topics, ARGUMENT of topic..."},
        {"report", "METHOD files, LOG files..."},
        {"annotate", "LOG files, FILE files"},
        {"diff", "OLD files, NEW files..."},
        {"html", "LOG files..."},
        {"events", "TOPIC topics, LOG files"},
        {"compare", "LOG files, LOG files"},
        {"help", "COMMAND commands"},
    };

    for (size_t i = 0; i < COUNT_OF(expected); i++)
        expect_operands(cli_find(expected[i][0]), expected[i][1]);
}

TEST(operands_of_a_command_that_nobody_knows_are_files)
{
    const struct cli_command gate = {
        .name = "gate", .args = "[options] BUDGET LOG...", .syntax = {.min = 2, .max = UINT_MAX}};
    const struct cli_command serve = {
        .name = "serve", .args = "[options] [--] FOLDER", .syntax = {.max = 1}};

    expect_operands(&gate, "BUDGET files, LOG files...");
    expect_operands(&serve, "FOLDER folders");
}

/* ---- values ---- */

TEST(values_are_what_their_rows_call_them)
{
    static const char *const words[] = {"one", "two", NULL};
    const struct args_option rows[] = {
        {.kind = ARGS_TEXT, .name = "output", .argument = "FILE"},
        {.kind = ARGS_LIST, .name = "symbols", .argument = "DIR"},
        {.kind = ARGS_WORD, .name = "view", .argument = "VIEW", .words = words},
        {.kind = ARGS_FIELD, .name = "events", .argument = "LIST"},
        {.kind = ARGS_COUNT, .name = "top", .argument = "N"},
    };
    static const enum completion_what expected[] = {
        COMPLETION_FILES, COMPLETION_FOLDERS, COMPLETION_WORDS, COMPLETION_SET, COMPLETION_NOTHING};

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(completion_value(&rows[i]), expected[i]);
}

TEST(rows_that_cannot_be_typed_are_left_out)
{
    const struct args_option rows[] = {
        {.kind = ARGS_TOPIC, .name = "gc"},
        {.kind = ARGS_REFUSED, .name = "attach"},
        {.kind = ARGS_OLD, .name = "raw"},
        {.kind = ARGS_FLAG, .name = "own"},
        {.kind = ARGS_TOPIC, .name = "jit"},
        ARGS_END,
    };
    const struct args_option *row = completion_row(rows);

    assert_ptr_equal(row, &rows[3]);
    assert_null(completion_row(row + 1));
}

static void expect_summary(const char *help, const char *expected)
{
    char text[200];

    snprintf(text, sizeof(text), "%.*s", (int)completion_summary(help), help);
    assert_string_equal(text, expected);
}

TEST(a_summary_is_the_first_of_what_help_says)
{
    expect_summary("print no summary at the end", "print no summary at the end");
    expect_summary("show N frames of each stack; 0: all, as in JSON",
                   "show N frames of each stack");
    expect_summary("keep at most N nodes (default 4M)", "keep at most N nodes");
    expect_summary("which to take. The default takes less", "which to take");
    expect_summary("a page: flame graph, callers", "a page");
    expect_summary("short: string, List<int>; full: all", "short: string, List<int>");
    expect_summary(
        "a text that is so very long that nobody would want to read it in a list of words",
        "a text that is so very long that nobody would want to read");
}

TEST(a_topic_has_names_and_options)
{
    const char *at = "start, stop", *name = NULL;

    assert_int_equal(completion_topic_name(&at, &name), 5);
    assert_memory_equal(name, "start", 5);
    assert_int_equal(completion_topic_name(&at, &name), 4);
    assert_memory_equal(name, "stop", 4);
    assert_int_equal(completion_topic_name(&at, &name), 0);
    at = "[--full] TEXT";
    assert_int_equal(completion_topic_option(&at, &name), 6);
    assert_memory_equal(name, "--full", 6);
    assert_int_equal(completion_topic_option(&at, &name), 0);
}
