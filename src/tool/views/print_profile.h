/* views/print_profile.h - sampled stacks for people, for programs, and for flame graphs. */
#ifndef SHADOWTRACE_VIEWS_PRINT_PROFILE_H
#define SHADOWTRACE_VIEWS_PRINT_PROFILE_H

#include "report/profile.h"

#include <stdio.h>

/* Methods by samples, `top` of them (0 all), both sources side by side if both are there, and what each cost. */
void print_profile_text(const struct report_profile *p, const struct report_defs *defs,
                        uint64_t top, FILE *out);

/* The same, with the call paths if `stacks`. NULL: no memory. The caller's to release. */
json_t *print_profile_json(const struct report_profile *p, const struct report_defs *defs,
                           bool stacks);

/* "root;...;leaf count" lines, what flamegraph.pl, speedscope and inferno read. */
void print_profile_folded(const struct report_profile_source *source,
                          const struct report_defs *defs, FILE *out);

#endif
