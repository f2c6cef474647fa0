#include "walk/unwind_info.h"

#include "base/load.h"

#include <stddef.h>

enum { VERSION = 1, CHAINED = 4, RBP = 5 };

enum { /* of two bytes each: offset in the prolog, then code : 4 and info : 4 */
       PUSH = 0,
       ALLOC_LARGE = 1,
       ALLOC_SMALL = 2,
       SET_FRAME = 3,
       SAVE = 4,
       SAVE_FAR = 5,
       SET_FRAME_LARGE = 11, /* .NET's own: its distance is in the next four bytes */
       HEADER = 4
};

/* Reads one code. Returns: how many slots it takes; 0: not known. */
static unsigned code_read(const uint8_t *code, struct code_frame_info *out, uint32_t *rbp_above)
{
    unsigned info = code[1] >> 4;

    switch (code[1] & 15) {
    case PUSH: /* codes go from the prolog's end to its start */
        out->pushed += 8;
        if (info == RBP)
            *rbp_above = out->pushed;
        return 1;
    case ALLOC_LARGE:
        out->bytes += info ? load_u32(code + 2) : load_u16(code + 2) * 8u;
        return info ? 3 : 2;
    case ALLOC_SMALL:
        out->bytes += info * 8 + 8;
        return 1;
    case SET_FRAME:
        return 1;
    case SAVE:
        return 2;
    case SAVE_FAR:
        return 3;
    case SET_FRAME_LARGE:
        out->frame = load_u32(code + 2) * 16;
        return 3;
    default:
        return 0;
    }
}

bool unwind_info_read(const uint8_t *info, const uint8_t *end, struct code_frame_info *out)
{
    uint32_t rbp = 0;
    unsigned count, slots;

    *out = (struct code_frame_info){0};
    if (end - info < HEADER || (info[0] & 7) != VERSION || (info[0] >> 3 & CHAINED))
        return false;
    count = info[2];
    if ((size_t)(end - info) < HEADER + 2 * count + 4) /* a code may be read with 4 bytes behind */
        return false;
    out->framed = (info[3] & 15) == RBP;
    out->frame = (info[3] >> 4) * 16u;
    for (unsigned at = 0; at < count; at += slots) {
        slots = code_read(info + HEADER + 2 * at, out, &rbp);
        if (!slots)
            return false;
    }
    out->bytes += out->pushed;
    out->saved = rbp ? out->pushed - rbp + 8 : 0;
    return true;
}

const struct unwind_function *unwind_info_find(const struct unwind_function *functions,
                                               uint32_t count, uint32_t address)
{
    uint32_t low = 0, high = count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (functions[middle].begin <= address)
            low = middle;
        else
            high = middle;
    }
    return count && address >= functions[low].begin && address < functions[low].end
               ? &functions[low]
               : NULL;
}
