/*
 * code/il_search.h - which instruction of a statement made a call. The runtime's maps end at
 * statements (where the evaluation stack is empty), and optimised code may compute the result of
 * one statement where the next uses it: what was called, or made, tells which instruction it was.
 */
#ifndef SHADOWTRACE_CODE_IL_SEARCH_H
#define SHADOWTRACE_CODE_IL_SEARCH_H

#include "code/il_match.h"
#include "code/il_pieces.h"

enum { IL_UNKNOWN = -1 };

/*
 * il_find - the instruction that reached the target from native code which the map gives to the
 * piece at `from`.
 * Returns: its offset, in that piece or a neighbour without an entry: the one whose operand names
 *          the target (of several the one at the target's rank), the only one that can call, or the
 *          only call, if the target is reached through it. Where nothing tells which it was, the
 *          several that it can be, as base/il.h has them. Else IL_UNKNOWN.
 * Threads: any that may read the metadata of method.
 */
int32_t il_find(const struct metadata_method *method, const struct il_pieces *pieces, uint32_t from,
                const struct il_target *target);

/* il_find_sole - the instruction of il_pieces_sole(), if its operand names the target. */
int32_t il_find_sole(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target);

/* il_find_first - the same for native code before the map's first entry, the prolog. */
int32_t il_find_first(const struct metadata_method *method, const struct il_pieces *pieces,
                      const struct il_target *target);

/* il_find_lost - by operand alone, for blocks that the JIT moved behind an epilog. */
int32_t il_find_lost(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target);

/*
 * il_doubtful - does another instruction make the target's object, and none of those in `il`? Where
 * optimised code is moved, or is there several times, the map may give it to another statement.
 */
bool il_doubtful(const struct metadata_method *method, const struct il_pieces *pieces, int32_t il,
                 const struct il_target *target);

/*
 * il_search - the same if the map has no entry: `from` is that of the native code before,
 * IL_NOWHERE behind an epilog. The instruction there whose operand names the target, or the only
 * one in the method that does, or that calls another method of the target's type; else IL_UNKNOWN.
 */
int32_t il_search(const struct metadata_method *method, const struct il_pieces *pieces,
                  uint32_t from, const struct il_target *target);

#endif
