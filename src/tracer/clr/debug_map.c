#include "clr/debug_map.h"

#include "base/load.h"
#include "base/memory.h"
#include "clr/nibbles.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define HEAD_MOST     12 /* bytes of two numbers */
#define ENTRY_NIBBLES 3  /* at least: native offset, IL offset, source */
#define SOURCE_PLAIN  7  /* a sequence point, an empty stack, a call site; others mean more */
#define SOURCE_BITS   2  /* of DEBUG_MAP_BITS: */
#define SOURCE_CALL   1  /* a call instruction: the runtime lists it apart */

/* Entries with the same native offset: prologs, then by IL, epilogs, what is not mapped. */
static bool goes_before(const struct clr_debug_il_to_native_map *a,
                        const struct clr_debug_il_to_native_map *b)
{
    return a->native_start_offset == b->native_start_offset && a->il_offset != b->il_offset &&
           (a->il_offset == PROLOG || (b->il_offset != PROLOG && a->il_offset < b->il_offset));
}

static void put_in_order(struct clr_debug_il_to_native_map *map, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k && goes_before(&map[k], &map[k - 1]); k--) {
            struct clr_debug_il_to_native_map swapped = map[k];

            map[k] = map[k - 1];
            map[k - 1] = swapped;
        }
}

enum debug_map_format debug_map_format(uint32_t version)
{
    switch (version) {
    case 9: /* .NET 8 */
    case 10:
        return DEBUG_MAP_NUMBERS;
    case 16:
        return DEBUG_MAP_BITS;
    default:
        return DEBUG_MAP_UNKNOWN;
    }
}

/* Entries that are read one after the other. */
struct entries {
    struct nibbles in;
    enum debug_map_format format;
    uint32_t count;
    uint32_t native_bits, il_bits; /* of DEBUG_MAP_BITS */
    const uint8_t *bits;
    size_t bytes;
    uint64_t next; /* bit */
};

/* The lowest bit of the lowest byte comes first. width: 32 at most. */
static uint32_t take_bits(struct entries *e, uint32_t width)
{
    size_t at = (size_t)(e->next / 8), left = e->bytes - at;
    uint64_t word = 0;

    if (left >= sizeof(word))
        word = load_u64(e->bits + at);
    else
        memcpy(&word, e->bits + at, left);
    word >>= e->next % 8;
    e->next += width;
    return (uint32_t)(word & ((UINT64_C(1) << width) - 1));
}

/* bytes: of all entries, with what stands before them. Returns: whether they fill these bytes. */
static bool entries_open(struct entries *e, const uint8_t *at, uint32_t bytes)
{
    size_t head;

    e->in = (struct nibbles){at, 0, 2 * (size_t)bytes, false};
    e->count = nibbles_number(&e->in);
    if (e->format == DEBUG_MAP_NUMBERS)
        return !e->in.bad && e->count && e->count <= e->in.count / ENTRY_NIBBLES;
    e->native_bits = nibbles_number(&e->in) + 1;
    e->il_bits = nibbles_number(&e->in) + 1;
    head = (e->in.next + 1) / 2;
    e->bits = at + head;
    e->bytes = bytes - head;
    e->next = 0;
    return !e->in.bad && e->count && e->native_bits <= 32 && e->il_bits <= 32 &&
           ((uint64_t)e->count * (SOURCE_BITS + e->native_bits + e->il_bits) + 7) / 8 ==
               bytes - head;
}

/* Returns: false: it is damaged, or means more than a place. */
static bool entries_take(struct entries *e, uint32_t *native, uint32_t *il)
{
    if (e->format == DEBUG_MAP_BITS) {
        bool call = take_bits(e, SOURCE_BITS) & SOURCE_CALL;

        *native = take_bits(e, e->native_bits);
        *il = take_bits(e, e->il_bits) + EPILOG; /* the lowest one */
        return !call;
    }
    *native = nibbles_number(&e->in);
    *il = nibbles_number(&e->in) + EPILOG;
    return nibbles_number(&e->in) <= SOURCE_PLAIN && !e->in.bad;
}

/* Of entries in a row with the same IL offset the first counts. *left: how many are left. */
static bool unpack(struct entries *from, uint32_t size, struct clr_debug_il_to_native_map *map,
                   uint32_t *left)
{
    uint32_t native = 0, n = 0;

    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t more, il;

        if (!entries_take(from, &more, &il) || more > size - native)
            return false;
        native += more;
        if (n && map[n - 1].il_offset == il)
            continue;
        if (n)
            map[n - 1].native_end_offset = native;
        map[n++] = (struct clr_debug_il_to_native_map){
            .il_offset = il, .native_start_offset = native, .native_end_offset = size};
    }
    *left = n;
    return from->format == DEBUG_MAP_BITS || from->in.count - from->in.next <= 1;
}

bool debug_map_read(enum debug_map_format format, const uint8_t *info, size_t left, uint32_t size,
                    struct clr_debug_il_to_native_map **map, uint32_t *count)
{
    struct nibbles in = {info, 0, 2 * (left < HEAD_MOST ? left : HEAD_MOST), false};
    struct entries entries = {.format = format};
    uint32_t bytes = nibbles_number(&in);
    size_t head;

    nibbles_number(&in); /* bytes of what is known of variables */
    head = (in.next + 1) / 2;
    if (in.bad || format == DEBUG_MAP_UNKNOWN || !bytes || bytes > left - head ||
        !entries_open(&entries, info + head, bytes))
        return false;
    *map = memory_alloc(entries.count * sizeof(**map));
    if (*map && unpack(&entries, size, *map, count)) {
        put_in_order(*map, *count);
        return true;
    }
    memory_free(*map);
    *map = NULL;
    return false;
}
