/*
 * events/exceptions.c - an exception's life: thrown, each filter and finally that runs for it, and
 * its end.
 *
 * A thread may have several under way: one thrown in a filter, in a finally, or in a
 * FirstChanceException handler lives inside of another. How one ended is said where the callbacks
 * tell it, else when the next thing shows it:
 *   caught      a catch block runs for it
 *   native      the second pass began without a catcher, or the next throw comes from below what
 *   it had passed swallowed   it left a filter, which then counts as false
 *   superseded  a finally of it threw, and that was caught further down
 */
#include "events/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/utf16.h"
#include "stack/stack.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

static uint32_t depth_now(void)
{
    struct stack *s = stack_peek();
    struct frame *top;

    return s ? (uint32_t)stack_look(s, &top) : 0;
}

static void step_post(struct events *ev, const struct events_exception *e, const char *event,
                      uintptr_t function, bool ends)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_EXCEPTIONS, "exception");

    events_text(&draft, "event", event);
    if (e)
        events_number(&draft, "id", e->id);
    if (e && ends)
        events_number(&draft, "ns", events_ns(e->thrown, clock_ticks()));
    draft.method = events_method(ev, function);
    events_post(ev, &draft);
}

/* How many exceptions are no business of the filter that runs. */
static uint32_t filter_base(const struct events_thread *t)
{
    uint32_t at = t->filters < EVENTS_NESTED ? t->filters : EVENTS_NESTED;

    return at ? t->filter[at - 1] : 0;
}

static struct events_exception *current(struct events_thread *t)
{
    return t && t->exceptions > filter_base(t) && t->exceptions <= EVENTS_NESTED
               ? &t->exception[t->exceptions - 1]
               : NULL;
}

/* .NET 8: exceptions are dispatched by the runtime's native engine. */
static bool dispatched_natively(const struct events *ev)
{
    return ev->config.runtime->major == 8;
}

/*
 * A finally is over, and nobody said so, if its frame is gone or a catch of the same frame runs
 * around it. The older engine gives a catch inside the finally the same SP: there it stays open
 * until its leave, or until its frame is gone.
 */
static bool finally_gone(const struct events *ev, const struct events_exception *e, uint32_t depth,
                         uintptr_t catch_sp)
{
    return e->finally > depth ||
           (e->finally && catch_sp >= e->finally_sp + (dispatched_natively(ev) ? 1 : 0));
}

/* Those that a throw at this depth, or a catch, shows to be over. catch_sp: 0: none catches. */
static void prune(struct events *ev, struct events_thread *t, uint32_t depth, uintptr_t catch_sp)
{
    struct events_exception *e;

    while ((e = current(t))) {
        if (e->state == EXCEPTION_FOUND && !finally_gone(ev, e, depth, catch_sp))
            return;
        if (e->state != EXCEPTION_FOUND && depth > e->depth)
            return;
        if (e->state == EXCEPTION_SEARCHING)
            step_post(ev, e, "native", t->searched, true);
        else if (e->state == EXCEPTION_FOUND)
            step_post(ev, e, "superseded", 0, true);
        t->exceptions--;
    }
}

static struct events_thread *exceptions_of(struct events *ev)
{
    return events_records(ev, OPTIONS_EXCEPTIONS) ? events_thread() : NULL;
}

static void thrown_post(struct events *ev, uint32_t id, uintptr_t class_id, const char *message)
{
    struct events_draft draft = EVENTS_DRAFT(draft, OPTIONS_EXCEPTIONS, "exception");

    events_text(&draft, "event", "thrown");
    events_number(&draft, "id", id);
    draft.class = events_class(ev, class_id);
    if (*message)
        events_text(&draft, "message", message);
    events_post(ev, &draft);
}

void events_exception_thrown(struct events *ev, uintptr_t object)
{
    struct events_exception e = {.thrown = clock_ticks(), .depth = depth_now()};
    char message[CLR_UTF8_SIZE(MESSAGE_UNITS)] = "";
    struct events_thread *t;
    uintptr_t class_id = 0;
    struct clr_info *info;
    size_t length;
    const clr_wchar *text;

    if (!events_records(ev, OPTIONS_EXCEPTIONS))
        return;
    info = ev->config.runtime->info;
    if (info->vtbl->get_class_from_object(info, object, &class_id) == S_OK &&
        (text = message_of(&ev->messages, object, class_id, &length)))
        clr_utf16_to_utf8(message, sizeof(message), text, length);
    e.id = add_relaxed(&ev->exception_count, 1) + 1;
    t = exceptions_of(ev);
    if (t) {
        prune(ev, t, e.depth, 0);
        if (t->exceptions < EVENTS_NESTED)
            t->exception[t->exceptions] = e;
        t->exceptions++;
        t->searched = 0;
    }
    thrown_post(ev, e.id, class_id, message);
}

void events_exception_search(struct events *ev, uintptr_t function)
{
    struct events_thread *t = exceptions_of(ev);

    if (t)
        t->searched = function;
}

void events_exception_filter_enter(struct events *ev, uintptr_t function)
{
    struct events_thread *t = exceptions_of(ev);

    if (!t)
        return;
    step_post(ev, current(t), "filter", function, false);
    if (t->filters < EVENTS_NESTED)
        t->filter[t->filters] = t->exceptions;
    t->filters++;
}

void events_exception_filter_leave(struct events *ev)
{
    struct events_thread *t = exceptions_of(ev);
    uint32_t base;

    if (!t || !t->filters)
        return;
    base = filter_base(t);
    while (t->exceptions > base) {
        if (current(t) && current(t)->state != EXCEPTION_LEFT)
            step_post(ev, current(t), "swallowed", 0, true);
        t->exceptions--;
    }
    t->filters--;
}

void events_exception_catcher_found(struct events *ev)
{
    struct events_exception *e = current(exceptions_of(ev));

    if (e)
        e->state = EXCEPTION_FOUND;
}

/* The second pass of what nobody was found to catch: into native code, or out of a filter. */
void events_exception_unwind(struct events *ev)
{
    struct events_thread *t = exceptions_of(ev);
    struct events_exception *e = current(t);

    if (!e || e->state != EXCEPTION_SEARCHING)
        return;
    if (t->filters && t->exceptions == filter_base(t) + 1)
        return; /* the filter's own: its end tells */
    e->state = EXCEPTION_LEFT;
    step_post(ev, e, "native", t->searched, true);
}

void events_exception_finally_enter(struct events *ev, uintptr_t function, uintptr_t sp)
{
    struct events_thread *t = exceptions_of(ev);
    struct events_exception *e = current(t);

    if (!t)
        return;
    if (e) {
        e->finally = depth_now();
        e->finally_sp = sp;
    }
    step_post(ev, e, "finally", function, false);
}

void events_exception_finally_leave(struct events *ev)
{
    struct events_exception *e = current(exceptions_of(ev));

    if (e)
        e->finally = 0;
}

void events_exception_caught(struct events *ev, uintptr_t function, uintptr_t sp)
{
    struct events_thread *t = exceptions_of(ev);
    struct events_exception *e;

    if (!t)
        return;
    while ((e = current(t)) && e->state != EXCEPTION_FOUND) {
        if (e->state == EXCEPTION_SEARCHING)
            step_post(ev, e, "native", t->searched, true);
        t->exceptions--;
    }
    step_post(ev, e, "caught", function, true);
    if (t->exceptions > filter_base(t))
        t->exceptions--;
    prune(ev, t, depth_now(), sp);
}

static void exceptions_ended(struct events *ev, struct events_thread *t)
{
    t->filters = 0;
    while (t->exceptions) {
        struct events_exception *e = current(t);

        if (e && e->state == EXCEPTION_SEARCHING)
            step_post(ev, e, "native", t->searched, true);
        else if (e && e->state == EXCEPTION_FOUND && e->finally)
            step_post(ev, e, "superseded", 0, true);
        t->exceptions--;
    }
}

void events_thread_ended(struct events *ev, struct stack *s)
{
    struct events_thread *t = s->thread ? s->thread->events : NULL;

    if (!t)
        return;
    exceptions_ended(ev, t);
    s->thread->events = NULL;
    memory_free(t);
}
