#include "terminal/terminal.h"

#include "terminal/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MIN_WIDTH  20
#define LEAST_ROOM 24
#define HELP_WIDTH 80
#define MAX_WIDTH  240

struct terminal terminal_from(bool is_terminal, size_t columns, const char *term,
                              const char *no_color)
{
    struct terminal t = {TEXT_WIDTH, false};

    if (!is_terminal)
        return t;
    if (columns)
        t.width = columns < MIN_WIDTH ? MIN_WIDTH : columns > MAX_WIDTH ? MAX_WIDTH : columns;
    t.colour = term && *term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
    return t;
}

struct terminal terminal_of(FILE *out)
{
    struct winsize size = {0, 0, 0, 0};
    int fd = fileno(out);
    bool is_terminal = fd >= 0 && isatty(fd) == 1;

    if (is_terminal && ioctl(fd, TIOCGWINSZ, &size))
        size.ws_col = 0;
    return terminal_from(is_terminal, size.ws_col, getenv("TERM"), getenv("NO_COLOR"));
}

size_t terminal_width(FILE *out)
{
    static size_t width;
    static FILE *of;

    if (out != of)
        width = terminal_of(out).width;
    of = out;
    return width;
}

size_t terminal_room(FILE *out, size_t used)
{
    size_t width = terminal_width(out);

    return width > used + LEAST_ROOM ? width - used : LEAST_ROOM;
}

bool terminal_fits(FILE *out, size_t columns)
{
    size_t width = terminal_width(out);

    return width >= HELP_WIDTH || columns <= width;
}

size_t terminal_name_room(FILE *out, size_t used)
{
    if (terminal_fits(out, used + LEAST_ROOM))
        return terminal_room(out, used);
    fputs("\n  ", out);
    return terminal_width(out) - 2;
}

size_t terminal_help_width(FILE *out)
{
    int fd = fileno(out);
    size_t width = fd >= 0 && isatty(fd) == 1 ? terminal_of(out).width : HELP_WIDTH;

    return width < TEXT_WIDTH ? width : TEXT_WIDTH;
}

const char *terminal_strong(const struct terminal *t)
{
    return t->colour ? "\033[1;31m" : "";
}

const char *terminal_plain(const struct terminal *t)
{
    return t->colour ? "\033[0m" : "";
}
