#include "base/buffer.h"

#include "base/clean.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *buffer_grow(struct buffer *b, size_t more)
{
    size_t need = b->size + more + 1, capacity = b->capacity ? b->capacity : 64;
    char *data;

    while (capacity < need)
        capacity *= 2;
    data = b->lent ? memory_alloc(capacity) : memory_realloc(b->data, capacity);
    if (!data) {
        b->failed = 1;
        return NULL;
    }
    if (b->lent)
        memcpy(data, b->data, b->size);
    b->data = data;
    b->capacity = capacity;
    b->lent = 0;
    return b->data + b->size;
}

void buffer_append(struct buffer *b, const void *data, size_t size)
{
    char *to = buffer_reserve(b, size);

    if (!to)
        return;
    memcpy(to, data, size);
    b->size += size;
    b->data[b->size] = '\0';
}

void buffer_text(struct buffer *b, const char *text)
{
    buffer_append(b, text, strlen(text));
}

void buffer_char(struct buffer *b, char c)
{
    buffer_append(b, &c, 1);
}

void buffer_unsigned(struct buffer *b, uint64_t value)
{
    char *to = buffer_reserve(b, DECIMAL_ROOM);

    if (!to)
        return;
    b->size = (size_t)(decimal_put(to, value) - b->data);
    b->data[b->size] = '\0';
}

void buffer_format(struct buffer *b, const char *format, ...)
{
    va_list args, again;
    int length;
    char *to;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    to = length < 0 ? NULL : buffer_reserve(b, (size_t)length);
    if (to) {
        vsnprintf(to, (size_t)length + 1, format, again);
        b->size += (size_t)length;
    } else {
        b->failed = 1;
    }
    va_end(again);
}

int buffer_file(struct buffer *b, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), err;
    char part[4096];
    ssize_t n;

    if (fd < 0)
        return -errno;
    while ((n = read(fd, part, sizeof(part))) > 0)
        buffer_append(b, part, (size_t)n);
    err = n < 0 ? -errno : 0;
    close(fd);
    return err;
}

void buffer_utf8(struct buffer *b, const char *text)
{
    while (*text) {
        size_t length = utf8_length(text);

        if (length)
            buffer_append(b, text, length);
        else
            buffer_text(b, "\xef\xbf\xbd");
        text += length ? length : 1;
    }
}

void buffer_clean(struct buffer *b, const char *text)
{
    const char *run = text;
    bool safe;

    while (*text) {
        size_t length = clean_letter(text, &safe);

        if (!safe) {
            buffer_append(b, run, (size_t)(text - run));
            buffer_char(b, CLEAN_MARK);
            run = text + length;
        }
        text += length;
    }
    buffer_append(b, run, (size_t)(text - run));
}

void buffer_json_string(struct buffer *b, const char *text)
{
    const char *run = text;
    size_t length;
    bool safe;

    buffer_char(b, '"');
    for (; *text; text += length) {
        length = 1;
        safe = *text >= 0x20 && *text < 0x7f; /* nearly all are */
        if (!safe)
            length = clean_letter(text, &safe);
        if (safe && *text != '"' && *text != '\\')
            continue;
        buffer_append(b, run, (size_t)(text - run));
        run = text + length;
        if (safe)
            buffer_format(b, "\\%c", *text);
        else
            buffer_format(b, "\\u%04x", (unsigned)clean_number(text));
    }
    buffer_append(b, run, (size_t)(text - run));
    buffer_char(b, '"');
}

void buffer_clear(struct buffer *b)
{
    b->size = 0;
    b->failed = 0;
    if (b->data)
        b->data[0] = '\0';
}

void buffer_free(struct buffer *b)
{
    if (!b->lent)
        memory_free(b->data);
    *b = (struct buffer)BUFFER_INIT;
}

char *buffer_take(struct buffer *b)
{
    char *text = NULL;

    if (!b->failed)
        buffer_append(b, "", 0); /* there is a NUL, at least */
    if (!b->failed && b->lent) {
        text = memory_alloc(b->size + 1);
        if (text)
            memcpy(text, b->data, b->size + 1);
    } else if (!b->failed) {
        text = memory_realloc(b->data, b->size + 1); /* no more than it needs: it may live long */
        if (!text)
            text = b->data;
        b->data = NULL;
    }
    buffer_free(b);
    return text;
}
