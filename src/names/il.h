/*
 * names/il.h - which instruction of a statement made a call. The runtime's maps end at statements (places where the
 * evaluation stack is empty): a statement may call more than once, and then what was called tells which it was.
 */
#ifndef SHADOWTRACE_NAMES_IL_H
#define SHADOWTRACE_NAMES_IL_H

#include "names/names.h"

/* The code of a method's IL body: after its header, before its exception clauses. */
struct il_code {
    const uint8_t *code;
    uint32_t size;
};

/* il_parse - finds the code in a body as metadata stores it. Returns: false for a damaged one. */
bool il_parse(const uint8_t *body, size_t size, struct il_code *out);

/* What was called or made; NULL: not known. */
struct il_target {
    const char *callee;             /* text of a method */
    const struct names_class *made; /* class of a new object, its text resolved */
};

enum { IL_NOTHING = -1, /* nothing in there calls */ IL_AMBIGUOUS = -2 };

/*
 * il_narrow - the instruction of the statement [from, to) that reached the target. `from` starts an instruction.
 * Returns: its offset: the only one that can call, the one whose operand names the target (the first, if several do),
 *          or the only call, if the target is reached by way of it. Else one of the values above.
 * Threads: any that may read the metadata of method.
 */
int32_t il_narrow(const struct names_method *method, const struct il_code *il, uint32_t from,
                  uint32_t to, const struct il_target *target);

/*
 * il_search - the same when all that is known is the statement that lies before in native code: the instruction there
 * whose operand names the target, or the only one in the whole method that does, or that calls another method of the
 * target's type. Nothing is taken for want of others.
 */
int32_t il_search(const struct names_method *method, const struct il_code *il, uint32_t from,
                  uint32_t to, const struct il_target *target);

#endif
