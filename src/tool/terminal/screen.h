/*
 * terminal/screen.h - a terminal as rows of text, by ncurses if that is on this machine. Nothing
 * else depends on it: it is looked for when `top` wants a screen.
 */
#ifndef SHADOWTRACE_TERMINAL_SCREEN_H
#define SHADOWTRACE_TERMINAL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen;

enum screen_key {
    SCREEN_NONE = -1, /* nothing was pressed in time */
    SCREEN_DOWN = 0402,
    SCREEN_UP = 0403,
    SCREEN_LEFT = 0404,
    SCREEN_RIGHT = 0405,
    SCREEN_BACKSPACE = 0407,
    SCREEN_PAGE_DOWN = 0522,
    SCREEN_PAGE_UP = 0523,
    SCREEN_RESIZED = 0632,
};

/* screen_open - take over the terminal of stdout and stdin. Returns: NULL, with one line in why. */
struct screen *screen_open(char *why, size_t why_size);
void screen_close(struct screen *s); /* the terminal is as it was */

void screen_size(const struct screen *s, int *rows, int *columns);
void screen_clear(struct screen *s);
void screen_put(struct screen *s, int row, const char *text,
                bool strong); /* cut at the right edge */
void screen_show(struct screen *s);

/* screen_key - wait for a key, at most so long. Returns: an enum screen_key, or a byte. */
int screen_key(struct screen *s, int milliseconds);

#endif
