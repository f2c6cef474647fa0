/*
 * log/json.h - JSON of a line to be emitted. Members are set without a look at the result, in a
 * NULL line too: log_emit() knows whether memory was refused meanwhile. A member that is NULL is
 * left out.
 *
 * Threads: any.
 */
#ifndef SHADOWTRACE_LOG_JSON_H
#define SHADOWTRACE_LOG_JSON_H

#include "event/agreement.h"
#include "event/event.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *log_text(const char *text);    /* string of whatever bytes; NULL when memory runs out */
json_t *log_texts(char *const *texts); /* NULL-terminated, or NULL */
void log_hex(char hex[20], uint64_t value, int digits);
void log_set(json_t *to, const char *member, uint64_t value);
void log_set_any(json_t *to, const char *member, uint64_t value);           /* unless it is 0 */
void log_set_text(json_t *to, const char *member, const char *text);        /* unless NULL */
static inline void log_set_flag(json_t *to, const char *member, bool value) /* unless false */
{
    json_object_set_new(to, member, value ? json_true() : NULL);
}

json_t *log_reasons(const uint64_t by[EVENT_LOST_REASONS]);
json_t *log_histogram(const struct agreement_histogram *h);

#endif
