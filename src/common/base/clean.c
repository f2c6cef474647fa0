#include "base/clean.h"

#include "base/utf8.h"

#include <string.h>

/* Of two or three bytes, valid; no unsafe letter has more. */
static uint32_t number_of(const unsigned char *at, size_t length)
{
    return length == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
                       : (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
}

static bool is_safe(uint32_t c)
{
    return c >= 0xa0 && c != 0x61c && c != 0x200e && c != 0x200f && (c < 0x2028 || c > 0x202e) &&
           (c < 0x2066 || c > 0x2069);
}

size_t clean_letter(const char *text, bool *safe)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length;

    if (*at < 0x80) {
        *safe = *at >= 0x20 && *at != 0x7f;
        return 1;
    }
    length = utf8_length(text);
    *safe = length == 4 || (length && is_safe(number_of(at, length)));
    return length ? length : 1;
}

uint32_t clean_number(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = utf8_length(text);

    if (*at < 0x80)
        return *at;
    return length == 2 || length == 3 ? number_of(at, length) : 0xfffd;
}

void clean_in_place(char *text)
{
    char *to = text;
    bool safe;

    while (*text) {
        size_t length = clean_letter(text, &safe);

        if (safe)
            memmove(to, text, length);
        else
            *to = CLEAN_MARK;
        to += safe ? length : 1;
        text += length;
    }
    *to = '\0';
}
