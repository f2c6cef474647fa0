#include "report/stacks.h"

/* What tells frames apart. */
struct frame_key {
    const struct report_defs *defs;
    uint32_t method, filter, lost;
    int32_t il;
};

void report_stacks_init(struct report_stacks *s)
{
    *s = (struct report_stacks){
        .frames = {.size = sizeof(struct frame_key), .key = sizeof(struct frame_key)},
        .stacks = {.size = sizeof(struct report_stack),
                   .key = offsetof(struct report_stack, parent)},
    };
}

void report_stacks_fini(struct report_stacks *s)
{
    memory_free(s->frames.data);
    index_free(&s->frames.index);
    memory_free(s->stacks.data);
    index_free(&s->stacks.index);
    memory_free(s->walk);
}

static uint64_t record_hash(const void *context, uint32_t number)
{
    const struct report_records *r = context;

    return hash_bytes(r->data + number * r->size, r->key);
}

static bool record_equal(const void *context, uint32_t number, const void *key)
{
    const struct report_records *r = context;

    return memcmp(r->data + number * r->size, key, r->key) == 0;
}

/* INDEX_NONE: there is none. The slot is for records_add. */
static uint32_t records_find(const struct report_records *r, const void *record, size_t *slot)
{
    return index_find(&r->index, hash_bytes(record, r->key), record_equal, r, record, slot);
}

/* The number of the record with the key of this one, which is added if there is none. */
static int records_add(struct report_records *r, const void *record, uint32_t *out)
{
    int added;

    if (!array_reserve(&r->data, &r->capacity, (r->count + 1) * r->size))
        return -ENOMEM;
    added = index_add(&r->index, hash_bytes(record, r->key), record_equal, record_hash, r, record,
                      r->count, out);
    if (added <= 0)
        return added;
    memcpy(r->data + r->count++ * r->size, record, r->size);
    return 0;
}

static int add_frame(struct report_stacks *s, const struct report_defs *defs,
                     const struct report_frame *f, uint32_t *out)
{
    struct frame_key key = {.defs = defs,
                            .method = f->method,
                            .filter = f->filter,
                            .lost = f->path == REPORT_PATH_LOST,
                            .il = f->il};

    return records_add(&s->frames, &key, out);
}

/* Keeps a stack's frames that are in no other yet, leaf first. *parent: the number of the rest. */
static int walk_new(struct report_stacks *s, const struct report_defs *defs, uint32_t path,
                    int32_t il, size_t *count, uint32_t *parent)
{
    struct report_frame f;
    size_t slot;

    *parent = REPORT_STACK_NONE;
    *count = 0;
    for (bool more = report_frame_first(defs, path, il, &f); more;
         more = report_frame_outer(defs, &f)) {
        const struct report_stack key = {.defs = defs, .path = f.path, .il = f.il};

        *parent = records_find(&s->stacks, &key, &slot);
        if (*parent != INDEX_NONE)
            return 0;
        if (!array_reserve(&s->walk, &s->walk_capacity, *count + 1))
            return -ENOMEM;
        s->walk[(*count)++] = f;
    }
    return 0;
}

int report_stacks_add(struct report_stacks *s, const struct report_defs *defs, uint32_t path,
                      int32_t il, uint32_t *out)
{
    size_t left;
    int err = walk_new(s, defs, path, il, &left, out);

    while (!err && left > 0) {
        const struct report_frame *f = &s->walk[--left];
        struct report_stack stack = {.defs = defs, .path = f->path, .il = f->il, .parent = *out};

        err = add_frame(s, defs, f, &stack.frame);
        if (!err)
            err = records_add(&s->stacks, &stack, out);
    }
    return err;
}

int report_stacks_frame(struct report_stacks *s, const struct report_defs *defs, uint32_t method,
                        int32_t il, uint32_t *out)
{
    return add_frame(s, defs, &(struct report_frame){.method = method, .il = il}, out);
}

size_t report_stacks_count(const struct report_stacks *s)
{
    return s->stacks.count;
}

size_t report_stacks_frame_count(const struct report_stacks *s)
{
    return s->frames.count;
}

const struct report_stack *report_stacks_at(const struct report_stacks *s, size_t number)
{
    return &((const struct report_stack *)(const void *)s->stacks.data)[number];
}

struct report_frame report_stacks_frame_at(const struct report_stacks *s, size_t number,
                                           const struct report_defs **defs)
{
    const struct frame_key *key = &((const struct frame_key *)(const void *)s->frames.data)[number];

    *defs = key->defs;
    return (struct report_frame){.path = key->lost ? REPORT_PATH_LOST : REPORT_PATH_EMPTY,
                                 .method = key->method,
                                 .il = key->il,
                                 .filter = key->filter};
}
