/* options/json.h - jansson in a traced program: its memory is base/memory's, and may run out. */
#ifndef SHADOWTRACE_OPTIONS_JSON_H
#define SHADOWTRACE_OPTIONS_JSON_H

#include <jansson.h>

#include <stdbool.h>

/* json_memory_start - from here on; what jansson had before is freed as it was had. */
void json_memory_start(void);

/* json_memory_stop - jansson's own again: this library leaves a process that goes on. */
void json_memory_stop(void);

/*
 * json_memory_refused - whether jansson got no memory in this thread since this was last asked:
 * then what it made lacks something.
 */
bool json_memory_refused(void);

/*
 * json_read - json_loadb() that ends where memory does, after json_memory_start(). jansson 2.14
 * does not check whether a text of more than 15 bytes found memory, and writes over the end of what
 * it has.
 * Returns: NULL with error->text empty when memory ran out.
 */
json_t *json_read(const char *text, size_t size, size_t flags, json_error_t *error);

#endif
