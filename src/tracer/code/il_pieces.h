/* code/il_pieces.h - a method's IL in pieces, as the runtime maps it. */
#ifndef SHADOWTRACE_CODE_IL_PIECES_H
#define SHADOWTRACE_CODE_IL_PIECES_H

#include "code/il_decode.h"
#include "code/il_match.h"

#include "metadata/metadata.h"

/*
 * One piece of a body's IL: from where the evaluation stack is empty, or the runtime's map has an
 * entry, to the next such place. Optimised code has pieces without an entry: their code was moved
 * to where the result is used, or belongs to the entry before, or does not exist.
 */
struct il_piece {
    uint32_t at;
    uint32_t jump;      /* where a branch at its end goes, if it does; else IL_NOWHERE */
    uint32_t first;     /* of il_pieces.reach: the first that is in this piece, or in a later one */
    bool statement : 1; /* the stack is empty here */
    bool mapped : 1;
    bool joins : 1;  /* a branch comes here */
    bool splits : 1; /* a branch comes to, or goes from, its inside */
    bool ends : 1;   /* does not run on into the next */
};

#define IL_NOWHERE UINT32_MAX

struct il_pieces {
    struct il_piece *piece;       /* by rising offset; one at least */
    struct il_instruction *reach; /* those that call, or may; by rising offset */
    uint32_t count, reaches;
    bool boxes; /* any of them does */
};

/*
 * il_pieces_new - the pieces of a method's IL. mapped: offsets that the map has entries for, in any
 * order; those that are no instruction's are ignored. memo: the calling thread's, or NULL.
 * Returns: 0 and pieces for il_pieces_free(); -ENOMEM, and none.
 * Threads: as il_find.
 */
int il_pieces_new(const struct metadata_method *method, const struct il_code *il,
                  const uint32_t *mapped, uint32_t mapped_count, struct il_memo *memo,
                  struct il_pieces *out);
void il_pieces_free(struct il_pieces *pieces);

/* il_pieces_copy - copies them to memory of the caller's, il_pieces_size bytes. */
size_t il_pieces_size(const struct il_pieces *pieces);
void il_pieces_copy(const struct il_pieces *pieces, void *to, struct il_pieces *out);

/* il_piece_after - the number of the first piece after an offset; the count: all are before it. */
uint32_t il_piece_after(const struct il_pieces *pieces, uint32_t il);

/* il_statement_end - where the statement that holds an offset ends; IL_NOWHERE: with the method. */
uint32_t il_statement_end(const struct il_pieces *pieces, uint32_t il);

/*
 * il_pieces_sole - one piece, of a body with one instruction that can reach anything: needs no map.
 * Returns: whether it is such a body, and there is memory; if not, out is empty.
 */
bool il_pieces_sole(const struct il_code *il, struct il_pieces *out);

#endif
