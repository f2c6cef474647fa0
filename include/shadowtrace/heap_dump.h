/*
 * shadowtrace/heap_dump.h - the layout of a heap dump: the objects of one moment, who refers to
 * whom, and what the runtime itself holds. `ctl PID heap -o FILE` and `record --heap-at-exit` write
 * one, `shadowtrace retained LOG FILE` reads it. No state; the functions are for both sides.
 *
 * Made to be written inside one collection through a small buffer, with nothing known beforehand
 * and no way back in the file. Little endian. A head, then chunks in any order, SST_HEAP_END last:
 * a file without it was cut. Nothing goes from one chunk into the next, so each can be read alone.
 *
 *   head   struct sst_heap_head
 *   chunk  struct sst_heap_chunk, then `bytes` bytes of records, 1 to SST_HEAP_CHUNK_MAX
 *
 * A record is made of numbers, each in 7 bits a byte, least significant first, the high bit set in
 * all but the last: sst_heap_put(). "signed" numbers are first folded: sst_heap_fold(). A unit is 8
 * bytes: every object begins at a multiple of it.
 *
 * SST_HEAP_OBJECTS   (as ObjectReferences says)
 *     signed  units from where it was expected to where the object begins. Expected is the end of
 *             the object before in this chunk (its address + size), address 0 for a chunk's first
 *     class   number of its SST_HEAP_CLASSES record, 0: not known
 *     units   its size, rounded up; 0: not known
 *     count   twice the number of references, plus 1 if each has a slot (version 1: their number);
 *             then for each
 *         signed  units from the object that refers to the one referred to
 *         slot    only if they have one. 0: the reference is not in the object itself (the runtime
 *                 links an object to the load context of its type); else 1 + the folded difference
 *                 between the unit of the object that holds it and the unit after the slot before
 *                 (first: unit 1; unit 0 is the header)
 *     An object may have several records, also in different chunks; the first says its class and
 *     its size, and all add references. So an array of a million references fits into chunks.
 *     Null references are left out; the same reference twice does no harm.
 * SST_HEAP_ROOTS     (as RootReferences2 says)
 *     address what it refers to, in bytes; need not be where an object begins if it is INTERIOR
 *     kind    enum sst_heap_root
 *     flags   SST_HEAP_ROOT_*; a WEAK root holds nothing
 *     name    number of its SST_HEAP_NAMES record, 0: none. STACK: the method whose variable it is
 * SST_HEAP_PAIRS     (as ConditionalWeakTableElementReferences says)
 *     key, value: two addresses, in units: while the key is held, so is the value
 * SST_HEAP_SITES     where objects were allocated; what is not here was allocated before --live
 *     units   from the object before in this chunk to this one (0 for a chunk's first): ascending
 *     site    id of a `live_site` line of the log
 * SST_HEAP_CLASSES, SST_HEAP_NAMES
 *     number  from 1 on, without large gaps
 *     id      of the `class` line (SST_HEAP_NAMES: the `method` line) of the log; 0: it has none
 *     length  of the name in bytes, then the name, UTF-8; 0 where the log has it
 * SST_HEAP_FIELDS    what a slot is called (since version 2)
 *     class   number of its SST_HEAP_CLASSES record
 *     first   0: a field of an object; else the unit where an array's elements begin
 *     stride  units of an element; 0 for an object
 *     slot    unit in the object, or in the element
 *     length  of the name in bytes, then the name, UTF-8: "a", or "a.b" of a struct's field
 * SST_HEAP_STATICS   static fields that held an object (since version 2). Each is a root
 *     place   where the field is, in bytes: within an object[] of the runtime, a box, or elsewhere
 *     object  that it held, in units
 *     class   number of the SST_HEAP_CLASSES record of the type that has the field
 *     flags   SST_HEAP_STATIC_*
 *     length  of the field's name in bytes, then the name, UTF-8
 * SST_HEAP_END       one, last
 *     objects, references, roots, pairs, sites, since version 2 statics: how many were written. An
 *     object of several records counts once.
 */
#ifndef SHADOWTRACE_HEAP_DUMP_H
#define SHADOWTRACE_HEAP_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SST_HEAP_MAGIC     "SSTHEAP\n" /* without its final 0 */
#define SST_HEAP_VERSION   2           /* a reader refuses a higher one; a new kind raises it */
#define SST_HEAP_UNIT      8           /* bytes */
#define SST_HEAP_CHUNK_MAX (1u << 20)  /* bytes of records */
#define SST_HEAP_NUMBER    10          /* bytes that a number takes at most */

struct sst_heap_head {
    char magic[8];
    uint32_t version;
    uint32_t bytes;      /* of this head; a later version may append to it */
    uint64_t pid;        /* these two as in the log's header: they tell whose dump it is */
    uint64_t clock;      /* 0: there is no log */
    uint64_t t;          /* as t in the log, nanoseconds */
    uint64_t collection; /* number of the collection, as gc in `live` lines; 0: not known */
    uint64_t sum;        /* sst_heap_sum() of all of the head before it */
};

struct sst_heap_chunk {
    uint32_t kind;
    uint32_t bytes; /* of records that follow */
    uint64_t sum;   /* sst_heap_sum() of them */
};

enum sst_heap_kind {
    SST_HEAP_OBJECTS = 1,
    SST_HEAP_ROOTS,
    SST_HEAP_PAIRS,
    SST_HEAP_SITES,
    SST_HEAP_CLASSES,
    SST_HEAP_NAMES,
    SST_HEAP_END,
    SST_HEAP_FIELDS,
    SST_HEAP_STATICS,
    SST_HEAP_LAST = SST_HEAP_STATICS,
};

/* The first four as COR_PRF_GC_ROOT_KIND. A reader takes what it does not know for OTHER. */
enum sst_heap_root {
    SST_HEAP_ROOT_OTHER,
    SST_HEAP_ROOT_STACK,
    SST_HEAP_ROOT_FINALIZER, /* in the queue of what is to be finalized */
    SST_HEAP_ROOT_HANDLE,
    SST_HEAP_ROOT_STATIC, /* a static field, where the runtime names them */
};

/* As COR_PRF_GC_ROOT_FLAGS. */
#define SST_HEAP_ROOT_PINNING    1u
#define SST_HEAP_ROOT_WEAK       2u
#define SST_HEAP_ROOT_INTERIOR   4u
#define SST_HEAP_ROOT_REFCOUNTED 8u

#define SST_HEAP_STATIC_THREAD 1u /* [ThreadStatic]: one of a thread */

static inline uint64_t sst_heap_fold(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static inline int64_t sst_heap_unfold(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
}

/* Writes a number at `at`, which has room for SST_HEAP_NUMBER bytes. Returns: its end. */
static inline unsigned char *sst_heap_put(unsigned char *at, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (unsigned char)(number | 128);
    *at++ = (unsigned char)number;
    return at;
}

/* Reads a number. Returns: its end, or NULL if it does not end before `end` or has over 64 bits.
 */
static inline const unsigned char *sst_heap_get(const unsigned char *at, const unsigned char *end,
                                                uint64_t *number)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        unsigned char byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        sum |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = sum;
            return at;
        }
    }
    return NULL;
}

/* Tells damage, not malice. Eight bytes at a time, the rest filled with zeros; then the length. */
static inline uint64_t sst_heap_sum(const void *data, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)data;
    uint64_t sum = UINT64_C(0xcbf29ce484222325), word;

    for (size_t left = bytes; left; at += 8, left -= left < 8 ? left : 8) {
        word = 0;
        memcpy(&word, at, left < 8 ? left : 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return (sum ^ bytes) * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
