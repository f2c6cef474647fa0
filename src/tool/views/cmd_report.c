#include "views/views.h"

#include "command/print_complete.h"
#include "views/print_folded.h"
#include "views/print_report.h"
#include "views/view.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"

#include "report/stacks.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"text", "json", "folded", NULL};
/* --by: the rows of print_report_keys, and those of a view. */
static const char *const keys[] = {"site",   "type", "method", "thread",
                                   "module", "line", "own",    NULL};
#define BY_OWN (REPORT_BY_LINE + 1)

struct report_args {
    enum reading_format format;
    unsigned by;
    struct reading_options reading;
    struct reading_window window;
    struct report_window found; /* of the log read last */
    struct print_report print;
    struct report_filter filter;
    struct args_list symbols, types, methods, exclude, below, own_code;
    bool inline_stacks, no_lines, physical;
    enum text_links links;
    const char *min_share;
    struct line_rows rows;
    struct report_stacks tables;
    struct view view;
};

#define ARGS_INTO struct report_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "view", "VIEW", view.kind,
             "overview: what allocates most, at a glance; tree: from the first callers on, the "
             "hottest path opened; callers, callees: of METHOD, or of a type; sites (call paths), "
             "types, methods, lines, modules, namespaces, threads: each with what it makes itself "
             "and, if it calls others, with them; sizes: of objects, by heap; time",
             .words = view_words, .group = "What is shown"),
    ARGS_ROW(WORD, "by", "KEY", by,
             "instead of a view: site (call path and type), type, method (the one that allocates), "
             "thread, module (of that method), line (the innermost with a source line, and type), "
             "own (the nearest line of own code); method shows calls, total and self time, too, if "
             "the log has calls (record --events alloc,calls)",
             .words = keys),
    ROW_TOP(print.top),
    ARGS_ROW(WORD, "sort", "KEY", view.sort,
             "rows by their bytes, by allocs (objects), or by total: bytes with those of calls",
             .words = view_sorts),
    ROW_MIN_BYTES(print.min_bytes, "only rows of at least this many bytes"),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "only rows, or branches of a tree, of at least this share of the bytes: 0.5%"),
    ROW_THREAD,
    ROW_TYPES,
    ROW_METHODS,
    ROW_EXCLUDE,
    ROW_BELOW,
    ROW_OWN(view.filter.own),
    ROW_OWN_CODE(own_code),
    ROW_FROM("WHEN",
             "only what was allocated after this mark (`shadowtrace ctl PID mark MARK`), or from "
             "this time on: 10s, 500ms, 50%"),
    ROW_TO("WHEN", "only what was allocated before this mark, the first of its name after --from, "
                   "or this time"),
    ROW_PHYSICAL(
        "use the machine's stacks. By default, an async method that was resumed is below its "
        "caller, not below what completed the task it waited for; where the log cannot "
        "tell the caller the stack ends there: (one of 3 callers), (callers not in the "
        "log)"),
    ARGS_ROW(FLAG, "steady", NULL, filter.steady,
             "leave out objects that only unoptimised code makes: when the program is not "
             "recorded, code compiled ahead of time runs in its place"),
    ARGS_ROW(WORD, "format", NULL, format,
             "json: one object, as described in report_schema.json, by default by site; stacks are "
             "tables. folded: a line for each stack with its type and bytes, as `export --format "
             "collapsed --names raw --min-share 0` has them, by bytes",
             .words = formats, .group = "How it is shown"),
    ROW_INLINE_STACKS,
    ROW_DEPTH(print.stack.depth),
    ROW_ALL_FRAMES(view.all_frames),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ARGS_ROW(FLAG, "urls", NULL, print.stack.urls,
             "also show the Source Link address of each line; nothing is fetched"),
    ARGS_ROW(WORD, "links", "WHEN", links,
             "make files links that terminals open: auto (on a terminal), always, never",
             .words = text_links_words),
    ROW_NAMES(print.stack.naming),
    ROW_WIDE(print.stack.wide),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

static int read_all(struct report_args *a, struct report_sites *sites, char **logs)
{
    struct reading_progress progress;
    int err = 0, status = CLI_OK;

    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(sites, reading_threads(&a->reading));
    report_sites_progress(sites, reading_progress, &progress);
    for (; *logs && !err && !status; logs++) {
        status = reading_window(&cmd_report, *logs, &a->window, &a->found);
        report_sites_window(sites, a->found.has_from || a->found.has_to ? &a->found : NULL);
        if (!status)
            err = report_sites_read(sites, *logs);
        reading_progress_end(&progress);
        if (err)
            status = reading_failed(&cmd_report, *logs, report_sites_log(sites), err);
    }
    return status;
}

/* Between reading and the rows: who tells lines, and who called async methods. */
static int look_up(struct report_args *a, struct report_sites *sites)
{
    const struct report_defs *defs = a->print.stack.defs = report_sites_defs(sites);
    int err = a->physical ? 0 : report_sites_logical(sites);

    if (!err && !a->no_lines && a->format != READING_FOLDED)
        err = reading_source_lines(&cmd_report, defs, &a->symbols, report_sites_log(sites),
                                   &a->print.stack.lines);
    if (!err && a->format != READING_FOLDED)
        err = print_stack_names(&a->print.stack, NULL);
    line_rows_init(&a->rows, defs, a->print.stack.lines);
    a->print.rows = &a->rows;
    report_sites_lines(sites, line_rows_of, &a->rows);
    if (!err && a->physical && a->print.by == REPORT_BY_SITE)
        err = report_async_new(defs, &a->print.stack.async);
    return err ? err : report_sites_finish(sites);
}

static int print(struct report_args *a, struct report_sites *sites, FILE *out)
{
    int err = 0;

    a->print.stack.links = a->format == READING_TEXT && text_links_wanted(a->links, out);
    a->print.sites = sites;
    a->print.stack.tables = a->inline_stacks ? NULL : &a->tables;
    if (a->format == READING_FOLDED) {
        err = print_folded_sites(sites, a->print.min_bytes, out);
        print_complete_stderr(&cmd_report, report_sites_log(sites));
    } else if (a->format == READING_TEXT) {
        print_report_text(&a->print, out);
    } else {
        err = print_report_json(&a->print, out);
    }
    source_lines_missing(a->print.stack.lines);
    return err;
}

static int report(struct report_args *a, char **logs, FILE *out)
{
    struct report_problems problems;
    struct report_sites *sites;
    int status;

    report_problems_init(&problems);
    report_stacks_init(&a->tables);
    a->print.problems = &problems;
    status = cli_failed(&cmd_report, report_sites_new(a->print.by, &a->filter, &problems, &sites));
    if (!status)
        status = read_all(a, sites, logs);
    if (!status) {
        reading_problems(&cmd_report, &problems);
        status = cli_failed(&cmd_report, look_up(a, sites));
    }
    if (!status)
        status = cli_failed(&cmd_report, print(a, sites, out));
    report_async_free(a->print.stack.async);
    names_free(a->print.stack.names);
    line_rows_fini(&a->rows);
    source_lines_free(a->print.stack.lines);
    report_stacks_fini(&a->tables);
    report_sites_free(sites);
    report_problems_fini(&problems);
    return status;
}

/* ---- views ---- */

static bool is_log(const char *word)
{
    return strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

/* Of the words the METHOD: the first that is no file; the first, if all are. It leaves the logs. */
static const char *take_method(char **words)
{
    size_t at = 0;
    const char *method;

    for (size_t i = 0; words[i]; i++)
        if (!is_log(words[i])) {
            at = i;
            break;
        }
    method = words[at];
    for (; words[at]; at++)
        words[at] = words[at + 1];
    return method;
}

/* "0.5%" or "0.5". Returns: whether it is a percentage. */
static bool read_share(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end) / 100;
    return end != text && (!*end || strcmp(end, "%") == 0) && *out >= 0 && *out <= 1;
}

static struct model_globs globs_of(const struct args_list *list)
{
    return (struct model_globs){list->item, list->count};
}

static void fill_view(struct report_args *a, const struct args *args, FILE *out)
{
    struct view *v = &a->view;
    bool json = a->format == READING_JSON;

    v->command = &cmd_report;
    v->format = a->format;
    v->reading = a->reading;
    v->window = a->window;
    v->filter.types = globs_of(&a->types);
    v->filter.methods = globs_of(&a->methods);
    v->filter.exclude = globs_of(&a->exclude);
    v->filter.below = globs_of(&a->below);
    v->filter.thread = a->filter.thread;
    v->filter.steady = a->filter.steady;
    v->filtered = a->types.count || a->methods.count || a->exclude.count || a->below.count ||
                  v->filter.thread || v->filter.steady || v->filter.own;
    v->own_code = &a->own_code;
    v->symbols = &a->symbols;
    v->physical = a->physical;
    v->no_lines = a->no_lines;
    v->wide = a->print.stack.wide;
    v->urls = a->print.stack.urls;
    v->links = !json && text_links_wanted(a->links, out);
    naming_choose(&a->print.stack.naming, &cmd_report, args, json ? NAMES_FULL : NAMES_SHORT);
    v->style = a->print.stack.naming.style;
    v->top = a->print.top;
    v->min_bytes = a->print.min_bytes;
    v->depth = a->print.stack.depth;
    v->depth_given = args_given(&cmd_report.syntax, args, "depth");
    v->top_given = args_given(&cmd_report.syntax, args, "top");
}

static int show(struct report_args *a, FILE *out)
{
    struct view *v = &a->view;
    int status = view_load(v), err = 0;

    report_stacks_init(&a->tables);
    if (!status) {
        v->stack = a->print.stack;
        v->stack.defs = v->defs;
        v->stack.lines = v->lines;
        v->stack.names = v->style == NAMES_SHORT ? v->names : NULL;
        v->stack.tables = a->inline_stacks ? NULL : &a->tables;
        err = v->kind == VIEW_OVERVIEW  ? view_overview(v, out)
              : v->kind == VIEW_TREE    ? view_paths(v, out)
              : v->kind == VIEW_CALLERS ? view_paths(v, out)
              : v->kind == VIEW_CALLEES ? view_paths(v, out)
              : v->kind == VIEW_TIME    ? view_time(v, out)
                                        : view_flat(v, out);
        status = err == -EINVAL ? CLI_USAGE : cli_failed(&cmd_report, err);
    }
    source_lines_missing(v->lines);
    view_unload(v);
    report_stacks_fini(&a->tables);
    return status;
}

static int run_view(struct report_args *a, const struct args *args, FILE *out)
{
    struct view *v = &a->view;

    if (a->format == READING_FOLDED)
        return cli_usage_error(&cmd_report, "--format folded needs --by site");
    if (a->inline_stacks && v->kind != VIEW_SITES)
        return cli_usage_error(&cmd_report, "--inline-stacks needs --view sites, or --by site");
    if (v->kind == VIEW_CALLERS || v->kind == VIEW_CALLEES) {
        if (args->count < 2)
            return cli_usage_error(&cmd_report, "expected a method and a log: --view %s METHOD LOG",
                                   view_words[v->kind]);
        v->of = take_method(args->word);
    }
    v->min_share = -1;
    if (a->min_share && !read_share(a->min_share, &v->min_share))
        return cli_usage_error(
            &cmd_report, "--min-share takes a percentage, such as 0.5%%, not \"%s\"", a->min_share);
    v->logs = args->word;
    fill_view(a, args, out);
    return show(a, out);
}

/* ---- rows by a key ---- */

static int run_rows(struct report_args *a, const struct args *args, FILE *out)
{
    static const char *const of_views[] = {"sort", "min-share", "exclude",   "below",
                                           "own",  "own-code",  "all-frames"};

    for (size_t i = 0; i < COUNT_OF(of_views); i++)
        if (args_given(&cmd_report.syntax, args, of_views[i]))
            return cli_usage_error(&cmd_report, "--%s needs --view, or --by own", of_views[i]);
    if (a->types.count > 1 || a->methods.count > 1)
        return cli_usage_error(&cmd_report, "several --%s need --view, or --by own",
                               a->types.count > 1 ? "type" : "method");
    a->filter.type = a->types.count ? a->types.item[0] : NULL;
    a->filter.method = a->methods.count ? a->methods.item[0] : NULL;
    a->print.by = (enum report_by)a->by;
    if (a->format == READING_FOLDED && a->print.by != REPORT_BY_SITE)
        return cli_usage_error(&cmd_report, "--format folded needs --by site");
    a->print.bounds = &a->window;
    a->print.found = &a->found;
    a->print.filtered = a->filter.thread || a->filter.type || a->filter.method || a->filter.steady;
    return report(a, args->word, out);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct report_args *a = into;
    bool by = args_given(&cmd_report.syntax, args, "by"),
         view = args_given(&cmd_report.syntax, args, "view");

    if (by && view)
        return cli_usage_error(&cmd_report, "--by does not go with --view");
    if (by && a->by == BY_OWN)
        a->view.kind = VIEW_OWN;
    view = view || a->view.kind == VIEW_OWN || (!by && a->format == READING_TEXT);
    if (!view || a->view.kind == VIEW_SITES || a->view.kind == VIEW_OVERVIEW) {
        if (print_stack_choose(&a->print.stack, &a->print.top, &cmd_report, args,
                               a->format == READING_JSON, a->inline_stacks))
            return CLI_USAGE;
    } else if (a->format == READING_JSON && !args_given(&cmd_report.syntax, args, "top")) {
        a->print.top = 0;
    }
    return view ? run_view(a, args, out) : run_rows(a, args, out);
}

CLI_COMMAND(
    report, "[options] [METHOD] LOG...", "show what allocates: an overview, or any view of it",
    .about = "LOG is what `shadowtrace record` wrote, plain or compressed, whole or cut; `-` is "
             "standard input. Several logs are added up. METHOD, for --view callers and callees, "
             "is a method or type, or a pattern of some.",
    .syntax = {options, 1, UINT_MAX, "a log: LOG", false}, .size = sizeof(struct report_args));
