/* shadowtrace top - what a living process allocates and does, as it does it. */
#include "attach/attach.h"

#include "terminal/screen.h"
#include "terminal/text.h"
#include "attach/top.h"
#include "attach/top_screen.h"
#include "command/rows.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
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
    struct naming naming;
};

static const char *const views[] = {"sites", "types", "threads", "alive", "alive-types", NULL};

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
    ROW_NAMES(naming),
    ARGS_EXPLAINED(
        "1 2 3 4 5",
        "choose the view; 4 and 5: what is alive, by call site and by type (record --live)",
        .group = "Keys"),
    ARGS_EXPLAINED("b", "reset the growth baseline of live objects"),
    ARGS_EXPLAINED("s", "sort by bytes/s (what is alive: growth), objects/s or bytes"),
    ARGS_EXPLAINED("/", "filter"),
    ARGS_EXPLAINED("p, space", "pause"),
    ARGS_EXPLAINED("arrows, j k, page keys, g G", "move"),
    ARGS_EXPLAINED("enter, right",
                   "details of a row: the call sites of a type, the stack of a site or thread"),
    ARGS_EXPLAINED("escape, left", "back"),
    ARGS_EXPLAINED("q", "quit"),
    ARGS_END};

struct shown {
    struct top top;
    struct client client;
    const struct top_args *args;
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
    putc('\n', out);
    for (size_t i = 0; top_warning(&s->top, i, line, sizeof(line)); i++) {
        text_elide(out, line, PLAIN_WIDTH);
        putc('\n', out);
    }
    fprintf(out, "%s\n", top_columns(&s->top));
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

static int run_screen(struct shown *s, struct screen *screen)
{
    uint64_t next = clock_ns(), now;
    struct top_screen view;
    bool going = true;
    int err = 0;

    top_screen_init(&view, &s->top);
    while (going && !err) {
        now = clock_ns();
        if (now >= next && !view.paused && !view.drilled) {
            err = look(s);
            next = now + s->args->interval;
        } else {
            err = top_arrange(&s->top);
        }
        if (err)
            break;
        top_screen_draw(&view, screen_begin(screen));
        screen_show(screen);
        now = clock_ns();
        going = top_screen_key(
            &view, screen_key(screen, next > now ? (int)((next - now) / NS_PER_MS) + 1 : 200));
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
    struct top_args *a = into;
    struct shown s = {.client = {.fd = -1}, .args = a};
    int status = CLI_IO;
    long pid;

    if (!client_pid(args->word[0], &pid))
        return cli_usage_error(&cmd_top, "\"%.100s\" is not a process id", args->word[0]);
    if (a->filter && strlen(a->filter) >= sizeof(s.top.filter))
        return cli_usage_error(&cmd_top, "--filter takes at most %zu characters",
                               sizeof(s.top.filter) - 1);
    naming_choose(&a->naming, &cmd_top, args, NAMES_SHORT);
    if (top_init(&s.top, a->naming.style)) {
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

CLI_COMMAND(
    top, "[options] PID",
    "watch a traced process: its call sites and types by allocation, its threads",
    CLI_TAKES(struct top_args, options, 1, 1, "a process id: PID", false),
    .notes = "Counting call sites costs the traced threads nothing, and stops 10 s after `top` "
             "ends.",
    .manual = CLI_MANUAL(
            .description = "On a terminal, `top` is a screen that follows the process: you can "
                           "sort and filter rows, and open one for its details. Otherwise, or with "
                           "--plain, it prints a block of text for each update.",
            .environment = manual_of_sockets, .files = manual_sockets,
            .examples = MANUAL_TERMS({"shadowtrace top 20265", "watch a process"},
                                     {"shadowtrace top --once --view types --rows 4 20265",
                                      "print the four types with the most allocations now"},
                                     {"shadowtrace top --view alive 20265",
                                      "watch live objects, in a process recorded with --live"})));
