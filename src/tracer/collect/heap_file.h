/*
 * collect/heap_file.h - writes a heap dump, as shadowtrace/heap_dump.h lays it out, while the
 * program stands still: from one buffer into the file, never back in it. Nobody sees a half one: it
 * has no name until it is whole, so that none stays behind when the process is killed. On file
 * systems without such files it is called FILE.part, and the next dump to FILE takes that over.
 */
#ifndef SHADOWTRACE_COLLECT_HEAP_FILE_H
#define SHADOWTRACE_COLLECT_HEAP_FILE_H

#include <shadowtrace/heap_dump.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_file;

/*
 * heap_file_new - a file in the folder of `path`, mode 0600.
 * Returns: 0; -EEXIST: there is one, and it stays; -EBUSY: it is being written; -errno.
 * Owns:    *out is the caller's, for heap_file_end() or heap_file_drop().
 */
int heap_file_new(const char *path, struct heap_file **out);

/*
 * The records. The head is first, and once; the others in any order, those of a kind best together.
 * After a failure (a full disk) nothing more is written; heap_file_end() tells. Addresses and sizes
 * in bytes. Do not allocate. Threads: one at a time.
 * heap_file_object - null references are left out; class 0, bytes 0: not known. words: the object's
 *                    memory, which is searched for each reference; NULL: no slots are written.
 * heap_file_field  - first, stride, slot: units, as SST_HEAP_FIELDS has them.
 * heap_file_text   - kind: SST_HEAP_CLASSES or SST_HEAP_NAMES; text: cut to 4,096 bytes.
 */
void heap_file_head(struct heap_file *f,
                    const struct sst_heap_head *head); /* magic and sum apart */
void heap_file_object(struct heap_file *f, uintptr_t object, uint32_t class, uint64_t bytes,
                      const uintptr_t *references, size_t count, const uintptr_t *words);
void heap_file_root(struct heap_file *f, uintptr_t object, uint32_t kind, uint32_t flags,
                    uint32_t name);
void heap_file_pair(struct heap_file *f, uintptr_t key, uintptr_t value);
void heap_file_site(struct heap_file *f, uintptr_t object, uint32_t site);
struct heap_file_field {
    uint32_t class, first, stride, slot;
};
void heap_file_field(struct heap_file *f, const struct heap_file_field *field, const char *name);
struct heap_file_static {
    uintptr_t place, object;
    uint32_t class, flags;
};
void heap_file_static(struct heap_file *f, const struct heap_file_static *field, const char *name);
void heap_file_text(struct heap_file *f, enum sst_heap_kind kind, uint32_t number, uint32_t id,
                    const char *text);

struct heap_file_counts {
    uint64_t objects, references, roots, pairs, sites, statics;
    uint64_t bytes; /* of the file */
};

/*
 * heap_file_end - the last record, and its name. Returns: 0, or the first
 * -errno; then there is no file. heap_file_drop - there is no file. Both free it.
 */
int heap_file_end(struct heap_file *f, struct heap_file_counts *out);
void heap_file_drop(struct heap_file *f);

#endif
