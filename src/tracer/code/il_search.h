/*
 * code/il_search.h - which instruction of a statement made a call. The runtime's maps end at statements (places where the
 * evaluation stack is empty), and in optimised code the result of one statement may be computed where the next one
 * uses it: what was called, or made, tells which instruction it was.
 */
#ifndef SHADOWTRACE_CODE_IL_SEARCH_H
#define SHADOWTRACE_CODE_IL_SEARCH_H

#include "code/il_match.h"
#include "code/il_pieces.h"

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
