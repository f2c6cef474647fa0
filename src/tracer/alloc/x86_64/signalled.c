#include "alloc/site.h"

#include <string.h>

/* A signal's frame, by the kernel's ABI: in words from the handler's frame pointer on. */
enum { SIGNAL_RBP = 17, SIGNAL_RIP = 23 };

static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

/* push rbp; call; pop rbp; ret: it keeps its caller's frame pointer, so no frame below can look
 * like it. */
static bool is_wrapper(const uint8_t *ret)
{
    return ret[-6] == 0x55 && ret[-5] == 0xe8 && ret[0] == 0x5d && ret[1] == 0xc3;
}

/*
 * A division's signal is handled on the thread's own stack. A null reference's comes on another
 * one; the runtime goes on from a frame that it makes up on this one, right above a function that
 * was never called, and to whose only call the handler returns.
 */
bool site_signalled(const struct site_table *table, const uintptr_t *frame, const uintptr_t *before,
                    uintptr_t target, uintptr_t *ip)
{
    if ((uintptr_t)(frame + SIGNAL_RIP) < target && frame[SIGNAL_RBP] == frame[0] &&
        memcmp((const void *)frame[1], sigreturn, sizeof(sigreturn)) == 0) {
        *ip = frame[SIGNAL_RIP];
        return true;
    }
    *ip = frame[1];
    return before && before + 2 == frame && site_native(table, before[1]) &&
           is_wrapper((const uint8_t *)before[1]);
}
