#include "clr/function.h"

#include "base/load.h"
#include "clr/pe.h"

#define NEAR 8 /* instructions from an adrp to the use of its register */

/*
 * The length is in the unwind data: its first word, in instructions, or packed into the address.
 * Source: Microsoft, "ARM64 exception handling", .pdata and .xdata records.
 */
uint32_t clr_function_end(const uint8_t *function, const uint8_t *image, bool flat)
{
    uint32_t begin = load_u32(function), unwind = load_u32(function + 4);
    const uint8_t *data = unwind & 3 ? NULL : clr_pe_place(image, flat, unwind);

    if (unwind & 3)
        return begin + 4 * (unwind >> 2 & 0x7FF);
    return data ? begin + 4 * (load_u32(data) & 0x3FFFF) : begin;
}

/* adrp of a page, and an add or a load of the rest of the address. */
bool clr_function_refers(const uint8_t *text, uint32_t size, uint32_t address, uint32_t at,
                         uint32_t *to)
{
    uint32_t word, page;

    if (at % 4 || at + 4 > size)
        return false;
    word = load_u32(text + at);
    if ((word & 0x9F000000) != 0x90000000)
        return false;
    page = ((address + at) & ~UINT32_C(0xFFF)) + ((word >> 5 << 2 | (word >> 29 & 3)) << 12);
    for (uint32_t i = at + 4; i + 4 <= size && i <= at + 4 * NEAR; i += 4) {
        uint32_t use = load_u32(text + i), rest = use >> 10 & 0xFFF;

        if ((use >> 5 & 31) != (word & 31))
            continue;
        if ((use & 0xFFC00000) == 0xF9400000) /* ldr */
            *to = page + 8 * rest;
        else if ((use & 0xFFC00000) == 0x91000000) /* add */
            *to = page + rest;
        else
            continue;
        return true;
    }
    return false;
}
