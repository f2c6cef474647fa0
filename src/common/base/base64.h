/* base/base64.h - RFC 4648, section 4: 3 bytes are 4 letters, '=' fills the last ones. */
#ifndef SHADOWTRACE_BASE_BASE64_H
#define SHADOWTRACE_BASE_BASE64_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* base64_group - the letters of 1 to 3 bytes. */
void base64_group(const uint8_t *bytes, size_t count, char letters[4]);

/* base64_put - appends those of any number. */
void base64_put(struct buffer *b, const uint8_t *bytes, size_t size);

/*
 * base64_read - the bytes that `size` letters stand for, in out, which has room for size / 4 * 3.
 * Returns: false: invalid Base64.
 */
bool base64_read(const char *letters, size_t size, uint8_t *out, size_t *out_size);

#endif
