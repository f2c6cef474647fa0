/* command/print_json.h - values of jansson on their way out; what is no tree is written by base/json_writer.h. */
#ifndef SHADOWTRACE_COMMAND_PRINT_JSON_H
#define SHADOWTRACE_COMMAND_PRINT_JSON_H

#include <jansson.h>
#include <stdio.h>

/*
 * print_json_value - json_dumpf with what a terminal would act on (base/clean.h) as \uXXXX; jansson escapes C0 alone.
 * Returns: 0, or -1.
 * print_json_text - the same as a text, to be freed with memory_free; NULL for no memory, and for NULL.
 */
int print_json_value(const json_t *json, FILE *out, size_t flags);
char *print_json_text(const json_t *json, size_t flags);

#endif
