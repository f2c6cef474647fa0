#include "base/clean.h"

#include <string.h>

size_t utf8_length(const char *text)
{
    static const unsigned char low[] = {[0xe0] = 0xa0, [0xf0] = 0x90},
                               high[] = {[0xed] = 0x9f, [0xf4] = 0x8f};
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80                     ? at[0] != '\0'
                    : at[0] >= 0xc2 && at[0] < 0xe0  ? 2
                    : (at[0] & 0xf0) == 0xe0         ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;

    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        if (i == 1 && ((at[0] < sizeof(low) && low[at[0]] && at[1] < low[at[0]]) ||
                       (at[0] < sizeof(high) && high[at[0]] && at[1] > high[at[0]])))
            return 0;
    }
    return length;
}

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

    return *at < 0x80 ? *at : length == 2 || length == 3 ? number_of(at, length) : 0xfffd;
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

void clean_append(struct buffer *b, const char *text)
{
    const char *run = text;
    bool safe;

    while (*text) {
        size_t length = clean_letter(text, &safe);

        if (!safe) {
            buffer_append(b, run, (size_t)(text - run));
            buffer_char(b, CLEAN_MARK);
            run = text + length;
        }
        text += length;
    }
    buffer_append(b, run, (size_t)(text - run));
}
