#include "base/near.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LENGTH_MAX 40 /* longer names are never near */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that turn one into the other (Damerau-Levenshtein); three rows of its table are kept. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LENGTH_MAX + 1];
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

const char *near_find(const char *name, const char *const *names)
{
    size_t length = strnlen(name, LENGTH_MAX + 1);
    size_t best_distance = SIZE_MAX;
    const char *best = NULL;

    if (length > LENGTH_MAX)
        return NULL;
    for (; *names; names++) {
        size_t other = strnlen(*names, LENGTH_MAX + 1);
        size_t d;

        if (other > LENGTH_MAX)
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
