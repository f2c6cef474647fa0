/*
 * export/zip.h - a .zip with one entry, written as it comes: sizes stand behind the data (PKWARE's
 * APPNOTE 4.4.4, bit 3), so nothing has to be sought. At most 4 GiB, packed and unpacked.
 */
#ifndef SHADOWTRACE_EXPORT_ZIP_H
#define SHADOWTRACE_EXPORT_ZIP_H

#include <stddef.h>
#include <stdio.h>

struct zip;

/* zip_new - `name` is the entry's. Returns: 0 or -ENOMEM. Owns: name and out are borrowed. */
int zip_new(FILE *out, const char *name, struct zip **zip);
void zip_write(struct zip *zip, const void *data, size_t size); /* a failure is kept */

/* zip_finish - Returns: 0; -EOVERFLOW: it is too large; -errno of writing. */
int zip_finish(struct zip *zip);
void zip_free(struct zip *zip); /* NULL is fine */

#endif
