#include "model/near.h"

#include "report/frames.h"

enum rank {
    NOT_ASKED,
    OTHER,     /* it is not own code */
    UNLINED,   /* a frame outwards that has lines goes before it */
    GENERATED, /* own code that a program wrote: one that a person wrote goes before it */
    HOLDS      /* own code that has lines */
};

const char *const model_near_keys[MODEL_NEAR_LACKS] = {"",
                                                       [MODEL_NEAR_LACKS_OFFSET] = "no_offset",
                                                       [MODEL_NEAR_LACKS_READY] = "precompiled",
                                                       [MODEL_NEAR_LACKS_RECORD] = "not_recorded",
                                                       [MODEL_NEAR_LACKS_SYMBOLS] = "no_symbols",
                                                       [MODEL_NEAR_LACKS_BUILD] = "other_build",
                                                       [MODEL_NEAR_LACKS_SOURCE] = "generated"};
const char *const model_near_words[MODEL_NEAR_LACKS] = {
    "",
    [MODEL_NEAR_LACKS_OFFSET] = "(optimised)",
    [MODEL_NEAR_LACKS_READY] = "(precompiled)",
    [MODEL_NEAR_LACKS_RECORD] = "(not recorded)",
    [MODEL_NEAR_LACKS_SYMBOLS] = "(no PDB)",
    [MODEL_NEAR_LACKS_BUILD] = "(PDB of another build)",
    [MODEL_NEAR_LACKS_SOURCE] = "(generated)"};

int model_near_init(struct model_near *n, const struct log_defs *defs, const struct model_own *own,
                    struct source_lines *lines)
{
    *n = (struct model_near){.defs = defs, .own = own, .lines = lines};
    n->ranks = memory_zalloc(defs->methods.count + 1, sizeof(*n->ranks));
    return n->ranks ? 0 : -ENOMEM;
}

void model_near_fini(struct model_near *n)
{
    memory_free(n->ranks);
    *n = (struct model_near){.ranks = NULL};
}

/* "(dynamic method)" and the like are no methods. */
static enum rank find_rank(const struct model_near *n, uint32_t method)
{
    if (log_method(n->defs, method)->name[0] == '(')
        return OTHER;
    if (!n->any && model_own_of_method(n->own, method) != MODEL_OWN)
        return OTHER;
    if (!source_line_any(n->lines, method))
        return n->any ? OTHER : UNLINED;
    return !n->any && source_line_generated(n->lines, method) ? GENERATED : HOLDS;
}

static enum rank rank_of(struct model_near *n, uint32_t method)
{
    uint8_t *known = &n->ranks[method];

    if (*known == NOT_ASKED)
        *known = (uint8_t)find_rank(n, method);
    return (enum rank) * known;
}

enum model_near_lack model_near_lack(const struct model_near *n, uint32_t method)
{
    uint32_t module = log_method(n->defs, method)->module;

    if (!n->lines)
        return MODEL_NEAR_LACKS_NOTHING;
    if (n->defs->no_offsets)
        return MODEL_NEAR_LACKS_RECORD;
    if (source_line_any(n->lines, method))
        return log_method(n->defs, method)->precompiled ? MODEL_NEAR_LACKS_READY
                                                        : MODEL_NEAR_LACKS_OFFSET;
    if (source_lines_of_module(n->lines, module))
        return MODEL_NEAR_LACKS_SOURCE;
    return source_lines_rebuilt(n->lines, module) ? MODEL_NEAR_LACKS_BUILD
                                                  : MODEL_NEAR_LACKS_SYMBOLS;
}

bool model_near_find(struct model_near *n, uint32_t path, int32_t il, struct model_near_place *out)
{
    struct report_frame at, found = {.method = 0};
    enum rank best = OTHER;

    for (bool more = report_frame_first(n->defs, path, il, &at); more && best != HOLDS;
         more = report_frame_outer(n->defs, &at)) {
        enum rank rank = at.path == LOG_PATH_LOST ? OTHER : rank_of(n, at.method);

        if (rank > best) {
            best = rank;
            found = at;
        }
    }
    *out = (struct model_near_place){.method = found.method};
    if (best != OTHER && !source_line_of(n->lines, found.method, found.il, &out->line)) {
        out->line.file = NULL;
        out->lack = model_near_lack(n, found.method);
    }
    return best != OTHER;
}

/* The node of generated code that an outer, written one goes before; 0: none. */
static uint32_t passed_over(const uint32_t *near, const uint32_t *passed, uint32_t node,
                            uint32_t outer, enum rank rank)
{
    if (near[node] == node) /* it counts for itself: what is below may have passed it over */
        return 0;
    return rank == GENERATED ? node : passed[outer];
}

int model_near_nodes(struct model_near *n, const struct model_tree *t, uint32_t **out,
                     uint32_t **passed)
{
    uint8_t *ranks = memory_zalloc(t->node_count, sizeof(*ranks)); /* of what a node counts for */
    uint32_t *near = *out = memory_zalloc(t->node_count, sizeof(*near));

    if (passed)
        *passed = memory_zalloc(t->node_count, sizeof(**passed));
    if (!ranks || !near || (passed && !*passed)) {
        memory_free(ranks);
        return -ENOMEM;
    }
    ranks[0] = OTHER;
    for (uint32_t i = 1; i < t->node_count; i++) {
        const struct model_place *place = &t->places[t->nodes[i].place];
        uint32_t outer = t->nodes[i].parent;
        enum rank rank = place->kind == MODEL_PLACE_METHOD ? rank_of(n, place->method) : OTHER;
        bool takes = rank != OTHER && rank >= ranks[outer];

        near[i] = takes ? i : near[outer];
        ranks[i] = takes ? (uint8_t)rank : ranks[outer];
        if (passed)
            (*passed)[i] = passed_over(near, *passed, i, outer, rank);
    }
    memory_free(ranks);
    return 0;
}
