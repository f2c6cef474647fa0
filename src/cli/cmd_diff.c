#include "cli/commands.h"
#include "cli/print_diff.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <getopt.h>
#include <string.h>

/* One of the two logs. */
struct side {
    struct report_problems problems;
    struct report_sites *sites;
    struct source_lines *lines;
};

struct diff_args {
    enum reading_format format;
    struct reading_options reading;
    struct report_filter filter;
    enum report_by by;
    uint64_t top, depth, min_bytes;
    bool top_given, no_lines, wide, exact, physical;
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
        return print_report_by_name(value, &a->by) && a->by != REPORT_BY_LINE;
    case OPT_FORMAT:
        return reading_format(value, &a->format);
    case OPT_TOP:
        a->top_given = true;
        return text_parse(value, UINT64_MAX, &a->top);
    case OPT_DEPTH:
        return text_parse(value, UINT64_MAX, &a->depth);
    case OPT_MIN_BYTES:
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

static int read_side(const struct diff_args *a, const char *path, struct side *side)
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
    if (!err)
        err = report_sites_finish(side->sites);
    if (err)
        return reading_failed(&cmd_diff, path, report_sites_log(side->sites), err);
    reading_problems(&cmd_diff, &side->problems);
    if (!a->no_lines &&
        source_lines_new(&cmd_diff, report_sites_defs(side->sites), a->symbols.dirs,
                         a->symbols.count, report_sites_log(side->sites)->header, &side->lines))
        return no_memory();
    return CLI_OK;
}

static int print(const struct diff_args *a, char **logs, const struct side *sides,
                 const struct report_diff *diff, FILE *out)
{
    struct print_diff p = {.diff = diff, .top = a->top, .min_bytes = a->min_bytes};

    for (int i = 0; i < REPORT_DIFF_SIDES; i++) {
        p.names[i] = logs[i];
        p.side[i] = (struct print_report){.sites = sides[i].sites,
                                          .problems = &sides[i].problems,
                                          .stack = {.defs = report_sites_defs(sides[i].sites),
                                                    .lines = sides[i].lines,
                                                    .depth = a->depth,
                                                    .wide = a->wide},
                                          .by = a->by};
    }
    if (a->format == READING_JSON)
        return print_diff_json(&p, out);
    print_diff_text(&p, out);
    return 0;
}

static int diff(const struct diff_args *a, char **logs, FILE *out)
{
    struct side sides[REPORT_DIFF_SIDES] = {{.sites = NULL}, {.sites = NULL}};
    const struct report_sites *sites[REPORT_DIFF_SIDES];
    struct report_diff *diff = NULL;
    int status = CLI_OK;

    for (int i = 0; i < REPORT_DIFF_SIDES; i++)
        report_problems_init(&sides[i].problems);
    for (int i = 0; !status && i < REPORT_DIFF_SIDES; i++) {
        status = read_side(a, logs[i], &sides[i]);
        sites[i] = sides[i].sites;
    }
    if (!status &&
        (report_diff_new(sites, a->by, a->exact, &diff) || print(a, logs, sides, diff, out)))
        status = no_memory();
    report_diff_free(diff);
    for (int i = 0; i < REPORT_DIFF_SIDES; i++) {
        source_lines_free(sides[i].lines);
        report_sites_free(sides[i].sites);
        report_problems_fini(&sides[i].problems);
    }
    return status;
}

static int diff_run(int argc, char **argv, FILE *out)
{
    struct diff_args a = {.top = 20, .depth = 8};
    int option;

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
    if (argc - optind != REPORT_DIFF_SIDES)
        return cli_usage_error(&cmd_diff, "two logs are wanted: OLD NEW");
    if (strcmp(argv[optind], "-") == 0 && strcmp(argv[optind + 1], "-") == 0)
        return cli_usage_error(&cmd_diff, "standard input holds one log, not two");
    if (a.format == READING_JSON && !a.top_given)
        a.top = 0;
    return diff(&a, argv + optind, out);
}

const struct cli_command cmd_diff = {
    .name = "diff",
    .args = "[options] OLD NEW",
    .help = "what allocates more, what less: two recordings, largest change first",
    .options =
        "OLD and NEW are logs of `shadowtrace record`, of the same program or of two builds of it: "
        "call\n"
        "sites are matched by the names of their methods and type. `-` is standard input.\n"
        "\n"
        "  --by KEY          site (default: call path and type), type, method (the one that "
        "allocates),\n"
        "                    thread (by name), module (of that method)\n"
        "  --exact           call sites are matched by their instructions, too: for logs of one "
        "build\n"
        "  --format FORMAT   text (default) or json\n"
        "  --top N           rows shown; 0 all; default 20, in JSON all\n"
        "  --depth N         frames shown of each stack in text; 0 all; default 8\n"
        "  --min-bytes N     only changes of N bytes or more (k, M, G: times 1024)\n"
        "  --type GLOB       only types whose full name matches: * any text, ? one character\n"
        "  --method GLOB     only what was allocated in, or below, methods whose full name "
        "matches\n"
        "  --symbols DIR     look for PDBs there too; may be repeated\n"
        "  --no-lines        do not look for files and lines\n"
        "  --wide            names in full, lines as long as they get\n" READING_HELP,
    .run = diff_run,
};
