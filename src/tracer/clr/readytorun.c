#include "clr/readytorun.h"

#include "base/array.h"
#include "base/atomics.h"
#include "base/compressed.h"
#include "base/cpu.h"
#include "base/load.h"
#include "base/memory.h"
#include "clr/function.h"
#include "clr/pe.h"

#include <shadowtrace/clr/constants.h>

#include <stddef.h>
#include <string.h>

enum {
    SIGNATURE = 0x00525452, /* "RTR" */
    HEADER_VERSION = 4,
    HEADER_SECTIONS = 12, /* offset of the number of sections; they follow */
    SECTION_BYTES = 12,   /* type, address, size */
    IMPORTS = 101,
    FUNCTIONS = 102,
    METHOD_ENTRY_POINTS = 103,
    DEBUG_INFO = 105,
    INSTANCE_ENTRY_POINTS = 109,
    SECTIONS_MAX = 256,
    BLOCK = 16, /* elements of a native array in one of its trees */
    FUNCTION_BYTES = CPU_RUNTIME_FUNCTION_BYTES,
    IMPORT_BYTES = 20, /* address and size of the cells; bytes of one; where their signatures are */
    IMPORT_ENTRY = 11,
    IMPORT_SIGNATURES = 12,
    FIXUP_OTHER_MODULE = 0x80,
    SIGNATURE_MAX = 256, /* bytes of a cell's that are read */
};

/* Flags of a method's signature. */
enum {
    METHOD_ARGUMENTS = 0x04,
    METHOD_SLOT = 0x08,
    METHOD_MEMBER_REF = 0x10,
    METHOD_OWNER = 0x40,
    METHOD_OTHER_MODULE = 0x80,
    METHOD_ASYNC = 0x100,
};

struct bytes {
    const uint8_t *start;
    uint32_t size;
};

/* Where the signature of an instantiation of a method lies. */
struct place {
    uint32_t row, offset;
    uint32_t next; /* the index of the next on its list, plus 1; 0: none */
};
#define PLACE_LISTS 4096 /* by row */

struct readytorun {
    const uint8_t *image;
    bool flat;
    uint32_t version;
    struct bytes methods, instances, functions, imports, debug;
    /* Made when they are first asked for: most images are asked for debug info only. */
    bool places_known;
    struct place *place;
    uint32_t places, *first; /* of lists, as `next` */
    uint8_t *begins; /* a bit per function: is it a method? Else a handler of the one before */
};

/* The number in `size` bytes (1, 2 or 4) at an offset; 0 past the end. */
static uint32_t read_fixed(const struct bytes *b, uint64_t offset, unsigned size)
{
    uint32_t value = 0;

    if (offset + size > b->size)
        return 0;
    memcpy(&value, b->start + offset, size);
    return value;
}

/* Bytes that follow the first one of an encoded number: as many as it has low bits set. */
static bool read_encoded(const struct bytes *b, uint32_t *offset, uint32_t *out, unsigned *bits)
{
    unsigned more;
    uint64_t value = 0;

    if (*offset >= b->size)
        return false;
    more = (unsigned)__builtin_ctz(~(uint32_t)b->start[*offset]);
    if (more > 4 || *offset + more >= b->size)
        return false;
    memcpy(&value, b->start + *offset, 1 + more);
    *offset += 1 + more;
    *bits = more == 4 ? 32 : 7 * (more + 1);
    *out = (uint32_t)(more == 4 ? value >> 8 : value >> (more + 1));
    return true;
}

static bool read_unsigned(const struct bytes *b, uint32_t *offset, uint32_t *out)
{
    unsigned bits;

    return read_encoded(b, offset, out, &bits);
}

static bool read_signed(const struct bytes *b, uint32_t *offset, int32_t *out)
{
    uint32_t value;
    unsigned bits;

    if (!read_encoded(b, offset, &value, &bits))
        return false;
    *out = (int32_t)(value << (32 - bits)) >> (32 - bits);
    return true;
}

bool readytorun_number(struct readytorun_signature *from, uint32_t *out)
{
    size_t size = compressed_read(from->at, (size_t)(from->end - from->at), out);

    from->at += size;
    return size > 0;
}

/* The function that a method's entry names; fixups of the runtime may follow it. */
static bool entry_read(const struct bytes *b, uint32_t offset, uint32_t *code)
{
    uint32_t id;

    if (!read_unsigned(b, &offset, &id))
        return false;
    *code = id & 1 ? id >> 2 : id >> 1;
    return true;
}

/* A native array: a table of trees, one per 16 elements; only what exists has a leaf. */
static bool array_find(const struct bytes *b, uint32_t index, uint32_t *at)
{
    uint32_t base = 0, count, offset, value, next;
    unsigned width;

    if (!b->start || !read_unsigned(b, &base, &count) || index >= count >> 2)
        return false;
    width = (count & 3) == 0 ? 1 : (count & 3) == 1 ? 2 : 4;
    offset = base + read_fixed(b, base + (uint64_t)width * (index / BLOCK), width);
    for (unsigned bit = BLOCK >> 1; bit; bit >>= 1) {
        next = offset;
        if (!read_unsigned(b, &next, &value))
            return false;
        if (index & bit && value & 2)
            offset += value >> 2;
        else if (!(index & bit) && value & 1)
            offset = next;
        else if ((value & 3) == 0 && value >> 2 == index % BLOCK) { /* the only one left */
            offset = next;
            break;
        } else
            return false;
    }
    *at = offset;
    return true;
}

bool readytorun_method(const struct readytorun *r, uint32_t row, uint32_t *code)
{
    uint32_t at;

    return array_find(&r->methods, row - 1, &at) && entry_read(&r->methods, at, code);
}

uintptr_t readytorun_start(const struct readytorun *r, uint32_t code)
{
    if (r->flat || code >= r->functions.size / FUNCTION_BYTES)
        return 0;
    return (uintptr_t)r->image + load_u32(r->functions.start + (size_t)code * FUNCTION_BYTES);
}

/* The signature at an offset, up to its token. Returns: whether it is of this module's method. */
static bool instance_read(const struct readytorun *r, uint32_t offset,
                          struct readytorun_instance *out)
{
    const struct bytes *b = &r->instances;
    uint32_t flags;

    *out =
        (struct readytorun_instance){{b->start + offset, b->start + b->size}, false, false, false};
    if (offset >= b->size || !readytorun_number(&out->signature, &flags) ||
        flags & (METHOD_SLOT | METHOD_MEMBER_REF | METHOD_OTHER_MODULE))
        return false;
    out->has_owner = flags & METHOD_OWNER;
    out->has_arguments = flags & METHOD_ARGUMENTS;
    out->async = flags & METHOD_ASYNC;
    return true;
}

/* Passes over a type. */
static bool type_pass(struct readytorun_signature *from, unsigned depth)
{
    uint32_t number;

    if (from->at >= from->end || depth > 64)
        return false;
    switch (*from->at++) {
    case 0x0f: /* pointer */
    case 0x10: /* by-ref */
    case 0x1d: /* array */
        return type_pass(from, depth + 1);
    case 0x11: /* value type, class: a token */
    case 0x12:
    case 0x13: /* variables: a number */
    case 0x1e:
        return readytorun_number(from, &number);
    case 0x14: { /* array of several dimensions, with sizes and lower bounds */
        if (!type_pass(from, depth + 1) || !readytorun_number(from, &number))
            return false;
        for (int list = 0; list < 2; list++) {
            uint32_t count;

            if (!readytorun_number(from, &count))
                return false;
            while (count--)
                if (!readytorun_number(from, &number))
                    return false;
        }
        return true;
    }
    case 0x15: /* generic instance: the type, a number and as many arguments */
        if (!type_pass(from, depth + 1) || !readytorun_number(from, &number))
            return false;
        while (number--)
            if (!type_pass(from, depth + 1))
                return false;
        return true;
    default: /* the primitive types; System.__Canon */
        return true;
    }
}

/* What follows the flags of a method's signature. out->token: the row. */
static bool member_read(struct readytorun_signature *from, bool has_owner, bool has_arguments,
                        struct readytorun_member *out)
{
    uint32_t count = 0;

    out->owner.at = from->at;
    if (has_owner && !type_pass(from, 0))
        return false;
    out->owner.end = from->at;
    if (!readytorun_number(from, &out->token))
        return false;
    out->arguments.at = from->at;
    if (has_arguments && !readytorun_number(from, &count))
        return false;
    while (count--)
        if (!type_pass(from, 0))
            return false;
    out->arguments.end = from->at;
    return true;
}

static bool row_of(const struct readytorun *r, uint32_t offset, uint32_t *row)
{
    struct readytorun_instance instance;

    return instance_read(r, offset, &instance) &&
           (!instance.has_owner || type_pass(&instance.signature, 0)) &&
           readytorun_number(&instance.signature, row);
}

static bool place_add(struct readytorun *r, size_t *room, struct place place)
{
    if (!array_reserve(&r->place, room, r->places + 1u))
        return false;
    r->place[r->places++] = place;
    return true;
}

/* A hash table, all of whose entries are taken: a byte of hash, and the offset of a signature. */
static bool places_read(struct readytorun *r)
{
    const struct bytes *b = &r->instances;
    uint32_t header = read_fixed(b, 0, 1), buckets, width = header & 3;
    size_t room = 0;

    if (!b->start || width > 2 || header >> 2 > 24)
        return true; /* none */
    width = 1u << width;
    buckets = 1u << (header >> 2);
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t at = 1 + read_fixed(b, 1 + (uint64_t)width * i, width);
        uint32_t end = 1 + read_fixed(b, 1 + (uint64_t)width * (i + 1), width);
        struct place place = {0};
        int32_t delta;

        while (at < end && end <= b->size) {
            uint32_t from = ++at;

            if (!read_signed(b, &at, &delta))
                break;
            place.offset = from + (uint32_t)delta;
            if (row_of(r, place.offset, &place.row) && !place_add(r, &room, place))
                return false;
        }
    }
    return true;
}

/* Lists have the order in which they were read. */
static bool places_list(struct readytorun *r)
{
    r->first = memory_zalloc(PLACE_LISTS, sizeof(*r->first));
    for (uint32_t i = r->places; r->first && i-- > 0;) {
        uint32_t *first = &r->first[r->place[i].row % PLACE_LISTS];

        r->place[i].next = *first;
        *first = i + 1;
    }
    return r->first;
}

/* Returns: false: no memory. */
static bool places_find(struct readytorun *r)
{
    if (!r->places_known) {
        r->places = 0;
        memory_free(r->place);
        r->place = NULL;
        r->places_known = places_read(r) && places_list(r);
    }
    return r->places_known;
}

static struct bytes *section_of(struct readytorun *r, uint32_t type)
{
    switch (type) {
    case IMPORTS:
        return &r->imports;
    case FUNCTIONS:
        return &r->functions;
    case METHOD_ENTRY_POINTS:
        return &r->methods;
    case DEBUG_INFO:
        return &r->debug;
    case INSTANCE_ENTRY_POINTS:
        return &r->instances;
    default:
        return NULL;
    }
}

static void begins_add(struct readytorun *r, uint32_t code)
{
    if (code < r->functions.size / FUNCTION_BYTES)
        r->begins[code / 8] |= (uint8_t)(1u << code % 8);
}

static bool code_of(const struct readytorun *r, struct readytorun_instance *instance,
                    uint32_t *code);

/* Where methods begin: what is between two of them are handlers. Returns: false: no memory. */
static bool begins_find(struct readytorun *r)
{
    uint32_t base = 0, count = 0, code;

    if (r->begins || !places_find(r))
        return r->begins;
    r->begins = memory_zalloc(r->functions.size / FUNCTION_BYTES / 8 + 1, 1);
    if (!r->begins)
        return false;
    if (!r->methods.start || !read_unsigned(&r->methods, &base, &count))
        count = 0;
    for (uint32_t row = 1; row <= count >> 2; row++)
        if (readytorun_method(r, row, &code))
            begins_add(r, code);
    for (uint32_t i = 0; i < r->places; i++) {
        struct readytorun_instance instance;

        if (instance_read(r, r->place[i].offset, &instance) && code_of(r, &instance, &code))
            begins_add(r, code);
    }
    return true;
}

struct readytorun *readytorun_new(const uint8_t *image, bool flat)
{
    struct readytorun *r;
    uint32_t size = 0, count;
    const uint8_t *header = clr_pe_native(image, flat, &size);

    if (!header || size < HEADER_SECTIONS + 4 || load_u32(header) != SIGNATURE)
        return NULL;
    count = load_u32(header + HEADER_SECTIONS);
    if (count > SECTIONS_MAX || size < HEADER_SECTIONS + 4 + count * SECTION_BYTES ||
        !(r = memory_zalloc(1, sizeof(*r))))
        return NULL;
    r->image = image;
    r->flat = flat;
    r->version = load_u16(header + HEADER_VERSION);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *section = header + HEADER_SECTIONS + 4 + (size_t)i * SECTION_BYTES;
        const uint8_t *start = clr_pe_place(image, flat, load_u32(section + 4));
        struct bytes *known = section_of(r, load_u32(section));

        if (known && start)
            *known = (struct bytes){start, load_u32(section + 8)};
    }
    if (!r->functions.start) {
        readytorun_free(r);
        return NULL;
    }
    return r;
}

/* The function that begins at an address; they lie in order. */
static bool function_find(const struct readytorun *r, uint32_t address, uint32_t *function)
{
    uint32_t low = 0, high = r->functions.size / FUNCTION_BYTES;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t begin = load_u32(r->functions.start + (size_t)middle * FUNCTION_BYTES);

        if (begin == address) {
            *function = middle;
            return true;
        }
        if (begin < address)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

uint32_t readytorun_version(const struct readytorun *r)
{
    return r->version;
}

bool readytorun_holds(const struct readytorun *r, uintptr_t address)
{
    return !r->flat && address - (uintptr_t)r->image < clr_pe_size(r->image);
}

const uint8_t *readytorun_at(const struct readytorun *r, uint32_t address, size_t *left)
{
    if (!readytorun_holds(r, (uintptr_t)r->image + address))
        return NULL;
    *left = clr_pe_size(r->image) - address;
    return r->image + address;
}

const uint8_t *readytorun_debug(const struct readytorun *r, uintptr_t code, size_t *left)
{
    const struct bytes *b = &r->debug;
    uint32_t function, at, back, next;

    if (r->flat || code - (uintptr_t)r->image > UINT32_MAX ||
        !function_find(r, (uint32_t)(code - (uintptr_t)r->image), &function) ||
        !array_find(b, function, &at))
        return NULL;
    next = at;
    if (!read_unsigned(b, &next, &back) || back > at)
        return NULL;
    at = back ? at - back : next; /* functions may share one */
    *left = b->size - at;
    return b->start + at;
}

void readytorun_free(struct readytorun *r)
{
    if (r) {
        memory_free_all(r->place, r->first, r->begins);
    }
    memory_free(r);
}

/* The entry behind a signature that is not read yet. */
static bool code_of(const struct readytorun *r, struct readytorun_instance *instance,
                    uint32_t *code)
{
    struct readytorun_signature *from = &instance->signature;
    struct readytorun_member member;

    return member_read(from, instance->has_owner, instance->has_arguments, &member) &&
           entry_read(&r->instances, (uint32_t)(from->at - r->instances.start), code);
}

bool readytorun_instance(struct readytorun *r, uint32_t row,
                         bool (*match)(void *context, struct readytorun_instance *instance),
                         void *context, uint32_t *code)
{
    struct readytorun_instance instance;
    const struct place *place;

    for (uint32_t i = places_find(r) ? r->first[row % PLACE_LISTS] : 0; i; i = place->next) {
        place = &r->place[i - 1];
        if (place->row == row && instance_read(r, place->offset, &instance) &&
            match(context, &instance))
            return entry_read(&r->instances, (uint32_t)(instance.signature.at - r->instances.start),
                              code);
    }
    return false;
}

/* The signature of the cell at an address relative to the image. Returns: false: no cell. */
static bool cell_at(const struct readytorun *r, uint32_t address, uint8_t *fixup,
                    struct readytorun_signature *out)
{
    for (uint32_t at = 0; at + IMPORT_BYTES <= r->imports.size; at += IMPORT_BYTES) {
        const uint8_t *import = r->imports.start + at, *list, *signature;
        uint32_t offset = address - load_u32(import), width = import[IMPORT_ENTRY];

        if (offset >= load_u32(import + 4) || !width || offset % width ||
            !load_u32(import + IMPORT_SIGNATURES))
            continue;
        list = clr_pe_place(r->image, r->flat, load_u32(import + IMPORT_SIGNATURES));
        signature =
            list ? clr_pe_place(r->image, r->flat, load_u32(list + (size_t)offset / width * 4))
                 : NULL;
        if (!signature)
            return false;
        *fixup = *signature;
        *out = (struct readytorun_signature){signature + 1, signature + SIGNATURE_MAX};
        return true;
    }
    return false;
}

bool readytorun_cells(struct readytorun *r, uint32_t code,
                      bool (*match)(void *context, enum readytorun_fixup fixup,
                                    struct readytorun_signature type),
                      void *context)
{
    uint32_t functions = r->functions.size / FUNCTION_BYTES;

    if (!begins_find(r))
        return true;
    for (uint32_t i = code; i < functions && (i == code || !(r->begins[i / 8] >> i % 8 & 1)); i++) {
        const uint8_t *function = r->functions.start + (size_t)i * FUNCTION_BYTES;
        uint32_t begin = load_u32(function), end = clr_function_end(function, r->image, r->flat);
        const uint8_t *text = clr_pe_place(r->image, r->flat, begin);

        for (uint32_t at = begin; text && at < end; at++) {
            struct readytorun_signature cell;
            uint32_t address;
            uint8_t fixup;

            if (!clr_function_refers(text, end - begin, begin, at - begin, &address) ||
                !cell_at(r, address, &fixup, &cell))
                continue;
            if (fixup & FIXUP_OTHER_MODULE)
                cell.end = cell.at; /* a type of another module's terms is like no other */
            if (match(context, (enum readytorun_fixup)(fixup & ~FIXUP_OTHER_MODULE), cell))
                return true;
        }
    }
    return false;
}

bool readytorun_cell(const struct readytorun *r, uintptr_t address, enum readytorun_fixup *fixup,
                     struct readytorun_signature *out)
{
    uint8_t byte;

    if (!readytorun_holds(r, address) ||
        !cell_at(r, (uint32_t)(address - (uintptr_t)r->image), &byte, out) ||
        byte & FIXUP_OTHER_MODULE)
        return false;
    *fixup = (enum readytorun_fixup)byte;
    return true;
}

bool readytorun_member(enum readytorun_fixup fixup, struct readytorun_signature from,
                       struct readytorun_member *out)
{
    bool reference = fixup == READYTORUN_METHOD_REF || fixup == READYTORUN_VIRTUAL_REF;
    bool by_token = reference || fixup == READYTORUN_METHOD_DEF || fixup == READYTORUN_VIRTUAL_DEF;
    uint32_t flags = reference ? METHOD_MEMBER_REF : 0;

    if ((!by_token && !readytorun_number(&from, &flags)) ||
        flags & (METHOD_SLOT | METHOD_OTHER_MODULE) ||
        !member_read(&from, flags & METHOD_OWNER, flags & METHOD_ARGUMENTS, out) ||
        out->token > 0x00ffffff)
        return false;
    out->token |= flags & METHOD_MEMBER_REF ? mdtMemberRef : mdtMethodDef;
    return true;
}
