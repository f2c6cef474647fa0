#include "base/glob.h"

#include "base/utf8.h"

#include <stddef.h>

/* Only the last star is ever tried again: what an earlier one took can stay as short as it is. */
bool glob_match(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (*pattern == '?') {
            pattern++;
            name = utf8_next(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            retry = utf8_next(retry);
            name = retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
