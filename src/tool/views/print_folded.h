/*
 * views/print_folded.h - folded stacks: "root;...;leaf number", one a line, as flamegraph.pl and
 * speedscope take them. Stacks are in full, however deep; equal lines may come several times, which
 * those tools add up.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_FOLDED_H
#define SHADOWTRACE_VIEWS_PRINT_FOLDED_H

#include "report/profile.h"
#include "model/rows.h"

#include <stdio.h>

/*
 * print_folded_sites - "...;leaf;[type] bytes" of the first `count` rows, which are MODEL_BY_SITE.
 * print_folded_samples - samples of which no frame is certain are left out.
 * Both return: 0 or -ENOMEM.
 */
int print_folded_sites(const struct model *m, const struct model_rows *rows, size_t count,
                       FILE *out);
int print_folded_samples(const struct report_profile_source *source, const struct log_defs *defs,
                         FILE *out);

#endif
