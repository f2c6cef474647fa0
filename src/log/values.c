/* log/values.c - arguments and results of calls (--args, --returns). */
#include "log/log_internal.h"

#include "values/values.h"

#include <errno.h>

int log_write_values(struct log *log, struct log_thread *thread, const struct values_record *record,
                     uint64_t t)
{
    struct buffer *b = &log->file.buffer;
    int err = log_define_method(log, record->method);
    size_t mark = b->size;

    if (err)
        return err;
    buffer_format(b, "{\"kind\":\"values\",\"id\":%u,\"t\":%llu,\"thread\":%u,\"method\":%u",
                  record->id, (unsigned long long)t, thread->ring->thread, record->method->id);
    if (record->of)
        buffer_format(b, ",\"%s\":%u", record->result ? "call" : "parent", record->of);
    buffer_format(b, ",\"depth\":%u,\"%s\":", record->depth, record->result ? "returns" : "args");
    err = values_append(b, record);
    buffer_append(b, "}\n", 2);
    if (!err && b->failed)
        err = -ENOMEM;
    if (err) { /* no half lines */
        b->size = mark;
        b->failed = 0;
    }
    return err;
}

json_t *log_values_totals(void)
{
    uint64_t posted, lost;

    values_totals(&posted, &lost);
    return json_pack("{s:I, s:I}", "posted", (json_int_t)posted, "lost", (json_int_t)lost);
}

json_t *log_values_unmatched(void)
{
    json_t *array = json_array();
    const char *pattern, *near[3];
    bool returns;

    for (size_t i = 0; array && (pattern = values_unmatched(i, &returns, near)); i++) {
        json_t *names = json_array();

        for (size_t n = 0; n < 3 && near[n]; n++)
            json_array_append_new(names, log_text(near[n]));
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "option",
                                               returns ? "returns" : "args", "pattern",
                                               log_text(pattern), "near", names));
    }
    return array;
}
