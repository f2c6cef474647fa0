/* export/remark.h - what a reader of a profile is to know of it, in words. */
#ifndef SHADOWTRACE_EXPORT_REMARK_H
#define SHADOWTRACE_EXPORT_REMARK_H

#include "export/profile_of.h"

/* export_remark_folded - what a profile's min_share has folded; nothing: no line. 0 or -ENOMEM. */
int export_remark_folded(struct export_profile *p, const struct model_tree *tree,
                         const struct export_folded *folded, double min_share);

/*
 * export_remark_estimated - that sums are estimates, and from what: who took the samples; and
 * between what the exact sum of what is alive lies, for profiles have no place for more. Nothing
 * where all was counted: no line. 0 or -ENOMEM.
 */
int export_remark_estimated(struct export_profile *p, const struct model_tree *tree);

#endif
