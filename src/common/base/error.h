/* base/error.h - what an error is called in a message. */
#ifndef SHADOWTRACE_BASE_ERROR_H
#define SHADOWTRACE_BASE_ERROR_H

#include <errno.h>
#include <string.h>

/* As strerror of -err, but shorter where it happens most. Owns: libc, until the next. */
static inline const char *error_text(int err)
{
    return err == -ENOMEM ? "out of memory" : strerror(-err);
}

#endif
