#include "rich/stored.h"

#include "base/hash.h"
#include "base/load.h"
#include "base/memory.h"
#include "base/peek.h"
#include "clr/nibbles.h"

#include <string.h>

#define PAGE_BITS       12 /* of the smallest: pages may be larger */
#define PAGE            (UINT64_C(1) << PAGE_BITS)
#define ADDRESS_BITS    57
#define FLAG_PATCHPOINT 1
#define FLAG_RICH       2
#define PROLOG          ((uint32_t)-2) /* what the first IL offsets are relative to */
#define PACKED_MOST     (4u << 20)     /* bytes */
#define NODE_NIBBLES    19             /* at least: a method has 16, each number has one */
#define MAP_NIBBLES     4
#define NODE_SIZE       20 /* of the payload */
#define MAP_SIZE        13

/* The header of code: of MethodDesc and DebugInfo, .NET 11's data descriptor says so. */
struct code_header {
    uint64_t debug_info, eh_info, gc_info, method;
};

/* The lowest bit is the sign. */
static uint32_t read_delta(struct nibbles *in)
{
    uint32_t value = nibbles_number(in);

    return value & 1 ? 0u - (value >> 1) : value >> 1;
}

static uint64_t read_method(struct nibbles *in)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 16; i++)
        value |= (uint64_t)nibbles_one(in) << (4 * i);
    return value;
}

static uint8_t *put(uint8_t *to, const void *value, size_t size)
{
    memcpy(to, value, size);
    return to + size;
}

/* Of nodes the IL offset, the first child and the next sibling; each is relative to the last. */
static uint8_t *expand_nodes(struct nibbles *in, uint32_t count, uint8_t *to)
{
    uint32_t of[3] = {PROLOG, 0, 0};

    for (uint32_t i = 0; i < count; i++) {
        uint64_t method = read_method(in);

        for (unsigned k = 0; k < 3; k++)
            of[k] += read_delta(in);
        to = put(to, &method, sizeof(method));
        to = put(to, of, sizeof(of));
    }
    return to;
}

/* The payload has the IL offset first, then node and native offset. */
static void expand_maps(struct nibbles *in, uint32_t count, uint8_t *to)
{
    uint32_t native = 0, node = 0, il = PROLOG;

    for (uint32_t i = 0; i < count; i++) {
        uint8_t source;

        native += nibbles_number(in);
        node += read_delta(in);
        il += read_delta(in);
        source = (uint8_t)nibbles_number(in);
        to = put(to, &il, sizeof(il));
        to = put(to, &node, sizeof(node));
        to = put(to, &native, sizeof(native));
        to = put(to, &source, sizeof(source));
    }
}

uint8_t *rich_stored_expand(const uint8_t *packed, size_t packed_size, uintptr_t function,
                            size_t *size, bool *damaged)
{
    struct nibbles in = {packed, 0, 2 * packed_size, false};
    uint32_t head[2]; /* nodes, maps */
    uint64_t root = 0;
    uint8_t *out = NULL;

    *damaged = true;
    head[0] = nibbles_number(&in);
    head[1] = nibbles_number(&in);
    if (in.bad || !head[0] ||
        (uint64_t)head[0] * NODE_NIBBLES + (uint64_t)head[1] * MAP_NIBBLES > in.count)
        return NULL;
    *size = sizeof(head) + (size_t)head[0] * NODE_SIZE + (size_t)head[1] * MAP_SIZE;
    out = memory_alloc(*size);
    if (!out) {
        *damaged = false;
        return NULL;
    }
    expand_maps(&in, head[1], expand_nodes(&in, head[0], put(out, head, sizeof(head))));
    memcpy(&root, out + sizeof(head), sizeof(root));
    *damaged = in.bad || in.count - in.next > 1 || root != function;
    if (*damaged) {
        memory_free(out);
        out = NULL;
    }
    return out;
}

/* What the runtime keeps: flags, the size of the rest, and the rest. */
#define INFO_HEAD 5
#define INFO_READ 576 /* read at once: it mostly follows the header, and is smaller */

/* read: bytes at `from`, as many as are `there`. */
static enum rich_stored read_packed(uintptr_t from, const uint8_t *read, size_t there,
                                    uintptr_t function, uint8_t **out, size_t *size)
{
    uint32_t packed_size = load_u32(read + 1);
    bool damaged = !packed_size || packed_size > PACKED_MOST, whole;
    uint8_t *packed = NULL;

    if (damaged)
        return RICH_STORED_DAMAGED;
    whole = packed_size <= there - INFO_HEAD;
    if (!whole && !(packed = memory_alloc(packed_size)))
        return RICH_STORED_NO_MEMORY;
    if (!whole && !peek(packed, from + INFO_HEAD, packed_size))
        damaged = true;
    else
        *out = rich_stored_expand(whole ? read + INFO_HEAD : packed, packed_size, function, size,
                                  &damaged);
    memory_free(packed);
    return *out ? RICH_STORED : damaged ? RICH_STORED_DAMAGED : RICH_STORED_NO_MEMORY;
}

/* The place of an address's page among those that stay. */
static _Atomic(uintptr_t) *page_at(struct rich_pages *stay, uintptr_t at)
{
    return &stay->page[hash_word(at >> PAGE_BITS) >> (64 - RICH_PAGES_BITS)];
}

static bool is_known(struct rich_pages *stay, uintptr_t at)
{
    return stay && at >> PAGE_BITS && load_relaxed(page_at(stay, at)) == at >> PAGE_BITS;
}

/* What the runtime keeps of code that stays is there as long as the code. */
static void know(struct rich_pages *stay, uintptr_t at)
{
    if (stay)
        store_relaxed(page_at(stay, at), at >> PAGE_BITS);
}

/* As peek_some(). Of a page that stays, its part of them is read as it is. */
static size_t read_some(struct rich_pages *stay, void *to, uintptr_t from, size_t size)
{
    size_t left = PAGE - from % PAGE;

    if (!is_known(stay, from))
        return peek_some(to, from, size);
    size = size < left ? size : left;
    memcpy(to, (const void *)from, size); /* NOLINT: an address */
    return size;
}

/* The word before code. If that stays, the page that it begins in can be read as it is. */
static bool word_before(uintptr_t start, bool stays, uintptr_t *out)
{
    if (!stays || start % PAGE < sizeof(*out))
        return peek(out, start - sizeof(*out), sizeof(*out));
    memcpy(out, (const void *)(start - sizeof(*out)), sizeof(*out)); /* NOLINT: an address */
    return true;
}

/* What lies before precompiled code is code: hardly ever an aligned address of this process. */
static bool may_be_header(uintptr_t at)
{
    return at && at % sizeof(at) == 0 && at >> ADDRESS_BITS == 0;
}

enum rich_stored rich_stored_read(uintptr_t start, struct rich_pages *stay, uintptr_t function,
                                  uint8_t **out, size_t *size)
{
    uint8_t read[INFO_READ], *info = read, flags;
    struct code_header header;
    uintptr_t at = 0;
    size_t there, distance;

    *out = NULL;
    if (!word_before(start, stay, &at) || !may_be_header(at))
        return RICH_STORED_NONE;
    there = read_some(stay, read, at, sizeof(read));
    if (there < sizeof(header))
        there = peek_some(read, at, sizeof(read));
    memcpy(&header, read, sizeof(header));
    if (there < sizeof(header) || header.method != function || !header.debug_info)
        return RICH_STORED_NONE;
    distance = (size_t)(header.debug_info - at);
    if (distance < there && there - distance >= INFO_HEAD) {
        info = read + distance;
        there -= distance;
    } else {
        there = read_some(stay, read, (uintptr_t)header.debug_info, sizeof(read));
    }
    flags = there ? info[0] : 0xff;
    if ((flags & ~(FLAG_PATCHPOINT | FLAG_RICH)) != 0)
        return RICH_STORED_DAMAGED;
    know(stay, at);
    know(stay, (uintptr_t)header.debug_info);
    if (flags & FLAG_PATCHPOINT)
        return RICH_STORED_TIER0;
    if (!flags)
        return RICH_STORED_NONE;
    if (there < INFO_HEAD)
        there = peek_some(info, (uintptr_t)header.debug_info, sizeof(read));
    if (there < INFO_HEAD)
        return RICH_STORED_DAMAGED;
    return read_packed((uintptr_t)header.debug_info, info, there, function, out, size);
}
