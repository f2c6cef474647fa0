/* base/decimal.h - numbers as decimal digits, eight at a time: log lines are mostly digits. */
#ifndef SHADOWTRACE_BASE_DECIMAL_H
#define SHADOWTRACE_BASE_DECIMAL_H

#include <stdint.h>
#include <string.h>

#define DECIMAL_ROOM 20 /* bytes that decimal_put may write to, whatever the value */

/* The eight digits of a value below 10^8, 0 to 9 each: the first one in the lowest byte. */
static inline uint64_t decimal_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x7f0000007f);
    uint64_t pairs = hundreds + ((fours - hundreds * 100) << 16);
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);

    return tens + ((pairs - tens * 10) << 8);
}

/* Stores the last `count` of eight digits, and some bytes behind them. Returns where they end. */
static inline char *decimal_store(char *at, uint64_t digits, unsigned count)
{
    uint64_t text = (digits + UINT64_C(0x3030303030303030)) >> (64 - 8 * count);

    memcpy(at, &text, sizeof(text)); /* x86-64 and the like: the lowest byte comes first */
    return at + count;
}

/* As many digits as it has, of a value below 10^8. */
static inline char *decimal_put_short(char *at, uint32_t value)
{
    uint64_t digits = decimal_digits(value);

    return decimal_store(at, digits, 8 - (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8);
}

/* decimal_put - a value's digits; may write DECIMAL_ROOM bytes. Returns where the digits end. */
static inline char *decimal_put(char *at, uint64_t value)
{
    const uint64_t eight = 100000000;

    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    if (value < eight)
        return decimal_put_short(at, (uint32_t)value);
    if (value < eight * eight) {
        at = decimal_put_short(at, (uint32_t)(value / eight));
    } else {
        at = decimal_put_short(at, (uint32_t)(value / (eight * eight)));
        at = decimal_store(at, decimal_digits((uint32_t)(value / eight % eight)), 8);
    }
    return decimal_store(at, decimal_digits((uint32_t)(value % eight)), 8);
}

#endif
