#include "page/page.h"

#include "command/output.h"
#include "page/head.h"
#include "page/make.h"

#define SLICES_MAX 300 /* of a time line without --slices: more cannot be distinguished */
#define SLICE_NS   UINT64_C(10000000)

struct html_args {
    struct side_options side; /* what else there is goes into it once all are read */
    struct reading_options reading;
    struct filters filters;
    struct naming naming;
    struct args_list symbols;
    const char *output, *title, *min_share, *heap;
    uint64_t slice_ns;
    bool diff, no_lines, physical;
};

#define ARGS_INTO struct html_args
static const struct args_option options[] = {
    ARGS_ROW(TEXT, "output", "FILE", output,
             "the page; an existing file is not overwritten; `-` is standard output", .letter = 'o',
             .group = "What is made"),
    ARGS_ROW(FLAG, "diff", NULL, diff,
             "compare two logs, OLD and NEW: growth is red, shrinkage is blue"),
    ARGS_ROW(TEXT, "title", "TEXT", title, "title of the page (default: the traced program)"),
    ARGS_ROW(DURATION, "slice", "TIME", slice_ns,
             "length of a slice of the time line (default: chosen for at most 300 slices)",
             .unit = 1000000000, .least = 1000000, .limit = UINT64_C(3600000000000)),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "fold rows below this share of the bytes into their caller (default: 0, nothing is "
             "folded)"),
    ARGS_ROW(TEXT, "heap", "FILE", heap,
             "add a heap dump of the same recording: what types and lines retain, and their paths "
             "from a root, as in `shadowtrace retained`"),
    ROWS_FILTERS("What is in it"),
    ROW_STEADY(""),
    ROW_PHYSICAL("use the machine's stacks, not the logical ones of async methods"),
    ROW_NAMES(naming, .group = "How it is shown"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_FROM_ROWS,
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

static int make_page(const struct html_args *a, struct side *sides, size_t count, struct held *heap,
                     FILE *out)
{
    struct buffer title = BUFFER_INIT;
    struct output o;
    int status;

    if (a->title)
        buffer_utf8(&title, a->title);
    else
        page_title(&sides[count - 1], &title);
    if (!a->title && count > 1)
        buffer_text(&title, ": old and new");
    status = title.failed ? cli_failed(&cmd_html, -ENOMEM) : CLI_OK;
    if (!status)
        status = output_open(&cmd_html, a->output, out, &o);
    if (!status) {
        status = cli_failed(&cmd_html, page_make(&a->side, sides, count, heap, title.data, o.file));
        status = output_close(&cmd_html, &o, status);
    }
    buffer_free(&title);
    return status;
}

/* The dump beside its log, which is read once more. */
static int read_heap(const struct html_args *a, const char *log, struct held *heap)
{
    const struct held_options how = {.reading = a->reading,
                                     .symbols = a->symbols,
                                     .own_code = a->filters.own_code,
                                     .no_lines = a->no_lines,
                                     .style = a->side.names,
                                     .others = naming_other(a->side.names)};
    int status = held_read(heap, &cmd_html, &how, log, a->heap);

    return status ? status : held_join(heap, &how);
}

/* A log a side, or all logs on one. */
static int html(struct html_args *a, const struct args *args, FILE *out)
{
    struct side sides[2] = {{0}, {0}};
    struct held heap = {.command = NULL};
    size_t count = a->diff ? 2 : 1, logs = a->diff ? 1 : args->count;
    int status = a->heap ? read_heap(a, args->word[0], &heap) : CLI_OK;

    if (!status)
        status = filters_processes(&cmd_html, &a->filters.processes, args->word, &logs);
    for (size_t i = 0; !status && i < count; i++)
        status =
            side_read(&cmd_html, &a->side, args->word + i, logs, i ? &sides[0] : NULL, &sides[i]);
    if (!status)
        status = make_page(a, sides, count, a->heap ? &heap : NULL, out);
    while (count-- > 0)
        side_fini(&sides[count]);
    held_free(&heap);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct html_args *a = into;
    uint64_t slice_ns = a->slice_ns ? a->slice_ns : SLICE_NS;

    if (!a->output)
        return cli_usage_error(&cmd_html, "expected the page to make: -o FILE");
    if (a->diff && args->count != 2)
        return cli_usage_error(&cmd_html, "--diff needs two logs: OLD NEW");
    if (a->diff && a->filters.processes.count)
        return cli_usage_error(&cmd_html, "--process does not go with --diff");
    if (a->heap && args->count != 1)
        return cli_usage_error(&cmd_html, "--heap needs one log, of the same recording");
    if (a->heap && a->reading.rows)
        return cli_usage_error(&cmd_html, "--heap needs the log of the recording, not rows");
    if (filters_share(&cmd_html, a->min_share, &a->side.min_share))
        return CLI_USAGE;
    naming_choose(&a->naming, &cmd_html, args, NAMES_SHORT);
    a->side.names = a->naming.style;
    a->side.how = (struct loading_options){
        LOADING_ASKED(a), .dimensions = {.threads = true,
                                         .sizes = true,
                                         .slice_ns = a->diff ? 0 : slice_ns,
                                         .slices_max = a->slice_ns ? 0 : SLICES_MAX}};
    a->side.filter = filters_model(&a->filters);
    a->side.live =
        !a->diff && !a->filters.thread && !a->filters.window.from && !a->filters.window.to;
    return html(a, args, out);
}

CLI_COMMAND(
    html, "[options] LOG... -o FILE", "make an HTML page of a log, for a browser",
    .about =
        "The page is one file that needs no network and no server: flame graph, callers, tree, "
        "tables, time line, source lines. For a log recorded with --live it shows all of these "
        "also for objects that are alive, were alive, have grown or died, except with --from, "
        "--to, --thread or --diff. Several logs are added up; with --diff two are compared.",
    CLI_TAKES_LOGS(struct html_args, options),
    .manual = CLI_EXAMPLES({"shadowtrace html app.ndjson -o app.html", "make a page of a log"},
                           {"shadowtrace html --diff old.ndjson new.ndjson -o diff.html",
                            "compare two in colours"},
                           {"shadowtrace html --heap app.heap app.ndjson -o app.html",
                            "include what keeps memory alive"}));
