#include "check/leaving.h"

#include <string.h>

#define CALL_NEAR 8 /* instructions from the id's last part to the call: x11 is loaded, too */

/* Of an instruction that loads 16 bits of a constant into x10: how far they are shifted. */
static unsigned shift_of(uint32_t word)
{
    return 16 * (word >> 21 & 3u);
}

/* The client id is in x10: movz x10, then movk x10; then bl or blr. */
bool leaving_code_behind_hook(const uint8_t *code, unsigned size, uintptr_t id)
{
    unsigned near = 0;
    uintptr_t value = 0;

    for (unsigned i = 0; i + 4 <= size; i += 4) {
        uintptr_t part;
        uint32_t word;

        memcpy(&word, code + i, sizeof(word));
        part = (uintptr_t)(word >> 5 & 0xFFFFu) << shift_of(word);
        if ((word & 0xFF80001F) == 0xD280000A) {
            value = part;
            near = value == id ? CALL_NEAR : 0;
        } else if ((word & 0xFF80001F) == 0xF280000A) {
            value = (value & ~((uintptr_t)0xFFFF << shift_of(word))) | part;
            near = value == id ? CALL_NEAR : 0;
        } else if (near &&
                   ((word & 0xFC000000) == 0x94000000 || (word & 0xFFFFFC1F) == 0xD63F0000)) {
            return true;
        } else if (near) {
            near--;
        }
    }
    return false;
}
