#include "log/records.h"

#include "base/memory.h"
#include "options/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int buffer_sink(const char *data, size_t size, void *context)
{
    struct buffer *b = context;

    buffer_append(b, data, size);
    return b->failed ? -1 : 0;
}

int log_emit(struct log *log, enum sst_kind kind, json_t *line)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    bool full = log_file_full(&log->file) && kind != SST_KIND_HEADER && kind != SST_KIND_END;
    int failed = !line || full ||
                 json_dump_callback(line, buffer_sink, b, JSON_COMPACT | JSON_REAL_PRECISION(15));

    json_decref(line);
    if (full)
        return -ENOSPC;
    if (!failed)
        buffer_char(b, '\n');
    if (json_memory_refused() || failed || b->failed)
        return log_line_drop(log, mark);
    if (kind != SST_KIND_END) /* which tells of those before it */
        log->file.put.lines[kind]++;
    return 0;
}

void log_line_begin(struct buffer *b, const char *kind, uint64_t t, const struct log_thread *thread)
{
    buffer_text(b, "{\"kind\":\"");
    buffer_text(b, kind);
    log_put_number(b, "\",\"t\":", t);
    log_put_number(b, ",\"thread\":", thread->ring->thread);
}

int log_line_end(struct log *log, enum sst_kind kind, size_t mark)
{
    struct buffer *b = &log->file.buffer;

    buffer_append(b, "}\n", 2);
    if (LIKELY(!b->failed)) {
        log->file.put.lines[kind]++;
        return 0;
    }
    return log_line_drop(log, mark);
}

json_t *log_text(const char *text)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer b = BUFFER_ON(room);
    json_t *string = NULL;

    buffer_utf8(&b, text ? text : "");
    if (!b.failed)
        string = json_stringn(b.data, b.size);
    buffer_free(&b);
    return string;
}

json_t *log_texts(char *const *texts)
{
    json_t *array = json_array();

    for (; texts && *texts; texts++)
        if (json_array_append_new(array, log_text(*texts))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

void log_hex(char hex[20], uint64_t value, int digits)
{
    snprintf(hex, 20, "0x%0*llx", digits, (unsigned long long)value);
}

void log_set_text(json_t *to, const char *name, const char *text)
{
    if (text)
        json_object_set_new(to, name, log_text(text));
}

void log_set(json_t *to, const char *name, uint64_t value)
{
    json_object_set_new(to, name, json_integer((json_int_t)value));
}

void log_set_any(json_t *to, const char *name, uint64_t value)
{
    if (value)
        log_set(to, name, value);
}

json_t *log_reasons(const uint64_t by[EVENT_LOST_REASONS])
{
    json_t *object = json_object();

    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        log_set_any(object, event_lost_name((enum event_lost)i), by[i]);
    return object;
}

json_t *log_histogram(const struct agreement_histogram *h)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < AGREEMENT_BUCKETS; i++) {
        uint32_t count = load_relaxed(&h->bucket[i]);

        if (count)
            json_array_append_new(
                array, json_pack("[I, I]", (json_int_t)agreement_bucket_ns(i), (json_int_t)count));
    }
    return array;
}
