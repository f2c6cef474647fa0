#include "code/il_pieces.h"

#include "metadata/signature.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

/* What an instruction does to the depth of the stack, other than by its operand. */
static int effect_of(uint32_t opcode)
{
    static const int8_t plain[256] = {
        [0x02 ... 0x09] = 1,  /* ldarg, ldloc */
        [0x0A ... 0x0D] = -1, /* stloc */
        [0x0E ... 0x0F] = 1,  /* ldarg.s, ldarga.s */
        [0x10] = -1,          /* starg.s */
        [0x11 ... 0x12] = 1,  /* ldloc.s, ldloca.s */
        [0x13] = -1,          /* stloc.s */
        [0x14 ... 0x25] = 1,  /* constants, dup */
        [0x26] = -1,          /* pop */
        [0x2C ... 0x2D] = -1, /* brfalse.s, brtrue.s */
        [0x2E ... 0x37] = -2, /* beq.s to blt.un.s */
        [0x39 ... 0x3A] = -1, /* brfalse, brtrue */
        [0x3B ... 0x44] = -2, /* beq to blt.un */
        [0x45] = -1,          /* switch */
        [0x51 ... 0x57] = -2, /* stind */
        [0x58 ... 0x64] = -1, /* add to shr.un */
        [0x70] = -2,          /* cpobj */
        [0x72] = 1,           /* ldstr */
        [0x7A] = -1,          /* throw */
        [0x7D] = -2,          /* stfld */
        [0x7E ... 0x7F] = 1,  /* ldsfld, ldsflda */
        [0x80] = -1,          /* stsfld */
        [0x81] = -2,          /* stobj */
        [0x8F ... 0x9A] = -1, /* ldelema, ldelem */
        [0x9B ... 0xA2] = -3, /* stelem */
        [0xA3] = -1,          /* ldelem */
        [0xA4] = -3,          /* stelem */
        [0xD0] = 1,           /* ldtoken */
        [0xD6 ... 0xDB] = -1, /* add.ovf to sub.ovf.un */
        [0xDF] = -2,          /* stind.i */
    };
    static const int8_t prefixed[256] = {
        [0x00] = 1,           /* arglist */
        [0x01 ... 0x05] = -1, /* comparisons */
        [0x06] = 1,           /* ldftn */
        [0x09 ... 0x0A] = 1,  /* ldarg, ldarga */
        [0x0B] = -1,          /* starg */
        [0x0C ... 0x0D] = 1,  /* ldloc, ldloca */
        [0x0E] = -1,          /* stloc */
        [0x11] = -1,          /* endfilter */
        [0x15] = -1,          /* initobj */
        [0x17 ... 0x18] = -3, /* cpblk, initblk */
        [0x1C] = 1,           /* sizeof */
    };

    return opcode >> 8 ? prefixed[opcode & 0xff] : plain[opcode];
}

static int effect_of_call(const struct metadata_method *method, struct il_memo *memo,
                          const struct il_instruction *in, bool *returns)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    struct signature_shape shape;

    if (!import || !il_memo_shape(memo, import, in->token, &shape))
        return 0;
    *returns = shape.returns;
    if (in->opcode == OP_NEWOBJ)
        return 1 - (int)shape.parameters;
    return (shape.returns ? 1 : 0) - (int)shape.parameters - (shape.has_this ? 1 : 0) -
           (in->opcode == OP_CALLI ? 1 : 0);
}

static bool is_prefix(uint32_t opcode)
{
    return (opcode >= 0xFE12 && opcode <= 0xFE14) || opcode == 0xFE16 || opcode == 0xFE19 ||
           opcode == 0xFE1E;
}

/* Whether what follows is reached from elsewhere only. */
static bool ends_flow(uint32_t opcode)
{
    switch (opcode) {
    case OP_JMP:
    case OP_RET:
    case OP_BR_S:
    case OP_BR:
    case OP_THROW:
    case OP_ENDFINALLY ... OP_LEAVE_S:
    case OP_ENDFILTER:
    case OP_RETHROW:
        return true;
    default:
        return false;
    }
}

/* What is known of an offset before the code there is read. */
enum { AT_MAPPED = 1, AT_TARGET = 2, AT_DEPTH = 4 /* times the depth + 1 */ };

static void reach(const struct il_code *il, uint16_t *known, int64_t target, int depth)
{
    if (target < 0 || target >= il->size)
        return;
    known[target] |= AT_TARGET;
    if (known[target] < AT_DEPTH && depth < UINT16_MAX / AT_DEPTH - 1)
        known[target] = (uint16_t)(known[target] + AT_DEPTH * (depth + 1));
}

/* Returns: the target of a branch other than a switch, else -1. */
static int64_t reach_all(const struct il_code *il, const struct il_instruction *in, uint32_t next,
                         uint16_t *known, int depth)
{
    int64_t target = il_branch(il, in, next);

    for (uint32_t i = 0; in->opcode == OP_SWITCH && i < in->token; i++)
        reach(il, known, il_switch(il, in, next, i), depth);
    if (target >= 0)
        reach(il, known, target, in->opcode == OP_LEAVE || in->opcode == OP_LEAVE_S ? 0 : depth);
    return target < il->size ? target : -1;
}

/* Also whether the JIT starts a statement after it: after a call that returns nothing. */
static int depth_after(const struct metadata_method *method, struct il_memo *memo,
                       const struct il_instruction *in, int depth, bool *breaks)
{
    bool returns = true;

    depth += il_calls(in) ? effect_of_call(method, memo, in, &returns) : effect_of(in->opcode);
    *breaks = !returns;
    return depth < 0 ? 0 : depth; /* a handler begins with the exception on the stack */
}

static struct il_piece *last_piece(const struct buffer *pieces)
{
    return (struct il_piece *)(void *)(pieces->data + pieces->size) - 1;
}

/* Walks the code once: at branches back the depth is 0, or known from before. */
static void walk(const struct metadata_method *method, struct il_memo *memo,
                 const struct il_code *il, uint16_t *known, struct buffer *pieces,
                 struct buffer *reach)
{
    uint32_t next = 0;
    bool ended = true, breaks = false, prefixed = false;
    int depth = 0;
    struct il_instruction in;

    while (il_next(il, &next, &in)) {
        int64_t target;

        if (ended)
            depth = known[in.at] >= AT_DEPTH ? known[in.at] / AT_DEPTH - 1 : 0;
        if (!in.at || (!depth && !prefixed) || breaks || (known[in.at] & AT_MAPPED)) {
            const struct il_piece piece = {.at = in.at,
                                           .first = (uint32_t)(reach->size / sizeof(in)),
                                           .statement = !depth,
                                           .mapped = known[in.at] & AT_MAPPED};

            buffer_append(pieces, &piece, sizeof(piece));
        } else if (ended || last_piece(pieces)->jump != IL_NOWHERE) {
            last_piece(pieces)->splits = true;
        }
        if (il_reaches(&in))
            buffer_append(reach, &in, sizeof(in));
        if (pieces->failed || reach->failed)
            return;
        depth = depth_after(method, memo, &in, depth, &breaks);
        target = reach_all(il, &in, next, known, depth);
        ended = ends_flow(in.opcode);
        prefixed = is_prefix(in.opcode);
        last_piece(pieces)->ends = ended;
        last_piece(pieces)->jump = target >= 0 ? (uint32_t)target : IL_NOWHERE;
    }
    if (!pieces->size)
        buffer_append(
            pieces,
            &(struct il_piece){.jump = IL_NOWHERE, .statement = true, .joins = true, .ends = true},
            sizeof(struct il_piece));
}

/* Now that all branches are known: where they come to. */
static void mark_joins(const struct il_code *il, const uint16_t *known, struct il_pieces *pieces)
{
    uint32_t index = 0;

    for (uint32_t at = 0; at < il->size; at++) {
        if (!(known[at] & AT_TARGET))
            continue;
        while (index + 1 < pieces->count && pieces->piece[index + 1].at <= at)
            index++;
        if (pieces->piece[index].at == at)
            pieces->piece[index].joins = true;
        else
            pieces->piece[index].splits = true;
    }
}

/* Copies them into one block; without memory out stays empty. */
static void pieces_set(struct il_pieces *out, const struct il_piece *piece, uint32_t count,
                       const struct il_instruction *reach, uint32_t reaches)
{
    struct il_piece *block = memory_alloc(count * sizeof(*piece) + reaches * sizeof(*reach));

    if (!block)
        return;
    *out = (struct il_pieces){block, (struct il_instruction *)(void *)(block + count), count,
                              reaches, false};
    memcpy(out->piece, piece, count * sizeof(*piece));
    memcpy(out->reach, reach, reaches * sizeof(*reach));
    for (uint32_t i = 0; i < reaches; i++)
        out->boxes |= reach[i].opcode == OP_BOX;
}

#define KNOWN_SMALL 512 /* bytes of IL that need no memory to be walked */

int il_pieces_new(const struct metadata_method *method, const struct il_code *il,
                  const uint32_t *mapped, uint32_t mapped_count, struct il_memo *memo,
                  struct il_pieces *out)
{
    uint16_t known_room[KNOWN_SMALL] = {0}, *known = known_room;
    struct il_piece piece_room[32];
    struct il_instruction reach_room[32];
    struct buffer pieces = BUFFER_ON(piece_room), reach = BUFFER_ON(reach_room);

    *out = (struct il_pieces){0};
    if (il->size >= KNOWN_SMALL)
        known = memory_zalloc(il->size + 1, sizeof(*known));
    for (uint32_t i = 0; known && i < mapped_count; i++)
        if (mapped[i] < il->size)
            known[mapped[i]] |= AT_MAPPED;
    if (known)
        walk(method, memo, il, known, &pieces, &reach);
    if (known && !pieces.failed && !reach.failed)
        pieces_set(out, (const struct il_piece *)(void *)pieces.data,
                   (uint32_t)(pieces.size / sizeof(*out->piece)),
                   (const struct il_instruction *)(void *)reach.data,
                   (uint32_t)(reach.size / sizeof(*out->reach)));
    if (out->piece)
        mark_joins(il, known, out);
    if (known != known_room)
        memory_free(known);
    buffer_free(&pieces);
    buffer_free(&reach);
    return out->piece ? 0 : -ENOMEM;
}

bool il_pieces_sole(const struct il_code *il, struct il_pieces *out)
{
    struct il_instruction in, sole = {0};
    uint32_t next = 0, reaches = 0;

    *out = (struct il_pieces){0};
    while (reaches <= 1 && il_next(il, &next, &in))
        if (il_reaches(&in) && !reaches++)
            sole = in;
    if (reaches != 1 || next < il->size)
        return false;
    pieces_set(out, &(struct il_piece){.jump = IL_NOWHERE, .statement = true, .ends = true}, 1,
               &sole, 1);
    return out->piece;
}

uint32_t il_piece_after(const struct il_pieces *pieces, uint32_t il)
{
    uint32_t low = 0, high = pieces->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (pieces->piece[middle].at > il)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint32_t il_statement_end(const struct il_pieces *pieces, uint32_t il)
{
    uint32_t i = il_piece_after(pieces, il);

    while (i < pieces->count && !pieces->piece[i].statement)
        i++;
    return i < pieces->count ? pieces->piece[i].at : IL_NOWHERE;
}

size_t il_pieces_size(const struct il_pieces *pieces)
{
    return pieces->count * sizeof(*pieces->piece) + pieces->reaches * sizeof(*pieces->reach);
}

void il_pieces_copy(const struct il_pieces *pieces, void *to, struct il_pieces *out)
{
    *out = *pieces;
    out->piece = memcpy(to, pieces->piece, il_pieces_size(pieces));
    out->reach = (struct il_instruction *)(void *)(out->piece + pieces->count);
}

void il_pieces_free(struct il_pieces *pieces)
{
    memory_free(pieces->piece); /* and reach */
    *pieces = (struct il_pieces){0};
}
