/*
 * clr/importer.h - what names and signatures are made of, read without the runtime's importer.
 *
 * The runtime's importer takes a lock for each question, and converts names through buffers. When a
 * compiler is recorded, a sixth of the resolver's time went there.
 */
#ifndef SHADOWTRACE_CLR_IMPORTER_H
#define SHADOWTRACE_CLR_IMPORTER_H

#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

/*
 * clr_importer_new - an IMetaDataImport2 of a module whose `size` bytes of metadata stay as they
 * are, with the answers of `runtimes`. It has one reference, and the functions that this project
 * calls; the others return E_NOTIMPL. What is not plain it lets the runtime's answer: a name that
 * is not ASCII or too long for its room, a token that is not there, bytes that are damaged.
 * Returns: the importer, or `runtimes` itself if the tables are not in the compact form, or there
 *          is no memory.
 * Owns:    it takes over the reference to `runtimes`; its own is released by the caller.
 * Threads: any, at once.
 */
struct clr_metadata *clr_importer_new(struct clr_metadata *runtimes, const uint8_t *metadata,
                                      uint32_t size);

/*
 * clr_importer_name - the name of a type, a member or a generic parameter, as it lies in the
 * metadata: ASCII, without NUL. A type's has its namespace in part[0], which may be empty; others
 * have all in part[1]. *more: flags of a TypeDef, scope of a TypeRef, owner of a member,
 * number of a parameter.
 * Returns: false: it is not plain, or this is another importer: then ask the functions.
 */
struct clr_name {
    struct {
        const char *text;
        uint32_t size;
    } part[2];
};
bool clr_importer_name(struct clr_metadata *self, uint32_t token, struct clr_name *out,
                       uint32_t *more);

#endif
