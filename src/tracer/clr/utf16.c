#include "clr/utf16.h"

#include "base/memory.h"
#include "base/utf8.h"

#define REPLACEMENT 0xFFFDu

/* The character at in[*at], advancing *at past it. */
static uint32_t text_next(const clr_wchar *in, size_t length, size_t *at)
{
    uint32_t unit = in[(*at)++];

    if (unit < 0xD800 || unit > 0xDFFF)
        return unit ? unit : REPLACEMENT;
    if (unit <= 0xDBFF && *at < length && in[*at] >= 0xDC00 && in[*at] <= 0xDFFF)
        return 0x10000 + ((unit - 0xD800) << 10) + (in[(*at)++] - 0xDC00u);
    return REPLACEMENT; /* half a pair; the other unit, if any, is judged by itself */
}

size_t clr_utf16_to_utf8(char *out, size_t size, const clr_wchar *in, size_t length)
{
    size_t at = 0, written, needed;

    for (; at < length && at + 1 < size && in[at] - 1u < 0x7F; at++) /* most of them are ASCII */
        out[at] = (char)in[at];
    written = needed = at;
    while (at < length) {
        char bytes[4];
        size_t n = utf8_put(text_next(in, length, &at), bytes);

        if (written == needed &&
            needed + n < size) { /* after the first that does not fit, none is written */
            for (size_t i = 0; i < n; i++)
                out[written + i] = bytes[i];
            written += n;
        }
        needed += n;
    }
    if (size)
        out[written] = '\0';
    return needed;
}

char *clr_utf16_copy(const clr_wchar *text, size_t max)
{
    size_t units = clr_utf16_length(text, max);
    char *out = memory_alloc(CLR_UTF8_SIZE(units));

    if (out)
        clr_utf16_to_utf8(out, CLR_UTF8_SIZE(units), text, units);
    return out;
}

bool clr_utf16_same(const clr_wchar *text, const clr_wchar *other)
{
    while (*text && *text == *other)
        text++, other++;
    return *text == *other;
}

size_t clr_utf16_length(const clr_wchar *text, size_t max)
{
    size_t n = 0;

    while (n < max && text[n])
        n++;
    return n;
}
