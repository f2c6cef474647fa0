#include "manual/manual.h"

#include "cli/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64 /* of a page's name */

static const struct cli_manual nothing;

static const struct cli_manual *manual_of(const struct cli_command *command)
{
    return command->manual ? command->manual : &nothing;
}

static void paragraphs(const struct troff *t, const char *text, bool follows)
{
    if (!text)
        return;
    if (follows)
        buffer_text(t->page, ".PP\n");
    troff_text(t, text, ".PP");
}

/* ---- SEE ALSO ---- */

/* Of `shadowtrace NAME ...`, and of `shadowtrace help NAME`. */
static bool text_mentions(const char *text, const char *name)
{
    const char *own = "shadowtrace ", *help = "help ";
    size_t length = strlen(name);

    for (const char *at = text; at && (at = strstr(at, own));) {
        at += strlen(own);
        if (!strncmp(at, help, strlen(help)))
            at += strlen(help);
        if (!strncmp(at, name, length) && strchr(" `", at[length]))
            return true;
    }
    return false;
}

static bool mentions(const struct cli_command *command, const char *name)
{
    const struct args_option *row = args_row(command->syntax.options);
    const struct manual_term *example = manual_of(command)->examples;

    if (text_mentions(command->about, name) || text_mentions(command->notes, name) ||
        text_mentions(manual_of(command)->description, name))
        return true;
    for (; row; row = args_row(row + 1))
        if (text_mentions(row->help, name))
            return true;
    for (; example && example->term; example++)
        if (text_mentions(example->term, name))
            return true;
    return false;
}

static const char *group_of(const struct cli_command *command)
{
    const struct cli_command *at;
    const char *group = "";

    for (size_t i = 0; (at = cli_at(i, &group)) && at != command;)
        i++;
    return group;
}

/* The commands of the same group, and those that the page speaks of; NULL: all. */
static void see_also(const struct troff *t, const struct cli_command *command, const char *others)
{
    const char *own = command ? group_of(command) : NULL, *group;
    const struct cli_command *other;
    bool first = !command;

    troff_heading(t, ".SH", "SEE ALSO");
    if (command)
        buffer_text(t->page, ".BR shadowtrace (1)");
    for (size_t i = 0; (other = cli_at(i, &group)); i++) {
        if (other == command ||
            (command && strcmp(group, own) != 0 && !mentions(command, other->name)))
            continue;
        buffer_format(t->page, "%s.BR \\%%shadowtrace\\-%s (1)", first ? "" : ",\n", other->name);
        first = false;
    }
    buffer_char(t->page, '\n');
    paragraphs(t, others, true);
}

/* ---- pages ---- */

void manual_page(struct buffer *page, const struct cli_command *command,
                 const struct manual_edition *edition)
{
    const struct cli_manual *manual = manual_of(command);
    struct buffer variables = BUFFER_INIT;
    struct troff t = {.page = page};
    char name[NAME_SIZE];

    manual_variables(&variables, command);
    page->failed |= variables.failed;
    if (page->failed) {
        buffer_free(&variables);
        return;
    }
    t.variables = variables.data;
    snprintf(name, sizeof(name), "shadowtrace-%s", command->name);
    manual_begin(&t, name, command->help, edition);
    manual_synopsis(&t, command->name, command->args);
    troff_heading(&t, ".SH", "DESCRIPTION");
    if (command->about)
        paragraphs(&t, command->about, false);
    else
        troff_sentence(&t, command->help, '.', ".PP");
    if (command->folders)
        paragraphs(&t, CLI_FOLDERS, false);
    paragraphs(&t, manual->description, true);
    manual_options(&t, command);
    if (command->notes)
        troff_heading(&t, ".SH", "NOTES");
    paragraphs(&t, command->notes, false);
    manual_terms(&t, "EXIT STATUS", manual->status ? manual->status : manual_status);
    manual_terms(&t, "ENVIRONMENT", manual->environment);
    manual_terms(&t, "FILES", manual->files);
    manual_examples(&t, manual->examples);
    see_also(&t, command, manual->see_also);
    buffer_free(&variables);
}

static void list_commands(const struct troff *t)
{
    const char *group, *before = "";
    const struct cli_command *command;

    troff_heading(t, ".SH", "COMMANDS");
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        if (strcmp(group, before) != 0)
            troff_heading(t, ".SS", group);
        before = group;
        buffer_format(t->page, ".TP\n.BR shadowtrace\\-%s (1)\n", command->name);
        troff_sentence(t, command->help, '.', ".IP");
    }
}

static bool is_among(const struct manual_term *const *lists, size_t count, const char *term)
{
    for (size_t i = 0; i < count; i++)
        for (const struct manual_term *at = lists[i]; at && at->term; at++)
            if (strcmp(at->term, term) == 0)
                return true;
    return false;
}

#define MAX_LISTS 100

/* The terms of all commands' lists, each once: where the first command that has it has it. */
static void union_of(const struct troff *t, const char *heading,
                     const struct manual_term *(*list)(const struct cli_manual *))
{
    const struct manual_term *lists[MAX_LISTS] = {list(&cli_manual)};
    const struct cli_command *command;
    const char *group;
    size_t count = 1;

    for (size_t i = 0; (command = cli_at(i, &group)) && count < MAX_LISTS; i++)
        lists[count++] = list(manual_of(command));
    troff_heading(t, ".SH", heading);
    for (size_t i = 0; i < count; i++)
        for (const struct manual_term *at = lists[i]; at && at->term; at++) {
            if (is_among(lists, i, at->term))
                continue;
            troff_term(t, "", at->term);
            troff_sentence(t, at->text, '.', ".IP");
        }
}

static const struct manual_term *files_of(const struct cli_manual *manual)
{
    return manual->files;
}

static const struct manual_term *environment_of(const struct cli_manual *manual)
{
    return manual->environment;
}

void manual_overview(struct buffer *page, const struct manual_edition *edition)
{
    static const struct manual_term options[] = {
        {"-h, --help", "list the commands; the same as `shadowtrace help`"},
        {"-V, --version", "print the version"},
        MANUAL_END,
    };
    const struct troff t = {page, " COMMAND FILE LOG PID NAME UID PREFIX "};

    manual_begin(&t, "shadowtrace", "show where the allocations of a .NET program come from",
                 edition);
    manual_synopsis(&t, "", "COMMAND [options] ... | --help | --version");
    troff_heading(&t, ".SH", "DESCRIPTION");
    paragraphs(&t, cli_manual.description, false);
    list_commands(&t);
    manual_terms(&t, "OPTIONS", options);
    manual_terms(&t, "EXIT STATUS", manual_status);
    union_of(&t, "ENVIRONMENT", environment_of);
    union_of(&t, "FILES", files_of);
    manual_examples(&t, cli_manual.examples);
    see_also(&t, NULL, cli_manual.see_also);
}
