#include "export/stack.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>

int export_stack_of(struct export_stack *s, const struct export_profile *profile, uint32_t node)
{
    size_t depth = 0;

    for (uint32_t n = node; n; n = profile->nodes[n].parent)
        depth++;
    if (!array_reserve(&s->frames, &s->capacity, depth))
        return -ENOMEM;
    s->count = depth;
    for (uint32_t n = node; n; n = profile->nodes[n].parent)
        s->frames[--depth] = profile->nodes[n].frame;
    return 0;
}

void export_stack_free(struct export_stack *s)
{
    memory_free(s->frames);
    *s = (struct export_stack){0};
}

int export_functions(const struct export_profile *p, const struct export_frame ***out)
{
    const struct export_frame **functions =
        memory_zalloc(p->function_count + 1, sizeof(*functions));

    *out = functions;
    if (!functions)
        return -ENOMEM;
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[i], **known = &functions[frame->function];

        if (!*known || (!(*known)->file && frame->file))
            *known = frame;
    }
    return 0;
}
