/*
 * Fuzz target: src/tool/heap. An input is a heap dump. Its checksums are made right first, so that
 * what was changed is read; what is accepted is asked all there is to ask, and must hang together.
 */
#include "must.h"

#include "heap/paths.h"

#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy with the checksums that belong to what it has. */
static uint8_t *mend(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct sst_heap_head head;
    struct sst_heap_chunk chunk;
    size_t at;

    MUST(copy);
    memcpy(copy, data, size);
    if (size < sizeof(head))
        return copy;
    memcpy(&head, copy, sizeof(head));
    head.sum = sst_heap_sum(&head, offsetof(struct sst_heap_head, sum));
    memcpy(copy, &head, sizeof(head));
    for (at = head.bytes; at < size && size - at >= sizeof(chunk);) {
        memcpy(&chunk, copy + at, sizeof(chunk));
        if (chunk.bytes > size - at - sizeof(chunk))
            break;
        chunk.sum = sst_heap_sum(copy + at + sizeof(chunk), chunk.bytes);
        memcpy(copy + at, &chunk, sizeof(chunk));
        at += sizeof(chunk) + chunk.bytes;
    }
    return copy;
}

static void check_tree(const struct heap_graph *g, const struct heap_dominators *d)
{
    uint64_t bytes = 0;

    MUST(d->count >= 1 && d->node[0] == 0 && d->below[0] == d->count);
    for (uint32_t p = 0; p < d->count; p++) {
        MUST(d->node[p] < g->edges.nodes && d->place[d->node[p]] == p);
        MUST(p == 0 || d->above[p] < p);
        MUST(p == 0 || p + d->below[p] <= d->above[p] + d->below[d->above[p]]);
        MUST(d->retained[p] <= d->retained[d->above[p]]);
        bytes += (uint64_t)g->units[d->node[p]] * SST_HEAP_UNIT;
    }
    MUST(bytes == d->retained[0]);
}

static void check_paths(const struct heap_graph *g, const struct heap_dominators *d)
{
    static const uint32_t odd[] = {0, 1, 0, 1};
    struct heap_grouping wanted = {g->classes, odd, 4, 2};
    struct heap_paths paths;
    uint64_t objects, bytes;

    MUST(heap_together(g, d, &wanted, &objects, &bytes) == 0);
    MUST(heap_paths_find(g, d, &wanted, 10, &paths) == 0);
    MUST(paths.sum.retained_bytes <= bytes && bytes <= d->retained[0]);
    MUST(paths.sum.objects <= objects && objects < d->count);
    for (size_t i = 0; i < paths.count; i++) {
        const struct heap_path *path = &paths.paths[i];

        MUST(path->step_count && heap_graph_root(g, path->steps[0]));
        MUST(path->steps[path->step_count - 1] == path->object);
    }
    heap_paths_free(&paths);
    MUST(heap_paths_all(g, d, &paths) == 0);
    for (size_t i = 0, count = 0; i < paths.count; i++) {
        MUST(paths.paths[i].sum.retained_bytes <= d->retained[0]);
        count += paths.paths[i].sum.objects;
        MUST(i + 1 < paths.count || count + 1 == d->count);
    }
    heap_paths_free(&paths);
}

/* Each reference has a slot of its object or none, and a name that ends. */
static void check_slots(struct heap_dump *dump, const struct heap_graph *g)
{
    struct heap_step steps[64];
    size_t count = 0;

    for (uint32_t node = 1; node < g->edges.nodes && count < 64; node++)
        if (g->edges.first[node] < g->edges.first[node + 1])
            steps[count++] = (struct heap_step){node, g->edges.to[g->edges.first[node]], 0};
    MUST(heap_slots_find(dump, g, steps, count) == 0);
    for (size_t i = 0; i < count; i++) {
        const char *name = heap_field_name(g, g->classes[steps[i].from], steps[i].slot);

        MUST(!name || (size_t)(name - g->field_text) + strlen(name) < g->field_size);
    }
    for (size_t i = 0; i < g->root_count; i++)
        MUST(g->roots[i].field <= g->static_count);
    for (size_t i = 0; i < g->static_count; i++)
        MUST(g->statics[i].at < g->field_size);
    for (uint32_t node = 1; node < g->edges.nodes && node < 64; node++)
        MUST(!heap_graph_keeps(g, node) || g->static_count);
}

static void check_graph(const struct heap_graph *g)
{
    struct heap_dominators d;

    MUST(g->edges.nodes == g->addresses.count + 1 && g->edges.first[0] == 0);
    for (uint32_t node = 0; node < g->edges.nodes; node++) {
        MUST(g->edges.first[node] <= g->edges.first[node + 1]);
        MUST(node == 0 || g->addresses.address[node] > g->addresses.address[node - 1]);
        MUST(heap_addresses_find(&g->addresses, g->addresses.address[node]) == node);
    }
    for (uint32_t edge = 0; edge < g->edges.first[g->edges.nodes]; edge++)
        MUST(g->edges.to[edge] < g->edges.nodes);
    for (uint32_t i = 0; i < g->class_names.count; i++)
        MUST(!g->class_names.names[i].at || g->class_names.names[i].at < g->class_names.size);
    MUST(heap_dominators_find(&g->edges, g->units, &d) == 0);
    check_tree(g, &d);
    check_paths(g, &d);
    heap_dominators_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = mend(data, size);
    struct heap_graph g = {.weak = 0};
    struct heap_dump d;
    char path[64];
    int file = memfd_create("heap", 0), err;

    MUST(file >= 0 && write(file, copy, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    err = heap_dump_open(path, &d);
    if (!err)
        err = heap_graph_read(&d, &g);
    MUST(err == 0 || err == -EBADMSG || err == -EPROTO || err == -EFBIG);
    MUST((err != -EBADMSG && err != -EPROTO) || (*d.why && !strchr(d.why, '\n')));
    if (!err)
        check_graph(&g);
    if (!err)
        check_slots(&d, &g);
    heap_graph_free(&g);
    heap_dump_close(&d);
    close(file);
    free(copy);
    return 0;
}
