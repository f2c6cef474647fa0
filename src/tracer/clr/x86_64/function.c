#include "clr/function.h"

#include "base/load.h"

uint32_t clr_function_end(const uint8_t *function, const uint8_t *image, bool flat)
{
    (void)image, (void)flat;
    return load_u32(function + 4);
}

/* Any four bytes that are counted from behind them. */
bool clr_function_refers(const uint8_t *text, uint32_t size, uint32_t address, uint32_t at,
                         uint32_t *to)
{
    if (size < 4 || at > size - 4)
        return false;
    *to = address + at + 4 + load_u32(text + at);
    return true;
}
