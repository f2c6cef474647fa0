#include "check/internal.h"

#include "base/memory.h"

#include <string.h>

/* Records for FunctionIDs, named now: the writer, who needs the text, may not ask the runtime. */
static void name_all(struct check *check, uintptr_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct metadata_method *method = NULL;

        if (metadata_method_map(check->config.metadata, words[i], &method) == 0)
            metadata_method_resolve(check->config.metadata, method);
        words[i] = (uintptr_t)method;
    }
}

/* Is `few` what is left of `many` without some of its frames? */
static bool subsequence(const uintptr_t *few, size_t few_count, const uintptr_t *many,
                        size_t many_count)
{
    size_t found = 0;

    for (size_t i = 0; i < many_count && found < few_count; i++)
        found += many[i] == few[found];
    return found == few_count;
}

static enum agreement_cause cause_of(const struct event_mismatch *m)
{
    const uintptr_t *shadow = m->methods, *snapshot = m->methods + m->shadow;

    if (m->refused)
        return AGREEMENT_REFUSED_WITH_FRAMES;
    if (subsequence(snapshot, m->snapshot, shadow, m->shadow))
        return AGREEMENT_SHADOW_EXTRA;
    if (subsequence(shadow, m->shadow, snapshot, m->snapshot))
        return AGREEMENT_SHADOW_MISSING;
    return AGREEMENT_DIFFERENT_METHOD;
}

static void post(struct event_ring *ring, uint64_t ticks, enum event_kind kind, void *payload)
{
    struct event event = {.ticks = ticks,
                          .subject = (uintptr_t)payload,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, kind)};

    if (event_post(ring, &event))
        memory_free(payload);
}

/* A block of `size` and as many words, then the walk's native frames; *natives: how many. */
static void *block_new(const struct check_walk *walk, size_t size, size_t words, bool native,
                       uint32_t *natives)
{
    const struct event_native *frame = NULL;
    size_t frames = native && walk->runs ? check_runs_walk(walk->runs, &frame) : 0;
    size_t fixed = size + words * sizeof(uintptr_t);
    char *block = memory_zalloc(1, fixed + frames * sizeof(*frame));

    *natives = (uint32_t)frames;
    if (block && frames)
        memcpy(block + fixed, frame, frames * sizeof(*frame));
    return block;
}

static void put_functions(const struct check_walk *walk, uintptr_t *words)
{
    for (size_t i = 0; i < walk->count; i++)
        words[i] = walk->frame[i].function;
}

struct event_mismatch *check_mismatch_new(const struct check_walk *walk,
                                          const struct stack_copied *shadow, size_t depth,
                                          hresult result, bool native)
{
    uint32_t natives;
    struct event_mismatch *m = block_new(walk, sizeof(*m), depth + walk->count, native, &natives);

    if (!m)
        return NULL;
    m->refused = result < 0 ? result : 0;
    m->shadow = (uint32_t)depth;
    m->snapshot = (uint32_t)walk->count;
    m->natives = natives;
    for (size_t i = 0; i < depth; i++)
        m->methods[i] = stack_copied_function(&shadow[depth - 1 - i]);
    put_functions(walk, m->methods + depth);
    return m;
}

enum agreement_cause check_mismatch_post(struct check *check, struct event_ring *ring,
                                         uint64_t ticks, struct event_mismatch *m)
{
    uint32_t both = m->shadow + m->snapshot, first = 0;
    enum agreement_cause cause = cause_of(m);

    while (first < m->shadow && first < m->snapshot &&
           m->methods[m->shadow - 1 - first] == m->methods[both - 1 - first])
        first++;
    m->first = first;
    m->cause = (uint32_t)cause;
    name_all(check, m->methods, both);
    post(ring, ticks, EVENT_MISMATCH, m);
    return cause;
}

void check_snapshot_post(const struct check_walk *walk, struct event_ring *ring, uint64_t ticks,
                         hresult result)
{
    uint32_t natives;
    struct event_stack *copy = block_new(walk, sizeof(*copy), walk->count, true, &natives);

    if (!copy)
        return;
    copy->refused = result < 0 ? result : 0;
    copy->count = (uint32_t)walk->count;
    copy->natives = natives;
    put_functions(walk, copy->methods);
    name_all(walk->check, copy->methods, walk->count);
    post(ring, ticks, EVENT_SNAPSHOT, copy);
}
