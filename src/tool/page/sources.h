/*
 * page/sources.h - the source lines that a page shows: those that allocate or lead there, and some
 * around each; the heaviest files first, as far as they fit.
 */
#ifndef SHADOWTRACE_PAGE_SOURCES_H
#define SHADOWTRACE_PAGE_SOURCES_H

#include "page/union.h"

#include "base/json_writer.h"

#define SOURCES_BYTES_MAX (1024 * 1024) /* of text in a page */

/* page_sources - an array "sources" of {"file":n,"lines":[[number,text],...]}. 0 or -ENOMEM. */
int page_sources(const struct page_union *u, const struct side *sides, size_t side_count,
                 struct json_writer *json);

#endif
