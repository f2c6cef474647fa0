#include "export/zip.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "command/gzip.h"

#include <errno.h>
#include <string.h>

#define LOCAL_HEADER   0x04034b50u
#define DESCRIPTOR     0x08074b50u
#define CENTRAL_HEADER 0x02014b50u
#define CENTRAL_END    0x06054b50u
#define NEEDS          20     /* version 2.0: deflate */
#define SIZES_BEHIND   0x0008 /* flags: the sizes stand in a descriptor behind the data */
#define UTF8           0x0800 /* the name is UTF-8 */
#define DEFLATED       8
#define NO_DATE        0x0021 /* 1980-01-01, the first there is */

struct zip {
    FILE *out;
    struct gzip *gzip;
    const char *name;
};

static void put16(struct buffer *b, unsigned value)
{
    buffer_append(b, (const char[]){(char)value, (char)(value >> 8)}, 2);
}

static void put32(struct buffer *b, uint32_t value)
{
    put16(b, value & 0xffff);
    put16(b, value >> 16);
}

static int give(struct zip *zip, struct buffer *b)
{
    int err = b->failed ? -ENOMEM : gzip_to_file(zip->out, b->data, b->size);

    buffer_free(b);
    return err;
}

/* What the local and the central header have in common; sizes and sum are 0 in the first. */
static void put_entry(const struct zip *zip, struct buffer *b, uint32_t crc, uint32_t packed,
                      uint32_t size)
{
    put16(b, NEEDS);
    put16(b, SIZES_BEHIND | UTF8);
    put16(b, DEFLATED);
    put16(b, 0); /* time */
    put16(b, NO_DATE);
    put32(b, crc);
    put32(b, packed);
    put32(b, size);
    put16(b, (unsigned)strlen(zip->name));
    put16(b, 0); /* no more fields */
}

int zip_new(FILE *out, const char *name, struct zip **zip)
{
    struct buffer b = BUFFER_INIT;
    struct zip *z = memory_zalloc(1, sizeof(*z));
    int err;

    *zip = NULL;
    if (!z)
        return -ENOMEM;
    z->out = out;
    z->name = name;
    err = gzip_new(GZIP_BARE, GZIP_USUAL, gzip_to_file, out, &z->gzip);
    if (!err) {
        put32(&b, LOCAL_HEADER);
        put_entry(z, &b, 0, 0, 0);
        buffer_text(&b, name);
        err = give(z, &b);
    }
    if (err)
        zip_free(z);
    else
        *zip = z;
    return err;
}

void zip_write(struct zip *zip, const void *data, size_t size)
{
    gzip_write(zip->gzip, data, size);
}

int zip_finish(struct zip *zip)
{
    struct buffer b = BUFFER_INIT;
    size_t header = 30 + strlen(zip->name);
    const struct gzip_sums *sums;
    uint32_t crc, packed, size, central;
    int err = gzip_finish(zip->gzip);

    if (err)
        return err;
    sums = gzip_sums(zip->gzip);
    if (sums->taken > UINT32_MAX || sums->given + header + 16 > UINT32_MAX)
        return -EOVERFLOW;
    crc = sums->crc;
    packed = (uint32_t)sums->given;
    size = (uint32_t)sums->taken;
    put32(&b, DESCRIPTOR);
    put32(&b, crc);
    put32(&b, packed);
    put32(&b, size);
    central = (uint32_t)b.size;
    put32(&b, CENTRAL_HEADER);
    put16(&b, NEEDS); /* made by */
    put_entry(zip, &b, crc, packed, size);
    put16(&b, 0); /* no comment */
    put16(&b, 0); /* disk */
    put16(&b, 0);
    put32(&b, 0); /* attributes */
    put32(&b, 0); /* where the local header begins */
    buffer_text(&b, zip->name);
    size = (uint32_t)b.size - central;
    put32(&b, CENTRAL_END);
    put32(&b, 0); /* disks */
    put16(&b, 1); /* entries here, and of all */
    put16(&b, 1);
    put32(&b, size);
    put32(&b, (uint32_t)(header + packed + central));
    put16(&b, 0); /* no comment */
    return give(zip, &b);
}

void zip_free(struct zip *zip)
{
    if (!zip)
        return;
    gzip_free(zip->gzip);
    memory_free(zip);
}
