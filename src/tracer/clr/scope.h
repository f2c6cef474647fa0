/*
 * clr/scope.h - a module's metadata, read by a separate importer.
 *
 * ICorProfilerInfo::GetModuleMetaData makes the runtime convert its metadata of that module into
 * the editable form, permanently: each of the runtime's look-ups (for the fixups of every
 * precompiled method, say) then takes a lock and is slower. A short program took 1.5 times as long.
 * A second importer, opened read-only on the mapped bytes, does not change the runtime.
 */
#ifndef SHADOWTRACE_CLR_SCOPE_H
#define SHADOWTRACE_CLR_SCOPE_H

#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

/*
 * clr_scope_open - IMetaDataImport2 of a module: an importer of our own if its bytes stay as they
 * are, else the runtime's (modules that are emitted, can be unloaded, or that hot reload may
 * change). path: the module's file, if much will be read (see file_map.h); or NULL.
 * Returns: S_OK, or what the runtime said; *out is then NULL.
 * Owns:    *out carries a reference that the caller releases. It is safe to use from several
 *          threads.
 * Threads: any. May run: in callbacks, as GetModuleMetaData; not in a hook.
 */
hresult clr_scope_open(struct clr_info *info, uintptr_t module_id, const char *path,
                       struct clr_metadata **out);

/* clr_scope_close - what it keeps for the process goes; no importer is opened after it. */
void clr_scope_close(void);

/* A module's image as it is mapped, flat or by section; NULL: it has none, may go, or change. */
const uint8_t *clr_scope_image(struct clr_info *info, uintptr_t module_id, bool *flat);

#endif
