/* The help page of a table of options, within the width there is. */
#include "args/value.h"

#include <string.h>

#define INDENT 2
#define COLUMN 24 /* where explanations begin */

/* Words from `at` on in lines that begin at `indent`; the first line is at `column`. */
static void wrap(FILE *out, const char *at, size_t column, size_t indent, size_t width)
{
    bool first = true;

    while (*at) {
        size_t length = strcspn(at, " \n");

        if (!first && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        column += (size_t)fprintf(out, "%s%.*s", first ? "" : " ", (int)length, at);
        first = false;
        at += length;
        if (*at == '\n') {
            fprintf(out, "\n%*s", at[1] ? (int)indent : 0, "");
            column = indent;
            first = true;
        }
        at += *at != '\0';
    }
}

void args_print_text(FILE *out, const char *text, size_t width)
{
    wrap(out, text, 0, 0, width);
    putc('\n', out);
}

void args_print_below(FILE *out, const char *text, size_t from, size_t width)
{
    fprintf(out, "%*s", (int)from, "");
    wrap(out, text, from, from, width);
    putc('\n', out);
}

void args_print_row(FILE *out, const char *term, const char *text, size_t from, size_t width)
{
    size_t column = (size_t)fprintf(out, "%*s%s", INDENT, "", term);

    if (column + INDENT > from) {
        putc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", (int)(from - column), "");
    wrap(out, text, from, from, width);
    putc('\n', out);
}

/* " text|json", " N" or nothing. */
static void argument(struct buffer *b, const struct args_option *row)
{
    const char *const *words = args_words(row);

    if (row->argument)
        buffer_format(b, " %s", row->argument);
    else if (words)
        for (size_t i = 0; words[i]; i++)
            buffer_format(b, "%c%s", i ? '|' : ' ', words[i]);
}

static void term(struct buffer *b, const struct args_option *row)
{
    if (row->letter)
        buffer_format(b, "-%c, ", row->letter);
    buffer_format(b, "%s%s", row->kind == ARGS_TOPIC ? "" : "--", row->name);
    argument(b, row);
}

static bool is_number(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    return f ? f->kind == OPTIONS_KIND_COUNT || f->kind == OPTIONS_KIND_BYTES
             : row->kind >= ARGS_COUNT && row->kind <= ARGS_DURATION;
}

void args_explain(struct buffer *b, const struct args_option *row)
{
    const struct options_field *f = args_field(row);
    uint64_t standard = f ? f->standard : row->standard;
    const char *const *words = args_words(row);
    char text[ARGS_NUMBER_SIZE];

    buffer_text(b, row->help);
    if (args_repeats(row))
        buffer_text(b, " (may be repeated)");
    else if (is_number(row) && standard)
        buffer_format(b, " (default %s)", args_show_number(args_number_kind(row), standard, text));
    else if (words && (!f || f->kind == OPTIONS_KIND_WORD))
        buffer_format(b, " (default %s)", words[standard]);
}

static void print_option(FILE *out, const struct args_option *row, size_t width)
{
    struct buffer name = BUFFER_INIT, text = BUFFER_INIT;

    term(&name, row);
    args_explain(&text, row);
    if (!name.failed && !text.failed)
        args_print_row(out, name.data, text.data, COLUMN, width);
    buffer_free(&name);
    buffer_free(&text);
}

static bool is_usual(const struct args_option *row, const char *const *usual)
{
    for (; usual && *usual; usual++)
        if (strcmp(row->name, *usual) == 0)
            return true;
    return !usual;
}

size_t args_print_options(FILE *out, const struct args_option *options, const char *const *usual,
                          size_t width)
{
    static const struct args_option help = {
        .name = "help", .letter = 'h', .help = "show this page"};
    const char *group = NULL; /* of rows to come: its heading is printed before the first of them */
    size_t printed = 0, left_out = 0;
    bool grouped = false;

    for (const struct args_option *row = args_row(options); row; row = args_row(row + 1)) {
        if (!args_is_shown(row))
            continue;
        group = row->group ? row->group : group;
        if (!is_usual(row, usual)) {
            left_out++;
            continue;
        }
        if (group)
            fprintf(out, "%s%s:\n", printed ? "\n" : "", group);
        grouped |= group != NULL;
        group = NULL;
        print_option(out, row, width);
        printed++;
    }
    if (grouped)
        putc('\n', out);
    print_option(out, &help, width);
    return left_out;
}
