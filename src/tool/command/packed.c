#include "command/packed.h"

#include "base/memory.h"
#include "command/gzip.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#define ZSTD_LEVEL 3

struct packed {
    FILE *to, *file; /* file: to, or one that packs */
    struct gzip *gzip;
    ZSTD_CStream *zstd;
    char *room; /* of ZSTD_CStreamOutSize() bytes */
    int err;    /* the first failure */
};

/* As much as there is goes out, and all of it with ZSTD_e_end. */
static void pack_zstd(struct packed *p, const void *data, size_t size, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {data, size, 0};
    size_t left = 1;

    while (!p->err && (in.pos < in.size || (how == ZSTD_e_end && left))) {
        ZSTD_outBuffer out = {p->room, ZSTD_CStreamOutSize(), 0};

        left = ZSTD_compressStream2(p->zstd, &out, &in, how);
        p->err = ZSTD_isError(left) ? -ENOMEM : gzip_to_file(p->to, p->room, out.pos);
    }
}

static ssize_t take(void *context, const char *data, size_t size)
{
    struct packed *p = context;

    if (p->zstd)
        pack_zstd(p, data, size, ZSTD_e_continue);
    else
        gzip_write(p->gzip, data, size);
    return p->err ? 0 : (ssize_t)size;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), length = strlen(ending);

    return size > length && strcmp(name + size - length, ending) == 0;
}

static int begin(struct packed *p, const char *name)
{
    if (ends_with(name, ".zst")) {
        p->zstd = ZSTD_createCStream();
        p->room = memory_alloc(ZSTD_CStreamOutSize());
        if (!p->zstd || !p->room)
            return -ENOMEM;
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    } else if (ends_with(name, ".gz")) {
        return gzip_new(GZIP_FRAME, GZIP_USUAL, gzip_to_file, p->to, &p->gzip);
    }
    return 0;
}

int packed_open(const char *name, FILE *to, struct packed **out)
{
    struct packed *p = memory_zalloc(1, sizeof(*p));
    int err = -ENOMEM;

    if (p) {
        p->to = p->file = to;
        err = begin(p, name);
    }
    if (!err && (p->zstd || p->gzip)) {
        p->file = fopencookie(p, "w", (cookie_io_functions_t){.write = take});
        err = p->file ? 0 : -ENOMEM;
    }
    if (err && p) {
        p->file = to;
        (void)packed_close(p);
        p = NULL;
    }
    *out = p;
    return err;
}

FILE *packed_file(const struct packed *p)
{
    return p->file;
}

int packed_close(struct packed *p)
{
    int err = 0;

    if (!p)
        return 0;
    if (p->file != p->to) {
        if (fclose(p->file) && !p->err)
            p->err = -EIO;
        if (p->zstd)
            pack_zstd(p, NULL, 0, ZSTD_e_end);
        else if (!p->err)
            p->err = gzip_finish(p->gzip);
    }
    err = p->err;
    gzip_free(p->gzip);
    ZSTD_freeCStream(p->zstd);
    memory_free_all(p->room, p);
    return err;
}
