/*
 * unit/readers/memory_log.h - a log held in memory as a source of lines, a few bytes at a time, and
 * a log from a file.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_REPORT_MEMORY_LOG_H
#define SHADOWTRACE_TESTS_UNIT_REPORT_MEMORY_LOG_H

#include "readers/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory_log {
    const char *text;
    size_t size, at;
    size_t chunk; /* bytes given at once; 0 all */
    int fail_at;  /* 0: never; else -errno once everything was given */
};

static inline ssize_t memory_log_read(void *context, void *to, size_t size)
{
    struct memory_log *m = context;
    size_t left = m->size - m->at, some = m->chunk && m->chunk < size ? m->chunk : size;

    if (left == 0)
        return m->fail_at;
    some = some < left ? some : left;
    memcpy(to, m->text + m->at, some);
    m->at += some;
    return (ssize_t)some;
}

/* m is the caller's and outlives the lines. */
static inline struct log_lines *memory_log_lines(struct memory_log *m)
{
    const struct log_source source = {memory_log_read, NULL, m};
    struct log_lines *lines = NULL;

    m->at = 0;
    if (log_lines_from(&source, &lines))
        abort();
    return lines;
}

/* A whole file, to be freed; tests run at the top of the source tree. */
static inline char *memory_log_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);

    if (!file || !text) {
        fprintf(stderr, "cannot read %s\n", path);
        abort();
    }
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

#endif
