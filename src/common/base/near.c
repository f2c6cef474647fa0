#include "base/near.h"

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LENGTH_MAX 40 /* longer names are never near */
#define BEGUN_MIN  3  /* letters that may stand for a longer word */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/*
 * Edits that turn one into the other, in either case (Damerau-Levenshtein); three rows of its table
 * are kept.
 */
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
            now[j] = least(old[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])),
                           least(old[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = least(now[j], older[j - 2] + 1);
        }
        older = old;
        old = now;
        now = free_row;
    }
    return old[b_length];
}

/* How far a name is from what was meant: smaller is nearer. */
struct nearness {
    size_t rank, edits;
};

/*
 * A word begun and not finished is near, too, however much it lacks: "comp" for "compress". What
 * lacks one letter is nearest, then one edit of any kind, then a word begun, then two edits.
 * Returns: false: it is not near.
 */
static bool near_is(const char *name, size_t length, const char *other, struct nearness *out)
{
    size_t size = strnlen(other, LENGTH_MAX + 1);
    bool begun = length >= BEGUN_MIN && size > length && strncasecmp(name, other, length) == 0;

    if (size > LENGTH_MAX)
        return false;
    out->edits = distance(name, length, other, size);
    out->rank = !begun ? 2 * out->edits : out->edits == 1 ? 1 : 3;
    return begun || !out->edits ||
           (out->edits < size && out->edits <= (size > 3 ? 1 + size / 4 : 1));
}

const char *near_find(const char *name, const char *const *names)
{
    size_t length = strnlen(name, LENGTH_MAX + 1);
    struct nearness best = {SIZE_MAX, SIZE_MAX}, one;
    const char *found = NULL;

    if (length > LENGTH_MAX)
        return NULL;
    for (; *names; names++) {
        if (!near_is(name, length, *names, &one) || one.rank > best.rank ||
            (one.rank == best.rank && one.edits >= best.edits))
            continue;
        best = one;
        found = *names;
    }
    return found;
}
