/* shadowtrace browse - logs on a terminal. */
#include "browse/browse.h"

#include "browse/editor.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/screen.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slices of time that are kept: enough to choose a hundredth. */
#define SLICE_NS   1000000u
#define SLICES_MAX 128

struct browse_args {
    struct reading_options reading;
    struct args_list symbols, own_code;
    bool no_lines, physical;
};

#define ARGS_INTO struct browse_args
static const struct args_option options[] = {
    ROW_PHYSICAL("use the machine's stacks, not the logical ones of async methods"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ARGS_ROW(LIST, "own-code", "PATTERN", own_code,
             "modules and methods that are own code, in place of what the log says"),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_EXPLAINED("tab, 1 2 3 ...", NULL,
                   "views: overview, tree, types, methods, lines, modules, threads, logs",
                   .group = "Keys"),
    ARGS_EXPLAINED("arrows, page keys", NULL, "move; enter opens; h j k l, g G, too"),
    ARGS_EXPLAINED("H", NULL, "open the heaviest path"),
    ARGS_EXPLAINED("c C", NULL, "callers and callees of what is under the cursor"),
    ARGS_EXPLAINED("e v", NULL, "its source: in $VISUAL or $EDITOR; in here"),
    ARGS_EXPLAINED("/ n N", NULL, "search"),
    ARGS_EXPLAINED("f o", NULL, "only a part: by type, method, thread, time; only own code"),
    ARGS_EXPLAINED("s F R w", NULL, "sort; fold framework, recursion; short and full names"),
    ARGS_EXPLAINED("?", NULL, "all keys"),
    ARGS_EXPLAINED("q", NULL, "quit"),
    ARGS_END};

/* What is open while logs are looked at. */
struct opened {
    const struct browse_args *args;
    struct report_problems problems;
    struct model *model;
    struct source_lines *lines;
    struct model_own *own;
    struct data_log *logs;
    struct data data;
    struct browse browse;
};

/* ---- reading ---- */

static int read_logs(struct opened *o, char **paths)
{
    struct reading_progress progress;
    struct model_options how = {
        .dimensions = {.threads = true, .slice_ns = SLICE_NS, .slices_max = SLICES_MAX},
        .physical = o->args->physical,
        .jobs = reading_threads(&o->args->reading),
        .progress = reading_progress,
        .progress_context = &progress};
    double before[MODEL_WEIGHTS] = {0};
    int err;

    reading_progress_init(&progress, &o->args->reading);
    err = model_new(&how, &o->problems, &o->model);
    if (err)
        return cli_failed(&cmd_browse, err);
    for (size_t i = 0; paths[i]; i++) {
        err = model_read(o->model, paths[i], NULL);
        reading_progress_end(&progress);
        if (err)
            return reading_failed(&cmd_browse, paths[i], model_log(o->model), err);
        o->logs[i].path = paths[i];
        for (int w = 0; w < MODEL_WEIGHTS; w++) {
            double now = model_weight_total(o->model, (enum model_weight)w);

            o->logs[i].weight[w] = now - before[w];
            before[w] = now;
        }
    }
    return cli_failed(&cmd_browse, model_finish(o->model));
}

/* Between reading and looking: own code, lines, trees. */
static int prepare(struct opened *o, size_t count)
{
    char why[1000] = "";
    int err = 0;

    reading_problems(&cmd_browse, &o->problems);
    if (!o->args->no_lines)
        err = reading_source_lines(&cmd_browse, model_defs(o->model), &o->args->symbols,
                                   model_log(o->model), &o->lines);
    if (!err)
        err = model_own_new(model_defs(o->model), model_log(o->model), o->lines,
                            o->args->own_code.item, o->args->own_code.count, &o->own, why,
                            sizeof(why));
    if (err == -ENOENT)
        return cli_usage_error(&cmd_browse, "%s", why);
    if (!err)
        err = model_know(o->model, o->own, o->lines);
    if (!err)
        err = data_init(&o->data, o->model, o->logs, count);
    if (!err)
        err = browse_init(&o->browse, &o->data);
    return cli_failed(&cmd_browse, err);
}

/* ---- the screen ---- */

static bool is_file(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, R_OK);
}

/* In the editor; without one, or without the file, on a page of ours: PDBs may have the text. */
static void edit(struct browse *b, struct screen *screen)
{
    const struct target *t = &b->edit;
    struct editor *editor = memory_zalloc(1, sizeof(*editor));
    int err = !editor ? -ENOMEM : !is_file(t->file) ? -ENOENT : 0;
    int status;

    if (!err)
        err = editor_command(editor, getenv("VISUAL"), getenv("EDITOR"), t->file, t->line);
    if (err) {
        browse_source(b);
        if (err == -EINVAL)
            browse_say(b, "$VISUAL or $EDITOR cannot be understood: a quote is open");
    } else {
        status = screen_run(screen, editor->argv);
        if (status < 0)
            browse_say(b, "cannot start %s: %s", editor->argv[0], strerror(-status));
        else if (!WIFEXITED(status) || WEXITSTATUS(status))
            browse_say(b, "%s failed", editor->argv[0]);
    }
    memory_free(editor);
}

static int look(struct opened *o)
{
    enum browse_next next = BROWSE_GOES_ON;
    char why[200];
    struct screen *screen = screen_open(why, sizeof(why));

    if (!screen) {
        cli_complain(&cmd_browse, "%s", why);
        return CLI_IO;
    }
    while (next != BROWSE_ENDS) {
        browse_draw(&o->browse, screen_begin(screen));
        screen_show(screen);
        next = browse_key(&o->browse, screen_key(screen, -1));
        if (next == BROWSE_EDIT)
            edit(&o->browse, screen);
    }
    screen_close(screen);
    return CLI_OK;
}

/* ---- the command ---- */

/* Asked before anything is read. Returns: the exit status. */
static int has_terminal(const struct args *args)
{
    char why[200] = "";

    for (size_t i = 0; i < args->count; i++)
        if (!strcmp(args->word[i], "-"))
            return cli_usage_error(&cmd_browse,
                                   "standard input is for keys: name the log's file, or use "
                                   "`shadowtrace report --view tree -`");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        snprintf(why, sizeof(why), "standard %s is none",
                 isatty(STDIN_FILENO) ? "output" : "input");
    else if (screen_possible(getenv("TERM"), why, sizeof(why)))
        return CLI_OK;
    cli_complain(&cmd_browse,
                 "it needs a terminal, and %s; the same as text: `shadowtrace report --view tree "
                 "%s`",
                 why, args->word[0]);
    return CLI_USAGE;
}

static void close_all(struct opened *o)
{
    browse_fini(&o->browse);
    data_fini(&o->data);
    model_free(o->model);
    model_own_free(o->own);
    source_lines_free(o->lines);
    report_problems_fini(&o->problems);
    memory_free(o->logs);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct opened o = {.args = into};
    int status = has_terminal(args);

    (void)out;
    if (status)
        return status;
    report_problems_init(&o.problems);
    o.logs = memory_zalloc(args->count, sizeof(*o.logs));
    status = o.logs ? read_logs(&o, args->word) : cli_failed(&cmd_browse, -ENOMEM);
    if (!status)
        status = prepare(&o, args->count);
    if (!status)
        status = look(&o);
    close_all(&o);
    return status;
}

CLI_COMMAND(browse, "[options] LOG...", "look through a log on the terminal, from view to view",
            .about = "LOG is what `shadowtrace record` wrote, plain or compressed, whole or cut. "
                     "Several logs, as of a process and those that it started, are added up.",
            .syntax = {options, 1, UINT_MAX, "a log: LOG", false},
            .size = sizeof(struct browse_args));
