#include "heap/sums.h"

#include "base/memory.h"

#include <errno.h>

static uint64_t bytes_of(const struct heap_graph *g, uint32_t node)
{
    return (uint64_t)g->units[node] * SST_HEAP_UNIT;
}

int heap_sums(const struct heap_graph *g, const struct heap_dominators *dominators,
              const struct heap_grouping *by, struct heap_sum *sums)
{
    /* By group: the place behind what its last object that none of it dominates dominates. */
    uint32_t *covered = memory_zalloc(by->group_count, sizeof(*covered));

    if (!covered)
        return -ENOMEM;
    memset(sums, 0, by->group_count * sizeof(*sums));
    for (uint32_t p = 1; p < dominators->count; p++) {
        uint32_t group = heap_group(by, dominators->node[p]);
        struct heap_sum *sum = &sums[group];

        sum->objects++;
        sum->bytes += bytes_of(g, dominators->node[p]);
        if (p < covered[group])
            continue;
        sum->retained_objects += dominators->below[p];
        sum->retained_bytes += dominators->retained[p];
        covered[group] = p + dominators->below[p];
    }
    memory_free(covered);
    return 0;
}

void heap_held(const struct heap_graph *g, const struct heap_dominators *dominators,
               struct heap_sum *out)
{
    (void)g;
    out->objects = out->retained_objects = dominators->count - 1;
    out->bytes = out->retained_bytes = dominators->retained[0];
}

void heap_loose(const struct heap_graph *g, const struct heap_dominators *dominators,
                struct heap_sum *out)
{
    *out = (struct heap_sum){.objects = 0};
    for (uint32_t node = 1; node < g->edges.nodes; node++)
        if (dominators->place[node] == HEAP_NO_PLACE) {
            out->objects++;
            out->bytes += bytes_of(g, node);
        }
}

int heap_together(const struct heap_graph *g, const struct heap_dominators *dominators,
                  const struct heap_grouping *wanted, uint64_t *objects, uint64_t *bytes)
{
    const struct heap_edges *e = &g->edges;
    uint8_t *seen = memory_zalloc(e->nodes, 1);
    uint32_t *todo = memory_alloc((size_t)dominators->count * sizeof(*todo)), count = 0;

    if (!seen || !todo) {
        memory_free_all(seen, todo);
        return -ENOMEM;
    }
    *objects = dominators->count;
    *bytes = dominators->retained[0];
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
