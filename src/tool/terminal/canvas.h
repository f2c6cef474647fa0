/*
 * terminal/canvas.h - what a screen shows, in memory: rows of cells, each with a letter and how it
 * looks. Whatever is put outside of it, or does not fit, is left out. Knows no terminal: tests look
 * at it as text.
 */
#ifndef SHADOWTRACE_TERMINAL_CANVAS_H
#define SHADOWTRACE_TERMINAL_CANVAS_H

#include "base/buffer.h"

#include <stdbool.h>

/*
 * How letters look: bits, and one colour. Nothing may be told by a colour alone: there are
 * terminals, and people, without.
 */
enum canvas_style {
    CANVAS_PLAIN = 0,
    CANVAS_BOLD = 1,
    CANVAS_DIM = 2,
    CANVAS_UNDERLINE = 4,
    CANVAS_REVERSE = 8,
    CANVAS_RED = 1 << 4,
    CANVAS_GREEN = 2 << 4,
    CANVAS_YELLOW = 3 << 4,
    CANVAS_BLUE = 4 << 4,
    CANVAS_CYAN = 6 << 4,
    CANVAS_COLOUR = 7 << 4 /* mask */
};

#define CANVAS_LETTER 15 /* bytes: a letter with what combines with it */

struct canvas_cell {
    char text[CANVAS_LETTER];
    unsigned char size; /* 0: the right half of the letter before */
    unsigned style;
};

struct canvas {
    int rows, columns;
    struct canvas_cell *cells;
};

/* canvas_init - blank. Returns: 0, or -ENOMEM and a canvas without rows. */
int canvas_init(struct canvas *c, int rows, int columns);
void canvas_fini(struct canvas *c);

/*
 * canvas_put - text of others, at most `width` columns of it; unsafe letters as their mark.
 * Returns: the column behind what was put.
 */
int canvas_put(struct canvas *c, int row, int column, int width, unsigned style, const char *text);

/* The same with the middle left out, or on the right, if there is more. */
int canvas_elide(struct canvas *c, int row, int column, int width, unsigned style,
                 const char *text);
int canvas_right(struct canvas *c, int row, int column, int width, unsigned style,
                 const char *text);

/* canvas_hints - a row of keys, two blanks apart: as many as fit, the first one always. */
void canvas_hints(struct canvas *c, int row, const char *hints);

/* canvas_restyle - cells [from, to) of a row get these bits as well; a colour replaces theirs. */
void canvas_restyle(struct canvas *c, int row, int from, int to, unsigned style);

/* canvas_text - of one row, without blanks at its end. */
void canvas_text(const struct canvas *c, int row, struct buffer *out);

/*
 * canvas_send - what makes a terminal that shows `before` (of the same size; NULL: nothing known)
 * show c.
 */
void canvas_send(const struct canvas *c, const struct canvas *before, bool colour,
                 struct buffer *out);

#endif
