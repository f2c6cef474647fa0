/*
 * log/zstd.h - the compressor, loaded when there is something to pack: a process that is recorded
 * without, or ends first, does not pay.
 */
#ifndef SHADOWTRACE_LOG_ZSTD_H
#define SHADOWTRACE_LOG_ZSTD_H

#include "base/buffer.h"

#include <zstd.h>

struct log_zstd {
    __typeof__(ZSTD_createCCtx) *create;
    __typeof__(ZSTD_freeCCtx) *free;
    __typeof__(ZSTD_CStreamOutSize) *room;
    __typeof__(ZSTD_compressStream2) *compress;
    __typeof__(ZSTD_CCtx_setParameter) *set;
    __typeof__(ZSTD_isError) *is_error;
};

/* NULL: the library cannot be loaded. It stays loaded. Threads: one. */
const struct log_zstd *log_zstd_load(void);

/*
 * log_zstd_store - appends `text` as a separate frame that is not compressed (RFC 8878). The short
 * start of a log needs no compressor's tables, which take as long as a small program's start.
 */
void log_zstd_store(struct buffer *to, const char *text, size_t size);

#endif
