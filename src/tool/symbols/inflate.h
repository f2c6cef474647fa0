/* symbols/inflate.h - unpacking deflate data whose size somebody else claims. */
#ifndef SHADOWTRACE_SYMBOLS_INFLATE_H
#define SHADOWTRACE_SYMBOLS_INFLATE_H

#include "symbols/bytes.h"

/*
 * symbols_inflate - unpack raw deflate data that must give exactly size bytes.
 * Returns: 0 and *out, a NUL behind its size bytes; -EBADMSG: damaged, or another size than
 *          claimed; -ENODATA: the data end too soon; -ENOMEM.
 * Owns:    *out is the caller's, to be freed with memory_free. What is allocated stays in
 *          proportion to the data, whatever the claim.
 */
int symbols_inflate(struct symbols_span packed, size_t size, uint8_t **out);

#endif
