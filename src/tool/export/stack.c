#include "export/stack.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>

int export_stack_of(struct export_stack *s, const struct export_profile *p, uint32_t node)
{
    size_t depth = 0;

    for (uint32_t n = node; n; n = p->nodes[n].parent)
        depth++;
    if (!array_reserve(&s->frames, &s->capacity, depth))
        return -ENOMEM;
    s->count = depth;
    for (uint32_t n = node; n; n = p->nodes[n].parent)
        s->frames[--depth] = p->nodes[n].frame;
    return 0;
}

void export_stack_free(struct export_stack *s)
{
    memory_free(s->frames);
    *s = (struct export_stack){0};
}
