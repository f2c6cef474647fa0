#include "check/leaving.h"

#include "base/peek.h"
#include "stack/stack.h"

#define REACH 512 /* bytes: from a Tailcall hook to its jump lie the callee's arguments */

bool leaving_behind_hook(uintptr_t ip, uintptr_t client_id, uintptr_t function_id)
{
    uint8_t code[REACH];
    unsigned size = REACH;

    if (!peek(code, ip - size, size)) {
        size = ip % 4096 < REACH ? ip % 4096 : REACH; /* the page before may not be mapped */
        if (!peek(code, ip - size, size))
            return false;
    }
    /* A method that goes on after it waited hands both hooks its id with tags. */
    for (uintptr_t tags = 0; tags <= STACK_TAGS; tags++)
        if (leaving_code_behind_hook(code, size, client_id | tags))
            return true;
    return leaving_code_behind_hook(code, size, function_id);
}
