/*
 * browse/editor.h - how to open a file at a line in an editor. The editor is executed directly,
 * without a shell; a file name is never taken for an option.
 */
#ifndef SHADOWTRACE_BROWSE_EDITOR_H
#define SHADOWTRACE_BROWSE_EDITOR_H

#include "browse/words.h"

#include <limits.h>
#include <stdint.h>

struct editor {
    struct words command; /* of $VISUAL or $EDITOR: "code --wait" */
    char file[PATH_MAX], place[PATH_MAX + 32];
    char *argv[WORDS_MAX + 4];
};

/*
 * editor_command - what to run; line 0: no line.
 * Returns: 0, with argv; -ENOENT: neither variable is set (empty is not set); -EINVAL: it cannot be
 * understood; -ENAMETOOLONG.
 */
int editor_command(struct editor *e, const char *visual, const char *editor, const char *file,
                   uint32_t line);

#endif
