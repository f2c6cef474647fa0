/* Callers and callees of a method, line or type, merged: level by level, as they are opened. */
#include "browse/outline_page.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct model_merged *merged_of(const struct outline_page *p)
{
    return p->of;
}

static void node(const struct outline_page *p, uint32_t number, struct outline_node *out)
{
    const struct model_merged_row *row = model_merged_row(merged_of(p), number);

    *out = (struct outline_node){.place = &p->page.data->plain->places[row->place]};
    memcpy(out->self, row->self, sizeof(out->self));
    memcpy(out->total, row->total, sizeof(out->total));
}

static int children(void *page, uint32_t number, struct outline_children *out)
{
    struct outline_page *p = page;
    uint32_t first, count;
    int err = model_merged_open(merged_of(p), number, &first, &count);

    if (err)
        return err;
    if (!array_reserve(&out->nodes, &out->capacity, count))
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        out->nodes[i] = first + i;
    out->count = count;
    return outline_page_sort(p, out);
}

/* Asked of rows that are seen: each is a level further than what was opened. */
static bool has_children(void *page, uint32_t number)
{
    struct outline_page *p = page;
    uint32_t first, count;

    return !model_merged_open(merged_of(p), number, &first, &count) && count;
}

static void free_merged(struct outline_page *p)
{
    model_merged_free(merged_of(p));
}

struct page *page_merged(struct data *d, const struct target *t, enum model_direction direction)
{
    static const struct outline_node_ops nodes = {node, children, has_children, free_merged, NULL};
    struct model_merged *merged = NULL;
    struct outline_page *p;
    struct buffer name = BUFFER_INIT;
    uint32_t *places;
    size_t count;

    if (!data_places(d, t, &places, &count) && count)
        merged = model_merged_new(d->plain, places, count, direction);
    memory_free(places);
    p = merged ? outline_page_new(&nodes, sizeof(*p), d, merged) : NULL;
    if (!p) {
        model_merged_free(merged);
        return NULL;
    }
    snprintf(p->page.title, sizeof(p->page.title), "%s %s",
             direction == MODEL_CALLERS ? t->kind == TARGET_TYPE ? "who makes" : "callers of"
                                        : "what is called by",
             data_target_text(d, t, &name));
    buffer_free(&name);
    return &p->page;
}
