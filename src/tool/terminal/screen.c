#include "terminal/screen.h"

#include "terminal/text.h"

#include "base/atomics.h"
#include "base/library.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REVERSE 0x40000 /* A_REVERSE of ncurses 6 */

/* What is used of it. stdscr is a variable, all else functions; its types do not matter here. */
struct screen {
    void *library, *terminal, *window;
    void *(*newterm)(const char *type, FILE *out, FILE *in);
    int (*endwin)(void), (*cbreak)(void), (*noecho)(void), (*curs_set)(int visibility);
    int (*keypad)(void *window, bool on);
    void (*wtimeout)(void *window, int milliseconds);
    int (*wgetch)(void *window), (*werase)(void *window), (*wrefresh)(void *window);
    int (*wmove)(void *window, int row, int column);
    int (*waddnstr)(void *window, const char *text, int bytes);
    int (*wattrset)(void *window, int attributes);
    int (*getmaxx)(const void *window), (*getmaxy)(const void *window);
};

static bool load(struct screen *s, void ***window)
{
    const struct library_symbol symbols[] = {
        {"stdscr", window},         {"newterm", &s->newterm},   {"endwin", &s->endwin},
        {"cbreak", &s->cbreak},     {"noecho", &s->noecho},     {"curs_set", &s->curs_set},
        {"keypad", &s->keypad},     {"wtimeout", &s->wtimeout}, {"wgetch", &s->wgetch},
        {"werase", &s->werase},     {"wrefresh", &s->wrefresh}, {"wmove", &s->wmove},
        {"waddnstr", &s->waddnstr}, {"wattrset", &s->wattrset}, {"getmaxx", &s->getmaxx},
        {"getmaxy", &s->getmaxy},
    };

    s->library = library_load("libncursesw.so.6", symbols, COUNT_OF(symbols));
    return s->library;
}

struct screen *screen_open(char *why, size_t why_size)
{
    struct screen *s = memory_zalloc(1, sizeof(*s));
    const char *type = getenv("TERM");
    void **window = NULL;

    if (!s) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    setlocale(LC_ALL, "");
    if (!load(s, &window)) {
        snprintf(why, why_size, "ncurses is not on this machine (package libncursesw6)");
    } else if (!(s->terminal = s->newterm(NULL, stdout, stdin))) {
        snprintf(why, why_size, "the terminal \"%.40s\" is not known", type ? type : "");
    } else {
        s->window = *window;
        s->cbreak();
        s->noecho();
        s->curs_set(0);
        s->keypad(s->window, true);
        return s;
    }
    memory_free(s);
    return NULL;
}

void screen_close(struct screen *s)
{
    if (s)
        s->endwin();
    memory_free(s);
}

void screen_size(const struct screen *s, int *rows, int *columns)
{
    *rows = s->getmaxy(s->window);
    *columns = s->getmaxx(s->window);
}

void screen_clear(struct screen *s)
{
    s->werase(s->window);
}

void screen_put(struct screen *s, int row, const char *text, bool strong)
{
    int rows, columns;
    char *line = NULL;
    size_t size = 0;
    FILE *to;

    screen_size(s, &rows, &columns);
    if (row < 0 || row >= rows || columns < 2)
        return;
    to = open_memstream(&line, &size);
    if (!to)
        return;
    text_elide(to, text, (size_t)columns - 1); /* the last cell of the last row would scroll */
    fclose(to);
    s->wmove(s->window, row, 0);
    s->wattrset(s->window, strong ? REVERSE : 0);
    s->waddnstr(s->window, line, (int)size);
    s->wattrset(s->window, 0);
    free(line);
}

void screen_show(struct screen *s)
{
    s->wrefresh(s->window);
}

int screen_key(struct screen *s, int milliseconds)
{
    s->wtimeout(s->window, milliseconds);
    return s->wgetch(s->window);
}
