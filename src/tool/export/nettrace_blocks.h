/*
 * export/nettrace_blocks.h - a .nettrace file of version 4 as its blocks: stacks, and events with
 * what describes them. What an event holds is the caller's to know (nettrace.c).
 *
 * Source: microsoft/perfview, src/TraceEvent/EventPipe/NetTraceFormat_v5.md.
 */
#ifndef SHADOWTRACE_EXPORT_NETTRACE_BLOCKS_H
#define SHADOWTRACE_EXPORT_NETTRACE_BLOCKS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdio.h>

/* A kind of event; they are numbered from 1. */
struct nettrace_kind {
    unsigned id, version;
    uint64_t keywords;
};

struct nettrace_blocks {
    FILE *out;
    uint64_t offset; /* of the file: blocks are aligned in it */
    struct buffer events, stacks, payload;
    uint64_t first, last;              /* times in the events block */
    uint32_t stack_count, stack_first; /* of all; the first one of the block */
    /* The previous event: the next header is relative to it. */
    struct {
        uint32_t kind, sequence, stack;
        uint64_t thread, time;
        size_t size;
        bool any;
    } before;
    struct nettrace_thread {
        uint64_t id;
        uint32_t sequence;
    } * threads;
    size_t thread_count, thread_capacity;
    int err;
};

/* nettrace_begin - started: ns since 1970; kinds are all of one provider. */
void nettrace_begin(struct nettrace_blocks *b, FILE *out, int64_t started, uint64_t pid,
                    const struct nettrace_kind *kinds, size_t count);

/* nettrace_stack - addresses, innermost first. Returns: its number, for the events that follow. */
uint32_t nettrace_stack(struct nettrace_blocks *b, const uint64_t *addresses, size_t count);

/*
 * nettrace_event - takes what is in b->payload, at most NETTRACE_PAYLOAD bytes of it. kind: its
 * number; stack 0: none. An event that is not later than the one before is a tick later.
 */
#define NETTRACE_PAYLOAD 65535
void nettrace_event(struct nettrace_blocks *b, uint32_t kind, uint64_t thread, uint64_t time,
                    uint32_t stack);

/* nettrace_end - Returns: 0; -ENOMEM; -errno of writing. */
int nettrace_end(struct nettrace_blocks *b);
void nettrace_release(struct nettrace_blocks *b); /* all zeros is fine */

/* Numbers, low byte first, and a NUL-terminated UTF-16 text of at most NETTRACE_TEXT units. */
#define NETTRACE_TEXT 8000
void nettrace_put(struct buffer *b, uint64_t value, unsigned bytes);
void nettrace_text(struct buffer *b, const char *text, size_t size);

#endif
