/* log/events.c - records of the event categories (--events): how many were met, written, lost. */
#include "log/records.h"

#include <errno.h>

static int define(struct log *log, const struct event *event, uintptr_t class, uintptr_t method,
                  bool has_node)
{
    int err = log_file_full(&log->file) ? -ENOSPC : 0;

    if (!err && class)
        err = log_define_class(log, (const struct metadata_class *)class);
    if (!err && method)
        err = log_define_method(log, (const struct metadata_method *)method);
    if (!err && has_node)
        err = log_define_node(log, event->node);
    return err;
}

int log_write_family(struct log *log, struct log_thread *thread, const struct event *event,
                     uint64_t t)
{
    const struct event_family *e = (const struct event_family *)event->subject;
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int err = define(log, event, e->class, e->method, e->has_node);

    if (err)
        return err;
    mark = b->size;
    log_line_begin(b, e->kind, t, thread);
    if (e->class)
        log_put_number(b, ",\"class\":", ((const struct metadata_class *)e->class)->id);
    if (e->method)
        log_put_number(b, ",\"method\":", ((const struct metadata_method *)e->method)->id);
    if (e->has_node)
        log_put_node(log, event->node);
    buffer_append(b, e->members, e->size);
    return log_line_end(log, log_family_kind(e->family), mark);
}

int log_write_transition(struct log *log, struct log_thread *thread, const struct event *event,
                         uint64_t t)
{
    static const char *const ways[] = {
        [EVENT_TO_NATIVE_CALL] = ",\"to\":\"native\",\"by\":\"call\"",
        [EVENT_TO_NATIVE_RETURN] = ",\"to\":\"native\",\"by\":\"return\"",
        [EVENT_TO_MANAGED_CALL] = ",\"to\":\"managed\",\"by\":\"call\"",
        [EVENT_TO_MANAGED_RETURN] = ",\"to\":\"managed\",\"by\":\"return\"",
    };
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int err = define(log, event, 0, event->subject, true);

    if (err)
        return err;
    mark = b->size;
    log_line_begin(b, "transition", t, thread);
    if (event->subject)
        log_put_number(b, ",\"method\":", ((const struct metadata_method *)event->subject)->id);
    log_put_node(log, event->node);
    buffer_text(b, ways[event_bytes(event)]);
    return log_line_end(log, SST_KIND_TRANSITION, mark);
}

uint32_t log_family_of(const struct event *event)
{
    switch (event_kind(event)) {
    case EVENT_FAMILY:
        return ((const struct event_family *)event->subject)->family;
    case EVENT_TRANSITION:
        return OPTIONS_TRANSITIONS;
    case EVENT_CALL:
        return OPTIONS_CALLS;
    default:
        return OPTIONS_ALLOC;
    }
}

/* Sums of one family as they stand. Those on their way are seen, and neither written nor lost. */
struct sums {
    uint64_t seen, written, lost, by[EVENT_LOST_REASONS];
};

/* Calls are counted by each thread for itself. */
static void calls_add(const struct log *log, struct sums *out)
{
    uint64_t lost = log->calls_lost_ended;

    out->seen += log->calls_seen_ended;
    for (const struct log_thread *thread = log->threads; thread; thread = thread->next) {
        out->seen += load_relaxed(&thread->ring->calls_seen);
        lost += load_relaxed(&thread->ring->calls_lost);
    }
    out->by[EVENT_LOST_RING_FULL] += lost;
    out->lost += lost;
}

static void sums_read(const struct log *log, uint32_t family, struct sums *out)
{
    const struct event_hub *hub = log->config.hub;

    out->lost = 0;
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        out->by[i] = log->family_lost[family][i] + load_relaxed(&hub->family_lost[family][i]);
        out->lost += out->by[i];
    }
    out->written = family == OPTIONS_CALLS ? log->file.put.entered
                                           : log->file.put.lines[log_family_kind(family)];
    out->seen = load_relaxed(&hub->family_seen[family]);
    if (family == OPTIONS_CALLS)
        calls_add(log, out);
}

static void set_sums(json_t *to, const struct sums *s)
{
    log_set(to, "seen", s->seen);
    log_set(to, "written", s->written);
    log_set(to, "lost", s->lost);
    json_object_set_new(to, "lost_by", log_reasons(s->by));
}

static bool counted(const struct log *log, uint32_t family)
{
    return family != OPTIONS_ALLOC && options_records(log->config.options, family);
}

void log_write_family_reports(struct log *log, uint64_t t)
{
    for (uint32_t family = 0; family < OPTIONS_FAMILIES; family++) {
        json_t *line;
        struct sums sums;

        if (!counted(log, family))
            continue;
        sums_read(log, family, &sums);
        if (sums.lost == log->reported_family_lost[family])
            continue;
        line = json_pack("{s:s, s:I, s:s}", "kind", "family_lost", "t", (json_int_t)t, "family",
                         options_family_name(family));
        set_sums(line, &sums);
        if (log_emit(log, SST_KIND_FAMILY_LOST, line) == 0)
            log->reported_family_lost[family] = sums.lost;
    }
}

json_t *log_families_json(const struct log *log)
{
    json_t *object = NULL, *of;

    for (uint32_t family = 0; family < OPTIONS_FAMILIES; family++) {
        struct sums sums;

        if (!counted(log, family))
            continue;
        sums_read(log, family, &sums);
        if (sums.seen > sums.written + sums.lost) { /* in a ring after the last drain */
            sums.by[EVENT_LOST_STOPPED] += sums.seen - sums.written - sums.lost;
            sums.lost = sums.seen - sums.written;
        }
        if (!object)
            object = json_object();
        set_sums(of = json_object(), &sums);
        json_object_set_new(object, options_family_name(family), of);
    }
    return object;
}
