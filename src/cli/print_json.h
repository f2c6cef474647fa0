/* cli/print_json.h - members and elements of JSON that is written into a buffer, commas included. */
#ifndef SHADOWTRACE_CLI_PRINT_JSON_H
#define SHADOWTRACE_CLI_PRINT_JSON_H

#include "base/buffer.h"

#include <jansson.h>
#include <stdio.h>

/*
 * print_json_value - json_dumpf with what a terminal would act on (base/clean.h) as \uXXXX; jansson escapes C0 alone.
 * Returns: 0, or -1.
 * print_json_text - the same as a text, to be freed with memory_free; NULL for no memory, and for NULL.
 */
int print_json_value(const json_t *json, FILE *out, size_t flags);
char *print_json_text(const json_t *json, size_t flags);

static inline void json_key(struct buffer *b, const char *key)
{
    if (b->size && b->data[b->size - 1] != '{')
        buffer_char(b, ',');
    buffer_json_string(b, key);
    buffer_char(b, ':');
}

static inline void json_text(struct buffer *b, const char *key, const char *text)
{
    json_key(b, key);
    buffer_json_string(b, text);
}

static inline void json_count(struct buffer *b, const char *key, uint64_t value)
{
    json_key(b, key);
    buffer_unsigned(b, value);
}

/* Before each element of an array but the first. */
static inline void json_comma(struct buffer *b)
{
    if (b->data && b->data[b->size - 1] != '[')
        buffer_char(b, ',');
}

#endif
