/* export/collapsed.h - a name as one frame of a collapsed stack. */
#ifndef SHADOWTRACE_EXPORT_COLLAPSED_H
#define SHADOWTRACE_EXPORT_COLLAPSED_H

#include "base/buffer.h"

/* What parts frames, or lines, becomes another letter. */
void export_collapsed_name(struct buffer *b, const char *name);

#endif
