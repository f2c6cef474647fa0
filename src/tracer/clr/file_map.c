#include "clr/file_map.h"

#include "clr/pe.h"

#include "base/atomics.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS 1024u /* bytes: with all sections of an image, its time stamp and its sizes */
#define ROOT    64u   /* bytes of the metadata itself */

struct file {
    struct file *next;
    const void *pages;
    size_t size;
};

static _Atomic(struct file *) files; /* only grows */

/* Where the file has it, in bytes; 0: it is not the file of this image. */
static uint64_t offset_of(int fd, const uint8_t *image, const uint8_t *metadata, uint32_t size)
{
    uint8_t headers[HEADERS], root[ROOT];
    struct stat file;
    uint64_t offset;

    if (!file_read_whole(fd, headers, HEADERS, 0) || memcmp(headers, image, HEADERS) != 0)
        return 0;
    offset = clr_pe_raw(headers, (uint32_t)(metadata - image));
    if (!offset || fstat(fd, &file) || (uint64_t)file.st_size < offset + size ||
        !file_read_whole(fd, root, ROOT, offset) || memcmp(root, metadata, ROOT) != 0)
        return 0;
    return offset;
}

static const uint8_t *map(int fd, uint64_t offset, uint32_t size)
{
    size_t before = offset % (size_t)sysconf(_SC_PAGESIZE);
    struct file *file = memory_alloc(sizeof(*file));

    if (!file)
        return NULL;
    file->size = before + size;
    file->pages = memory_file_map(fd, offset - before, file->size);
    if (!file->pages) {
        memory_free(file);
        return NULL;
    }
    list_push(&files, file, next); /* pairs with clr_file_map_discard */
    return (const uint8_t *)file->pages + before;
}

const uint8_t *clr_file_map(const char *path, const uint8_t *image, const uint8_t *metadata,
                            uint32_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const uint8_t *mapped = NULL;
    uint64_t offset;

    if (fd < 0)
        return NULL;
    offset = offset_of(fd, image, metadata, size);
    if (offset)
        mapped = map(fd, offset, size);
    close(fd);
    return mapped;
}

void clr_file_map_discard(void)
{
    for (struct file *file = load_acquire(&files); file; file = file->next)
        memory_file_discard(file->pages, file->size);
}
