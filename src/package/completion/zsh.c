/* Tables for zsh: a function for each command, with its specifications for _arguments. */
#include "completion/completion.h"

#include "cli/commands.h"
#include "completion/values.h"

#include <string.h>

/* Within '...', and as _arguments and _describe part their fields: at ":", "[" and "]". */
static void text(struct buffer *b, const char *at, size_t length, const char *parts)
{
    for (; length; length--, at++) {
        if (*at == '\'') {
            buffer_text(b, "'\\''");
            continue;
        }
        if (strchr(parts, *at))
            buffer_char(b, '\\');
        buffer_char(b, *at);
    }
}

static void explained(struct buffer *b, const char *help)
{
    buffer_char(b, '[');
    text(b, help, completion_summary(help), "[]:\\");
    buffer_char(b, ']');
}

static void words(struct buffer *b, const char *const *word)
{
    for (const char *between = ""; word && *word; word++, between = " ") {
        buffer_text(b, between);
        text(b, *word, strlen(*word), ":\\ ()");
    }
}

/* :NAME:ACTION */
static void what_is(struct buffer *b, const char *name, enum completion_what what,
                    const char *const *of)
{
    buffer_char(b, ':');
    text(b, name, strlen(name), ":\\");
    buffer_char(b, ':');
    if (what == COMPLETION_WORDS)
        buffer_char(b, '(');
    else if (what == COMPLETION_SET)
        buffer_text(b, "_values -s , word ");
    else
        buffer_text(b, completion_words[what].zsh);
    words(b, of);
    buffer_text(b, what == COMPLETION_WORDS ? ")" : what == COMPLETION_SET ? " all" : "");
}

/* '*--type=[only these]:PATTERN: ' or '(-o --output)'{-o+,--output=}'[where to]:FILE:_files' */
static void option(struct buffer *b, const struct args_option *row)
{
    bool value = args_takes_value(row), repeats = args_repeats(row);
    const char *name = row->argument ? row->argument : row->name;

    buffer_text(b, "        '");
    if (row->letter && !repeats)
        buffer_format(b, "(-%c --%s)", row->letter, row->name);
    else if (repeats)
        buffer_char(b, '*');
    if (row->letter)
        buffer_format(b, "'{-%c%s,--%s%s}'", row->letter, value ? "+" : "", row->name,
                      value ? "=" : "");
    else
        buffer_format(b, "--%s%s", row->name, value ? "=" : "");
    explained(b, row->help);
    if (value)
        what_is(b, name, completion_value(row), args_words(row));
    buffer_text(b, "'\n");
}

static void operand(struct buffer *b, const struct completion_operand *o, size_t number)
{
    if (o->what == COMPLETION_PROGRAM) {
        buffer_text(b, "        '(-)1:COMMAND:_shadowtrace_program'\n"
                       "        '*::ARGUMENT:_normal'\n");
        return;
    }
    buffer_text(b, "        '");
    if (o->what == COMPLETION_OF_TOPIC)
        buffer_text(b, "*:");
    else if (o->repeats)
        buffer_char(b, '*');
    else
        buffer_format(b, "%zu", number);
    what_is(b, o->name, o->what, NULL);
    buffer_text(b, "'\n");
}

static void command_function(struct buffer *b, const struct cli_command *command)
{
    struct completion_operand operands[COMPLETION_OPERANDS_MAX];
    const struct args_option *row = completion_row(command->syntax.options);
    size_t count = completion_operands(command, operands);

    buffer_format(b, "_shadowtrace-%s()\n{\n    local -a specs=(\n", command->name);
    buffer_text(b, "        '(- *)'{-h,--help}'[show the help page]'\n");
    for (; row; row = completion_row(row + 1))
        option(b, row);
    for (size_t i = 0; i < count; i++)
        operand(b, &operands[i], i + 1);
    buffer_format(b, "    )\n    _arguments -s -S %s$specs\n}\n\n",
                  command->syntax.stops ? "-A '-*' " : "");
}

/* ---- topics ---- */

static void topic_names(struct buffer *b, const struct args_option *topic)
{
    for (; topic; topic = completion_next_topic(topic)) {
        const char *at = topic->name, *name;
        size_t length;

        while ((length = completion_topic_name(&at, &name))) {
            buffer_format(b, "        '%.*s:", (int)length, name);
            text(b, topic->help, completion_summary(topic->help), ":\\");
            buffer_text(b, "'\n");
        }
    }
}

static void topic_arguments(struct buffer *b, const struct args_option *topic)
{
    for (; topic; topic = completion_next_topic(topic)) {
        const char *at = topic->argument, *name;
        size_t length;

        if (!at || !strchr(at, '-'))
            continue;
        buffer_format(b, "    %s) taken=(%s", topic->name, strstr(at, "FILE") ? "files" : "words");
        while ((length = completion_topic_option(&at, &name)))
            buffer_format(b, " %.*s", (int)length, name);
        buffer_text(b, ") ;;\n");
    }
}

/* A `case` for each command that has topics, with its name as the pattern. */
static void each_topics(struct buffer *b,
                        void (*print)(struct buffer *, const struct args_option *),
                        const char *begin, const char *end)
{
    struct completion_operand operands[COMPLETION_OPERANDS_MAX];
    const struct cli_command *command;
    const char *group;

    buffer_text(b, "    case $command in\n");
    for (size_t i = 0; (command = cli_at(i, &group)); i++)
        for (size_t o = completion_operands(command, operands); o; o--)
            if (operands[o - 1].topics) {
                buffer_format(b, "    %s) %s\n", command->name, begin);
                print(b, operands[o - 1].topics);
                buffer_format(b, "    %s ;;\n", end);
            }
    buffer_text(b, "    esac\n");
}

void completion_zsh(struct buffer *b)
{
    const struct cli_command *command;
    const char *group;

    buffer_text(b, "_shadowtrace_commands()\n{\n    local -a commands=(\n");
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        buffer_format(b, "        '%s:", command->name);
        text(b, command->help, completion_summary(command->help), ":\\");
        buffer_text(b, "'\n");
    }
    buffer_text(b, "    )\n    _describe command commands\n}\n\n");
    for (size_t i = 0; (command = cli_at(i, &group)); i++)
        command_function(b, command);
    buffer_text(b, "_shadowtrace_topics()\n{\n    local -a topics\n");
    each_topics(b, topic_names, "topics=(", ")");
    buffer_text(b, "    _describe topic topics\n}\n\n");
    buffer_text(b, "# What the topic $1 of $command takes.\n"
                   "_shadowtrace_taken()\n{\n    taken=()\n");
    each_topics(b, topic_arguments, "case $1 in", "esac");
    buffer_text(b, "}\n\n");
}
