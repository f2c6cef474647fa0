/* Manual pages: everything that the tables of options have is in them, and reads as it is typed. */
#include "manual/manual.h"

#include "args/args.h"
#include "base/atomics.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "manual/troff.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct manual_edition edition = {"9.8.7", "2026-11-24"};

static void expect_in(const struct buffer *page, const char *text, const char *of)
{
    assert_false(page->failed);
    if (!strstr(page->data, text))
        fail_msg("the page of %s lacks: %s", of, text);
}

/* As a name stands in the source of a page. */
static const char *source_of(const char *hyphens, const char *name)
{
    static char text[200];
    struct buffer b = BUFFER_ON(text);

    for (; *hyphens; hyphens++)
        buffer_text(&b, "\\-");
    for (; *name; name++)
        buffer_format(&b, *name == '-' ? "\\-" : "%c", *name);
    return text;
}

TEST(every_option_and_topic_of_every_command_is_in_its_page)
{
    const struct cli_command *command;
    const char *group;
    size_t options = 0;

    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        const struct args_option *row = args_row(command->syntax.options);
        struct buffer page = BUFFER_INIT;

        manual_page(&page, command, &edition);
        expect_in(&page, ".SH \"NAME\"\nshadowtrace\\-", command->name);
        expect_in(&page, "\\fB\\-h, \\-\\-help\\fR\n", command->name);
        for (; row; row = args_row(row + 1), options++) {
            const char *name = source_of(row->kind == ARGS_TOPIC ? "" : "--", row->name);

            if (args_is_shown(row))
                expect_in(&page, name, command->name);
            else
                assert_null(strstr(page.data, name));
        }
        buffer_free(&page);
    }
    assert_true(options > 100);
}

TEST(every_page_has_the_sections_of_a_manual)
{
    static const char *const sections[] = {"NAME",    "SYNOPSIS",    "DESCRIPTION",
                                           "OPTIONS", "EXIT STATUS", "SEE ALSO"};
    const struct cli_command *command;
    const char *group;

    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        struct buffer page = BUFFER_INIT;
        const char *at;

        manual_page(&page, command, &edition);
        at = page.data;
        for (size_t s = 0; s < COUNT_OF(sections); s++) {
            char heading[40];

            snprintf(heading, sizeof(heading), ".SH \"%s\"\n", sections[s]);
            at = strstr(at, heading);
            if (!at)
                fail_msg("the page of %s has no %s there", command->name, sections[s]);
        }
        buffer_free(&page);
    }
}

TEST(the_page_of_all_names_each_command_and_what_they_read)
{
    struct buffer page = BUFFER_INIT;
    const struct cli_command *command;
    const char *group;

    manual_overview(&page, &edition);
    expect_in(&page, ".TH SHADOWTRACE 1 2026-11-24 \"shadowtrace 9.8.7\"", "all");
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        char reference[80];

        snprintf(reference, sizeof(reference), ".BR shadowtrace\\-%s (1)\n", command->name);
        expect_in(&page, reference, "all");
        for (const struct manual_term *e = command->manual ? command->manual->environment : NULL;
             e && e->term; e++)
            expect_in(&page, e->term, "all");
    }
    buffer_free(&page);
}

/* Lines that begin like macros are macros. */
TEST(no_text_of_a_page_is_taken_for_a_macro)
{
    static const char *const macros[] = {".\\\"", ".TH ",  ".SH ",  ".SS ", ".TP\n",
                                         ".PP\n", ".IP\n", ".B ",   ".BR ", ".RS ",
                                         ".RE\n", ".EX\n", ".EE\n", ".br\n"};
    const struct cli_command *command;
    const char *group;

    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        struct buffer page = BUFFER_INIT;

        manual_page(&page, command, &edition);
        for (const char *line = page.data; line && *line; line = strchr(line, '\n') + 1) {
            bool known = *line != '.' && *line != '\'';

            for (size_t m = 0; m < COUNT_OF(macros) && !known; m++)
                known = !strncmp(line, macros[m], strlen(macros[m]));
            if (!known)
                fail_msg("the page of %s has: %.60s", command->name, line);
        }
        buffer_free(&page);
    }
}

static void expect_text(const char *text, const char *source)
{
    struct buffer page = BUFFER_INIT;
    const struct troff t = {&page, " FILE N "};

    troff_text(&t, text, ".PP");
    assert_false(page.failed);
    assert_string_equal(page.data, source);
    buffer_free(&page);
}

TEST(what_troff_would_act_on_is_shown)
{
    expect_text("back\\slash", "back\\eslash\n");
    expect_text(".dotted", "\\&.dotted\n");
    expect_text("'quoted'", "\\&'quoted'\n");
    expect_text("a ~ b ^ c", "a \\(ti b \\(ha c\n");
    expect_text("say \"x\"", "say \\(dqx\\(dq\n");
}

TEST(code_options_and_variables_have_their_fonts)
{
    expect_text("see `ls -l`.", "see \\fBls \\-l\\fR.\n");
    expect_text("with --own-code, -o FILE",
                "with \\fB\\-\\-own\\-code\\fR, \\fB\\-o\\fR \\fIFILE\\fR\n");
    expect_text("N-th of FILES", "\\fIN\\fR-th of FILES\n");
    expect_text("well-known -- or 5-6", "well-known \\fB\\-\\-\\fR or 5-6\n");
    expect_text("see `shadowtrace help ctl`", "see \\%\\fBshadowtrace\\-ctl\\fR(1)\n");
}

TEST(paragraphs_and_sentences_begin_lines)
{
    expect_text("One. Two", "One.\nTwo\n");
    expect_text("One.\n\nTwo", "One.\n.PP\nTwo\n");
}

/* ---- examples ---- */

#define WORDS_MAX     40
#define EXAMPLE_WIDTH 69 /* of 80 columns, where it stands in a page */

/* The words of a shell's command that begins at `line`, up to | > & or ; in place. */
static size_t split(char *line, char **word)
{
    size_t count = 0;

    while (*line && count < WORDS_MAX) {
        line += strspn(line, " ");
        if (!*line || strchr("|>&;)\"", *line))
            break;
        if (*line == '\'') {
            word[count++] = ++line;
            line += strcspn(line, "'");
        } else {
            word[count++] = line;
            line += strcspn(line, " ;)");
        }
        if (!*line)
            break;
        if (*line == ';' || *line == ')') {
            *line = '\0';
            break;
        }
        *line++ = '\0';
    }
    word[count] = NULL;
    return count;
}

/* Each "shadowtrace NAME ..." of the line is what that command takes. Returns: how many. */
static size_t try_example(const char *example)
{
    size_t tried = 0;

    if (strlen(example) > EXAMPLE_WIDTH)
        fail_msg("%zu columns: %s", strlen(example), example);
    for (const char *at = example; (at = strstr(at, "shadowtrace ")); at++, tried++) {
        char line[400], *word[WORDS_MAX + 1], why[ARGS_WHY_SIZE];
        const struct cli_command *command;
        struct args args;
        void *into;
        size_t count;

        snprintf(line, sizeof(line), "%s", at);
        count = split(line, word);
        assert_true(count >= 2);
        command = cli_find(word[1]);
        if (!command)
            fail_msg("no such command: %s", example);
        into = memory_zalloc(1, command->size + 1);
        if (args_parse(&command->syntax, (int)count - 1, word + 1, into, &args, why))
            fail_msg("%s: %s", example, why);
        if (command->free)
            command->free(into);
        memory_free(into);
    }
    return tried;
}

TEST(every_example_is_taken_by_its_command)
{
    const struct cli_command *command;
    const char *group;
    size_t examples = 0;

    for (const struct manual_term *e = cli_manual.examples; e->term; e++)
        examples += try_example(e->term);
    for (size_t i = 0; (command = cli_at(i, &group)); i++)
        for (const struct manual_term *e = command->manual ? command->manual->examples : NULL;
             e && e->term; e++)
            examples += try_example(e->term);
    assert_true(examples >= 40);
}
