/*
 * export/nettrace.h - single allocations as GCAllocationTick events, for code that reads a log
 * again. export_nettrace (formats.h) writes one for each sample.
 */
#ifndef SHADOWTRACE_EXPORT_NETTRACE_H
#define SHADOWTRACE_EXPORT_NETTRACE_H

#include "export/profile.h"

#include <stdio.h>

struct nettrace;

/* nettrace_new - modules and methods are written. Returns: 0 or -ENOMEM. Owns: p, out borrowed. */
int nettrace_new(const struct export_profile *p, FILE *out, struct nettrace **nettrace);

void nettrace_allocation(struct nettrace *n, const struct export_allocation *allocation);

/* nettrace_finish - Returns: 0; -ENOMEM; -errno of writing. */
int nettrace_finish(struct nettrace *n);
void nettrace_free(struct nettrace *n); /* NULL is fine */

#endif
