#include "log/records.h"

#include <errno.h>

/* Log ids of methods, leaf first; each is defined first. */
static int method_array(struct log *log, const uintptr_t *methods, size_t count, json_t **out)
{
    json_t *array = json_array();
    int err = array ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < count; i++) {
        const struct metadata_method *method = (const struct metadata_method *)methods[i];

        if (method)
            err = log_define_method(log, method);
        if (!err && json_array_append_new(array, json_integer(method ? method->id : 0)))
            err = -ENOMEM;
    }
    if (err) {
        json_decref(array);
        array = NULL;
    }
    *out = array;
    return err;
}

static void set_refused(json_t *line, int32_t result)
{
    char hex[20];

    log_hex(hex, (uint32_t)result, 8);
    if (result)
        json_object_set_new(line, "refused", json_string(hex));
}

static json_t *repair_names(uint32_t mask)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < STACK_REPAIRS; i++)
        if (mask >> i & 1)
            json_array_append_new(array, json_string(stack_repair_name((enum stack_repair)i)));
    return array;
}

int log_write_mismatch(struct log *log, struct log_thread *thread, const struct event *event,
                       uint64_t t)
{
    const struct event_mismatch *m = (const struct event_mismatch *)event->subject;
    const struct metadata_class *class = (const struct metadata_class *)m->class;
    json_t *shadow = NULL, *snapshot = NULL, *native = NULL, *line;
    const uintptr_t *methods_end = m->methods + m->shadow + m->snapshot;
    int err = log_file_full(&log->file) ? -ENOSPC : 0;

    if (!err && class)
        err = log_define_class(log, class);
    if (!err)
        err = method_array(log, m->methods, m->shadow, &shadow);
    if (!err)
        err = method_array(log, m->methods + m->shadow, m->snapshot, &snapshot);
    if (!err)
        err = log_natives(log, (const struct event_native *)methods_end, m->natives, &native);
    if (err) {
        json_decref(shadow);
        json_decref(snapshot);
        return err;
    }
    line = json_pack("{s:s, s:I, s:I, s:s, s:I, s:o, s:o, s:o}", "kind", "mismatch", "t",
                     (json_int_t)t, "thread", (json_int_t)thread->ring->thread, "cause",
                     agreement_cause_name((enum agreement_cause)m->cause), "first",
                     (json_int_t)m->first, "shadow", shadow, "snapshot", snapshot, "repairs",
                     repair_names(m->repairs));
    if (class)
        log_set(line, "class", class->id);
    log_set_any(line, "stopped", m->stopped);
    log_set_flag(line, "in_call", m->in_call);
    set_refused(line, m->refused);
    json_object_set_new(line, "native", native);
    return log_emit(log, SST_KIND_MISMATCH, line);
}

int log_write_snapshot(struct log *log, struct log_thread *thread, const struct event *event,
                       uint64_t t)
{
    const struct event_stack *stack = (const struct event_stack *)event->subject;
    const uintptr_t *methods_end = stack->methods + stack->count;
    json_t *methods = NULL, *native = NULL, *line;
    int err = log_file_full(&log->file) ? -ENOSPC : 0;

    if (!err)
        err = method_array(log, stack->methods, stack->count, &methods);
    if (!err)
        err = log_natives(log, (const struct event_native *)methods_end, stack->natives, &native);
    if (err) {
        json_decref(methods);
        return err;
    }
    line = json_pack("{s:s, s:I, s:I, s:o}", "kind", "snapshot", "t", (json_int_t)t, "thread",
                     (json_int_t)thread->ring->thread, "stack", methods);
    set_refused(line, stack->refused);
    json_object_set_new(line, "native", native);
    return log_emit(log, SST_KIND_SNAPSHOT, line);
}
