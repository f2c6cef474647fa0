/*
 * views/print_folded.h - rows of report/sites.h as folded stacks: "root;...;leaf;[type] bytes", one a
 * line, as flamegraph.pl, speedscope and others take them.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_FOLDED_H
#define SHADOWTRACE_VIEWS_PRINT_FOLDED_H

#include "report/sites.h"

#include <stdio.h>

/*
 * print_folded - sites were made with REPORT_BY_SITE; rows of fewer than min_bytes are left out.
 * Stacks are in full, however deep. Call sites that differ by instructions only come as equal
 * lines, which those tools add up. Returns: 0 or -ENOMEM.
 */
int print_folded(const struct report_sites *sites, uint64_t min_bytes, FILE *out);

/* A name as one frame: what parts frames, or lines, is no part of it. */
void print_folded_name(const char *name, FILE *out);

#endif
