/* page/make.h - a page of sides that were read: `shadowtrace html` writes it, and a server does. */
#ifndef SHADOWTRACE_PAGE_MAKE_H
#define SHADOWTRACE_PAGE_MAKE_H

#include "page/head.h"

/*
 * page_make - options: how the sides were made. heap: joined, of the first side; NULL: no dump.
 * Returns: 0; -ENOMEM; -errno of packing. Whether the file took it all, its closing tells.
 */
int page_make(const struct side_options *options, struct side *sides, size_t count,
              struct held *heap, const char *title, FILE *out);

#endif
