#include "log/records.h"
#include "log/rounds.h"

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

/* What is one line, if it is written. */
static const struct line_kind {
    log_write_event *write;
    enum sst_kind missed; /* as which it is counted if it is not; 0: as one of its family, or not */
} line_kinds[] = {
    [EVENT_MISMATCH] = {log_write_mismatch, SST_KIND_MISMATCH},
    [EVENT_SNAPSHOT] = {log_write_snapshot, SST_KIND_SNAPSHOT},
    [EVENT_SAMPLE] = {log_write_sample, SST_KIND_SAMPLE},
    [EVENT_FAMILY] = {log_write_family, SST_KIND_UNKNOWN},
    [EVENT_TRANSITION] = {log_write_transition, SST_KIND_UNKNOWN},
    [EVENT_VALUES] = {log_write_values, SST_KIND_UNKNOWN},
};

/* Kinds whose subject is memory of the tracer. */
#define KIND(kind) (1u << (kind))
#define PAYLOADS \
    (KIND(EVENT_MISMATCH) | KIND(EVENT_SNAPSHOT) | KIND(EVENT_THREAD_NAME) | KIND(EVENT_FAMILY) | \
     KIND(EVENT_VALUES))
#define FAMILIES (KIND(EVENT_FAMILY) | KIND(EVENT_TRANSITION) | KIND(EVENT_CALL))

static enum event_lost reason_of(int err)
{
    return err == -ENOSPC ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_NO_MEMORY;
}

/* Values are what was posted without what was written; those of no line are not counted. */
static void lose_other(struct log *log, const struct event *event, enum event_lost reason)
{
    enum event_kind kind = event_kind(event);

    if (KIND(kind) & FAMILIES)
        log->family_lost[log_family_of(event)][reason]++;
    else if (kind < COUNT_OF(line_kinds) && line_kinds[kind].missed)
        log->not_written[line_kinds[kind].missed]++;
}

/* Any but an allocation. Returns 0 when it is done with, or -EAGAIN when it has to wait. */
static int handle_other(struct log *log, struct log_thread *thread, const struct event *event)
{
    enum event_kind kind = event_kind(event);
    int err = 0;

    switch (kind) {
    case EVENT_THREAD_NAME:
        err = write_name(log, (const struct event_name *)event->subject);
        break;
    case EVENT_WAITS:
        err = log_define_node(log, event->node);
        break;
    case EVENT_SAMPLE_RATE:
        thread->sample = event->subject;
        break;
    case EVENT_WEIGHT:
        thread->weight = event->subject;
        break;
    case EVENT_VALUES_OF:
        thread->values = (uint32_t)event->subject;
        thread->values_ticks = event->ticks;
        break;
    case EVENT_CALL:
        log_write_calls(log, thread, event, 1, &err);
        break;
    default:
        err = line_kinds[kind].write(log, thread, event, log_event_t(log, thread, event));
    }
    if (err == -EAGAIN)
        return err;
    if (err)
        lose_other(log, event, reason_of(err));
    if (KIND(kind) & PAYLOADS)
        memory_free((void *)event->subject);
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
    if (err == -EAGAIN)
        return err;
    thread->weight = 0;
    if (UNLIKELY(err))
        log->lost_here[reason_of(err)]++;
    return 0;
}
