/*
 * clr/file_map.h - a module's metadata in a mapping of our own, as its file has it.
 *
 * The runtime maps an image twice: as in the file, from which it reads metadata, and section by
 * section, which is what it tells of. Reading there takes the pages twice: 12 MB for the F#
 * compiler. Pages of a mapping of our own can be discarded between uses.
 */
#ifndef SHADOWTRACE_CLR_FILE_MAP_H
#define SHADOWTRACE_CLR_FILE_MAP_H

#include <stdint.h>

#define CLR_FILE_MAP_MIN 262144 /* bytes of metadata that are worth it */

/*
 * clr_file_map - `size` bytes at `metadata` in the loaded `image`, as the file at `path` has them.
 * Returns: the bytes, for good; NULL: the file cannot be read, or is not the one that was loaded.
 * Threads: any. May run: in callbacks; opens and reads the file.
 */
const uint8_t *clr_file_map(const char *path, const uint8_t *image, const uint8_t *metadata,
                            uint32_t size);

/* clr_file_map_discard - discards the pages of all; they come back when read. Threads: any. */
void clr_file_map_discard(void);

#endif
