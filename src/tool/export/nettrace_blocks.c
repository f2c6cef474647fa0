#include "export/nettrace_blocks.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "command/gzip.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define PROVIDER "Microsoft-Windows-DotNETRuntime"
#define BLOCK    (128u * 1024) /* bytes after which one is written */

/* Tags of objects. */
enum { TAG_NULL = 1, TAG_BEGIN = 5, TAG_END = 6 };

/* What an event's header has; the rest is as in the event before. */
enum {
    HAS_KIND = 1,
    HAS_SEQUENCE = 2, /* and the thread that wrote it, and the processor */
    HAS_THREAD = 4,
    HAS_STACK = 8,
    IS_SORTED = 64,
    HAS_SIZE = 128
};

#define BLOCK_HEADER     20 /* bytes */
#define COMPRESSED       1
#define LEVEL_VERBOSE    5
#define TICKS_PER_SECOND 1000000000u

void nettrace_put(struct buffer *b, uint64_t value, unsigned bytes)
{
    char text[8];

    for (unsigned i = 0; i < bytes; i++)
        text[i] = (char)(value >> 8 * i);
    buffer_append(b, text, bytes);
}

static void put_varint(struct buffer *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buffer_char(b, (char)(0x80 | (value & 0x7f)));
    buffer_char(b, (char)value);
}

/* The letter of `length` bytes; 0: none. */
static uint32_t letter(const char *text, size_t length)
{
    static const uint8_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = (uint8_t)*text & first[length];

    for (size_t i = 1; i < length; i++)
        value = value << 6 | ((uint8_t)text[i] & 0x3f);
    return length ? value : 0xfffd;
}

void nettrace_text(struct buffer *b, const char *text, size_t size)
{
    const char *end = text + size;
    size_t units = 0;

    while (text < end && units < NETTRACE_TEXT - 1) {
        uint32_t value = letter(text, utf8_length(text));

        if (value >= 0x10000) {
            nettrace_put(b, 0xd800 + ((value - 0x10000) >> 10), 2);
            nettrace_put(b, 0xdc00 + ((value - 0x10000) & 0x3ff), 2);
        } else {
            nettrace_put(b, value, 2);
        }
        units += value >= 0x10000 ? 2 : 1;
        text = utf8_next(text);
    }
    nettrace_put(b, 0, 2);
}

static void give(struct nettrace_blocks *b, const void *data, size_t size)
{
    if (!b->err && size)
        b->err = gzip_to_file(b->out, data, size);
    b->offset += size;
}

static void begin_object(struct nettrace_blocks *b, const char *type, unsigned version)
{
    struct buffer head = BUFFER_ON((char[64]){0});

    nettrace_put(&head, TAG_BEGIN, 1); /* of the object */
    nettrace_put(&head, TAG_BEGIN, 1); /* of its type */
    nettrace_put(&head, TAG_NULL, 1);
    nettrace_put(&head, version, 4);
    nettrace_put(&head, version, 4); /* what a reader must know at least */
    nettrace_put(&head, strlen(type), 4);
    buffer_text(&head, type);
    nettrace_put(&head, TAG_END, 1);
    give(b, head.data, head.size);
}

static void end_object(struct nettrace_blocks *b)
{
    give(b, (const char[]){TAG_END}, 1);
}

/* Size, zeros up to a multiple of 4, a header, content. */
static void put_block(struct nettrace_blocks *b, const char *type, const struct buffer *header,
                      struct buffer *content)
{
    struct buffer size = BUFFER_ON((char[8]){0});

    if (header->failed || content->failed)
        b->err = b->err ? b->err : -ENOMEM;
    begin_object(b, type, 2);
    nettrace_put(&size, header->size + content->size, 4);
    give(b, size.data, size.size);
    give(b, "\0\0\0", (4 - b->offset % 4) % 4);
    give(b, header->data, header->size);
    give(b, content->data, content->size);
    end_object(b);
    content->size = 0;
}

static void event_header(struct buffer *header, uint64_t first, uint64_t last)
{
    nettrace_put(header, BLOCK_HEADER, 2);
    nettrace_put(header, COMPRESSED, 2);
    nettrace_put(header, first, 8);
    nettrace_put(header, last, 8);
}

static void flush_events(struct nettrace_blocks *b)
{
    struct buffer header = BUFFER_ON((char[32]){0});

    if (!b->events.size)
        return;
    event_header(&header, b->first, b->last);
    put_block(b, "EventBlock", &header, &b->events);
    memset(&b->before, 0, sizeof(b->before));
}

static void flush_stacks(struct nettrace_blocks *b)
{
    struct buffer header = BUFFER_ON((char[32]){0});

    if (!b->stacks.size)
        return;
    nettrace_put(&header, b->stack_first, 4);
    nettrace_put(&header, b->stack_count + 1 - b->stack_first, 4);
    put_block(b, "StackBlock", &header, &b->stacks);
    b->stack_first = b->stack_count + 1;
}

/* A metadata event for each kind. Readers that know the provider know the fields. */
static void put_kinds(struct nettrace_blocks *b, const struct nettrace_kind *kinds, size_t count)
{
    struct buffer header = BUFFER_ON((char[32]){0});

    event_header(&header, 0, 0);
    for (size_t i = 0; i < count; i++) {
        struct buffer *payload = &b->payload;

        buffer_clear(payload);
        nettrace_put(payload, i + 1, 4);
        nettrace_text(payload, PROVIDER, strlen(PROVIDER));
        nettrace_put(payload, kinds[i].id, 4);
        nettrace_text(payload, "", 0); /* its name is the reader's */
        nettrace_put(payload, kinds[i].keywords, 8);
        nettrace_put(payload, kinds[i].version, 4);
        nettrace_put(payload, LEVEL_VERBOSE, 4);
        nettrace_put(payload, 0, 4); /* no fields are described */
        buffer_char(&b->events, (char)(IS_SORTED | HAS_SIZE));
        put_varint(&b->events, 0); /* time */
        put_varint(&b->events, payload->size);
        buffer_append(&b->events, payload->data, payload->size);
    }
    put_block(b, "MetadataBlock", &header, &b->events);
}

static void put_trace(struct nettrace_blocks *b, int64_t started, uint64_t pid)
{
    struct buffer *t = &b->payload;
    time_t seconds = (time_t)(started / TICKS_PER_SECOND);
    struct tm utc = {0};

    gmtime_r(&seconds, &utc);
    nettrace_put(t, (uint64_t)utc.tm_year + 1900, 2);
    nettrace_put(t, (uint64_t)utc.tm_mon + 1, 2);
    nettrace_put(t, (uint64_t)utc.tm_wday, 2);
    nettrace_put(t, (uint64_t)utc.tm_mday, 2);
    nettrace_put(t, (uint64_t)utc.tm_hour, 2);
    nettrace_put(t, (uint64_t)utc.tm_min, 2);
    nettrace_put(t, (uint64_t)utc.tm_sec % 60, 2);
    nettrace_put(t, (uint64_t)(started % TICKS_PER_SECOND) / 1000000, 2);
    nettrace_put(t, 0, 8); /* the clock at that moment */
    nettrace_put(t, TICKS_PER_SECOND, 8);
    nettrace_put(t, sizeof(void *), 4);
    nettrace_put(t, pid, 4);
    nettrace_put(t, 1, 4); /* processors: not known */
    nettrace_put(t, 0, 4); /* samples of the processor: none */
    begin_object(b, "Trace", 4);
    give(b, t->data, t->size);
    end_object(b);
}

void nettrace_begin(struct nettrace_blocks *b, FILE *out, int64_t started, uint64_t pid,
                    const struct nettrace_kind *kinds, size_t count)
{
    static const char magic[] = "Nettrace\x14\0\0\0!FastSerialization.1";

    *b = (struct nettrace_blocks){.out = out, .stack_first = 1};
    give(b, magic, sizeof(magic) - 1);
    put_trace(b, started, pid);
    put_kinds(b, kinds, count);
}

uint32_t nettrace_stack(struct nettrace_blocks *b, const uint64_t *addresses, size_t count)
{
    nettrace_put(&b->stacks, count * 8, 4);
    for (size_t i = 0; i < count; i++)
        nettrace_put(&b->stacks, addresses[i], 8);
    b->stack_count++;
    if (b->stacks.size >= BLOCK)
        flush_stacks(b);
    return b->stack_count;
}

/* The next number of a thread's events: a gap would be events that were lost. */
static uint32_t next_sequence(struct nettrace_blocks *b, uint64_t id)
{
    size_t i = 0;

    while (i < b->thread_count && b->threads[i].id != id)
        i++;
    if (i == b->thread_count) {
        if (!array_reserve(&b->threads, &b->thread_capacity, i + 1)) {
            b->err = -ENOMEM;
            return 0;
        }
        b->threads[b->thread_count++] = (struct nettrace_thread){.id = id};
    } else if (i) { /* most events are of the thread before */
        struct nettrace_thread found = b->threads[i];

        memmove(b->threads + 1, b->threads, i * sizeof(*b->threads));
        b->threads[0] = found;
        i = 0;
    }
    return ++b->threads[i].sequence;
}

static void put_event(struct nettrace_blocks *b, uint32_t kind, uint64_t thread, uint64_t time,
                      uint32_t stack)
{
    uint32_t sequence = next_sequence(b, thread);
    bool follows = b->before.any && b->before.thread == thread;
    size_t size = b->payload.size;
    unsigned flags = IS_SORTED;

    flags |= kind != b->before.kind ? HAS_KIND : 0;
    flags |= follows ? 0 : HAS_SEQUENCE | HAS_THREAD;
    flags |= stack != b->before.stack ? HAS_STACK : 0;
    flags |= size != b->before.size ? HAS_SIZE : 0;
    buffer_char(&b->events, (char)flags);
    if (flags & HAS_KIND)
        put_varint(&b->events, kind);
    if (flags & HAS_SEQUENCE) {
        put_varint(&b->events, (uint32_t)(sequence - b->before.sequence - 1));
        put_varint(&b->events, thread);
        put_varint(&b->events, 0); /* processor */
        put_varint(&b->events, thread);
    }
    if (flags & HAS_STACK)
        put_varint(&b->events, stack);
    put_varint(&b->events, time - b->before.time);
    if (flags & HAS_SIZE)
        put_varint(&b->events, size);
    buffer_append(&b->events, b->payload.data, size);
    b->before.kind = kind;
    b->before.sequence = sequence;
    b->before.stack = stack;
    b->before.thread = thread;
    b->before.time = time;
    b->before.size = size;
    b->before.any = true;
}

void nettrace_event(struct nettrace_blocks *b, uint32_t kind, uint64_t thread, uint64_t time,
                    uint32_t stack)
{
    if (b->payload.size > NETTRACE_PAYLOAD)
        b->payload.size = NETTRACE_PAYLOAD;
    if (b->payload.failed)
        b->err = b->err ? b->err : -ENOMEM;
    if (time <= b->last)
        time = b->last + 1; /* TraceEvent loses events where very many have the same time */
    if (!b->events.size)
        b->first = time;
    b->last = time;
    put_event(b, kind, thread, time, stack);
    if (b->events.size >= BLOCK) {
        flush_stacks(b); /* those of its events stand before it */
        flush_events(b);
    }
}

int nettrace_end(struct nettrace_blocks *b)
{
    flush_stacks(b);
    flush_events(b);
    give(b, (const char[]){TAG_NULL}, 1);
    return b->err;
}

void nettrace_release(struct nettrace_blocks *b)
{
    buffer_free(&b->events);
    buffer_free(&b->stacks);
    buffer_free(&b->payload);
    memory_free(b->threads);
}
