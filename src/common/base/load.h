/* base/load.h - numbers at any address, in the order of bytes of this processor. */
#ifndef SHADOWTRACE_BASE_LOAD_H
#define SHADOWTRACE_BASE_LOAD_H

#include <stdint.h>
#include <string.h>

#define LOAD_DEFINE(name, type) \
    static inline type name(const void *at) \
    { \
        type value; \
\
        memcpy(&value, at, sizeof(value)); \
        return value; \
    }

LOAD_DEFINE(load_u16, uint16_t)
LOAD_DEFINE(load_u32, uint32_t)
LOAD_DEFINE(load_u64, uint64_t)

#endif
