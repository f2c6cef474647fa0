/*
 * clr/scope.h - a module's metadata, read by an importer of our own.
 *
 * ICorProfilerInfo::GetModuleMetaData makes the runtime turn its own metadata of that module into the form that can be
 * edited, for good: from then on it takes a lock and searches differently at each of its own look-ups, as in resolving
 * every precompiled method's fixups. A short program took half as long again. A second importer, opened read-only on
 * the bytes where they are mapped, leaves the runtime as it was.
 */
#ifndef SHADOWTRACE_CLR_SCOPE_H
#define SHADOWTRACE_CLR_SCOPE_H

#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

/*
 * clr_scope_open - IMetaDataImport2 of a module: an importer of our own where its bytes stay as they are, else the
 * runtime's (modules that are emitted, can be unloaded, or that hot reload may change). path: the module's file, if much
 * is going to be read: see metadata_file.h; or NULL.
 * Returns: S_OK, or what the runtime said; *out is then NULL.
 * Owns:    *out carries a reference that the caller releases. It is safe to use from several threads.
 * Threads: any. May run: in callbacks, as GetModuleMetaData; not in a hook.
 */
hresult clr_scope_open(struct clr_info *info, uintptr_t module_id, const char *path,
                       struct clr_metadata **out);

/*
 * clr_scope_find - the metadata in the mapped image of a module; `flat`: as in the file, not by section.
 * Returns: its first byte and *size; NULL when there is no such image. The bytes were checked by the runtime.
 */
const uint8_t *clr_scope_find(const uint8_t *image, bool flat, uint32_t *size);

/* clr_scope_native - the same for the header of the code that was compiled ahead of time; NULL: there is none. */
const uint8_t *clr_scope_native(const uint8_t *image, bool flat, uint32_t *size);

/* clr_scope_place - where an address relative to the image lies; NULL: in no section. */
const uint8_t *clr_scope_place(const uint8_t *image, bool flat, uint32_t address);

/* clr_scope_raw - where the file has what lies at `address` in the loaded image with these headers; 0: nowhere. */
uint64_t clr_scope_raw(const uint8_t *headers, uint32_t address);

#endif
