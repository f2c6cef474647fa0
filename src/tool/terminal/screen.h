/*
 * terminal/screen.h - the terminal of stdout and stdin as a canvas and keys. One at a time.
 *
 *     while (going) {
 *         struct canvas *canvas = screen_begin(screen);
 *
 *         ... put things on it ...
 *         screen_show(screen);
 *         key = screen_key(screen, -1);
 *     }
 *
 * However the program ends, other than by SIGKILL, the terminal is as it was before; a program that
 * is stopped and continued (control-Z, fg) finds its screen again.
 */
#ifndef SHADOWTRACE_TERMINAL_SCREEN_H
#define SHADOWTRACE_TERMINAL_SCREEN_H

#include "terminal/canvas.h"
#include "terminal/key.h"

struct screen;

/* screen_possible - whether TERM names a terminal that can show one; else one line in why. */
bool screen_possible(const char *term, char *why, size_t why_size);

/* screen_open - take over the terminal. Returns: NULL, with one line in why. */
struct screen *screen_open(char *why, size_t why_size);
void screen_close(struct screen *s); /* the terminal is as it was; NULL-safe */

/* screen_begin - Returns: a blank canvas of the size that the terminal has now; the screen's. */
struct canvas *screen_begin(struct screen *s);

/* screen_show - the canvas of screen_begin. */
void screen_show(struct screen *s);

/* screen_key - waits for a key, for at most `milliseconds` (below 0: for ever). Returns: a key. */
int screen_key(struct screen *s, int milliseconds);

/*
 * screen_run - another program has the terminal until it ends. argv is executed as it is, by no
 * shell. Returns: its wait status; -errno: it could not be started.
 */
int screen_run(struct screen *s, char *const *argv);

#endif
