#include "events/unhandled.h"

#include "base/memory.h"
#include "events/message.h"
#include "stack/stack.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>
#include <string.h>

#define IN_DEPTH 8 /* exceptions under way on a thread that are distinguished */

/* One that was thrown and that nothing was found to catch so far. */
struct in_flight {
    uintptr_t class_id;
    size_t length;
    clr_wchar message[MESSAGE_UNITS];
};

struct unhandled_thread {
    struct in_flight flight[IN_DEPTH];
    uint32_t count;            /* beyond the array the oldest are forgotten */
    uint32_t filter[IN_DEPTH]; /* `count` as the filter began */
    uint32_t filters;
    uintptr_t searched; /* FunctionID of the frame that is searched */
    uintptr_t root;     /* of the oldest frame, which a thread keeps; 0: not known, or not needed */
    bool found;         /* what catches the latest one was found, and does not run yet */
    bool finalizes;     /* the runtime's finalizer thread */
    bool told;          /* of the latest one */
};

struct unhandled {
    struct unhandled_config config;
    struct messages messages;
};

struct unhandled *unhandled_new(const struct unhandled_config *config)
{
    struct unhandled *u = memory_zalloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->config = *config;
    u->messages.runtime = config->runtime;
    u->messages.metadata = config->metadata;
    return u;
}

void unhandled_thread_ended(struct stack *s)
{
    if (!s->thread)
        return;
    memory_free(s->thread->unhandled);
    s->thread->unhandled = NULL;
}

/* The calling thread's; NULL: nothing was thrown on it, or memory ran out. */
static struct unhandled_thread *self(const struct unhandled *u)
{
    struct stack *s = u ? stack_peek() : NULL;

    return s && s->thread ? s->thread->unhandled : NULL;
}

/* ---- the oldest frames of threads ---- */

/* The runtime calls finalizers from native code. */
static bool is_finalizer(const struct unhandled *u, uintptr_t function)
{
    struct metadata_method *method;
    const char *text, *end;

    if (metadata_method_map(u->config.metadata, function, &method))
        return false;
    metadata_method_resolve(u->config.metadata, method);
    text = metadata_method_text(method);
    end = text ? strstr(text, ".Finalize()") : NULL;
    return end && !end[strlen(".Finalize()")];
}

static bool is_root(const struct unhandled *u, const struct unhandled_thread *t, uintptr_t function)
{
    if (u->config.hooks_all)
        return stack_searched_all();
    return (function && function == t->root) || (t->finalizes && is_finalizer(u, function));
}

/* ---- what is thrown ---- */

static struct unhandled_thread *thread_made(const struct unhandled *u)
{
    struct stack *s = stack_current();
    struct thread *thread = s ? thread_of(s) : NULL;
    char name[16] = "";

    if (!thread || thread->unhandled)
        return thread ? thread->unhandled : NULL;
    thread->unhandled = memory_zalloc(1, sizeof(*thread->unhandled));
    if (!thread->unhandled)
        return NULL;
    if (!u->config.hooks_all)
        thread->unhandled->root = u->config.oldest(u->config.context);
    if (!pthread_getname_np(pthread_self(), name, sizeof(name)))
        thread->unhandled->finalizes = !strcmp(name, ".NET Finalizer");
    return thread->unhandled;
}

static struct in_flight *push(struct unhandled_thread *t)
{
    if (t->count == IN_DEPTH) { /* left into native code long ago, most likely */
        memmove(t->flight, t->flight + 1, (IN_DEPTH - 1) * sizeof(*t->flight));
        t->count--;
        for (uint32_t i = 0; i < t->filters && i < IN_DEPTH; i++)
            t->filter[i] -= t->filter[i] > 0;
    }
    t->told = t->found = false;
    return &t->flight[t->count++];
}

void unhandled_thrown(struct unhandled *u, uintptr_t object)
{
    struct unhandled_thread *t = u ? thread_made(u) : NULL;
    struct clr_info *info = u ? u->config.runtime->info : NULL;
    const clr_wchar *message = NULL;
    struct in_flight *e;

    if (!t)
        return;
    e = push(t);
    e->class_id = 0;
    e->length = 0;
    t->searched = 0;
    if (info->vtbl->get_class_from_object(info, object, &e->class_id) != S_OK)
        return;
    message = message_of(&u->messages, object, e->class_id, &e->length);
    if (message)
        memcpy(e->message, message, e->length * sizeof(*message));
}

void unhandled_found(struct unhandled *u)
{
    struct unhandled_thread *t = self(u);

    if (!t)
        return;
    t->count -= t->count > 0;
    t->found = true;
}

void unhandled_caught(struct unhandled *u)
{
    struct unhandled_thread *t = self(u);

    if (t)
        t->found = false;
}

/* What a filter throws does not leave it. */
void unhandled_filter_enter(struct unhandled *u)
{
    struct unhandled_thread *t = self(u);

    if (!t)
        return;
    if (t->filters < IN_DEPTH)
        t->filter[t->filters] = t->count;
    t->filters++;
}

void unhandled_filter_leave(struct unhandled *u)
{
    struct unhandled_thread *t = self(u);

    if (!t || !t->filters)
        return;
    t->filters--;
    if (t->filters < IN_DEPTH && t->count > t->filter[t->filters])
        t->count = t->filter[t->filters];
}

/* ---- nothing handles it ---- */

static void tell(struct unhandled *u, struct unhandled_thread *t)
{
    const struct in_flight *e = &t->flight[t->count - 1];
    char message[CLR_UTF8_SIZE(MESSAGE_UNITS)] = "";
    struct metadata_class *class = NULL;
    const char *type = NULL;

    if (e->class_id && !metadata_class_get(u->config.metadata, e->class_id, &class)) {
        metadata_class_resolve(u->config.metadata, class);
        type = metadata_class_text(class);
    }
    clr_utf16_to_utf8(message, sizeof(message), e->message, e->length);
    t->told = true;
    u->config.tell(u->config.context, type ? type : "?", message);
}

/* .NET 8 reports that a frame was searched before it goes on to the next one. */
static bool ends_after_search(const struct unhandled *u)
{
    return u->config.runtime->major == 8;
}

void unhandled_searched(struct unhandled *u, uintptr_t function)
{
    struct unhandled_thread *t = self(u);

    if (t)
        t->searched = function;
}

/* One is under way that nothing was found to catch, and the log does not say so yet. */
static bool is_open(const struct unhandled_thread *t)
{
    return t && t->count && !t->found && !t->told && !t->filters;
}

void unhandled_search_leave(struct unhandled *u)
{
    struct unhandled_thread *t = self(u);

    if (is_open(t) && ends_after_search(u) && is_root(u, t, t->searched))
        tell(u, t);
}

void unhandled_unwind(struct unhandled *u, uintptr_t function)
{
    struct unhandled_thread *t = self(u);

    if (is_open(t) && !ends_after_search(u) && is_root(u, t, function))
        tell(u, t);
}
