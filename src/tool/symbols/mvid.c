#include "symbols/mvid.h"

#include <string.h>

bool symbols_mvid_parse(const char *text, uint8_t out[SYMBOLS_MVID_SIZE])
{
    static const uint8_t order[SYMBOLS_MVID_SIZE] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                     8, 9, 10, 11, 12, 13, 14, 15};
    size_t digits = 0;

    memset(out, 0, SYMBOLS_MVID_SIZE);
    for (; text && *text; text++) {
        const char *hex = "0123456789abcdef", *digit = strchr(hex, *text);

        if (*text == '-')
            continue;
        if (!digit || digits == 2 * SYMBOLS_MVID_SIZE)
            return false;
        out[order[digits / 2]] = (uint8_t)(out[order[digits / 2]] << 4 | (uint8_t)(digit - hex));
        digits++;
    }
    return digits == 2 * SYMBOLS_MVID_SIZE;
}
