/* log/values.c - arguments and results of calls (--args, --returns). */
#include "log/records.h"

#include "base/array.h"
#include "base/memory.h"
#include "values/values.h"

#include <errno.h>
#include <string.h>

struct log_value {
    uint32_t id, depth;
    char *text;
};

/* Back to the frame `id`, 0: to none. */
static void live_pop(struct log_thread *thread, uint32_t id)
{
    while (thread->live_count && thread->live[thread->live_count - 1].id != id)
        memory_free(thread->live[--thread->live_count].text);
}

/* Without memory its allocations' lines lack the frame's arguments, which have their own line. */
static void live_push(struct log_thread *thread, const struct values_record *record,
                      const char *text, size_t size)
{
    char *copy = memory_alloc(size + 1);

    live_pop(thread, record->of);
    if (!copy || !array_reserve(&thread->live, &thread->live_capacity, thread->live_count + 1)) {
        memory_free(copy);
        return;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    thread->live[thread->live_count++] = (struct log_value){record->id, record->depth, copy};
}

void log_values_put(struct buffer *b, struct log_thread *thread, const struct tree_node *node)
{
    const char *separator = ",\"args\":[";
    uint32_t frames = 0;

    for (; node->up; node = tree_parent(node))
        frames++;
    live_pop(thread, thread->values);
    for (size_t i = thread->live_count; i-- > 0;) {
        const struct log_value *live = &thread->live[i];

        if (live->depth >= frames)
            continue;
        buffer_format(b, "%s{\"frame\":%u,\"args\":%s}", separator, frames - 1 - live->depth,
                      live->text);
        separator = ",";
    }
    if (*separator && separator[1] == '\0')
        buffer_char(b, ']');
}

void log_values_free(struct log_thread *thread)
{
    live_pop(thread, 0);
    memory_free(thread->live);
}

int log_write_values(struct log *log, struct log_thread *thread, const struct event *event,
                     uint64_t t)
{
    const struct values_record *record = (const struct values_record *)event->subject;
    struct buffer *b = &log->file.buffer;
    bool full = log_file_full(&log->file),
         whole = log->config.options->stacks == OPTIONS_STACKS_INLINE;
    int err = full ? 0 : log_define_method(log, record->method);
    size_t mark = b->size, value;

    if (err)
        return err;
    if (full && !whole)
        return -ENOSPC;
    buffer_format(b, "{\"kind\":\"values\",\"id\":%u,\"t\":%llu,\"thread\":%u,\"method\":%u",
                  record->id, (unsigned long long)t, thread->ring->thread, record->method->id);
    if (record->of)
        buffer_format(b, ",\"%s\":%u", record->result ? "call" : "parent", record->of);
    buffer_format(b, ",\"depth\":%u", record->depth);
    if (!record->result || record->returns)
        buffer_text(b, record->result ? ",\"returns\":" : ",\"args\":");
    value = b->size;
    if (!record->result || record->returns)
        err = values_append(b, record);
    if (record->out) {
        buffer_text(b, ",\"out\":");
        err = err ? err : values_append_out(b, record);
    }
    if (!err && !b->failed && !record->result && whole) /* lines to come may have room */
        live_push(thread, record, b->data + value, b->size - value);
    if (!err && full)
        err = -ENOSPC;
    if (!err)
        return log_line_end(log, SST_KIND_VALUES, mark);
    log_line_drop(log, mark);
    return err;
}

json_t *log_values_totals(const struct log *log)
{
    uint64_t posted, lost, written = log->file.put.lines[SST_KIND_VALUES];

    values_totals(&posted, &lost);
    if (posted < written) /* posted just now */
        posted = written;
    return json_pack("{s:I, s:I, s:I}", "posted", (json_int_t)posted, "written",
                     (json_int_t)written, "lost", (json_int_t)(lost + posted - written));
}
