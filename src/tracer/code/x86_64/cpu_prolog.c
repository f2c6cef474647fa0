/* code/cpu_prolog.c - prologs of code that the JIT makes, and of precompiled code. */
#include "code/cpu_code.h"

#include <string.h>

#define OSR_REACH 100 /* bytes of a replacing method's code that its prolog takes at most */

struct cursor {
    const uint8_t *at, *end;
};

static size_t left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static bool takes(struct cursor *c, const char *bytes, size_t size)
{
    if (left(c) < size || memcmp(c->at, bytes, size) != 0)
        return false;
    c->at += size;
    return true;
}
#define TAKES(c, bytes) takes((c), (bytes), sizeof(bytes) - 1)

/* A distance of 1 byte or 4, sign-extended. */
static bool take_number(struct cursor *c, size_t size, int32_t *out)
{
    if (left(c) < size)
        return false;
    if (size == 1)
        *out = (int8_t)*c->at;
    else
        memcpy(out, c->at, sizeof(*out));
    c->at += size;
    return true;
}

/* Registers pushed, 8 bytes each; rax only makes room. *rbp: bytes pushed when rbp was; 0: never */
static uint32_t take_pushes(struct cursor *c, uint32_t *rbp)
{
    uint32_t bytes = 0;

    for (*rbp = 0; c->at < c->end;) {
        size_t rex = *c->at == 0x41;

        if (left(c) <= rex || (c->at[rex] & 0xF8) != 0x50)
            break;
        bytes += 8;
        if (*c->at == 0x55 && !*rbp)
            *rbp = bytes;
        c->at += rex + 1;
    }
    return bytes;
}

/* sub rsp, bytes; false if it is cut off, or raises the stack pointer. */
static bool take_lowering(struct cursor *c, uint32_t *bytes)
{
    int32_t number = 0;

    if (TAKES(c, "\x48\x83\xEC")) {
        if (!take_number(c, 1, &number))
            return false;
    } else if (TAKES(c, "\x48\x81\xEC") && !take_number(c, 4, &number)) {
        return false;
    }
    *bytes = (uint32_t)number;
    return number >= 0;
}

/* lea r11, [rsp-bytes]: the new stack pointer, for a helper that touches the pages down to it. */
static bool take_limit(struct cursor *c, int32_t *limit)
{
    if (TAKES(c, "\x4C\x8D\x9C\x24"))
        return take_number(c, 4, limit);
    return TAKES(c, "\x4C\x8D\x5C\x24") && take_number(c, 1, limit);
}

/* Pages are touched before the stack pointer is lowered by more than one. *bytes: by the helper. */
static bool take_probes(struct cursor *c, bool *probes, uint32_t *bytes)
{
    int32_t limit = 0, ignored;

    *bytes = 0;
    for (;; *probes = true) {
        if (TAKES(c, "\x85\x84\x24")) { /* test [rsp-bytes], eax */
            if (!take_number(c, 4, &ignored))
                return false;
        } else if (TAKES(c, "\x85\x44\x24")) {
            if (!take_number(c, 1, &ignored))
                return false;
        } else if (!take_limit(c, &limit)) {
            break;
        }
    }
    if (!limit)
        return true;
    if (limit > 0 || !(TAKES(c, "\xE8") || TAKES(c, "\xFF\x15")) || !take_number(c, 4, &ignored) ||
        !TAKES(c, "\x49\x8B\xE3")) /* mov rsp, r11 */
        return false;
    *bytes = (uint32_t)-limit;
    return true;
}

/* mov rbp, rsp or lea rbp, [rsp+distance]. Returns: is it there, whole? */
static bool take_frame(struct cursor *c, int32_t *distance)
{
    *distance = 0;
    if (TAKES(c, "\x48\x8B\xEC"))
        return true;
    if (TAKES(c, "\x48\x8D\x6C\x24"))
        return take_number(c, 1, distance);
    return TAKES(c, "\x48\x8D\xAC\x24") && take_number(c, 4, distance);
}

bool cpu_prolog(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    struct cursor c = {code, code + size};
    uint32_t rbp, lowered, probed, total;
    int32_t distance;

    *out = (struct cpu_prolog){.pushed = take_pushes(&c, &rbp)};
    if (!take_probes(&c, &out->probes, &probed) || !take_lowering(&c, &lowered))
        return false;
    (void)TAKES(&c, "\xC5\xF8\x77"); /* vzeroupper */
    total = out->pushed + lowered + probed;
    out->bytes = total;
    out->size = (uint32_t)(c.at - code);
    if (rbp && take_frame(&c, &distance)) {
        out->framed = true;
        out->bytes = total - 8;
        out->size = (uint32_t)(c.at - code);
        return rbp == 8 && (int64_t)distance == (int64_t)out->bytes;
    }
    out->saved = rbp;
    out->leaf = total % 16 != 8; /* calls are made at multiples of 16 */
    return true;
}

bool cpu_prolog_simple(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    return cpu_prolog(code, size, out) && !out->probes && !out->saved && !out->leaf;
}

/*
 * mov rax, [rbp]; push rax: the replaced method's saved rbp becomes this one's. Up to .NET 10 it is
 * entered with the return address of the patchpoint's call on the stack; .NET 11 jumps to it, and
 * push rax makes room for that word first.
 */
static const char osr_start[] = "\x50\x48\x8B\x45\x00\x50";

/* Bytes of that; 0: it does not begin so. */
static size_t osr_start_size(const uint8_t *code, size_t size)
{
    for (size_t skipped = 0; skipped < 2; skipped++) {
        size_t bytes = sizeof(osr_start) - 1 - skipped;

        if (size > bytes && memcmp(code, osr_start + skipped, bytes) == 0)
            return bytes;
    }
    return 0;
}

bool cpu_is_osr(const uint8_t *code, size_t size)
{
    return osr_start_size(code, size) > 0;
}

bool cpu_prolog_osr(const uint8_t *code, size_t size, struct cpu_prolog *out)
{
    struct cursor c = {code, code + (size < OSR_REACH ? size : OSR_REACH)};
    uint32_t rbp, lowered;
    int32_t distance;

    if (!cpu_is_osr(code, size))
        return false;
    c.at += osr_start_size(code, size);
    *out = (struct cpu_prolog){.framed = true, .pushed = 8 + take_pushes(&c, &rbp)};
    if (!take_lowering(&c, &lowered))
        return false;
    out->bytes = out->pushed - 8 + lowered;
    while (c.at < c.end && !take_frame(&c, &distance)) /* registers are stored before that */
        c.at++;
    out->size = (uint32_t)(c.at - code);
    return c.at < c.end && (int64_t)distance == (int64_t)out->bytes;
}

uint32_t cpu_osr_distance(const uint8_t *code, size_t size)
{
    struct cursor c = {code, code + (size < OSR_REACH ? size : OSR_REACH)};
    int32_t best = -16, at, ignored;

    while (left(&c) > 4) {
        uint8_t form = (uint8_t)(c.at[2] & 0xC7);
        bool stores = (c.at[0] == 0x48 || c.at[0] == 0x4C) && c.at[1] == 0x89 && c.at[3] == 0x24 &&
                      (form == 0x84 || form == 0x44); /* mov [rsp+at], register */

        if (!stores) {
            if (take_frame(&c, &ignored))
                break;
            c.at++;
            continue;
        }
        c.at += 4;
        if (take_number(&c, form == 0x84 ? 4 : 1, &at) && at > best)
            best = at;
    }
    return (uint32_t)(best + 16);
}
