#include "symbols/text.h"

#include <string.h>

/*
 * The length of the well-formed character at the start of text (at least one byte), or minus the
 * bytes of the longest beginning of one that is there: Unicode 15, table 3-7 and "substitution of
 * maximal subparts".
 */
static int text_character(struct symbols_span text)
{
    uint8_t first = text.data[0];
    uint8_t low = 0x80; /* what the second byte may be */
    uint8_t high = 0xBF;
    int length;

    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return -1;
    if (first < 0xE0)
        length = 2;
    else if (first < 0xF0)
        length = 3;
    else
        length = 4;
    if (first == 0xE0)
        low = 0xA0; /* else overlong */
    if (first == 0xED)
        high = 0x9F; /* else a surrogate */
    if (first == 0xF0)
        low = 0x90;
    if (first == 0xF4)
        high = 0x8F; /* else above U+10FFFF */
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= text.size || text.data[i] < low || text.data[i] > high)
            return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

void symbols_text_append(struct buffer *b, struct symbols_span text)
{
    while (text.size) {
        int length = text_character(text);
        size_t used = (size_t)(length < 0 ? -length : length);

        if (length < 0 || text.data[0] == 0)
            buffer_text(b, "\xEF\xBF\xBD");
        else
            buffer_append(b, text.data, used);
        text.data += used;
        text.size -= used;
    }
}

void symbols_text_line(char *out, size_t size, const char *in)
{
    struct symbols_span text = {(const uint8_t *)in, strlen(in)};
    size_t at = 0;

    while (text.size) {
        int length = text_character(text);
        size_t used = (size_t)(length < 0 ? -length : length);
        /* C0, DEL and C1: what a terminal would obey */
        bool control = text.data[0] < 0x20 || text.data[0] == 0x7F ||
                       (length == 2 && text.data[0] == 0xC2 && text.data[1] < 0xA0);
        size_t needed = length < 0 || control ? 1 : used;

        if (at + needed >= size)
            break;
        if (length < 0 || control)
            out[at] = '?';
        else
            memcpy(out + at, text.data, used);
        at += needed;
        text.data += used;
        text.size -= used;
    }
    if (size)
        out[at] = '\0';
}
