/*
 * log/deferred.c - events of a thread that wait for a definition, oldest first, in blocks of pages:
 * what waits once the resolver has fallen behind is given back when it has caught up.
 */
#include "log/rounds.h"

#include "base/memory.h"

#include <errno.h>

#define BLOCK_EVENTS 2047 /* with the pointer 64 KB */
#define SPARE_BLOCKS 4    /* kept for the next time */

struct log_deferred_block {
    struct log_deferred_block *next;
    struct event event[BLOCK_EVENTS];
};

static struct log_deferred_block *block_get(struct log *log)
{
    struct log_deferred_block *block = log->spare;

    if (!block)
        return memory_pages_map(sizeof(*block));
    log->spare = block->next;
    log->spares--;
    return block;
}

static void block_put(struct log *log, struct log_deferred_block *block)
{
    if (log->spares == SPARE_BLOCKS) {
        memory_pages_unmap(block, sizeof(*block));
        return;
    }
    block->next = log->spare;
    log->spare = block;
    log->spares++;
}

int log_deferred_push(struct log *log, struct log_deferred *queue, const struct event *event)
{
    size_t at = (queue->first + queue->count) % BLOCK_EVENTS;

    if (!queue->count || at == 0) {
        struct log_deferred_block *block = block_get(log);

        if (!block)
            return -ENOMEM;
        block->next = NULL;
        *(queue->oldest ? &queue->youngest->next : &queue->oldest) = block;
        queue->youngest = block;
    }
    queue->youngest->event[at] = *event;
    queue->count++;
    log->deferred++;
    return 0;
}

const struct event *log_deferred_oldest(const struct log_deferred *queue)
{
    return queue->count ? &queue->oldest->event[queue->first] : NULL;
}

void log_deferred_pop(struct log *log, struct log_deferred *queue)
{
    struct log_deferred_block *done = queue->oldest;

    queue->first = (queue->first + 1) % BLOCK_EVENTS;
    queue->count--;
    log->deferred--;
    if (queue->count && queue->first)
        return;
    queue->oldest = queue->count ? done->next : NULL;
    queue->first = queue->count ? queue->first : 0;
    block_put(log, done);
}

void log_deferred_free(struct log_deferred_block *block)
{
    while (block) {
        struct log_deferred_block *next = block->next;

        memory_pages_unmap(block, sizeof(*block));
        block = next;
    }
}
