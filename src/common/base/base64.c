#include "base/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_group(const uint8_t *bytes, size_t count, char letters[4])
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < count ? bytes[i] : 0u);
    for (unsigned i = 0; i < 4; i++)
        letters[i] = i <= count ? alphabet[bits >> (18 - 6 * i) & 63] : '=';
}

void base64_put(struct buffer *b, const uint8_t *bytes, size_t size)
{
    char *to = buffer_reserve(b, (size + 2) / 3 * 4);

    if (!to)
        return;
    for (size_t at = 0; at < size; at += 3, to += 4)
        base64_group(bytes + at, size - at < 3 ? size - at : 3, to);
    b->size += (size + 2) / 3 * 4;
}

static int value_of(char letter)
{
    const char *at = letter ? strchr(alphabet, letter) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

bool base64_read(const char *letters, size_t size, uint8_t *out, size_t *out_size)
{
    size_t filled = 0;

    while (filled < 2 && filled < size && letters[size - 1 - filled] == '=')
        filled++;
    *out_size = 0;
    if (size % 4)
        return false;
    for (size_t at = 0; at < size; at += 4) {
        size_t bytes = 3 - (at + 4 == size ? filled : 0);
        uint32_t bits = 0;

        for (size_t i = 0; i < 4; i++) {
            int value = i <= bytes ? value_of(letters[at + i]) : 0;

            if (value < 0)
                return false;
            bits = bits << 6 | (uint32_t)value;
        }
        for (size_t i = 0; i < bytes; i++)
            out[(*out_size)++] = (uint8_t)(bits >> (16 - 8 * i));
    }
    return true;
}
