/*
 * export/protobuf.h - messages of Protocol Buffers, built in a buffer: fields as their tag and
 * value, by the wire format (protobuf.dev/programming-guides/encoding). Failures mark the buffer.
 */
#ifndef SHADOWTRACE_EXPORT_PROTOBUF_H
#define SHADOWTRACE_EXPORT_PROTOBUF_H

#include "base/buffer.h"

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

static inline void protobuf_varint(struct buffer *b, uint64_t value)
{
    char bytes[10];
    size_t size = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (char)(0x80 | (value & 0x7f));
    bytes[size++] = (char)value;
    buffer_append(b, bytes, size);
}

static inline void protobuf_tag(struct buffer *b, unsigned field, enum protobuf_wire wire)
{
    protobuf_varint(b, (uint64_t)field << 3 | wire);
}

/* A field that is 0 is the same as none. */
static inline void protobuf_number(struct buffer *b, unsigned field, uint64_t value)
{
    if (!value)
        return;
    protobuf_tag(b, field, PROTOBUF_VARINT);
    protobuf_varint(b, value);
}

/* The same of eight bytes, the least first. */
static inline void protobuf_fixed64(struct buffer *b, unsigned field, uint64_t value)
{
    char bytes[8];

    if (!value)
        return;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(value >> 8 * i);
    protobuf_tag(b, field, PROTOBUF_FIXED64);
    buffer_append(b, bytes, sizeof(bytes));
}

/* A string, or a message that was built in another buffer; data may be NULL if it is empty. */
static inline void protobuf_bytes(struct buffer *b, unsigned field, const void *data, size_t size)
{
    protobuf_tag(b, field, PROTOBUF_BYTES);
    protobuf_varint(b, size);
    if (size)
        buffer_append(b, data, size);
}

#endif
