#include "log/zstd.h"

#include "base/atomics.h"
#include "base/library.h"

#include <stdbool.h>

const struct log_zstd *log_zstd_load(void)
{
    static struct log_zstd calls;
    const struct library_symbol wanted[] = {
        {"ZSTD_createCCtx", &calls.create},     {"ZSTD_freeCCtx", &calls.free},
        {"ZSTD_CStreamOutSize", &calls.room},   {"ZSTD_compressStream2", &calls.compress},
        {"ZSTD_CCtx_setParameter", &calls.set}, {"ZSTD_isError", &calls.is_error},
    };

    return library_load("libzstd.so.1", wanted, COUNT_OF(wanted)) ? &calls : NULL;
}

/* RFC 8878, 3.1.1: a frame that says no window but its size, in four bytes; blocks as they are. */
#define FRAME_MAGIC    0xfd2fb528u
#define SINGLE_SEGMENT 0xa0
#define BLOCK_MAX      (128u << 10)

static void put_little(struct buffer *to, uint32_t value, size_t bytes)
{
    for (; bytes; bytes--, value >>= 8)
        buffer_char(to, (char)value);
}

void log_zstd_store(struct buffer *to, const char *text, size_t size)
{
    put_little(to, FRAME_MAGIC, 4);
    put_little(to, SINGLE_SEGMENT, 1);
    put_little(to, (uint32_t)size, 4);
    for (bool last = false; !last;) {
        size_t block = size < BLOCK_MAX ? size : BLOCK_MAX;

        last = block == size;
        put_little(to, (uint32_t)block << 3 | (uint32_t)last, 3); /* above that bit the type: 0 */
        buffer_append(to, text, block);
        text += block;
        size -= block;
    }
}
