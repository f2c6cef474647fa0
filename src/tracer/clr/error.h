/* clr/error.h - a name for an HRESULT, for logs and messages. */
#ifndef SHADOWTRACE_CLR_ERROR_H
#define SHADOWTRACE_CLR_ERROR_H

#include <shadowtrace/clr/types.h>

#include <stddef.h>

/* Enough for any HRESULT without a name: "0x80131360" and its NUL. */
#define CLR_ERROR_TEXT_SIZE 11

/*
 * clr_error_text - the symbolic name of hr, such as "CORPROF_E_STACKSNAPSHOT_UNSAFE", else
 * "0x%08x".
 * Returns: a constant string, or buf holding the number (cut to size); "" if it has no name and
 *          size is 0. Never NULL.
 * Owns:    buf stays the caller's and must outlive the use of the result.
 * Threads: any; there is no shared buffer.
 * May run: anywhere, a hook included: does not block, allocate or enter the CLR.
 */
const char *clr_error_text(hresult hr, char *buf, size_t size);

#endif
