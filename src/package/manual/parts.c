#include "manual/parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

void manual_begin(const struct troff *t, const char *name, const char *does,
                  const struct manual_edition *edition)
{
    struct buffer *page = t->page;

    buffer_text(page, ".\\\" Made from the tables of options; do not edit.\n.TH ");
    for (const char *c = name; *c; c++)
        buffer_char(page, (char)toupper((unsigned char)*c));
    buffer_format(page, " 1 %s \"shadowtrace %s\" \"shadowtrace manual\"\n", edition->date,
                  edition->version);
    troff_heading(t, ".SH", "NAME");
    for (; *name; name++)
        buffer_format(page, *name == '-' ? "\\-" : "%c", *name);
    buffer_text(page, " \\- ");
    troff_text(t, does, ".PP");
}

/* ---- what the usage line says ---- */

/* One way to write the arguments. */
static void one_way(const struct troff *t, const char *name, const char *args, size_t length)
{
    struct buffer line = BUFFER_INIT;

    buffer_format(t->page, ".B shadowtrace%s%s\n", *name ? " " : "", name);
    buffer_append(&line, args, length);
    if (line.size && !line.failed)
        troff_text(t, line.data, ".PP");
    t->page->failed |= line.failed;
    buffer_free(&line);
}

void manual_synopsis(const struct troff *t, const char *name, const char *args)
{
    const char *end;

    troff_heading(t, ".SH", "SYNOPSIS");
    for (; (end = strstr(args, " | ")); args = end + 3) {
        one_way(t, name, args, (size_t)(end - args));
        buffer_text(t->page, ".br\n");
    }
    one_way(t, name, args, strlen(args));
}

static void add_variables(struct buffer *b, const char *text)
{
    const char *capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (text = text ? strpbrk(text, capitals) : NULL; text; text = strpbrk(text, capitals)) {
        size_t length = strspn(text, capitals);

        buffer_append(b, text, length);
        buffer_char(b, ' ');
        text += length;
    }
}

void manual_variables(struct buffer *b, const struct cli_command *command)
{
    const struct args_option *row = args_row(command->syntax.options);

    buffer_char(b, ' ');
    add_variables(b, command->args);
    for (; row; row = args_row(row + 1))
        add_variables(b, row->argument);
}

/* ---- options ---- */

static void option_term(const struct troff *t, const struct args_option *row)
{
    const char *const *words = args_words(row);
    struct buffer name = BUFFER_INIT;

    if (row->letter)
        buffer_format(&name, "-%c, ", row->letter);
    buffer_format(&name, "%s%s", row->kind == ARGS_TOPIC ? "" : "--", row->name);
    if (row->argument)
        buffer_char(&name, ' ');
    for (size_t i = 0; !row->argument && words && words[i]; i++)
        buffer_format(&name, "%c%s", i ? '|' : ' ', words[i]);
    if (!name.failed)
        troff_term(t, name.data, row->argument ? row->argument : "");
    t->page->failed |= name.failed;
    buffer_free(&name);
}

static void option_row(const struct troff *t, const struct args_option *row)
{
    struct buffer text = BUFFER_INIT;

    option_term(t, row);
    args_explain(&text, row);
    if (!text.failed)
        troff_sentence(t, text.data, '.', ".IP");
    t->page->failed |= text.failed;
    buffer_free(&text);
}

/* The next row of the page. */
static const struct args_option *shown(const struct args_option *row)
{
    while (row && !args_is_shown(row))
        row = args_row(row + 1);
    return row;
}

static const struct args_option *next_shown(const struct args_option *row)
{
    return shown(args_row(row + 1));
}

/* Does the group that begins at the row hold no option? */
static bool only_topics(const struct args_option *row)
{
    const struct args_option *at = row;

    for (; at && (at == row || !at->group); at = next_shown(at))
        if (at->kind != ARGS_TOPIC)
            return false;
    return true;
}

/* Rows of groups of options, or of those of topics. */
static void groups(const struct troff *t, const struct args_option *row, bool topics)
{
    bool wanted = !topics, first = true;

    for (row = shown(args_row(row)); row; row = next_shown(row)) {
        if (row->group)
            wanted = only_topics(row) == topics;
        if (row->group && wanted && (!first || strcmp(row->group, "Options") != 0))
            troff_heading(t, topics ? ".SH" : ".SS",
                          strcmp(row->group, "Options") != 0 ? row->group : "Other options");
        if (wanted)
            option_row(t, row);
        first = first && !wanted;
    }
}

void manual_options(const struct troff *t, const struct cli_command *command)
{
    static const struct args_option help = {
        .name = "help", .letter = 'h', .help = "print the help page, a short form of this one"};

    groups(t, command->syntax.options, true);
    troff_heading(t, ".SH", "OPTIONS");
    groups(t, command->syntax.options, false);
    option_row(t, &help);
}

/* ---- lists ---- */

void manual_terms(const struct troff *t, const char *heading, const struct manual_term *terms)
{
    if (!terms || !terms->term)
        return;
    troff_heading(t, ".SH", heading);
    for (; terms->term; terms++) {
        troff_term(t, "", terms->term);
        troff_sentence(t, terms->text, '.', ".IP");
    }
}

void manual_examples(const struct troff *t, const struct manual_term *examples)
{
    if (!examples || !examples->term)
        return;
    troff_heading(t, ".SH", "EXAMPLES");
    for (bool first = true; examples->term; examples++, first = false) {
        if (!first)
            buffer_text(t->page, ".PP\n");
        troff_sentence(t, examples->text, ':', ".PP");
        buffer_text(t->page, ".PP\n.RS 4\n.EX\n");
        troff_code(t, examples->term);
        buffer_text(t->page, ".EE\n.RE\n");
    }
}
