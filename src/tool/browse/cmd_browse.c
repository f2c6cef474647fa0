/* shadowtrace browse - logs on a terminal. */
#include "browse/browse.h"

#include "browse/editor.h"
#include "browse/load.h"
#include "terminal/screen.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_INTO struct load_options
static const struct args_option options[] = {
    ARGS_ROW(TEXT, "filter", "WORDS", filter,
             "start with a filter, as with the key f: 'type=string thread=3'"),
    ROW_OWN(filters.own),
    ARGS_ROW(TEXT, "from", "WHEN", filters.window.from,
             "only allocations after this mark or time: 10s, 50%"),
    ARGS_ROW(TEXT, "to", "WHEN", filters.window.to, "only allocations before this mark or time"),
    ROW_PHYSICAL("use the machine's stacks, not the logical ones of async methods"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ARGS_ROW(LIST, "source", "DIR", sources,
             "also look for source files below DIR, if they are not where they were compiled "
             "(default: the current folder)"),
    ROW_OWN_CODE(filters.own_code),
    ROW_NAMES(naming),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_EXPLAINED("tab, 1 ... 9 0 L",
                   "views: overview, tree, types, methods, lines, modules, threads, namespaces, "
                   "sizes, time; logs",
                   .group = "Keys"),
    ARGS_EXPLAINED("arrows, page keys", "move; enter opens; h j k l, g G, too"),
    ARGS_EXPLAINED("H", "open the heaviest path"),
    ARGS_EXPLAINED("c C", "callers and callees of the selected row"),
    ARGS_EXPLAINED("e v", "its source: in $VISUAL or $EDITOR; in this window"),
    ARGS_EXPLAINED("/ n N", "search"),
    ARGS_EXPLAINED("f o", "filter: by type, method, thread, time; own code only"),
    ARGS_EXPLAINED("s F R w", "sort; fold framework, recursion; short and full names"),
    ARGS_EXPLAINED("?", "all keys"),
    ARGS_EXPLAINED("q", "quit"),
    ARGS_END};

/* ---- the screen ---- */

/* In the editor; on a page if there is no editor or no file: PDBs may have the text. */
static void edit(struct browse *b, struct screen *screen)
{
    const struct target *t = &b->edit;
    struct editor *editor = memory_zalloc(1, sizeof(*editor));
    char path[PATH_MAX];
    int status, err = editor ? sources_path(&b->data->sources, t->file, path) : -ENOMEM;

    if (!err)
        err = editor_command(editor, getenv("VISUAL"), getenv("EDITOR"), path, t->line);
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

static int look(struct browse *b)
{
    enum browse_next next = BROWSE_GOES_ON;
    char why[200];
    struct screen *screen = screen_open(why, sizeof(why));

    if (!screen) {
        cli_complain(&cmd_browse, "%s", why);
        return CLI_IO;
    }
    while (next != BROWSE_ENDS) {
        browse_draw(b, screen_begin(screen));
        screen_show(screen);
        next = browse_key(b, screen_key(screen, -1));
        if (next == BROWSE_EDIT)
            edit(b, screen);
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

static int run(void *into, const struct args *args, FILE *out)
{
    struct load_options *how = into;
    size_t count = args->count;
    int status = has_terminal(args);
    struct browse browse;
    struct loaded l;

    (void)out;
    if (!status)
        status = reading_once(&cmd_browse, args->word, &count);
    if (status)
        return status;
    naming_choose(&how->naming, &cmd_browse, args, NAMES_SHORT);
    status = browse_load(&cmd_browse, how, args->word, count, &l);
    if (!status) {
        status = cli_failed(&cmd_browse, browse_init(&browse, &l.data));
        if (!status)
            status = look(&browse);
        browse_fini(&browse);
    }
    browse_load_end(&l);
    return status;
}

CLI_COMMAND(
    browse, "[options] LOG...", "look through a log on the terminal, from view to view",
    .about = "LOG is a log of `shadowtrace record`, plain or compressed, complete or truncated. "
             "Several logs, for example of a process and its children, are added up.",
    CLI_TAKES_LOGS(struct load_options, options),
    .manual = CLI_MANUAL(.environment = MANUAL_TERMS(
                             {"VISUAL, EDITOR", "the editor that the key e opens the source in"},
                             MANUAL_TERM, MANUAL_NO_COLOR),
                         .examples = MANUAL_TERMS(
                             {"shadowtrace browse app.ndjson", "look through a log"},
                             {"shadowtrace browse --filter 'type=string thread=3' app.ndjson",
                              "start with the strings of one thread"})));
