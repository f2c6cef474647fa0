#include "log/internal.h"

#include "base/memory.h"

#include <errno.h>

static int write_name(struct log *log, const struct event_name *name)
{
    struct log_thread *thread = log->threads;

    while (thread && thread->ring->os != name->os)
        thread = thread->next;
    if (!thread)
        return 0;
    memory_free(thread->name);
    thread->name = memory_strdup(name->text);
    if (log_define_thread(log, thread, NULL))
        thread->defined = false; /* again before its next line */
    return 0;
}

/* Kinds whose subject is a block of ours. */
#define KIND(kind) (1u << (kind))
#define PAYLOADS \
    (KIND(EVENT_MISMATCH) | KIND(EVENT_SNAPSHOT) | KIND(EVENT_THREAD_NAME) | KIND(EVENT_FAMILY) | \
     KIND(EVENT_VALUES))

static bool has_payload(const struct event *event)
{
    return KIND(event_kind(event)) & PAYLOADS;
}

static enum event_lost reason_of(int err)
{
    return err == -ENOSPC ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_NO_MEMORY;
}

static void lose_other(struct log *log, const struct event *event, enum event_lost reason)
{
    switch (event_kind(event)) {
    case EVENT_MISMATCH:
        log->not_written[SST_KIND_MISMATCH]++;
        break;
    case EVENT_SNAPSHOT:
        log->not_written[SST_KIND_SNAPSHOT]++;
        break;
    case EVENT_SAMPLE:
        log->not_written[SST_KIND_SAMPLE]++;
        break;
    case EVENT_FAMILY:
    case EVENT_TRANSITION:
    case EVENT_CALL:
        log->family_lost[log_family_of(event)][reason]++;
        break;
    default: /* values are what was posted without what was written; the others are no lines */
        break;
    }
}

/* Any but an allocation. Returns 0 when it is done with, or -EAGAIN when it has to wait. */
static int handle_other(struct log *log, struct log_thread *thread, const struct event *event)
{
    void *payload = has_payload(event) ? (void *)event->subject : NULL;
    int err = 0;

    switch (event_kind(event)) {
    case EVENT_ALLOC:
        break; /* see handle() */
    case EVENT_MISMATCH:
        err = log_write_mismatch(log, thread, payload, log_event_t(log, thread, event));
        break;
    case EVENT_SNAPSHOT:
        err = log_write_snapshot(log, thread, payload, log_event_t(log, thread, event));
        break;
    case EVENT_THREAD_NAME:
        err = write_name(log, payload);
        break;
    case EVENT_SAMPLE:
        err = log_write_sample(log, event, log_event_t(log, thread, event));
        break;
    case EVENT_WAITS:
        err = log_define_node(log, event->node);
        break;
    case EVENT_SAMPLE_RATE:
        thread->sample = event->subject;
        break;
    case EVENT_FAMILY:
        err = log_write_family(log, thread, event, log_event_t(log, thread, event));
        break;
    case EVENT_TRANSITION:
        err = log_write_transition(log, thread, event, log_event_t(log, thread, event));
        break;
    case EVENT_VALUES:
        err = log_write_values(log, thread, payload, log_event_t(log, thread, event));
        break;
    case EVENT_VALUES_OF:
        thread->values = (uint32_t)event->subject;
        thread->values_ticks = event->ticks;
        break;
    case EVENT_CALL:
        log_write_calls(log, thread, event, 1, &err);
        break;
    }
    if (err == -EAGAIN)
        return err;
    if (err)
        lose_other(log, event, reason_of(err));
    memory_free(payload);
    return 0;
}

int log_handle(struct log *log, struct log_thread *thread, const struct event *event)
{
    int err;

    if (UNLIKELY(thread->calls != NULL) && event_kind(event) != EVENT_CALL)
        log_calls_flush(log, thread);
    if (UNLIKELY(event_kind(event) != EVENT_ALLOC))
        return handle_other(log, thread, event);
    err = log->sites ? log_count_alloc(log, thread, event) : log_write_alloc(log, thread, event);
    if (LIKELY(!err) || err == -EAGAIN)
        return err;
    log->lost_here[reason_of(err)]++;
    return 0;
}
