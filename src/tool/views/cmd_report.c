#include "views/views.h"

#include "command/print_complete.h"
#include "views/print_folded.h"
#include "views/print_report.h"
#include "command/reading.h"
#include "views/report_families.h"
#include "views/report_profile.h"
#include "command/rows.h"
#include "terminal/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const char *const formats[] = {"text", "json", "folded", NULL};
static const char *const sources[] = {"shadow", "snapshot", NULL};

/* Frames of sites beside collections; elsewhere stacks are as in other reports. */
#define GC_DEPTH 2

#define TOPIC(which) .kind = ARGS_FLAG, .value = which, ARGS_AT(struct report_args, topic)

static const struct args_option options[] = {
    {.name = "by",
     .kind = ARGS_WORD,
     .group = "What is shown",
     .argument = "KEY",
     .words = print_report_keys,
     .help = "site (call path and type), type, method (the one that allocates), thread, module (of "
             "that method), line (the innermost with a source line, and type); method tells calls, "
             "total and self time, too, if the log has calls (record --events alloc,calls)",
     ARGS_AT(struct report_args, print.by)},
    {ROW_TOP(struct report_args, print.top)},
    {ROW_MIN_BYTES(struct report_args, print.min_bytes),
     .help = "only rows of so many bytes and more"},
    {ROW_THREAD(struct report_args)},
    {ROW_TYPE(struct report_args)},
    {ROW_METHOD(struct report_args)},
    {.name = "from",
     .kind = ARGS_TEXT,
     .argument = "MARK",
     .help = "only what was allocated since that mark (`shadowtrace ctl PID mark MARK`)",
     ARGS_AT(struct report_args, print.from)},
    {.name = "to",
     .kind = ARGS_TEXT,
     .argument = "MARK",
     .help = "and before that one, the first so called behind --from",
     ARGS_AT(struct report_args, print.to)},
    {ROW_PHYSICAL(struct report_args),
     .help = "the machine's stacks. Without it an async method that was resumed is below its "
             "caller, not below what completed the task it waited for; where the log cannot tell "
             "the caller the stack ends there: (one of 3 callers), (callers not in the log)"},
    {.name = "steady",
     .kind = ARGS_FLAG,
     .help =
         "leave out objects that only unoptimised code makes: when the program is not recorded, "
         "code compiled ahead of time runs in its place",
     ARGS_AT(struct report_args, filter.steady)},
    {.name = "format",
     .kind = ARGS_WORD,
     .group = "How it is shown",
     .words = formats,
     .help = "json: one object, as report_schema.json says; stacks are tables. folded: a line for "
             "each stack with its type and bytes, for flamegraph.pl and speedscope",
     ARGS_AT(struct report_args, format)},
    {.name = "inline-stacks",
     .kind = ARGS_FLAG,
     .help = "in JSON each row has its whole stack as arrays, innermost frame first: rows times "
             "depth in size",
     ARGS_AT(struct report_args, inline_stacks)},
    {ROW_DEPTH(struct report_args, print.stack.depth)},
    {ROW_SYMBOLS(struct report_args)},
    {ROW_NO_LINES(struct report_args)},
    {.name = "urls",
     .kind = ARGS_FLAG,
     .help = "addresses of lines by Source Link, too; they are shown, not fetched",
     ARGS_AT(struct report_args, print.stack.urls)},
    {.name = "links",
     .kind = ARGS_WORD,
     .argument = "WHEN",
     .words = text_links_words,
     .help = "files as links that terminals open: auto (on a terminal), always, never",
     ARGS_AT(struct report_args, links)},
    {.name = "raw",
     .kind = ARGS_FLAG,
     .help = "names as in the log: <BarAsync>d__3.MoveNext, not BarAsync",
     ARGS_AT(struct report_args, print.stack.raw)},
    {ROW_WIDE(struct report_args, print.stack.wide)},
    {ROW_JOBS(struct report_args)},
    {ROW_QUIET(struct report_args)},
    {.name = "exceptions",
     .group = "Of a log with other events (record --events, --profile), instead of allocations",
     .help = "by throw site and by catcher",
     TOPIC(REPORT_FAMILIES + FAMILIES_EXCEPTIONS)},
    {.name = "gc",
     .help = "collections with what was allocated before each, and by which sites",
     TOPIC(REPORT_FAMILIES + FAMILIES_GC)},
    {.name = "jit", .help = "compilation by method", TOPIC(REPORT_FAMILIES + FAMILIES_JIT)},
    {.name = "suspensions",
     .help = "stops of the runtime by reason",
     TOPIC(REPORT_FAMILIES + FAMILIES_SUSPENSIONS)},
    {.name = "calls",
     .help = "calls, total and self time by method",
     TOPIC(REPORT_FAMILIES + FAMILIES_CALLS)},
    {.name = "profile",
     .help = "sampled stacks: by method, the samples it is on top of, and those it is in",
     TOPIC(REPORT_PROFILE)},
    {.name = "source",
     .kind = ARGS_WORD,
     .words = sources,
     .help = "with --profile --format folded: which samples",
     ARGS_AT(struct report_args, source)},
    {.name = NULL},
};

/* The part of a log between the marks asked for. */
static int cut(struct report_args *a, const char *path, struct report_sites *sites,
               struct report_window *window)
{
    struct report_marks marks = {NULL, 0, 0};
    char why[1000] = "";
    int err = report_marks_read(path, &marks), status = CLI_OK;

    if (!err && report_marks_window(&marks, a->print.from, a->print.to, window, why, sizeof(why))) {
        cli_complain(&cmd_report, "%s: %s", path, why);
        status = CLI_USAGE;
    } else if (err) {
        cli_complain(&cmd_report, "cannot read %s: %s", path,
                     err == -ESPIPE ? "for marks it is read twice, which only a file can be"
                                    : strerror(-err));
        status = CLI_IO;
    }
    report_marks_fini(&marks);
    report_sites_window(sites, window);
    return status;
}

static int read_all(struct report_args *a, struct report_sites *sites, char **logs)
{
    struct reading_progress progress;
    struct report_window window;
    int err = 0, status = CLI_OK;

    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(sites, reading_threads(&a->reading));
    report_sites_progress(sites, reading_progress, &progress);
    for (; *logs && !err && !status; logs++) {
        if (a->print.from || a->print.to)
            status = cut(a, *logs, sites, &window);
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
    const struct report_defs *defs = report_sites_defs(sites);
    int err = a->physical ? 0 : report_sites_logical(sites);

    if (!err && !a->no_lines && a->format != READING_FOLDED)
        err = source_lines_new(&cmd_report, defs, a->symbols.item, a->symbols.count,
                               report_sites_log(sites)->header, &a->print.stack.lines);
    line_rows_init(&a->rows, defs, a->print.stack.lines);
    a->print.rows = &a->rows;
    report_sites_lines(sites, line_rows_of, &a->rows);
    if (!err && a->physical && a->print.by == REPORT_BY_SITE)
        err = report_async_new(defs, &a->print.stack.async);
    return err ? err : report_sites_finish(sites);
}

static int report(struct report_args *a, char **logs, FILE *out)
{
    struct report_problems problems;
    struct report_sites *sites = NULL;
    int status = CLI_OK, failed = 0;

    report_problems_init(&problems);
    if (report_sites_new(a->print.by, &a->filter, &problems, &sites)) {
        cli_complain(&cmd_report, "%s", strerror(ENOMEM));
        status = CLI_IO;
        goto out;
    }
    status = read_all(a, sites, logs);
    if (status)
        goto out;
    reading_problems(&cmd_report, &problems);
    if (look_up(a, sites)) {
        cli_complain(&cmd_report, "%s", strerror(ENOMEM));
        status = CLI_IO;
        goto out;
    }
    a->print.stack.links = a->format == READING_TEXT && text_links_wanted(a->links, out);
    a->print.sites = sites;
    a->print.stack.defs = report_sites_defs(sites);
    a->print.problems = &problems;
    report_stacks_init(&a->tables, a->print.stack.defs);
    a->print.stack.tables = a->inline_stacks ? NULL : &a->tables;
    if (a->format == READING_FOLDED) {
        failed = print_folded(sites, a->print.min_bytes, out);
        print_complete_stderr(&cmd_report, report_sites_log(sites));
    } else if (a->format == READING_TEXT) {
        print_report_text(&a->print, out);
    } else {
        failed = print_report_json(&a->print, out);
    }
    if (failed) {
        cli_complain(&cmd_report, "%s", strerror(ENOMEM));
        status = CLI_IO;
    }
    source_lines_missing(a->print.stack.lines);
out:
    report_async_free(a->print.stack.async);
    line_rows_fini(&a->rows);
    source_lines_free(a->print.stack.lines);
    report_stacks_fini(&a->tables);
    report_sites_free(sites);
    report_problems_fini(&problems);
    return status;
}

/* What goes with an option that changes what is reported on. */
static const char *const of_families[] = {"format",   "top", "inline-stacks", "depth", "symbols",
                                          "no-lines", "raw", "wide",          "jobs",  "quiet",
                                          NULL};
static const char *const of_profile[] = {"format", "top", "source", "quiet", NULL};

static const struct args_option *topic_row(unsigned topic)
{
    const struct args_option *row = options;

    while (row->value != topic)
        row++;
    return row;
}

/* Returns: CLI_OK: all that was given has a meaning. */
static int check_topic(const struct report_args *a, const struct args *args)
{
    const struct args_option *row, *topic = topic_row(a->topic);

    row = args_beyond(&cmd_report.syntax, args,
                      a->topic == REPORT_PROFILE ? of_profile : of_families);
    if (row)
        return cli_usage_error(&cmd_report, "--%s does not apply to --%s", row->name, topic->name);
    if (a->topic != REPORT_PROFILE && a->format == READING_FOLDED)
        return cli_usage_error(&cmd_report, "--format folded does not apply to --%s", topic->name);
    if (a->topic != REPORT_PROFILE && args->count > 1)
        return cli_usage_error(&cmd_report, "--%s takes one log at a time", topic->name);
    return CLI_OK;
}

static int check_sites(const struct report_args *a, const struct args *args)
{
    if (a->format == READING_FOLDED && a->print.by != REPORT_BY_SITE)
        return cli_usage_error(&cmd_report, "--format folded is of whole stacks: --by site");
    if (args_given(&cmd_report.syntax, args, "source"))
        return cli_usage_error(&cmd_report, "--source needs --profile");
    return CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct report_args *a = into;
    bool depth_given = args_given(&cmd_report.syntax, args, "depth");
    int status = a->topic ? check_topic(a, args) : check_sites(a, args);
    const char *wrong;

    if (status)
        return status;
    if (a->topic == REPORT_FAMILIES + FAMILIES_GC && !depth_given)
        a->print.stack.depth = GC_DEPTH;
    wrong = print_stack_choose(&a->print.stack, a->format == READING_JSON, a->inline_stacks,
                               depth_given);
    if (wrong)
        return cli_usage_error(&cmd_report, "%s", wrong);
    if (a->format == READING_JSON && !args_given(&cmd_report.syntax, args, "top"))
        a->print.top = 0;
    if (a->topic == REPORT_PROFILE)
        return report_profile_run(&cmd_report, a, args->word, out);
    if (a->topic)
        return report_families_run(&cmd_report, a, args->word[0], out);
    a->print.filtered = a->filter.thread || a->filter.type || a->filter.method || a->filter.steady;
    return report(a, args->word, out);
}

const struct cli_command cmd_report = {
    .name = "report",
    .args = "[options] LOG...",
    .help = "who allocates how much: call sites, most bytes first",
    .about = "LOG is what `shadowtrace record` wrote, plain or compressed, whole or cut; `-` is "
             "standard input. Several are added up.",
    .syntax = {options, 1, UINT_MAX, "a log: LOG", false},
    .size = sizeof(struct report_args),
    .run = run,
};
