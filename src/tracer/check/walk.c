#include "check/walk.h"

#include "base/memory.h"
#include "check/runs.h"
#include "clr/context.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <string.h>

#define FIRST_FRAMES 1024

int check_walk_init(struct check_walk *walk, struct check *check)
{
    *walk = (struct check_walk){.check = check, .capacity = FIRST_FRAMES};
    walk->frame = memory_alloc(FIRST_FRAMES * sizeof(*walk->frame));
    return walk->frame ? 0 : -ENOMEM;
}

void check_walk_fini(struct check_walk *walk)
{
    memory_free(walk->frame);
    memory_free(walk->shadow);
    memory_free(walk->code);
    check_runs_free(walk->runs);
}

void check_walk_begin(struct check_walk *walk)
{
    walk->count = 0;
    walk->last = (struct check_frame){0, 0, 0, 0};
    walk->failed = false;
    if (walk->runs)
        check_runs_begin(walk->runs);
}

hresult check_walk_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                         uint32_t context_size, const uint8_t *context, void *client_data)
{
    struct check_walk *walk = client_data;
    struct clr_registers registers = clr_context_registers(context);

    (void)frame_info, (void)context_size;
    if (walk->runs)
        check_runs_frame(walk->runs, function, walk->count, context);
    if (function)
        walk->last = (struct check_frame){function, ip, registers.sp, registers.fp};
    if (!check_counts(walk->check, function))
        return S_OK;
    if (walk->count == walk->capacity) {
        struct check_frame *larger =
            memory_realloc(walk->frame, 2 * walk->capacity * sizeof(*larger));

        if (!larger) {
            walk->failed = true;
            return S_FALSE;
        }
        walk->frame = larger;
        walk->capacity *= 2;
    }
    walk->frame[walk->count++] = (struct check_frame){function, ip, registers.sp, registers.fp};
    return S_OK;
}

static bool shadow_room(struct check_walk *walk, size_t depth)
{
    struct stack_copied *larger;

    if (depth <= walk->shadow_capacity)
        return true;
    depth += depth / 2 + 64;
    larger = memory_realloc(walk->shadow, depth * sizeof(*larger));
    if (!larger)
        return false;
    walk->shadow = larger;
    walk->shadow_capacity = depth;
    return true;
}

bool check_walk_copy(struct check_walk *walk, const struct frame *top, size_t depth)
{
    if (!shadow_room(walk, depth))
        return false;
    for (size_t i = 0; i < depth; i++) {
        const struct frame *frame = &top[(ptrdiff_t)i - (ptrdiff_t)depth];

        walk->shadow[i] = (struct stack_copied){
            load_relaxed(&frame->method), load_relaxed(&frame->sp), load_relaxed(&frame->ret)};
    }
    return true;
}
