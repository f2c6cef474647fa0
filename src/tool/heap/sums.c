#include "heap/sums.h"

#include "base/memory.h"

#include <errno.h>

static uint64_t bytes_of(const struct heap_graph *g, uint32_t node)
{
    return (uint64_t)g->units[node] * SST_HEAP_UNIT;
}

int heap_sums(const struct heap_graph *g, const struct heap_dominators *d,
              const struct heap_grouping *by, struct heap_sum *sums)
{
    /* By group: the place behind what its last object that none of it dominates dominates. */
    uint32_t *covered = memory_zalloc(by->group_count, sizeof(*covered));

    if (!covered)
        return -ENOMEM;
    memset(sums, 0, by->group_count * sizeof(*sums));
    for (uint32_t p = 1; p < d->count; p++) {
        uint32_t group = heap_group(by, d->node[p]);
        struct heap_sum *sum = &sums[group];

        sum->objects++;
        sum->bytes += bytes_of(g, d->node[p]);
        if (p < covered[group])
            continue;
        sum->retained_objects += d->below[p];
        sum->retained_bytes += d->retained[p];
        covered[group] = p + d->below[p];
    }
    memory_free(covered);
    return 0;
}

void heap_held(const struct heap_graph *g, const struct heap_dominators *d, struct heap_sum *out)
{
    (void)g;
    out->objects = out->retained_objects = d->count - 1;
    out->bytes = out->retained_bytes = d->retained[0];
}

void heap_loose(const struct heap_graph *g, const struct heap_dominators *d, struct heap_sum *out)
{
    *out = (struct heap_sum){.objects = 0};
    for (uint32_t node = 1; node < g->edges.nodes; node++)
        if (d->place[node] == HEAP_NO_PLACE) {
            out->objects++;
            out->bytes += bytes_of(g, node);
        }
}

int heap_together(const struct heap_graph *g, const struct heap_dominators *d,
                  const struct heap_grouping *wanted, uint64_t *objects, uint64_t *bytes)
{
    const struct heap_edges *e = &g->edges;
    uint8_t *seen = memory_zalloc(e->nodes, 1);
    uint32_t *todo = memory_alloc((size_t)d->count * sizeof(*todo)), count = 0;

    if (!seen || !todo) {
        memory_free_all(seen, todo);
        return -ENOMEM;
    }
    *objects = d->count;
    *bytes = d->retained[0];
    seen[0] = 1;
    todo[count++] = 0;
    while (count) {
        uint32_t node = todo[--count];

        (*objects)--;
        *bytes -= bytes_of(g, node);
        for (uint32_t edge = e->first[node]; edge < e->first[node + 1]; edge++) {
            uint32_t to = e->to[edge];

            if (!seen[to] && heap_group(wanted, to) != 1) {
                seen[to] = 1;
                todo[count++] = to;
            }
        }
    }
    memory_free_all(seen, todo);
    return 0;
}
