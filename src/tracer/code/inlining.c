/*
 * Which instruction of which method, inlined ones included, native code is of, by rich debug info.
 * The info tells statements: the last entry before a return address has a node of the inline tree
 * and the statement's offset. What was called, or made, tells the instruction in it. If none
 * fits, the code belongs to a caller: the JIT moves the allocation of an object into the first
 * statement of its inlined constructor.
 *
 * What is not certain stays unknown: a line of the caller's would be a wrong one.
 */
#include "code/inlined.h"
#include "code/internal.h"

#include "base/memory.h"
#include "metadata/state_machine.h"
#include "rich/rich.h"

#include <string.h>

#define WHOLE      ((struct range){0, IL_NOWHERE, 0, 0})
#define MOST_DEPTH 64
#define MOST_CALLS 64

struct range {
    uint32_t from, to;
    uint32_t hole, hole_to; /* a part that is not in it; the same: none */
};

struct inlining {
    struct metadata *metadata;
    struct metadata_method *root;
    const struct rich_body *body;
    uint32_t entry; /* of the map */
    bool trusted;   /* offsets of nodes are right */
    const struct il_target *target;
    struct metadata_method **known; /* of nodes; NULL: no memory */
    const uint32_t *parent;         /* of nodes; NULL: those of the body */
    rich_call *calls;               /* the body's; NULL: no memory, or nothing to be found */
    uint32_t doubtful; /* where find_up() ended: the node that has several instructions, or whose
                          callees have, in `part`; or RICH_NONE */
    struct range part;
};

/* Instructions that fit as well as any. */
struct found {
    unsigned fit;
    uint32_t count, at[MOST_CALLS];
};

static uint32_t parent_of(const struct inlining *in, uint32_t node)
{
    return in->parent ? in->parent[node] : in->body->node[node].parent;
}

static bool stays(const struct metadata_method *method)
{
    return !method->collectible && method->module;
}

/*
 * The record of a node's method. The runtime is asked about one of shared generic code each time,
 * so it is kept meanwhile.
 */
static int map_method(const struct inlining *in, uint32_t node, struct metadata_method **method)
{
    int err = 0;

    *method = in->known ? in->known[node] : NULL;
    if (!*method)
        err = metadata_method_map(in->metadata, in->body->node[node].function, method);
    if (!err && in->known)
        in->known[node] = *method;
    return err;
}

/* The method of a node; NULL: none that stays. */
static struct metadata_method *method_of(const struct inlining *in, uint32_t node)
{
    struct metadata_method *method;

    if (!node)
        return in->root;
    if (map_method(in, node, &method) || !stays(method))
        return NULL;
    metadata_method_resolve(in->metadata, method);
    return method;
}

/* Kept with the method. NULL: it has no IL, or there is no memory. */
static const struct il_pieces *pieces_of(struct metadata *metadata, struct metadata_method *method)
{
    struct il_pieces *pieces = load_acquire(&method->pieces), *known = NULL;
    struct il_code il;

    if (pieces || !code_il_of(metadata, method, &il))
        return pieces;
    pieces = memory_zalloc(1, sizeof(*pieces));
    if (!pieces)
        return NULL;
    if (il_pieces_new(method, &il, NULL, 0, code_memo(metadata), pieces)) {
        memory_free(pieces);
        return NULL;
    }
    if (cas_acq_rel(&method->pieces, &known, pieces))
        return pieces;
    il_pieces_free(pieces);
    memory_free(pieces);
    return known;
}

static bool in_range(const struct range *range, uint32_t at)
{
    return at >= range->from && at < range->to && !(at >= range->hole && at < range->hole_to);
}

#define PREFIX 6 /* bytes of `constrained.` and its type */

/* A virtual call boxes the value that its prefix names, if the type does not override it. */
static unsigned fit_constrained(const struct inlining *in, struct il_match *match,
                                const struct metadata_method *method,
                                const struct il_instruction *call)
{
    struct il_instruction box = {.at = call->at, .opcode = OP_BOX};
    struct il_code il;

    if (call->opcode != OP_CALLVIRT || call->at < PREFIX || !match->target->made ||
        !metadata_class_is_value(match->target->made) || !code_il_of(in->metadata, method, &il) ||
        call->at > il.size || il.code[call->at - PREFIX] != OP_CONSTRAINED >> 8 ||
        il.code[call->at - PREFIX + 1] != (OP_CONSTRAINED & 0xff))
        return 0;
    memcpy(&box.token, il.code + call->at - sizeof(box.token), sizeof(box.token));
    return il_match_fit(match, &box, false);
}

static unsigned fit_of(const struct inlining *in, struct il_match *match,
                       const struct metadata_method *method, struct il_instruction *instruction)
{
    unsigned fit = il_match_fit(match, instruction, false);

    return fit ? fit : fit_constrained(in, match, method, instruction);
}

/* exact, least: how well they have to fit. */
static void find_fits(const struct inlining *in, const struct metadata_method *method,
                      const struct il_pieces *pieces, struct range range,
                      const struct il_target *target, bool exact, unsigned least,
                      struct found *found)
{
    struct il_match match;

    il_match_init(&match, method, target);
    match.exact = exact;
    found->fit = least;
    found->count = 0;
    for (uint32_t i = 0; match.metadata && i < pieces->reaches; i++) {
        struct il_instruction *instruction = &pieces->reach[i];
        unsigned fit =
            in_range(&range, instruction->at) ? fit_of(in, &match, method, instruction) : 0;

        if (fit < found->fit)
            continue;
        if (fit > found->fit)
            found->count = 0;
        found->fit = fit;
        if (found->count < MOST_CALLS)
            found->at[found->count] = instruction->at;
        found->count++;
    }
}

/* The least that may be what is looked for. */
static unsigned least_of(const struct il_target *target)
{
    return target->made ? FIT_FIRST : FIT_NAME;
}

static void find_in(const struct inlining *in, const struct metadata_method *method,
                    const struct il_pieces *pieces, struct range range,
                    const struct il_target *target, struct found *found)
{
    find_fits(in, method, pieces, range, target, true, FIT_NAME, found);
}

/* Of the inlined calls of a node's method by the same parent: how many, and which one it is. */
static uint32_t siblings(const struct inlining *in, uint32_t node, const char *text,
                         uint32_t *place)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < in->body->nodes; i++) {
        const struct metadata_method *method;

        if (parent_of(in, i) != parent_of(in, node))
            continue;
        method = i == node ? NULL : method_of(in, i);
        if (i == node)
            *place = count++;
        else if (method && strcmp(metadata_method_text(method), text) == 0)
            count++;
    }
    return count;
}

/* The only one of those found that lies in the statement in which the parent was last. */
static int32_t in_last_statement(const struct inlining *in, uint32_t parent,
                                 const struct il_pieces *pieces, const struct found *found)
{
    int32_t il = IL_UNKNOWN;
    uint32_t from = IL_NOWHERE, to, count = 0;

    for (uint32_t i = 0; in->entry != RICH_NONE && i <= in->entry; i++)
        if (in->body->map[i].node == parent)
            from = in->body->map[i].il;
    if (from == IL_NOWHERE)
        return IL_UNKNOWN;
    to = il_statement_end(pieces, from);
    for (uint32_t i = 0; i < found->count && i < MOST_CALLS; i++)
        if (found->at[i] >= from && found->at[i] < to) {
            il = (int32_t)found->at[i];
            count++;
        }
    return count == 1 && found->count <= MOST_CALLS ? il : IL_UNKNOWN;
}

#define CALLS 1 /* in a rich_call: the call's offset follows this */

/* Where the parent calls the node's method. What does not depend on the entry is kept. */
static int32_t call_of(const struct inlining *in, uint32_t node)
{
    uint32_t parent = parent_of(in, node), place = 0;
    struct metadata_method *caller, *callee;
    const struct il_pieces *pieces;
    struct il_target target = {.memo = in->target->memo};
    struct found found;

    if (in->trusted)
        return (int32_t)in->body->node[node].il;
    if (in->calls && load_relaxed(&in->calls[node]))
        return (int32_t)(load_relaxed(&in->calls[node]) - CALLS);
    caller = method_of(in, parent);
    callee = method_of(in, node);
    pieces = caller && callee ? pieces_of(in->metadata, caller) : NULL;
    if (!pieces)
        return IL_UNKNOWN;
    target.callee = metadata_method_text(callee);
    target.record = callee;
    find_in(in, caller, pieces, WHOLE, &target, &found);
    if (found.count != 1 && (!found.count || found.count > MOST_CALLS ||
                             siblings(in, node, target.callee, &place) != found.count))
        return in_last_statement(in, parent, pieces, &found);
    if (in->calls)
        store_relaxed(&in->calls[node], found.at[place] + CALLS);
    return (int32_t)found.at[place];
}

/* Has a node's statement, the one with this offset, code that is said to be its own? */
static bool is_mapped(const struct inlining *in, uint32_t node, const struct il_pieces *pieces,
                      uint32_t il)
{
    uint32_t end = il_statement_end(pieces, il);

    for (uint32_t i = 0; i < in->body->maps; i++)
        if (in->body->map[i].node == node && il_statement_end(pieces, in->body->map[i].il) == end)
            return true;
    return false;
}

/*
 * A part of a statement, and the statements next to it that have no code: their values may be
 * computed where this one uses the result, or after it.
 */
static struct range extent_of(const struct inlining *in, uint32_t node,
                              const struct il_pieces *pieces, struct range part)
{
    struct range range = {0, part.to, 0, part.from};

    /* Backward: most often a statement close to it has code, of the thousands there may be. */
    for (uint32_t i = il_piece_after(pieces, part.from); i-- > 0 && !range.from;) {
        uint32_t at = pieces->piece[i].at, end = il_statement_end(pieces, at);

        if (!pieces->piece[i].statement)
            continue;
        if (at > range.hole)
            range.hole = at;
        if (end <= part.from && is_mapped(in, node, pieces, at))
            range.from = end;
    }
    while (range.to != IL_NOWHERE && !is_mapped(in, node, pieces, range.to))
        range.to = il_statement_end(pieces, range.to);
    return range;
}

/* Has the part of a statement before the entry no code in the map? Then the entry's is its, too. */
static bool begins_at_entry(const struct inlining *in, const struct range *extent)
{
    const struct rich_map *entry = &in->body->map[in->entry], *map = in->body->map;

    for (uint32_t i = 0; i < in->body->maps; i++)
        if (map[i].node == entry->node && map[i].il >= extent->hole && map[i].il < extent->hole_to)
            return false;
    return true;
}

static bool is_newobj(const struct il_pieces *pieces, uint32_t at)
{
    for (uint32_t i = 0; i < pieces->reaches; i++)
        if (pieces->reach[i].at == at)
            return pieces->reach[i].opcode == OP_NEWOBJ;
    return false;
}

/* Has the parent an earlier entry in the statement of a call? Then its object is made already. */
static bool has_begun(const struct inlining *in, uint32_t parent, const struct il_pieces *pieces,
                      uint32_t call)
{
    for (uint32_t i = 0; in->entry != RICH_NONE && i < in->entry; i++) {
        const struct rich_map *map = &in->body->map[i];

        if (map->node == parent && map->il <= call && call < il_statement_end(pieces, map->il))
            return true;
    }
    return false;
}

/* The instructions in statements without code of their own, which is then under the caller's. */
static void find_unmapped(const struct inlining *in, uint32_t node, struct found *found)
{
    struct metadata_method *method = method_of(in, node);
    const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
    uint32_t count = 0;

    found->count = 0;
    if (pieces)
        find_fits(in, method, pieces, WHOLE, in->target, true, least_of(in->target), found);
    for (uint32_t i = 0; i < found->count && i < MOST_CALLS; i++)
        if (!is_mapped(in, node, pieces, found->at[i]))
            found->at[count++] = found->at[i];
    if (found->count <= MOST_CALLS)
        found->count = count;
}

/* Is a node inlined into a part of `above`, by methods without code of their own there? */
static bool is_below(const struct inlining *in, uint32_t node, uint32_t above,
                     const struct range *part)
{
    for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
        uint32_t parent = parent_of(in, node);
        struct metadata_method *method = parent == RICH_NONE ? NULL : method_of(in, parent);
        const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
        int32_t call = pieces ? call_of(in, node) : IL_UNKNOWN;

        if (parent == above)
            return call < 0 || in_range(part, (uint32_t)call);
        if (parent == RICH_NONE || !parent)
            return parent == RICH_NONE;
        if (call >= 0 && is_mapped(in, parent, pieces, (uint32_t)call))
            return false;
        node = parent;
    }
    return true;
}

/*
 * What was inlined into a part of a node's method and has no code. Returns: how many
 * instructions; *below and *found: the last of them.
 */
static uint32_t find_below(const struct inlining *in, uint32_t node, const struct range *part,
                           uint32_t *below, struct found *found)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < in->body->nodes; i++) {
        struct found here;

        find_unmapped(in, i, &here);
        if (!here.count || i == node || !is_below(in, i, node, part))
            continue;
        count += here.count;
        *below = i;
        *found = here;
    }
    return count;
}

/* Has one of those that a node was inlined into an instruction that may be what is looked for? */
static bool any_above(const struct inlining *in, uint32_t node)
{
    while (node) {
        const struct il_pieces *pieces;
        struct metadata_method *method;
        struct found found = {.count = 0};

        node = parent_of(in, node);
        method = node == RICH_NONE ? NULL : method_of(in, node);
        pieces = method ? pieces_of(in->metadata, method) : NULL;
        if (pieces)
            find_fits(in, method, pieces, WHOLE, in->target, true, least_of(in->target), &found);
        if (!pieces || found.count)
            return true;
    }
    return false;
}

/* From the statement of the entry up. Returns: the node, or RICH_NONE; *found is in its method. */
static uint32_t find_up(struct inlining *in, struct found *found)
{
    const struct rich_map *map = &in->body->map[in->entry];
    struct metadata_method *method = method_of(in, map->node);
    const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
    struct range range = {map->il, pieces ? il_statement_end(pieces, map->il) : 0, 0, 0};
    struct range extent;
    struct found inside, inlined;
    uint32_t node = map->node, below, count;

    in->doubtful = RICH_NONE;
    for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
        int32_t call;

        if (!pieces)
            return RICH_NONE;
        extent = extent_of(in, node, pieces, range);
        if (!depth && begins_at_entry(in, &extent))
            extent.hole_to = extent.hole;
        find_in(in, method, pieces, range, in->target, &inside);
        find_in(in, method, pieces, extent, in->target, found);
        count = find_below(in, node, &extent, &below, &inlined);
        if (count == 1 && !found->count && inlined.fit >= FIT_NAME) {
            *found = inlined;
            return below;
        }
        if (inside.count && found->count <= MOST_CALLS && !count)
            return node;
        if (!depth && found->count && found->count <= MOST_CALLS && !count && !any_above(in, node))
            return node; /* in statements next to it, whose code it has */
        if (found->count || count) {
            in->doubtful = node;
            in->part = extent;
        }
        if (!node || parent_of(in, node) == RICH_NONE || found->count || count)
            return RICH_NONE;
        call = call_of(in, node);
        node = parent_of(in, node);
        method = method_of(in, node);
        pieces = method && call >= 0 ? pieces_of(in->metadata, method) : NULL;
        if (!pieces)
            return RICH_NONE;
        range.from = (uint32_t)call;
        if (!is_newobj(pieces, range.from) || has_begun(in, node, pieces, range.from))
            range.from++;
        range.to = il_statement_end(pieces, (uint32_t)call);
    }
    return RICH_NONE;
}

/* The frames from the root down to a node. Returns: the offset in the root; *inlined the rest. */
static int32_t frames_of(const struct inlining *in, uint32_t node, int32_t il, uint32_t *inlined)
{
    uint32_t path[MOST_DEPTH], depth = 0;
    int32_t root_il = il;

    *inlined = 0;
    for (; node && node != RICH_NONE; node = parent_of(in, node)) {
        if (depth == MOST_DEPTH)
            return CODE_IL_UNMAPPED;
        path[depth++] = node;
    }
    if (depth)
        root_il =
            parent_of(in, path[depth - 1]) == RICH_NONE ? IL_UNKNOWN : call_of(in, path[depth - 1]);
    for (uint32_t i = depth; i-- > 0;) {
        struct metadata_method *method = method_of(in, path[i]);

        if (!method)
            return CODE_IL_UNMAPPED;
        *inlined =
            code_inlined_number(in->metadata, method, i ? call_of(in, path[i - 1]) : il, *inlined);
        if (!*inlined)
            return CODE_IL_UNMAPPED;
    }
    return root_il >= 0 ? root_il : CODE_IL_UNMAPPED;
}

/* The last entry at or before an offset, or RICH_NONE. */
static uint32_t entry_at(const struct rich_body *body, uint32_t offset)
{
    uint32_t low = 0, high = body->maps;

    if (!high || body->map[0].native > offset)
        return RICH_NONE;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (body->map[middle].native <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int32_t several(const struct found *found)
{
    return found->count == 1 ? (int32_t)found->at[0]
                             : il_several(found->at[0], found->at[found->count - 1]);
}

/* Tries what is known of the target, the surest first. */
static uint32_t find_target(struct inlining *in, const struct il_target *targets, size_t count,
                            struct found *found)
{
    uint32_t node = RICH_NONE;

    for (size_t i = 0; i < count && node == RICH_NONE; i++) {
        in->target = &targets[i];
        node = find_up(in, found);
    }
    return node;
}

/* Has a method any instruction that may be what is looked for, as little as it fits? */
static bool may_be_in(const struct inlining *in, struct metadata_method *method,
                      const struct il_target *targets, size_t count)
{
    const struct il_pieces *pieces = pieces_of(in->metadata, method);
    struct found found = {.count = 0};

    for (size_t i = 0; pieces && i < count && !found.count; i++)
        find_fits(in, method, pieces, WHOLE, &targets[i], false, least_of(&targets[i]), &found);
    return found.count;
}

static bool is_others(const struct inlining *in, const struct metadata_method *method)
{
    return method->module && metadata_module_is_others(in->metadata, method->module->module_id);
}

/* Is own code inlined into the root? */
static bool any_own(const struct inlining *in)
{
    for (uint32_t i = 1; i < in->body->nodes; i++) {
        struct metadata_method *method;

        if (map_method(in, i, &method) || !is_others(in, method))
            return true;
    }
    return false;
}

/*
 * Is a node own code, or was it inlined into own code other than the root? A node of which nobody
 * says what it was inlined into may be, if any is.
 */
static bool in_own_code(const struct inlining *in, uint32_t node)
{
    for (unsigned depth = 0; node && depth < MOST_DEPTH; depth++) {
        struct metadata_method *method;

        if (node == RICH_NONE)
            return any_own(in);
        if (map_method(in, node, &method) || !is_others(in, method))
            return true;
        node = parent_of(in, node);
    }
    return node;
}

/*
 * May own code have done it that was inlined? If nobody else than the root, or only methods of
 * others that it called, its map has the line.
 */
static bool may_be_own(const struct inlining *in, const struct il_target *targets, size_t count)
{
    for (uint32_t i = 1; i < in->body->nodes; i++) {
        struct metadata_method *method = method_of(in, i);

        if ((!method || may_be_in(in, method, targets, count)) && in_own_code(in, i))
            return true;
    }
    return false;
}

/* The instruction of the root by which that of a node was inlined; IL_UNKNOWN: not known. */
static int32_t in_root(const struct inlining *in, uint32_t node, uint32_t at)
{
    uint32_t top = 0;

    for (; node && node != RICH_NONE; node = parent_of(in, node))
        top = node;
    if (node == RICH_NONE)
        return IL_UNKNOWN;
    return top ? call_of(in, top) : (int32_t)at;
}

/* The call in the root by which the entry's code was inlined. */
static int32_t call_around(const struct inlining *in)
{
    const struct rich_map *map = in->entry == RICH_NONE ? NULL : &in->body->map[in->entry];
    int32_t il = map && map->node ? in_root(in, map->node, map->il) : IL_UNKNOWN;

    return il >= 0 ? il : CODE_IL_UNMAPPED;
}

/* Can a node's method call anything but inlined methods in a statement that has no code? */
static bool calls_unmapped(const struct inlining *in, uint32_t node)
{
    struct metadata_method *method = method_of(in, node);
    const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
    uint32_t calls = 0, inlined = 0;

    if (!pieces)
        return true;
    for (uint32_t i = 0; i < pieces->reaches; i++)
        calls += !is_mapped(in, node, pieces, pieces->reach[i].at);
    for (uint32_t i = 1; i < in->body->nodes; i++)
        inlined += parent_of(in, i) == node;
    return calls > inlined;
}

/* A statement of the root, and those next to it that have no code. */
static struct range around_statement(const struct inlining *in, const struct il_pieces *pieces,
                                     uint32_t il)
{
    struct range part = {il, il_statement_end(pieces, il), 0, 0};

    part = extent_of(in, 0, pieces, part);
    part.hole = part.hole_to;
    return part;
}

/* The statements of the root that the entry's code can be of. */
static struct range part_of_root(const struct inlining *in, const struct il_pieces *pieces)
{
    const struct rich_map *map = &in->body->map[in->entry];
    int32_t il = in_root(in, map->node, map->il);

    return il < 0 ? WHOLE : around_statement(in, pieces, (uint32_t)il);
}

/* Is the code at the entry surely not of own code that was inlined, whatever it calls or makes? */
static bool is_roots(const struct inlining *in)
{
    const struct il_pieces *pieces = pieces_of(in->metadata, in->root);
    struct range part;

    if (!pieces || in->entry == RICH_NONE || in_own_code(in, in->body->map[in->entry].node))
        return false;
    part = part_of_root(in, pieces);
    for (uint32_t i = 1; i < in->body->nodes; i++)
        if (in_own_code(in, i) && is_below(in, i, 0, &part) && calls_unmapped(in, i))
            return false;
    return true;
}

/*
 * No statement has what is looked for: the JIT gave its code to another one, or none. It is the
 * only instruction in the body that fits, if there is but one. *count: how many fit.
 */
static uint32_t find_elsewhere(const struct inlining *in, const struct il_target *target,
                               struct found *found, uint32_t *count)
{
    uint32_t node = RICH_NONE;

    *count = 0;
    for (uint32_t i = 0; i < in->body->nodes; i++) {
        struct metadata_method *method = method_of(in, i);
        const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
        struct found here = {.count = 0};

        if (!method)
            return RICH_NONE;
        if (pieces)
            find_fits(in, method, pieces, WHOLE, target, true, least_of(target), &here);
        if (!here.count)
            continue;
        *count += here.count;
        node = i;
        *found = here;
    }
    return *count == 1 && found->fit >= FIT_NAME ? node : RICH_NONE;
}

/* Was a node inlined by an instruction of the node above? */
static bool is_inlined_by(const struct inlining *in, uint32_t node, uint32_t above, uint32_t il)
{
    while (node && node != RICH_NONE && parent_of(in, node) != above)
        node = parent_of(in, node);
    return node && node != RICH_NONE && call_of(in, node) == (int32_t)il;
}

/*
 * Where the entry's statement has no operand that names the target: the only one in the body, or a
 * call in the statement that names nobody, the last target. If there are both, it is the former if
 * the latter led to it; else nobody knows.
 */
static uint32_t find_unsure(struct inlining *in, const struct il_target *targets, size_t count,
                            struct found *found)
{
    size_t named = count && targets[count - 1].unnamed ? count - 1 : count;
    uint32_t node = RICH_NONE, nobody = RICH_NONE, fit, any = 0;
    struct found unnamed;

    for (size_t i = 0; i < named && node == RICH_NONE; i++) {
        node = find_elsewhere(in, &targets[i], found, &fit);
        any += fit;
    }
    if (named == count)
        return node;
    in->target = &targets[named];
    if (in->entry != RICH_NONE && in->doubtful == RICH_NONE)
        nobody = find_up(in, &unnamed);
    if (!any && nobody == RICH_NONE)
        return find_elsewhere(in, &targets[named], found, &fit);
    if (nobody == RICH_NONE)
        return node;
    if (any)
        return node != RICH_NONE && unnamed.count == 1 &&
                       is_inlined_by(in, node, nobody, unnamed.at[0])
                   ? node
                   : RICH_NONE;
    *found = unnamed;
    return nobody;
}

/* Instructions of own code, in one node, below which an object can have been made. */
struct common {
    uint32_t node; /* RICH_NONE: none yet */
    uint32_t first, last;
};

/* The own code that led to an instruction. Returns: false: not known, or another node's. */
static bool common_add(const struct inlining *in, uint32_t node, uint32_t at, struct common *common)
{
    int32_t il = (int32_t)at;

    while (node && node != RICH_NONE) {
        const struct metadata_method *method = method_of(in, node);

        if (!method)
            return false;
        if (!is_others(in, method))
            break;
        il = call_of(in, node);
        node = parent_of(in, node);
    }
    if (node == RICH_NONE || il < 0 || (common->node != RICH_NONE && common->node != node))
        return false;
    if (common->node == RICH_NONE || (uint32_t)il < common->first)
        common->first = (uint32_t)il;
    if (common->node == RICH_NONE || (uint32_t)il > common->last)
        common->last = (uint32_t)il;
    common->node = node;
    return true;
}

/* Those of a node that can have made it: all, or where find_up() has doubts. */
static void common_in(const struct inlining *in, uint32_t node, const struct il_pieces *pieces,
                      struct found *found)
{
    const struct metadata_method *method = method_of(in, node);

    found->count = 0;
    if (in->doubtful == RICH_NONE)
        find_fits(in, method, pieces, WHOLE, in->target, true, least_of(in->target), found);
    else if (in->doubtful == node)
        find_fits(in, method, pieces, in->part, in->target, true, least_of(in->target), found);
    else if (is_below(in, node, in->doubtful, &in->part))
        find_unmapped(in, node, found);
}

/* Adds all of the body that fit in->target. *fit: how well they do. Returns: as common_add. */
static bool common_fill(const struct inlining *in, struct common *common, unsigned *fit)
{
    for (uint32_t i = 0; i < in->body->nodes; i++) {
        struct metadata_method *method = method_of(in, i);
        const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
        struct found found = {.count = 0};

        if (pieces)
            common_in(in, i, pieces, &found);
        if (!method || found.count > MOST_CALLS)
            return false;
        for (uint32_t k = 0; k < found.count; k++)
            if (!common_add(in, i, found.at[k], common))
                return false;
        if (found.count && found.fit > *fit)
            *fit = found.fit;
    }
    return true;
}

/*
 * It is not certain which instruction made an object, or called; but all that can have lie below
 * one statement of own code, where others' methods were inlined, or below the few that find_up()
 * doubts. Returns: the node, and *il; or RICH_NONE.
 */
static uint32_t find_common(struct inlining *in, const struct il_target *targets, size_t count,
                            int32_t *il)
{
    struct common common = {.node = RICH_NONE};
    const struct il_pieces *pieces;
    struct metadata_method *method;
    bool made = targets[count - 1].made;
    unsigned fit = 0;

    if (!made)
        in->doubtful = RICH_NONE;
    for (size_t i = made ? count - 1 : 0; i < count; i++) {
        in->target = &targets[i];
        if (!common_fill(in, &common, &fit))
            return RICH_NONE;
    }
    method = fit < FIT_NAME ? NULL : method_of(in, common.node);
    pieces = method && !is_others(in, method) ? pieces_of(in->metadata, method) : NULL;
    if (!pieces || (in->doubtful == RICH_NONE && il_statement_end(pieces, common.first) !=
                                                     il_statement_end(pieces, common.last)))
        return RICH_NONE;
    *il =
        common.first == common.last ? (int32_t)common.first : il_several(common.first, common.last);
    return common.node;
}

/*
 * In other code, where it is not certain which instruction it was: the frame of the only own method
 * that it can have been in, without an instruction. Else it would count for a caller's line.
 */
static uint32_t guest_frame(const struct inlining *in, const struct il_target *targets,
                            size_t count)
{
    const struct metadata_method *guest = NULL;

    for (uint32_t i = 1; i < in->body->nodes; i++) {
        struct metadata_method *method = method_of(in, i);
        uint32_t node = i;

        if (!method || !may_be_in(in, method, targets, count))
            continue;
        while (method && node && is_others(in, method)) {
            node = parent_of(in, node);
            method = node == RICH_NONE ? NULL : method_of(in, node);
        }
        if (!method || (guest && node && guest != method))
            return 0;
        guest = node ? method : guest;
    }
    return guest ? code_inlined_number(in->metadata, guest, IL_UNKNOWN, 0) : 0;
}

const struct rich_body *code_rich(struct metadata *metadata, const struct metadata_method *method,
                                  const struct rich_code *code, uint32_t offset, uint32_t *native,
                                  bool *lost)
{
    const struct rich_body *rich = NULL;
    uint32_t entry;

    *lost = false;
    if (stays(method))
        rich = rich_body_find(metadata, method, code, lost);
    if (!rich || rich->nodes < 2)
        return NULL;
    entry = entry_at(rich, offset);
    *native = entry == RICH_NONE ? RICH_NONE : rich->map[entry].native;
    return rich;
}

static int32_t find_il(struct inlining *in, const struct il_target *targets, size_t count,
                       uint32_t *inlined, enum code_by *by)
{
    struct found found = {.count = 0};
    uint32_t node = RICH_NONE;
    int32_t il = IL_UNKNOWN;

    if (count && !may_be_own(in, targets, count)) {
        *by = is_others(in, in->root) || is_roots(in) ? CODE_BY_MAP : CODE_BY_NAME;
        return *by == CODE_BY_MAP ? call_around(in) : CODE_IL_UNMAPPED;
    }
    if (in->entry != RICH_NONE && !count) { /* the statement itself */
        found = (struct found){.count = 1, .at = {in->body->map[in->entry].il}};
        node = in->body->map[in->entry].node;
    } else if (in->entry != RICH_NONE) {
        node = find_target(in, targets, count - targets[count - 1].unnamed, &found);
    }
    if (node == RICH_NONE)
        node = find_unsure(in, targets, count, &found);
    if (node != RICH_NONE)
        il = several(&found);
    else if (count)
        node = find_common(in, targets, count, &il);
    if (il < 0 && is_others(in, in->root))
        *inlined = guest_frame(in, targets, count);
    return il < 0 ? CODE_IL_UNMAPPED : frames_of(in, node, il, inlined);
}

/*
 * A method that .NET 8 did not inline in the end cuts the list of those inlined beside it, and the
 * ones before it are said to be of nobody. Nodes are numbered in the order of their calls, each
 * before those inlined into it: so one belongs to the node before it, or to what that was inlined
 * into, and to none that has children of lower numbers in its list.
 */
static bool may_be_parent(const struct inlining *in, uint32_t parent, uint32_t node)
{
    struct metadata_method *caller = method_of(in, parent), *callee = method_of(in, node);
    const struct il_pieces *pieces = caller && callee ? pieces_of(in->metadata, caller) : NULL;
    struct il_target target = {.memo = in->target->memo, .record = callee};
    struct range call = {in->body->node[node].il, in->body->node[node].il + 1, 0, 0};
    struct found found;

    for (uint32_t i = 1; i < node; i++)
        if (in->body->node[i].parent == parent)
            return false;
    if (!pieces)
        return false;
    target.callee = metadata_method_text(callee);
    find_in(in, caller, pieces, call, &target, &found);
    return found.count;
}

/* parent: of the nodes before. */
static uint32_t find_parent(const struct inlining *in, const uint32_t *parent, uint32_t node)
{
    uint32_t at = node - 1, found = RICH_NONE;

    for (;; at = parent[at]) {
        if (at == RICH_NONE)
            return RICH_NONE;
        if (may_be_parent(in, at, node)) {
            if (found != RICH_NONE)
                return RICH_NONE;
            found = at;
        }
        if (!at)
            return found;
    }
}

static void find_parents(struct inlining *in)
{
    uint32_t orphans = 0, *parent;

    in->parent = load_acquire(&in->body->parent);
    if (!in->trusted || in->parent)
        return;
    for (uint32_t i = 1; i < in->body->nodes; i++)
        orphans += in->body->node[i].parent == RICH_NONE;
    if (!orphans)
        return;
    parent = memory_alloc(in->body->nodes * sizeof(*parent));
    for (uint32_t i = 0; parent && i < in->body->nodes; i++) {
        parent[i] = in->body->node[i].parent;
        if (i && parent[i] == RICH_NONE)
            parent[i] = find_parent(in, parent, i);
    }
    if (parent)
        in->parent = rich_parents(in->body, parent);
}

static void inlining_open(struct inlining *in, struct metadata *metadata,
                          struct metadata_method *method, const struct rich_body *rich,
                          uint32_t offset, const struct il_target *target)
{
    *in = (struct inlining){.metadata = metadata,
                            .root = method,
                            .body = rich,
                            .entry = entry_at(rich, offset),
                            .trusted = metadata->config.rich_trusted,
                            .target = target,
                            .known = memory_zalloc(rich->nodes, sizeof(*in->known)),
                            .calls = metadata->config.rich_trusted ? NULL : rich_calls(rich),
                            .doubtful = RICH_NONE};
    find_parents(in);
}

/* Is a statement of a node the entry's? */
static bool at_entry(const struct inlining *in, uint32_t node, const struct il_pieces *pieces,
                     uint32_t il)
{
    const struct rich_map *entry = &in->body->map[in->entry];

    return entry->node == node &&
           il_statement_end(pieces, entry->il) == il_statement_end(pieces, il);
}

/* Is all that calls in a part of the root in one statement? *at: any of it, or IL_UNKNOWN. */
static bool calls_in_one(const struct il_pieces *pieces, const struct range *part, int32_t *at)
{
    *at = IL_UNKNOWN;
    for (uint32_t i = 0; i < pieces->reaches; i++) {
        uint32_t il = pieces->reach[i].at;

        if (!in_range(part, il))
            continue;
        if (*at >= 0 && il_statement_end(pieces, il) != il_statement_end(pieces, (uint32_t)*at))
            return false;
        *at = (int32_t)il;
    }
    return true;
}

/* The statements of the root in which anything fits. */
struct sole {
    const struct il_pieces *pieces; /* of the root */
    struct range part;              /* where they have to be */
    bool strayed;                   /* the entry's statement is not meant */
    int32_t first, last;
};

/* Returns: false: not known of a node's instructions, or they are not where they have to be. */
static bool sole_add(const struct inlining *in, uint32_t node, struct sole *sole)
{
    struct metadata_method *method = method_of(in, node);
    const struct il_pieces *pieces = method ? pieces_of(in->metadata, method) : NULL;
    struct il_match match;

    if (!pieces)
        return method;
    il_match_init(&match, method, in->target);
    match.exact = true;
    for (uint32_t i = 0; match.metadata && i < pieces->reaches; i++) {
        uint32_t at = pieces->reach[i].at;
        int32_t il;

        if (fit_of(in, &match, method, &pieces->reach[i]) < FIT_NAME)
            continue;
        if (!sole->strayed && is_mapped(in, node, pieces, at) && !at_entry(in, node, pieces, at))
            continue;
        il = in_own_code(in, node) ? IL_UNKNOWN : in_root(in, node, at);
        if (il < 0 || !in_range(&sole->part, (uint32_t)il) ||
            (sole->strayed && is_mapped(in, 0, sole->pieces, (uint32_t)il)))
            return false;
        sole->first = sole->first < 0 || il < sole->first ? il : sole->first;
        sole->last = il > sole->last ? il : sole->last;
    }
    return true;
}

static bool sole_fill(const struct inlining *in, struct sole *sole)
{
    sole->first = sole->last = IL_UNKNOWN;
    for (uint32_t i = 0; i < in->body->nodes; i++)
        if (!sole_add(in, i, sole))
            return false;
    return true;
}

/* Are the statements in which anything fits next to each other, and without code? */
static bool sole_together(const struct inlining *in, const struct sole *sole)
{
    const struct range part = around_statement(in, sole->pieces, (uint32_t)sole->first);

    return in_range(&part, (uint32_t)sole->last);
}

/*
 * The only statements of the root in which an instruction fits that has no code elsewhere, if the
 * entry's code can be of them. Where it is of none that calls anything, as the condition of a loop
 * which the JIT has put before it, too, or of none that makes such an object: the only ones in the
 * body, if they have no code. Where none names it: the call by which the entry's code was inlined,
 * if that can be of no other statement.
 */
static int32_t find_sole(const struct inlining *in, const struct il_pieces *pieces)
{
    struct sole sole = {pieces, part_of_root(in, pieces), false, IL_UNKNOWN, IL_UNKNOWN};
    int32_t call, around = call_around(in);
    bool one = calls_in_one(pieces, &sole.part, &call);

    if (call < 0 || !sole_fill(in, &sole)) {
        if (call >= 0 && !in->target->made)
            return CODE_IL_UNMAPPED;
        sole.part = WHOLE;
        sole.strayed = true;
        if (!sole_fill(in, &sole) || sole.first < 0 || !sole_together(in, &sole))
            return CODE_IL_UNMAPPED;
    }
    if (sole.first < 0)
        return one && around >= 0 && !in->target->sure &&
                       !il_doubtful(in->root, pieces, around, in->target)
                   ? around
                   : CODE_IL_UNMAPPED;
    return sole.first == sole.last ? sole.first
                                   : il_several((uint32_t)sole.first, (uint32_t)sole.last);
}

int32_t code_rich_il(struct metadata *metadata, struct metadata_method *method,
                     const struct rich_body *rich, uint32_t offset, const struct il_target *targets,
                     size_t count, uint32_t *inlined, enum code_by *by)
{
    struct inlining in;
    int32_t il;

    *inlined = 0;
    *by = CODE_BY_RICH;
    inlining_open(&in, metadata, method, rich, offset, targets);
    il = find_il(&in, targets, count, inlined, by);
    memory_free(in.known);
    return il;
}

int32_t code_rich_root(struct metadata *metadata, struct metadata_method *method,
                       const struct rich_body *rich, uint32_t offset,
                       const struct il_target *target)
{
    const struct il_pieces *pieces = pieces_of(metadata, method);
    struct found found;
    struct inlining in;
    int32_t il = IL_UNKNOWN;
    uint32_t node;

    inlining_open(&in, metadata, method, rich, offset, target);
    if (pieces && in.entry != RICH_NONE) {
        node = find_up(&in, &found);
        if (node == RICH_NONE)
            il = find_sole(&in, pieces);
        else if (!node)
            il = several(&found);
        else if (!in_own_code(&in, node))
            il = in_root(&in, node, found.at[0]);
    }
    memory_free(in.known);
    return il >= 0 ? il : CODE_IL_UNMAPPED;
}
