#include "views/views.h"

#include "command/print_complete.h"
#include "views/view.h"
#include "terminal/text.h"

#include "report/stacks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"text", "json", "folded", NULL};

/* --by: each is the view of that name. X(word, view, the same of live objects) */
#define BYS(X) \
    X("site", SITES, SITES) \
    X("type", TYPES, TYPES) \
    X("method", METHODS, METHODS) \
    X("thread", THREADS, THREADS) \
    X("module", MODULES, MODULES) \
    X("line", LINE_TYPES, LINES) \
    X("own", OWN, OWN) \
    X("namespace", NAMESPACES, NAMESPACES) \
    X("tree", TREE, TREE) \
    X("callers", CALLERS, CALLERS) \
    X("callees", CALLEES, CALLEES)
#define BY_WORD(word, view, live) word,
#define BY_VIEW(word, view, live) {VIEW_##view, VIEW_##live},
static const char *const keys[] = {BYS(BY_WORD) NULL};
static const enum view_kind kinds[][2] = {BYS(BY_VIEW)};

struct report_args {
    enum reading_format format;
    unsigned by;
    struct reading_options reading;
    struct filters filters;
    struct print_stack stack;
    uint64_t top, min_bytes;
    struct args_list symbols;
    bool inline_stacks, no_lines, physical;
    enum text_links links;
    const char *min_share;
    struct report_stacks tables;
    struct view view;
};

#define VIEW_HELP(name, word, by, row, question, key, form, letter, help) word help "; "
#define ARGS_INTO                                                         struct report_args
static const struct args_option options[] = {
    ARGS_ROW(
        WORD, "view", "VIEW", view.kind,
        VIEWS(
            VIEW_HELP) "rows have their own allocations and, if they call others, a total. The "
                       "views of live objects, from live on, need a log recorded with --live, and "
                       "have rows by --by (own). Alive means not known to be dead: a collection "
                       "checks only its generations, and a finalizer keeps its object for one "
                       "more",
        .words = view_words, .group = "What is shown"),
    ARGS_ROW(TEXT, "at", "WHEN", view.at,
             "with --view live: after the last collection before this mark or time, or after the "
             "collection with this number. The log has sums of at most one collection a second, "
             "and before marks; a line says if they are those of another collection"),
    ARGS_ROW(WORD, "by", "KEY", by,
             "the view with these rows: site (call path and type), type, method, thread, module, "
             "line (the innermost with a source line, and type: --view line-types), own (the "
             "nearest line of own code), namespace, tree, callers, callees; with a view of live "
             "objects: its rows. Data that the log lacks stays empty. Methods also have calls, "
             "total and self time if the log has calls (record --events alloc,calls)",
             .words = keys),
    ROW_TOP(top),
    ARGS_ROW(WORD, "sort", "KEY", view.sort,
             "sort by bytes, allocs (objects), or total (bytes including callees)",
             .words = view_sorts),
    ROW_MIN_BYTES(min_bytes, "only rows of at least this many bytes"),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "only rows, or branches of a tree, of at least this share of the bytes: 0.5%"),
    ROWS_FILTERS(NULL),
    ROW_PHYSICAL("use the machine's stacks. By default, a resumed async method is below its "
                 "caller, not below the code that completed its task; if the log does not identify "
                 "the caller, the stack ends there: (one of 3 callers), (callers not in the log)"),
    ROW_STEADY(": without recording, precompiled code runs instead"),
    ARGS_ROW(
        WORD, "format", NULL, format,
        "json: one object, as described in report_schema.json, by default by site; stacks are "
        "tables. folded: an old spelling of `export --format collapsed --names raw --min-share "
        "0`",
        .words = formats, .group = "How it is shown"),
    ROW_INLINE_STACKS,
    ROW_DEPTH(stack.depth),
    ROW_ALL_FRAMES(view.all_frames),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ARGS_ROW(FLAG, "urls", NULL, stack.urls,
             "also show the Source Link address of each line; nothing is fetched"),
    ARGS_ROW(WORD, "links", "WHEN", links,
             "turn file names into terminal links: auto (on a terminal), always, never",
             .words = text_links_words),
    ROW_NAMES(stack.naming),
    ROW_WIDE(stack.wide),
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
    v->wide = a->stack.wide;
    v->urls = a->stack.urls;
    v->links = !json && text_links_wanted(a->links, out);
    naming_choose(&a->stack.naming, &cmd_report, args, json ? NAMES_FULL : NAMES_SHORT);
    v->style = a->stack.naming.style;
    v->top = a->format == READING_FOLDED ? 0 : a->top;
    v->min_bytes = a->min_bytes;
    v->depth = a->stack.depth;
    v->depth_given = args_given(&cmd_report.syntax, args, "depth");
    v->top_given = args_given(&cmd_report.syntax, args, "top");
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

static int print(struct view *v, FILE *out)
{
    switch (v->kind) {
    case VIEW_OVERVIEW:
        return view_overview(v, out);
    case VIEW_TREE:
    case VIEW_CALLERS:
    case VIEW_CALLEES:
        return view_paths(v, out);
    case VIEW_LIFETIMES:
        return view_lifetimes(v, out);
    case VIEW_TIME:
        return view_time(v, out);
    default:
        return view_flat(v, out);
    }
}

static int show(struct report_args *a, FILE *out)
{
    struct view *v = &a->view;
    int status = view_load(v), err = 0;

    report_stacks_init(&a->tables);
    if (!status) {
        v->stack = a->stack;
        v->stack.defs = v->read.defs;
        v->stack.lines = v->read.lines;
        v->stack.names = v->style == NAMES_SHORT ? v->read.names : NULL;
        v->stack.tables = a->inline_stacks ? NULL : &a->tables;
        if (a->physical && v->kind == VIEW_SITES)
            err = report_async_new(v->read.defs, &v->stack.async);
        if (!err)
            err = print(v, out);
        status = err == -EINVAL ? CLI_USAGE : cli_failed(&cmd_report, err);
    }
    if (!status && v->format == READING_FOLDED) {
        cli_complain(&cmd_report, "--format folded is an old spelling of `shadowtrace export "
                                  "--format collapsed`");
        print_complete_stderr(&cmd_report, model_log(v->read.model));
    } else if (!status)
        source_lines_missing(v->read.lines, v->kind == VIEW_OVERVIEW ? is_shown : NULL,
                             v->read.own);
    report_async_free(v->stack.async);
    view_unload(v);
    report_stacks_fini(&a->tables);
    return status;
}

static bool is_tree(enum view_kind kind)
{
    return kind == VIEW_TREE || kind == VIEW_CALLERS || kind == VIEW_CALLEES;
}

/* why: "" or ": " and a reason. */
static int refuse(const struct view *v, const char *option, const char *why)
{
    return cli_usage_error(&cmd_report, "%s does not go with --view %s%s", option, view_word(v),
                           why);
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
        return refuse(v, "--sort total", "");
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
                  v->kind != VIEW_PROCESSES && v->kind != VIEW_LINE_TYPES,
         places = v->kind == VIEW_OVERVIEW || v->kind == VIEW_TREE || v->kind == VIEW_SITES ||
                  v->kind == VIEW_LINES || v->kind == VIEW_LINE_TYPES || v->kind == VIEW_OWN;

    if (a->format == READING_FOLDED && (v->kind != VIEW_SITES || v->live))
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
        return refuse(v, "--sort total", ": its rows call nothing");
    if (a->stack.urls && !places)
        return refuse(v, "--urls", ": its rows have no lines");
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
    status = filters_processes(&cmd_report, &a->filters.processes, v->logs, &count);
    if (status)
        return status;
    fill_view(a, args, out);
    return show(a, out);
}

/* What the rows are of. */
static int choose_view(struct report_args *a, const struct args *args)
{
    bool by = args_given(&cmd_report.syntax, args, "by"),
         view = args_given(&cmd_report.syntax, args, "view");
    struct view *v = &a->view;

    v->question = view_question(v->kind);
    if (by && view && !v->question)
        return refuse(v, "--by", "");
    if (v->question) {
        v->live = v->kind;
        if (by || v->live != VIEW_LIFETIMES)
            v->kind = by ? kinds[a->by][1] : VIEW_OWN;
    } else if (by) {
        v->kind = kinds[a->by][0];
    } else if (!view && a->format != READING_TEXT) {
        v->kind = VIEW_SITES;
    }
    v->lenient = !view;
    return CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct report_args *a = into;
    bool json = a->format == READING_JSON;

    if (a->view.at && a->view.kind != VIEW_LIVE)
        return cli_usage_error(&cmd_report, "--at needs --view live");
    if (choose_view(a, args))
        return CLI_USAGE;
    if (a->view.kind == VIEW_SITES || a->view.kind == VIEW_OVERVIEW) {
        if (print_stack_choose(&a->stack, &a->top, &cmd_report, args, json, a->inline_stacks))
            return CLI_USAGE;
    } else if (json && !args_given(&cmd_report.syntax, args, "top")) {
        a->top = 0;
    }
    return run_view(a, args, out);
}

CLI_COMMAND(
    report, "[options] [METHOD] LOG...", "show what allocates: an overview, or any view of it",
    .about = "LOG is a log of `shadowtrace record`, plain or compressed, complete or truncated; "
             "`-` is standard input. Several logs are added up. METHOD, for callers and callees, "
             "is a method, a type or a pattern.",
    CLI_TAKES_LOGS(struct report_args, options),
    .manual = CLI_MANUAL(
            .description =
                "Every number covers the whole log, or the part that the options select. If the "
                "log is not complete, or anything was lost, the report says how much and why.",
            .environment = manual_of_terminal,
            .examples = MANUAL_TERMS(
                {"shadowtrace report app.ndjson", "show an overview"},
                {"shadowtrace report --view lines --top 50 app.ndjson",
                 "show the fifty lines that allocate most"},
                {"shadowtrace report --view callers string app.ndjson",
                 "show the callers that allocate strings"},
                {"shadowtrace report --view tree --own --from warm app.ndjson",
                 "show the tree of allocations of own code after a mark"},
                {"shadowtrace report --view grown --from warm --to later app.ndjson",
                 "show what has grown between two marks, in a log recorded with --live"},
                {"shadowtrace report --view processes logs/",
                 "show which process allocates, for all logs in a directory"},
                {"shadowtrace report --from-rows web-1.rows web-2.rows",
                 "show the allocations of two processes, from rows of `export --format rows`"},
                {"shadowtrace report --format json app.ndjson | jq '.rows[:3]'",
                 "read it with a program"}),
            .see_also = "jq(1)"));
