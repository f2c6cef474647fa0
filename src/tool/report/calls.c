#include "report/calls.h"

/* Calls that may be invented after a damaged line, and more for each event that was read. */
#define MADE_UP           65536
#define MADE_UP_PER_EVENT 4
#define NEAR              16 /* younger calls that are passed one by one */

const char *report_call_end_name(enum report_call_end end)
{
    static const char *const names[] = {"open", "left", "tail_call", "unwound", "unknown"};

    return names[end];
}

void report_calls_fini(struct report_calls *c)
{
    for (size_t i = 0; i < c->count; i++) {
        memory_free_all(c->threads[i].calls, c->threads[i].alive);
    }
    memory_free(c->threads);
    log_id_map_free(&c->ids);
    c->threads = NULL;
    c->count = c->capacity = 0;
}

struct report_calls_thread *report_calls_thread(struct report_calls *c, uint32_t id)
{
    uint32_t known = log_id_map_get(&c->ids, id);

    if (LIKELY(known))
        return &c->threads[known - 1];
    if (!array_reserve(&c->threads, &c->capacity, c->count + 1) ||
        log_id_map_set(&c->ids, id, (uint32_t)c->count))
        return NULL;
    c->threads[c->count] = (struct report_calls_thread){.id = id};
    return &c->threads[c->count++];
}

/* Which are open. */

static size_t lowest_bit(size_t i)
{
    return i & -i;
}

/* The last call of thread->calls is a new one. */
static void alive_push(struct report_calls_thread *thread)
{
    size_t last = thread->size, sum = 1;

    for (size_t i = last - 1; i > last - lowest_bit(last); i -= lowest_bit(i))
        sum += thread->alive[i - 1];
    thread->alive[last - 1] = (uint32_t)sum;
}

static void alive_remove(struct report_calls_thread *thread, size_t index)
{
    for (size_t i = index + 1; i <= thread->size; i += lowest_bit(i))
        thread->alive[i - 1]--;
}

/* The open call that has `younger` ones above it: there are more than those. */
static struct report_call *find(struct report_calls_thread *thread, size_t younger)
{
    struct report_call *call = report_call_youngest(thread);
    size_t rank = thread->open - younger, at = 0, step = 1;

    if (younger <= NEAR) {
        while (younger--)
            call = report_call_caller(thread, call);
        return call;
    }
    while (2 * step <= thread->size)
        step *= 2;
    for (; step; step /= 2)
        if (at + step <= thread->size && thread->alive[at + step - 1] < rank) {
            at += step;
            rank -= thread->alive[at - 1];
        }
    return &thread->calls[at];
}

/* Calls that have ended are dropped once they are more than those that are open. */
static void compact(struct report_calls_thread *thread)
{
    size_t all = thread->size;
    uint32_t older = 0;

    if (all <= 2 * thread->open + NEAR)
        return;
    thread->size = 0;
    for (size_t i = 0; i < all; i++) {
        struct report_call *call = &thread->calls[thread->size];

        if (thread->calls[i].ended)
            continue;
        *call = thread->calls[i];
        call->older = older;
        call->younger = (uint32_t)thread->size + 2;
        older = (uint32_t)++thread->size;
        alive_push(thread);
    }
    if (thread->size)
        thread->calls[thread->size - 1].younger = 0;
}

/* Room for one more; NULL: no memory. */
static struct report_call *push_room(struct report_calls_thread *thread)
{
    return array_reserve(&thread->calls, &thread->capacity, thread->size + 1) &&
                   array_reserve(&thread->alive, &thread->alive_capacity, thread->size + 1)
               ? &thread->calls[thread->size]
               : NULL;
}

static int push(struct report_calls *c, struct report_calls_thread *thread, uint32_t method,
                uint64_t t)
{
    struct report_call *call = push_room(thread);

    if (!call)
        return -ENOMEM;
    *call = (struct report_call){
        .method = method, .t = t, .level = -1, .older = (uint32_t)thread->size};
    if (thread->size)
        call[-1].younger = (uint32_t)thread->size + 1;
    thread->size++;
    thread->open++;
    alive_push(thread);
    return c->entered(c->context, thread, call);
}

/* The call that has `younger` ones open. */
static int pop(struct report_calls *c, struct report_calls_thread *thread, uint64_t younger,
               uint64_t t, enum report_call_end end)
{
    struct report_call *call;
    int err;

    if (thread->open <= younger)
        return 0; /* of a damaged log */
    call = find(thread, younger);
    err = c->ended(c->context, thread, call, t, end);
    thread->open--;
    if (call->older)
        thread->calls[call->older - 1].younger = call->younger;
    if (call->younger) {
        thread->calls[call->younger - 1].older = call->older;
        call->ended = true;
        alive_remove(thread, (size_t)(call - thread->calls));
    } else {
        thread->size = call->older; /* those between have ended */
    }
    return err;
}

/* How many of the open calls, from the oldest, are those that the batch lists. */
static size_t same_as(const struct report_calls_thread *thread, const struct log_batch *batch)
{
    const char *at = batch->open;
    int64_t method, t;
    size_t same = 0;

    for (size_t i = 0; i < thread->size; i++) {
        if (thread->calls[i].ended)
            continue;
        if (!log_call_next(&at, &method, &t) || thread->calls[i].method != (uint64_t)method ||
            thread->calls[i].t != (uint64_t)t)
            break;
        same++;
    }
    return same;
}

/* As deep as the batch says that it is: more, or less, if a line before was damaged. */
static int settle(struct report_calls *c, struct report_calls_thread *thread,
                  const struct log_batch *batch)
{
    const char *at = batch->open;
    int64_t method, t;
    size_t same;
    int err = 0;

    compact(thread);
    if (batch->open)
        same = same_as(thread, batch);
    else
        same = batch->depth < thread->open ? batch->depth : thread->open;
    while (!err && thread->open > same)
        err = pop(c, thread, 0, batch->t, REPORT_CALL_UNKNOWN);
    for (size_t i = 0; at && !err && log_call_next(&at, &method, &t); i++)
        if (i >= same)
            err = push(c, thread, (uint32_t)method, (uint64_t)t);
    while (!err && thread->open < batch->depth &&
           c->made_up < MADE_UP + MADE_UP_PER_EVENT * c->events) { /* else that is damaged, too */
        err = push(c, thread, 0, batch->t);
        c->made_up++;
    }
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

int report_calls_take(struct report_calls *c, const struct log_batch *batch)
{
    struct report_calls_thread *thread = report_calls_thread(c, batch->thread);
    const char *at = batch->events;
    int64_t code, number;
    int err;

    if (!thread)
        return -ENOMEM;
    err = settle(c, thread, batch);
    thread->t = batch->t;
    while (!err && log_call_next(&at, &code, &number)) {
        err = one(c, thread, code, number);
        c->events++;
    }
    return err;
}
