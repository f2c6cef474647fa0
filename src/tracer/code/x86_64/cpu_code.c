/* x86-64. Source: Intel SDM volume 2, chapter 2 and appendix A. */
#include "code/calls.h"
#include "code/cpu_code.h"

#include "base/atomics.h"

#include <string.h>

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct instruction {
    const uint8_t *at;
    size_t left; /* bytes that may be read */
    size_t size; /* bytes read so far */
    enum map map;
    uint8_t opcode;
    bool operand16, address32, wide, vector; /* prefixes 66, 67, REX.W; VEX or EVEX */
    bool extended, extended_reg;             /* REX.B, REX.R */
    uint8_t modrm;
    bool failed;
};

static uint8_t next_byte(struct instruction *in)
{
    if (in->size >= in->left) {
        in->failed = true;
        return 0;
    }
    return in->at[in->size++];
}

static void skip(struct instruction *in, size_t bytes)
{
    if (bytes > in->left - in->size)
        in->failed = true;
    else
        in->size += bytes;
}

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64 ... 0x67:
    case 0xF0:
    case 0xF2:
    case 0xF3:
        return true;
    default:
        return false;
    }
}

/* Prefixes and opcode. */
static void read_opcode(struct instruction *in)
{
    uint8_t byte = next_byte(in), rex = 0;

    for (; is_prefix(byte) || (byte & 0xF0) == 0x40; byte = next_byte(in)) {
        in->operand16 |= byte == 0x66;
        in->address32 |= byte == 0x67;
        rex = is_prefix(byte) ? 0 : byte; /* only right before the opcode */
    }
    in->wide = rex & 8;
    in->extended = rex & 1;
    in->extended_reg = rex & 4;
    if (byte == 0xC4 || byte == 0xC5 || byte == 0x62) {
        uint8_t first = next_byte(in);

        in->vector = true;
        in->map = byte == 0xC5 ? MAP_0F : (enum map)(first & 7);
        skip(in, byte == 0xC5 ? 0 : byte == 0xC4 ? 1 : 2);
        if (byte == 0x62 && (in->map == 5 || in->map == 6)) /* half precision */
            in->map = MAP_0F38;
        in->failed |= in->map < MAP_0F || in->map > MAP_0F3A;
        byte = next_byte(in);
    } else if (byte == 0x0F) {
        in->map = MAP_0F;
        byte = next_byte(in);
        if (byte == 0x38 || byte == 0x3A) {
            in->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
            byte = next_byte(in);
        }
    }
    in->opcode = byte;
}

static bool between(uint8_t value, uint8_t first, uint8_t last)
{
    return value >= first && value <= last;
}

static bool has_modrm(const struct instruction *in)
{
    uint8_t op = in->opcode;

    if (in->map == MAP_0F && in->vector)
        return op != 0x77;
    if (in->map == MAP_0F)
        return !(between(op, 0x05, 0x09) || op == 0x0B || op == 0x0E || between(op, 0x30, 0x37) ||
                 op == 0x77 || between(op, 0x80, 0x8F) || between(op, 0xA0, 0xA2) ||
                 between(op, 0xA8, 0xAA) || between(op, 0xC8, 0xCF));
    if (in->map != MAP_ONE)
        return true;
    if (op < 0x40)
        return (op & 7) < 4;
    return op == 0x63 || op == 0x69 || op == 0x6B || between(op, 0x80, 0x8F) || op == 0xC0 ||
           op == 0xC1 || op == 0xC6 || op == 0xC7 || between(op, 0xD0, 0xD3) ||
           between(op, 0xD8, 0xDF) || op == 0xF6 || op == 0xF7 || op == 0xFE || op == 0xFF;
}

static void read_modrm(struct instruction *in)
{
    uint8_t mode, base;

    in->modrm = next_byte(in);
    mode = in->modrm >> 6;
    if (in->map == MAP_0F && !in->vector && between(in->opcode, 0x20, 0x23))
        return; /* control and debug registers: never in memory */
    base = in->modrm & 7;
    if (mode == 3)
        return;
    if (base == 4)
        base = next_byte(in) & 7; /* SIB */
    skip(in, mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0);
}

static size_t immediate_one(const struct instruction *in)
{
    size_t word = in->operand16 && !in->wide ? 2 : 4; /* REX.W counts more */
    uint8_t op = in->opcode;

    if (op < 0x40)
        return (op & 7) == 4 ? 1 : (op & 7) == 5 ? word : 0;
    if (op == 0x68 || op == 0x69 || op == 0x81 || op == 0xA9 || op == 0xC7)
        return word;
    if (between(op, 0xB8, 0xBF))
        return in->wide ? 8 : word;
    if (op == 0xE8 || op == 0xE9)
        return 4;
    if (between(op, 0xA0, 0xA3))
        return in->address32 ? 4 : 8;
    if (op == 0xC2 || op == 0xCA)
        return 2;
    if (op == 0xC8)
        return 3;
    if (op == 0xF6 || op == 0xF7)
        return in->modrm & 0x30 ? 0 : op == 0xF6 ? 1 : word;
    return op == 0x6A || op == 0x6B || between(op, 0x70, 0x80) || op == 0x83 || op == 0xA8 ||
           between(op, 0xB0, 0xB7) || op == 0xC0 || op == 0xC1 || op == 0xC6 || op == 0xCD ||
           between(op, 0xE0, 0xE7) || op == 0xEB;
}

static size_t immediate_size(const struct instruction *in)
{
    uint8_t op = in->opcode;

    switch (in->map) {
    case MAP_ONE:
        return immediate_one(in);
    case MAP_0F:
        if (between(op, 0x80, 0x8F) && !in->vector)
            return 4;
        return between(op, 0x70, 0x73) || op == 0xA4 || op == 0xAC || op == 0xBA || op == 0xC2 ||
               between(op, 0xC4, 0xC6);
    default:
        return in->map == MAP_0F3A;
    }
}

/*
 * What follows opcodes of one byte, of which most code is made: bytes of an immediate, and a bit if
 * there is a ModRM. COMMON_NOT: a prefix, or what needs a closer look.
 */
#define COMMON_MODRM 0x10
#define COMMON_NOT   0xff
#define COMMON_SIZE  16 /* at least as long as any of them, with REX */
static uint8_t common[256];

__attribute__((constructor)) static void common_make(void)
{
    for (unsigned op = 0; op < COUNT_OF(common); op++) {
        struct instruction in = {.opcode = (uint8_t)op, .map = MAP_ONE};
        bool special = is_prefix(in.opcode) || (op & 0xF0) == 0x40 || op == 0x0F || op == 0x62 ||
                       between(in.opcode, 0xA0, 0xA3) || between(in.opcode, 0xB8, 0xBF) ||
                       between(in.opcode, 0xC4, 0xC5) || between(in.opcode, 0xF6, 0xF7);

        common[op] = special ? COMMON_NOT
                             : (uint8_t)(immediate_one(&in) | (has_modrm(&in) ? COMMON_MODRM : 0));
    }
}

/* Returns: false: it is another one; nothing is read. */
static inline bool read_common(struct instruction *in, const uint8_t *code, size_t left)
{
    uint8_t rex = left >= COMMON_SIZE && (code[0] & 0xF0) == 0x40 ? code[0] : 0, kind, op, base;
    size_t size = rex ? 1 : 0;

    if (left < COMMON_SIZE || (kind = common[op = code[size++]]) == COMMON_NOT)
        return false;
    *in = (struct instruction){.at = code, .left = left, .map = MAP_ONE, .opcode = op};
    in->wide = rex & 8;
    in->extended = rex & 1;
    in->extended_reg = rex & 4;
    if (kind & COMMON_MODRM) {
        uint8_t modrm = in->modrm = code[size++], mode = modrm >> 6;

        if (mode != 3) {
            base = (modrm & 7) == 4 ? code[size++] & 7 : modrm & 7;
            size += mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
        }
    }
    in->size = size + (kind & 7);
    return true;
}

static bool read_instruction(struct instruction *in, const uint8_t *code, size_t left)
{
    if (read_common(in, code, left))
        return true;
    *in = (struct instruction){.at = code, .left = left};
    read_opcode(in);
    if (has_modrm(in))
        read_modrm(in);
    skip(in, immediate_size(in));
    return !in->failed;
}

size_t cpu_length(const uint8_t *code, size_t size)
{
    struct instruction in;

    return read_instruction(&in, code, size) ? in.size : 0;
}

/* Calls whose target comes from memory or a computation: equal until proven otherwise. */
#define TARGET_UNKNOWN 1

/* Where a call goes, as far as two calls can be compared by it. */
struct call {
    uint64_t target;
    uint64_t first; /* what the first argument is known to be; else 0 */
};

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R15 = 15, REGISTERS };

/*
 * What registers hold, where that can be read off: a constant, or the register that it was copied
 * from. Only tells equal from unequal: other instructions that write a register go unnoticed.
 */
struct registers {
    uint64_t value[REGISTERS];
};

static bool kept_by_calls(unsigned reg)
{
    return reg == RBX || reg == RBP || reg >= 12;
}

static uint64_t constant(const struct instruction *in, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, in->at + in->size - bytes, bytes);
    return value;
}

static uint64_t relative(const struct instruction *in)
{
    return (uint64_t)(uintptr_t)(in->at + in->size) + (uint64_t)(int64_t)(int32_t)constant(in, 4);
}

static bool is_call(const struct instruction *in, const struct registers *known, struct call *out)
{
    unsigned base = in->modrm & 7u;

    if (in->map != MAP_ONE)
        return false;
    *out = (struct call){0, known->value[RDI]};
    if (in->opcode == 0xE8) {
        out->target = relative(in);
        return true;
    }
    if (in->opcode != 0xFF || (in->modrm & 0x38) != 0x10)
        return false;
    if (in->modrm == 0x15) /* through a cell */
        out->target = relative(in);
    else if (base != RSP &&
             (in->modrm < 0x40 || in->modrm >= 0xC0)) /* a register, or where it points to */
        out->target = known->value[base | (in->extended ? 8u : 0u)];
    if (!out->target)
        out->target = TARGET_UNKNOWN;
    return true;
}

/* Where a jump goes, relative to its own beginning. */
static bool is_jump(const struct instruction *in, int64_t *target)
{
    bool near = (in->map == MAP_0F && !in->vector && between(in->opcode, 0x80, 0x8F)) ||
                (in->map == MAP_ONE && in->opcode == 0xE9);
    bool close = in->map == MAP_ONE && (between(in->opcode, 0x70, 0x7F) || in->opcode == 0xEB);

    if (near)
        *target = (int64_t)in->size + (int32_t)constant(in, 4);
    else if (close)
        *target = (int64_t)in->size + (int8_t)constant(in, 1);
    return near || close;
}

static void follow(const struct instruction *in, struct registers *known)
{
    unsigned to = (in->modrm >> 3 & 7u) | (in->extended_reg ? 8u : 0u);
    unsigned from = (in->modrm & 7u) | (in->extended ? 8u : 0u);

    if (in->map != MAP_ONE)
        return;
    if (between(in->opcode, 0xB8, 0xBF))
        known->value[(in->opcode & 7u) | (in->extended ? 8u : 0u)] =
            constant(in, in->wide        ? 8
                         : in->operand16 ? 2
                                         : 4);
    else if (in->opcode == 0x8B && in->modrm >= 0xC0)
        known->value[to] = known->value[from] ? known->value[from] : from + 1;
    else if (in->opcode == 0x8B || in->opcode == 0x8D)
        known->value[to] = 0;
}

void cpu_calls(const uint8_t *code, size_t size, struct cpu_calls *out)
{
    struct registers known = {{0}};
    struct calls_marks marks;
    struct instruction in;
    struct call call;
    int64_t target;

    calls_begin(&marks);
    for (size_t at = 0; at < size; at += in.size) {
        if (!read_instruction(&in, code + at, size - at)) {
            calls_begin(&marks);
            break;
        }
        if (is_jump(&in, &target))
            calls_mark_jump(&marks, at, target);
        if (!is_call(&in, &known, &call)) {
            follow(&in, &known);
            continue;
        }
        for (unsigned i = 0; i < REGISTERS; i++)
            if (!kept_by_calls(i))
                known.value[i] = 0;
        calls_mark(&marks, at, at + in.size, call.target, call.first);
    }
    calls_end(&marks, size, out);
}

/* Calls in a line. */

/* A call next to the one in question, and whether it is always run with it. */
struct neighbour {
    size_t at, end;
    bool sure;
};

#define LINE_JUMPS 128 /* that are remembered, while the calls are looked for */

/* The nearest on each side; before: a ring, of which `count` were put in. */
struct neighbours {
    struct {
        size_t from;
        int64_t to;
    } jump[LINE_JUMPS];
    size_t jumps; /* how many there are */
    struct neighbour before[CPU_LINE], after[CPU_LINE];
    size_t count, afters;
    size_t mine, ret; /* where the call in question begins and ends; 0: not met yet */
};

static bool is_any_call(const struct instruction *in)
{
    return in->map == MAP_ONE &&
           (in->opcode == 0xE8 || (in->opcode == 0xFF && (in->modrm & 0x38) == 0x10));
}

/* Through a table, as a rule; one through a word in the code's reach leaves the method. */
static bool goes_anywhere(const struct instruction *in)
{
    return in->map == MAP_ONE && in->opcode == 0xFF && (in->modrm & 0x38) == 0x20 &&
           (in->modrm & 0xC7) != 0x05;
}

static void note_neighbour(struct neighbours *n, size_t at, size_t end)
{
    if (end == n->ret)
        n->mine = at;
    else if (end < n->ret)
        n->before[n->count++ % CPU_LINE] = (struct neighbour){at, end, true};
    else if (n->afters < CPU_LINE)
        n->after[n->afters++] = (struct neighbour){at, end, true};
}

static bool read_neighbours(const uint8_t *code, size_t size, struct neighbours *n)
{
    struct instruction in;
    bool there = false;
    int64_t target;

    for (size_t at = 0; at < size; at += in.size) {
        if (!read_instruction(&in, code + at, size - at) || goes_anywhere(&in))
            return false;
        if (is_jump(&in, &target)) {
            if (n->jumps < LINE_JUMPS) {
                n->jump[n->jumps].from = at;
                n->jump[n->jumps].to = (int64_t)at + target;
            }
            n->jumps++;
        }
        if (!is_any_call(&in))
            continue;
        there |= at + in.size == n->ret;
        note_neighbour(n, at, at + in.size);
    }
    return there;
}

/* Does a jump lead in between two calls from elsewhere? The first ends, the second begins there. */
static bool leads_between(size_t end, size_t at, size_t from, int64_t to)
{
    return to >= (int64_t)end && to <= (int64_t)at && (from < end || from > at);
}

static void judge_jump(struct neighbours *n, size_t from, int64_t to)
{
    for (size_t i = 0; i < CPU_LINE && i < n->count; i++)
        n->before[i].sure &= !leads_between(n->before[i].end, n->mine, from, to);
    for (size_t i = 0; i < n->afters; i++)
        n->after[i].sure &= !leads_between(n->ret, n->after[i].at, from, to);
}

/* Too many to be remembered. */
static void judge_jumps(struct neighbours *n, const uint8_t *code, size_t size)
{
    struct instruction in;
    int64_t target;

    for (size_t at = 0; at < size && read_instruction(&in, code + at, size - at); at += in.size)
        if (is_jump(&in, &target))
            judge_jump(n, at, (int64_t)at + target);
}

bool cpu_line(const uint8_t *code, size_t size, size_t ret, struct cpu_line *out)
{
    struct neighbours n; /* large: its jumps are not cleared */

    n.count = n.afters = n.mine = n.jumps = 0;
    n.ret = ret;
    out->before = out->after = 0;
    if (!read_neighbours(code, size, &n))
        return false;
    for (size_t i = 0; i < n.jumps && i < LINE_JUMPS; i++)
        judge_jump(&n, n.jump[i].from, n.jump[i].to);
    if (n.jumps > LINE_JUMPS)
        judge_jumps(&n, code, size);
    for (size_t i = n.count; i > 0 && n.count - i < CPU_LINE; i--)
        if (n.before[(i - 1) % CPU_LINE].sure)
            out->before_at[out->before++] = n.before[(i - 1) % CPU_LINE].end;
    for (size_t i = 0; i < n.afters; i++)
        if (n.after[i].sure)
            out->after_at[out->after++] = n.after[i].end;
    return out->before || out->after;
}

/* Targets. */

/* The last constant, or word, that was loaded into a register, until that may have changed. */
struct loaded {
    struct cpu_target target;
    unsigned reg;
};

/* ModRM 00 reg 101: relative to the next instruction. */
static bool is_relative(const struct instruction *in)
{
    return (in->modrm & 0xC7) == 0x05;
}

/* What relative() says of a copy of code that lies at `address`. */
static uintptr_t relative_at(const struct instruction *in, const uint8_t *code, uintptr_t address)
{
    return (uintptr_t)relative(in) - (uintptr_t)code + address;
}

static void load(struct loaded *out, const struct instruction *in, const uint8_t *code,
                 uintptr_t address)
{
    unsigned to = (in->modrm >> 3 & 7u) | (in->extended_reg ? 8u : 0u);
    unsigned direct = (in->modrm & 7u) | (in->extended ? 8u : 0u);
    uint8_t op = in->opcode;

    if (in->map == MAP_ONE && between(op, 0xB8, 0xBF) && !in->operand16) {
        to = (op & 7u) | (in->extended ? 8u : 0u);
        if (in->wide)
            *out = (struct loaded){{CPU_TO, constant(in, 8)}, to};
        else if (out->reg == to)
            out->target.way = CPU_UNREAD;
    } else if (in->map == MAP_ONE && op == 0x8B && in->wide && is_relative(in)) {
        *out = (struct loaded){{CPU_THROUGH, relative_at(in, code, address)}, to};
    } else if (in->map == MAP_ONE && (op == 0x8B || op == 0x8D)) {
        if (out->reg == to)
            out->target.way = CPU_UNREAD;
    } else if (in->map != MAP_ONE || !(op == 0x89 || op == 0xC7 || op == 0x39 || op == 0x85) ||
               (in->modrm >= 0xC0 && out->reg == direct)) {
        out->target.way = CPU_UNREAD;
    }
}

/* FF /2 and FF /4: through a register, or memory. */
static struct cpu_target indirect(const struct instruction *in, const struct loaded *loaded,
                                  const uint8_t *code, uintptr_t address)
{
    unsigned base = (in->modrm & 7u) | (in->extended ? 8u : 0u);
    bool known = loaded->target.way != CPU_UNREAD && loaded->reg == base;

    if (is_relative(in))
        return (struct cpu_target){CPU_THROUGH, relative_at(in, code, address)};
    if (known && in->modrm >= 0xC0)
        return loaded->target;
    if (known && in->modrm < 0x40 && (in->modrm & 7) != RSP && loaded->target.way == CPU_TO)
        return (struct cpu_target){CPU_THROUGH, loaded->target.at};
    return (struct cpu_target){CPU_FOUND, 0};
}

static bool is_indirect(const struct instruction *in, unsigned extension)
{
    return in->map == MAP_ONE && in->opcode == 0xFF && (in->modrm >> 3 & 7u) == extension;
}

struct cpu_target cpu_call_target(const uint8_t *code, size_t size, uintptr_t address)
{
    static const struct cpu_target unread = {CPU_UNREAD, 0};
    struct loaded loaded = {unread, 0};
    struct instruction in;

    for (size_t at = 0; at < size; at += in.size) {
        if (!read_instruction(&in, code + at, size - at))
            return unread;
        if (at + in.size < size)
            load(&loaded, &in, code, address);
        else if (in.map == MAP_ONE && in.opcode == 0xE8)
            return (struct cpu_target){CPU_TO, relative_at(&in, code, address)};
        else if (is_indirect(&in, 2))
            return indirect(&in, &loaded, code, address);
    }
    return unread;
}

#define STUB_INSTRUCTIONS 8

struct cpu_target cpu_jump_target(const uint8_t *code, size_t size, uintptr_t address)
{
    static const struct cpu_target unread = {CPU_UNREAD, 0};
    struct loaded loaded = {unread, 0};
    struct instruction in;
    int64_t to;

    for (size_t at = 0, i = 0; at < size && i < STUB_INSTRUCTIONS; at += in.size, i++) {
        if (!read_instruction(&in, code + at, size - at) || is_indirect(&in, 2) ||
            (in.map == MAP_ONE && (in.opcode == 0xE8 || in.opcode == 0xC3)))
            return unread;
        if (is_indirect(&in, 4))
            return indirect(&in, &loaded, code, address);
        if (in.map == MAP_ONE && (in.opcode == 0xE9 || in.opcode == 0xEB) && is_jump(&in, &to))
            return (struct cpu_target){CPU_TO, address + at + (uintptr_t)to};
        load(&loaded, &in, code, address);
    }
    return unread;
}

/* The word that an instruction of these first bytes names, by its distance from the end; or 0. */
static uintptr_t word_named(const uint8_t *code, uintptr_t address, const char *bytes, size_t size)
{
    int32_t distance;

    if (memcmp(code, bytes, size) != 0)
        return 0;
    memcpy(&distance, code + size, sizeof(distance));
    return address + size + sizeof(distance) + (uintptr_t)(intptr_t)distance;
}

uintptr_t cpu_stub_owner(const uint8_t *code, size_t size, uintptr_t address, uintptr_t through)
{
    enum { JUMP = 6, LOAD = 7 };
    uintptr_t target = through, owner, thunk;

    if (size >= JUMP && word_named(code, address, "\xFF\x25", 2)) {
        target = word_named(code, address, "\xFF\x25", 2);
        code += JUMP;
        size -= JUMP;
        address += JUMP;
    }
    if (!target || size < LOAD + JUMP)
        return 0;
    owner = word_named(code, address, "\x4C\x8B\x15", 3); /* mov r10 */
    thunk = word_named(code + LOAD, address + LOAD, "\xFF\x25", 2);
    return owner == target + 8 && thunk == target + 16 ? owner : 0;
}

bool cpu_stub_helps(const uint8_t *code, size_t size)
{
    static const uint8_t moves[] = {0x48, 0x8B, 0xF7}; /* rsi, rdi: an array's length */
    size_t at = size > sizeof(moves) && memcmp(code, moves, sizeof(moves)) == 0 ? sizeof(moves) : 0;

    return size >= at + 10 && code[at] == 0x48 && code[at + 1] == 0xBF; /* mov rdi, imm64 */
}

bool cpu_returns(const uint8_t *ip)
{
    if (ip[-5] == 0xE8)
        return true;
    for (size_t size = 2; size <= CPU_CALL_BYTES; size++) { /* through a register, or memory */
        struct instruction in;

        if (read_instruction(&in, ip - size, size) && in.size == size && in.map == MAP_ONE &&
            in.opcode == 0xFF && (in.modrm >> 3 & 7) == 2)
            return true;
    }
    return false;
}
