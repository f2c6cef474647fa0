/* Tables for fish: a `complete` for each option, operand and word. */
#include "completion/completion.h"

#include "cli/commands.h"
#include "completion/values.h"

#include <string.h>

/* Within '...'. */
static void text(struct buffer *b, const char *at, size_t length)
{
    for (; length; length--, at++) {
        if (*at == '\'' || *at == '\\')
            buffer_char(b, '\\');
        buffer_char(b, *at);
    }
}

static void explained(struct buffer *b, const char *help)
{
    buffer_text(b, " -d '");
    text(b, help, completion_summary(help));
    buffer_text(b, "'\n");
}

static void begin(struct buffer *b, const char *when, const char *command)
{
    buffer_format(b, "complete -c shadowtrace -n '__shadowtrace_%s %s", when, command);
}

/* Flags that say what the value is. */
static void value(struct buffer *b, enum completion_what what, const char *const *words)
{
    bool set = what == COMPLETION_SET;

    if (!words) {
        buffer_text(b, completion_words[what].fish);
        return;
    }
    buffer_text(b, set ? " -x -a '(__shadowtrace_set" : " -x -a '");
    for (const char *between = set ? " " : ""; *words; words++, between = " ")
        buffer_format(b, "%s%s", between, *words);
    buffer_text(b, set ? " all)'" : "'");
}

static void options(struct buffer *b, const struct cli_command *command)
{
    const struct args_option *row = completion_row(command->syntax.options);

    for (; row; row = completion_row(row + 1)) {
        begin(b, "takes", command->name);
        buffer_format(b, "' -l %s", row->name);
        if (row->letter)
            buffer_format(b, " -s %c", row->letter);
        if (args_takes_value(row))
            value(b, completion_value(row), args_words(row));
        explained(b, row->help);
    }
    begin(b, "takes", command->name);
    buffer_text(b, "' -l help -s h -d 'show the help page'\n");
}

static void topics(struct buffer *b, const struct cli_command *command, size_t number,
                   const struct args_option *topic)
{
    for (; topic; topic = completion_next_topic(topic)) {
        const char *at = topic->name, *name;
        size_t length;

        while ((length = completion_topic_name(&at, &name))) {
            begin(b, "at", command->name);
            buffer_format(b, " %zu' -x -a %.*s", number, (int)length, name);
            explained(b, topic->help);
        }
    }
}

static void operands(struct buffer *b, const struct cli_command *command)
{
    struct completion_operand operand[COMPLETION_OPERANDS_MAX];
    size_t count = completion_operands(command, operand);

    for (size_t i = 0; i < count; i++) {
        if (operand[i].topics) {
            topics(b, command, i + 1, operand[i].topics);
            continue;
        }
        begin(b, operand[i].repeats ? "from" : "at", command->name);
        buffer_format(b, " %zu'", i + 1);
        value(b, operand[i].what, NULL);
        buffer_char(b, '\n');
    }
}

/* ---- what the functions of fish.sh ask ---- */

static void values(struct buffer *b, const struct cli_command *command)
{
    const struct args_option *row = completion_row(command->syntax.options);

    buffer_format(b, "        case %s\n            contains -- $argv[2]", command->name);
    for (; row; row = completion_row(row + 1)) {
        if (!args_takes_value(row))
            continue;
        buffer_format(b, " --%s", row->name);
        if (row->letter)
            buffer_format(b, " -%c", row->letter);
    }
    buffer_char(b, '\n');
}

static void stopping(struct buffer *b, const struct cli_command *command)
{
    if (command->syntax.stops)
        buffer_format(b, " %s", command->name);
}

static void topic_arguments(struct buffer *b, const struct cli_command *command)
{
    struct completion_operand operand[COMPLETION_OPERANDS_MAX];
    size_t count = completion_operands(command, operand);

    for (size_t i = 0; i < count; i++) {
        const struct args_option *topic = operand[i].topics;

        for (; topic; topic = completion_next_topic(topic)) {
            const char *at = topic->argument, *name;
            size_t length;

            if (!at || !strchr(at, '-'))
                continue;
            buffer_format(b, "        case '%s %s'\n            string split ' ' --", command->name,
                          topic->name);
            buffer_format(b, " '%s", strstr(at, "FILE") ? "files" : "words");
            while ((length = completion_topic_option(&at, &name)))
                buffer_format(b, " %.*s", (int)length, name);
            buffer_text(b, "'\n");
        }
    }
}

static void command_line(struct buffer *b, const struct cli_command *command)
{
    buffer_format(b, "complete -c shadowtrace -n '__shadowtrace_first' -a %s", command->name);
    explained(b, command->help);
}

static void commands_function(struct buffer *b)
{
    const struct cli_command *command;
    const char *group;

    buffer_text(b, "function __shadowtrace_commands\n    printf '%s\\n'");
    for (size_t i = 0; (command = cli_at(i, &group)); i++)
        buffer_format(b, " %s", command->name);
    buffer_text(b, "\nend\n\n");
}

void completion_fish(struct buffer *b)
{
    commands_function(b);
    buffer_text(b, "# Has the option $argv[2] of the command $argv[1] a value?\n"
                   "function __shadowtrace_has_value\n    switch $argv[1]\n");
    completion_each_command(b, values);
    buffer_text(b, "        case '*'\n            false\n    end\nend\n\n"
                   "# Do the options of the command end at its first operand?\n"
                   "function __shadowtrace_stops\n    contains -- $argv[1]");
    completion_each_command(b, stopping);
    buffer_text(b, "\nend\n\n"
                   "# What the topic $argv[2] of the command $argv[1] takes.\n"
                   "function __shadowtrace_taken\n    switch \"$argv\"\n");
    completion_each_command(b, topic_arguments);
    buffer_text(b, "    end\nend\n\ncomplete -c shadowtrace -f\n");
    completion_each_command(b, command_line);
    buffer_text(b, "complete -c shadowtrace -n __shadowtrace_first -l help -s h"
                   " -d 'list the commands'\n"
                   "complete -c shadowtrace -n __shadowtrace_first -l version -s V"
                   " -d 'print the version'\n");
    completion_each_command(b, options);
    completion_each_command(b, operands);
}
