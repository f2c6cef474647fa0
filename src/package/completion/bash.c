/* Tables for bash: functions that set REPLY, each one `case`. */
#include "completion/completion.h"

#include "completion/values.h"

#include <string.h>

static void words(struct buffer *b, const char *const *word)
{
    for (; word && *word; word++)
        buffer_format(b, " %s", *word);
}

static void topics(struct buffer *b, const struct args_option *topic)
{
    for (; topic; topic = completion_next_topic(topic)) {
        const char *at = topic->name, *name;
        size_t length;

        while ((length = completion_topic_name(&at, &name)))
            buffer_format(b, " %.*s", (int)length, name);
    }
}

static void command_name(struct buffer *b, const struct cli_command *command)
{
    buffer_format(b, " %s", command->name);
}

/* ---- options ---- */

static void options(struct buffer *b, const struct cli_command *command)
{
    const struct args_option *row = completion_row(command->syntax.options);

    buffer_format(b, "    %s) REPLY='--help -h", command->name);
    for (; row; row = completion_row(row + 1)) {
        buffer_format(b, " --%s", row->name);
        if (row->letter)
            buffer_format(b, " -%c", row->letter);
    }
    buffer_text(b, "' ;;\n");
}

/* Every name of an option, as a pattern: 'report --top' | 'report --limit'. */
static void names_of(struct buffer *b, const struct cli_command *command,
                     const struct args_option *row)
{
    const char *at = row->aliases ? row->aliases : "";

    buffer_format(b, "    '%s --%s'", command->name, row->name);
    if (row->letter)
        buffer_format(b, " | '%s -%c'", command->name, row->letter);
    while (*at) {
        size_t length = strcspn(at, " ");

        buffer_format(b, " | '%s --%.*s'", command->name, (int)length, at);
        at += length + strspn(at + length, " ");
    }
}

static void values(struct buffer *b, const struct cli_command *command)
{
    const struct args_option *row = completion_row(command->syntax.options);

    for (; row; row = completion_row(row + 1)) {
        enum completion_what what = completion_value(row);

        if (!args_takes_value(row))
            continue;
        names_of(b, command, row);
        buffer_format(b, ") REPLY='%s", completion_words[what].bash);
        words(b, args_words(row));
        buffer_format(b, "%s' ;;\n", what == COMPLETION_SET ? " all" : "");
    }
}

/* ---- operands ---- */

static void operands(struct buffer *b, const struct cli_command *command)
{
    struct completion_operand operand[COMPLETION_OPERANDS_MAX];
    size_t count = completion_operands(command, operand);

    for (size_t i = 0; i < count; i++) {
        if (operand[i].repeats)
            buffer_format(b, "    '%s '*) REPLY='%s", command->name,
                          completion_words[operand[i].what].bash);
        else
            buffer_format(b, "    '%s %zu') REPLY='%s", command->name, i + 1,
                          completion_words[operand[i].what].bash);
        topics(b, operand[i].topics);
        buffer_text(b, "' ;;\n");
    }
}

/* What a topic takes: its options, and whether these have files as values. */
static void topic_arguments(struct buffer *b, const struct cli_command *command,
                            const struct args_option *topic)
{
    for (; topic; topic = completion_next_topic(topic)) {
        const char *at = topic->argument, *name;
        size_t length;

        if (!at || !strchr(at, '-'))
            continue;
        buffer_format(b, "    '%s %s') REPLY='%s", command->name, topic->name,
                      strstr(at, "FILE") ? "files" : "words");
        while ((length = completion_topic_option(&at, &name)))
            buffer_format(b, " %.*s", (int)length, name);
        buffer_text(b, "' ;;\n");
    }
}

static void arguments_of_topics(struct buffer *b, const struct cli_command *command)
{
    struct completion_operand operand[COMPLETION_OPERANDS_MAX];
    size_t count = completion_operands(command, operand);

    for (size_t i = 1; i < count; i++)
        if (operand[i].what == COMPLETION_OF_TOPIC)
            topic_arguments(b, command, operand[i - 1].topics);
}

static void stopping(struct buffer *b, const struct cli_command *command)
{
    if (command->syntax.stops)
        buffer_format(b, " %s", command->name);
}

/* ---- */

static void function(struct buffer *b, const char *name, const char *of,
                     void (*print)(struct buffer *, const struct cli_command *))
{
    buffer_format(b, "_shadowtrace_%s()\n{\n    case %s in\n", name, of);
    completion_each_command(b, print);
    buffer_text(b, "    *) REPLY='' ;;\n    esac\n}\n\n");
}

void completion_bash(struct buffer *b)
{
    buffer_text(b, "_shadowtrace_commands='");
    completion_each_command(b, command_name);
    buffer_text(b, "'\n_shadowtrace_stopping='");
    completion_each_command(b, stopping);
    buffer_text(b, "'\n\n");
    function(b, "options", "$1", options);
    function(b, "value", "\"$1 $2\"", values);
    function(b, "operand", "\"$1 $2\"", operands);
    function(b, "topic", "\"$1 $2\"", arguments_of_topics);
}
