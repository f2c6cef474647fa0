/*
 * From a frame of code without hooks to the method that called it.
 *
 * A frame pointer leads to the return address. Small pieces of code keep none: their prolog says
 * what they push and how far they lower the stack pointer, for good; other code has a frame
 * pointer. What is found must lie in the code of the method asked for, behind a call.
 */
#include "code/internal.h"
#include "code/x86.h"

#define FRAMES 64 /* of such code between two methods, at the most */
#define BODIES 8  /* of one piece of it that are looked at */

/* The code that holds ip, and its size before ip. Code without hooks has one body, or few. */
static const uint8_t *code_before(struct metadata *metadata, uintptr_t ip, size_t *size)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit = 0, start[BODIES];
    uint32_t bodies = 0, count;

    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) < 0 ||
        info->vtbl->get_native_code_start_addresses(info, function, rejit, BODIES, &bodies, start) <
            0)
        return NULL;
    for (uint32_t i = 0; i < bodies && i < BODIES; i++) {
        struct clr_code_info range = {0, 0};

        if (info->vtbl->get_code_info4(info, start[i], 1, &count, &range) >= 0 &&
            ip - range.start_address < range.size) {
            *size = ip - range.start_address;
            return (const uint8_t *)range.start_address;
        }
    }
    return NULL;
}

/* The call that returns to `ip`, which lies in the code of `method`. */
static bool is_call_in(struct metadata *metadata, const struct metadata_method *method,
                       uintptr_t ip)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit;

    return info->vtbl->get_function_from_ip3(info, (const uint8_t *)(ip - 1), &function, &rejit) >=
               0 &&
           function == method->function_id && x86_returns((const uint8_t *)ip);
}

static bool step(struct metadata *metadata, struct code_place *at, uintptr_t limit)
{
    struct x86_prolog prolog;
    const uint8_t *code;
    size_t size;
    uintptr_t slot;

    code = code_before(metadata, at->ip - 1, &size);
    if (!code || !x86_prolog(code, size, &prolog))
        return false;
    slot = prolog.framed ? at->fp + sizeof(slot) : at->sp + prolog.bytes;
    if (slot < at->sp || slot >= limit || slot % sizeof(slot))
        return false;
    if (prolog.framed)
        at->fp = ((const uintptr_t *)slot)[-1];
    at->ip = *(const uintptr_t *)slot;
    at->sp = slot + sizeof(slot);
    return true;
}

uintptr_t code_caller(struct metadata *metadata, const struct metadata_method *method,
                      const struct code_place *from, uintptr_t limit)
{
    struct code_place at = *from;

    if (metadata->config.info_version < 9)
        return 0;
    for (unsigned i = 0; i < FRAMES && step(metadata, &at, limit); i++) {
        if (is_call_in(metadata, method, at.ip))
            return at.ip;
    }
    return 0;
}
