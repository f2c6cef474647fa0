#include "thread/thread.h"

#include "base/memory.h"

static struct event_hub *hub;

void thread_init(struct event_hub *rings)
{
    hub = rings;
}

struct thread *thread_of(struct stack *s)
{
    struct thread *t = s->thread;

    if (t)
        return t;
    t = memory_pages_map(sizeof(*t));
    if (!t || event_ring_new(hub, &t->ring)) {
        memory_pages_unmap(t, sizeof(*t));
        return NULL;
    }
    return s->thread = t;
}

struct event_ring *thread_ring(void)
{
    struct stack *s = stack_current();
    struct thread *t = s ? thread_of(s) : NULL;

    return t ? t->ring : NULL;
}

struct event_ring *thread_ring_of(const struct stack *s)
{
    return s->thread ? s->thread->ring : NULL;
}

void thread_ended(struct stack *s)
{
    struct thread *t = s->thread;

    if (!t)
        return;
    s->thread = NULL;
    event_ring_close(t->ring);
    memory_pages_unmap(t, sizeof(*t));
}
