/* owner/deps.h - what a deps.json says of the assemblies that it names. */
#ifndef SHADOWTRACE_OWNER_DEPS_H
#define SHADOWTRACE_OWNER_DEPS_H

#include <shadowtrace/log_reader.h>

#include <stddef.h>
#include <stdint.h>

#define DEPS_MAX ((size_t)4 << 20) /* bytes that are read; the largest known ones have a tenth */

struct deps {
    struct deps_entry {
        char *name; /* of the file, without folder and extension */
        uint8_t owner;
    } * entries; /* sorted */
    size_t count, capacity;
};

/*
 * deps_parse - from the text of a deps.json, of the target it was made for.
 * Returns: 0; -EINVAL: none; -ENOMEM. *out is empty unless it is 0. Owns: deps_free(*out).
 * Source: dotnet/runtime docs/design/features/host-components.md, src/native/corehost/hostpolicy/
 *         deps_format.cpp.
 */
int deps_parse(const char *text, size_t size, struct deps *out);
int deps_add(struct deps *d, const char *file, enum sst_owner owner); /* 0 or -ENOMEM */
void deps_sort(struct deps *d);                                       /* after the last is added */
void deps_free(struct deps *d);

/* Of an assembly by its simple name, in any case; SST_OWNER_UNKNOWN: it is not there. */
enum sst_owner deps_find(const struct deps *d, const char *name);

/*
 * deps_bundled - the text of the deps.json in a single file. header: where its bundle's is.
 * Returns: 0; -ENOENT: it has none, or cannot be read; -ENOMEM. Owns: memory_free(*text).
 * Source: dotnet/runtime src/native/corehost/bundle/header.h, versions 2 to 6. It is never packed.
 */
int deps_bundled(const char *executable, uint64_t header, char **text, size_t *size);

#endif
