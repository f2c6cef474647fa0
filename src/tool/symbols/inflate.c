#include "symbols/inflate.h"

#include "base/zlib.h"

#include <errno.h>
#include <limits.h>

/* Deflate's best is 1032 to 1 (zlib's technical notes): a larger claim is false. */
#define RATIO_MAX 1032

static int inflate_all(z_stream *stream)
{
    int result = inflate(stream, Z_FINISH);

    if (result == Z_STREAM_END)
        return stream->avail_out ? -EBADMSG : 0;
    if (result == Z_MEM_ERROR)
        return -ENOMEM;
    return result == Z_BUF_ERROR && stream->avail_out ? -ENODATA : -EBADMSG;
}

int symbols_inflate(struct symbols_span packed, size_t size, uint8_t **out)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    uint8_t *data;
    int err;

    if (packed.size > UINT_MAX || size > UINT_MAX - 1 || size / RATIO_MAX > packed.size)
        return -EBADMSG;
    data = memory_alloc(size + 1);
    if (!data)
        return -ENOMEM;
    stream.next_in = packed.data;
    stream.avail_in = (uInt)packed.size;
    stream.next_out = data;
    stream.avail_out = (uInt)size;
    err = inflateInit2(&stream, -MAX_WBITS) == Z_OK ? 0 : -ENOMEM;
    if (!err) {
        err = inflate_all(&stream);
        inflateEnd(&stream);
    }
    if (err) {
        memory_free(data);
        return err;
    }
    data[size] = '\0';
    *out = data;
    return 0;
}
