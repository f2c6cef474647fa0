#include "readers/counts.h"

#include <errno.h>

#include <shadowtrace/log_reader.h>

uint64_t log_count_in(const json_t *counts, const char *name)
{
    const json_t *count = json_object_get(counts, name);
    json_int_t value = json_is_integer(count) ? json_integer_value(count) : 0;

    return value > 0 && value <= SST_INTEGER_MAX ? (uint64_t)value : 0;
}

uint64_t log_counts_sum(const json_t *counts)
{
    uint64_t sum = 0;
    const char *name;
    json_t *count;

    LOG_EACH_COUNT(counts, name, count)
    sum += log_count_in(counts, name);
    return sum;
}

int log_counts_set(json_t **to, const char *name, uint64_t count)
{
    json_int_t value = count < SST_INTEGER_MAX ? (json_int_t)count : SST_INTEGER_MAX;

    if (!*to && !(*to = json_object()))
        return -ENOMEM;
    return json_object_set_new(*to, name, json_integer(value)) ? -ENOMEM : 0;
}

int log_counts_add(json_t **to, const char *name, uint64_t count)
{
    return log_counts_set(to, name, log_count_in(*to, name) + count);
}

int log_counts_add_all(json_t **to, const json_t *from)
{
    const char *name;
    json_t *count;
    int err = 0;

    LOG_EACH_COUNT(from, name, count)
    {
        if (!err)
            err = log_counts_add(to, name, log_count_in(from, name));
    }
    return err;
}

int log_json_keep(json_t **kept, const json_t *value)
{
    if (!json_is_object(value))
        return 0;
    json_decref(*kept);
    *kept = json_deep_copy(value);
    return *kept ? 0 : -ENOMEM;
}

void log_json_release_all(json_t **values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(values[i]);
}
