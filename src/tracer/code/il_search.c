#include "code/il_search.h"

#include "code/il_match.h"

#include "base/il.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

/* Of those that fit the first of the best, how many fit as well as it, and how many there are. */
struct best {
    uint32_t at;
    unsigned fit, count, all;
};

static void best_add(struct best *best, uint32_t at, unsigned fit)
{
    if (fit > best->fit)
        *best = (struct best){at, fit, 1, best->all + 1};
    else if (fit)
        *best = (struct best){best->at, best->fit, best->count + (fit == best->fit), best->all + 1};
}

/* Instructions that may call or make something. */
struct reach {
    struct il_instruction *first;
    uint32_t count;
};

static struct reach reach_of(const struct il_pieces *pieces, uint32_t index)
{
    uint32_t first = pieces->piece[index].first;
    uint32_t end = index + 1 < pieces->count ? pieces->piece[index + 1].first : pieces->reaches;

    return (struct reach){pieces->reach + first, end - first};
}

/* An instruction whose operand names the target, more or less. */
struct fit {
    uint32_t at;
    unsigned fit;
};

/* All that fit, appended to a buffer of struct fit. Comparing names is what the search costs. */
static void fits_in(struct buffer *out, struct il_match *match, struct reach from)
{
    for (uint32_t i = 0; match->metadata && i < from.count; i++) {
        struct fit found = {from.first[i].at, il_match_fit(match, &from.first[i], false)};

        if (found.fit)
            buffer_append(out, &found, sizeof(found));
    }
}

/* The best of them. */
static void best_in(struct best *best, struct il_match *match, struct reach from, bool owners)
{
    for (uint32_t i = 0; match->metadata && i < from.count; i++)
        best_add(best, from.first[i].at, il_match_fit(match, &from.first[i], owners));
}

/* The piece that holds an offset. */
static uint32_t piece_of(const struct il_pieces *pieces, uint32_t at)
{
    uint32_t after = il_piece_after(pieces, at);

    return after ? after - 1 : 0;
}

static uint32_t statement_of(const struct il_pieces *pieces, uint32_t index)
{
    while (index && !pieces->piece[index].statement)
        index--;
    return index;
}

/*
 * Which pieces the code under one entry of the map may be from, the likeliest first; each set holds
 * the ones before. Pieces without an entry lead into the one in question (their result is computed
 * where it is used) or follow it in control flow (their code runs on under its entry). Then those
 * with an entry: the piece before, whose last result may be used here, and others of the statement.
 * The rest lie next to it, or anywhere (the JIT moves blocks).
 */
enum { NEAR_LEADS, NEAR_FOLLOWS, NEAR_MAPPED, NEAR_BESIDE, NEAR_ANY, NEAR_SETS };

struct near {
    struct il_match match;
    const struct il_pieces *pieces;
    uint32_t own;   /* the entry's piece; pieces->count: none, the code before all entries */
    uint32_t first; /* first ... own are NEAR_LEADS, and mostly suffice */
    /* Each piece and one more, with its fits once it was searched. NULL: not needed yet. */
    struct near_piece {
        uint32_t level; /* the first set that it is in */
        uint32_t open;  /* not the piece's: the n-th that follow() has still to look at */
        uint32_t first, count;
        bool known;
    } * piece;
    struct buffer fits;       /* of struct fit */
    struct best leads;        /* of NEAR_LEADS, once `led` */
    struct cpu_rank rank;     /* of the call, once `ranked` */
    bool led, ranked, failed; /* failed: no memory */

    /* Room for what is small. */
    struct near_piece piece_room[32];
    struct fit fit_room[32];
};

static bool leads_on(const struct il_piece *piece)
{
    return !piece->mapped && !piece->splits && !piece->ends && piece->jump == IL_NOWHERE;
}

/* Where the piece's own set begins. */
static uint32_t leading(const struct il_pieces *pieces, uint32_t own)
{
    while (own && !pieces->piece[own].joins && leads_on(&pieces->piece[own - 1]))
        own--;
    return own;
}

/* Follows control from a piece through those without entry. Each is open at most once. */
static void follow(struct near *near, uint32_t from)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t count = 0;

    near->piece[count++].open = from;
    while (count) {
        const struct il_piece *piece = &pieces->piece[near->piece[--count].open];
        uint32_t next[2] = {pieces->count, pieces->count};

        if (!piece->ends)
            next[0] = (uint32_t)(piece - pieces->piece) + 1;
        if (piece->jump != IL_NOWHERE)
            next[1] = piece_of(pieces, piece->jump);
        for (unsigned i = 0; i < COUNT_OF(next); i++) {
            if (next[i] >= pieces->count || pieces->piece[next[i]].mapped ||
                near->piece[next[i]].level <= NEAR_FOLLOWS)
                continue;
            near->piece[next[i]].level = NEAR_FOLLOWS;
            near->piece[count++].open = next[i];
        }
    }
}

/* The other pieces of the same statement. */
static void statement(struct near *near, uint32_t own)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t i = statement_of(pieces, own);

    do
        if (near->piece[i].level > NEAR_MAPPED)
            near->piece[i].level = NEAR_MAPPED;
    while (++i < pieces->count && !pieces->piece[i].statement);
}

static void beside(struct near *near)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t own = near->own < pieces->count ? near->own : 0;

    for (uint32_t i = own; i && !pieces->piece[i - 1].mapped; i--)
        if (near->piece[i - 1].level > NEAR_BESIDE)
            near->piece[i - 1].level = NEAR_BESIDE;
    for (uint32_t i = near->own < pieces->count ? own + 1 : 0;
         i < pieces->count && !pieces->piece[i].mapped; i++)
        if (near->piece[i].level > NEAR_BESIDE)
            near->piece[i].level = NEAR_BESIDE;
}

static void near_init(struct near *near, const struct il_pieces *pieces, uint32_t own)
{
    near->pieces = pieces;
    near->own = own;
    near->first = own < pieces->count ? leading(pieces, own) : own;
    near->piece = NULL;
    near->fits = (struct buffer)BUFFER_ON(near->fit_room);
    near->leads = (struct best){.fit = 0};
    near->rank = (struct cpu_rank){0, 0, false};
    near->led = near->ranked = near->failed = false;
}

static void near_fini(struct near *near)
{
    if (near->piece != near->piece_room)
        memory_free(near->piece);
    buffer_free(&near->fits);
}

static void levels(struct near *near)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t own = near->own, first = near->first;

    for (uint32_t i = 0; i < pieces->count; i++)
        near->piece[i].level = pieces->piece[i].mapped ? NEAR_SETS : NEAR_ANY;
    if (own < pieces->count) {
        for (uint32_t i = first; i <= own; i++)
            near->piece[i].level = NEAR_LEADS;
        follow(near, own);
        if (first && !pieces->piece[first].joins && pieces->piece[first - 1].mapped &&
            !pieces->piece[first - 1].ends)
            near->piece[first - 1].level = NEAR_MAPPED;
        statement(near, own);
    } else if (!pieces->piece[0].mapped) {
        near->piece[0].level = NEAR_FOLLOWS;
        follow(near, 0);
    }
    beside(near);
}

/* Finds out which sets all pieces are in. Returns: whether that is known. */
static bool widen(struct near *near)
{
    uint32_t count = near->pieces->count + 1;

    if (near->piece || near->failed)
        return !near->failed;
    if (count <= COUNT_OF(near->piece_room))
        near->piece = memset(near->piece_room, 0, sizeof(near->piece_room));
    else
        near->piece = memory_zalloc(count, sizeof(*near->piece));
    near->failed = !near->piece;
    if (!near->failed)
        levels(near);
    return !near->failed;
}

static struct best best_leading(struct near *near)
{
    const struct il_pieces *pieces = near->pieces;

    for (uint32_t i = near->first; !near->led && i <= near->own && i < pieces->count; i++)
        best_in(&near->leads, &near->match, reach_of(pieces, i), false);
    near->led = true;
    return near->leads;
}

/* What fits in a piece. It is searched once, however many sets ask. */
static const struct fit *piece_fits(struct near *near, uint32_t piece, uint32_t *count)
{
    struct near_piece *of = &near->piece[piece];

    if (!of->known) {
        of->first = (uint32_t)(near->fits.size / sizeof(struct fit));
        fits_in(&near->fits, &near->match, reach_of(near->pieces, piece));
        of->count = (uint32_t)(near->fits.size / sizeof(struct fit)) - of->first;
        of->known = true;
    }
    *count = of->count;
    return (const struct fit *)(const void *)near->fits.data + of->first;
}

/* The best of the pieces that are in a set. */
static struct best best_of(struct near *near, unsigned set)
{
    uint32_t pieces = near->pieces->count, count;
    struct best best = {.fit = 0};

    if (set == NEAR_LEADS)
        return best_leading(near);
    if (!widen(near))
        return best;
    for (uint32_t i = 0; i < pieces; i++) {
        const struct fit *fit = near->piece[i].level > set ? NULL : piece_fits(near, i, &count);

        for (uint32_t k = 0; fit && k < count; k++)
            best_add(&best, fit[k].at, fit[k].fit);
    }
    return best;
}

/* Of those in a set that fit so well the one at a place among them. */
static int32_t nth_of(struct near *near, unsigned set, unsigned wanted, uint32_t place)
{
    uint32_t pieces = near->pieces->count, count;

    if (!widen(near))
        return IL_UNKNOWN;
    for (uint32_t i = 0; i < pieces; i++) {
        const struct fit *fit = near->piece[i].level > set ? NULL : piece_fits(near, i, &count);

        for (uint32_t k = 0; fit && k < count; k++)
            if (fit[k].fit == wanted && !place--)
                return (int32_t)fit[k].at;
    }
    return IL_UNKNOWN;
}

/* The call's place among equal ones. */
static const struct cpu_rank *rank_of(struct near *near)
{
    struct il_rank *rank = near->match.target->rank;

    if (!near->ranked && rank)
        near->rank = rank->read(rank);
    near->ranked = true;
    return &near->rank;
}

/* The one that fits best: of several the one at the call's place among equal calls. */
static int32_t chosen(struct near *near, unsigned set, const struct best *best)
{
    const struct cpu_rank *rank = rank_of(near);

    if (best->count == 1 && rank->count <= 1)
        return (int32_t)best->at;
    if (!rank->ordered || best->count != rank->count)
        return IL_UNKNOWN;
    return nth_of(near, set, best->fit, rank->place);
}

/* What may lead to a target that no operand names. */
struct ways {
    uint32_t all, calls;
    const struct il_instruction *call, *any; /* the first of each */
    uint32_t last;                           /* the offset of the last */
    uint32_t statement;                      /* all are in this one; IL_NOWHERE if not */
};

static void ways_add(struct ways *w, struct reach from, uint32_t statement, bool leads)
{
    for (uint32_t i = 0; i < from.count; i++) {
        const struct il_instruction *in = &from.first[i];

        if (in->opcode == OP_NEWOBJ && !leads && clr_token_type(in->token) == mdtMethodDef)
            continue; /* a constructor of the same module that is inlined has other ways to tell */
        if (!w->all++)
            w->any = in;
        w->last = in->at;
        w->statement = w->all == 1 || statement == w->statement ? statement : IL_NOWHERE;
        if (il_calls(in) && !w->calls++)
            w->call = in;
    }
}

static struct ways ways_in(struct near *near, unsigned set)
{
    const struct il_pieces *pieces = near->pieces;
    struct ways w = {.statement = IL_NOWHERE};

    if (set == NEAR_LEADS) {
        for (uint32_t i = near->first; i <= near->own && i < pieces->count; i++)
            ways_add(&w, reach_of(pieces, i), statement_of(pieces, i), true);
        return w;
    }
    if (!widen(near))
        return w;
    for (uint32_t i = 0; i < pieces->count; i++)
        if (near->piece[i].level <= set && reach_of(pieces, i).count)
            ways_add(&w, reach_of(pieces, i), statement_of(pieces, i),
                     near->piece[i].level <= NEAR_LEADS);
    return w;
}

/* The only call among the likeliest pieces, if it says nothing of whom it calls; else NULL. */
static const struct il_instruction *unnamed_call(struct near *near)
{
    struct ways w = ways_in(near, NEAR_LEADS);

    return w.calls == 1 && il_match_unnamed(&near->match, w.call) ? w.call : NULL;
}

static bool boxes(struct near *near, unsigned set)
{
    const struct il_pieces *pieces = near->pieces;

    if (!pieces->boxes || !widen(near))
        return false;
    for (uint32_t i = 0; i < pieces->count; i++) {
        struct reach from = reach_of(pieces, i);

        for (uint32_t k = 0; near->piece[i].level <= set && k < from.count; k++)
            if (from.first[k].opcode == OP_BOX)
                return true;
    }
    return false;
}

/* If nothing near can call, the map is wrong: an unrolled loop runs on under the entry before. */
static int32_t only_one(struct near *near)
{
    struct best best = best_of(near, NEAR_SETS);
    bool exact = best.fit == FIT_BOX || (best.fit >= FIT_ALL && near->match.target->callee) ||
                 (best.fit == FIT_ALL && !boxes(near, NEAR_SETS));

    return exact && best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

/*
 * The instructions that can be what ran between two that are known. Only of pieces that run one
 * after the other, from the first instruction to the last.
 */
static int32_t between(struct near *near, const struct ways *follows)
{
    const struct il_pieces *pieces = near->pieces;
    struct il_rank *rank = near->match.target->rank;
    struct il_between known;
    uint32_t first = IL_NOWHERE, last = 0;

    if (near->own >= pieces->count || pieces->piece[near->own].splits || !rank || !rank->between ||
        ways_in(near, NEAR_LEADS).all != follows->all)
        return IL_UNKNOWN;
    known = rank->between(rank);
    if (known.after < 0 && known.before < 0)
        return IL_UNKNOWN;
    for (uint32_t i = near->first; i <= near->own; i++) {
        struct reach from = reach_of(pieces, i);

        for (uint32_t k = 0; k < from.count; k++) {
            int32_t at = (int32_t)from.first[k].at;

            if (at <= known.after || (known.before >= 0 && at >= known.before))
                continue;
            first = first == IL_NOWHERE ? from.first[k].at : first;
            last = from.first[k].at;
        }
    }
    return il_several(first, last);
}

/* A lambda's call, which names nobody: another delegate's may be as near, or an inlined method. */
static int32_t lambda_call(struct near *near)
{
    struct best best = best_of(near, NEAR_FOLLOWS);

    if (!best.count && !ways_in(near, NEAR_FOLLOWS).calls)
        best = best_of(near, NEAR_SETS);
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

/* No operand names the target: calls that may lead to it by another name, or are inlined. */
static int32_t by_way_of(struct near *near)
{
    const struct il_target *target = near->match.target;
    const struct il_pieces *pieces = near->pieces;
    struct ways w = ways_in(near, NEAR_FOLLOWS);
    struct best elsewhere;
    int32_t found;

    if (w.calls == 1 && il_match_unnamed(&near->match, w.call))
        return (int32_t)w.call->at;
    elsewhere = best_of(near, target->callee ? NEAR_SETS : NEAR_ANY);
    if (elsewhere.fit >= FIT_NAME && w.all) /* moved away; or by way of a call here: who knows */
        return IL_UNKNOWN;
    if (near->match.lambda && elsewhere.fit == FIT_NAME)
        return lambda_call(near);
    elsewhere = best_of(near, NEAR_ANY);
    if (elsewhere.fit >= FIT_NAME) /* of several, the JIT may have put the last first */
        return elsewhere.count == 1 ? (int32_t)elsewhere.at : IL_UNKNOWN;
    if (!w.all)
        return only_one(near);
    if (w.all == 1)
        return (int32_t)w.any->at;
    if (w.calls == 1 &&
        (target->callee || (target->made && best_of(near, NEAR_FOLLOWS).fit != FIT_FIRST)))
        return (int32_t)w.call->at;
    found = between(near, &w);
    if (found >= 0)
        return found;
    if (near->own < pieces->count && w.statement == statement_of(pieces, near->own))
        return il_several(w.any->at, w.last);
    return IL_UNKNOWN;
}

/* Every constructor has that name: another class's nearby is not meant if it fits worse. */
static bool is_constructor(const struct parts *callee)
{
    static const char name[] = ".ctor";

    return callee->name_size == sizeof(name) - 1 &&
           memcmp(callee->name, name, sizeof(name) - 1) == 0;
}

/* The likeliest pieces that have as many instructions that fit as there are equal calls. */
static int32_t named(struct near *near, bool *any)
{
    const struct il_target *target = near->match.target;
    struct best best = best_of(near, NEAR_BESIDE);
    unsigned fit = best.fit, nearest = NEAR_LEADS;
    uint32_t wanted;

    *any = fit >= FIT_NAME;
    if (near->match.lambda && fit == FIT_NAME)
        return lambda_call(near);
    if (!*any || best.all == 1) /* one: whatever its rank */
        return *any ? (int32_t)best.at : IL_UNKNOWN;
    wanted = rank_of(near)->count;
    wanted = wanted ? wanted : 1;
    if (target->callee && is_constructor(&near->match.callee) &&
        best_of(near, NEAR_FOLLOWS).fit > best_of(near, NEAR_LEADS).fit)
        nearest = NEAR_FOLLOWS;
    best = best_of(near, nearest);
    /*
     * A callee may have another owner where it is called: the nearer counts more, but not an
     * overload. An instruction that boxes the very type fits better than one that makes it.
     */
    if (best.fit >= FIT_NAME && best.count >= wanted &&
        (target->callee
             ? best.fit != FIT_NAME_OWNER
             : best.fit == FIT_BOX || (best.fit == FIT_ALL && !boxes(near, NEAR_BESIDE))))
        return chosen(near, nearest, &best);
    for (unsigned set = nearest; set < NEAR_ANY; set++) {
        best = best_of(near, set);
        if (best.fit >= FIT_NAME && best.count >= wanted &&
            (best.fit == fit || (target->callee && best.fit != FIT_NAME_OWNER)))
            return chosen(near, set, &best);
    }
    /* More equal calls than instructions: copies of the only one. */
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

static int32_t find(struct near *near)
{
    const struct il_instruction *call;
    int32_t found;
    bool any;

    if (near->match.target->callee && !near->match.target->sure &&
        best_of(near, NEAR_LEADS).fit < FIT_NAME && (call = unnamed_call(near)))
        return best_of(near, NEAR_FOLLOWS).fit < FIT_NAME ? (int32_t)call->at : IL_UNKNOWN;
    found = named(near, &any);
    return any || near->match.target->sure ? found : by_way_of(near);
}

/* find() or another look around a piece, IL_UNKNOWN if memory runs out. */
static int32_t look(const struct metadata_method *method, const struct il_pieces *pieces,
                    uint32_t own, const struct il_target *target, int32_t (*how)(struct near *near))
{
    struct near near;
    int32_t found;

    il_match_init(&near.match, method, target);
    near_init(&near, pieces, own);
    found = how(&near);
    if (near.failed || near.fits.failed)
        found = IL_UNKNOWN;
    near_fini(&near);
    return found;
}

int32_t il_find(const struct metadata_method *method, const struct il_pieces *pieces, uint32_t from,
                const struct il_target *target)
{
    uint32_t own = piece_of(pieces, from);

    return pieces->piece[own].at == from ? look(method, pieces, own, target, find) : IL_UNKNOWN;
}

int32_t il_find_first(const struct metadata_method *method, const struct il_pieces *pieces,
                      const struct il_target *target)
{
    if (pieces->piece[0].mapped)
        return il_search(method, pieces, 0, target);
    return look(method, pieces, pieces->count, target, find);
}

static int32_t find_sole(struct near *near)
{
    struct best best = best_of(near, NEAR_LEADS);

    return best.fit >= FIT_NAME ? (int32_t)best.at : IL_UNKNOWN;
}

int32_t il_find_sole(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target)
{
    return look(method, pieces, 0, target, find_sole);
}

static int32_t find_lost(struct near *near)
{
    struct best best = best_of(near, NEAR_ANY);

    return best.fit >= FIT_NAME ? chosen(near, NEAR_ANY, &best) : IL_UNKNOWN;
}

int32_t il_find_lost(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target)
{
    return look(method, pieces, pieces->count, target, find_lost);
}

bool il_doubtful(const struct metadata_method *method, const struct il_pieces *pieces, int32_t il,
                 const struct il_target *target)
{
    struct il_match match;
    bool elsewhere = false;

    il_match_init(&match, method, target);
    for (uint32_t i = 0; match.metadata && i < pieces->reaches; i++) {
        struct il_instruction *in = &pieces->reach[i];

        if (il_match_fit(&match, in, false) < FIT_NAME)
            continue;
        if (in->at >= il_first(il) && in->at <= il_last(il))
            return false;
        elsewhere = true;
    }
    return elsewhere;
}

/*
 * The only one in the whole method. A callee that no operand names is called by another method of
 * its type, which was inlined, or by a call that names nobody.
 */
static int32_t only_fit(struct near *near)
{
    const struct il_target *target = near->match.target;
    const struct il_pieces *pieces = near->pieces;
    struct best best = {.fit = 0}, unnamed = {.fit = 0};

    best_in(&best, &near->match, (struct reach){pieces->reach, pieces->reaches}, true);
    if (target->made && best.fit == FIT_FIRST && pieces->reaches > 1)
        return IL_UNKNOWN;
    if (target->callee && best.fit < FIT_NAME) {
        for (uint32_t i = 0; i < pieces->reaches; i++)
            if (il_match_unnamed(&near->match, &pieces->reach[i]))
                best_add(&unnamed, pieces->reach[i].at, FIT_NAME);
        if (unnamed.count && best.count)
            return IL_UNKNOWN;
        if (unnamed.count)
            best = unnamed;
    }
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

static int32_t search_all(struct near *near)
{
    bool any;
    int32_t found = named(near, &any);

    return any || near->match.target->sure ? found : only_fit(near);
}

int32_t il_search(const struct metadata_method *method, const struct il_pieces *pieces,
                  uint32_t from, const struct il_target *target)
{
    return look(method, pieces, from == IL_NOWHERE ? pieces->count : piece_of(pieces, from), target,
                search_all);
}
