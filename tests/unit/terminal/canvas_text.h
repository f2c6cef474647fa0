/* unit/terminal/canvas_text.h - what a canvas shows, as text to compare with. */
#ifndef SHADOWTRACE_TESTS_CANVAS_TEXT_H
#define SHADOWTRACE_TESTS_CANVAS_TEXT_H

#include "terminal/canvas.h"

/* One row; all rows, each with a line feed. Until the next call. */
const char *row_text(const struct canvas *c, int row);
const char *all_text(const struct canvas *c);

#endif
