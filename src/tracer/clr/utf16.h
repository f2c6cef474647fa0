/* clr/utf16.h - the runtime's UTF-16 as valid UTF-8. */
#ifndef SHADOWTRACE_CLR_UTF16_H
#define SHADOWTRACE_CLR_UTF16_H

#include <shadowtrace/clr/types.h>

#include <stdbool.h>
#include <stddef.h>

/* Bytes that always suffice for `units` UTF-16 units and the NUL: no unit takes more than 3. */
#define CLR_UTF8_SIZE(units) (3 * (size_t)(units) + 1)

/*
 * clr_utf16_to_utf8 - convert length UTF-16 units. The input needs no terminator: leave out the one
 * the runtime counts. U+0000 and unpaired surrogates, both legal in metadata names, become U+FFFD,
 * so the result is valid UTF-8 and a C string.
 * Returns: the bytes the whole result takes without its NUL; a value of size or above says that it
 *          was cut.
 * Owns:    out stays the caller's; it is NUL-terminated unless size is 0, and then may be NULL. A
 *          cut falls between two characters, and out always holds the beginning of the whole
 *          result.
 * Threads: any.
 * May run: anywhere, a hook included: does not block, allocate or enter the CLR.
 */
size_t clr_utf16_to_utf8(char *out, size_t size, const clr_wchar *in, size_t length);

/* Units up to a zero, max at most, as UTF-8. Owns: memory_free(); NULL: no memory. */
char *clr_utf16_copy(const clr_wchar *text, size_t max);

/* Are these the same text? Both end with a zero. */
bool clr_utf16_same(const clr_wchar *text, const clr_wchar *other);

/* Units before the terminating zero of text, at most max. */
size_t clr_utf16_length(const clr_wchar *text, size_t max);

#endif
