#include "walk/cfi.h"

#include "base/load.h"

#include <string.h>

enum { RBP = 6, RSP = 7, RETURN = 16, REGISTERS = 17 };
enum { STATES = 8 }; /* remembered at once */

/* Pointer encodings. */
enum {
    ABSOLUTE = 0x00,
    ULEB = 0x01,
    UDATA2 = 0x02,
    UDATA4 = 0x03,
    UDATA8 = 0x04,
    SLEB = 0x09,
    SDATA2 = 0x0A,
    SDATA4 = 0x0B,
    SDATA8 = 0x0C,
    FORM = 0x0F,
    PC_RELATIVE = 0x10,
    DATA_RELATIVE = 0x30,
    INDIRECT = 0x80,
    TABLE_SORTED = DATA_RELATIVE | SDATA4
};

/* What is read, and whether it went on beyond its end or had what is not known. */
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static const uint8_t *take(struct reader *r, uint64_t size)
{
    static const uint8_t nothing[8];
    const uint8_t *at = r->at;

    if (r->bad || (uint64_t)(r->end - at) < size) {
        r->bad = true;
        return nothing;
    }
    r->at += size;
    return at;
}

static void skip(struct reader *r, uint64_t size)
{
    (void)take(r, size);
}

static uint8_t take_u8(struct reader *r)
{
    return *take(r, 1);
}

static uint64_t take_leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = take_u8(r);
        if (shift > 63)
            r->bad = true;
        else
            value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128 && !r->bad);
    if (is_signed && shift < 64 && byte & 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static uint64_t take_uleb(struct reader *r)
{
    return take_leb(r, false);
}

static int64_t take_sleb(struct reader *r)
{
    return (int64_t)take_leb(r, true);
}

static uint64_t take_form(struct reader *r, unsigned form)
{
    switch (form) {
    case ULEB:
        return take_uleb(r);
    case SLEB:
        return (uint64_t)take_sleb(r);
    case UDATA2:
        return load_u16(take(r, 2));
    case SDATA2:
        return (uint64_t)(int16_t)load_u16(take(r, 2));
    case UDATA4:
        return load_u32(take(r, 4));
    case SDATA4:
        return (uint64_t)(int32_t)load_u32(take(r, 4));
    case ABSOLUTE:
    case UDATA8:
    case SDATA8:
        return load_u64(take(r, 8));
    default:
        r->bad = true;
        return 0;
    }
}

/* data: what DATA_RELATIVE is relative to. */
static uintptr_t take_pointer(struct reader *r, unsigned encoding, const uint8_t *data)
{
    uintptr_t at = (uintptr_t)r->at, value = take_form(r, encoding & FORM);

    if (encoding & INDIRECT)
        r->bad = true;
    switch (encoding & ~(unsigned)(FORM | INDIRECT)) {
    case ABSOLUTE:
        return value;
    case PC_RELATIVE:
        return value + at;
    case DATA_RELATIVE:
        return value + (uintptr_t)data;
    default:
        r->bad = true;
        return 0;
    }
}

/* Where registers of the caller are. */
enum where { SAME, AT_OFFSET, UNDEFINED, ELSEWHERE };
struct state {
    uint64_t cfa_register;
    int64_t cfa;
    bool cfa_known;
    enum where where[REGISTERS];
    int64_t offset[REGISTERS];
};

/* One run of instructions: up to `ip`, from `location`. */
struct run {
    struct reader in;
    struct state now, initial, kept[STATES];
    unsigned kept_count;
    uintptr_t ip, location;
    uint64_t code_factor;
    int64_t data_factor;
    unsigned encoding; /* of addresses */
};

static void set(struct run *run, uint64_t number, enum where where, int64_t offset)
{
    if (number >= REGISTERS)
        return; /* no caller's register that a walk needs */
    run->now.where[number] = where;
    run->now.offset[number] = offset;
}

static void restore(struct run *run, uint64_t number)
{
    if (number < REGISTERS)
        set(run, number, run->initial.where[number], run->initial.offset[number]);
}

static void set_cfa(struct run *run, uint64_t number, int64_t offset)
{
    run->now.cfa_register = number;
    run->now.cfa = offset;
    run->now.cfa_known = true;
}

static void remember(struct run *run, bool back)
{
    if (back ? !run->kept_count : run->kept_count == STATES)
        run->in.bad = true;
    else if (back)
        run->now = run->kept[--run->kept_count];
    else
        run->kept[run->kept_count++] = run->now;
}

/* Instructions that are about registers of the caller. Returns: whether it was one. */
static bool run_register(struct run *run, uint8_t operation)
{
    struct reader *in = &run->in;
    uint64_t number;

    switch (operation) {
    case 0x05: /* DW_CFA_offset_extended */
        number = take_uleb(in);
        set(run, number, AT_OFFSET, (int64_t)take_uleb(in) * run->data_factor);
        return true;
    case 0x11: /* DW_CFA_offset_extended_sf */
        number = take_uleb(in);
        set(run, number, AT_OFFSET, take_sleb(in) * run->data_factor);
        return true;
    case 0x06: /* DW_CFA_restore_extended */
        restore(run, take_uleb(in));
        return true;
    case 0x07: /* DW_CFA_undefined */
        set(run, take_uleb(in), UNDEFINED, 0);
        return true;
    case 0x08: /* DW_CFA_same_value */
        set(run, take_uleb(in), SAME, 0);
        return true;
    case 0x09: /* DW_CFA_register */
    case 0x14: /* DW_CFA_val_offset */
        set(run, take_uleb(in), ELSEWHERE, 0);
        (void)take_uleb(in);
        return true;
    case 0x10: /* DW_CFA_expression */
    case 0x16: /* DW_CFA_val_expression */
        set(run, take_uleb(in), ELSEWHERE, 0);
        skip(in, take_uleb(in));
        return true;
    default:
        return false;
    }
}

/* Those that are about the CFA, and about neither. */
static void run_other(struct run *run, uint8_t operation)
{
    struct reader *in = &run->in;
    uint64_t number;

    switch (operation) {
    case 0x00: /* DW_CFA_nop */
        break;
    case 0x0A: /* DW_CFA_remember_state */
    case 0x0B: /* DW_CFA_restore_state */
        remember(run, operation == 0x0B);
        break;
    case 0x0C: /* DW_CFA_def_cfa */
        number = take_uleb(in);
        set_cfa(run, number, (int64_t)take_uleb(in));
        break;
    case 0x12: /* DW_CFA_def_cfa_sf */
        number = take_uleb(in);
        set_cfa(run, number, take_sleb(in) * run->data_factor);
        break;
    case 0x0D: /* DW_CFA_def_cfa_register */
        run->now.cfa_register = take_uleb(in);
        break;
    case 0x0E: /* DW_CFA_def_cfa_offset */
        run->now.cfa = (int64_t)take_uleb(in);
        break;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        run->now.cfa = take_sleb(in) * run->data_factor;
        break;
    case 0x0F: /* DW_CFA_def_cfa_expression */
        skip(in, take_uleb(in));
        run->now.cfa_known = false;
        break;
    case 0x2E: /* DW_CFA_GNU_args_size */
        (void)take_uleb(in);
        break;
    default:
        in->bad = true;
    }
}

/* DW_CFA_set_loc and DW_CFA_advance_loc1, 2 and 4. Returns: whether it was one. */
static bool run_advance(struct run *run, uint8_t operation)
{
    switch (operation) {
    case 0x01:
        run->location = take_pointer(&run->in, run->encoding, NULL);
        return true;
    case 0x02:
        run->location += take_u8(&run->in) * run->code_factor;
        return true;
    case 0x03:
        run->location += load_u16(take(&run->in, 2)) * run->code_factor;
        return true;
    case 0x04:
        run->location += load_u32(take(&run->in, 4)) * run->code_factor;
        return true;
    default:
        return false;
    }
}

static bool run_to_end(struct run *run)
{
    struct reader *in = &run->in;

    while (in->at < in->end && !in->bad && run->location <= run->ip) {
        uint8_t operation = take_u8(in), low = operation & 63;

        switch (operation >> 6) {
        case 1: /* DW_CFA_advance_loc */
            run->location += low * run->code_factor;
            break;
        case 2: /* DW_CFA_offset */
            set(run, low, AT_OFFSET, (int64_t)take_uleb(in) * run->data_factor);
            break;
        case 3: /* DW_CFA_restore */
            restore(run, low);
            break;
        default:
            if (!run_advance(run, operation) && !run_register(run, operation))
                run_other(run, operation);
        }
    }
    return !in->bad;
}

/* A record of .eh_frame: its length, then its contents. */
static bool record_at(const struct cfi_table *table, const uint8_t *at, struct reader *out)
{
    uint32_t length;

    if (at < table->low || at >= table->high || table->high - at < 4)
        return false;
    length = load_u32(at);
    *out = (struct reader){at + 4, at + 4 + length, false};
    return length && length < 0xFFFFFFF0u && length <= (size_t)(table->high - at - 4);
}

/* What the letters of an augmentation announce. Only addresses' encoding and signals matter. */
static void augmentation_read(struct run *run, const char *letters, struct reader data,
                              bool *signal)
{
    for (; *letters; letters++) {
        unsigned encoding;

        switch (*letters) {
        case 'R':
            run->encoding = take_u8(&data);
            break;
        case 'L':
            skip(&data, 1);
            break;
        case 'P':
            encoding = take_u8(&data);
            (void)take_pointer(&data, encoding & ~(unsigned)INDIRECT, NULL);
            break;
        case 'S':
            *signal = true;
            break;
        default:
            data.bad = true;
        }
    }
    if (data.bad)
        run->in.bad = true;
}

/* The part that is common to many records. Leaves run->in at its instructions. */
static bool common_read(const struct cfi_table *table, const uint8_t *at, struct run *run,
                        bool *augmented, bool *signal)
{
    struct reader *in = &run->in, data;
    const char *letters;
    uint8_t version;
    uint64_t size;

    if (!record_at(table, at, in) || load_u32(take(in, 4)) != 0)
        return false;
    version = take_u8(in);
    letters = (const char *)in->at;
    while (take_u8(in) && !in->bad) {
    }
    run->code_factor = take_uleb(in);
    run->data_factor = take_sleb(in);
    if ((version == 1 ? take_u8(in) : take_uleb(in)) != RETURN || in->bad)
        return false;
    *augmented = *letters == 'z';
    if (!*augmented)
        return !*letters;
    size = take_uleb(in);
    data.at = in->at;
    skip(in, size);
    data.end = in->at;
    data.bad = in->bad;
    augmentation_read(run, letters + 1, data, signal);
    return !in->bad;
}

/* The record whose code begins last before ip; NULL: none. */
static const uint8_t *record_find(const struct cfi_table *table, uintptr_t ip)
{
    const uint8_t *header = table->header;
    struct reader in = {header + 4, table->high, false};
    uint64_t low = 0, high, room;

    if (header < table->low || table->high - header < 8 || header[0] != 1 ||
        header[3] != TABLE_SORTED)
        return NULL;
    (void)take_pointer(&in, header[1], header);
    high = take_form(&in, header[2] & FORM);
    room = (uint64_t)(in.end - in.at) / 8;
    if (in.bad || !high || high > room)
        return NULL;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        int32_t from = (int32_t)load_u32(in.at + 8 * middle);

        if ((uintptr_t)header + (uintptr_t)(intptr_t)from <= ip)
            low = middle;
        else
            high = middle;
    }
    return header + (int32_t)load_u32(in.at + 8 * low + 4);
}

/* What a walk can follow. */
static bool rule_of(const struct state *s, struct cfi_rule *out)
{
    int64_t fp = s->where[RBP] == AT_OFFSET ? s->offset[RBP] : 0;

    *out = (struct cfi_rule){.ends = s->where[RETURN] == UNDEFINED};
    if (out->ends)
        return true;
    if (!s->cfa_known || (s->cfa_register != RBP && s->cfa_register != RSP) ||
        s->where[RETURN] != AT_OFFSET || (s->where[RBP] != SAME && s->where[RBP] != AT_OFFSET))
        return false;
    out->by_fp = s->cfa_register == RBP;
    out->keeps_fp = s->where[RBP] == SAME;
    out->cfa = (int32_t)s->cfa;
    out->fp = (int32_t)fp;
    out->ret = (int32_t)s->offset[RETURN];
    return out->cfa == s->cfa && out->fp == fp && out->ret == s->offset[RETURN];
}

bool cfi_find(const struct cfi_table *table, uintptr_t ip, struct cfi_rule *out)
{
    const uint8_t *record = record_find(table, ip), *common;
    bool augmented = false, signal = false;
    struct run run = {.ip = UINTPTR_MAX};
    struct reader in;
    uintptr_t start, size;
    uint32_t back;

    if (!record || !record_at(table, record, &in))
        return false;
    back = load_u32(take(&in, 4));
    common = record + 4 - back;
    if (!back || !common_read(table, common, &run, &augmented, &signal) || signal ||
        !run_to_end(&run))
        return false;
    start = take_pointer(&in, run.encoding, NULL);
    size = take_form(&in, run.encoding & FORM);
    if (augmented)
        skip(&in, take_uleb(&in));
    if (in.bad || ip < start || ip - start >= size)
        return false;
    run.initial = run.now;
    run.ip = ip;
    run.location = start;
    run.in = in;
    return run_to_end(&run) && rule_of(&run.now, out);
}
