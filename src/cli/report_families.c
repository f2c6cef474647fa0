#include "cli/report_families.h"

#include "cli/print_families.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define GC_DEPTH \
    2 /* frames of sites beside collections; elsewhere stacks are as in other reports */

enum {
    OPT_TOPIC = 256,
    OPT_FORMAT = OPT_TOPIC + 5,
    OPT_TOP,
    OPT_DEPTH,
    OPT_SYMBOLS,
    OPT_NO_LINES,
    OPT_RAW,
    OPT_WIDE,
    OPT_JOBS,
    OPT_QUIET,
    OPT_INLINE_STACKS,
};

static const struct option options[] = {
    {"exceptions", no_argument, NULL, OPT_TOPIC + FAMILIES_EXCEPTIONS},
    {"gc", no_argument, NULL, OPT_TOPIC + FAMILIES_GC},
    {"jit", no_argument, NULL, OPT_TOPIC + FAMILIES_JIT},
    {"suspensions", no_argument, NULL, OPT_TOPIC + FAMILIES_SUSPENSIONS},
    {"calls", no_argument, NULL, OPT_TOPIC + FAMILIES_CALLS},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"top", required_argument, NULL, OPT_TOP},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"no-lines", no_argument, NULL, OPT_NO_LINES},
    {"raw", no_argument, NULL, OPT_RAW},
    {"wide", no_argument, NULL, OPT_WIDE},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"inline-stacks", no_argument, NULL, OPT_INLINE_STACKS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct families_args {
    int topic; /* enum families_topic; -1: none yet */
    bool several, top_given, depth_given, inline_stacks, no_lines;
    enum reading_format format;
    struct print_families print;
    struct reading_symbols symbols;
    struct reading_options reading;
};

bool report_families_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (int topic = 0; topic <= FAMILIES_CALLS; topic++)
            if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, options[topic].name) == 0)
                return true;
    return false;
}

static bool take(struct families_args *a, int option, const char *value)
{
    switch (option) {
    case OPT_FORMAT:
        return reading_format(value, &a->format);
    case OPT_TOP:
        a->top_given = true;
        return text_parse(value, UINT64_MAX, &a->print.top);
    case OPT_DEPTH:
        a->depth_given = true;
        return text_parse(value, UINT64_MAX, &a->print.stack.depth);
    case OPT_SYMBOLS:
        return reading_symbols_add(&a->symbols, value);
    case OPT_NO_LINES:
        a->no_lines = true;
        return true;
    case OPT_RAW:
        a->print.stack.raw = true;
        return true;
    case OPT_WIDE:
        a->print.stack.wide = true;
        return true;
    case OPT_JOBS:
        return reading_jobs(value, &a->reading);
    case OPT_INLINE_STACKS:
        a->inline_stacks = true;
        return true;
    case OPT_QUIET:
        a->reading.quiet = true;
        return true;
    default:
        a->several = a->topic >= 0 && a->topic != option - OPT_TOPIC;
        a->topic = option - OPT_TOPIC;
        return true;
    }
}

static int print(const struct cli_command *command, struct families_args *a,
                 const struct families_report *f, FILE *out)
{
    struct report_stacks tables;
    int err = 0;

    report_stacks_init(&tables, &f->defs);
    a->print.report = f;
    a->print.stack.defs = &f->defs;
    a->print.stack.tables = a->inline_stacks ? NULL : &tables;
    if (!a->no_lines)
        err = source_lines_new(command, &f->defs, a->symbols.dirs, a->symbols.count, f->log.header,
                               &a->print.stack.lines);
    if (!err && a->format == READING_TEXT)
        print_families_text(&a->print, out);
    else if (!err && print_families_json(&a->print, out))
        err = -ENOMEM;
    source_lines_missing(a->print.stack.lines);
    source_lines_free(a->print.stack.lines);
    report_stacks_fini(&tables);
    if (err)
        cli_complain(command, "%s", strerror(-err));
    return err ? CLI_IO : CLI_OK;
}

static int report(const struct cli_command *command, struct families_args *a, const char *path,
                  FILE *out)
{
    struct reading_progress progress;
    struct report_problems problems;
    struct families_report f;
    int err, status;

    report_problems_init(&problems);
    a->print.problems = &problems;
    err = families_report_init(&f, (enum families_topic)a->topic, &problems);
    if (!err) {
        reading_progress_init(&progress, &a->reading);
        f.log.jobs = reading_threads(&a->reading);
        err = families_report_read(&f, path, reading_progress, &progress);
        reading_progress_end(&progress);
    }
    if (err) {
        status = reading_failed(command, path, &f.log, err);
    } else {
        reading_problems(command, &problems);
        status = print(command, a, &f, out);
    }
    families_report_fini(&f);
    report_problems_fini(&problems);
    return status;
}

int report_families_run(const struct cli_command *command, int argc, char **argv, FILE *out)
{
    struct families_args a = {.topic = -1, .print = {.top = 20, .stack.depth = 8}};
    const char *wrong;
    int option, index = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, ":h", options, &index)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(command, argv, option);
        if (option == 'h') {
            cli_help(command, out);
            return CLI_OK;
        }
        if (!take(&a, option, optarg))
            return cli_usage_error(command, "--%s cannot be \"%.100s\"", options[index].name,
                                   optarg);
    }
    if (a.several)
        return cli_usage_error(command, "one of --exceptions, --gc, --jit, --suspensions and "
                                        "--calls at a time");
    if (optind + 1 != argc)
        return cli_usage_error(command,
                               optind == argc ? "a log is missing" : "one log at a time with this");
    if (a.format == READING_JSON && !a.top_given)
        a.print.top = 0;
    if (!a.depth_given && a.topic == FAMILIES_GC)
        a.print.stack.depth = GC_DEPTH;
    wrong = print_stack_choose(&a.print.stack, a.format == READING_JSON, a.inline_stacks,
                               a.depth_given);
    if (wrong)
        return cli_usage_error(command, "%s", wrong);
    return report(command, &a, argv[optind], out);
}
