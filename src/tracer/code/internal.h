/*
 * code/internal.h - what the files of src/tracer/code/ share. code.c keeps the bodies of a method's
 * native code and maps them, il_*.c find an instruction, cpu_code.c reads machine code, calls.c
 * counts calls in it, callee.c tells whom it calls, tier.c and precompiled.c how code was compiled.
 */
#ifndef SHADOWTRACE_CODE_INTERNAL_H
#define SHADOWTRACE_CODE_INTERNAL_H

#include "code/code.h"
#include "code/il_search.h"

#include "metadata/internal.h"

/* One piece of a method's native code: a tier, an OSR body, a ReJIT. Immutable once listed. */
struct code_body {
    struct code_body *next;
    uintptr_t start;
    uint32_t epoch; /* when it was asked for */
    uint32_t order; /* 0: the first that was made of the method; then 1, 2, ... as they were made */
    uint32_t ranges; /* hot first; native offsets count through them in this order */
    uint32_t entries;
    struct clr_code_info *range, only_range; /* mostly there is one */
    struct clr_debug_il_to_native_map *map;  /* by native_start_offset */
    struct il_pieces pieces;                 /* none: without IL */
    bool settled;                            /* it, and what it has, is the pool's */
    bool again;                              /* listed already: this one is whole */
    bool sole;                               /* without map, which one instruction does not need */
};

/* The listed body that holds an address, and the address's offset in it; or NULL. */
const struct code_body *code_body_find(const struct metadata *metadata,
                                       const struct metadata_method *method, uintptr_t ip,
                                       uint32_t *offset);

/*
 * code_callee - the method that a call in `method` goes to, hooked or not, by the machine code: the
 * call ends at code[size], and code[0] begins an instruction and lies, or lay, at `address`.
 * Returns: its record; NULL: nothing with metadata, or what is only found when the call runs.
 * Threads: as metadata_method_map.
 */
struct metadata_method *code_callee(struct metadata *metadata, const struct metadata_method *method,
                                    const uint8_t *code, size_t size, uintptr_t address);

/*
 * inlining.c: code_rich - rich debug info of a body, if methods were inlined there.
 * Returns: NULL: none, or nothing was; *native: where the code of the call's entry begins; *lost:
 *          nobody knows whether anything was.
 */
struct rich_body;
struct rich_code;
const struct rich_body *code_rich(struct metadata *metadata, const struct metadata_method *method,
                                  const struct rich_code *code, uint32_t offset, uint32_t *native,
                                  bool *lost);

/* What decides. If no own code that was inlined is in question, the runtime's map has the line. */
enum code_by {
    CODE_BY_RICH,
    CODE_BY_MAP,  /* as without inlined methods */
    CODE_BY_NAME, /* so, but only an instruction whose operand names what is looked for counts */
};

/*
 * code_rich_il - the instruction in the method at `offset` of its code, by the first of the
 * targets that any fits; count 0: the statement. *inlined: frames within it (code/inlined.h), 0:
 * none. Returns: as code_il_call; CODE_IL_UNMAPPED: it is not certain, or *by is CODE_BY_NAME. If
 * *by is CODE_BY_MAP: the call in the method by which the code was inlined, or CODE_IL_UNMAPPED.
 */
int32_t code_rich_il(struct metadata *metadata, struct metadata_method *method,
                     const struct rich_body *rich, uint32_t offset, const struct il_target *targets,
                     size_t count, uint32_t *inlined, enum code_by *by);

/*
 * code_rich_root - where no own code that was inlined is in question, and the map has nothing: that
 * of the method by which rich debug info has the code, if it fits the target, or the only one that
 * can; with target->sure by an operand that names it. Returns: the instruction, or several
 * (base/il.h), or CODE_IL_UNMAPPED.
 */
int32_t code_rich_root(struct metadata *metadata, struct metadata_method *method,
                       const struct rich_body *rich, uint32_t offset,
                       const struct il_target *target);

/* inlined.c: the number of a frame; 0: there are too many, or no memory. */
uint32_t code_inlined_number(struct metadata *metadata, const struct metadata_method *method,
                             int32_t il, uint32_t parent);

/* The resolver's memo; NULL: another thread, or no memory. */
struct il_memo *code_memo(struct metadata *metadata);

/* The IL of a method. Returns: whether it is known, and has any. */
bool code_il_of(struct metadata *metadata, const struct metadata_method *method,
                struct il_code *out);

/* The same from the method's image, with whatever follows it there. Threads: as below. */
bool code_stored_il(struct metadata *metadata, const struct metadata_method *method,
                    struct il_code *out);

/* Is a body surely not optimised? Threads: false for all but the resolver. */
struct code_body;
bool code_is_unoptimised(struct metadata *metadata, struct metadata_method *method,
                         const struct code_body *body);

/* Objects that optimised code may do without; see tier.c. */
enum code_spared { CODE_SPARED_NONE, CODE_SPARED_BOX, CODE_SPARED_HANDLE };

/* Was the method's code at `start` compiled ahead of time: does it lie in its module's image? */
bool code_precompiled(struct metadata *metadata, const struct metadata_method *method,
                      uintptr_t start);

/*
 * Does an address lie in the image of the method's module, which has precompiled code and stays?
 * Threads: the resolver; others get false.
 */
bool code_image_holds(struct metadata *metadata, const struct metadata_method *method,
                      uintptr_t address);

/*
 * code_stored_start - where the code of a plain method begins that was compiled ahead of time, if
 * that may hold an address. Returns: 0: it does not, or nobody knows. Threads: the resolver; others
 * get 0.
 */
uintptr_t code_stored_start(struct metadata *metadata, const struct metadata_method *method,
                            uintptr_t ip);

/*
 * code_cell - whom a call through a word of the caller's image goes to, by what the image says of
 * it: the runtime fills such cells in when they are first needed, and what they hold until then
 * tells nothing. A method's record is the caller's only: it has no FunctionID, and its token and
 * text are in the terms of the caller's module.
 * Returns: CODE_CELL_NONE: no such cell, or it is in other terms. Threads: the resolver.
 */
enum code_cell { CODE_CELL_NONE, CODE_CELL_METHOD, CODE_CELL_HELPER };
enum code_cell code_cell(struct metadata *metadata, const struct metadata_method *caller,
                         uintptr_t cell, struct metadata_method **out);

/*
 * The map of precompiled code, of that size, from its image. Returns: false: the runtime is to be
 * asked. Threads: the resolver; others get false.
 */
bool code_stored_map(struct metadata *metadata, const struct metadata_method *method, uint32_t size,
                     struct code_body *body);

/* Is there precompiled code of the method that does without a `class`? Threads: the resolver. */
bool code_precompiled_without(struct metadata *metadata, const struct metadata_method *method,
                              enum code_spared what, struct metadata_class *class);

#endif
