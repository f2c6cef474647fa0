#include "views/views.h"

#include "command/print_complete.h"
#include "views/print_folded.h"
#include "views/print_report.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"

#include "report/stacks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const char *const formats[] = {"text", "json", "folded", NULL};
struct report_args {
    enum reading_format format;
    struct reading_options reading;
    struct reading_window window;
    struct print_report print;
    struct report_filter filter;
    struct args_list symbols;
    bool inline_stacks, no_lines, physical;
    enum text_links links;
    struct line_rows rows;
    struct report_stacks tables;
};

#define ARGS_INTO struct report_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "by", "KEY", print.by,
             "site (call path and type), type, method (the one that allocates), thread, module (of "
             "that method), line (the innermost with a source line, and type); method shows calls, "
             "total and self time, too, if the log has calls (record --events alloc,calls)",
             .words = print_report_keys, .group = "What is shown"),
    ROW_TOP(print.top),
    ROW_MIN_BYTES(print.min_bytes, "only rows of at least this many bytes"),
    ROW_THREAD,
    ROW_TYPE,
    ROW_METHOD,
    ROW_FROM("MARK", "only what was allocated after this mark (`shadowtrace ctl PID mark MARK`)"),
    ROW_TO("MARK", "only what was allocated before this mark, the first of its name after --from"),
    ROW_PHYSICAL(
        "use the machine's stacks. By default, an async method that was resumed is below its "
        "caller, not below what completed the task it waited for; where the log cannot "
        "tell the caller the stack ends there: (one of 3 callers), (callers not in the "
        "log)"),
    ARGS_ROW(FLAG, "steady", NULL, filter.steady,
             "leave out objects that only unoptimised code makes: when the program is not "
             "recorded, code compiled ahead of time runs in its place"),
    ARGS_ROW(WORD, "format", NULL, format,
             "json: one object, as described in report_schema.json; stacks are tables. folded: a "
             "line for "
             "each stack with its type and bytes, for flamegraph.pl and speedscope",
             .words = formats, .group = "How it is shown"),
    ROW_INLINE_STACKS,
    ROW_DEPTH(print.stack.depth),
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
    struct report_window window;
    int err = 0, status = CLI_OK;

    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(sites, reading_threads(&a->reading));
    report_sites_progress(sites, reading_progress, &progress);
    for (; *logs && !err && !status; logs++) {
        status = reading_window(&cmd_report, *logs, &a->window, &window);
        report_sites_window(sites, window.has_from || window.has_to ? &window : NULL);
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

static int run(void *into, const struct args *args, FILE *out)
{
    struct report_args *a = into;

    if (a->format == READING_FOLDED && a->print.by != REPORT_BY_SITE)
        return cli_usage_error(&cmd_report, "--format folded needs --by site");
    if (print_stack_choose(&a->print.stack, &a->print.top, &cmd_report, args,
                           a->format == READING_JSON, a->inline_stacks))
        return CLI_USAGE;
    a->print.from = a->window.from;
    a->print.to = a->window.to;
    a->print.filtered = a->filter.thread || a->filter.type || a->filter.method || a->filter.steady;
    return report(a, args->word, out);
}

CLI_COMMAND(
    report, "[options] LOG...", "show call sites by allocated bytes, largest first",
    .about = "LOG is what `shadowtrace record` wrote, plain or compressed, whole or cut; `-` is "
             "standard input. Several logs are added up.",
    .syntax = {options, 1, UINT_MAX, "a log: LOG", false}, .size = sizeof(struct report_args));
