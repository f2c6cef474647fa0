/* symbols/error.h - filling a struct symbols_error. */
#ifndef SHADOWTRACE_SYMBOLS_ERROR_H
#define SHADOWTRACE_SYMBOLS_ERROR_H

#include "symbols/symbols.h"

/* Set reason and text; some reasons begin it. error is not NULL. Returns the reason's -errno. */
int symbols_fail(struct symbols_error *error, enum symbols_reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* symbols_fail_at - put "PATH: " before the text, and make the whole one printable line. */
void symbols_fail_at(struct symbols_error *error, const char *path);

#endif
