#include "log/records.h"
#include "log/rounds.h"

#include "base/decimal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double weight_of(const struct log_thread *thread, const struct event *event)
{
    double bytes = (double)event_bytes(event), rate = (double)thread->sample;

    if (thread->weight)
        return (double)thread->weight;
    if (!thread->sample)
        return bytes;
    return bytes > 0 ? bytes / -expm1(-bytes / rate) : rate;
}

static void put_stack(struct log *log, const struct tree_node *node)
{
    const struct tree *tree = log->config.tree;
    struct buffer *b = &log->file.buffer;
    const char *separator = "";

    buffer_text(b, ",\"stack\":[");
    for (; node->up; node = tree_parent(node)) {
        buffer_text(b, separator);
        buffer_json_string(
            b, metadata_method_text((const struct metadata_method *)tree_method(tree, node)));
        separator = ",";
    }
    buffer_char(b, ']');
}

/* What only some recordings have; a line that none of it is on is finished without coming here. */
static void put_rest(struct log *log, struct log_thread *thread, const struct event *event)
{
    struct buffer *b = &log->file.buffer;

    log_put_heap(b, event_heap(event), event->node);
    if (thread->sample)
        buffer_format(b, ",\"weight\":%.17g", weight_of(thread, event));
    if (log->config.options->stacks == OPTIONS_STACKS_INLINE) {
        struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(event->node));

        buffer_text(b, ",\"type\":");
        buffer_json_string(b, metadata_class_text((const struct metadata_class *)event->subject));
        put_stack(log, node);
        if (thread->values && thread->values_ticks == event->ticks)
            log_values_put(b, thread, node);
    }
}

static void put_line(struct log *log, struct log_thread *thread, const struct event *event,
                     uint64_t t, int32_t il)
{
    struct buffer *b = &log->file.buffer;
    const struct metadata_class *class = (const struct metadata_class *)event->subject;
    bool whole = log->config.options->stacks == OPTIONS_STACKS_INLINE;
    char *line = buffer_reserve(b, LOG_LINE), *at = line;

    if (!line)
        return;
    at = LOG_PUT_NUMBER(at, "{\"kind\":\"alloc\",\"t\":", t);
    at = LOG_PUT_NUMBER(at, ",\"thread\":", thread->ring->thread);
    at = LOG_PUT_NUMBER(at, ",\"class\":", class->id);
    at = LOG_PUT_NUMBER(at, ",\"bytes\":", event_bytes(event));
    if (!whole)
        at = LOG_PUT_NUMBER(at, ",\"node\":", log_node_id(log, event->node));
    at = log_put_il(at, il);
    if (LIKELY(!tree_is_cut(event->node)))
        at = log_put_inlined(at, log_site_inlined(log, event->site));
    if (thread->values && thread->values_ticks == event->ticks)
        at = LOG_PUT_NUMBER(at, ",\"values\":", thread->values);
    if (LIKELY(!whole && !thread->sample && event_heap(event) == EVENT_HEAP_NORMAL &&
               !tree_is_cut(event->node))) {
        at = LOG_PUT(at, "}\n");
        *at = '\0';
        b->size += (size_t)(at - line);
        return;
    }
    b->size += (size_t)(at - line);
    put_rest(log, thread, event);
    buffer_append(b, "}\n", 2);
}

/* Class and node of an allocation; nearly always they are there. */
static int define_for(struct log *log, const struct event *event)
{
    const struct metadata_class *class = (const struct metadata_class *)event->subject;
    int err = LIKELY(log_has(log, class->written)) ? 0 : log_define_class(log, class);

    return err || LIKELY(log_node_defined(log, event->node)) ? err
                                                             : log_define_node(log, event->node);
}

/* --sample: what all allocations come to, of which only some have an event. */
static void weigh(struct log *log, const struct log_thread *thread, const struct event *event)
{
    double bytes = (double)event_bytes(event), weight = weight_of(thread, event);

    if (!log->sampled) { /* those before stand for themselves */
        log->sampled = true;
        log->estimated_bytes = (double)(log->file.put.bytes + log->row_bytes) - bytes;
        log->estimated_allocs = (double)log_written(log) - 1;
    }
    log->estimated_bytes += weight;
    log->estimated_allocs += bytes > 0 ? weight / bytes : 1;
}

int log_write_alloc(struct log *log, struct log_thread *thread, const struct event *event)
{
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int32_t il = log_site_il(log, event->site);
    int err = LIKELY(!log_file_full(&log->file)) ? define_for(log, event) : -ENOSPC;

    if (!err && il == CODE_IL_PENDING)
        err = -EAGAIN;
    if (!err && UNLIKELY(log_site_inlined(log, event->site)))
        err = log_define_inlined(log, log_site_inlined(log, event->site));
    if (err)
        return err;
    if (UNLIKELY(tree_is_cut(event->node)))
        il = CODE_IL_NONE; /* of a method that the line does not name */
    mark = b->size;
    put_line(log, thread, event, log_event_t(log, thread, event), il);
    if (UNLIKELY(b->failed))
        return log_line_drop(log, mark);
    log->file.put.lines[SST_KIND_ALLOC]++;
    log->file.put.allocs++;
    log->file.put.bytes += event_bytes(event);
    if (UNLIKELY(thread->sample || log->sampled))
        weigh(log, thread, event);
    log->file.put.cut += tree_is_cut(event->node);
    if (UNLIKELY(log->watch))
        log_watch_add(log, event, weight_of(thread, event));
    return 0;
}

/* Counted now, named when its row is written. */
int log_count_alloc(struct log *log, struct log_thread *thread, const struct event *event)
{
    int err = log_sites_add(log, thread, event, weight_of(thread, event));

    if (!err) {
        log->row_allocs++;
        log->row_bytes += event_bytes(event);
        if (UNLIKELY(thread->sample || log->sampled))
            weigh(log, thread, event);
        if (UNLIKELY(log->watch))
            log_watch_add(log, event, weight_of(thread, event));
    }
    return err;
}
