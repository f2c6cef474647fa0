/* shadowtrace retained - who keeps memory: a heap dump beside its log. */
#include "retained/retained.h"

#include "command/rows.h"
#include "retained/changes.h"
#include "retained/print.h"

#include <stdint.h>

struct retained_args {
    struct held_options held;
    struct reading_options reading;
    struct args_list symbols;
    struct naming naming;
    enum reading_format format;
    uint64_t top, paths;
    bool no_lines, wide;
    const char *old, *old_log; /* --diff */
};

#define ARGS_INTO struct retained_args
static const struct args_option options[] = {
    ARGS_ROW(LIST, "type", "PATTERN", held.types,
             "show what holds objects of these types, by their name as shown or in full; * "
             "matches any text, ? one character",
             .group = "What holds them"),
    ARGS_ROW(LIST, "line", "FILE:LINE", held.lines,
             "show what holds objects that were allocated there, or in FILE; with --type only "
             "those of these types"),
    ARGS_ROW(
        COUNT, "paths", "N", paths,
        "show the N paths from a root that retain most, each the shortest of its shape; 0: all",
        .standard = 3),
    ARGS_ROW(TEXT, "diff", "OLD", old,
             "compare with an earlier dump: what grew, by type and by path from a root",
             .group = "What has changed"),
    ARGS_ROW(TEXT, "diff-log", "LOG", old_log, "the log of OLD, if that is another recording"),
    ARGS_ROW(WORD, "format", NULL, format, "json: one object, as described in report_schema.json",
             .words = rows_formats, .group = "Options"),
    ROW_TOP(top),
    ROW_OWN_CODE(held.own_code),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_NAMES(naming),
    ROW_WIDE(wide),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_EXPLAINED(
        "retained",
        "the memory that would be freed with an object: itself and everything that only it holds; "
        "for a type or line, the sum over its objects, without those that another of them holds. "
        "Memory that two of them share counts for neither; \"without all of them\" includes it",
        .group = "What is shown"),
    ARGS_EXPLAINED("own bytes", "the objects themselves"),
    ARGS_EXPLAINED("share",
                   "retained, relative to all bytes that roots hold; shares do not add up"),
    ARGS_EXPLAINED("allocated at",
                   "the innermost line of own code on the call path (record --live); (not known): "
                   "older than the recording, or than --live, or --live-memory was full"),
    ARGS_EXPLAINED(
        "root",
        "a reference that the runtime holds for itself or for a running method: stacks, handles, "
        "objects waiting for finalization. .NET keeps static fields in arrays behind handles; "
        "known fields are roots with their names. Weak references hold nothing"),
    ARGS_EXPLAINED("static A.B -> C.d -> [i].e",
                   "a path in one line: the static field B of A holds a C, whose field d holds an "
                   "array; e is a field of its elements"),
    ARGS_EXPLAINED("(attached)",
                   "the value of a ConditionalWeakTable, held as long as the object above it"),
    ARGS_END};

static int show(const struct retained_args *a, const struct held *h, struct retained_print *print,
                FILE *out)
{
    print->held = h;
    return cli_failed(&cmd_retained, a->format == READING_JSON ? retained_json(print, out)
                                                               : retained_text(print, out));
}

static int read_and_join(struct held *h, const struct held_options *asked, const char *log,
                         const char *dump)
{
    int status = held_read(h, &cmd_retained, asked, log, dump);

    return status ? status : held_join(h, asked);
}

static int compare(const struct retained_args *a, struct held *h,
                   const struct retained_print *print, FILE *out)
{
    struct changes changes = {.types = {NULL, 0, 0}};
    struct held old = {.command = &cmd_retained};
    int status = read_and_join(&old, &a->held, a->old_log ? a->old_log : print->log, a->old);

    if (!status)
        status = changes_find(&changes, &old, h);
    if (!status)
        status =
            cli_failed(&cmd_retained, a->format == READING_JSON
                                          ? changes_json(&changes, print->top, out)
                                          : changes_text(&changes, print->top, print->wide, out));
    changes_free(&changes);
    held_free(&old);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct retained_args *a = into;
    struct held_options *o = &a->held;
    struct retained_print p = {.log = args->word[0],
                               .dump = args->count > 1 ? args->word[1] : NULL,
                               .top = a->top,
                               .paths = o->types.count || o->lines.count,
                               .wide = a->wide};
    bool json = a->format == READING_JSON;
    struct held h;
    int status;

    if (a->old && p.paths)
        return cli_usage_error(&cmd_retained,
                               "--diff compares whole heaps: without --type, --line");
    if (a->old_log && !a->old)
        return cli_usage_error(&cmd_retained, "--diff-log needs --diff");
    if (json && !args_given(&cmd_retained.syntax, args, "top"))
        p.top = 0;
    naming_choose(&a->naming, &cmd_retained, args, json ? NAMES_FULL : NAMES_SHORT);
    o->style = a->naming.style;
    o->others = naming_other(o->style);
    o->reading = a->reading;
    o->symbols = a->symbols;
    o->no_lines = a->no_lines;
    o->paths = a->paths ? (size_t)a->paths : SIZE_MAX;
    status = read_and_join(&h, o, args->word[0], args->count > 1 ? args->word[1] : NULL);
    if (!status && p.paths)
        status = held_find(&h, o);
    if (!status)
        status = a->old ? compare(a, &h, &p, out) : show(a, &h, &p, out);
    if (!status)
        source_lines_missing(h.lines, NULL, NULL);
    held_free(&h);
    return status;
}

CLI_COMMAND(retained, "[options] LOG FILE",
            "show what keeps memory alive: what types and lines of a heap dump hold",
            .about = "FILE is a heap dump, from `shadowtrace ctl PID heap -o FILE` or `record "
                     "--heap-at-exit FILE`; LOG is the log of the same recording: it has the names "
                     "and, with --live, the line that allocated each object.",
            CLI_TAKES(struct retained_args, options, 1, 2, "a log and a heap dump: LOG FILE",
                      false),
            .manual = CLI_EXAMPLES({"shadowtrace retained app.ndjson app.heap",
                                    "show what types and lines retain"},
                                   {"shadowtrace retained --type Coupon app.ndjson app.heap",
                                    "show what holds the coupons"},
                                   {"shadowtrace retained --line Coupons.cs:35 app.ndjson app.heap",
                                    "show the paths to the objects of a line"},
                                   {"shadowtrace retained --diff before.heap app.ndjson after.heap",
                                    "show what grew between two dumps"}));
