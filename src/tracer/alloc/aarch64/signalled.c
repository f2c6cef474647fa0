#include "alloc/site.h"

#include <string.h>

/*
 * stp fp, lr; mov fp, sp; bl; ldp fp, lr; add sp; ret: the function from which the runtime goes on
 * after a signal. Source: dotnet/runtime src/coreclr/pal/src/arch/arm64/callsignalhandlerwrapper.S.
 */
static bool is_wrapper(const uint8_t *ret)
{
    uint32_t word[4];

    memcpy(word, ret - 4, sizeof(word));
    return (word[0] & 0xFC000000) == 0x94000000 && word[1] == 0xA9407BFD &&
           (word[2] & 0xFFC003FF) == 0x910003FF && word[3] == 0xD65F03C0;
}

/*
 * The runtime goes on from a frame that it makes up on this stack, and to whose only call the
 * handler returns. Its frame record leads to where the signal came. A division by zero raises no
 * signal on this CPU: compiled code checks for it.
 */
bool site_signalled(const struct site_table *table, const uintptr_t *frame, const uintptr_t *before,
                    uintptr_t target, uintptr_t *ip)
{
    (void)target;
    *ip = frame[1];
    return before && before[0] == (uintptr_t)frame && site_native(table, before[1]) &&
           is_wrapper((const uint8_t *)before[1]);
}
