/* readers/counts.h - JSON objects of counts by name, as logs have them: {"reason": 5, ...}. */
#ifndef SHADOWTRACE_READERS_COUNTS_H
#define SHADOWTRACE_READERS_COUNTS_H

#include <jansson.h>

#include <stdint.h>

/* For each count: its name, and its value, which is a json_t. jansson's iterator takes no const. */
#define LOG_EACH_COUNT(counts, name, value) \
    json_object_foreach((json_t *)(uintptr_t)(counts), name, value)

uint64_t log_count_in(const json_t *counts, const char *name); /* 0 when there is no such count */
uint64_t log_counts_sum(const json_t *counts);

/*
 * log_counts_set, _add - (*to)[name] = count, or += count, at most SST_INTEGER_MAX.
 * log_counts_add_all   - the same with each count of `from`.
 * Returns: 0 or -ENOMEM. Owns: *to is made when it is NULL, the caller's to release.
 */
int log_counts_set(json_t **to, const char *name, uint64_t count);
int log_counts_add(json_t **to, const char *name, uint64_t count);
int log_counts_add_all(json_t **to, const json_t *from);

/* log_json_keep - *kept becomes a copy of a value, if that is an object. Returns: 0 or -ENOMEM. */
int log_json_keep(json_t **kept, const json_t *value);

/* log_json_release - several, each also NULL. */
#define log_json_release(...) \
    log_json_release_all((json_t *[]){__VA_ARGS__}, \
                         sizeof((json_t *[]){__VA_ARGS__}) / sizeof(json_t *))
void log_json_release_all(json_t **values, size_t count);

#endif
