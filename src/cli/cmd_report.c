#include "cli/commands.h"
#include "cli/print_complete.h"
#include "cli/print_folded.h"
#include "cli/print_report.h"
#include "cli/reading.h"
#include "cli/report_families.h"
#include "cli/report_profile.h"
#include "cli/text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

struct report_args {
    enum reading_format format;
    struct print_report print;
    struct report_filter filter;
    struct reading_options reading;
    bool folded, top_given, depth_given, inline_stacks, no_lines, physical;
    const char *links;
    struct line_rows rows;
    struct report_stacks tables;
    struct reading_symbols symbols;
};

enum {
    OPT_BY = 256,
    OPT_FORMAT,
    OPT_TOP,
    OPT_DEPTH,
    OPT_MIN_BYTES,
    OPT_THREAD,
    OPT_TYPE,
    OPT_METHOD,
    OPT_SYMBOLS,
    OPT_NO_LINES,
    OPT_RAW,
    OPT_LINKS,
    OPT_URLS,
    OPT_WIDE,
    OPT_JOBS,
    OPT_QUIET,
    OPT_PHYSICAL,
    OPT_FROM,
    OPT_TO,
    OPT_STEADY,
    OPT_INLINE_STACKS,
};

static const struct option options[] = {
    {"by", required_argument, NULL, OPT_BY},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"top", required_argument, NULL, OPT_TOP},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"min-bytes", required_argument, NULL, OPT_MIN_BYTES},
    {"thread", required_argument, NULL, OPT_THREAD},
    {"type", required_argument, NULL, OPT_TYPE},
    {"method", required_argument, NULL, OPT_METHOD},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"no-lines", no_argument, NULL, OPT_NO_LINES},
    {"raw", no_argument, NULL, OPT_RAW},
    {"links", required_argument, NULL, OPT_LINKS},
    {"urls", no_argument, NULL, OPT_URLS},
    {"wide", no_argument, NULL, OPT_WIDE},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"physical", no_argument, NULL, OPT_PHYSICAL},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"steady", no_argument, NULL, OPT_STEADY},
    {"inline-stacks", no_argument, NULL, OPT_INLINE_STACKS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take(struct report_args *a, int option, const char *value)
{
    uint64_t number;

    switch (option) {
    case OPT_BY:
        return print_report_by_name(value, &a->print.by);
    case OPT_FORMAT:
        a->folded = strcmp(value, "folded") == 0;
        return a->folded || reading_format(value, &a->format);
    case OPT_TOP:
        a->top_given = true;
        return text_parse(value, UINT64_MAX, &a->print.top);
    case OPT_INLINE_STACKS:
        a->inline_stacks = true;
        return true;
    case OPT_DEPTH:
        a->depth_given = true;
        return text_parse(value, UINT64_MAX, &a->print.stack.depth);
    case OPT_MIN_BYTES:
        return text_parse(value, UINT64_MAX, &a->print.min_bytes);
    case OPT_THREAD:
        if (!text_parse(value, UINT32_MAX - 1, &number) || number == 0)
            return false;
        a->filter.thread = (uint32_t)number;
        return true;
    case OPT_TYPE:
        a->filter.type = value;
        return true;
    case OPT_METHOD:
        a->filter.method = value;
        return true;
    case OPT_SYMBOLS:
        return reading_symbols_add(&a->symbols, value);
    case OPT_FROM:
        a->print.from = value;
        return true;
    case OPT_TO:
        a->print.to = value;
        return true;
    case OPT_STEADY:
        a->filter.steady = true;
        return true;
    case OPT_JOBS:
        return reading_jobs(value, &a->reading);
    case OPT_PHYSICAL:
        a->physical = true;
        return true;
    case OPT_QUIET:
        a->reading.quiet = true;
        return true;
    case OPT_NO_LINES:
        a->no_lines = true;
        return true;
    case OPT_RAW:
        a->print.stack.raw = true;
        return true;
    case OPT_LINKS:
        return text_links(value, &a->links);
    case OPT_URLS:
        a->print.stack.urls = true;
        return true;
    default:
        a->print.stack.wide = true;
        return true;
    }
}

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

    if (!err && !a->no_lines && !a->folded)
        err = source_lines_new(&cmd_report, defs, a->symbols.dirs, a->symbols.count,
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
    if (a->folded) {
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

static int report_run(int argc, char **argv, FILE *out)
{
    struct report_args a = {.print = {.top = 20, .stack.depth = 8}};
    const char *wrong;
    int option;

    if (report_profile_asked(argc, argv))
        return report_profile_run(&cmd_report, argc, argv, out);
    if (report_families_asked(argc, argv))
        return report_families_run(&cmd_report, argc, argv, out);
    optind = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(&cmd_report, argv, option);
        if (option == 'h') {
            cli_help(&cmd_report, out);
            return CLI_OK;
        }
        if (!take(&a, option, optarg))
            return cli_usage_error(&cmd_report, "--%s cannot be \"%.100s\"",
                                   options[option - OPT_BY].name, optarg);
    }
    if (optind == argc)
        return cli_usage_error(&cmd_report, "a log is missing");
    if (a.folded && a.print.by != REPORT_BY_SITE)
        return cli_usage_error(&cmd_report, "--format folded is of whole stacks: --by site");
    wrong = print_stack_choose(&a.print.stack, a.format == READING_JSON, a.inline_stacks,
                               a.depth_given);
    if (wrong)
        return cli_usage_error(&cmd_report, "%s", wrong);
    if (a.format == READING_JSON && !a.top_given)
        a.print.top = 0;
    a.print.filtered = a.filter.thread || a.filter.type || a.filter.method || a.filter.steady;
    return report(&a, argv + optind, out);
}

const struct cli_command cmd_report = {
    .name = "report",
    .args = "[options] LOG...",
    .help = "who allocates how much: call sites, most bytes first",
    .options =
        "LOG is what `shadowtrace record` wrote, plain or compressed, whole or cut; `-` is "
        "standard input.\n"
        "Several are added up.\n"
        "\n"
        "  --by KEY          site (default: call path and type), type, method (the one that "
        "allocates),\n"
        "                    thread, module (of that method), line (the innermost with a source\n"
        "                    line, and type); method tells calls, total and self time, too, if the "
        "log has\n"
        "                    calls (record --events alloc,calls)\n"
        "  --format FORMAT   text (default), json (one object, as report_schema.json says;\n"
        "                    stacks are tables), or folded: a line for each stack with its\n"
        "                    type and bytes, for flamegraph.pl and speedscope\n"
        "  --inline-stacks   in JSON each row has its whole stack as arrays, innermost frame\n"
        "                    first: rows times depth in size\n"
        "  --top N           rows shown; 0 all; default 20, in JSON all\n"
        "  --depth N         frames shown of each stack; 0 all; default 8, with\n"
        "                    --inline-stacks all\n"
        "  --min-bytes N     only rows of N bytes or more (k, M, G: times 1024)\n"
        "  --thread N        only what the thread with that id in the log allocated\n"
        "  --type GLOB       only types whose full name matches: * any text, ? one character\n"
        "  --from MARK       only what was allocated since that mark (`shadowtrace ctl PID mark "
        "MARK`)\n"
        "  --to MARK         and before that one, the first so called behind --from\n"
        "  --method GLOB     only what was allocated in, or below, methods whose full name "
        "matches\n"
        "  --physical        the machine's stacks. Without it an async method that was resumed is "
        "below "
        "its caller,\n"
        "                    not below what completed the task it waited for; where the log cannot "
        "tell the\n"
        "                    caller the stack ends there: (one of 3 callers), (callers not in the "
        "log)\n"
        "  --steady          leave out objects that only unoptimised code makes: when the program "
        "is "
        "not\n"
        "                    recorded, code compiled ahead of time runs in its place\n"
        "  --symbols DIR     look for PDBs there too, besides the assemblies' own folders; may be "
        "repeated\n"
        "  --no-lines        do not look for files and lines\n"
        "  --urls            addresses of lines by Source Link too; they are shown, not fetched\n"
        "  --links WHEN      files as links that terminals open: auto (default: on a terminal),\n"
        "                    always, never\n"
        "  --raw             names as in the log: <BarAsync>d__3.MoveNext, not BarAsync\n"
        "  --wide            names in full, lines as long as they get\n"
        "  --profile         sampled stacks (record --profile) instead: by method, the samples it "
        "is "
        "on top of,\n"
        "                    and those it is in; --format text, json, or folded; --top N; with "
        "folded\n"
        "                    --source shadow (default) or snapshot\n"
        "  --exceptions, --gc, --jit, --suspensions, --calls\n"
        "                    of a log with such events (record --events) instead: exceptions by "
        "throw site and by\n"
        "                    catcher; collections with what was allocated before each, and by "
        "which\n"
        "                    sites; compilation by method; stops by reason; calls, total and self "
        "time by\n"
        "                    method; with --format text or json, --top N, --depth N, --symbols "
        "DIR,\n"
        "                    --inline-stacks, --no-lines, --raw, --wide\n" READING_HELP,
    .main = report_run,
};
