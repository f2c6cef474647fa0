#include "page/page.h"

#include "command/output.h"
#include "command/rows.h"
#include "page/write.h"

#include <limits.h>
#include <stdlib.h>

struct html_args {
    struct side_options side; /* where they go is settled once all are read */
    struct reading_options reading;
    struct reading_window window;
    struct naming naming;
    struct args_list symbols, types, methods, exclude, below;
    const char *output, *title, *min_share;
    uint32_t thread;
    bool diff, own, steady, no_lines, physical;
};

#define ARGS_INTO struct html_args
static const struct args_option options[] = {
    ARGS_ROW(TEXT, "output", "FILE", output,
             "the page to be made; a file that exists is not overwritten; `-` is standard output",
             .letter = 'o', .group = "What is made"),
    ARGS_ROW(FLAG, "diff", NULL, diff,
             "compare two logs, OLD and NEW: what has grown is red, what has shrunk is blue"),
    ARGS_ROW(TEXT, "title", "TEXT", title, "title of the page (default: the traced program)"),
    ARGS_ROW(DURATION, "slice", "TIME", side.slice_ns,
             "length of a slice of the time line (default: what makes at most 300 slices)",
             .unit = 1000000000, .least = 1000000, .limit = UINT64_C(3600000000000)),
    ARGS_ROW(TEXT, "min-share", "PERCENT", min_share,
             "fold what has less than that share of the bytes into its caller (default: 0, nothing "
             "is folded)"),
    ARGS_ROW(LIST, "type", "PATTERN", types,
             "only types whose name, as shown or in full, matches; * stands for any text, ? for "
             "one character",
             .group = "What is in it"),
    ROW_METHODS,
    ROW_EXCLUDE,
    ROW_BELOW,
    ARGS_ROW(COUNT, "thread", "ID", thread, "only the thread with this id in the log", .least = 1,
             .limit = UINT32_MAX - 1),
    ROW_FROM("WHEN", "only what was allocated after this mark, or from this time on: 10s, 50%"),
    ROW_TO("WHEN", "only what was allocated before: the first mark of its name after --from, or a "
                   "time"),
    ROW_OWN(own),
    ARGS_ROW(FLAG, "steady", NULL, steady, "leave out objects that only unoptimised code makes"),
    ARGS_ROW(LIST, "own-code", "PATTERN", side.own_code, ROW_OWN_CODE_HELP,
             .group = "How it is shown"),
    ROW_NAMES(naming),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_PHYSICAL("use the machine's stacks, not those of async methods as they were written"),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

static int make_data(const struct html_args *a, const struct side *sides, size_t count,
                     const char *title, FILE *out)
{
    struct page_union all;
    struct page_columns columns = {0};
    struct page_head head = {title, sides, count, &all, &columns, &a->side};
    bool estimated = model_estimated(sides[0].model) || model_estimated(sides[count - 1].model);
    char *text = NULL;
    int err = union_init(&all);

    for (size_t i = 0; !err && i < count; i++)
        err = union_add(&all, &sides[i], (unsigned)i);
    if (!err)
        err = union_finish(&all);
    if (!err)
        err = page_encode(&all, estimated, count > 1, &columns);
    if (!err && !(text = page_head_write(&head)))
        err = -ENOMEM;
    if (!err)
        err = page_write(&columns, text, title, out);
    memory_free(text);
    page_columns_fini(&columns);
    union_fini(&all);
    return err;
}

static int make_page(const struct html_args *a, const struct side *sides, size_t count, FILE *out)
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
        status = cli_failed(&cmd_html, make_data(a, sides, count, title.data, o.file));
        status = output_close(&cmd_html, &o, status);
    }
    buffer_free(&title);
    return status;
}

/* A log a side, or all logs on one. */
static int html(struct html_args *a, const struct args *args, FILE *out)
{
    struct side sides[2] = {{0}, {0}};
    size_t count = a->diff ? 2 : 1;
    int status = CLI_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = side_read(&cmd_html, &a->side, args->word + i, a->diff ? 1 : args->count,
                           i ? &sides[0] : NULL, &sides[i]);
    if (!status)
        status = make_page(a, sides, count, out);
    while (count-- > 0)
        side_fini(&sides[count]);
    return status;
}

static struct model_globs globs(const struct args_list *list)
{
    return (struct model_globs){list->item, list->count};
}

/* A percentage: "0.1" or "0.1%". */
static bool read_share(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);

    *out = value / 100;
    return end != text && value >= 0 && value <= 100 && strcmp(end + (*end == '%'), "") == 0;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct html_args *a = into;

    if (!a->output)
        return cli_usage_error(&cmd_html, "expected the page to make: -o FILE");
    if (a->diff && args->count != 2)
        return cli_usage_error(&cmd_html, "--diff needs two logs: OLD NEW");
    if (a->min_share && !read_share(a->min_share, &a->side.min_share))
        return cli_usage_error(&cmd_html, "--min-share %s: expected a percentage from 0 to 100",
                               a->min_share);
    naming_choose(&a->naming, &cmd_html, args, NAMES_SHORT);
    a->side.names = a->naming.style;
    a->side.reading = a->reading;
    a->side.window = a->window;
    a->side.symbols = a->symbols;
    a->side.no_lines = a->no_lines;
    a->side.physical = a->physical;
    a->side.no_time = a->diff;
    a->side.filter = (struct model_filter){.types = globs(&a->types),
                                           .methods = globs(&a->methods),
                                           .exclude = globs(&a->exclude),
                                           .below = globs(&a->below),
                                           .thread = a->thread,
                                           .own = a->own,
                                           .steady = a->steady};
    return html(a, args, out);
}

CLI_COMMAND(html, "[options] LOG... -o FILE", "make one page of a log, to look at in a browser",
            .about = "The page is one file that needs no network and no server: flame graph, "
                     "callers, tree, tables, time line, source lines. Several logs are added up; "
                     "with --diff two are compared.",
            .syntax = {options, 1, UINT_MAX, "a log: LOG", false},
            .size = sizeof(struct html_args));
