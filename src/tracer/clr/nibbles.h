/*
 * clr/nibbles.h - numbers as the runtime packs them into debug info. Source: dotnet/runtime (8.0 to
 * 10.0) src/coreclr/inc/nibblestream.h.
 */
#ifndef SHADOWTRACE_CLR_NIBBLES_H
#define SHADOWTRACE_CLR_NIBBLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NIBBLES_NUMBER_MOST 11 /* of one number */

/* Half bytes, the low one of each byte first. */
struct nibbles {
    const uint8_t *at;
    size_t next, count;
    bool bad; /* read past the end, or a number that does not end */
};

static inline uint32_t nibbles_one(struct nibbles *in)
{
    uint8_t byte;

    if (in->next >= in->count) {
        in->bad = true;
        return 0;
    }
    byte = in->at[in->next / 2];
    return in->next++ % 2 ? byte >> 4 : byte & 15;
}

/* Three bits a nibble, the highest first; the fourth: more follow. */
static inline uint32_t nibbles_number(struct nibbles *in)
{
    uint32_t value = 0, part = 8;

    for (unsigned i = 0; part & 8; i++) {
        if (i == NIBBLES_NUMBER_MOST) {
            in->bad = true;
            return 0;
        }
        part = nibbles_one(in);
        value = value << 3 | (part & 7);
    }
    return value;
}

#endif
