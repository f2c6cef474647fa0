#include "symbols/text.h"

#include "base/utf8.h"

#include <string.h>

void symbols_text_append(struct buffer *b, struct symbols_span text)
{
    while (text.size) {
        int length = utf8_step((const char *)text.data, text.size);
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
        int length = utf8_step((const char *)text.data, text.size);
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
