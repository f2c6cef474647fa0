/* terminal/prompt.h - one line that is typed: letters, a cursor, and what was typed before. */
#ifndef SHADOWTRACE_TERMINAL_PROMPT_H
#define SHADOWTRACE_TERMINAL_PROMPT_H

#include "terminal/canvas.h"

#include <stddef.h>

#define PROMPT_SIZE 512 /* bytes of a line */
#define PROMPT_KEPT 16  /* lines from before */

struct prompt {
    char text[PROMPT_SIZE];
    size_t at; /* byte that the cursor is on */
    char kept[PROMPT_KEPT][PROMPT_SIZE];
    size_t kept_count, shown; /* shown: of `kept`, or kept_count for what is being typed */
    char typed[PROMPT_SIZE];  /* that, while something of `kept` is shown */
};

enum prompt_state { PROMPT_GOES_ON, PROMPT_DONE, PROMPT_LEFT };

/* prompt_begin - with a text to change, of others perhaps. */
void prompt_begin(struct prompt *p, const char *text);

/* prompt_key - Returns: PROMPT_DONE: enter; the text is kept. PROMPT_LEFT: escape. */
enum prompt_state prompt_key(struct prompt *p, int key);

/* prompt_draw - "label: text", with the cursor, in a row. */
void prompt_draw(const struct prompt *p, struct canvas *c, int row, const char *label);

#endif
