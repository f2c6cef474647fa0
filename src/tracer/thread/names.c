#include "thread/names.h"

#include "base/memory.h"

#include <string.h>

/* The entry of a thread, created if needed. Under the lock. */
static struct thread_name *entry(struct thread_names *names, uintptr_t thread_id)
{
    struct thread_name *found = names->first;

    while (found && found->thread_id != thread_id)
        found = found->next;
    if (!found && (found = memory_zalloc(1, sizeof(*found)))) {
        found->thread_id = thread_id;
        found->next = names->first;
        names->first = found;
    }
    return found;
}

static struct event_name *payload(const struct thread_name *thread)
{
    size_t size;
    struct event_name *event;

    if (!thread->name || !thread->os)
        return NULL;
    size = strlen(thread->name) + 1;
    event = memory_zalloc(1, sizeof(*event) + size);
    if (event) {
        event->os = thread->os;
        memcpy(event->text, thread->name, size);
    }
    return event;
}

struct event_name *thread_names_assigned(struct thread_names *names, uintptr_t thread_id,
                                         uint32_t os)
{
    struct event_name *event = NULL;
    struct thread_name *thread;

    pthread_mutex_lock(&names->lock);
    thread = entry(names, thread_id);
    if (thread) {
        thread->os = os;
        add_relaxed(&names->given, 1);
        event = payload(thread);
    }
    pthread_mutex_unlock(&names->lock);
    return event;
}

struct event_name *thread_names_given(struct thread_names *names, uintptr_t thread_id,
                                      const char *name)
{
    struct event_name *event = NULL;
    struct thread_name *thread;

    pthread_mutex_lock(&names->lock);
    thread = entry(names, thread_id);
    if (thread) {
        memory_free(thread->name);
        thread->name = memory_strdup(name);
        add_relaxed(&names->given, 1);
        event = payload(thread);
    }
    pthread_mutex_unlock(&names->lock);
    return event;
}

bool thread_names_find(struct thread_names *names, uint32_t os, char *text, size_t size)
{
    const struct thread_name *thread;
    size_t length = 0;

    pthread_mutex_lock(&names->lock);
    for (thread = names->first; thread && (thread->os != os || !thread->name);)
        thread = thread->next;
    if (thread) {
        length = strlen(thread->name);
        while (length >= size || (length && (thread->name[length] & 0xC0) == 0x80))
            length--; /* no half letters */
        memcpy(text, thread->name, length);
        text[length] = '\0';
    }
    pthread_mutex_unlock(&names->lock);
    return length > 0;
}

void thread_names_destroyed(struct thread_names *names, uintptr_t thread_id)
{
    struct thread_name **link = &names->first, *gone = NULL;

    pthread_mutex_lock(&names->lock);
    while (*link && (*link)->thread_id != thread_id)
        link = &(*link)->next;
    if (*link) {
        gone = *link;
        *link = gone->next;
    }
    pthread_mutex_unlock(&names->lock);
    if (gone)
        memory_free(gone->name);
    memory_free(gone);
}
