/*
 * options/json.h - jansson inside of a traced program: its memory comes from base/memory.h, and runs out without harm.
 */
#ifndef SHADOWTRACE_OPTIONS_JSON_H
#define SHADOWTRACE_OPTIONS_JSON_H

#include <jansson.h>

#include <stdbool.h>

/* json_memory_start - from here on; what jansson had before is freed as it was had. */
void json_memory_start(void);

/*
 * json_memory_refused - whether there was none for jansson in this thread since it was asked last: then what it made
 * lacks something.
 */
bool json_memory_refused(void);

/*
 * json_read - as json_loadb(). jansson 2.14 does not look whether a text of more than 15 bytes found memory, and runs
 * over the end of what it has: after json_memory_start() a load ends where memory does.
 * Returns: NULL with error->text empty when memory ran out.
 */
json_t *json_read(const char *text, size_t size, size_t flags, json_error_t *error);

#endif
