/* symbols/version.h - the version of an assembly, from its attributes. */
#ifndef SHADOWTRACE_SYMBOLS_VERSION_H
#define SHADOWTRACE_SYMBOLS_VERSION_H

#include "symbols/symbols.h"

/* "" where it does not say; one printable line each, cut to fit. */
struct symbols_version {
    char file[64];           /* AssemblyFileVersion: 1.2.3.0 */
    char informational[256]; /* AssemblyInformationalVersion, whole: 1.2.3-rc.1+8d2c7f1... */
    char version[256];       /* of it the part before the + */
    char commit[65];         /* and the commit after it, if that can be one */
};

/*
 * symbols_version_read - of the assembly at `path`; `bundle` not NULL: of the file `path` in that
 * program, which was published as a single file.
 * mvid:    SYMBOLS_MVID_SIZE bytes that it must have, or NULL: it may be any build.
 * Returns: 0; else as symbols_open, and *out says nothing.
 */
int symbols_version_read(const char *path, const char *bundle, const uint8_t *mvid,
                         struct symbols_version *out);

/* symbols_version_split - fills version and commit from informational. */
void symbols_version_split(struct symbols_version *version);

#endif
