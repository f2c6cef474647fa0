/* terminal/screen.h - the terminal of stdout and stdin as rows of text. One at a time. */
#ifndef SHADOWTRACE_TERMINAL_SCREEN_H
#define SHADOWTRACE_TERMINAL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen;

enum screen_key {
    SCREEN_NONE = -1,  /* nothing was pressed in time */
    SCREEN_GONE = 256, /* there is no terminal any more */
    SCREEN_RESIZED,
    SCREEN_DOWN,
    SCREEN_UP,
    SCREEN_LEFT,
    SCREEN_RIGHT,
    SCREEN_PAGE_DOWN,
    SCREEN_PAGE_UP,
};

/* screen_open - take over the terminal. Returns: NULL, with one line in why. */
struct screen *screen_open(char *why, size_t why_size);
void screen_close(struct screen *s); /* the terminal is as it was; NULL-safe */

void screen_size(int *rows, int *columns);
void screen_clear(struct screen *s);

/* screen_put - in a row, cut at the right edge. screen_show - what was put since screen_clear. */
void screen_put(struct screen *s, int row, const char *text, bool strong);
void screen_show(struct screen *s);

/* screen_key - wait for a key, at most so long. Returns: an enum screen_key, or a byte. */
int screen_key(struct screen *s, int milliseconds);

#endif
