#include "export/events.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* of a cell that is not in the tree */

struct export_events {
    FILE *file;
    bool sites;
};

int export_events_new(struct export_events **out)
{
    struct export_events *e = memory_zalloc(1, sizeof(*e));

    *out = e;
    if (!e)
        return -ENOMEM;
    e->file = tmpfile();
    if (e->file)
        return 0;
    memory_free(e);
    *out = NULL;
    return -errno;
}

void export_events_free(struct export_events *e)
{
    if (!e)
        return;
    fclose(e->file);
    memory_free(e);
}

int export_events_add(void *events, const struct report_cell_event *event)
{
    struct export_events *e = events;

    e->sites |= event->site;
    errno = 0;
    if (fwrite(event, sizeof(*event), 1, e->file) == 1)
        return 0;
    return errno ? -errno : -EIO;
}

bool export_events_sites(const struct export_events *e)
{
    return e->sites;
}

/* By cell, the node of the profile. Returns: NULL: no memory. */
static uint32_t *nodes_of_cells(const struct model_tree *tree, const uint32_t *nodes)
{
    size_t count = model_cell_count(tree->model);
    uint32_t *of = memory_alloc((count + 1) * sizeof(*of));

    if (!of)
        return NULL;
    memset(of, 0xff, (count + 1) * sizeof(*of));
    for (uint32_t i = 0; i < tree->node_count; i++)
        for (uint32_t c = tree->first_cell[i]; c < tree->first_cell[i + 1]; c++)
            of[tree->cells[c]] = nodes[i];
    return of;
}

/* Estimates are rounded where they come to stand. */
static uint64_t step(double *told, double value)
{
    double before = floor(*told + 0.5);

    *told += value;
    return (uint64_t)(floor(*told + 0.5) - before);
}

int export_events_put(struct export_events *e, const struct model_tree *tree, const uint32_t *nodes,
                      struct nettrace *to)
{
    uint32_t *of = nodes_of_cells(tree, nodes);
    struct report_cell_event event;
    double told = 0;

    if (!of)
        return -ENOMEM;
    errno = 0;
    rewind(e->file);
    while (fread(&event, sizeof(event), 1, e->file) == 1) {
        uint32_t node = of[model_event_cell(tree->model, event.cell)];
        struct export_allocation a = {
            .node = node, .thread = event.thread, .t = event.t, .large = event.large};

        if (node == NOWHERE)
            continue;
        a.bytes = a.object_bytes = step(&told, event.bytes);
        nettrace_allocation(to, &a);
    }
    memory_free(of);
    return ferror(e->file) ? errno ? -errno : -EIO : 0;
}
