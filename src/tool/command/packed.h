/*
 * command/packed.h - a file that is written through gzip or zstd, told by how its name ends: .gz,
 * .zst; any other is written as it is. The same input gives the same bytes.
 */
#ifndef SHADOWTRACE_COMMAND_PACKED_H
#define SHADOWTRACE_COMMAND_PACKED_H

#include <stdio.h>

struct packed;

/*
 * packed_open - Returns: 0 or -ENOMEM. Owns: *out is the caller's until packed_close; `to` is
 * borrowed until then, and stays open.
 */
int packed_open(const char *name, FILE *to, struct packed **out);

FILE *packed_file(const struct packed *p); /* what is to be written to */

/* packed_close - writes what is left. Returns: 0; -ENOMEM; -errno of writing. NULL: 0. */
int packed_close(struct packed *p);

#endif
