/* unit/browse/browse_screen.h - browse on a canvas: keys in, rows of text out. */
#ifndef SHADOWTRACE_TESTS_BROWSE_SCREEN_H
#define SHADOWTRACE_TESTS_BROWSE_SCREEN_H

#include "browse/browse.h"
#include "browse/load.h"

#define BROWSE_FIXTURES "tests/fixtures/browse/"
#define SHOP            BROWSE_FIXTURES "shop.ndjson"

extern struct loaded loaded;
extern struct browse browse;

/* Opens a log, or two; symbols: a folder with PDBs, or NULL. */
void open_logs(const char *first, const char *second, const char *symbols);
int close_logs(void **state); /* as a teardown */

/* As many rows and columns from now on; what is drawn then. */
void screen_of(int columns, int rows);
const char *screen_text(void);
unsigned screen_style(int row, int column);

/* Letters are keys; "\r" is enter, "\033" escape. Returns: what the last one led to. */
enum browse_next press(const char *keys);
enum browse_next press_key(int key);

bool screen_has(const char *text);
void expect_on_screen(const char *text);

/* The row under the cursor, without blanks at its end. */
const char *cursor_row(void);

#endif
