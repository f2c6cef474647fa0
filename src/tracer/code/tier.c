/*
 * How a body was compiled. The profiling API does not say, but the runtime's rules do
 * (src/coreclr/vm/tieredcompilation.cpp, src/coreclr/jit/compiler.cpp): the first body is made
 * quickly, unless the JIT finds IL that it cannot do that way, or the method asks to be optimised;
 * one called often gets a second, unoptimised body, which counts for the third. Bodies that replace
 * one while it runs (OSR) are optimised and have no enter hook.
 */
#include "code/internal.h"

#include "metadata/state_machine.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>
#include <shadowtrace/log_reader.h>

#include <string.h>

#define PROLOG_MAX 512 /* bytes of a body in which its enter hook is looked for */

/* ECMA-335 II.25.4.5: what follows the code of a method. */
enum {
    SECTION_CLAUSES = 0x01,
    SECTION_FAT = 0x40,
    SECTION_MORE = 0x80,
    CLAUSE_SMALL = 12,
    CLAUSE_FAT = 24,
};

static uint32_t little(const uint8_t *at, unsigned size)
{
    uint32_t value = 0;

    memcpy(&value, at, size);
    return value;
}

/* Does an offset lie in a handler of one of the clauses? `section` lies in the body. */
static bool in_clauses(const uint8_t *section, uint32_t size, bool fat, uint32_t offset)
{
    for (uint32_t at = 4, step = fat ? CLAUSE_FAT : CLAUSE_SMALL; at + step <= size; at += step) {
        const uint8_t *clause = section + at;
        uint32_t start = fat ? little(clause + 12, 4) : little(clause + 5, 2);
        uint32_t length = fat ? little(clause + 16, 4) : clause[7];

        if (offset - start < length)
            return true;
    }
    return false;
}

static bool in_handler(const struct il_code *il, uint32_t offset)
{
    uint64_t at = ((uint64_t)(il->code - il->body) + il->size + 3) & ~UINT64_C(3);
    bool more = (il->body[0] & 3) == CorILMethod_FatFormat && il->body[0] & CorILMethod_MoreSects;

    while (more && at + 4 <= il->body_size) {
        const uint8_t *section = il->body + at;
        bool fat = section[0] & SECTION_FAT;
        uint32_t size = fat ? little(section + 1, 3) : section[1];

        if (size < 4 || at + size > il->body_size)
            return false;
        if (section[0] & SECTION_CLAUSES && in_clauses(section, size, fat, offset))
            return true;
        more = section[0] & SECTION_MORE;
        at = (at + size + 3) & ~UINT64_C(3);
    }
    return false;
}

/* Does the instruction branch to itself or back? */
static bool branches_back(const struct il_code *il, const struct il_instruction *in, uint32_t next)
{
    int64_t target = il_branch(il, in, next);

    for (uint32_t i = 0; in->opcode == OP_SWITCH && i < in->token; i++)
        if (il_switch(il, in, next, i) <= in->at)
            return true;
    return target >= 0 && target <= in->at;
}

/*
 * Is the first body optimised? The JIT does so for explicit tail calls, for loops if told to, and
 * for loops that it could not leave for an optimised body: in handlers, and beside stack
 * allocations.
 */
static bool first_optimised(const struct metadata *metadata, const struct il_code *il)
{
    bool loops = false, in_handlers = false, localloc = false;
    struct il_instruction in;
    uint32_t at = 0;

    while (il_next(il, &at, &in)) {
        if (in.opcode == OP_TAIL)
            return true;
        localloc |= in.opcode == OP_LOCALLOC;
        if (!branches_back(il, &in, at))
            continue;
        loops = true;
        in_handlers |= in_handler(il, in.at);
    }
    return loops && (!metadata->config.tiers.quick_loops || in_handlers || localloc);
}

/* The hook's argument is the method's record: `movabs $record, %r14`, in the prolog. */
static bool has_enter(const struct metadata_method *method, const struct code_body *body)
{
    uint8_t load[10] = {0x49, 0xbe};
    size_t size = body->ranges ? body->range[0].size : 0;

    memcpy(load + 2, &method, sizeof(method));
    return memmem((const void *)body->range[0].start_address, size < PROLOG_MAX ? size : PROLOG_MAX,
                  load, sizeof(load));
}

/* Bodies with an enter hook that were made before this one, the first of all not counted. */
static unsigned calls_before(struct metadata_method *method, const struct code_body *body)
{
    const struct code_body *other = load_acquire(&method->bodies);
    unsigned count = 0;

    for (; other; other = other->next)
        count +=
            other->order && other->order < body->order && !other->again && has_enter(method, other);
    return count;
}

static bool unoptimised(struct metadata *metadata, struct metadata_method *method,
                        const struct code_body *body)
{
    struct il_code il;

    if (body->order)
        return metadata->config.tiers.instrumented && has_enter(method, body) &&
               !calls_before(method, body);
    return !code_precompiled(metadata, method, body->start) && code_il_of(metadata, method, &il) &&
           !first_optimised(metadata, &il) &&
           !(metadata_method_flags(method) & miAggressiveOptimization);
}

bool code_is_unoptimised(struct metadata *metadata, struct metadata_method *method,
                         const struct code_body *body)
{
    return metadata->config.tiers.tiered && !method->collectible &&
           metadata_is_resolver(metadata) && unoptimised(metadata, method, body);
}

/*
 * What optimised code may do without: a box (made by `box`, or by a call behind `constrained.`),
 * and the object that stands for a field, if only the field's data is wanted (a span over
 * constants). Other objects are always made, those too that the runtime makes for statics or
 * reflection.
 */
static enum code_spared spared(struct metadata *metadata, const struct metadata_method *method,
                               int32_t il, struct metadata_class *made)
{
    struct il_instruction in = {.at = UINT32_MAX};
    bool constrained = false;
    struct il_code code;
    uint32_t at = 0;

    if (made->module && made->module->corelib &&
        strcmp(metadata_class_resolve(metadata, made), "System.RuntimeFieldInfoStub") == 0)
        return CODE_SPARED_HANDLE;
    if (metadata_class_text(made) && load_relaxed(&made->sort) == SST_SORT_NONE)
        return CODE_SPARED_NONE; /* as most: no value */
    if (il < 0 || il > IL_MOST || !code_il_of(metadata, method, &code))
        return CODE_SPARED_NONE;
    while (at <= (uint32_t)il && il_next(&code, &at, &in) && in.at < (uint32_t)il)
        constrained = in.opcode == OP_CONSTRAINED;
    if (in.at != (uint32_t)il)
        return CODE_SPARED_NONE;
    return (in.opcode == OP_BOX || in.opcode == OP_CONSTRAINED || constrained) &&
                   metadata_class_is_value(made)
               ? CODE_SPARED_BOX
               : CODE_SPARED_NONE;
}

bool code_unoptimised_alloc(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                            int32_t il, struct metadata_class *made)
{
    const struct metadata_tiers *tiers = &metadata->config.tiers;
    const struct code_body *body;
    enum code_spared what;
    uint32_t offset;

    if (!tiers->tiered || !tiers->precompiled || !ip || il < 0 || !method || !method->module ||
        !made || method->collectible || made->collectible || /* what may be gone is not asked */
        !metadata_is_resolver(metadata) || !(what = spared(metadata, method, il, made)))
        return false;
    body = code_body_find(metadata, method, ip - 1, &offset);
    return body && body->ranges && unoptimised(metadata, method, body) &&
           code_precompiled_without(metadata, method, what, made);
}
