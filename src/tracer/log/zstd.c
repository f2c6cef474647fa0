#include "log/zstd.h"

#include "base/atomics.h"
#include "base/library.h"

const struct log_zstd *log_zstd_load(void)
{
    static struct log_zstd calls;
    const struct library_symbol wanted[] = {
        {"ZSTD_createCCtx", &calls.create},   {"ZSTD_freeCCtx", &calls.free},
        {"ZSTD_CStreamOutSize", &calls.room}, {"ZSTD_compressStream2", &calls.compress},
        {"ZSTD_isError", &calls.is_error},
    };

    return library_load("libzstd.so.1", wanted, COUNT_OF(wanted)) ? &calls : NULL;
}
