/* AArch64: each instruction is one word. Source: Arm ARM (DDI 0487), C4. */
#include "code/calls.h"
#include "code/cpu_code.h"

#include <string.h>

#define WORD      4u
#define REGISTERS 31u

enum kind {
    KIND_OTHER,
    KIND_CALL,
    KIND_CALL_REG,
    KIND_JUMP,
    KIND_JUMP_IF,
    KIND_JUMP_REG,
    KIND_RETURN
};

struct instruction {
    uint32_t word;
    enum kind kind;
    int64_t to;   /* of a call or jump, from its own beginning */
    unsigned reg; /* of one through a register */
};

static int64_t extended(uint32_t word, unsigned at, unsigned bits)
{
    int64_t field = (int64_t)(word >> at & ((1u << bits) - 1));

    return (field ^ ((int64_t)1 << (bits - 1))) - ((int64_t)1 << (bits - 1));
}

static bool read_instruction(struct instruction *in, const uint8_t *code, size_t left)
{
    uint32_t w;

    if (left < WORD)
        return false;
    memcpy(&w, code, WORD);
    *in = (struct instruction){.word = w, .reg = w >> 5 & 31u};
    if ((w & 0xFC000000) == 0x94000000 || (w & 0xFC000000) == 0x14000000) {
        in->kind = w >> 31 ? KIND_CALL : KIND_JUMP;
        in->to = extended(w, 0, 26) * 4;
    } else if ((w & 0xFF000010) == 0x54000000 || (w & 0x7E000000) == 0x34000000) {
        in->kind = KIND_JUMP_IF; /* b.cond, cbz, cbnz */
        in->to = extended(w, 5, 19) * 4;
    } else if ((w & 0x7E000000) == 0x36000000) {
        in->kind = KIND_JUMP_IF; /* tbz, tbnz */
        in->to = extended(w, 5, 14) * 4;
    } else if ((w & 0xFFFFF01F) == 0xD63F0000 || (w & 0xFFFFF000) == 0xD73F0000) {
        in->kind = KIND_CALL_REG; /* blr, and with authentication */
    } else if ((w & 0xFFFFF01F) == 0xD61F0000 || (w & 0xFFFFF000) == 0xD71F0000) {
        in->kind = KIND_JUMP_REG;
    } else if ((w & 0xFFFFF000) == 0xD65F0000) {
        in->kind = KIND_RETURN;
    }
    return true;
}

size_t cpu_length(const uint8_t *code, size_t size)
{
    (void)code;
    return size >= WORD ? WORD : 0;
}

bool cpu_returns(const uint8_t *ip)
{
    struct instruction in;

    return read_instruction(&in, ip - WORD, WORD) &&
           (in.kind == KIND_CALL || in.kind == KIND_CALL_REG);
}

/* What a register holds, as far as the code before tells. */
struct known {
    enum {
        NOTHING,
        CONSTANT, /* value */
        THROUGH,  /* the word at value */
        COPY,     /* not known; the same value means the same contents */
    } what;
    uint64_t value;
};

#define SP 31u /* or the zero register, by instruction */

/* The contents of a word `offset` bytes above what a register holds, or that sum itself. */
static struct known from_base(const struct known *known, unsigned base, uint64_t offset, bool load)
{
    const struct known *k = &known[base];
    uint64_t start = k->what == NOTHING ? (base + 1u) << 16 : k->value * 31 + (uint64_t)k->what;

    if (base == SP || (!load && k->what == THROUGH))
        return (struct known){NOTHING, 0};
    if (k->what == CONSTANT)
        return (struct known){load ? THROUGH : CONSTANT, k->value + offset};
    /* The JIT keeps a large constant in a register and reaches others from there. */
    return (struct known){COPY, start * 31 + offset * 2 + load};
}

/* movz; movk on what is there; adr and adrp; a literal; mov of a register. */
static bool follow_constant(struct known *known, uint32_t w, uintptr_t at)
{
    struct known *to = &known[w & 31u];
    unsigned shift = 16 * (w >> 21 & 3u), from = w >> 16 & 31u;
    uint64_t part = (uint64_t)(w >> 5 & 0xFFFFu) << shift;
    int64_t distance = extended(w, 5, 19) * 4;

    if ((w & 0x7F800000) == 0x52800000)
        *to = (struct known){CONSTANT, part};
    else if ((w & 0xFF800000) == 0xF2800000 && to->what == CONSTANT)
        to->value = (to->value & ~(UINT64_C(0xFFFF) << shift)) | part;
    else if ((w & 0x9F000000) == 0x90000000)
        *to = (struct known){CONSTANT, (at & ~(uintptr_t)0xFFF) +
                                           (uint64_t)((distance | (w >> 29 & 3u)) * 4096)};
    else if ((w & 0x9F000000) == 0x10000000)
        *to = (struct known){CONSTANT, at + (uint64_t)(distance | (w >> 29 & 3u))};
    else if ((w & 0xFF000000) == 0x58000000)
        *to = (struct known){THROUGH, at + (uint64_t)distance};
    else if ((w & 0xFFE0FFE0) == 0xAA0003E0 && from == SP)
        *to = (struct known){CONSTANT, 0};
    else if ((w & 0xFFE0FFE0) == 0xAA0003E0)
        *to = known[from].what == NOTHING ? (struct known){COPY, from + 1u} : known[from];
    else
        return false;
    return true;
}

/* What an instruction at address `at`, no call, does to the registers. */
static void follow(struct known *known, const struct instruction *in, uintptr_t at)
{
    uint32_t w = in->word;
    unsigned to = w & 31u, base = w >> 5 & 31u;

    if (to == SP || follow_constant(known, w, at))
        return;
    if ((w & 0xFFC00000) == 0x91000000) /* add */
        known[to] = from_base(known, base, w >> 10 & 0xFFFu, false);
    else if ((w & 0xFFC00000) == 0xF9400000) /* ldr */
        known[to] = from_base(known, base, 8u * (w >> 10 & 0xFFFu), true);
    else if ((w & 0x1C000000) == 0x10000000 || (w & 0x0E000000) == 0x0A000000 ||
             (w & 0x3B400000) == 0x38400000 || (w & 0x3B400000) == 0x39400000)
        known[to] = (struct known){NOTHING, 0}; /* data processing, loads */
}

static void follow_call(struct known *known)
{
    for (unsigned i = 0; i < 19; i++)
        known[i] = (struct known){NOTHING, 0};
    known[30] = (struct known){NOTHING, 0};
}

static bool is_call(const struct instruction *in)
{
    return in->kind == KIND_CALL || in->kind == KIND_CALL_REG;
}

static bool is_jump(const struct instruction *in)
{
    return in->kind == KIND_JUMP || in->kind == KIND_JUMP_IF;
}

/* Where a call goes, as far as two can be compared by it; 1: computed. */
static uint64_t identity(const struct instruction *in, const struct known *known, uintptr_t at)
{
    const struct known *k = &known[in->reg];

    if (in->kind == KIND_CALL)
        return at + (uint64_t)in->to;
    return in->reg < REGISTERS && k->what != NOTHING ? k->value * 4 + (unsigned)k->what : 1;
}

void cpu_calls(const uint8_t *code, size_t size, struct cpu_calls *out)
{
    struct known known[REGISTERS + 1] = {{NOTHING, 0}};
    struct calls_marks marks;
    struct instruction in;

    calls_begin(&marks);
    for (size_t at = 0; at < size; at += WORD) {
        uintptr_t address = (uintptr_t)code + at;

        if (!read_instruction(&in, code + at, size - at)) {
            calls_begin(&marks);
            break;
        }
        if (is_jump(&in))
            calls_mark_jump(&marks, at, in.to);
        if (!is_call(&in)) {
            follow(known, &in, address);
            continue;
        }
        calls_mark(&marks, at, at + WORD, identity(&in, known, address),
                   known[0].what == NOTHING ? 0 : known[0].value * 4 + known[0].what);
        follow_call(known);
    }
    calls_end(&marks, size, out);
}

/* Does a jump lead in between two calls from elsewhere? The first ends, the second begins there. */
static bool is_led_between(const uint8_t *code, size_t size, size_t end, size_t begin)
{
    struct instruction in;

    for (size_t at = 0; at < size && read_instruction(&in, code + at, size - at); at += WORD) {
        int64_t to = (int64_t)at + in.to;

        if (is_jump(&in) && to >= (int64_t)end && to <= (int64_t)begin && (at < end || at > begin))
            return true;
    }
    return false;
}

/* The ends of calls around the one that ends at ret, which is ends[*mine]. Returns how many. */
static size_t neighbours(const uint8_t *code, size_t size, size_t ret,
                         size_t ends[static CPU_LINE * 2 + 1], size_t *mine)
{
    struct instruction in;
    size_t count = 0;

    *mine = SIZE_MAX;
    for (size_t at = 0; at < size; at += WORD) {
        if (!read_instruction(&in, code + at, size - at) || in.kind == KIND_JUMP_REG)
            return 0;
        if (!is_call(&in) || (*mine != SIZE_MAX && count - *mine > CPU_LINE))
            continue;
        if (*mine == SIZE_MAX && count > CPU_LINE) {
            memmove(ends, ends + 1, CPU_LINE * sizeof(*ends));
            count = CPU_LINE;
        }
        if (at + WORD == ret)
            *mine = count;
        ends[count++] = at + WORD;
    }
    return *mine == SIZE_MAX ? 0 : count;
}

bool cpu_line(const uint8_t *code, size_t size, size_t ret, struct cpu_line *out)
{
    size_t ends[CPU_LINE * 2 + 1], mine, count = neighbours(code, size, ret, ends, &mine);

    out->before = out->after = 0;
    if (!count)
        return false;
    for (size_t i = mine; i-- > 0 && out->before < CPU_LINE;)
        if (!is_led_between(code, size, ends[i], ret - WORD))
            out->before_at[out->before++] = ends[i];
    for (size_t i = mine + 1; i < count; i++)
        if (!is_led_between(code, size, ret, ends[i] - WORD))
            out->after_at[out->after++] = ends[i];
    return out->before || out->after;
}

static struct cpu_target through(const struct known *known)
{
    if (known->what == CONSTANT)
        return (struct cpu_target){CPU_TO, (uintptr_t)known->value};
    if (known->what == THROUGH)
        return (struct cpu_target){CPU_THROUGH, (uintptr_t)known->value};
    return (struct cpu_target){CPU_FOUND, 0};
}

struct cpu_target cpu_call_target(const uint8_t *code, size_t size, uintptr_t address)
{
    struct known known[REGISTERS + 1] = {{NOTHING, 0}};
    struct instruction in;

    for (size_t at = 0; at < size; at += WORD) {
        if (!read_instruction(&in, code + at, size - at))
            break;
        if (at + WORD < size) {
            if (is_call(&in))
                follow_call(known);
            else
                follow(known, &in, address + at);
        } else if (in.kind == KIND_CALL) {
            return (struct cpu_target){CPU_TO, address + at + (uintptr_t)in.to};
        } else if (in.kind == KIND_CALL_REG) {
            return through(&known[in.reg]);
        }
    }
    return (struct cpu_target){CPU_UNREAD, 0};
}

#define STUB_INSTRUCTIONS 8

struct cpu_target cpu_jump_target(const uint8_t *code, size_t size, uintptr_t address)
{
    struct known known[REGISTERS + 1] = {{NOTHING, 0}};
    struct instruction in;

    for (size_t at = 0; at < size && at < STUB_INSTRUCTIONS * WORD; at += WORD) {
        if (!read_instruction(&in, code + at, size - at) || is_call(&in) || in.kind == KIND_RETURN)
            break;
        if (in.kind == KIND_JUMP)
            return (struct cpu_target){CPU_TO, address + at + (uintptr_t)in.to};
        if (in.kind == KIND_JUMP_REG)
            return through(&known[in.reg]);
        follow(known, &in, address + at);
    }
    return (struct cpu_target){CPU_UNREAD, 0};
}

bool cpu_stub_helps(const uint8_t *code, size_t size)
{
    (void)code;
    (void)size;
    return false;
}

/*
 * FixupPrecode: ldr x11, target; br x11; ldr x12, owner; ldr x11, thunk; br x11.
 * Source: dotnet/runtime src/coreclr/vm/arm64/thunktemplates.S.
 */
uintptr_t cpu_stub_owner(const uint8_t *code, size_t size, uintptr_t address, uintptr_t through)
{
    struct known known[REGISTERS + 1] = {{NOTHING, 0}};
    struct instruction in[3];
    uintptr_t target = through;

    if (size < sizeof(in) / sizeof(*in) * WORD)
        return 0;
    (void)read_instruction(&in[0], code, WORD);
    (void)read_instruction(&in[1], code + WORD, WORD);
    if (in[1].kind == KIND_JUMP_REG) {
        follow(known, &in[0], address);
        if (known[in[1].reg].what != THROUGH)
            return 0;
        target = (uintptr_t)known[in[1].reg].value;
        code += 2 * WORD;
        size -= 2 * WORD;
        address += 2 * WORD;
    }
    if (!target || size < sizeof(in) / sizeof(*in) * WORD)
        return 0;
    for (unsigned i = 0; i < sizeof(in) / sizeof(*in); i++)
        (void)read_instruction(&in[i], code + i * WORD, WORD);
    if (in[2].kind != KIND_JUMP_REG)
        return 0;
    follow(known, &in[0], address);
    follow(known, &in[1], address + WORD);
    return known[12].what == THROUGH && known[12].value == target + 8 &&
                   known[in[2].reg].what == THROUGH && known[in[2].reg].value == target + 16
               ? target + 8
               : 0;
}
