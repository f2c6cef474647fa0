#include "manual/troff.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define SOURCE_WIDTH 70 /* of the lines of the source */
#define REFERENCE    "`shadowtrace help "

/* A text on its way into the page. */
struct scan {
    const struct troff *to;
    const char *start, *at;
    const char *font; /* what variables are set between: "B" or "R" */
    bool wraps;       /* at blanks */
    size_t column;
};

static void put(struct scan *s, const char *text)
{
    buffer_text(s->to->page, text);
    s->column += strlen(text);
}

static void end_line(struct scan *s)
{
    buffer_char(s->to->page, '\n');
    s->column = 0;
}

/* A letter stands for itself, and in code looks as it is typed. */
static void put_letter(struct scan *s, char c)
{
    const char text[] = {c, '\0'};
    bool code = *s->font == 'B';

    if (s->column == 0 && (c == '.' || c == '\''))
        put(s, "\\&");
    put(s, c == '\\'           ? "\\e"
           : c == '`'          ? "\\(ga"
           : c == '^'          ? "\\(ha"
           : c == '~'          ? "\\(ti"
           : c == '"'          ? "\\(dq"
           : c == '-' && code  ? "\\-"
           : c == '\'' && code ? "\\(aq"
                               : text);
}

static void put_letters(struct scan *s, size_t count)
{
    for (; count; count--)
        put_letter(s, *s->at++);
}

static void font(struct scan *s, const char *name)
{
    put(s, "\\f");
    put(s, name);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool begins_word(const struct scan *s)
{
    return s->at == s->start || !in_word(s->at[-1]);
}

/* Bytes of the variable that begins here, or 0. */
static size_t variable(const struct scan *s)
{
    size_t length = strspn(s->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *found = s->to->variables;

    if (!length || !begins_word(s) || in_word(s->at[length]))
        return 0;
    for (; (found = strchr(found, ' ')) && found[1]; found++)
        if (!strncmp(found + 1, s->at, length) && found[1 + length] == ' ')
            return length;
    return 0;
}

/* Bytes of the option that begins here in a sentence, or 0. */
static size_t option(const struct scan *s)
{
    const char *name = s->at + strspn(s->at, "-");
    size_t hyphens = (size_t)(name - s->at), length = 0;

    if (!hyphens || hyphens > 2 || !begins_word(s) || (s->at > s->start && s->at[-1] == '-'))
        return 0;
    if (!isalpha((unsigned char)*name))
        return hyphens == 2 && strchr(" ]", *name) ? hyphens : 0; /* what ends the options */
    while (isalnum((unsigned char)name[length]) || name[length] == '-')
        length++;
    return hyphens == 1 && length > 1 ? 0 : hyphens + length;
}

/* A sentence ends its line: troff then chooses the space after it. */
static void put_blank(struct scan *s)
{
    const char *next = s->at + 1;
    bool ended =
        s->at > s->start && s->at[-1] == '.' && isupper((unsigned char)*next) && *s->font == 'R';

    s->at++;
    if (s->wraps && (ended || s->column + 1 + strcspn(next, " \n") > SOURCE_WIDTH))
        end_line(s);
    else
        put(s, " ");
}

static bool put_reference(struct scan *s)
{
    const char *name = s->at + strlen(REFERENCE);
    size_t length;

    if (strncmp(s->at, REFERENCE, strlen(REFERENCE)) != 0)
        return false;
    length = strspn(name, "abcdefghijklmnopqrstuvwxyz-");
    if (!length || name[length] != '`')
        return false;
    put(s, "\\%\\fBshadowtrace\\-");
    s->at = name;
    put_letters(s, length);
    put(s, "\\fR(1)");
    s->at++;
    return true;
}

static void put_variable(struct scan *s, size_t length)
{
    font(s, "I");
    put_letters(s, length);
    font(s, s->font);
}

static void put_option(struct scan *s, size_t length)
{
    s->font = "B";
    font(s, s->font);
    put_letters(s, length);
    s->font = "R";
    font(s, s->font);
}

/* Up to the end of the paragraph. */
static void put_paragraph(struct scan *s)
{
    while (*s->at && *s->at != '\n') {
        size_t length = variable(s);

        if (length) {
            put_variable(s, length);
        } else if (*s->font == 'R' && (length = option(s)) > 0) {
            put_option(s, length);
        } else if (*s->at == ' ') {
            put_blank(s);
        } else if (*s->at != '`' || !s->wraps) {
            put_letter(s, *s->at++);
        } else if (!put_reference(s)) {
            s->font = *s->font == 'B' ? "R" : "B";
            font(s, s->font);
            s->at++;
        }
    }
}

void troff_code(const struct troff *t, const char *text)
{
    struct scan s = {.to = t, .start = text, .at = text, .font = "B"};

    font(&s, "B");
    put_paragraph(&s);
    font(&s, "R");
    end_line(&s);
}

void troff_term(const struct troff *t, const char *name, const char *argument)
{
    const struct troff constant = {t->page, ""};
    struct scan s = {.to = &constant, .start = name, .at = name, .font = "B"};

    buffer_text(t->page, ".TP\n\\fB");
    put_paragraph(&s);
    s = (struct scan){.to = t, .start = argument, .at = argument, .font = "B", .column = s.column};
    put_paragraph(&s);
    font(&s, "R");
    end_line(&s);
}

void troff_text(const struct troff *t, const char *text, const char *next)
{
    struct scan s = {.to = t, .start = text, .at = text, .font = "R", .wraps = true};

    while (*s.at) {
        put_paragraph(&s);
        end_line(&s);
        s.at += strspn(s.at, "\n");
        if (*s.at)
            buffer_format(t->page, "%s\n", next);
    }
}

/* Does the text begin with a word of the tongue, not with a name or a term that it explains? */
static bool begins_with_a_word(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");

    return length > 0 && strchr(" ,;", text[length]);
}

void troff_sentence(const struct troff *t, const char *text, char end, const char *next)
{
    struct buffer b = BUFFER_INIT;

    buffer_text(&b, text);
    if (b.failed || !b.size) {
        t->page->failed |= b.failed;
        buffer_free(&b);
        return;
    }
    if (begins_with_a_word(text))
        b.data[0] = (char)toupper((unsigned char)text[0]);
    if (text[strlen(text) - 1] != end)
        buffer_char(&b, end);
    t->page->failed |= b.failed;
    troff_text(t, b.data, next);
    buffer_free(&b);
}

void troff_heading(const struct troff *t, const char *macro, const char *text)
{
    struct scan s = {.to = t, .start = text, .at = text, .font = "R"};

    bool capitals = strcmp(macro, ".SH") == 0;

    put(&s, macro);
    put(&s, " \"");
    for (; *s.at; s.at++)
        put_letter(&s, capitals ? (char)toupper((unsigned char)*s.at) : *s.at);
    put(&s, "\"");
    end_line(&s);
}
