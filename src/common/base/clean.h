/*
 * base/clean.h - text that others wrote (names in a program, a log, a file) on its way to a person.
 * A terminal acts on more than it shows: control characters begin commands, U+2028 begins a line,
 * bidirectional controls reorder what follows. Each shows as a question mark, which takes one
 * column.
 *
 * Every printer writes such text through text_print, text_elide or cli_complain, which ask here.
 * JSON keeps the meaning: buffer_json_string writes the same letters as \uXXXX.
 */
#ifndef SHADOWTRACE_BASE_CLEAN_H
#define SHADOWTRACE_BASE_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLEAN_MARK '?' /* stands for an unsafe letter */

/*
 * clean_letter - one letter of a text that has not ended.
 * Returns: its bytes, 1 for an invalid byte; *safe: a terminal shows it and does no more.
 * Unsafe are C0, DEL, C1, U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 and invalid
 * UTF-8.
 */
size_t clean_letter(const char *text, bool *safe);

/* The unsafe letter at `text` as a number, for an escape; U+FFFD for invalid UTF-8. */
uint32_t clean_number(const char *text);

void clean_in_place(char *text); /* it may become shorter */

#endif
