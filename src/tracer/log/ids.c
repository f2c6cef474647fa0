#include "log/internal.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

void log_ids_clear(struct log_ids *ids)
{
    if (ids->seen)
        memset(ids->seen, 0, ids->capacity);
}

void log_ids_free(struct log_ids *ids)
{
    memory_free(ids->seen);
    *ids = (struct log_ids){0};
}

int log_ids_add(struct log_ids *ids, uint32_t id)
{
    if (!array_reserve_zeroed(&ids->seen, &ids->capacity, (size_t)id + 1))
        return -ENOMEM;
    ids->seen[id] = 1;
    return 0;
}

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
