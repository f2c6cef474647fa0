/* base/utf8.h - letters of UTF-8 text that others wrote: every step is checked. */
#ifndef SHADOWTRACE_BASE_UTF8_H
#define SHADOWTRACE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * utf8_step - Returns: bytes of the letter that a text of at least one byte begins with, NUL being
 * one too; minus the bytes of the longest beginning of a letter, at least one, where it is damaged
 * or cut (Unicode 15, table 3-7: "substitution of maximal subparts").
 */
int utf8_step(const char *text, size_t size);

/*
 * utf8_length - Returns: bytes of the letter at `text`; 0 at the end of the text, and for
 * invalid UTF-8: overlong, a surrogate, cut, above U+10FFFF.
 */
size_t utf8_length(const char *text);

/* utf8_next - behind the letter, or the damaged byte, at `text`, which has not ended. */
const char *utf8_next(const char *text);

/* utf8_put - writes a letter, at most U+10FFFF. Returns: its bytes, 1 to 4. */
size_t utf8_put(uint32_t letter, char *bytes);

/* Whether all of a text is UTF-8. */
bool utf8_valid(const char *text);

#endif
