#include "log/zstd.h"

#include "base/atomics.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libzstd.so.1"

const struct log_zstd *log_zstd_load(void)
{
    static struct log_zstd calls;
    const struct {
        const char *name;
        void *to;
    } wanted[] = {
        {"ZSTD_createCCtx", &calls.create},   {"ZSTD_freeCCtx", &calls.free},
        {"ZSTD_CStreamOutSize", &calls.room}, {"ZSTD_compressStream2", &calls.compress},
        {"ZSTD_isError", &calls.is_error},
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < COUNT_OF(wanted); i++) {
        void *found = dlsym(library, wanted[i].name);

        if (!found)
            return NULL;
        memcpy(wanted[i].to, &found, sizeof(found)); /* a function's address, in C's words */
    }
    return library ? &calls : NULL;
}
