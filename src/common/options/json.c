#include "options/json.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdlib.h>

static _Thread_local bool refused;

/* A load under way in this thread, and the blocks that it has. */
static _Thread_local struct reading {
    jmp_buf end;
    struct buffer blocks; /* of void * */
} * reading;

static void *json_alloc(size_t size)
{
    struct reading *r = reading;
    void *block = memory_alloc(size);

    if (!r) {
        refused |= !block;
        return block;
    }
    if (block)
        buffer_append(&r->blocks, &block, sizeof(block));
    if (block && !r->blocks.failed)
        return block;
    memory_free(block);
    longjmp(r->end, 1);
}

static void json_free(void *block)
{
    struct buffer *blocks = reading ? &reading->blocks : NULL;
    void **at = blocks ? (void **)(void *)(blocks->data + blocks->size) : NULL;

    memory_free(block);
    while (blocks && (char *)at > blocks->data)
        if (*--at == block) { /* one of the newest, nearly always */
            blocks->size -= sizeof(block);
            *at = *(void **)(void *)(blocks->data + blocks->size);
            break;
        }
}

void json_memory_start(void)
{
    json_set_alloc_funcs(json_alloc, json_free);
}

void json_memory_stop(void)
{
    json_set_alloc_funcs(malloc, free);
}

bool json_memory_refused(void)
{
    bool was = refused;

    refused = false;
    return was;
}

json_t *json_read(const char *text, size_t size, size_t flags, json_error_t *error)
{
    void *room[128];
    struct reading r = {.blocks = BUFFER_ON(room)};
    json_t *volatile json = NULL;

    if (!setjmp(r.end)) {
        reading = &r;
        json = json_loadb(text, size, flags, error);
    } else {
        for (size_t at = 0; at < r.blocks.size; at += sizeof(void *))
            memory_free(*(void **)(void *)(r.blocks.data + at));
        if (error)
            *error->text = '\0';
    }
    reading = NULL;
    buffer_free(&r.blocks);
    return json;
}
