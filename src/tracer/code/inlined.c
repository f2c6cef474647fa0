#include "code/inlined.h"

#include "code/internal.h"

#include "base/hash.h"
#include "base/memory.h"

#define MOST_FRAMES (1u << 20)
#define SLOTS       (2 * MOST_FRAMES)

struct code_inlines {
    pthread_mutex_t lock;
    struct code_inlined *frame; /* by number, from 1; address space for all */
    uint32_t *slot;             /* open addressing: numbers; 0: free */
    _Atomic(uint32_t) count;
};

static void inlines_free(struct code_inlines *all)
{
    memory_pages_unmap(all->frame, (MOST_FRAMES + 1) * sizeof(*all->frame));
    memory_pages_unmap(all->slot, SLOTS * sizeof(*all->slot));
    memory_free(all);
}

static struct code_inlines *inlines_of(struct metadata *metadata)
{
    struct code_inlines *all = load_acquire(&metadata->inlines), *found = NULL;

    if (all)
        return all;
    all = memory_zalloc(1, sizeof(*all));
    if (!all)
        return NULL;
    all->frame = memory_pages_map((MOST_FRAMES + 1) * sizeof(*all->frame));
    all->slot = memory_pages_map(SLOTS * sizeof(*all->slot));
    if (!all->frame || !all->slot) {
        inlines_free(all);
        return NULL;
    }
    pthread_mutex_init(&all->lock, NULL);
    if (cas_acq_rel(&metadata->inlines, &found, all))
        return all;
    inlines_free(all);
    return found;
}

void code_inlined_free(struct metadata *metadata)
{
    struct code_inlines *all = load_relaxed(&metadata->inlines);

    if (all)
        inlines_free(all);
    store_relaxed(&metadata->inlines, NULL);
}

struct code_inlined *code_inlined_at(const struct metadata *metadata, uint32_t number)
{
    struct code_inlines *all = load_acquire(&metadata->inlines);

    return all && number && number <= load_acquire(&all->count) ? &all->frame[number] : NULL;
}

uint32_t code_inlined_number(struct metadata *metadata, const struct metadata_method *method,
                             int32_t il, uint32_t parent)
{
    struct code_inlines *all = inlines_of(metadata);
    uint32_t at, number = 0;

    if (!all)
        return 0;
    pthread_mutex_lock(&all->lock);
    at = (uint32_t)hash_mix((uintptr_t)method, (uint64_t)(uint32_t)il << 32 | parent);
    for (at %= SLOTS; (number = all->slot[at]); at = (at + 1) % SLOTS) {
        const struct code_inlined *frame = &all->frame[number];

        if (frame->method == method && frame->il == il && frame->parent == parent)
            break;
    }
    if (!number && load_relaxed(&all->count) < MOST_FRAMES) {
        number = load_relaxed(&all->count) + 1;
        all->frame[number] = (struct code_inlined){method, il, parent, 0};
        all->slot[at] = number;
        store_release(&all->count, number);
    }
    pthread_mutex_unlock(&all->lock);
    return number;
}

uint32_t code_inlined_below(struct metadata *metadata, uint32_t above, uint32_t number)
{
    const struct code_inlined *frame = code_inlined_at(metadata, number);

    return frame ? code_inlined_number(metadata, frame->method, frame->il,
                                       code_inlined_below(metadata, above, frame->parent))
                 : above;
}
