#include "clr/error.h"

#include "base/atomics.h"

#include <shadowtrace/clr/constants.h>

static const struct {
    hresult hr;
    const char *name;
} names[] = {
#define NAMED(name, number) {name, #name},
    CLR_RESULTS(NAMED)
#undef NAMED
};

/* By hand: printf does not promise what the contract says of hooks. */
static const char *error_number(uint32_t value, char *buf, size_t size)
{
    char text[CLR_ERROR_TEXT_SIZE] = "0x";
    size_t i;

    for (i = 0; i < 8; i++)
        text[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 0xf];
    text[10] = '\0';
    for (i = 0; i + 1 < size && text[i]; i++)
        buf[i] = text[i];
    buf[i] = '\0';
    return buf;
}

const char *clr_error_text(hresult hr, char *buf, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].hr == hr)
            return names[i].name;
    return size ? error_number((uint32_t)hr, buf, size) : "";
}
