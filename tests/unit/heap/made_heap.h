/*
 * heap/made_heap.h - a heap made up by a test, and its dump: the writer's side of
 * <shadowtrace/heap_dump.h>, with chunks as small as a test wants them.
 */
#ifndef SHADOWTRACE_TESTS_MADE_HEAP_H
#define SHADOWTRACE_TESTS_MADE_HEAP_H

#include "base/buffer.h"

#include <shadowtrace/heap_dump.h>

struct made_heap {
    struct buffer file, records;
    uint32_t kind;
    size_t chunk; /* bytes of records in a chunk, about */
    uint64_t base;
    uint64_t objects, references, roots, pairs, sites, statics;
};

void made_begin(struct made_heap *m, size_t chunk);

/* references: addresses. */
void made_object(struct made_heap *m, uint64_t address, uint32_t class_number, uint64_t units,
                 const uint64_t *references, size_t count);
/* The same with a slot for each reference: a unit of the object, or 0. In one record. */
void made_slotted(struct made_heap *m, uint64_t address, uint32_t class_number, uint64_t units,
                  const uint64_t *references, size_t count, const uint64_t *slots);
void made_field(struct made_heap *m, uint32_t class_number, uint32_t first, uint32_t stride,
                uint32_t slot, const char *name);
void made_static(struct made_heap *m, uint64_t place, uint64_t object, uint32_t class_number,
                 uint32_t flags, const char *name);
void made_root(struct made_heap *m, uint64_t address, uint32_t kind, uint32_t flags, uint32_t name);
void made_pair(struct made_heap *m, uint64_t key, uint64_t value);
void made_site(struct made_heap *m, uint64_t address, uint32_t site);
void made_name(struct made_heap *m, uint32_t kind, uint32_t number, uint32_t id, const char *name);
void made_end(struct made_heap *m);                     /* the end record */
void made_flush(struct made_heap *m);                   /* what was written so far is a chunk */
void made_write(struct made_heap *m, const char *path); /* the file */
void made_free(struct made_heap *m);

/* The file at `path` read as a graph, which must succeed. */
struct heap_graph;
void made_read(const char *path, struct heap_graph *g);

/* A random number below `below`; the same ones again after the same seed. */
uint32_t made_random(uint64_t *seed, uint32_t below);

#endif
