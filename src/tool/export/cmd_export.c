#include "export/export.h"

#include "export/args.h"
#include "export/events.h"
#include "export/formats.h"
#include "export/profile_of.h"
#include "export/remark.h"
#include "export/rows.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "base/path.h"
#include "command/loading.h"
#include "command/output.h"
#include "command/print_complete.h"
#include "terminal/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MIN_SHARE 0.001 /* percent; `go tool pprof` opens four million allocations in seconds */

/* In the order of `words`. */
static const struct format {
    const char *extension;
    int (*write)(const struct export_profile *p, FILE *out);
    /* The same with single allocations; NULL: it has no place for them. */
    int (*each)(const struct export_profile *p, struct export_events *events, FILE *out);
    /* It is of live objects, instead of `write`. */
    int (*live)(const struct export_profile *p, const struct model_tree *tree,
                const uint32_t *nodes, FILE *out);
    bool text;          /* a terminal can show it */
    bool lines;         /* it has a place for them */
    const char *opened; /* by what; FILE stands for its name */
} formats[] = {
    {".pb.gz", export_pprof, NULL, NULL, false, true, "go tool pprof -http=: "},
    {".speedscope.json", export_speedscope, export_speedscope_each, NULL, true, true,
     "https://www.speedscope.app (reads it locally): "},
    {".nettrace", export_nettrace, export_nettrace_each, NULL, false, false,
     "PerfView or Visual Studio: "},
    {".perfView.xml.zip", export_perfview, NULL, NULL, false, false, "PerfView: "},
    {".collapsed", export_collapsed, NULL, NULL, true, false,
     "flamegraph.pl, inferno or speedscope: "},
    {".heaptrack.gz", NULL, NULL, export_heaptrack, false, true,
     "heaptrack_gui or heaptrack_print: "},
    {".otlp.pb", export_otlp, NULL, NULL, false, true,
     "a collector of OpenTelemetry, /v1development/profiles, as application/x-protobuf: "},
    {".rows.ndjson", NULL, NULL, NULL, true, true, "DuckDB or ClickHouse: "},
};
static const char *const words[] = {"pprof",     "speedscope", "nettrace", "perfview", "collapsed",
                                    "heaptrack", "otlp",       "rows",     NULL};
#define ROWS (COUNT_OF(formats) - 1)

#define ARGS_INTO struct export_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "format", NULL, format,
             "pprof: for `go tool pprof`, speedscope and others. speedscope: its own JSON. "
             "nettrace: for PerfView and Visual Studio, an event for each site. perfview: "
             "PerfView's XML. collapsed: folded stacks, one per line. heaptrack: allocated and "
             "freed objects, collection by collection, for a log recorded with --live; for such a "
             "log, pprof includes live objects. otlp: OpenTelemetry profiles, which are still "
             "experimental. rows: one JSON object per line, by minute and site, for database "
             "tables of many recordings; equal names have equal ids in all of them",
             .words = words, .group = "What is written"),
    ARGS_ROW(TEXT, "output", "FILE", output,
             "write FILE, which must not exist; - is standard output (default: LOG with the "
             "format's extension). Rows are compressed if FILE ends in .gz or .zst",
             .letter = 'o'),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "add sites (a stack and a type) below this share of the bytes to their callers, as "
             "(smaller ones), until they reach it: for smaller files and faster tools; 0: write "
             "all (default 0.001)"),
    ARGS_ROW(FLAG, "each", NULL, each,
             "write each allocation, in order, to a larger file. nettrace: an event for each "
             "allocation, with thread and time, not for each site. speedscope: also a profile for "
             "each thread"),
    ARGS_ROW(FLAG, "redact", NULL, redact,
             "rows: leave out the program's path and arguments, and the folders of source files. "
             "What remains: names of host, container, program, methods, types, modules and source "
             "files, versions, the process id, times and counts"),
    ARGS_ROW(TEXT, "host", "NAME", host,
             "rows: name of the recorded machine (default: this machine's)"),
    ARGS_ROW(TEXT, "container", "NAME", container,
             "rows: name of the recorded container, which is not in the log"),
    ARGS_ROW(WORD, "names", NULL, naming.style,
             "full: System.String, all namespaces and parameters. short: string, with as much of "
             "both as distinguishes names. raw: as in the log, <BarAsync>d__3.MoveNext",
             .words = names_styles, .standard = NAMES_FULL),
    {.kind = ARGS_OLD, .name = "raw", .help = "names=raw"},
    ROWS_FILTERS("Of what"),
    ROW_STEADY(""),
    ROW_PHYSICAL("use the machine's stacks, see `shadowtrace help report`"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_JOBS,
    ARGS_ROW(FLAG, "quiet", NULL, reading.quiet,
             "show no progress bar and no result, only warnings"),
    ARGS_END};

/* ---- reading ---- */

struct export_state {
    struct export_args *a;
    struct export_events *events; /* NULL without --each */
    struct loading_options how;
    struct loading read;
    struct model_tree *tree;
    struct export_profile *profile;
    struct export_folded folded;
};

static int refuse_glob(const char *why, int err)
{
    return err == -ENOENT ? cli_usage_error(&cmd_export, "%s", why) : cli_failed(&cmd_export, err);
}

static int know(struct export_state *s)
{
    enum names_style style = s->a->naming.style;
    char why[500] = "";
    int err = loading_know(&cmd_export, &s->how, &s->read, why, sizeof(why));

    if (!err)
        err = loading_name(&s->read, NULL, style, naming_other(style));
    if (!err)
        loading_tell_own(&cmd_export, &s->how, &s->read);
    return refuse_glob(why, err);
}

static int make_profile(struct export_state *s)
{
    const struct export_args *a = s->a;
    const struct model_filter filter = filters_model(&a->filters);
    const struct model_shape shape = {.grain = MODEL_GRAIN_IL, .types = true};
    char why[500] = "";
    int err = model_tree_new(s->read.model, &filter, &shape, &s->tree, why, sizeof(why));

    if (!err)
        err = export_profile_of(s->tree, s->read.names, a->share, &s->profile, &s->folded);
    return refuse_glob(why, err);
}

/* ---- what is to be known of it ---- */

static int remark(struct export_state *s)
{
    struct buffer gaps = BUFFER_INIT;
    int err = 0;

    if (print_complete_text(model_log(s->read.model), &gaps))
        err = export_profile_remark(s->profile, "%s",
                                    gaps.failed ? "the log is not complete" : gaps.data);
    buffer_free(&gaps);
    if (!err)
        err = export_remark_estimated(s->profile, s->tree);
    return err ? err : export_remark_folded(s->profile, s->tree, &s->folded, s->a->share);
}

/* What was written, and what to open it with; on stderr. */
static void tell(const struct export_state *s, const char *path)
{
    const struct export_profile *p = s->profile;
    struct text_number bytes, allocs, samples;

    for (size_t i = 0; i < p->remark_count; i++)
        cli_complain(&cmd_export, "%s", p->remarks[i]);
    if (s->a->reading.quiet || strcmp(path, "-") == 0)
        return;
    fprintf(stderr, "%s: %s in %s objects, %s sample%s\n", path, text_bytes(&bytes, p->bytes),
            text_count(&allocs, p->allocs), text_count(&samples, p->sample_count),
            text_plural(p->sample_count));
    fprintf(stderr, "Open it with %s%s\n", formats[s->a->format].opened, path);
}

/* ---- writing ---- */

/* LOG without its extensions, with the format's. Returns: text for memory_free, or NULL. */
static char *output_path(const struct export_args *a, const char *log)
{
    static const char *const endings[] = {".zst", ".ndjson"};
    struct buffer b = BUFFER_INIT;
    size_t size = strlen(log);

    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        size_t length = strlen(endings[i]);

        if (size > length && strncmp(log + size - length, endings[i], length) == 0 &&
            log[size - length - 1] != '/')
            size -= length;
    }
    buffer_append(&b, a->output ? a->output : log, a->output ? strlen(a->output) : size);
    if (!a->output)
        buffer_text(&b, formats[a->format].extension);
    return buffer_take(&b);
}

static int write_profile(const struct export_state *s, struct output *o)
{
    const struct format *format = &formats[s->a->format];
    int err = s->events ? export_events_place(s->events, s->tree, s->folded.nodes) : 0;

    if (!err)
        err = format->live ? format->live(s->profile, s->tree, s->folded.nodes, o->file)
              : s->events  ? format->each(s->profile, s->events, o->file)
                           : format->write(s->profile, o->file);

    if (err == -EOVERFLOW)
        cli_complain(&cmd_export, "it is more than the format can hold: try a higher --min-share");
    else if (err && !ferror(o->file))
        return cli_failed(&cmd_export, err);
    return err ? CLI_IO : CLI_OK;
}

/* A format of live objects needs a log that has them. */
static int check_live(const struct export_state *s)
{
    const struct log_input *log = model_log(s->read.model);

    if (!formats[s->a->format].live || model_live(s->read.model)->question)
        return CLI_OK;
    if (model_live(s->read.model)->lines)
        return cli_usage_error(&cmd_export, "%s must be a file: --format %s needs two passes",
                               log->file, words[s->a->format]);
    return cli_usage_error(&cmd_export,
                           "%s has no data on live objects: --format %s needs a log "
                           "recorded with --live",
                           log->file, words[s->a->format]);
}

static int export(struct export_state *s, char **logs, struct output *o)
{
    const struct export_args *a = s->a;
    int status = cli_failed(&cmd_export, a->each ? export_events_new(&s->events) : 0);

    if (status)
        return status;
    s->how =
        (struct loading_options){.reading = a->reading,
                                 .filters = &a->filters,
                                 .symbols = &a->symbols,
                                 .no_lines = a->no_lines || !(formats[a->format].lines ||
                                                              a->filters.own || a->filters.no_own),
                                 .physical = a->physical,
                                 .dimensions = {.threads = a->filters.thread != 0},
                                 .event = a->each ? export_events_add : NULL,
                                 .context = s->events};
    if (!a->filters.window.from && !a->filters.window.to && !a->filters.thread)
        s->how.live = (struct reading_live){.question = REPORT_LIVE_END,
                                            .changes = formats[a->format].live != NULL};
    status = loading_read(&cmd_export, &s->how, logs, SIZE_MAX, &s->read);
    if (!status)
        status = check_live(s);
    if (!status && s->events && export_events_sites(s->events))
        status = cli_usage_error(&cmd_export, "--each needs logs of single allocations: recorded "
                                              "without --log sites");
    if (!status)
        status = know(s);
    if (!status)
        status = make_profile(s);
    if (!status)
        status = cli_failed(&cmd_export, remark(s));
    return status ? status : write_profile(s, o);
}

static void release(struct export_state *s)
{
    export_events_free(s->events);
    memory_free(s->folded.nodes);
    export_profile_free(s->profile);
    model_tree_free(s->tree);
    loading_end(&s->read);
}

static int check(struct export_args *a, const char *log)
{
    bool standard = a->output && strcmp(a->output, "-") == 0;

    if (!a->output && strcmp(log, "-") == 0)
        return cli_usage_error(&cmd_export, "a log from standard input needs -o FILE");
    if (standard && !formats[a->format].text && isatty(STDOUT_FILENO))
        return cli_usage_error(&cmd_export, "standard output is a terminal, which %s is not for",
                               words[a->format]);
    if (a->each && !formats[a->format].each)
        return cli_usage_error(&cmd_export,
                               "--each goes with --format nettrace or speedscope: %s has no place "
                               "for single allocations",
                               words[a->format]);
    if (formats[a->format].live &&
        (a->filters.window.from || a->filters.window.to || a->filters.thread))
        return cli_usage_error(&cmd_export, "--from, --to and --thread do not go with --format %s",
                               words[a->format]);
    a->share = MIN_SHARE / 100;
    return filters_share(&cmd_export, a->min_share, &a->share);
}

/* What goes with rows only, and what does not. */
static int check_rows(const struct export_args *a)
{
    bool rows = a->format == ROWS;

    if (!rows && (a->redact || a->host || a->container))
        return cli_usage_error(&cmd_export,
                               "--redact, --host and --container go with --format rows");
    if (rows && a->min_share && a->share > 0)
        return cli_usage_error(&cmd_export, "--min-share does not go with --format rows: all sites "
                                            "are written");
    return CLI_OK;
}

static int write_rows(const struct export_args *a, char **logs, struct output *o)
{
    struct export_rows_sums sums = {0};
    const char *path = o->path;
    int status = output_close(&cmd_export, o, export_rows_run(a, logs, o, &sums));

    if (!status && !a->reading.quiet && strcmp(path, "-") != 0)
        export_rows_tell(path, &sums);
    return status;
}

static int write_one(struct export_state *s, char **logs, struct output *o)
{
    const char *path = o->path;
    int status = output_close(&cmd_export, o, export(s, logs, o));

    if (status)
        return status;
    tell(s, path);
    if (formats[s->a->format].lines)
        source_lines_missing(s->read.lines, NULL, NULL);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct export_args *a = into;
    struct export_state s = {.a = a};
    struct output o;
    size_t count = args->count;
    char *path;
    int status = filters_processes(&cmd_export, &a->filters.processes, args->word, &count);

    if (!status)
        status = check(a, args->word[0]);
    if (!status)
        status = check_rows(a);
    naming_choose(&a->naming, &cmd_export, args, NAMES_FULL);
    if (status)
        return status;
    path = output_path(a, args->word[0]);
    if (!path)
        return cli_failed(&cmd_export, -ENOMEM);
    status = output_open(&cmd_export, path, out, &o);
    if (!status) {
        status = a->format == ROWS ? write_rows(a, args->word, &o) : write_one(&s, args->word, &o);
        release(&s);
    }
    memory_free(path);
    return status;
}

CLI_COMMAND(
    export, "[options] LOG...", "write a log as other tools read it",
    .about = "LOG is a log of `shadowtrace record`, plain or compressed, complete or truncated; "
             "`-` is standard input. Several logs are added up, except in rows, which keep them "
             "separate. FILE is created atomically; an existing file is never overwritten.",
    CLI_TAKES_LOGS(struct export_args, options),
    .manual = CLI_EXAMPLES({"shadowtrace export -o app.pb.gz app.ndjson",
                            "write a profile for `go tool pprof`"},
                           {"shadowtrace export --format nettrace app.ndjson",
                            "write app.nettrace, for PerfView and Visual Studio"},
                           {"shadowtrace export --format collapsed -o - app.ndjson | flamegraph.pl",
                            "make a flame graph"}));
