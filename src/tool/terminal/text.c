#include "terminal/text.h"

#include "base/buffer.h"
#include "base/clean.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *text_count(struct text_number *to, uint64_t value)
{
    char *at = to->text + sizeof(to->text);
    unsigned digits = 0;

    *--at = '\0';
    do {
        if (digits++ % 3 == 0 && digits > 1)
            *--at = ',';
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memmove(to->text, at, (size_t)(to->text + sizeof(to->text) - at));
    return to->text;
}

const char *text_change(struct text_number *to, uint64_t before, uint64_t after)
{
    const char *sign = after > before ? "+" : "-";
    struct text_number n;

    text_count(&n, after > before ? after - before : before - after);
    snprintf(to->text, sizeof(to->text), "%s%.*s", after == before ? "" : sign,
             (int)sizeof(to->text) - 2, n.text);
    return to->text;
}

const char *text_share(struct text_number *to, double share)
{
    if (share > 0 && share < 0.0005)
        return "<0.1%";
    snprintf(to->text, sizeof(to->text), "%.1f%%", share * 100);
    return to->text;
}

/* In the largest of `units`, each 1,000 of the one before, that does not print as below 1. */
static const char *in_units(struct text_number *to, double value, const char *const *units)
{
    for (; value >= 999.95 && units[1]; units++)
        value /= 1000;
    snprintf(to->text, sizeof(to->text), "%.1f%s", value, *units);
    return to->text;
}

const char *text_short(struct text_number *to, double value)
{
    static const char *const units[] = {"k", "M", "G", "T", "P", NULL};

    if (value >= 1000)
        return in_units(to, value / 1000, units);
    snprintf(to->text, sizeof(to->text), "%.0f", value);
    return to->text;
}

const char *text_bytes(struct text_number *to, uint64_t bytes)
{
    static const char *const units[] = {" KB", " MB", " GB", " TB", " PB", " EB", NULL};

    if (bytes >= 1000)
        return in_units(to, (double)bytes / 1000, units);
    snprintf(to->text, sizeof(to->text), "%u byte%s", (unsigned)bytes, text_plural(bytes));
    return to->text;
}

const char *text_ns(struct text_number *to, double ns)
{
    static const char *const units[] = {" us", " ms", " s", NULL};

    if (ns < 1000)
        snprintf(to->text, sizeof(to->text), ns < 9.95 ? "%.1f ns" : "%.0f ns", ns);
    else
        in_units(to, ns / 1000, units);
    return to->text;
}

/* Letters that take no column, or two, from first to last (Unicode 15, in whole blocks). */
static const struct {
    uint32_t first, last;
    size_t columns;
} widths[] = {
    {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x64b, 0x65f, 0},
    {0x1100, 0x115f, 2},   {0x200b, 0x200d, 0},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},
    {0x3041, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},   {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},
    {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},
    {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
    {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static size_t columns_of(uint32_t letter)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]) && widths[i].first <= letter; i++)
        if (letter <= widths[i].last)
            return widths[i].columns;
    return 1;
}

size_t text_letter(const char *text, bool *safe, size_t *columns)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = clean_letter(text, safe);

    *columns = 1;
    if (*safe && length == 4)
        *columns = columns_of((at[0] & 7u) << 18 | (at[1] & 0x3fu) << 12 | (at[2] & 0x3fu) << 6 |
                              (at[3] & 0x3fu));
    else if (*safe && length > 1)
        *columns = columns_of(clean_number(text));
    return length;
}

size_t text_columns(const char *text)
{
    size_t columns = 0, letter;
    bool safe;

    for (; *text; columns += letter)
        text += text_letter(text, &safe, &letter);
    return columns;
}

/* As many letters as fit `columns`; *used are those they take. Returns: what is left. */
static const char *print_letters(FILE *out, const char *text, size_t columns, size_t *used)
{
    const char *run = text;
    size_t letter;
    bool safe;

    for (*used = 0; *text; *used += letter) {
        size_t length = text_letter(text, &safe, &letter);

        if (*used + letter > columns)
            break;
        if (!safe) {
            fwrite(run, 1, (size_t)(text - run), out);
            putc(CLEAN_MARK, out);
            run = text + length;
        }
        text += length;
    }
    fwrite(run, 1, (size_t)(text - run), out);
    return text;
}

void text_print(FILE *out, const char *text)
{
    size_t used;

    print_letters(out, text, SIZE_MAX, &used);
}

void text_part(FILE *out, const char *before, const char *text, const char *after)
{
    if (!text)
        return;
    fputs(before, out);
    text_print(out, text);
    fputs(after, out);
}

const char *text_clean(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
    clean_in_place(to);
    return to;
}

size_t text_elide(FILE *out, const char *text, size_t width)
{
    size_t columns = text_columns(text), head, tail, letter;
    bool safe;

    if (columns <= width) {
        print_letters(out, text, width, &head);
        return columns;
    }
    if (width == 0)
        return 0;
    text = print_letters(out, text, (width - 1) - (width - 1) / 2, &head);
    fputs("\xE2\x80\xA6", out); /* the ellipsis */
    for (columns -= head; columns > width - 1 - head; columns -= letter)
        text += text_letter(text, &safe, &letter);
    print_letters(out, text, SIZE_MAX, &tail);
    return head + 1 + tail;
}

const char *const text_links_words[] = {"auto", "always", "never", NULL};

bool text_links_wanted(enum text_links when, FILE *out)
{
    const char *term = getenv("TERM");
    int fd = fileno(out);

    if (when != TEXT_LINKS_AUTO)
        return when == TEXT_LINKS_ALWAYS;
    return term && *term && strcmp(term, "dumb") != 0 && fd >= 0 && isatty(fd);
}

void text_bar(struct buffer *b, double share, size_t width)
{
    size_t eighths = share > 0 ? (size_t)((share < 1 ? share : 1) * (double)width * 8 + 0.5) : 0;
    char last[] = "\xE2\x96\x88"; /* the full block; the narrower ones follow it */

    eighths = share > 0 && !eighths ? 1 : eighths;
    for (size_t i = 0; i < width; i++, eighths -= eighths < 8 ? eighths : 8) {
        last[2] = (char)(eighths < 8 ? 0x90 - (int)eighths : 0x88);
        buffer_text(b, eighths ? last : " ");
    }
}
