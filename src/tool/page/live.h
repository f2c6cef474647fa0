/*
 * page/live.h - what became of a log's objects, as cells beside those of what was allocated: the
 * page adds up from them what report's views of live objects show (report/live.h).
 */
#ifndef SHADOWTRACE_PAGE_LIVE_H
#define SHADOWTRACE_PAGE_LIVE_H

#include "page/union.h"

#include "base/json_writer.h"

/* `size` of cells of PAGE_FATES; behind them what died later, by generation and age. */
enum live_fate { LIVE_NEW, LIVE_ALIVE, LIVE_DIED_YOUNG, LIVE_DIED };

/* live_add - of a side that is live; nodes: as union_add has told them. Returns: 0 or -ENOMEM. */
int live_add(struct page_union *u, const struct side *s, const uint32_t *nodes);

/* live_head - the member "live": what the numbers rest on, what they mean, what grows. */
void live_head(const struct page_union *u, const struct side *s, struct json_writer *json);

#endif
