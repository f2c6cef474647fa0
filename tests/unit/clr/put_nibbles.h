/* unit/clr/put_nibbles.h - numbers packed as the runtime packs them (clr/nibbles.h). */
#ifndef SHADOWTRACE_UNIT_CLR_PUT_NIBBLES_H
#define SHADOWTRACE_UNIT_CLR_PUT_NIBBLES_H

#include <stddef.h>
#include <stdint.h>

/* half: nibbles written so far. */
static inline void put_nibble_at(uint8_t *to, size_t *half, uint32_t value)
{
    uint8_t *at = &to[*half / 2];

    *at = *half % 2 ? (uint8_t)(*at | value << 4) : (uint8_t)value;
    ++*half;
}

static inline void put_number_at(uint8_t *to, size_t *half, uint32_t value)
{
    unsigned shift = 0;

    while (shift < 30 && value >> (shift + 3))
        shift += 3;
    for (; shift; shift -= 3)
        put_nibble_at(to, half, (value >> shift & 7) | 8);
    put_nibble_at(to, half, value & 7);
}

#endif
