/*
 * heap/dump.h - a heap dump as it lies in its file (<shadowtrace/heap_dump.h>), chunk by chunk, and
 * the records of a chunk. The file is trusted in nothing: what does not fit is damage, and says so.
 *
 * The rest of this folder makes of it: a graph (graph.h), who holds whom alone (dominators.h), what
 * groups of objects hold (sums.h), and ways from a root (paths.h). It knows nothing of logs.
 */
#ifndef SHADOWTRACE_HEAP_DUMP_READER_H
#define SHADOWTRACE_HEAP_DUMP_READER_H

#include <stdbool.h>
#include <time.h>

#include <shadowtrace/heap_dump.h>

struct heap_dump {
    int fd;
    uint64_t size, offset;   /* of the file; of the next chunk */
    struct timespec changed; /* the file */
    struct sst_heap_head head;
    unsigned char *chunk;
    bool ended;
    char why[160]; /* after -EBADMSG and -EPROTO: what is wrong, without the file's name */
};

/* What is left of a chunk's records. */
struct heap_records {
    uint32_t kind;
    const unsigned char *at, *end;
    uint64_t base; /* what the next record's first number counts from */
    bool slots;    /* since version 2 the number of references says whether they have slots */
};

/* An address 0 stands for one that no object can have. */
struct heap_object {
    uint64_t address, units;
    uint32_t class_number;
    uint64_t references; /* that are still to be read, before the next object */
    bool slotted;        /* each has a slot */
    uint64_t slot; /* the unit of the last one read; 0: it is not in the object, or not said */
    uint64_t next; /* what the next slot counts from */
};

struct heap_root_record {
    uint64_t address;
    uint32_t name;
    uint8_t kind, flags;
};

struct heap_site_record {
    uint64_t address;
    uint32_t site;
};

struct heap_name_record {
    uint32_t number, id;
    const char *name; /* of the chunk, not terminated */
    size_t size;
};

/* As SST_HEAP_FIELDS, SST_HEAP_STATICS have them; names as above. */
struct heap_field_record {
    uint32_t class_number, first, stride, slot;
    const char *name;
    size_t size;
};

struct heap_static_record {
    uint64_t place, object;
    uint32_t class_number;
    uint8_t flags;
    const char *name;
    size_t size;
};

/* As SST_HEAP_END has it. */
struct heap_counts {
    uint64_t objects, references, roots, pairs, sites, statics;
};

/*
 * heap_dump_open - Returns: 0; -EBADMSG: no dump, or cut within its head; -EPROTO: of a version
 * that this program cannot read; -EINVAL: no file; -ENOMEM; -errno. *d is for heap_dump_close even
 * then.
 */
int heap_dump_open(const char *path, struct heap_dump *d);
void heap_dump_close(struct heap_dump *d);

/*
 * heap_dump_next - the records of the next chunk that is of one of these kinds, until the next
 * call; others are passed over unread, but for the end record. Returns: 1; 0: that was all, and the
 * next is the first one again; -EBADMSG: damaged, cut, or changed meanwhile; -errno.
 */
#define HEAP_KIND(kind) (UINT32_C(1) << (kind))
#define HEAP_EVERY      UINT32_MAX
int heap_dump_next(struct heap_dump *d, uint32_t kinds, struct heap_records *out);

/* heap_damaged - in these records. Returns: -EBADMSG. */
int heap_damaged(struct heap_dump *d, const struct heap_records *records, const char *what);

/*
 * The next record of a chunk of that kind, and the next reference of an object. Return: 1; 0: no
 * more; -EBADMSG: damage. Objects and references are aligned, and not 0.
 */
int heap_next_object(struct heap_records *r, struct heap_object *object);
int heap_next_reference(struct heap_records *r, struct heap_object *object, uint64_t *address);
int heap_skip_references(struct heap_records *r, struct heap_object *object);
int heap_next_root(struct heap_records *r, struct heap_root_record *out);
int heap_next_pair(struct heap_records *r, uint64_t pair[2]);
int heap_next_site(struct heap_records *r, struct heap_site_record *out);
int heap_next_name(struct heap_records *r, struct heap_name_record *out);
int heap_next_field(struct heap_records *r, struct heap_field_record *out);
int heap_next_static(struct heap_records *r, struct heap_static_record *out);
int heap_next_counts(struct heap_records *r, struct heap_counts *out);

#endif
