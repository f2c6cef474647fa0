#include "cli/commands.h"
#include "cli/print_diff.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <getopt.h>
#include <string.h>

/* One of the logs. */
struct log {
    struct report_problems problems;
    struct report_sites *sites;
    struct source_lines *lines;
};

/* The logs of both sides, the old ones first. */
struct sides {
    char **names;
    size_t count[REPORT_DIFF_SIDES], all;
    struct log *logs;
    struct report_sites **sites;
    struct line_rows *rows;
    struct print_report *print;
};

struct diff_args {
    enum reading_format format;
    struct reading_options reading;
    struct report_filter filter;
    enum report_by by;
    uint64_t top, depth, min_bytes;
    bool top_given, depth_given, min_given, no_lines, wide, exact, physical;
    struct reading_symbols symbols;
};

enum {
    OPT_BY = 256,
    OPT_FORMAT,
    OPT_TOP,
    OPT_DEPTH,
    OPT_MIN_BYTES,
    OPT_TYPE,
    OPT_METHOD,
    OPT_SYMBOLS,
    OPT_JOBS,
    OPT_NO_LINES,
    OPT_WIDE,
    OPT_QUIET,
    OPT_EXACT,
    OPT_PHYSICAL,
};

static const struct option options[] = {
    {"by", required_argument, NULL, OPT_BY},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"top", required_argument, NULL, OPT_TOP},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"min-bytes", required_argument, NULL, OPT_MIN_BYTES},
    {"type", required_argument, NULL, OPT_TYPE},
    {"method", required_argument, NULL, OPT_METHOD},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"no-lines", no_argument, NULL, OPT_NO_LINES},
    {"wide", no_argument, NULL, OPT_WIDE},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"exact", no_argument, NULL, OPT_EXACT},
    {"physical", no_argument, NULL, OPT_PHYSICAL},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take(struct diff_args *a, int option, const char *value)
{
    switch (option) {
    case OPT_BY:
        return print_report_by_name(value, &a->by);
    case OPT_FORMAT:
        return reading_format(value, &a->format);
    case OPT_TOP:
        a->top_given = true;
        return text_parse(value, UINT64_MAX, &a->top);
    case OPT_DEPTH:
        a->depth_given = true;
        return text_parse(value, UINT64_MAX, &a->depth);
    case OPT_MIN_BYTES:
        a->min_given = true;
        return text_parse(value, UINT64_MAX, &a->min_bytes);
    case OPT_TYPE:
        a->filter.type = value;
        return true;
    case OPT_METHOD:
        a->filter.method = value;
        return true;
    case OPT_SYMBOLS:
        return reading_symbols_add(&a->symbols, value);
    case OPT_JOBS:
        return reading_jobs(value, &a->reading);
    case OPT_NO_LINES:
        a->no_lines = true;
        return true;
    case OPT_EXACT:
        a->exact = true;
        return true;
    case OPT_PHYSICAL:
        a->physical = true;
        return true;
    case OPT_WIDE:
        a->wide = true;
        return true;
    default:
        a->reading.quiet = true;
        return true;
    }
}

static int no_memory(void)
{
    cli_complain(&cmd_diff, "%s", strerror(ENOMEM));
    return CLI_IO;
}

static int read_log(const struct diff_args *a, const char *path, struct log *side,
                    struct line_rows *rows)
{
    struct reading_progress progress;
    int err = report_sites_new(a->by, &a->filter, &side->problems, &side->sites);

    if (err)
        return no_memory();
    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(side->sites, reading_threads(&a->reading));
    report_sites_progress(side->sites, reading_progress, &progress);
    err = report_sites_read(side->sites, path);
    reading_progress_end(&progress);
    if (!err && !a->physical)
        err = report_sites_logical(side->sites);
    if (!err && !a->no_lines)
        err =
            source_lines_new(&cmd_diff, report_sites_defs(side->sites), a->symbols.dirs,
                             a->symbols.count, report_sites_log(side->sites)->header, &side->lines);
    line_rows_init(rows, report_sites_defs(side->sites), side->lines);
    report_sites_lines(side->sites, line_rows_of, rows);
    if (!err)
        err = report_sites_finish(side->sites);
    if (err)
        return reading_failed(&cmd_diff, path, report_sites_log(side->sites), err);
    reading_problems(&cmd_diff, &side->problems);
    if (a->by == REPORT_BY_LINE)
        source_lines_missing(side->lines);
    return CLI_OK;
}

/* Changes below it are left out where there are many and the user set no limit. */
static uint64_t least_shown(const struct diff_args *a, const struct sides *sides)
{
    struct report_row total;

    if (a->min_given || a->format == READING_JSON)
        return 0;
    report_sites_total(sides->sites[0], &total);
    return total.bytes / 1000;
}

static int print(const struct diff_args *a, const struct sides *sides,
                 const struct report_diff *diff, FILE *out)
{
    struct print_diff p = {.diff = diff,
                           .top = a->top,
                           .min_bytes = a->min_bytes,
                           .small_bytes = least_shown(a, sides)};

    for (size_t i = 0; i < sides->all; i++)
        sides->print[i] =
            (struct print_report){.sites = sides->sites[i],
                                  .problems = &sides->logs[i].problems,
                                  .stack = {.defs = report_sites_defs(sides->sites[i]),
                                            .lines = sides->logs[i].lines,
                                            .depth = a->depth,
                                            .wide = a->wide},
                                  .rows = &sides->rows[i],
                                  .by = a->by};
    for (size_t side = 0, first = 0; side < REPORT_DIFF_SIDES; first += sides->count[side++])
        p.side[side] = (struct print_diff_side){sides->print + first, sides->names + first,
                                                sides->count[side]};
    if (a->format == READING_JSON)
        return print_diff_json(&p, out);
    print_diff_text(&p, out);
    return 0;
}

static int compare(const struct diff_args *a, const struct sides *sides, FILE *out)
{
    const struct report_sites *const *all = (const struct report_sites *const *)sides->sites;
    const size_t olds = sides->count[REPORT_DIFF_OLD];
    const struct report_diff_logs logs[REPORT_DIFF_SIDES] = {
        {all, olds, line_rows_diff, sides->rows},
        {all + olds, sides->count[REPORT_DIFF_NEW], line_rows_diff, sides->rows + olds}};
    struct report_diff *diff = NULL;
    int err = report_diff_new(logs, a->by, a->exact, &diff);

    if (!err)
        err = print(a, sides, diff, out);
    report_diff_free(diff);
    return err ? no_memory() : CLI_OK;
}

static int diff(const struct diff_args *a, struct sides *sides, FILE *out)
{
    int status = CLI_OK;

    sides->logs = memory_zalloc(sides->all, sizeof(*sides->logs));
    sides->sites = memory_zalloc(sides->all, sizeof(*sides->sites));
    sides->rows = memory_zalloc(sides->all, sizeof(*sides->rows));
    sides->print = memory_zalloc(sides->all, sizeof(*sides->print));
    if (!sides->logs || !sides->sites || !sides->rows || !sides->print)
        status = no_memory();
    for (size_t i = 0; !status && i < sides->all; i++) {
        report_problems_init(&sides->logs[i].problems);
        status = read_log(a, sides->names[i], &sides->logs[i], &sides->rows[i]);
        sides->sites[i] = sides->logs[i].sites;
    }
    if (!status)
        status = compare(a, sides, out);
    for (size_t i = 0; sides->logs && i < sides->all; i++) {
        source_lines_free(sides->logs[i].lines);
        report_sites_free(sides->logs[i].sites);
        report_problems_fini(&sides->logs[i].problems);
    }
    memory_free(sides->logs);
    for (size_t i = 0; sides->rows && i < sides->all; i++)
        line_rows_fini(&sides->rows[i]);
    memory_free(sides->sites);
    memory_free(sides->rows);
    memory_free(sides->print);
    return status;
}

/* Where "OLD... -- NEW..." parts: the number of that argument; 0: two logs and no more. */
static int parting(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i > 1 && i + 1 < argc && argv[i - 1][0] != '-' ? i : 0;
    return 0;
}

/* The names behind the options. Returns: whether they are of two sides. */
static bool take_names(struct sides *s, int argc, char **argv, int parted, int first)
{
    size_t stdin_logs = 0;

    s->names = argv + first;
    s->all = (size_t)(argc - first);
    s->count[REPORT_DIFF_NEW] = parted ? (size_t)parted : 1;
    if (s->all <= s->count[REPORT_DIFF_NEW] || (!parted && s->all != REPORT_DIFF_SIDES)) {
        cli_usage_error(&cmd_diff,
                        "two logs are wanted: OLD NEW; or several a side: OLD... -- NEW...");
        return false;
    }
    s->count[REPORT_DIFF_OLD] = s->all - s->count[REPORT_DIFF_NEW];
    for (size_t i = 0; i < s->all; i++)
        stdin_logs += strcmp(s->names[i], "-") == 0;
    if (stdin_logs > 1)
        cli_usage_error(&cmd_diff, "standard input holds one log, not two");
    return stdin_logs <= 1;
}

static int diff_run(int argc, char **argv, FILE *out)
{
    struct diff_args a = {.top = 20, .depth = 8};
    struct sides sides = {.names = NULL};
    int option, parted = parting(argc, argv);

    optind = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(&cmd_diff, argv, option);
        if (option == 'h') {
            cli_help(&cmd_diff, out);
            return CLI_OK;
        }
        if (!take(&a, option, optarg))
            return cli_usage_error(&cmd_diff, "--%s cannot be \"%.100s\"",
                                   options[option - OPT_BY].name, optarg);
    }
    if (!take_names(&sides, argc, argv, parted ? argc - parted - 1 : 0, optind))
        return CLI_USAGE;
    if (a.format == READING_JSON && !a.top_given)
        a.top = 0;
    if (a.format == READING_JSON && !a.depth_given)
        a.depth = 0;
    return diff(&a, &sides, out);
}

const struct cli_command cmd_diff = {
    .name = "diff",
    .args = "[options] OLD NEW | OLD... -- NEW...",
    .help = "what allocates more, what less: two recordings, largest change first",
    .options =
        "OLD and NEW are logs of `shadowtrace record`, of the same program or of two builds of it. "
        "Call sites\n"
        "are matched by the names of their methods and type; recursion is folded, and sites that "
        "differ "
        "only by\n"
        "frames the JIT inlined in one of the logs are one. The line is that of the newer log. `-` "
        "is "
        "standard\n"
        "input.\n"
        "\n"
        "What two runs of one build differ by is learned from several logs a side, OLD... -- "
        "NEW...: figures\n"
        "are means then, and a call site has changed if the two sides are further apart than the "
        "logs of\n"
        "either side; the others are counted.\n"
        "\n"
        "  --by KEY          site (default: call path and type), type, method (the one that "
        "allocates),\n"
        "                    thread (by name), module (of that method), line (the innermost with a "
        "source\n"
        "                    line, and type; lines of another build are matched in their order "
        "within each\n"
        "                    method)\n"
        "  --physical        by the machine's stacks, see `shadowtrace help report`\n"
        "  --exact           call sites are matched by their instructions, too, lines by their "
        "numbers: for\n"
        "                    logs of one build\n"
        "  --format FORMAT   text (default) or json\n"
        "  --top N           rows shown; 0 all; default 20, in JSON all\n"
        "  --depth N         frames shown of each stack in text; 0 all; default 8\n"
        "  --min-bytes N     only changes of N bytes or more (k, M, G: times 1024); default 0.1 % "
        "of all, in JSON 0\n"
        "  --type GLOB       only types whose full name matches: * any text, ? one character\n"
        "  --method GLOB     only what was allocated in, or below, methods whose full name "
        "matches\n"
        "  --symbols DIR     look for PDBs there too; may be repeated\n"
        "  --no-lines        do not look for files and lines\n"
        "  --wide            names in full, lines as long as they get\n" READING_HELP,
    .main = diff_run,
};
