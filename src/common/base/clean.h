/*
 * base/clean.h - text that others wrote (names of a traced program, of a log, of a file) on its way to a person. A
 * terminal acts on more than it shows: control characters begin commands, U+2028 begins a line, bidirectional controls
 * turn the order of what follows. None of them leaves; each shows as a question mark, which takes one column.
 *
 * Every printer of the command writes such text through text_print, text_elide or cli_complain, all of which ask here.
 * JSON keeps its meaning: buffer_json_string and print_json_value write the same letters as \uXXXX.
 */
#ifndef SHADOWTRACE_BASE_CLEAN_H
#define SHADOWTRACE_BASE_CLEAN_H

#include "base/buffer.h"

#include <stdbool.h>

#define CLEAN_MARK '?' /* what stands for a letter that must not leave */

/* Bytes of the UTF-8 letter at `text`; 0 at its end, and where it is none: overlong, a surrogate, cut, past U+10FFFF. */
size_t utf8_length(const char *text);

/*
 * clean_letter - one letter of a text that has not ended. Returns: its bytes, 1 for a byte that is no UTF-8; *safe: a
 * terminal shows it and does no more. Unsafe are C0, DEL, C1, U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to
 * U+2069 and what is no UTF-8.
 */
size_t clean_letter(const char *text, bool *safe);

/* The unsafe letter at `text` as a number, for an escape; U+FFFD for what is no UTF-8. */
uint32_t clean_number(const char *text);

void clean_in_place(char *text); /* it may become shorter */
void clean_append(struct buffer *b, const char *text);

#endif
