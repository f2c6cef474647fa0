/*
 * clr/event_mask.h - changes what the runtime tells a profiler. The mask is two words, read and
 * written as a whole: parts are changed here while the program runs, or two changes at once would
 * lose one.
 */
#ifndef SHADOWTRACE_CLR_EVENT_MASK_H
#define SHADOWTRACE_CLR_EVENT_MASK_H

#include <shadowtrace/clr/info.h>

/*
 * clr_event_mask_change - clears, then sets, bits of the low word (COR_PRF_MONITOR_...).
 * Returns: what the runtime says. Threads: any. May run: in callbacks and hooks, under other locks;
 *          takes its own, for two calls.
 */
hresult clr_event_mask_change(struct clr_info *info, uint32_t clear, uint32_t set);

#endif
