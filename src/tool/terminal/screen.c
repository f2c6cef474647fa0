/*
 * By the control sequences that every terminal in use understands (ECMA-48); what a screen shows is
 * sent whole, in one write.
 */
#include "terminal/screen.h"

#include "terminal/text.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* another page, no cursor, lines do not wrap */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

#define ESCAPE    27
#define ESCAPE_MS 25 /* what follows the key itself within this time is the rest of a sequence */

struct screen {
    struct buffer out; /* since screen_clear */
    int pending;       /* a byte read too far; SCREEN_NONE: none */
};

static struct termios before; /* of stdin; there is one terminal */

static void send_text(const char *text, size_t size)
{
    while (size) {
        ssize_t sent = write(STDOUT_FILENO, text, size);

        if (sent < 0 && errno != EINTR)
            return;
        text += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
}

static void enter(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    send_text(ENTER, sizeof(ENTER) - 1);
}

static void leave(void)
{
    send_text(LEAVE, sizeof(LEAVE) - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void on_end(int number)
{
    leave();
    raise(number); /* its default action, as soon as this returns */
}

static void on_resize(int number)
{
    (void)number; /* poll() has been interrupted */
}

static void catch_signals(bool catch)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction end = {.sa_handler = catch ? on_end : SIG_DFL,
                            .sa_flags = (int)(catch ? SA_RESETHAND : 0)};
    struct sigaction resize = {.sa_handler = catch ? on_resize : SIG_DFL};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        sigaction(ends[i], &end, NULL);
    sigaction(SIGWINCH, &resize, NULL);
}

struct screen *screen_open(char *why, size_t why_size)
{
    const char *type = getenv("TERM");
    struct screen *s;

    if (!type || !*type || !strcmp(type, "dumb") || tcgetattr(STDIN_FILENO, &before)) {
        snprintf(why, why_size, "the terminal \"%.40s\" cannot show a screen", type ? type : "");
        return NULL;
    }
    s = memory_zalloc(1, sizeof(*s));
    if (!s) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    s->pending = SCREEN_NONE;
    catch_signals(true);
    enter();
    return s;
}

void screen_close(struct screen *s)
{
    if (!s)
        return;
    leave();
    catch_signals(false);
    buffer_free(&s->out);
    memory_free(s);
}

static int size_or(unsigned short size, const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    int given = text ? atoi(text) : 0;

    return size ? size : given > 0 ? given : otherwise;
}

void screen_size(int *rows, int *columns)
{
    struct winsize size = {0, 0, 0, 0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *rows = size_or(size.ws_row, "LINES", 24);
    *columns = size_or(size.ws_col, "COLUMNS", 80);
}

void screen_clear(struct screen *s)
{
    s->out.size = 0;
    buffer_text(&s->out, "\033[H\033[J");
}

void screen_put(struct screen *s, int row, const char *text, bool strong)
{
    int rows, columns;
    char *line = NULL;
    size_t size = 0;
    FILE *to;

    screen_size(&rows, &columns);
    to = row >= 0 && row < rows && columns > 1 ? open_memstream(&line, &size) : NULL;
    if (!to)
        return;
    text_elide(to, text, (size_t)columns - 1);
    fclose(to);
    buffer_format(&s->out, "\033[%d;1H%s", row + 1, strong ? "\033[7m" : "");
    buffer_append(&s->out, line, size);
    buffer_text(&s->out, strong ? "\033[0m" : "");
    free(line);
}

void screen_show(struct screen *s)
{
    if (!s->out.failed)
        send_text(s->out.data, s->out.size);
}

/* The next byte; SCREEN_NONE after that time, SCREEN_RESIZED, or SCREEN_GONE. */
static int next_byte(struct screen *s, int milliseconds)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    int ready, c = s->pending;
    unsigned char byte;

    s->pending = SCREEN_NONE;
    if (c != SCREEN_NONE)
        return c;
    ready = poll(&in, 1, milliseconds);
    if (ready <= 0)
        return ready ? SCREEN_RESIZED : SCREEN_NONE;
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : SCREEN_GONE;
}

/* The rest of a sequence, whose first byte was an escape. */
static int sequence(struct screen *s)
{
    static const char keys[] = {'A', 'B', 'C', 'D', '5', '6'};
    static const int means[] = {SCREEN_UP,   SCREEN_DOWN,    SCREEN_RIGHT,
                                SCREEN_LEFT, SCREEN_PAGE_UP, SCREEN_PAGE_DOWN};
    int c = next_byte(s, ESCAPE_MS), first, last;
    const char *found;

    if (c != '[' && c != 'O') {
        s->pending = c < SCREEN_GONE ? c : SCREEN_NONE;
        return ESCAPE;
    }
    for (first = last = next_byte(s, ESCAPE_MS); last >= '0' && last <= ';';)
        last = next_byte(s, ESCAPE_MS);
    found = first > 0 ? memchr(keys, first, sizeof(keys)) : NULL;
    return found ? means[found - keys] : SCREEN_NONE;
}

/* The key of a signal: as if the terminal had sent it, but with the terminal as it was before. */
static int send_signal(int number)
{
    leave();
    raise(number);
    enter();
    return SCREEN_RESIZED;
}

int screen_key(struct screen *s, int milliseconds)
{
    int c = next_byte(s, milliseconds);

    if (c == ESCAPE)
        return sequence(s);
    if (c >= 0 && c == before.c_cc[VSUSP])
        return send_signal(SIGTSTP);
    if (c >= 0 && (c == before.c_cc[VINTR] || c == before.c_cc[VQUIT]))
        return send_signal(c == before.c_cc[VINTR] ? SIGINT : SIGQUIT);
    return c;
}
