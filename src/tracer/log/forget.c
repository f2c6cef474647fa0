/*
 * log/forget.c - what was unloaded is given back: when no event can name it any more, and which log
 * ids those get that come in its place.
 *
 * A node's log id is its own as long as none was given back. Then log ids go on from the largest
 * that was written: nodes that are given out again, and those above it, get the next when they are
 * defined.
 */
#include "log/records.h"
#include "log/rounds.h"

#include "base/memory.h"

#include <errno.h>

uint32_t log_node_number(struct log *log, uint32_t node)
{
    uint32_t id;

    if (LIKELY(!log->node_ids)) {
        if (node > log->node_max)
            log->node_max = node;
        return node;
    }
    id = load_relaxed(&log->node_id[node]);
    if (id == NODE_ID_OPEN || (!id && node > log->node_max)) {
        id = ++log->node_ids;
        store_relaxed(&log->node_id[node], id);
    }
    return id ? id : node;
}

int log_grace_begin(struct log *log)
{
    if (!log->node_id) {
        size_t size = log->config.tree->config.max_nodes * sizeof(*log->node_id);

        log->node_id = memory_pages_map(size); /* pages come as they are touched; for good */
        if (!log->node_id)
            return -ENOMEM;
    }
    store_release(&log->grace_asked, load_relaxed(&log->grace_asked) + 1);
    parker_unpark(&log->config.hub->writer);
    return 0;
}

bool log_grace_over(const struct log *log)
{
    return load_acquire(&log->grace_over) == load_relaxed(&log->grace_asked);
}

void log_forget(struct log *log, const struct tree_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        store_relaxed(&log->node_id[nodes->number[i]], NODE_ID_OPEN);
    if (log->live)
        log_live_forget(log, nodes);
}

void log_grace_take(struct log *log)
{
    uint32_t asked = load_acquire(&log->grace_asked);

    if (LIKELY(asked == log->grace_begun) || load_relaxed(&log->config.hub->fresh))
        return; /* a ring that there was no memory to adopt: the next round again */
    if (!log->node_ids)
        log->node_ids = log->node_max ? log->node_max : 1;
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        thread->grace = load_acquire(&thread->ring->head);
    if (log->sites)
        log->grace_swaps =
            log_sites_swaps(log) + 2; /* what is counted now, and what is being written */
    log->grace_begun = asked;
}

/* The events that were there at the beginning are handled, and no open call is of unloaded code. */
static bool passed(const struct log_thread *thread)
{
    uint64_t handled = load_relaxed(&thread->ring->tail) - thread->deferred.count;

    return (int64_t)(handled - thread->grace) >= 0 && !log_calls_any_retired(thread);
}

void log_grace_check(struct log *log)
{
    if (LIKELY(!log_grace_waits(log)))
        return;
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        if (!passed(thread))
            return;
    if (log->sites && log_sites_swaps(log) < log->grace_swaps)
        return;
    log_watch_forget(log);
    store_release(&log->grace_over, log->grace_begun);
}
