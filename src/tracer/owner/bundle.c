/* The deps.json in the bundle of a single file. */
#include "owner/deps.h"

#include "base/bundle.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FIXED  12  /* bytes of a header before its id: two of the version, a count */
#define ID_MAX 300 /* bytes of the id, with its length */

static uint64_t little(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* Behind the header's id: where the deps.json is, and its size. */
static bool find(const uint8_t *header, size_t size, uint64_t *offset, uint64_t *length)
{
    size_t at = FIXED, id = 0;
    unsigned shift = 0;

    if (size < FIXED || little(header, 4) < 2 || little(header, 4) > BUNDLE_NEWEST)
        return false;
    do { /* seven bits a byte, the lowest first */
        if (at == size || shift > 7)
            return false;
        id |= (size_t)(header[at] & 0x7f) << shift;
        shift += 7;
    } while (header[at++] & 0x80);
    if (id > size - at || size - at - id < 16)
        return false;
    *offset = little(header + at + id, 8);
    *length = little(header + at + id + 8, 8);
    return *offset && *length && *length <= DEPS_MAX;
}

static int read_text(int fd, uint64_t header, char **text, size_t *size)
{
    uint8_t bytes[FIXED + ID_MAX + 16];
    ssize_t got = file_read_at(fd, bytes, sizeof(bytes), header);
    uint64_t offset, length;

    if (got < 0 || !find(bytes, (size_t)got, &offset, &length))
        return -ENOENT;
    *text = memory_alloc((size_t)length);
    if (!*text)
        return -ENOMEM;
    *size = (size_t)length;
    if (file_read_whole(fd, *text, *size, offset))
        return 0;
    memory_free(*text);
    return -ENOENT;
}

int deps_bundled(const char *executable, uint64_t header, char **text, size_t *size)
{
    int fd = file_open(executable), err;

    if (fd < 0)
        return -ENOENT;
    err = read_text(fd, header, text, size);
    close(fd);
    return err;
}
