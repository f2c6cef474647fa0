#include "symbols/bundle.h"

#include "base/bundle.h"
#include "base/file.h"
#include "base/memory.h"
#include "symbols/bytes.h"
#include "symbols/error.h"
#include "symbols/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t mark[BUNDLE_MARK_SIZE] = BUNDLE_MARK;

#define BEFORE       BUNDLE_BEFORE_MARK
#define HOST_MAX     (1 << 28) /* bytes of a host in which the mark is looked for */
#define PIECE        (1 << 20)
#define MANIFEST_MAX (8 << 20) /* bytes of a header with its entries that are read */

struct bundle {
    int fd;
    uint64_t size;
};

struct entry {
    uint64_t offset, size, packed; /* packed 0: it is as it is */
};

/* Where the header is; 0: this is no bundle. */
static uint64_t find_header(const struct bundle *b)
{
    const size_t overlap = BEFORE + sizeof(mark);
    uint8_t *piece = memory_alloc(PIECE + overlap), *found = NULL;
    struct cursor c = {.left = 0};
    uint64_t header;

    for (uint64_t at = 0; piece && !found && at < b->size && at < HOST_MAX; at += PIECE) {
        size_t size = b->size - at < PIECE + overlap ? (size_t)(b->size - at) : PIECE + overlap;

        if (!file_read_whole(b->fd, piece, size, at))
            break;
        found = size > overlap ? memmem(piece + BEFORE, size - BEFORE, mark, sizeof(mark)) : NULL;
    }
    if (found)
        c = symbols_read((struct symbols_span){found - BEFORE, BEFORE});
    header = cursor_little(&c, 8);
    memory_free(piece);
    return header < b->size ? header : 0;
}

/* A text with its length before it, seven bits a byte, the lowest first. */
static struct symbols_span next_text(struct cursor *c)
{
    uint32_t size = 0, byte = 0x80;
    const uint8_t *at;

    for (unsigned shift = 0; byte & 0x80 && shift < 21; shift += 7) {
        byte = symbols_read_u8(c);
        size |= (byte & 0x7f) << shift;
    }
    at = cursor_bytes(c, size);
    return (struct symbols_span){at, at ? size : 0};
}

/* Returns: 0; -ENOENT: none of that name; -EBADMSG: damaged, or of a newer version. */
static int find_entry(struct symbols_span manifest, const char *name, struct entry *out)
{
    struct cursor c = symbols_read(manifest);
    uint32_t major = (uint32_t)cursor_little(&c, 4), count;

    cursor_bytes(&c, 4); /* minor */
    count = (uint32_t)cursor_little(&c, 4);
    next_text(&c);
    if (c.failed || !major || major > BUNDLE_NEWEST)
        return -EBADMSG;
    if (major >= 2)
        cursor_bytes(&c, 5 * 8); /* where two of the files are, and flags */
    while (count-- && !c.failed) {
        struct entry entry = {cursor_little(&c, 8), cursor_little(&c, 8),
                              major >= 6 ? cursor_little(&c, 8) : 0};
        struct symbols_span path;

        symbols_read_u8(&c); /* type */
        path = next_text(&c);
        if (!c.failed && path.size == strlen(name) && memcmp(path.data, name, path.size) == 0) {
            *out = entry;
            return 0;
        }
    }
    return c.failed ? -EBADMSG : -ENOENT;
}

static int unpack(const struct bundle *b, const struct entry *entry, uint8_t **data,
                  struct symbols_error *error)
{
    uint64_t size = entry->packed ? entry->packed : entry->size;
    uint8_t *bytes;
    int err = 0;

    if (entry->offset > b->size || size > b->size - entry->offset)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "a bundled file extends beyond its end");
    if (entry->size > SYMBOLS_MAX_FILE)
        return symbols_fail(error, SYMBOLS_TOO_LARGE, "a bundled file is larger than 1 GiB");
    bytes = memory_alloc((size_t)size + 1);
    if (!bytes)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory for a bundled file");
    if (!file_read_whole(b->fd, bytes, (size_t)size, entry->offset))
        err = symbols_fail(error, SYMBOLS_UNREADABLE, "a bundled file cannot be read");
    if (err || !entry->packed) {
        *data = bytes;
        if (err)
            memory_free(bytes);
        return err;
    }
    err = symbols_inflate((struct symbols_span){bytes, (size_t)size}, (size_t)entry->size, data);
    memory_free(bytes);
    if (err == -ENOMEM)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory for a bundled file");
    return err ? symbols_fail(error, SYMBOLS_DAMAGED, "a bundled file cannot be unpacked") : 0;
}

static int read_from(const struct bundle *b, const char *name, uint8_t **data, size_t *size,
                     struct symbols_error *error)
{
    uint64_t header = find_header(b);
    size_t wanted = b->size - header < MANIFEST_MAX ? (size_t)(b->size - header) : MANIFEST_MAX;
    struct entry entry;
    uint8_t *manifest;
    int err;

    if (!header)
        return -ENOENT;
    manifest = memory_alloc(wanted);
    if (!manifest)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory for a bundle's manifest");
    err = file_read_whole(b->fd, manifest, wanted, header)
              ? find_entry((struct symbols_span){manifest, wanted}, name, &entry)
              : -EBADMSG;
    memory_free(manifest);
    if (err == -EBADMSG)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its bundle's manifest cannot be read");
    if (err)
        return err;
    *size = (size_t)entry.size;
    return unpack(b, &entry, data, error);
}

int symbols_bundle_read(const char *path, const char *name, uint8_t **data, size_t *size,
                        struct symbols_error *error)
{
    struct bundle b = {.fd = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER)};
    struct stat st;
    int err = -ENOENT;

    if (b.fd < 0)
        return -ENOENT;
    if (fstat(b.fd, &st) == 0 && st.st_size > 0) {
        b.size = (uint64_t)st.st_size;
        err = read_from(&b, name, data, size, error);
    }
    close(b.fd);
    return err;
}
