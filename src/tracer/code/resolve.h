/*
 * code/resolve.h - the instructions of the tree's sites: what is known of each, found once, beside
 * the program.
 */
#ifndef SHADOWTRACE_CODE_RESOLVE_H
#define SHADOWTRACE_CODE_RESOLVE_H

#include "code/code.h"
#include "tree/tree.h"

/*
 * tree_site.il is an IL offset, several, or an enum code_il, TREE_IL_PENDING until it is resolved.
 * Marks above them: what only unoptimised code makes (code_unoptimised_alloc); of a call, that it
 * led to the instruction through a dynamic method.
 */
#define CODE_IL_UNOPTIMISED 0x40000000
#define CODE_IL_VIA_DYNAMIC 0x20000000

/* One pass after another over all sites. Threads: one (the resolver). */
struct code_resolver {
    struct metadata *metadata; /* borrowed, as are the sites */
    struct tree_sites *calls, *allocs;
    uint32_t calls_done, allocs_done; /* of each: ids below are resolved */
};

/* Resolves all that are open. Returns: whether there were any. */
bool code_resolve(struct code_resolver *resolver);

/* One site, at once: code that may be unloaded. Threads: any, in a callback. */
void code_resolve_call(struct metadata *metadata, struct tree_site *call);
void code_resolve_alloc(struct metadata *metadata, const struct tree_sites *sites,
                        struct tree_site *alloc);

#endif
