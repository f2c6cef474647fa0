#include "browse/words.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Appends one word to *to. Returns: the text after it; NULL: a quote is open. */
static const char *take(const char *from, char **to)
{
    char quote = '\0';

    for (; *from && (quote || !blank(*from)); from++) {
        if (quote && *from == quote)
            quote = '\0';
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (*from == '\\' && quote != '\'' && from[1])
            *(*to)++ = *++from;
        else
            *(*to)++ = *from;
    }
    *(*to)++ = '\0';
    return quote ? NULL : from;
}

int words_split(const char *line, struct words *out)
{
    char *to = out->text;

    out->count = 0;
    if (strlen(line) >= sizeof(out->text) - 1)
        return -EINVAL;
    for (;;) {
        while (blank(*line))
            line++;
        out->word[out->count] = NULL;
        if (!*line)
            return 0;
        if (out->count == WORDS_MAX)
            return -EINVAL;
        out->word[out->count++] = to;
        line = take(line, &to);
        if (!line)
            return -EINVAL;
    }
}
