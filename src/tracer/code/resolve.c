#include "code/resolve.h"

#include "code/inlined.h"
#include "stack/stack.h"

/* A call that led on through a dynamic method. */
static int32_t resolve_dynamic(struct metadata *metadata, struct tree_site *site)
{
    int32_t il = code_il_unnamed(metadata, (struct metadata_method *)site->method,
                                 site->ip & ~TREE_IP_DYNAMIC, &site->inlined);

    return il < 0 ? CODE_IL_DYNAMIC : il | CODE_IL_VIA_DYNAMIC;
}

void code_resolve_call(struct metadata *metadata, struct tree_site *call)
{
    struct metadata_method *method = (struct metadata_method *)call->target,
                           *inside = (struct metadata_method *)call->method;
    int32_t il = CODE_IL_NONE;

    if (method)
        metadata_method_resolve(metadata, method);
    if (call->outside == TREE_OUTSIDE_DYNAMIC)
        il = CODE_IL_DYNAMIC;
    else if (call->ip & TREE_IP_DYNAMIC)
        il = resolve_dynamic(metadata, call);
    else if (method && call->ip && call->ip != FRAME_RET_FILTER)
        il = code_il_call(metadata, inside, call->ip, method, &call->inlined);
    store_release(&call->il, il); /* after the method's text; pairs with the writer's acquire */
}

/* The frames that were inlined at the place that a call led to. */
static uint32_t frames_below(struct metadata *metadata, const struct tree_site *from)
{
    uint32_t inlined = 0;

    code_il_alloc(metadata, (struct metadata_method *)from->method, from->ip,
                  (struct metadata_class *)from->target, &inlined);
    return inlined;
}

void code_resolve_alloc(struct metadata *metadata, const struct tree_sites *sites,
                        struct tree_site *alloc)
{
    struct metadata_method *inside = (struct metadata_method *)alloc->method;
    struct metadata_class *class = (struct metadata_class *)alloc->target;
    uint32_t below = alloc->under ? frames_below(metadata, tree_site_at(sites, alloc->under)) : 0;
    int32_t il;

    if (alloc->ip & TREE_IP_DYNAMIC) {
        il = resolve_dynamic(metadata, alloc);
    } else if (alloc->ip & TREE_IP_FAULT) {
        il = code_il_fault(metadata, inside, alloc->ip & ~TREE_IP_FAULT, &alloc->inlined);
    } else {
        il = code_il_alloc(metadata, inside, alloc->ip, class, &alloc->inlined);
        if (!alloc->inlined && !below &&
            code_unoptimised_alloc(metadata, inside, alloc->ip, il, class))
            il |= CODE_IL_UNOPTIMISED;
    }
    if (below)
        alloc->inlined = code_inlined_below(metadata, alloc->inlined, below);
    store_release(&alloc->il, il);
}

/* The next open site, past those that are done; NULL: none, or one that is still being made. */
static struct tree_site *next_open(const struct tree_sites *sites, uint32_t *cursor)
{
    struct tree_site *site;

    for (; (site = tree_site_by_id(sites, *cursor)); ++*cursor) {
        unsigned state = load_acquire(&site->state);

        if (state == TREE_RESERVED)
            return NULL;
        if (state == TREE_LIVE && load_relaxed(&site->il) == TREE_IL_PENDING)
            return site;
    }
    return NULL;
}

bool code_resolve(struct code_resolver *r)
{
    struct tree_site *alloc, *call;
    bool some = false;

    r->allocs_done = tree_sites_reopened(r->allocs, r->allocs_done);
    r->calls_done = tree_sites_reopened(r->calls, r->calls_done);

    /* Allocating ones are fewer: those met meanwhile go first, so that no event waits long. */
    do {
        while ((alloc = next_open(r->allocs, &r->allocs_done))) {
            code_resolve_alloc(r->metadata, r->allocs, alloc);
            metadata_progressed(r->metadata);
            some = true;
        }
        call = next_open(r->calls, &r->calls_done);
        if (call) {
            code_resolve_call(r->metadata, call);
            metadata_progressed(r->metadata);
            some = true;
        }
    } while (call);
    return some;
}
