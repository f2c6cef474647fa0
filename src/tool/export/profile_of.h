/*
 * export/profile_of.h - a model's tree as a profile, what is too small folded into its callers.
 *
 * Sites (a stack and a type) below `min_share` of the bytes go to their caller, and are added up
 * there with its others of the same type; what is still below it goes on to that one's caller. They
 * stand below a frame "(smaller ones)". So each type's bytes stay exact, a caller's total misses
 * less than min_share of each type, and there are no more than 1 / min_share samples, and one for
 * each type.
 */
#ifndef SHADOWTRACE_EXPORT_PROFILE_OF_H
#define SHADOWTRACE_EXPORT_PROFILE_OF_H

#include "export/profile.h"
#include "model/names.h"
#include "model/tree.h"

/* What folding did; and where each node of the tree stands. */
struct export_folded {
    uint64_t sites;
    double bytes;
    uint32_t *nodes; /* by node of the tree: of the profile; the caller's, for memory_free */
};

/*
 * export_profile_of - the tree has types as leaves (struct model_shape). Returns: 0 or -ENOMEM.
 * Owns: *out is the caller's until export_profile_free; tree and names must live as long.
 */
int export_profile_of(const struct model_tree *tree, struct names *names, double min_share,
                      struct export_profile **out, struct export_folded *folded);
void export_profile_free(struct export_profile *p); /* NULL is fine */

/* export_profile_remark - one more line. Returns: 0 or -ENOMEM. */
int export_profile_remark(struct export_profile *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
