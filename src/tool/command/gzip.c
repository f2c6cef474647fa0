#include "command/gzip.h"

#include "base/zlib.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define GZIP_WINDOW 16 /* added to the window's bits: gzip's frame */
#define PIECE       (64 * 1024)

struct gzip {
    z_stream stream;
    gzip_sink *sink;
    void *context;
    int err;
    struct gzip_sums sums;
    uint8_t piece[PIECE];
};

int gzip_to_file(void *file, const void *data, size_t size)
{
    errno = 0;
    if (fwrite(data, 1, size, file) == size)
        return 0;
    return errno ? -errno : -EIO;
}

int gzip_new(enum gzip_frame frame, int level, gzip_sink *sink, void *context, struct gzip **out)
{
    struct gzip *g = memory_zalloc(1, sizeof(*g));
    int window = frame == GZIP_FRAME ? MAX_WBITS + GZIP_WINDOW : -MAX_WBITS;

    *out = NULL;
    if (!g)
        return -ENOMEM;
    g->stream.zalloc = zlib_alloc;
    g->stream.zfree = zlib_free;
    g->sink = sink;
    g->context = context;
    if (deflateInit2(&g->stream, level, Z_DEFLATED, window, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        memory_free(g);
        return -ENOMEM;
    }
    *out = g;
    return 0;
}

/* Packs what the stream has been given. */
static void work(struct gzip *g, int flush)
{
    int result = Z_OK;

    do {
        size_t size;

        g->stream.next_out = g->piece;
        g->stream.avail_out = PIECE;
        result = deflate(&g->stream, flush);
        size = PIECE - g->stream.avail_out;
        g->sums.given += size;
        if (size)
            g->err = g->sink(g->context, g->piece, size);
    } while (!g->err && (g->stream.avail_in || (flush == Z_FINISH && result != Z_STREAM_END)));
}

void gzip_write(struct gzip *g, const void *data, size_t size)
{
    const uint8_t *at = data;

    while (size && !g->err) {
        unsigned now = size < UINT_MAX ? (unsigned)size : UINT_MAX;

        g->sums.crc = (uint32_t)crc32(g->sums.crc, at, now);
        g->sums.taken += now;
        g->stream.next_in = at;
        g->stream.avail_in = now;
        work(g, Z_NO_FLUSH);
        at += now;
        size -= now;
    }
}

int gzip_finish(struct gzip *g)
{
    if (!g->err)
        work(g, Z_FINISH);
    return g->err;
}

void gzip_free(struct gzip *g)
{
    if (!g)
        return;
    deflateEnd(&g->stream);
    memory_free(g);
}

const struct gzip_sums *gzip_sums(const struct gzip *g)
{
    return &g->sums;
}
