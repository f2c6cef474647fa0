/* symbols/link.c - Source Link: from a document's path to its address. */
#include "symbols/symbols.h"

#include "base/buffer.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* A pattern may end in '*'; only then may the address have one, too. */
static bool link_valid(const struct symbols_link *link, bool *prefix)
{
    const char *star = strchr(link->pattern, '*');
    const char *url_star = strchr(link->url, '*');

    *prefix = star != NULL;
    if (!*link->pattern || (star && star[1]))
        return false;
    return !url_star || (star && !strchr(url_star + 1, '*'));
}

/* As .NET's Uri.EscapeDataString, with either slash as "/". */
static void link_escape(struct buffer *b, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '/' || c == '\\') {
            buffer_char(b, '/');
        } else if ((c < 0x80 && isalnum(c)) || strchr("-_.~", c)) {
            buffer_char(b, (char)c);
        } else {
            buffer_char(b, '%');
            buffer_char(b, digits[c >> 4]);
            buffer_char(b, digits[c & 15]);
        }
    }
}

int symbols_link_url(const struct symbols_link *links, size_t count, const char *file, char **url)
{
    const struct symbols_link *best = NULL;
    size_t best_length = 0;
    bool best_prefix = false;
    struct buffer b = BUFFER_INIT;
    const char *star;

    for (size_t i = 0; i < count; i++) {
        bool prefix;
        size_t length;

        if (!link_valid(&links[i], &prefix))
            continue;
        length = strlen(links[i].pattern) - prefix;
        if (best && length <= best_length)
            continue;
        if ((prefix ? strncasecmp(file, links[i].pattern, length)
                    : strcasecmp(file, links[i].pattern)) != 0)
            continue;
        best = &links[i];
        best_length = length;
        best_prefix = prefix;
    }
    if (!best || strchr(file, '*'))
        return -ENOENT;
    star = best_prefix ? strchr(best->url, '*') : NULL;
    buffer_append(&b, best->url, star ? (size_t)(star - best->url) : strlen(best->url));
    if (best_prefix)
        link_escape(&b, file + best_length);
    if (star)
        buffer_text(&b, star + 1);
    *url = buffer_take(&b);
    return *url ? 0 : -ENOMEM;
}
