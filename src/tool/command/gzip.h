/*
 * command/gzip.h - what is written packed, piece by piece: deflate data, with gzip's frame around
 * it or bare, as a .zip has it. The same input gives the same bytes: no time is in them.
 */
#ifndef SHADOWTRACE_COMMAND_GZIP_H
#define SHADOWTRACE_COMMAND_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* Takes what was packed. Returns: 0 or -errno; after an error it is not called again. */
typedef int gzip_sink(void *context, const void *data, size_t size);

int gzip_to_file(void *file, const void *data, size_t size); /* a sink; context: the FILE */

enum gzip_frame { GZIP_FRAME, GZIP_BARE };
#define GZIP_SMALLEST 9 /* levels: takes its time */
#define GZIP_USUAL    6

struct gzip;

/* gzip_new - Returns: 0 or -ENOMEM. Owns: context is borrowed until gzip_free. */
int gzip_new(enum gzip_frame frame, int level, gzip_sink *sink, void *context, struct gzip **out);
void gzip_write(struct gzip *g, const void *data, size_t size); /* a failure is kept */
int gzip_finish(struct gzip *g); /* Returns: 0 or the first failure. Nothing is written after it. */
void gzip_free(struct gzip *g);  /* NULL is fine */

/* So far: bytes that went in and came out, and the CRC-32 of the first, which a .zip wants. */
struct gzip_sums {
    uint64_t taken, given;
    uint32_t crc;
};
const struct gzip_sums *gzip_sums(const struct gzip *g);

#endif
