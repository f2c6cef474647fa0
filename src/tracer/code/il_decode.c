#include "code/il_decode.h"

#include "base/load.h"

#include <shadowtrace/clr/constants.h>

bool il_parse(const uint8_t *body, size_t size, struct il_code *out)
{
    const uint32_t fat_header = 12;

    if (!body || size < 1)
        return false;
    if ((body[0] & 3) == CorILMethod_FatFormat) { /* the two formats share the low two bits */
        if (size < fat_header || load_u32(body + 4) > size - fat_header)
            return false;
        *out = (struct il_code){body + fat_header, load_u32(body + 4), (uint32_t)size, body};
        return true;
    }
    *out = (struct il_code){body + 1, (uint32_t)body[0] >> 2, (uint32_t)size, body};
    return out->size <= size - 1;
}

/* Bytes after the opcode; a switch counts its table besides. */
static uint32_t operand_size(uint32_t opcode)
{
    static const uint8_t plain[256] = {
        [0x0E ... 0x13] = 1, /* ldarg.s to stloc.s */
        [0x1F] = 1,          /* ldc.i4.s */
        [0x20] = 4,          /* ldc.i4 */
        [0x21] = 8,          /* ldc.i8 */
        [0x22] = 4,          /* ldc.r4 */
        [0x23] = 8,          /* ldc.r8 */
        [0x27 ... 0x29] = 4, /* jmp, call, calli */
        [0x2B ... 0x37] = 1, /* short branches */
        [0x38 ... 0x45] = 4, /* branches, switch */
        [0x6F ... 0x75] = 4, /* callvirt to isinst */
        [0x79] = 4,          /* unbox */
        [0x7B ... 0x81] = 4, /* fields, stobj */
        [0x8C ... 0x8D] = 4, /* box, newarr */
        [0x8F] = 4,          /* ldelema */
        [0xA3 ... 0xA5] = 4, /* ldelem, stelem, unbox.any */
        [0xC2] = 4,          /* refanyval */
        [0xC6] = 4,          /* mkrefany */
        [0xD0] = 4,          /* ldtoken */
        [0xDD] = 4,          /* leave */
        [0xDE] = 1,          /* leave.s */
    };
    static const uint8_t prefixed[256] = {
        [0x06 ... 0x07] = 4, /* ldftn, ldvirtftn */
        [0x09 ... 0x0E] = 2, /* ldarg to stloc */
        [0x12] = 1,          /* unaligned. */
        [0x15 ... 0x16] = 4, /* initobj, constrained. */
        [0x19] = 1,          /* no. */
        [0x1C] = 4,          /* sizeof */
    };

    return opcode >> 8 ? prefixed[opcode & 0xff] : plain[opcode];
}

bool il_next(const struct il_code *il, uint32_t *at, struct il_instruction *out)
{
    uint64_t end = *at;
    uint32_t size;

    if (*at >= il->size)
        return false;
    *out = (struct il_instruction){.at = *at, .opcode = il->code[end++]};
    if (out->opcode == OP_PREFIX) {
        if (end >= il->size)
            return false;
        out->opcode = (uint16_t)(OP_PREFIX << 8 | il->code[end++]);
    }
    size = operand_size(out->opcode);
    if (end + size > il->size)
        return false;
    if (size == 4)
        out->token = load_u32(il->code + end);
    end += size;
    if (out->opcode == OP_SWITCH)
        end += (uint64_t)out->token * 4;
    if (end > il->size)
        return false;
    *at = (uint32_t)end;
    return true;
}

bool il_calls(const struct il_instruction *in)
{
    return in->opcode == OP_CALL || in->opcode == OP_CALLVIRT || in->opcode == OP_NEWOBJ ||
           in->opcode == OP_CALLI;
}

bool il_reaches(const struct il_instruction *in)
{
    switch (in->opcode) {
    case OP_CALL ... OP_CALLI:
    case OP_CALLVIRT ... OP_ISINST:
    case OP_UNBOX ... OP_THROW:
    case OP_LDSFLD ... OP_STOBJ:
    case OP_BOX ... OP_NEWARR:
    case OP_LDELEMA:
    case OP_STELEM_REF:
    case OP_STELEM ... OP_UNBOX_ANY:
    case OP_LDTOKEN:
    case OP_LDFTN ... OP_LDVIRTFTN:
    case OP_RETHROW:
        return true;
    default:
        return false;
    }
}

int64_t il_branch(const struct il_code *il, const struct il_instruction *in, uint32_t next)
{
    uint16_t op = in->opcode;

    if ((op >= OP_BR && op <= OP_BLT_UN) || op == OP_LEAVE)
        return (int64_t)next + (int32_t)in->token;
    if ((op >= OP_BR_S && op <= OP_BLT_UN_S) || op == OP_LEAVE_S)
        return (int64_t)next + (int8_t)il->code[next - 1];
    return -1;
}

int64_t il_switch(const struct il_code *il, const struct il_instruction *in, uint32_t next,
                  uint32_t i)
{
    return (int64_t)next + (int32_t)load_u32(il->code + next - 4 * (size_t)(in->token - i));
}
