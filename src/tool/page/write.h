/* page/write.h - the page around its data: one file, whose policy lets only its own script run. */
#ifndef SHADOWTRACE_PAGE_WRITE_H
#define SHADOWTRACE_PAGE_WRITE_H

#include "page/head.h"

/*
 * page_write - head: what page_head_write has made. Returns: 0; -ENOMEM; -errno of packing. Whether
 * the file took it all, its closing tells.
 */
int page_write(const struct page_columns *columns, const char *head, const char *title, FILE *out);

#endif
