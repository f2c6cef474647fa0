#include "base/memory_scope.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_MAPPINGS 1024u
#define LARGE          32768u /* bytes */

/*
 * Header of each block. The block after it has malloc's alignment. A large one is a mapping: malloc
 * would keep its memory for the arena of the thread, and each attach may begin on another one.
 */
struct link {
    _Alignas(max_align_t) struct link *next;
    struct link *previous;
    size_t size; /* with this header */
};
static_assert(sizeof(struct link) % _Alignof(max_align_t) == 0, "blocks stay aligned");

static struct {
    pthread_mutex_t lock;
    struct link blocks; /* a ring, this one is none */
    struct mapping {
        void *pages; /* NULL: free */
        size_t size;
    } * mapping;
    size_t capacity;
} scope = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Atomic(bool) scope_is_open;

static struct mapping *mappings_new(size_t count)
{
    void *pages = mmap(NULL, count * sizeof(struct mapping), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

static struct link *obtain(size_t size)
{
    struct link *block = size < LARGE ? malloc(size)
                                      : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!block || block == MAP_FAILED)
        return NULL;
    block->size = size;
    return block;
}

static void release(struct link *block)
{
    if (block->size < LARGE)
        free(block);
    else
        munmap(block, block->size);
}

int memory_scope_begin(void)
{
    scope.mapping = mappings_new(FIRST_MAPPINGS);
    if (!scope.mapping)
        return -ENOMEM;
    scope.capacity = FIRST_MAPPINGS;
    scope.blocks.next = scope.blocks.previous = &scope.blocks;
    store_release(&scope_is_open, true);
    return 0;
}

void memory_scope_end(void)
{
    if (!scope_open())
        return;
    store_release(&scope_is_open, false);
    while (scope.blocks.next != &scope.blocks) {
        struct link *block = scope.blocks.next;

        scope.blocks.next = block->next;
        release(block);
    }
    for (size_t i = 0; i < scope.capacity; i++)
        if (scope.mapping[i].pages)
            munmap(scope.mapping[i].pages, scope.mapping[i].size);
    munmap(scope.mapping, scope.capacity * sizeof(*scope.mapping));
    scope.mapping = NULL;
    scope.capacity = 0;
}

void memory_scope_forked(void)
{
    scope.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* ---- blocks ---- */

static void *link_in(struct link *block)
{
    if (!block)
        return NULL;
    pthread_mutex_lock(&scope.lock);
    block->next = scope.blocks.next;
    block->previous = &scope.blocks;
    block->next->previous = scope.blocks.next = block;
    pthread_mutex_unlock(&scope.lock);
    return block + 1;
}

static void link_out(struct link *block)
{
    pthread_mutex_lock(&scope.lock);
    block->next->previous = block->previous;
    block->previous->next = block->next;
    pthread_mutex_unlock(&scope.lock);
}

void *scope_alloc(size_t size)
{
    return size > SIZE_MAX - sizeof(struct link) ? NULL
                                                 : link_in(obtain(size + sizeof(struct link)));
}

void *scope_zalloc(size_t count, size_t size)
{
    void *block;

    if (size && count > (SIZE_MAX - sizeof(struct link)) / size)
        return NULL;
    size *= count;
    block = scope_alloc(size);
    return block && size + sizeof(struct link) < LARGE ? memset(block, 0, size) : block;
}

void *scope_realloc(void *block, size_t size)
{
    struct link *old = block;
    void *grown = scope_alloc(size);

    if (!old || !grown)
        return grown;
    old--;
    size += sizeof(*old);
    memcpy(grown, block, (old->size < size ? old->size : size) - sizeof(*old));
    scope_free(block);
    return grown;
}

char *scope_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = scope_alloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void scope_free(void *block)
{
    struct link *of = block;

    if (!of)
        return;
    link_out(--of);
    release(of);
}

/* ---- pages ---- */

/* The entry of pages, or a free one (NULL). Under the lock. */
static struct mapping *find(const void *pages)
{
    for (size_t i = 0; i < scope.capacity; i++)
        if (scope.mapping[i].pages == pages)
            return &scope.mapping[i];
    return NULL;
}

static struct mapping *make_room(void)
{
    size_t more = 2 * scope.capacity;
    struct mapping *mapping = mappings_new(more), *first;

    if (!mapping)
        return NULL;
    memcpy(mapping, scope.mapping, scope.capacity * sizeof(*mapping));
    first = &mapping[scope.capacity];
    munmap(scope.mapping, scope.capacity * sizeof(*mapping));
    scope.mapping = mapping;
    scope.capacity = more;
    return first;
}

bool scope_mapped(void *pages, size_t size)
{
    struct mapping *entry;

    pthread_mutex_lock(&scope.lock);
    entry = find(NULL);
    if (!entry)
        entry = make_room();
    if (entry)
        *entry = (struct mapping){pages, size};
    pthread_mutex_unlock(&scope.lock);
    return entry;
}

void scope_moved(const void *from, void *to, size_t size)
{
    struct mapping *entry;

    pthread_mutex_lock(&scope.lock);
    entry = find(from);
    if (entry)
        *entry = (struct mapping){to, size};
    pthread_mutex_unlock(&scope.lock);
}

void scope_unmapped(const void *pages, size_t size)
{
    const char *end = (const char *)pages + size;

    pthread_mutex_lock(&scope.lock);
    for (size_t i = 0; i < scope.capacity; i++) {
        struct mapping *m = &scope.mapping[i];

        if (m->pages == pages)
            m->pages = NULL;
        else if (m->pages && (const char *)m->pages < (const char *)pages &&
                 end >= (const char *)m->pages + m->size &&
                 (const char *)pages < (const char *)m->pages + m->size)
            m->size = (size_t)((const char *)pages - (const char *)m->pages);
    }
    pthread_mutex_unlock(&scope.lock);
}
