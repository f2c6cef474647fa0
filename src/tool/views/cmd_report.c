#include "views/views.h"

#include "command/print_complete.h"
#include "views/print_folded.h"
#include "views/print_report.h"
#include "views/view.h"
#include "terminal/text.h"

#include "report/stacks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"text", "json", "folded", NULL};
/* --by: the rows of print_report_keys, and those of a view. */
static const char *const keys[] = {"site", "type",      "method", "thread",  "module",  "line",
                                   "own",  "namespace", "tree",   "callers", "callees", NULL};
#define BY_OWN       (REPORT_BY_LINE + 1)
#define BY_NAMESPACE (BY_OWN + 1)
#define BY_TREE      (BY_NAMESPACE + 1)
#define BY_CALLERS   (BY_TREE + 1)
#define BY_CALLEES   (BY_CALLERS + 1)
/* What rows of a live view are of. */
static const enum view_kind live_kinds[] = {[REPORT_BY_SITE] = VIEW_SITES,
                                            [REPORT_BY_TYPE] = VIEW_TYPES,
                                            [REPORT_BY_METHOD] = VIEW_METHODS,
                                            [REPORT_BY_THREAD] = VIEW_THREADS,
                                            [REPORT_BY_MODULE] = VIEW_MODULES,
                                            [REPORT_BY_LINE] = VIEW_LINES,
                                            [BY_OWN] = VIEW_OWN,
                                            [BY_NAMESPACE] = VIEW_NAMESPACES,
                                            [BY_TREE] = VIEW_TREE,
                                            [BY_CALLERS] = VIEW_CALLERS,
                                            [BY_CALLEES] = VIEW_CALLEES};

struct report_args {
    enum reading_format format;
    unsigned by;
    struct reading_options reading;
    struct filters filters;
    struct report_window found; /* of the log read last */
    struct print_report print;
    struct report_filter filter; /* of rows by a key; and their order */
    struct report_order order;
    struct args_list symbols;
    bool inline_stacks, no_lines, physical;
    enum text_links links;
    const char *min_share;
    struct from_rows from;
    struct line_rows rows;
    struct report_stacks tables;
    struct view view;
};

#define ARGS_INTO struct report_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "view", "VIEW", view.kind,
             "overview: what allocates most, at a glance; tree: from the first callers on, the "
             "hottest path opened; callers, callees: of METHOD, or of a type; sites (call paths), "
             "types, methods, lines, modules, namespaces, threads, processes (of several logs, or "
             "a folder): each with what it makes itself "
             "and, if it calls others, with them; sizes: of objects, by heap; time. Of a log "
             "recorded with --live, by --by (own): live: what the last collection, or that of "
             "--at, has left; peak: what the one left that left most; end: what the last one left "
             "and, as new, what was allocated after it; grown: what was alive at --to less what "
             "was at --from; temporary: dead at its first collection; lifetimes: in which "
             "generation, and after how many collections, objects died. Alive means not known to "
             "be dead: a collection looks at its generations only, and a finalizer keeps its "
             "object for one more",
             .words = view_words, .group = "What is shown"),
    ARGS_ROW(TEXT, "at", "WHEN", view.at,
             "of --view live: after the last collection before this mark, or time, or after the "
             "collection of this number. The log has the sums of at most one collection a second, "
             "and of those before a mark: where they are of another one, a line says so"),
    ARGS_ROW(WORD, "by", "KEY", by,
             "instead of a view: site (call path and type), type, method (the one that allocates), "
             "thread, module (of that method), line (the innermost with a source line, and type), "
             "own (the nearest line of own code), namespace; tree, callers, callees: as the views, "
             "also of what is alive; method shows calls, total and self time, too, if the log has "
             "calls (record --events alloc,calls)",
             .words = keys),
    ROW_TOP(print.top),
    ARGS_ROW(WORD, "sort", "KEY", view.sort,
             "rows by their bytes, by allocs (objects), or by total: bytes with those of calls",
             .words = view_sorts),
    ROW_MIN_BYTES(order.least_bytes, "only rows of at least this many bytes"),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "only rows, or branches of a tree, of at least this share of the bytes: 0.5%"),
    ROWS_FILTERS(NULL),
    ROW_PHYSICAL(
        "use the machine's stacks. By default, an async method that was resumed is below its "
        "caller, not below what completed the task it waited for; where the log cannot "
        "tell the caller the stack ends there: (one of 3 callers), (callers not in the "
        "log)"),
    ROW_STEADY(": when the program is not recorded, code compiled ahead of time runs in its "
               "place"),
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
    ROW_FROM_ROWS,
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

static void fill_view(struct report_args *a, const struct args *args, FILE *out)
{
    struct view *v = &a->view;
    bool json = a->format == READING_JSON;

    v->command = &cmd_report;
    v->format = a->format;
    v->how = (struct loading_options){LOADING_ASKED(a)};
    v->filter = filters_model(&a->filters);
    v->filtered = filters_any(&a->filters);
    v->wide = a->print.stack.wide;
    v->urls = a->print.stack.urls;
    v->links = !json && text_links_wanted(a->links, out);
    naming_choose(&a->print.stack.naming, &cmd_report, args, json ? NAMES_FULL : NAMES_SHORT);
    v->style = a->print.stack.naming.style;
    v->top = a->print.top;
    v->min_bytes = a->order.least_bytes;
    v->depth = a->print.stack.depth;
    v->depth_given = args_given(&cmd_report.syntax, args, "depth");
    v->top_given = args_given(&cmd_report.syntax, args, "top");
}

static int read_all(struct report_args *a, struct report_sites *sites, char **logs)
{
    struct reading_progress progress;
    int err = 0, status = CLI_OK;

    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(sites, reading_threads(&a->reading));
    report_sites_progress(sites, reading_progress, &progress);
    for (; *logs && !err && !status; logs++) {
        status = reading_window(&cmd_report, *logs, &a->filters.window, &a->found);
        report_sites_window(sites, a->found.has_from || a->found.has_to ? &a->found : NULL);
        if (!status)
            err = report_sites_read(sites, *logs);
        reading_progress_end(&progress);
        if (err)
            status = reading_failed(&cmd_report, *logs, report_sites_log(sites), err);
    }
    return status;
}

/* The cells that the filter lets through. */
static int choose(struct report_args *a, struct report_sites *sites)
{
    struct report_cells *cells = report_sites_cells(sites);

    if (!cells)
        return cli_failed(&cmd_report, -ENOMEM);
    a->view.read.lines = a->print.stack.lines;
    a->view.filter.thread = 0; /* as they were read */
    a->view.filter.steady = false;
    return view_choose(&a->view, cells);
}

/* Between reading and the rows: who tells lines, and who called async methods. */
static int look_up(struct report_args *a, struct report_sites *sites)
{
    const struct report_defs *defs = a->print.stack.defs = report_sites_defs(sites);
    int err = a->physical ? 0 : report_sites_logical(sites), status;

    if (!err && !a->no_lines && a->format != READING_FOLDED)
        err = reading_source_lines(&cmd_report, defs, &a->symbols, report_sites_log(sites),
                                   &a->print.stack.lines);
    if (!err)
        err = from_rows_give(&a->from, defs, a->print.stack.lines);
    status = cli_failed(&cmd_report, err);
    if (!status && a->filter.chosen)
        status = choose(a, sites);
    if (status)
        return status;
    if (a->format != READING_FOLDED)
        err = print_stack_names(&a->print.stack, NULL);
    line_rows_init(&a->rows, defs, a->print.stack.lines);
    a->print.rows = &a->rows;
    report_sites_lines(sites, line_rows_of, &a->rows);
    report_sites_order(sites, &a->order);
    if (!err && a->physical && a->print.by == REPORT_BY_SITE)
        err = report_async_new(defs, &a->print.stack.async);
    return cli_failed(&cmd_report, err ? err : report_sites_finish(sites));
}

static int print(struct report_args *a, struct report_sites *sites, FILE *out)
{
    int err = 0;

    a->print.stack.links = a->format == READING_TEXT && text_links_wanted(a->links, out);
    a->print.sites = sites;
    a->print.stack.tables = a->inline_stacks ? NULL : &a->tables;
    if (a->format == READING_FOLDED) {
        err = print_folded_sites(sites, out);
        print_complete_stderr(&cmd_report, report_sites_log(sites));
    } else if (a->format == READING_TEXT) {
        print_report_text(&a->print, out);
    } else {
        err = print_report_json(&a->print, out);
    }
    source_lines_missing(a->print.stack.lines, NULL, NULL);
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
    a->filter.physical = a->physical;
    status = cli_failed(&cmd_report, report_sites_new(a->print.by, &a->filter, &problems, &sites));
    if (!status && a->reading.rows) {
        status = from_rows_read(&cmd_report, &a->filters.window, logs, SIZE_MAX, &a->from);
        logs = a->from.logs;
    }
    if (!status)
        status = read_all(a, sites, logs);
    if (!status) {
        reading_problems(&cmd_report, &problems);
        status = look_up(a, sites);
    }
    if (!status)
        status = cli_failed(&cmd_report, print(a, sites, out));
    report_async_free(a->print.stack.async);
    names_free(a->print.stack.names);
    line_rows_fini(&a->rows);
    source_lines_free(a->print.stack.lines);
    report_stacks_fini(&a->tables);
    report_sites_free(sites);
    from_rows_free(&a->from);
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

/* The overview has lines of own code, if there is any: nobody misses those of other modules. */
static bool is_shown(const void *own, uint32_t module)
{
    return !model_own_any(own) || model_own_of_module(own, module) == MODEL_OWN;
}

static int show(struct report_args *a, FILE *out)
{
    struct view *v = &a->view;
    int status = view_load(v), err = 0;

    report_stacks_init(&a->tables);
    if (!status) {
        v->stack = a->print.stack;
        v->stack.defs = v->read.defs;
        v->stack.lines = v->read.lines;
        v->stack.names = v->style == NAMES_SHORT ? v->read.names : NULL;
        v->stack.tables = a->inline_stacks ? NULL : &a->tables;
        err = v->kind == VIEW_OVERVIEW    ? view_overview(v, out)
              : v->kind == VIEW_TREE      ? view_paths(v, out)
              : v->kind == VIEW_CALLERS   ? view_paths(v, out)
              : v->kind == VIEW_CALLEES   ? view_paths(v, out)
              : v->kind == VIEW_LIFETIMES ? view_lifetimes(v, out)
              : v->kind == VIEW_TIME      ? view_time(v, out)
                                          : view_flat(v, out);
        status = err == -EINVAL ? CLI_USAGE : cli_failed(&cmd_report, err);
    }
    if (!status)
        source_lines_missing(v->read.lines, v->kind == VIEW_OVERVIEW ? is_shown : NULL,
                             v->read.own);
    view_unload(v);
    report_stacks_fini(&a->tables);
    return status;
}

static bool is_tree(enum view_kind kind)
{
    return kind == VIEW_TREE || kind == VIEW_CALLERS || kind == VIEW_CALLEES;
}

/* The same of live objects. */
static int check_live(const struct report_args *a, const struct args *args)
{
    const struct view *v = &a->view;
    const struct reading_window *window = &a->filters.window;

    if ((window->from || window->to) && (v->live == VIEW_LIVE || v->live == VIEW_END))
        return cli_usage_error(&cmd_report, "--view %s is of one moment: --view live --at WHEN",
                               view_words[v->live]);
    if (!v->live)
        return CLI_OK;
    if (v->kind == VIEW_THREADS || a->filters.thread)
        return cli_usage_error(&cmd_report,
                               "--view %s knows objects by what makes them, not by thread",
                               view_words[v->live]);
    if (v->sort == MODEL_SORT_TOTAL)
        return cli_usage_error(&cmd_report, "--sort total does not go with --view %s",
                               view_words[v->live]);
    if (v->live == VIEW_LIFETIMES && is_tree(v->kind))
        return cli_usage_error(&cmd_report, "--view lifetimes has no %s: --by own, type or site",
                               view_words[v->kind]);
    if (v->kind == VIEW_LIFETIMES && args_given(&cmd_report.syntax, args, "sort"))
        return cli_usage_error(&cmd_report, "--sort needs --by in --view lifetimes");
    return CLI_OK;
}

/* What makes no sense in a view. Returns: CLI_OK; else a line has said so. */
static int check_view(const struct report_args *a, const struct args *args)
{
    const struct view *v = &a->view;
    bool sorts = v->kind != VIEW_TIME && v->kind != VIEW_SIZES,
         totals = v->kind != VIEW_TYPES && v->kind != VIEW_SITES && v->kind != VIEW_THREADS &&
                  v->kind != VIEW_PROCESSES,
         places = v->kind == VIEW_OVERVIEW || v->kind == VIEW_TREE || v->kind == VIEW_SITES ||
                  v->kind == VIEW_LINES || v->kind == VIEW_OWN;

    if (a->format == READING_FOLDED)
        return cli_usage_error(&cmd_report, "--format folded needs --by site");
    if (a->inline_stacks && v->kind != VIEW_SITES)
        return cli_usage_error(&cmd_report, "--inline-stacks needs --view sites, or --by site");
    if (a->no_lines && v->kind == VIEW_LINES)
        return cli_usage_error(&cmd_report, "--no-lines does not go with --view lines");
    if (!sorts && args_given(&cmd_report.syntax, args, "sort"))
        return cli_usage_error(&cmd_report,
                               "--sort does not go with --view %s: its rows are in "
                               "the order of their %ss",
                               view_word(v), view_by(v->kind));
    if (v->sort == MODEL_SORT_TOTAL && !totals)
        return cli_usage_error(&cmd_report,
                               "--sort total does not go with --view %s: its rows "
                               "call nothing",
                               view_word(v));
    if (a->print.stack.urls && !places)
        return cli_usage_error(&cmd_report,
                               "--urls does not go with --view %s: its rows have no "
                               "lines",
                               view_word(v));
    return CLI_OK;
}

static int run_view(struct report_args *a, const struct args *args, FILE *out)
{
    struct view *v = &a->view;
    size_t count = args->count;
    int status;

    if (check_view(a, args) || check_live(a, args))
        return CLI_USAGE;
    if (v->kind == VIEW_CALLERS || v->kind == VIEW_CALLEES) {
        if (args->count < 2)
            return cli_usage_error(&cmd_report, "expected a method and a log: --view %s METHOD LOG",
                                   view_word(v));
        v->of = take_method(args->word);
        count--;
    }
    v->min_share = -1;
    if (filters_share(&cmd_report, a->min_share, &v->min_share))
        return CLI_USAGE;
    v->logs = args->word;
    v->typed = a->filters.processes.count ? args->word : args->typed;
    status = filters_logs(&cmd_report, &a->filters, v->logs, &count);
    if (status)
        return status;
    fill_view(a, args, out);
    return show(a, out);
}

/* ---- rows by a key ---- */

static int run_rows(struct report_args *a, const struct args *args, FILE *out)
{
    const struct filters *f = &a->filters;
    size_t count = args->count;
    int status;

    if (a->view.sort == MODEL_SORT_TOTAL)
        return cli_usage_error(&cmd_report, "--sort total needs --view methods, lines, modules or "
                                            "namespaces, or --by own");
    a->order.allocs = a->view.sort == MODEL_SORT_ALLOCS;
    if (filters_share(&cmd_report, a->min_share, &a->order.least_share))
        return CLI_USAGE;
    a->filter = (struct report_filter){.thread = f->thread,
                                       .steady = f->steady,
                                       .chosen = f->types.count || f->methods.count ||
                                                 f->exclude.count || f->below.count || f->own ||
                                                 f->no_own || f->own_code.count};
    a->print.by = (enum report_by)a->by;
    if (a->format == READING_FOLDED && a->print.by != REPORT_BY_SITE)
        return cli_usage_error(&cmd_report, "--format folded needs --by site");
    a->print.bounds = &a->filters.window;
    a->print.found = &a->found;
    a->print.filtered = filters_any(f);
    fill_view(a, args, out);
    status = filters_logs(&cmd_report, &a->filters, args->word, &count);
    return status ? status : report(a, args->word, out);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct report_args *a = into;
    bool by = args_given(&cmd_report.syntax, args, "by"),
         view = args_given(&cmd_report.syntax, args, "view");

    if (a->view.at && a->view.kind != VIEW_LIVE)
        return cli_usage_error(&cmd_report, "--at needs --view live");
    a->view.question = view_question(a->view.kind);
    if (by && view && !a->view.question)
        return cli_usage_error(&cmd_report, "--by does not go with --view %s",
                               view_words[a->view.kind]);
    if (a->view.question) {
        a->view.live = a->view.kind;
        if (by || a->view.live != VIEW_LIFETIMES)
            a->view.kind = by ? live_kinds[a->by] : VIEW_OWN;
    } else if (by && a->by >= BY_OWN) {
        a->view.kind = live_kinds[a->by];
    }
    view = view || a->view.kind == VIEW_OWN || a->view.kind == VIEW_NAMESPACES ||
           is_tree(a->view.kind) || (!by && a->format == READING_TEXT);
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
             "standard input. Several logs are added up. METHOD, for callers and callees, is a "
             "method or type, or a pattern of some.",
    CLI_TAKES_LOGS(struct report_args, options),
    .manual = CLI_MANUAL(
            .description =
                "Every number is of the whole log, or of the part that was asked for. Where the "
                "log is not complete, or anything was lost, the report says how much and why.",
            .environment = manual_of_terminal,
            .examples = MANUAL_TERMS(
                {"shadowtrace report app.ndjson", "see what allocates, at a glance"},
                {"shadowtrace report --view lines --top 50 app.ndjson",
                 "see the fifty lines that allocate most"},
                {"shadowtrace report --view callers string app.ndjson", "see who makes strings"},
                {"shadowtrace report --view tree --own --from warm app.ndjson",
                 "see the tree of what own code allocates after a mark"},
                {"shadowtrace report --view grown --from warm --to later app.ndjson",
                 "see what has come to stay between two marks, of a log recorded with --live"},
                {"shadowtrace report --view processes logs/",
                 "see which process of a run allocates, of all whose logs are in a folder"},
                {"shadowtrace report --from-rows web-1.rows web-2.rows",
                 "see what two processes allocate, of what `export --format rows` wrote of them"},
                {"shadowtrace report --format json app.ndjson | jq '.rows[:3]'",
                 "read it with a program"}),
            .see_also = "jq(1)"));
