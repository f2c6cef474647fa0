#include "page/make.h"

#include "page/live.h"
#include "page/write.h"

static int add_side(struct page_union *all, struct side *s, unsigned number)
{
    uint32_t *nodes = memory_alloc(sizeof(*nodes) * s->tree->node_count);
    int err = nodes ? union_add(all, s, number, nodes) : -ENOMEM;

    if (!err && side_is_live(s))
        err = live_add(all, s, nodes);
    memory_free(nodes);
    return err;
}

int page_make(const struct side_options *options, struct side *sides, size_t count,
              struct held *heap, const char *title, FILE *out)
{
    struct page_union all;
    struct page_columns columns = {0};
    struct page_head head = {title, sides, count, &all, &columns, options, heap};
    bool estimated =
        model_estimated(sides[0].read.model) || model_estimated(sides[count - 1].read.model);
    char *text = NULL;
    int err = union_init(&all);

    all.compares = count > 1;
    for (size_t i = 0; !err && i < count; i++)
        err = add_side(&all, &sides[i], (unsigned)i);
    if (!err)
        err = union_finish(&all);
    if (!err)
        err = page_encode(&all, estimated, count > 1 || side_is_live(sides), &columns);
    if (!err && !(text = page_head_write(&head)))
        err = -ENOMEM;
    if (!err)
        err = page_write(&columns, text, title, out);
    memory_free(text);
    page_columns_fini(&columns);
    union_fini(&all);
    return err;
}
