#include "views/views.h"

#include "views/print_diff.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"

#include <limits.h>
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

/* --view: what is compared. */
static const char *const views[] = {"allocated", "end", "peak", "temporary", NULL};
static const enum report_live_question questions[] = {REPORT_LIVE_NONE, REPORT_LIVE_END,
                                                      REPORT_LIVE_PEAK, REPORT_LIVE_TEMPORARY};

struct diff_args {
    unsigned view;
    enum reading_format format;
    struct reading_options reading;
    struct report_filter filter;
    enum report_by by;
    struct print_stack stack; /* how every log's are shown */
    uint64_t top, min_bytes;
    bool min_given, inline_stacks, no_lines, exact, physical;
    struct args_list symbols;
};

#define ARGS_INTO struct diff_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "by", "KEY", by,
             "site (call path and type), type, method (the one that allocates), thread (by name), "
             "module (of that method), line (the innermost with a source line, and type; lines of "
             "another build are matched in their order within each method)",
             .words = print_report_keys),
    ARGS_ROW(WORD, "view", "VIEW", view,
             "of logs recorded with --live: what was alive at the end, or at the peak, or died at "
             "its first collection, instead of what was allocated; see `shadowtrace help report`",
             .words = views),
    ROW_PHYSICAL("use the machine's stacks, see `shadowtrace help report`"),
    ARGS_ROW(FLAG, "exact", NULL, exact,
             "match call sites by their instructions and lines by their numbers, too: for logs of "
             "one build"),
    ROW_FORMAT,
    ROW_INLINE_STACKS,
    ROW_TOP(top),
    ROW_DEPTH(stack.depth),
    ROW_MIN_BYTES(min_bytes,
                  "only changes of at least this many bytes (default: 0.1 % of all; in JSON 0)"),
    ROW_TYPE,
    ROW_METHOD,
    ROWS_FRAMES(stack),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

/* Which collections --view means in a log. */
static int ask(const struct diff_args *a, const char *path, struct log *side,
               struct report_live_spans *spans)
{
    const struct reading_live live = {.question = questions[a->view], .instead = true};
    const struct reading_window all = {NULL, NULL};
    bool known;
    int status;

    if (!live.question)
        return CLI_OK;
    status = reading_spans(&cmd_diff, path, &live, &all, spans, &known);
    if (!status)
        report_sites_ask(side->sites, live.question, known ? spans : NULL);
    return status;
}

static int tell_missing(const char *path)
{
    return cli_usage_error(&cmd_diff,
                           "%s does not say what became of its objects; record with --live", path);
}

static int read_log(const struct diff_args *a, const char *path, struct log *side,
                    struct line_rows *rows)
{
    struct report_live_spans spans = {NULL, 0};
    struct reading_progress progress;
    int err = report_sites_new(a->by, &a->filter, &side->problems, &side->sites);

    if (err)
        return cli_failed(&cmd_diff, -ENOMEM);
    if (ask(a, path, side, &spans))
        return CLI_USAGE;
    reading_progress_init(&progress, &a->reading);
    report_sites_jobs(side->sites, reading_threads(&a->reading));
    report_sites_progress(side->sites, reading_progress, &progress);
    err = report_sites_read(side->sites, path);
    reading_progress_end(&progress);
    if (questions[a->view])
        report_sites_ask(side->sites, questions[a->view], NULL);
    report_live_spans_fini(&spans);
    if (!err && questions[a->view] && !report_sites_live(side->sites)->lines)
        return tell_missing(path);
    if (!err && !a->physical)
        err = report_sites_logical(side->sites);
    if (!err && !a->no_lines)
        err = reading_source_lines(&cmd_diff, report_sites_defs(side->sites), &a->symbols,
                                   report_sites_log(side->sites), &side->lines);
    line_rows_init(rows, report_sites_defs(side->sites), side->lines);
    report_sites_lines(side->sites, line_rows_of, rows);
    if (!err)
        err = report_sites_finish(side->sites);
    if (err)
        return reading_failed(&cmd_diff, path, report_sites_log(side->sites), err);
    reading_problems(&cmd_diff, &side->problems);
    if (a->by == REPORT_BY_LINE)
        source_lines_missing(side->lines, NULL, NULL);
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
                           .view = a->view ? views[a->view] : NULL,
                           .min_bytes = a->min_bytes,
                           .small_bytes = least_shown(a, sides)};
    struct report_stacks tables;
    int err = 0;

    report_stacks_init(&tables);
    for (size_t i = 0; !err && i < sides->all; i++) {
        struct print_report *log = &sides->print[i];

        *log = (struct print_report){.sites = sides->sites[i],
                                     .problems = &sides->logs[i].problems,
                                     .stack = a->stack,
                                     .rows = &sides->rows[i],
                                     .by = a->by};
        log->stack.defs = report_sites_defs(log->sites);
        log->stack.lines = sides->logs[i].lines;
        log->stack.tables = a->inline_stacks ? NULL : &tables;
        log->stack.next = i + 1 < sides->all ? &log[1].stack : NULL;
        err = print_stack_names(&log->stack, i ? &sides->print[0].stack : NULL);
    }
    for (size_t side = 0, first = 0; side < REPORT_DIFF_SIDES; first += sides->count[side++])
        p.side[side] = (struct print_diff_side){sides->print + first, sides->names + first,
                                                sides->count[side]};
    if (!err && a->format == READING_JSON)
        err = print_diff_json(&p, out);
    else if (!err)
        print_diff_text(&p, out);
    for (size_t i = sides->all; i-- > 0;) /* the first one is the others', too */
        names_free(sides->print[i].stack.names);
    report_stacks_fini(&tables);
    return err;
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
    return err ? cli_failed(&cmd_diff, -ENOMEM) : CLI_OK;
}

static int diff(const struct diff_args *a, struct sides *sides, FILE *out)
{
    int status = CLI_OK;

    sides->logs = memory_zalloc(sides->all, sizeof(*sides->logs));
    sides->sites = memory_zalloc(sides->all, sizeof(*sides->sites));
    sides->rows = memory_zalloc(sides->all, sizeof(*sides->rows));
    sides->print = memory_zalloc(sides->all, sizeof(*sides->print));
    if (!sides->logs || !sides->sites || !sides->rows || !sides->print)
        status = cli_failed(&cmd_diff, -ENOMEM);
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

/* Each side reads a file once; what both name is read for both. Returns: the exit status. */
static int name_once(struct sides *s)
{
    size_t *count = s->count, olds = count[REPORT_DIFF_OLD];
    int status = reading_once(&cmd_diff, s->names + olds, &count[REPORT_DIFF_NEW]);

    if (!status)
        status = reading_once(&cmd_diff, s->names, &count[REPORT_DIFF_OLD]);
    memmove(s->names + count[REPORT_DIFF_OLD], s->names + olds,
            count[REPORT_DIFF_NEW] * sizeof(*s->names));
    s->all = count[REPORT_DIFF_OLD] + count[REPORT_DIFF_NEW];
    return status;
}

/* OLD NEW, or `apart` logs before "--" and others behind. Returns: are they of two sides? */
static bool take_names(struct sides *s, const struct args *args)
{
    bool parted = args->apart > 0 && args->apart < args->count;
    size_t stdin_logs = 0;

    s->names = args->word;
    s->all = args->count;
    if (!parted && s->all != REPORT_DIFF_SIDES) {
        cli_usage_error(&cmd_diff, "expected %s", cmd_diff.syntax.expected);
        return false;
    }
    s->count[REPORT_DIFF_NEW] = parted ? s->all - args->apart : 1;
    s->count[REPORT_DIFF_OLD] = s->all - s->count[REPORT_DIFF_NEW];
    for (size_t i = 0; i < s->all; i++)
        stdin_logs += strcmp(s->names[i], "-") == 0;
    if (stdin_logs > 1)
        cli_usage_error(&cmd_diff, "only one of the logs can be standard input");
    return stdin_logs <= 1;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct diff_args *a = into;
    struct sides sides = {.names = NULL};
    int status;

    if (!take_names(&sides, args))
        return CLI_USAGE;
    if (a->view && a->by == REPORT_BY_THREAD)
        return cli_usage_error(&cmd_diff,
                               "--view %s knows objects by what makes them, not by "
                               "thread",
                               views[a->view]);
    a->filter.physical = a->physical;
    a->min_given = args_given(&cmd_diff.syntax, args, "min-bytes");
    if (print_stack_choose(&a->stack, &a->top, &cmd_diff, args, a->format == READING_JSON,
                           a->inline_stacks))
        return CLI_USAGE;
    status = name_once(&sides);
    return status ? status : diff(a, &sides, out);
}

CLI_COMMAND(
    diff, "[options] OLD NEW | OLD... -- NEW...",
    "show what allocates more or less in a second recording, largest change first",
    .about =
        "OLD and NEW are logs of `shadowtrace record`, of the same program or of two builds of it. "
        "Call sites are matched by the names of their methods and type; recursion is folded, and "
        "sites that differ only by frames the JIT inlined in one of the logs are one. The line is "
        "that of the newer log. `-` is standard input.\n\n"
        "Several logs on each side, OLD... -- NEW..., tell how much runs of one build differ. "
        "Figures are then means, and a call site has changed if the two sides are further apart "
        "than the logs of either side; the others are only counted.",
    CLI_TAKES(struct diff_args, options, 2, UINT_MAX,
              "two logs: OLD NEW, or several on each side: OLD... -- NEW...", false),
    .manual = CLI_EXAMPLES({"shadowtrace diff old.ndjson new.ndjson", "see what has changed"},
                           {"shadowtrace diff --by line --min-bytes 10K old.ndjson new.ndjson",
                            "see the lines with at least 10 KiB more or less"},
                           {"shadowtrace diff old1.ndjson old2.ndjson -- new1.ndjson new2.ndjson",
                            "tell changes from what differs in every run"}));
