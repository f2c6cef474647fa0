#include "command/xml.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Characters that XML 1.0 allows; others, and invalid UTF-8, become U+FFFD. */
static bool in_xml(const char *at, size_t length)
{
    unsigned char first = (unsigned char)*at;

    if (length == 3 && memcmp(at, "\xef\xbf", 2) == 0 && (unsigned char)at[2] >= 0xbe)
        return false; /* U+FFFE, U+FFFF */
    return length && (first >= 0x20 || first == '\t');
}

void xml_text(struct buffer *b, const char *text)
{
    while (*text) {
        size_t length = utf8_length(text);

        if (*text == '<')
            buffer_text(b, "&lt;");
        else if (*text == '>')
            buffer_text(b, "&gt;");
        else if (*text == '&')
            buffer_text(b, "&amp;");
        else if (*text == '"')
            buffer_text(b, "&quot;");
        else if (in_xml(text, length))
            buffer_append(b, text, length);
        else
            buffer_text(b, "\xef\xbf\xbd");
        text = utf8_next(text);
    }
}
