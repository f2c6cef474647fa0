#include "report/calls.h"

#include "report/index.h"

#define UNKNOWN_MAX 65536 /* calls that are made up where a line before was damaged */

const char *report_call_end_name(enum report_call_end end)
{
    static const char *const names[] = {"open", "left", "tail_call", "unwound", "unknown"};

    return names[end];
}

void report_calls_fini(struct report_calls *c)
{
    for (size_t i = 0; i < c->count; i++)
        memory_free(c->threads[i].open);
    memory_free(c->threads);
    c->threads = NULL;
    c->count = c->capacity = 0;
}

struct report_calls_thread *report_calls_thread(struct report_calls *c, uint32_t id)
{
    struct report_calls_thread *threads;

    for (size_t i = c->count; i-- > 0;)
        if (c->threads[i].id == id)
            return &c->threads[i];
    if (c->count == c->capacity) {
        threads = array_grow(c->threads, &c->capacity, sizeof(*threads));
        if (!threads)
            return NULL;
        c->threads = threads;
    }
    c->threads[c->count] = (struct report_calls_thread){.id = id};
    return &c->threads[c->count++];
}

static int push(struct report_calls *c, struct report_calls_thread *thread, uint32_t method,
                uint64_t t)
{
    if (thread->count == thread->capacity) {
        struct report_call *open = array_grow(thread->open, &thread->capacity, sizeof(*open));

        if (!open)
            return -ENOMEM;
        thread->open = open;
    }
    thread->open[thread->count] = (struct report_call){.method = method, .t = t, .level = -1};
    return c->entered(c->context, thread, &thread->open[thread->count++]);
}

/* The call that has `younger` ones open. */
static int pop(struct report_calls *c, struct report_calls_thread *thread, uint64_t younger,
               uint64_t t, enum report_call_end end)
{
    struct report_call *call;
    int err;

    if (thread->count <= younger)
        return 0; /* of a damaged log */
    call = &thread->open[thread->count - 1 - younger];
    err = c->ended(c->context, thread, call, t, end);
    memmove(call, call + 1, younger * sizeof(*call));
    thread->count--;
    return err;
}

/* As deep as the batch says that it is: more, or less, if a line before was damaged. */
static int settle(struct report_calls *c, struct report_calls_thread *thread,
                  const struct report_batch *batch)
{
    const char *at = batch->open;
    int64_t method, t;
    size_t same = 0;
    int err = 0;

    while (at && same < thread->count && report_call_next(&at, &method, &t) &&
           thread->open[same].method == (uint64_t)method && thread->open[same].t == (uint64_t)t)
        same++;
    if (!batch->open)
        same = batch->depth < thread->count ? batch->depth : thread->count;
    else if (same == batch->depth && same == thread->count)
        return 0;
    while (!err && thread->count > same)
        err = pop(c, thread, 0, batch->t, REPORT_CALL_UNKNOWN);
    at = batch->open;
    for (size_t i = 0; at && !err && report_call_next(&at, &method, &t); i++)
        if (i >= same)
            err = push(c, thread, (uint32_t)method, (uint64_t)t);
    if (batch->depth <= UNKNOWN_MAX) /* else that number is damaged, too */
        while (!err && thread->count < batch->depth)
            err = push(c, thread, 0, batch->t);
    return err;
}

static int one(struct report_calls *c, struct report_calls_thread *thread, int64_t code,
               int64_t number)
{
    if (code == SST_CALL_MISSING)
        return c->missing(c->context, thread, thread->t, (uint64_t)number);
    if (code == SST_CALL_VALUES)
        return c->values ? c->values(c->context, thread, (uint64_t)number) : 0;
    thread->t += (uint64_t)number;
    if (code > 0)
        return push(c, thread, (uint32_t)code, thread->t);
    switch (code) {
    case SST_CALL_LEFT:
        return pop(c, thread, 0, thread->t, REPORT_CALL_LEFT);
    case SST_CALL_TAIL:
        return pop(c, thread, 0, thread->t, REPORT_CALL_TAIL);
    case SST_CALL_UNWOUND:
        return pop(c, thread, 0, thread->t, REPORT_CALL_UNWOUND);
    case SST_CALL_END_MISSING:
        return pop(c, thread, 0, thread->t, REPORT_CALL_UNKNOWN);
    default:
        return code <= SST_CALL_UNWOUND_BELOW
                   ? pop(c, thread, (uint64_t)(SST_CALL_UNWOUND_BELOW + 1 - code), thread->t,
                         REPORT_CALL_UNWOUND)
                   : 0; /* of a later version */
    }
}

int report_calls_take(struct report_calls *c, const struct report_batch *batch)
{
    struct report_calls_thread *thread = report_calls_thread(c, batch->thread);
    const char *at = batch->events;
    int64_t code, number;
    int err;

    if (!thread)
        return -ENOMEM;
    err = settle(c, thread, batch);
    thread->t = batch->t;
    while (!err && report_call_next(&at, &code, &number))
        err = one(c, thread, code, number);
    return err;
}
