/* code/il_decode.h - instructions of IL, one after the other. */
#ifndef SHADOWTRACE_CODE_IL_DECODE_H
#define SHADOWTRACE_CODE_IL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ECMA-335 III: the opcodes that need special treatment. */
enum {
    OP_JMP = 0x27,
    OP_CALL = 0x28,
    OP_CALLI = 0x29,
    OP_RET = 0x2A,
    OP_BR_S = 0x2B,
    OP_BLT_UN_S = 0x37,
    OP_BR = 0x38,
    OP_BLT_UN = 0x44,
    OP_SWITCH = 0x45,
    OP_CALLVIRT = 0x6F,
    OP_CPOBJ = 0x70,
    OP_LDOBJ = 0x71,
    OP_LDSTR = 0x72,
    OP_NEWOBJ = 0x73,
    OP_CASTCLASS = 0x74,
    OP_ISINST = 0x75,
    OP_UNBOX = 0x79,
    OP_THROW = 0x7A,
    OP_LDSFLD = 0x7E,
    OP_LDSFLDA = 0x7F,
    OP_STSFLD = 0x80,
    OP_STOBJ = 0x81,
    OP_BOX = 0x8C,
    OP_NEWARR = 0x8D,
    OP_LDELEMA = 0x8F,
    OP_STELEM_REF = 0xA2,
    OP_STELEM = 0xA4,
    OP_UNBOX_ANY = 0xA5,
    OP_LDTOKEN = 0xD0,
    OP_ENDFINALLY = 0xDC,
    OP_LEAVE = 0xDD,
    OP_LEAVE_S = 0xDE,
    OP_PREFIX = 0xFE, /* of the two-byte opcodes below */
    OP_LDFTN = 0xFE06,
    OP_LDVIRTFTN = 0xFE07,
    OP_LOCALLOC = 0xFE0F,
    OP_ENDFILTER = 0xFE11,
    OP_TAIL = 0xFE14,
    OP_CONSTRAINED = 0xFE16,
    OP_RETHROW = 0xFE1A,
};

/* The code of a method's IL body: after its header, before its exception clauses. */
struct il_code {
    const uint8_t *code;
    uint32_t size, body_size;
    const uint8_t *body; /* all of it, as metadata stores it */
};

/* il_parse - finds the code in a body as metadata stores it. Returns: false for a damaged one. */
bool il_parse(const uint8_t *body, size_t size, struct il_code *out);

struct il_instruction {
    uint32_t at;
    uint16_t opcode;        /* with its prefix byte, if it has one, above */
    _Atomic(uint16_t) name; /* hash of what it calls: most are passed over; 0: not made yet */
    uint32_t token;         /* operand of 4 bytes, if it has one */
};

/* il_next - decodes the instruction at *at, moves on. Returns: false at the end, or if damaged. */
bool il_next(const struct il_code *il, uint32_t *at, struct il_instruction *out);

bool il_calls(const struct il_instruction *in);

/* Is it a call, or may the JIT make it one of the runtime? Helpers in C# are hooked methods. */
bool il_reaches(const struct il_instruction *in);

/* il_branch - where it branches to; -1: it does not, or is a switch. next: the offset after it. */
int64_t il_branch(const struct il_code *il, const struct il_instruction *in, uint32_t next);

/* il_switch - the same of the i-th case, of in->token, of a switch. */
int64_t il_switch(const struct il_code *il, const struct il_instruction *in, uint32_t next,
                  uint32_t i);

#endif
