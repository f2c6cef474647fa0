#include "report/stacks.h"

/* The key of a frame. */
struct frame_key {
    const struct log_defs *defs;
    uint32_t method, filter, lost;
    int32_t il;
};

INDEX_OF_BYTES(frame_kind, struct frame_key, il);

/* A stack's key is what it is of. */
INDEX_OF_BYTES(stack_kind, struct report_stack, il);

void report_stacks_init(struct report_stacks *s)
{
    *s = (struct report_stacks){.frames = NULL};
}

void report_stacks_fini(struct report_stacks *s)
{
    memory_free_all(s->frames, s->stacks, s->walk);
    index_free(&s->frame_index);
    index_free(&s->stack_index);
}

static int add_frame(struct report_stacks *s, const struct log_defs *defs,
                     const struct report_frame *f, uint32_t *out)
{
    struct frame_key key = {.defs = defs,
                            .method = f->method,
                            .filter = f->filter,
                            .lost = f->path == LOG_PATH_LOST,
                            .il = f->il};
    int added = index_add(&s->frame_index, &frame_kind, &s->frames, &s->frame_count,
                          &s->frame_capacity, &key, out);

    return added < 0 ? added : 0;
}

/* Keeps a stack's frames that are in no other yet, leaf first. *parent: the number of the rest. */
static int walk_new(struct report_stacks *s, const struct log_defs *defs, uint32_t path, int32_t il,
                    uint64_t begin, size_t *count, uint32_t *parent)
{
    struct report_frame f;
    size_t slot;

    *parent = REPORT_STACK_NONE;
    *count = 0;
    for (bool more = report_frame_first(defs, path, il, &f); more && (!begin || *count < begin);
         more = report_frame_outer(defs, &f)) {
        const struct report_stack key = {.defs = defs, .path = f.path, .il = f.il};

        *parent =
            index_find(&s->stack_index, &stack_kind, s->stacks, stack_kind_hash(&key), &key, &slot);
        if (*parent != INDEX_NONE)
            return 0;
        if (!array_reserve(&s->walk, &s->walk_capacity, *count + 1))
            return -ENOMEM;
        s->walk[(*count)++] = f;
    }
    return 0;
}

int report_stacks_add(struct report_stacks *s, const struct log_defs *defs, uint32_t path,
                      int32_t il, uint64_t begin, uint32_t *out)
{
    size_t left;
    int err = walk_new(s, defs, path, il, begin, &left, out);

    while (!err && left > 0) {
        const struct report_frame *f = &s->walk[--left];
        struct report_stack stack = {.defs = defs, .path = f->path, .il = f->il, .parent = *out};

        err = add_frame(s, defs, f, &stack.frame);
        if (!err)
            err = index_add(&s->stack_index, &stack_kind, &s->stacks, &s->stack_count,
                            &s->stack_capacity, &stack, out);
        err = err < 0 ? err : 0;
    }
    return err;
}

int report_stacks_frame(struct report_stacks *s, const struct log_defs *defs, uint32_t method,
                        int32_t il, uint32_t *out)
{
    return add_frame(s, defs, &(struct report_frame){.method = method, .il = il}, out);
}

size_t report_stacks_count(const struct report_stacks *s)
{
    return s->stack_count;
}

size_t report_stacks_frame_count(const struct report_stacks *s)
{
    return s->frame_count;
}

const struct report_stack *report_stacks_at(const struct report_stacks *s, size_t number)
{
    return &s->stacks[number];
}

struct report_frame report_stacks_frame_at(const struct report_stacks *s, size_t number,
                                           const struct log_defs **defs)
{
    const struct frame_key *key = &s->frames[number];

    *defs = key->defs;
    return (struct report_frame){.path = key->lost ? LOG_PATH_LOST : LOG_PATH_EMPTY,
                                 .method = key->method,
                                 .il = key->il,
                                 .filter = key->filter};
}
