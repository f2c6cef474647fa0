#include "options/options_fields.h"

#include "base/atomics.h"
#include "base/clean.h"

#include <string.h>

static const char *next_character(const char *text)
{
    size_t length = utf8_length(text);

    return text +
           (length ? length : 1); /* a name of ours is UTF-8; any other is taken byte by byte */
}

/* Only the last star is ever tried again: what an earlier one took can stay as short as it is. */
static bool match_one(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (*pattern == '?') {
            pattern++;
            name = next_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            retry = next_character(retry);
            name = retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

bool options_match(const struct options_patterns *patterns, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < patterns->count; i++) {
        if (!match_one(patterns->pattern[i], name))
            continue;
        any = true;
        if (patterns->met)
            store_relaxed(&patterns->met[i], true);
    }
    return any;
}

#define NEAR_LENGTH 40 /* longer names are never near */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters changed, added, left out, or swapped with their neighbour. Three rows of the usual table. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NEAR_LENGTH + 1];
    size_t *older = rows[0], *old = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        old[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *free_row = older;

        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(old[j - 1] + (a[i - 1] != b[j - 1]), least(old[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], older[j - 2] + 1);
        }
        older = old;
        old = now;
        now = free_row;
    }
    return old[b_length];
}

const char *options_near(const char *name, const char *const *names)
{
    size_t length = strnlen(name, NEAR_LENGTH + 1);
    size_t best_distance = SIZE_MAX;
    const char *best = NULL;

    if (length > NEAR_LENGTH)
        return NULL;
    for (; *names; names++) {
        size_t other = strnlen(*names, NEAR_LENGTH + 1);
        size_t d;

        if (other > NEAR_LENGTH)
            continue;
        d = distance(name, length, *names, other);
        /* A word begun and not finished is near, too: "comp" for "compress". */
        if (length >= 3 && other > length && !memcmp(name, *names, length))
            d = 1;
        if (d < best_distance && d <= (other > 3 ? 1 + other / 4 : 1)) {
            best_distance = d;
            best = *names;
        }
    }
    return best;
}
