/*
 * base/buffer.h - a growing run of bytes: text being built, or a line waiting to be written.
 *
 * A failed append leaves the content as it was and marks the buffer. Callers append freely and look
 * once, at the end.
 */
#ifndef SHADOWTRACE_BASE_BUFFER_H
#define SHADOWTRACE_BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *data; /* always NUL-terminated once anything was appended; NULL before */
    size_t size;
    size_t capacity;
    int failed; /* memory ran out at some append: the content is incomplete */
    int lent;   /* data is not the heap's: BUFFER_ON() */
};

#define BUFFER_INIT \
    { \
        NULL, 0, 0, 0, 0 \
    }

/* Begins in an array of the caller's and allocates only what does not fit. data is never NULL. */
#define BUFFER_ON(room) \
    { \
        (char *)(room), 0, sizeof(room), 0, 1 \
    }
#define BUFFER_TEXT_ROOM 512 /* bytes; nearly every name fits */

void buffer_append(struct buffer *b, const void *data, size_t size);
void buffer_text(struct buffer *b, const char *text);
void buffer_char(struct buffer *b, char c);
void buffer_unsigned(struct buffer *b, uint64_t value); /* decimal */
void buffer_format(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As much of a file as can be read. Returns: 0 or -errno. */
int buffer_file(struct buffer *b, const char *path);

/* Text from outside (paths, arguments): what is not valid UTF-8 becomes U+FFFD. */
void buffer_utf8(struct buffer *b, const char *text);

/* The same for a person: what a terminal would act on becomes a mark (base/clean.h). */
void buffer_clean(struct buffer *b, const char *text);

/* A JSON string with its quotes; unsafe letters (base/clean.h) are escaped, no UTF-8 is U+FFFD. */
void buffer_json_string(struct buffer *b, const char *text);

/*
 * buffer_reserve - room for `more` bytes after the present ones. What is written there counts once
 * the caller adds it to size. Returns: where they go; NULL when memory ran out.
 */
static inline char *buffer_reserve(struct buffer *b, size_t more);
char *buffer_grow(struct buffer *b, size_t more); /* its other half: there was no room */

static inline char *buffer_reserve(struct buffer *b, size_t more)
{
    if (__builtin_expect(b->size + more < b->capacity, 1))
        return b->data + b->size;
    return buffer_grow(b, more);
}

void buffer_clear(struct buffer *b); /* empty and unmarked; keeps the memory */
void buffer_free(struct buffer *b);

/* buffer_take - Returns: the text, for memory_free(); NULL when marked. b is empty afterwards. */
char *buffer_take(struct buffer *b);

#endif
