/* symbols/text.h - what a file calls UTF-8, as UTF-8. */
#ifndef SHADOWTRACE_SYMBOLS_TEXT_H
#define SHADOWTRACE_SYMBOLS_TEXT_H

#include "base/buffer.h"

#include "symbols/bytes.h"

/* Append to b. As in .NET, each ill-formed sequence and each U+0000 becomes U+FFFD. */
void symbols_text_append(struct buffer *b, struct symbols_span text);

/* Copy as one line, cut to size between characters: '?' for what is not printable. */
void symbols_text_line(char *out, size_t size, const char *in);

#endif
