#include "check/leaving.h"

#include <string.h>

#define LOAD_SIZE 10 /* mov rdi, imm64 */
#define CALL_NEAR 16 /* from the load's end to the call's: lea rsi, [rbp + 16] may lie between */

/* The end of a call within `size` bytes, or 0. */
static unsigned call_end(const uint8_t *code, unsigned size)
{
    for (unsigned i = 0; i + 2 <= size; i++) {
        if (code[i] == 0xff && code[i + 1] == 0x15 && i + 6 <= size)
            return i + 6; /* call [rip + disp32] */
        if (code[i] == 0xe8 && i + 5 <= size)
            return i + 5; /* call rel32 */
        if (code[i] == 0xff && (code[i + 1] & 0xf8) == 0xd0)
            return i + 2; /* call reg */
    }
    return 0;
}

bool leaving_code_behind_hook(const uint8_t *code, unsigned size, uintptr_t id)
{
    for (unsigned i = 0; i + LOAD_SIZE <= size; i++) {
        unsigned rest = size - i - LOAD_SIZE;

        if (code[i] == 0x48 && code[i + 1] == 0xbf && !memcmp(code + i + 2, &id, sizeof(id)) &&
            call_end(code + i + LOAD_SIZE, rest < CALL_NEAR ? rest : CALL_NEAR))
            return true;
    }
    return false;
}
