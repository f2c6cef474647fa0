#include "views/views.h"

#include "views/print_diff.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"

#include <limits.h>
#include <string.h>

/* The logs of both sides, the old ones first. */
struct sides {
    char **names;
    size_t count[DIFF_SIDES], all;
    struct print_diff_log *logs;
    const struct model_rows **rows;
    bool steady; /* see match_kinds */
};

/* --view: what is compared. */
static const char *const views[] = {"allocated", "end", "peak", "temporary", NULL};
static const enum view_kind lives[] = {VIEW_OVERVIEW, VIEW_END, VIEW_PEAK, VIEW_TEMPORARY};

/* --by: each has the rows of the view of that name. */
static const char *const keys[] = {"site", "type", "method",    "thread", "module",
                                   "line", "own",  "namespace", NULL};
static const enum view_kind kinds[] = {VIEW_SITES,   VIEW_TYPES,     VIEW_METHODS,
                                       VIEW_THREADS, VIEW_MODULES,   VIEW_LINE_TYPES,
                                       VIEW_OWN,     VIEW_NAMESPACES};

struct diff_args {
    unsigned view, by;
    enum reading_format format;
    struct reading_options reading;
    struct filters filters;
    struct print_stack stack; /* how every log's are shown */
    uint64_t top, min_bytes;
    bool min_given, inline_stacks, no_lines, exact, physical;
    struct args_list symbols;
};

#define ARGS_INTO struct diff_args
static const struct args_option options[] = {
    ARGS_ROW(
        WORD, "by", "KEY", by,
        "site (call path and type), type, method (the one that allocates), thread (by name), "
        "module (of that method), line (the innermost with a source line, and type; lines of "
        "another build are matched by their order within each method), own (the nearest line of "
        "own code), namespace",
        .words = keys),
    ARGS_ROW(
        WORD, "view", "VIEW", view,
        "for logs recorded with --live: compare objects alive at the end or at the peak, or dead "
        "at their first collection, instead of allocations; see `shadowtrace help report`",
        .words = views),
    ROW_PHYSICAL("use the machine's stacks, see `shadowtrace help report`"),
    ARGS_ROW(FLAG, "exact", NULL, exact,
             "match call sites also by instruction, and lines by number: for logs of one build"),
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

static void fill_view(const struct diff_args *a, char **log, const struct view *first,
                      struct view *v)
{
    *v = (struct view){.command = &cmd_diff,
                       .kind = kinds[a->by],
                       .live = lives[a->view],
                       .question = view_question(lives[a->view]),
                       .format = a->format,
                       .logs = log,
                       .how = {LOADING_ASKED(a)},
                       .filter = filters_model(&a->filters),
                       .wide = a->stack.wide,
                       .compared = true,
                       .lenient = true,
                       .beside = first ? &first->read : NULL,
                       .style = a->stack.naming.style};
}

static int read_log(const struct diff_args *a, char *name, const struct print_diff_log *first,
                    struct print_diff_log *log)
{
    char *logs[] = {name, NULL};
    struct view *v = &log->view;
    int status;

    fill_view(a, logs, first ? &first->view : NULL, v);
    status = view_load(v);
    v->logs = NULL;
    if (status)
        return status;
    if (kinds[a->by] == VIEW_LINE_TYPES)
        source_lines_missing(v->read.lines, NULL, NULL);
    v->stack = a->stack;
    v->stack.defs = v->read.defs;
    v->stack.lines = v->read.lines;
    v->stack.names = v->style == NAMES_RAW ? NULL : v->read.names;
    return CLI_OK;
}

/* Whether only some methods had hooks: stacks have other frames than with hooks in all. */
static bool is_partial(const struct print_diff_log *log)
{
    return log->view.read.defs->some_hooked;
}

/* Whether its stacks have the frames of these methods only. */
static bool is_hooked_only(const struct print_diff_log *log)
{
    return log->view.read.defs->hooked_frames;
}

/* Rows of types, threads and own lines are the same with hooks in all methods or in some. */
static bool has_frames(const struct diff_args *a)
{
    return kinds[a->by] != VIEW_TYPES && kinds[a->by] != VIEW_THREADS && kinds[a->by] != VIEW_OWN;
}

/* Do some logs have it and some not? *some and *other are the last of each. */
static bool differ(const struct sides *sides, bool (*has)(const struct print_diff_log *),
                   size_t *some, size_t *other)
{
    size_t count = 0;

    *some = *other = 0;
    for (size_t i = 0; i < sides->all; i++) {
        bool it = has(&sides->logs[i]);

        count += it;
        *(it ? some : other) = i;
    }
    return count && count < sides->all;
}

/* The exit status: stacks with some frames and stacks with all have different rows. */
static int match_frames(const struct diff_args *a, const struct sides *sides)
{
    size_t some, all;

    if (!has_frames(a) || !differ(sides, is_hooked_only, &some, &all))
        return CLI_OK;
    return cli_usage_error(&cmd_diff,
                           "'%.200s' has the frames of hooked methods only, '%.200s' has all "
                           "(--framework-frames); --by own, type or thread compares what both have",
                           sides->names[some], sides->names[all]);
}

/*
 * Hooks in all methods keep the runtime from precompiled code, so that there are boxes which
 * otherwise are not made. Returns: the exit status.
 */
static int match_kinds(const struct diff_args *a, struct sides *sides)
{
    size_t some, other;
    int status = CLI_OK;

    sides->steady = differ(sides, is_partial, &some, &other);
    if (!sides->steady)
        return match_frames(a, sides);
    if (has_frames(a))
        return cli_usage_error(
            &cmd_diff,
            "'%.200s' was recorded with --own or --only, '%.200s' was not: their "
            "frames differ; --by own, type or thread compares what both have",
            sides->names[some], sides->names[other]);
    for (size_t i = 0; i < sides->all && !status; i++)
        if (!is_partial(&sides->logs[i]))
            status = view_steady(&sides->logs[i].view);
    return status;
}

/* Changes below it are left out where there are many and the user set no limit. */
static uint64_t least_shown(const struct diff_args *a, const struct sides *sides)
{
    if (a->min_given || a->format == READING_JSON)
        return 0;
    return report_whole(sides->logs[0].view.sum[MODEL_BYTES]) / 1000;
}

static int print(const struct diff_args *a, const struct sides *sides, const struct diff *diff,
                 FILE *out)
{
    struct print_diff p = {.diff = diff,
                           .top = a->top,
                           .min_bytes = a->min_bytes,
                           .small_bytes = least_shown(a, sides),
                           .steady = sides->steady};
    struct report_stacks tables;
    int err;

    report_stacks_init(&tables);
    for (size_t i = 0; i < sides->all; i++) {
        struct print_stack *stack = &sides->logs[i].view.stack;

        stack->tables = a->inline_stacks ? NULL : &tables;
        stack->next = i + 1 < sides->all ? &sides->logs[i + 1].view.stack : NULL;
    }
    for (size_t side = 0, first = 0; side < DIFF_SIDES; first += sides->count[side++])
        p.side[side] =
            (struct print_diff_side){sides->logs + first, sides->names + first, sides->count[side]};
    err = a->format == READING_JSON ? print_diff_json(&p, out) : print_diff_text(&p, out);
    report_stacks_fini(&tables);
    return err;
}

static int compare(const struct diff_args *a, const struct sides *sides, FILE *out)
{
    const size_t olds = sides->count[DIFF_OLD];
    const struct diff_logs logs[DIFF_SIDES] = {{sides->rows, olds},
                                               {sides->rows + olds, sides->count[DIFF_NEW]}};
    struct diff *diff = NULL;
    int err = diff_new(logs, a->exact, &diff);

    if (!err)
        err = print(a, sides, diff, out);
    diff_free(diff);
    return cli_failed(&cmd_diff, err);
}

static int diff(const struct diff_args *a, struct sides *sides, FILE *out)
{
    int status = CLI_OK;

    sides->logs = memory_zalloc(sides->all, sizeof(*sides->logs));
    sides->rows = memory_zalloc(sides->all, sizeof(*sides->rows));
    if (!sides->logs || !sides->rows)
        status = cli_failed(&cmd_diff, -ENOMEM);
    for (size_t i = 0; !status && i < sides->all; i++) {
        status = read_log(a, sides->names[i], i ? sides->logs : NULL, &sides->logs[i]);
        sides->rows[i] = &sides->logs[i].rows.rows;
    }
    if (!status)
        status = match_kinds(a, sides);
    for (size_t i = 0; i < sides->all && !status; i++) {
        struct print_diff_log *log = &sides->logs[i];

        status = cli_failed(&cmd_diff, view_rows_init(&log->rows, &log->view, log->view.kind));
    }
    if (!status)
        status = compare(a, sides, out);
    for (size_t i = sides->all; sides->logs && i-- > 0;) { /* names of the first are the others' */
        view_rows_fini(&sides->logs[i].rows);
        view_unload(&sides->logs[i].view);
    }
    memory_free_all(sides->logs, sides->rows);
    return status;
}

/* Each side reads a file once; what both name is read for both. Returns: the exit status. */
static int name_once(struct sides *s)
{
    size_t *count = s->count, olds = count[DIFF_OLD];
    int status = reading_once(&cmd_diff, s->names + olds, &count[DIFF_NEW]);

    if (!status)
        status = reading_once(&cmd_diff, s->names, &count[DIFF_OLD]);
    memmove(s->names + count[DIFF_OLD], s->names + olds, count[DIFF_NEW] * sizeof(*s->names));
    s->all = count[DIFF_OLD] + count[DIFF_NEW];
    return status;
}

/* OLD NEW, or `apart` logs before "--" and others behind. Returns: are they of two sides? */
static bool take_names(struct sides *s, const struct args *args)
{
    bool parted = args->apart > 0 && args->apart < args->count;
    size_t stdin_logs = 0;

    s->names = args->word;
    s->all = args->count;
    if (!parted && s->all != DIFF_SIDES) {
        cli_usage_error(&cmd_diff, "expected %s", cmd_diff.syntax.expected);
        return false;
    }
    s->count[DIFF_NEW] = parted ? s->all - args->apart : 1;
    s->count[DIFF_OLD] = s->all - s->count[DIFF_NEW];
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
    if (a->view && kinds[a->by] == VIEW_THREADS)
        return cli_usage_error(&cmd_diff,
                               "--view %s has no threads: it groups objects by what "
                               "made them",
                               views[a->view]);
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
        "OLD and NEW are logs of `shadowtrace record`, of the same program or of two builds "
        "of it. Call sites are matched by the names of their methods and type; recursion is "
        "folded, and sites that differ only in frames that the JIT inlined in one of the logs "
        "are the same. Allocations of a method without a known line match those with one. Lines "
        "are those of the newer log. `-` is standard input.\n\nSeveral "
        "logs on each side, OLD... -- NEW..., show how much runs of one build vary. Figures "
        "are then means. A call site has changed if the difference between the sides exceeds "
        "the spread of either side; all others are only counted.\n\nLogs recorded with --own or "
        "--only "
        "have fewer frames than others. If only some are, --by own, type and thread "
        "compare what all have, without boxes that exist only when recorded; other keys are "
        "refused.",
    CLI_TAKES(struct diff_args, options, 2, UINT_MAX,
              "two logs: OLD NEW, or several on each side: OLD... -- NEW...", false),
    .manual = CLI_EXAMPLES({"shadowtrace diff old.ndjson new.ndjson", "show what has changed"},
                           {"shadowtrace diff --by line --min-bytes 10K old.ndjson new.ndjson",
                            "show the lines that changed by at least 10 KiB"},
                           {"shadowtrace diff old1.ndjson old2.ndjson -- new1.ndjson new2.ndjson",
                            "distinguish changes from variation between runs"}));
