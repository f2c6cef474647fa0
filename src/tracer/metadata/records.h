/* metadata/records.h - records by number: 1, 2, ..., append-only. */
#ifndef SHADOWTRACE_METADATA_RECORDS_H
#define SHADOWTRACE_METADATA_RECORDS_H

#include "base/atomics.h"
#include "base/memory.h"

/* Chunk k holds METADATA_CHUNK << k of them and never moves, so that readers need no lock. */
#define METADATA_CHUNK  1024u
#define METADATA_CHUNKS 22

struct metadata_records {
    _Atomic(_Atomic(void *) *) chunk[METADATA_CHUNKS];
    _Atomic(uint32_t) count; /* written under making */
};

void *metadata_record_at(const struct metadata_records *records,
                         uint32_t id); /* NULL past the newest */

/* Makes room for the next record. Returns: its number, 0 without memory. Caller excludes others. */
uint32_t metadata_records_reserve(struct metadata_records *records, struct memory_pool *pool);
void metadata_records_add(struct metadata_records *records, uint32_t id, void *record);

#endif
