/*
 * By the control sequences that every terminal in use understands (ECMA-48); what has changed is
 * sent in one write.
 */
#include "terminal/screen.h"

#include "terminal/terminal.h"

#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l\033[?7l\033[H\033[J" /* another page, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct screen {
    struct canvas canvas, shown; /* shown: what the terminal shows; without rows: not known */
    struct buffer out;
    struct key_source keys;
    bool colour;
};

static struct termios before;         /* of stdin; there is one terminal */
static volatile sig_atomic_t renewed; /* the terminal may show anything */

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

/* enter and leave do nothing that a signal handler may not. */
static void enter(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    send_text(ENTER, sizeof(ENTER) - 1);
    renewed = 1;
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

/* The program is to stop, by control-Z or from outside: it does, here, with the old terminal. */
static void on_stop(int number)
{
    struct sigaction standard = {.sa_handler = SIG_DFL}, ours;
    sigset_t stops;
    int kept = errno;

    leave();
    sigaction(number, &standard, &ours);
    sigemptyset(&stops);
    sigaddset(&stops, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &stops, NULL); /* and here it goes on */
    sigaction(number, &ours, NULL);
    enter();
    errno = kept;
}

/* poll() has been interrupted: by a resize, or stopped (SIGSTOP) and continued. */
static void on_change(int number)
{
    int kept = errno;

    if (number == SIGCONT)
        enter();
    errno = kept;
}

static void catch_signals(bool catch)
{
    static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                               SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,  SIGILL};
    struct sigaction end = {.sa_handler = catch ? on_end : SIG_DFL,
                            .sa_flags = (int)(catch ? SA_RESETHAND : 0)};
    struct sigaction change = {.sa_handler = catch ? on_change : SIG_DFL};
    struct sigaction stop = {.sa_handler = catch ? on_stop : SIG_DFL};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        sigaction(ends[i], &end, NULL);
    sigaction(SIGWINCH, &change, NULL);
    sigaction(SIGCONT, &change, NULL);
    sigaction(SIGTSTP, &stop, NULL);
}

/* The next byte; KEY_NONE after that time, KEY_RESIZED, or KEY_GONE. */
static int next_byte(void *context, int milliseconds)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    int ready = poll(&in, 1, milliseconds);
    unsigned char byte;

    (void)context;
    if (ready <= 0)
        return ready ? KEY_RESIZED : KEY_NONE;
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : KEY_GONE;
}

bool screen_possible(const char *term, char *why, size_t why_size)
{
    if (term && *term && strcmp(term, "dumb") != 0)
        return true;
    if (term && *term)
        snprintf(why, why_size, "the terminal \"%.40s\" cannot show a screen", term);
    else
        snprintf(why, why_size, "TERM is not set");
    return false;
}

struct screen *screen_open(char *why, size_t why_size)
{
    struct screen *s;

    if (!screen_possible(getenv("TERM"), why, why_size))
        return NULL;
    if (tcgetattr(STDIN_FILENO, &before)) {
        snprintf(why, why_size, "standard input is not a terminal");
        return NULL;
    }
    s = memory_zalloc(1, sizeof(*s));
    if (!s) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    s->keys = (struct key_source){.next = next_byte, .pending = KEY_NONE};
    s->colour = terminal_of(stdout).colour;
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
    canvas_fini(&s->canvas);
    canvas_fini(&s->shown);
    buffer_free(&s->out);
    memory_free(s);
}

static int size_or(unsigned short size, const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    int given = text ? atoi(text) : 0;

    if (size)
        return size;
    return given > 0 && given < 10000 ? given : otherwise;
}

struct canvas *screen_begin(struct screen *s)
{
    struct winsize size = {0, 0, 0, 0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    canvas_fini(&s->canvas);
    canvas_init(&s->canvas, size_or(size.ws_row, "LINES", 24), size_or(size.ws_col, "COLUMNS", 80));
    return &s->canvas;
}

void screen_show(struct screen *s)
{
    bool known =
        !renewed && s->shown.rows == s->canvas.rows && s->shown.columns == s->canvas.columns;

    renewed = 0;
    buffer_clear(&s->out);
    if (!known)
        buffer_text(&s->out, "\033[0m\033[H\033[J");
    canvas_send(&s->canvas, known ? &s->shown : NULL, s->colour, &s->out);
    if (!s->out.failed && s->out.size)
        send_text(s->out.data, s->out.size);
    canvas_fini(&s->shown);
    s->shown = s->canvas;
    s->canvas = (struct canvas){.rows = 0};
}

/* The key of a signal: as if the terminal had sent it, but with the terminal as it was before. */
static int send_signal(int number)
{
    raise(number);
    return KEY_RESIZED;
}

int screen_key(struct screen *s, int milliseconds)
{
    int c = key_read(&s->keys, milliseconds);

    if (c > 0 && c == before.c_cc[VSUSP])
        return send_signal(SIGTSTP);
    if (c > 0 && (c == before.c_cc[VINTR] || c == before.c_cc[VQUIT]))
        return send_signal(c == before.c_cc[VINTR] ? SIGINT : SIGQUIT);
    return c;
}

static int run(char *const *argv)
{
    posix_spawnattr_t how;
    sigset_t standard;
    pid_t child;
    int err, status;

    sigemptyset(&standard);
    sigaddset(&standard, SIGINT);
    sigaddset(&standard, SIGQUIT);
    sigaddset(&standard, SIGTSTP);
    if (posix_spawnattr_init(&how))
        return -ENOMEM;
    posix_spawnattr_setsigdefault(&how, &standard);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    err = posix_spawnp(&child, argv[0], NULL, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    if (err)
        return -err;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

int screen_run(struct screen *s, char *const *argv)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    int result;

    (void)s;
    leave();
    catch_signals(false);
    sigaction(SIGINT, &ignored, NULL); /* they are the other program's */
    sigaction(SIGQUIT, &ignored, NULL);
    result = run(argv);
    catch_signals(true);
    enter();
    return result;
}
