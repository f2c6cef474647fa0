#include "terminal/letter.h"

#include "base/clean.h"

#include <locale.h>
#include <wchar.h>

/* The C library's table needs a locale of UTF-8; without any each letter is one column. */
static unsigned columns_of(uint32_t number)
{
    static locale_t unicode, none = (locale_t)0;
    static bool asked;
    locale_t before;
    int columns;

    if (!asked)
        unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", none);
    asked = true;
    if (unicode == none)
        return 1;
    before = uselocale(unicode);
    columns = wcwidth((wchar_t)number);
    uselocale(before);
    return columns < 0 ? 1 : (unsigned)columns;
}

static uint32_t decode(const char *text, size_t bytes)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t number = (unsigned char)*text & mask[bytes];

    for (size_t i = 1; i < bytes; i++)
        number = number << 6 | ((unsigned char)text[i] & 0x3fu);
    return number;
}

struct letter letter_at(const char *text)
{
    struct letter l = {.columns = 1};

    l.bytes = clean_letter(text, &l.safe);
    if (l.safe && l.bytes > 1)
        l.columns = columns_of(decode(text, l.bytes));
    return l;
}

size_t letter_columns(const char *text)
{
    size_t columns = 0;

    while (*text) {
        struct letter l = letter_at(text);

        columns += l.columns;
        text += l.bytes;
    }
    return columns;
}

size_t letter_encode(char *to, uint32_t number)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int bytes = 1 + (number >= 0x80) + (number >= 0x800) + (number >= 0x10000);

    for (int i = bytes - 1; i > 0; i--, number >>= 6)
        to[i] = (char)(0x80 | (number & 0x3f));
    *to = (char)(first[bytes] | number);
    return (size_t)bytes;
}
