/* symbols/file.h - a file's bytes, read: one that shrinks under a mapping is SIGBUS. */
#ifndef SHADOWTRACE_SYMBOLS_FILE_H
#define SHADOWTRACE_SYMBOLS_FILE_H

#include "symbols/symbols.h"

#define SYMBOLS_FILE_HEAD 64 /* bytes that are enough to say what a file is instead */

/*
 * symbols_file_read - the whole of a regular file that begins with magic, else just its first
 * SYMBOLS_FILE_HEAD bytes.
 * Returns: 0; -ENOENT: nothing there, error untouched; else -errno, error filled without the path.
 * Owns:    *data is the caller's, to be freed with memory_free.
 */
int symbols_file_read(const char *path, const char *magic, uint8_t **data, size_t *size,
                      struct symbols_error *error);

#endif
