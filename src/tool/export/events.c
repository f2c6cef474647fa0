#include "export/events.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* of a cell that is not in the tree */

struct export_events {
    FILE *file;
    bool sites;
    const struct model *model;
    uint32_t *nodes; /* by cell: of the profile, or NOWHERE */
    double told;     /* bytes of those that were given out */
};

int export_events_new(struct export_events **out)
{
    struct export_events *e = memory_zalloc(1, sizeof(*e));
    int err = -ENOMEM;

    if (e) {
        e->file = tmpfile();
        err = e->file ? 0 : -errno;
    }
    if (err) {
        memory_free(e);
        e = NULL;
    }
    *out = e;
    return err;
}

void export_events_free(struct export_events *e)
{
    if (!e)
        return;
    fclose(e->file);
    memory_free_all(e->nodes, e);
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

int export_events_place(struct export_events *e, const struct model_tree *tree,
                        const uint32_t *nodes)
{
    size_t count = model_cell_count(tree->model);

    e->model = tree->model;
    e->nodes = memory_alloc((count + 1) * sizeof(*e->nodes));
    if (!e->nodes)
        return -ENOMEM;
    memset(e->nodes, 0xff, (count + 1) * sizeof(*e->nodes));
    for (uint32_t i = 0; i < tree->node_count; i++)
        for (uint32_t c = tree->first_cell[i]; c < tree->first_cell[i + 1]; c++)
            e->nodes[tree->cells[c]] = nodes[i];
    return 0;
}

void export_events_again(struct export_events *e)
{
    rewind(e->file);
    e->told = 0;
}

int export_events_next(struct export_events *e, struct export_allocation *out)
{
    struct report_cell_event event;

    errno = 0;
    while (fread(&event, sizeof(event), 1, e->file) == 1) {
        uint32_t node = e->nodes[model_event_cell(e->model, event.cell)];

        if (node == NOWHERE)
            continue;
        *out = (struct export_allocation){
            .node = node, .thread = event.thread, .t = event.t, .large = event.large};
        out->bytes = out->object_bytes = export_step(&e->told, event.bytes);
        return 1;
    }
    if (!ferror(e->file))
        return 0;
    return errno ? -errno : -EIO;
}
