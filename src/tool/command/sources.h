/*
 * command/sources.h - where the text of a source file is: in its PDB, where the compiler had it, or
 * below folders that the user names, where as much of its path is as there is.
 */
#ifndef SHADOWTRACE_BROWSE_SOURCES_H
#define SHADOWTRACE_BROWSE_SOURCES_H

#include "report/source_lines.h"

#include <limits.h>

/* Folders to look in; none: the one that the command was started in. */
struct sources {
    struct source_lines *lines;
    const char *const *dirs;
    size_t count;
};

/*
 * sources_path - of a file of `lines`, as it is on disk here. Below folders only what has the hash
 * of the file that was compiled.
 * Returns: 0; -ENOENT; -ESTALE: there is one, and it is another one; -ENOTSUP: the PDB has no
 *          usable hash.
 */
int sources_path(const struct sources *s, const char *file, char path[PATH_MAX]);

/* sources_text - as source_lines_text, from wherever it is. Owns: memory_free(*text). */
int sources_text(const struct sources *s, const char *file, char **text, size_t *size);

#endif
