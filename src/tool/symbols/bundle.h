/* symbols/bundle.h - the files inside a program that was published as a single file. */
#ifndef SHADOWTRACE_SYMBOLS_BUNDLE_H
#define SHADOWTRACE_SYMBOLS_BUNDLE_H

#include "symbols/symbols.h"

/*
 * symbols_bundle_read - the file `name` in the bundle at `path`, unpacked if it is packed.
 * Returns: 0; -ENOENT: no such file, no bundle, or no such file in it, error untouched; else
 *          -errno, error filled without the path.
 * Owns:    *data is the caller's, to be freed with memory_free.
 * Source:  dotnet/runtime src/native/corehost/bundle (manifest.h, header.h, file_entry.h), versions
 *          1 to 6.
 */
int symbols_bundle_read(const char *path, const char *name, uint8_t **data, size_t *size,
                        struct symbols_error *error);

#endif
