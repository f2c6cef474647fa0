#include "check/internal.h"

#include "base/array.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/structs.h>

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
    memory_free_all(walk->frame, walk->shadow, walk->code);
    check_runs_free(walk->runs);
}

bool check_counts(const struct check *check, uintptr_t function)
{
    struct metadata_method *method;

    if (!function)
        return false; /* a run of unmanaged frames */
    if (!check->config.reduce && !check->config.pinvokes && !load_relaxed(check->config.spared))
        return true;
    method = metadata_method_find(check->config.metadata, function);
    if (check->config.reduce || (method && method->hooked))
        return method && method->hooked;
    if (method && load_relaxed(&method->spared))
        return false;
    return !check->config.pinvokes ||
           metadata_method_map(check->config.metadata, function, &method) ||
           !metadata_method_pinvoke(method);
}

/* StackSnapshotCallback; client_data is the walk. */
static hresult on_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                        uint32_t context_size, const uint8_t *context, void *client_data)
{
    struct check_walk *walk = client_data;
    struct check_place place = check_place_of(context);
    const struct check_frame frame = {function, ip, place.sp, place.fp};

    (void)frame_info, (void)context_size;
    if (walk->runs)
        check_runs_frame(walk->runs, function, walk->count, context);
    if (function && !walk->last.function)
        walk->first = frame;
    if (function)
        walk->last = frame;
    if (!function || (!walk->whole && !check_counts(walk->check, function)))
        return S_OK;
    if (!array_reserve(&walk->frame, &walk->capacity, walk->count + 1)) {
        walk->failed = true;
        return S_FALSE;
    }
    walk->frame[walk->count++] = frame;
    return S_OK;
}

hresult check_walk_run(struct check_walk *walk, uintptr_t thread_id, uint32_t flags,
                       struct check_seed *seed)
{
    struct clr_info *info = walk->check->config.info;

    walk->count = 0;
    walk->first = walk->last = (struct check_frame){0, 0, 0, 0};
    walk->failed = false;
    if (walk->runs)
        check_runs_begin(walk->runs);
    return info->vtbl->do_stack_snapshot(info, thread_id, on_frame, flags, walk,
                                         seed ? seed->context : NULL,
                                         seed ? sizeof(seed->context) : 0);
}

bool check_walk_copy(struct check_walk *walk, const struct frame *top, size_t depth)
{
    if (!array_reserve(&walk->shadow, &walk->shadow_capacity, depth))
        return false;
    for (size_t i = 0; i < depth; i++) {
        const struct frame *frame = &top[(ptrdiff_t)i - (ptrdiff_t)depth];

        walk->shadow[i] = stack_copied(frame);
    }
    return true;
}

bool check_walk_agrees(const struct check_walk *walk, const struct stack_copied *shadow,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (walk->frame[walk->count - 1 - i].function != stack_copied_function(&shadow[i]))
            return false;
    return true;
}

uintptr_t check_function_at(const struct check *check, uintptr_t ip)
{
    struct clr_info *info = check->config.info;
    uintptr_t function;
    hresult result = info->vtbl->get_function_from_ip(info, (const uint8_t *)ip, &function);

    return result == S_OK ? function : 0;
}
