/*
 * terminal/letter.h - letters of text that others wrote, with the columns that a terminal gives
 * them: 2 for those of East Asia and for pictures, none for what combines with the letter before.
 */
#ifndef SHADOWTRACE_TERMINAL_LETTER_H
#define SHADOWTRACE_TERMINAL_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct letter {
    size_t bytes;     /* at least 1 */
    unsigned columns; /* 0 to 2 */
    bool safe;        /* else a terminal would act on it: show CLEAN_MARK (base/clean.h) */
};

/* letter_at - of a text that has not ended. */
struct letter letter_at(const char *text);

/* letter_columns - of a whole text, each unsafe letter as its mark. */
size_t letter_columns(const char *text);

/* letter_encode - a number as UTF-8. Returns: its bytes, at most 4; no NUL is written. */
size_t letter_encode(char *to, uint32_t number);

#endif
