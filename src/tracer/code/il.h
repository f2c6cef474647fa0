/*
 * code/il.h - which instruction of a statement made a call. The runtime's maps end at statements (places where the
 * evaluation stack is empty), and in optimised code the result of one statement may be computed where the next one
 * uses it: what was called, or made, tells which instruction it was.
 */
#ifndef SHADOWTRACE_CODE_IL_H
#define SHADOWTRACE_CODE_IL_H

#include "code/x86.h"

#include "metadata/metadata.h"

/* The code of a method's IL body: after its header, before its exception clauses. */
struct il_code {
    const uint8_t *code;
    uint32_t size;
};

/* il_parse - finds the code in a body as metadata stores it. Returns: false for a damaged one. */
bool il_parse(const uint8_t *body, size_t size, struct il_code *out);

/* What operands name, so that the metadata is asked once. One thread's own; memory_free ends it. */
struct il_memo;
struct il_memo *il_memo_new(void); /* NULL: no memory */

/*
 * The place among equal calls in the code that the map gives to the piece. Reading code takes longer than the rest
 * together: it is done at most once, and not where any place would lead to the same instruction.
 */
struct il_rank {
    struct x86_rank (*read)(struct il_rank *rank);
};

/* What was called or made; NULL: not known. */
struct il_target {
    const char *callee;                   /* text of a method */
    const struct metadata_method *record; /* the callee's, or NULL: then its text has to do */
    const struct metadata_class *made;    /* class of a new object, its text resolved */
    bool unnamed;                         /* what a delegate, or a pointer, led to */
    struct il_memo *memo;                 /* the calling thread's, or NULL */
    struct il_rank *rank;                 /* NULL: not known */
};

/*
 * One piece of a body's IL: from where the evaluation stack is empty, or where the runtime's map says that something
 * begins, to the next such place. Optimised code has pieces without an entry in the map: their code was moved to where
 * the result is used, or runs on under the entry before, or there is none.
 */
struct il_piece {
    uint32_t at;
    uint32_t jump;  /* where a branch at its end goes, if it does; else IL_NOWHERE */
    uint32_t first; /* of il_pieces.reach: the first that is in this piece, or in one behind it */
    bool statement : 1; /* the stack is empty here */
    bool mapped : 1;
    bool joins : 1;  /* a branch comes here */
    bool splits : 1; /* a branch comes to, or goes from, its inside */
    bool ends : 1;   /* does not run on into the next */
};

#define IL_NOWHERE UINT32_MAX

struct il_instruction {
    uint32_t at;
    uint16_t opcode; /* with its prefix byte, if it has one, above */
    _Atomic(uint16_t)
        name;       /* of what it calls, shortened, so that most are passed over; 0: not made yet */
    uint32_t token; /* operand of 4 bytes, if it has one */
};

struct il_pieces {
    struct il_piece *piece; /* by rising offset; one at least */
    struct il_instruction
        *reach; /* those that call, or may call a helper, or make an object; by rising offset */
    uint32_t count, reaches;
    bool boxes; /* any of them does */
};

/* il_next - decodes the instruction at *at and moves on. Returns: false at the end of the code, or when it is damaged. */
bool il_next(const struct il_code *il, uint32_t *at, struct il_instruction *out);

/*
 * il_pieces_new - the pieces of a method's IL. mapped: offsets that the map has entries for, in any order; one that is
 * no instruction's is passed over.
 * Returns: 0 and pieces for il_pieces_free(); -ENOMEM, and none.
 * Threads: as il_find.
 */
int il_pieces_new(const struct metadata_method *method, const struct il_code *il,
                  const uint32_t *mapped, uint32_t mapped_count, struct il_pieces *out);
void il_pieces_free(struct il_pieces *pieces);

/*
 * il_pieces_sole - one piece, of a body in which one instruction only can reach anything: needs no map.
 * Returns: whether it is such a body, and there is memory; if not, out is empty.
 */
bool il_pieces_sole(const struct il_code *il, struct il_pieces *out);

enum { IL_UNKNOWN = -1 };

/*
 * il_find - the instruction that reached the target from native code which the map gives to the piece at `from`.
 * Returns: its offset, in that piece or in one next to it that has no entry: the one whose operand names the target (of
 *          several the one at the place of the target's rank), the only one that can call, or the only call, if the target is reached
 *          by way of it. `from` if all that can call is in that piece, but nothing tells which it was. Else IL_UNKNOWN.
 * Threads: any that may read the metadata of method.
 */
int32_t il_find(const struct metadata_method *method, const struct il_pieces *pieces, uint32_t from,
                const struct il_target *target);

/* il_find_sole - the one instruction of il_pieces_sole(), if its operand names the target; else IL_UNKNOWN. */
int32_t il_find_sole(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target);

/* il_find_first - the same for native code before the map's first entry, the prolog. */
int32_t il_find_first(const struct metadata_method *method, const struct il_pieces *pieces,
                      const struct il_target *target);

/* il_find_lost - for code behind an epilog, where the JIT puts blocks that it moved away: operands that name the target. */
int32_t il_find_lost(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target);

/*
 * il_search - the same when the map has no entry: `from` is that of the native code before, IL_NOWHERE behind an epilog. The instruction there whose
 * operand names the target, or the only one in the whole method that does, or that calls another method of the
 * target's type; else IL_UNKNOWN.
 */
int32_t il_search(const struct metadata_method *method, const struct il_pieces *pieces,
                  uint32_t from, const struct il_target *target);

#endif
