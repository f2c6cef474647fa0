/*
 * code/aarch64/cpu_prolog.c - prologs of code that the JIT makes. All of it has a frame pointer,
 * which points to its frame record.
 */
#include "code/cpu_code.h"

#include <string.h>

#define WORDS 16 /* of a prolog */

bool cpu_prolog(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    *out = (struct cpu_prolog){.framed = false};
    for (size_t at = 0; at + 4 <= size && at < 4 * WORDS; at += 4) {
        uint32_t word;

        memcpy(&word, code + at, sizeof(word));
        if ((word & 0x7FC07FFF) == 0x29807BFD || (word & 0x7FC07FFF) == 0x29007BFD)
            out->framed = true; /* stp x29, x30, [sp, #...] */
        if (out->framed && (word & 0xFFC003FF) == 0x910003FD) {
            out->size = (uint32_t)at + 4; /* add x29, sp, #... */
            return true;
        }
    }
    return false;
}

bool cpu_prolog_simple(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    return cpu_prolog(code, size, out);
}

/* A body entered by on-stack replacement begins like any other; no walk needs more. */
bool cpu_prolog_osr(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    (void)code, (void)size;
    *out = (struct cpu_prolog){.framed = false};
    return false;
}

uint32_t cpu_osr_distance(const uint8_t *code, size_t size)
{
    (void)code, (void)size;
    return 0;
}

bool cpu_is_osr(const uint8_t *code, size_t size)
{
    (void)code, (void)size;
    return false;
}
