#include "base/utf8.h"

int utf8_step(const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char first = at[0];
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;  /* else overlong */
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf; /* else no letter */
    int length = 2 + (first >= 0xe0) + (first >= 0xf0);

    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return -1;
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= size || at[i] < low || at[i] > high)
            return -i;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

size_t utf8_length(const char *text)
{
    int length = *text ? utf8_step(text, SIZE_MAX) : 0;

    return length > 0 ? (size_t)length : 0;
}

const char *utf8_next(const char *text)
{
    size_t length = utf8_length(text);

    return text + (length ? length : 1);
}

bool utf8_valid(const char *text)
{
    for (size_t length; (length = utf8_length(text)) > 0;)
        text += length;
    return !*text;
}

size_t utf8_put(uint32_t letter, char *bytes)
{
    if (letter < 0x80) {
        bytes[0] = (char)letter;
        return 1;
    }
    if (letter < 0x800) {
        bytes[0] = (char)(0xC0 | letter >> 6);
        bytes[1] = (char)(0x80 | (letter & 0x3F));
        return 2;
    }
    if (letter < 0x10000) {
        bytes[0] = (char)(0xE0 | letter >> 12);
        bytes[1] = (char)(0x80 | (letter >> 6 & 0x3F));
        bytes[2] = (char)(0x80 | (letter & 0x3F));
        return 3;
    }
    bytes[0] = (char)(0xF0 | letter >> 18);
    bytes[1] = (char)(0x80 | (letter >> 12 & 0x3F));
    bytes[2] = (char)(0x80 | (letter >> 6 & 0x3F));
    bytes[3] = (char)(0x80 | (letter & 0x3F));
    return 4;
}
