/* shadowtrace top - what a living process allocates and does, as it does it. */
#include "attach/attach.h"

#include "terminal/screen.h"
#include "terminal/text.h"
#include "attach/top.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE   2000
#define PLAIN_WIDTH 160
#define NS_PER_MS   1000000ull

struct top_args {
    enum top_view view;
    const char *filter;
    uint64_t interval, count, rows; /* interval in ns; count 0: until told to end */
    bool plain;
};

static const char *const views[] = {"sites", "types", "threads", NULL};

#define ARGS_INTO struct top_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "view", NULL, view, "the view to begin with", .words = views),
    ARGS_ROW(TEXT, "filter", "TEXT", filter, "only rows that contain TEXT"),
    ARGS_ROW(DURATION, "interval", "TIME", interval, "time between updates: 2 (seconds), 250ms",
             .unit = 1000 * NS_PER_MS, .standard = 1000 * NS_PER_MS, .least = 10 * NS_PER_MS,
             .limit = 3600 * 1000 * NS_PER_MS),
    ARGS_ROW(FLAG, "plain", NULL, plain,
             "print a block of text for each update, as when the output is not a terminal",
             .group = "Plain text"),
    ARGS_ROW(COUNT, "count", "N", count, "stop after N updates", .least = 1, .limit = UINT32_MAX),
    ARGS_ROW(FLAG, "once", NULL, count, "same as --count 1"),
    ARGS_ROW(COUNT, "rows", "N", rows, "show at most N rows", .standard = 20, .least = 1,
             .limit = 10000),
    ARGS_EXPLAINED("1 2 3", NULL, "choose the view", .group = "Keys"),
    ARGS_EXPLAINED("s", NULL, "sort by bytes/s, objects/s or bytes"),
    ARGS_EXPLAINED("/", NULL, "filter"),
    ARGS_EXPLAINED("p, space", NULL, "pause"),
    ARGS_EXPLAINED("arrows, page keys", NULL, "move"),
    ARGS_EXPLAINED("enter, right", NULL,
                   "details of a row: the call sites of a type, the stack of a site or thread"),
    ARGS_EXPLAINED("escape, left", NULL, "back"),
    ARGS_EXPLAINED("q", NULL, "quit"),
    ARGS_END};

struct shown {
    struct top top;
    struct client client;
    const struct top_args *args;
    /* on a screen */
    bool paused, drilled, typing;
    size_t selected, scroll; /* scroll: first line of the detail */
};

static int look(struct shown *s)
{
    int err = top_look(&s->top, &s->client);

    return err ? err : top_arrange(&s->top);
}

/* ---- plain text ---- */

static void print_plain(struct shown *s, FILE *out)
{
    char line[LINE_SIZE];

    top_title(&s->top, line, sizeof(line));
    text_print(out, line);
    fprintf(out, "\n%s\n", top_columns(&s->top));
    for (size_t i = 0; i < s->top.rows && i < s->args->rows; i++) {
        top_line(&s->top, i, line, sizeof(line));
        text_elide(out, line, PLAIN_WIDTH);
        fputc('\n', out);
    }
    fputc('\n', out);
    fflush(out);
}

/* The first look has nothing to compare with: rates come from the second on. */
static int run_plain(struct shown *s, FILE *out)
{
    int err = top_look(&s->top, &s->client);

    for (uint64_t i = 0; !err && (!s->args->count || i < s->args->count) && !ferror(out); i++) {
        poll(NULL, 0, (int)(s->args->interval / NS_PER_MS));
        err = look(s);
        if (!err)
            print_plain(s, out);
    }
    return err;
}

/* ---- a screen ---- */

static void draw_detail(struct shown *s, struct screen *screen, int rows)
{
    char line[LINE_SIZE];
    size_t index = 0;
    int row = 3;

    top_line(&s->top, s->selected, line, sizeof(line));
    screen_put(screen, 2, line, true);
    for (index = s->scroll; row < rows - 1; index++, row++) {
        if (!top_detail(&s->top, s->selected, index, line, sizeof(line)))
            return;
        screen_put(screen, row, line, false);
    }
}

static void draw_rows(struct shown *s, struct screen *screen, int rows)
{
    size_t room = rows > 4 ? (size_t)rows - 3 : 1;
    size_t first = s->selected >= room ? s->selected - room + 1 : 0;
    char line[LINE_SIZE];

    for (size_t i = first; i < s->top.rows && i < first + room; i++) {
        top_line(&s->top, i, line, sizeof(line));
        screen_put(screen, 2 + (int)(i - first), line, i == s->selected);
    }
}

static void draw(struct shown *s, struct screen *screen)
{
    char line[LINE_SIZE];
    int rows, columns;

    screen_size(&rows, &columns);
    if (s->top.rows && s->selected >= s->top.rows)
        s->selected = s->top.rows - 1;
    screen_clear(screen);
    top_title(&s->top, line, sizeof(line));
    screen_put(screen, 0, line, false);
    screen_put(screen, 1, top_columns(&s->top), false);
    if (s->drilled && s->top.rows)
        draw_detail(s, screen, rows);
    else
        draw_rows(s, screen, rows);
    snprintf(line, sizeof(line), s->typing ? "filter: %s_" : "%s%s", s->typing ? s->top.filter : "",
             s->paused ? "PAUSED  1 sites  2 types  3 threads  s sort  / filter  p go on  enter  q"
                       : "1 sites  2 types  3 threads  s sort  / filter  p pause  enter more  q");
    screen_put(screen, rows - 1, line, true);
    screen_show(screen);
}

static void type(struct shown *s, int key)
{
    size_t length = strlen(s->top.filter);

    if (key == '\n' || key == '\r' || key == 27)
        s->typing = false;
    else if ((key == 127 || key == 8) && length)
        s->top.filter[length - 1] = '\0';
    else if (key >= 0x20 && key < 0x7F && length + 1 < sizeof(s->top.filter)) {
        s->top.filter[length] = (char)key;
        s->top.filter[length + 1] = '\0';
    }
    s->selected = 0;
}

static void move_by(struct shown *s, int by)
{
    size_t *at = s->drilled ? &s->scroll : &s->selected;

    if (by < 0)
        *at = *at > (size_t)-by ? *at - (size_t)-by : 0;
    else if (s->drilled || *at + (size_t)by < s->top.rows)
        *at += (size_t)by;
    else
        *at = s->top.rows ? s->top.rows - 1 : 0;
}

/* To what is behind a row. */
static void open_row(struct shown *s)
{
    if (!s->top.rows || s->drilled)
        return;
    if (s->top.view == TOP_TYPES) {
        top_open_type(&s->top, s->selected);
        s->selected = 0;
    } else {
        s->drilled = true;
        s->scroll = 0;
    }
}

static void go_back(struct shown *s)
{
    if (!s->drilled && s->top.type) {
        top_close_type(&s->top);
        s->selected = 0;
    }
    s->drilled = false;
}

/* Returns whether to go on. */
static bool obey(struct shown *s, int key)
{
    switch (key) {
    case 'q':
    case SCREEN_GONE:
        return false;
    case '1':
    case '2':
    case '3':
        top_close_type(&s->top);
        s->top.view = (enum top_view)(key - '1');
        s->selected = 0;
        s->drilled = false;
        break;
    case 's':
        s->top.order = (s->top.order + 1) % TOP_ORDERS;
        break;
    case '/':
        s->typing = true;
        break;
    case 'p':
    case ' ':
        s->paused = !s->paused;
        break;
    case '\n':
    case '\r':
    case SCREEN_RIGHT:
        open_row(s);
        break;
    case 27:
    case SCREEN_LEFT:
        go_back(s);
        break;
    case SCREEN_DOWN:
    case 'j':
        move_by(s, 1);
        break;
    case SCREEN_UP:
    case 'k':
        move_by(s, -1);
        break;
    case SCREEN_PAGE_DOWN:
        move_by(s, 20);
        break;
    case SCREEN_PAGE_UP:
        move_by(s, -20);
        break;
    }
    return true;
}

static int run_screen(struct shown *s, struct screen *screen)
{
    uint64_t next = clock_ns(), now;
    bool going = true;
    int err = 0;

    while (going && !err) {
        int key;

        now = clock_ns();
        if (now >= next && !s->paused && !s->drilled) {
            err = look(s);
            next = now + s->args->interval;
        } else {
            err = top_arrange(&s->top);
        }
        if (err)
            break;
        draw(s, screen);
        now = clock_ns();
        key = screen_key(screen, next > now ? (int)((next - now) / NS_PER_MS) + 1 : 200);
        if (s->typing && key >= 0 && key < SCREEN_GONE)
            type(s, key);
        else
            going = obey(s, key);
    }
    return err;
}

static int run_shown(struct shown *s, FILE *out)
{
    bool terminal =
        isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && !s->args->plain && !s->args->count;
    char why[CLIENT_WHY_SIZE] = "";
    struct screen *screen = terminal ? screen_open(why, sizeof(why)) : NULL;
    int err;

    if (*why)
        cli_complain(&cmd_top, "%s; plain text instead", why);
    err = screen ? run_screen(s, screen) : run_plain(s, out);
    screen_close(screen);
    if (err)
        cli_complain(&cmd_top, "%s", *s->client.why ? s->client.why : strerror(-err));
    return err ? CLI_IO : CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct top_args *a = into;
    struct shown s = {.client = {.fd = -1}, .args = a};
    int status = CLI_IO;
    long pid;

    if (!client_pid(args->word[0], &pid))
        return cli_usage_error(&cmd_top, "\"%.100s\" is not a process id", args->word[0]);
    if (a->filter && strlen(a->filter) >= sizeof(s.top.filter))
        return cli_usage_error(&cmd_top, "--filter takes at most %zu characters",
                               sizeof(s.top.filter) - 1);
    if (top_init(&s.top)) {
        top_fini(&s.top);
        return cli_failed(&cmd_top, -ENOMEM);
    }
    s.top.view = a->view;
    strcpy(s.top.filter, a->filter ? a->filter : "");
    if (client_open(&s.client, pid))
        cli_complain(&cmd_top, "%s", s.client.why);
    else
        status = run_shown(&s, out);
    client_close(&s.client);
    top_fini(&s.top);
    return status;
}

CLI_COMMAND(top, "[options] PID",
            "watch a traced process: its call sites and types by allocation, its threads",
            .syntax = {options, 1, 1, "a process id: PID", false}, .size = sizeof(struct top_args),
            .notes =
                "Counting call sites costs the traced threads nothing, and stops 10 s after `top` "
                "ends.");
