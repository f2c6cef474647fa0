/*
 * export/strings.h - the table of strings of a format that writes each of them once and then says
 * its number: pprof's and OTLP's. Strings are the caller's, and outlive the table.
 */
#ifndef SHADOWTRACE_EXPORT_STRINGS_H
#define SHADOWTRACE_EXPORT_STRINGS_H

#include "readers/index.h"

struct export_strings {
    const char **texts; /* by number */
    size_t count, capacity;
    struct index index;
};

INDEX_OF_TEXT(export_string, const char *);

/* export_strings_add - Returns: 1 and a new number; 0 and the one that it has; -ENOMEM and 0. */
static inline int export_strings_add(struct export_strings *s, const char *text, uint32_t *number)
{
    *number = 0;
    return index_add(&s->index, &export_string, &s->texts, &s->count, &s->capacity, &text, number);
}

static inline void export_strings_free(struct export_strings *s)
{
    index_free(&s->index);
    memory_free(s->texts);
}

#endif
