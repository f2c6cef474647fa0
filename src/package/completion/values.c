#include "completion/values.h"

#include "args/value.h"
#include "base/atomics.h"
#include "cli/commands.h"

#include <string.h>

#define CAPITALS      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SUMMARY_WIDTH 60

/* Of values and operands alike. */
static const struct {
    const char *name;
    enum completion_what what;
} known[] = {
    {"PID", COMPLETION_PIDS},    {"FILE", COMPLETION_FILES},     {"FILE:LINE", COMPLETION_FILES},
    {"DIR", COMPLETION_FOLDERS}, {"FOLDER", COMPLETION_FOLDERS}, {"LOG", COMPLETION_FILES},
};

const struct completion_words completion_words[] = {
    [COMPLETION_NOTHING] = {"nothing", " ", " -x"},
    [COMPLETION_FILES] = {"files", "_files", " -r -F"},
    [COMPLETION_FOLDERS] = {"folders", "_files -/", " -x -a '(__fish_complete_directories)'"},
    [COMPLETION_PIDS] = {"pids", "_shadowtrace_pids", " -x -a '(__shadowtrace_pids)'"},
    [COMPLETION_COMMANDS] = {"commands", "_shadowtrace_commands",
                             " -x -a '(__shadowtrace_commands)'"},
    [COMPLETION_PROGRAM] = {"program", "_normal", " -x -a '(__shadowtrace_program)'"},
    [COMPLETION_WORDS] = {"words", NULL, NULL},
    [COMPLETION_SET] = {"set", NULL, NULL},
    [COMPLETION_TOPICS] = {"words", "_shadowtrace_topics", NULL},
    [COMPLETION_OF_TOPIC] = {"topic", "_shadowtrace_of_topic", " -x -a '(__shadowtrace_of_topic)'"},
};

static enum completion_what what_of(const char *name, enum completion_what otherwise)
{
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].what;
    return otherwise;
}

enum completion_what completion_value(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    if (args_words(row))
        return f && f->kind == OPTIONS_KIND_SET ? COMPLETION_SET : COMPLETION_WORDS;
    return row->argument ? what_of(row->argument, COMPLETION_NOTHING) : COMPLETION_NOTHING;
}

const struct args_option *completion_row(const struct args_option *row)
{
    row = args_row(row);
    while (row && (row->kind == ARGS_TOPIC || !args_is_shown(row)))
        row = args_row(row + 1);
    return row;
}

/* ---- operands ---- */

/* The group "Actions" of the operand ACTION. */
static bool is_plural_of(const char *group, const char *name)
{
    size_t length = strlen(name);

    return strncasecmp(group, name, length) == 0 && strcmp(group + length, "s") == 0;
}

static const struct args_option *topics_of(const struct cli_command *command, const char *name)
{
    const struct args_option *row = args_row(command->syntax.options);

    for (; row; row = args_row(row + 1))
        if (row->kind == ARGS_TOPIC && row->group && is_plural_of(row->group, name))
            return row;
    return NULL;
}

const struct args_option *completion_next_topic(const struct args_option *topic)
{
    const struct args_option *next = args_row(topic + 1);

    return next && next->kind == ARGS_TOPIC && !next->group ? next : NULL;
}

/* `before`: the operand in front of it, or NULL. */
static enum completion_what operand_what(const struct cli_command *command,
                                         const struct completion_operand *o,
                                         const struct completion_operand *before)
{
    if (strcmp(o->name, "COMMAND") == 0)
        return command->syntax.stops ? COMPLETION_PROGRAM : COMPLETION_COMMANDS;
    if (o->topics)
        return COMPLETION_TOPICS;
    if (strcmp(o->name, "ARGUMENT") == 0 && before && before->topics)
        return COMPLETION_OF_TOPIC;
    return what_of(o->name, COMPLETION_FILES);
}

/* The word of a usage line at `at`, without its brackets and dots. Returns: its length, 0 none. */
static size_t operand_at(const char *at, const char **name)
{
    *name = at + strspn(at, "[");
    return strspn(*name, CAPITALS);
}

static bool is_option(const char *at)
{
    at += strspn(at, "[");
    return *at == '-' && !strchr("] ", at[strspn(at, "-")]);
}

size_t completion_operands(const struct cli_command *command,
                           struct completion_operand out[COMPLETION_OPERANDS_MAX])
{
    const char *at = command->args, *name;
    bool value = false; /* is the word that of an option before it: -o FILE? */
    size_t count = 0;

    for (; *at && *at != '|' && count < COMPLETION_OPERANDS_MAX; at += strspn(at, " ")) {
        size_t length = operand_at(at, &name);
        struct completion_operand *o = &out[count];

        if (length && length < sizeof(o->name) && !value) {
            *o = (struct completion_operand){.repeats = false};
            memcpy(o->name, name, length);
            o->topics = topics_of(command, o->name);
            o->what = operand_what(command, o, count ? o - 1 : NULL);
            count++;
        }
        value = is_option(at);
        at += strcspn(at, " ");
        if (count && out[count - 1].what == COMPLETION_PROGRAM)
            break;
    }
    if (count)
        out[count - 1].repeats = command->syntax.max > count;
    return count;
}

/* ---- topics ---- */

size_t completion_topic_name(const char **at, const char **name)
{
    size_t length;

    *name = *at;
    length = strcspn(*at, ",");
    *at += length;
    *at += strspn(*at, ", ");
    return length;
}

size_t completion_topic_option(const char **at, const char **name)
{
    size_t length;

    *name = *at ? strchr(*at, '-') : NULL;
    if (!*name)
        return 0;
    length = strcspn(*name, " ]");
    *at = *name + length;
    return length;
}

size_t completion_summary(const char *help)
{
    size_t length = strcspn(help, "(;"), first = strcspn(help, " ");
    const char *stop = strstr(help, ". "), *colon = strstr(help + first, ": ");

    if (stop && (size_t)(stop - help) < length)
        length = (size_t)(stop - help);
    if (colon && help[first - 1] != ':' && (size_t)(colon - help) < length)
        length = (size_t)(colon - help);
    if (length > SUMMARY_WIDTH)
        for (length = SUMMARY_WIDTH; length && help[length] != ' ';)
            length--;
    while (length && strchr(" ,:", help[length - 1]))
        length--;
    return length;
}

void completion_each_command(struct buffer *b,
                             void (*print)(struct buffer *, const struct cli_command *))
{
    const struct cli_command *command;
    const char *group;

    for (size_t i = 0; (command = cli_at(i, &group)); i++)
        print(b, command);
}
