/* cmd_annotate.c - a source file with what its lines allocated in the margin. */
#include "views/view.h"
#include "views/views.h"
#include "command/print_complete.h"
#include "command/loading.h"
#include "readers/header.h"
#include "command/rows.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include "base/json_writer.h"
#include "model/annotate.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES 5 /* files named when several have the name given */

struct annotate {
    enum reading_format format;
    struct filters filters;
    struct args_list symbols;
    const char *source, *file;
    uint64_t context;
    bool all, physical;
    struct naming naming;

    struct loading read;
    struct model_tree *tree;
    struct source_line document; /* the file asked for; there may be others of that path */
    struct annotation sums;
};

#define ARGS_INTO struct annotate
static const struct args_option options[] = {
    ROW_FORMAT,
    ARGS_ROW(COUNT, "context", "N", context, "show N lines around those that allocate",
             .standard = 3, .limit = ANNOTATE_LINES_MAX),
    ARGS_ROW(FLAG, "all", NULL, all, "show the whole file"),
    ARGS_ROW(TEXT, "source", "FILE", source,
             "read the text from FILE instead of where it was compiled"),
    ROW_SYMBOLS,
    ROW_NAMES(naming),
    ROW_TYPE,
    ARGS_ROW(COUNT, "thread", "ID", filters.thread, "only the thread with this id in the log",
             .least = 1, .limit = UINT32_MAX - 1),
    ROW_PHYSICAL("attribute allocations of a resumed async method to the code that completed its "
                 "task, not to its caller"),
    ARGS_END};

static const struct log_input *log_of(const struct annotate *a)
{
    return model_log(a->read.model);
}

/* ---- the file ---- */

/* Finds the file; several modules may have been built from it. */
static int find_file(struct annotate *a)
{
    struct source_line at = {.file = NULL};
    struct buffer others = BUFFER_INIT;
    size_t count = 0;
    int status = CLI_OK;

    while (source_lines_document(a->read.lines, a->file, &at)) {
        if (!a->document.file)
            a->document = at;
        if (strcmp(at.file, a->document.file) == 0)
            continue;
        if (count++ < CANDIDATES)
            buffer_format(&others, ", %s", at.file);
    }
    if (!a->document.file) {
        source_lines_missing(a->read.lines, NULL, NULL);
        cli_complain(&cmd_annotate, "no symbols of a traced module name a file \"%.200s\"",
                     a->file);
        status = CLI_IO;
    } else if (count) {
        cli_complain(&cmd_annotate, "several files match; add folders to choose one: %s%.600s",
                     a->document.file, others.failed ? "" : others.data);
        status = CLI_USAGE;
    }
    buffer_free(&others);
    return status;
}

/* The text line by line; without one only numbers are shown. */
struct source {
    char *text;
    const char **line; /* from 1 */
    size_t count;
    bool checked;
};

static int split(struct source *s, size_t size)
{
    char *at = s->text, *end = s->text + size, *next;

    if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    for (next = at; next < end; next++)
        s->count += *next == '\n';
    s->line = memory_alloc((s->count + 3) * sizeof(*s->line));
    if (!s->line)
        return -ENOMEM;
    s->count = 0;
    while (at < end) {
        s->line[++s->count] = at;
        next = memchr(at, '\n', (size_t)(end - at));
        if (!next)
            break;
        *next = '\0';
        if (next > at && next[-1] == '\r')
            next[-1] = '\0';
        at = next + 1;
    }
    return 0;
}

/* The file on disk that the user named in full; NULL: only the PDB says where it is. */
static const char *named(const struct annotate *a)
{
    if (a->source)
        return a->source;
    return *a->file == '/' && !strcmp(a->file, a->document.file) ? a->file : NULL;
}

/* Embedded text comes first unless --source says otherwise. */
static int load_source(struct annotate *a, struct source *s, size_t *size)
{
    int err =
        a->source ? -ENOTSUP : source_lines_text(a->read.lines, &a->document, NULL, &s->text, size);

    s->checked = err == 0;
    return err == -ENOTSUP && named(a)
               ? source_lines_named_text(a->read.lines, &a->document, named(a), &s->text, size,
                                         &s->checked)
               : err;
}

static int read_source(struct annotate *a, struct source *s)
{
    size_t size = 0;
    int err = load_source(a, s, &size);

    if (!err)
        return split(s, size);
    if (err == -ENOMEM)
        return err;
    if (err == -ESTALE)
        cli_complain(&cmd_annotate, "%s is not the file that was compiled: its text is not shown",
                     a->source ? a->source : a->document.file);
    else if (err == -ENOTSUP)
        cli_complain(&cmd_annotate,
                     "the PDB has no usable hash of %s: its text is not shown; --source FILE",
                     a->document.file);
    else
        cli_complain(&cmd_annotate, "cannot read %s (%s): its text is not shown; --source FILE",
                     a->source ? a->source : a->document.file, strerror(-err));
    return a->source && err != -ESTALE ? err : 0;
}

/* ---- printing ---- */

static bool has_amount(const struct annotate_line *line)
{
    return line->own.allocs > 0 || line->below.allocs > 0;
}

static bool is_hot(const struct annotate *a, size_t line)
{
    const struct annotation *sums = &a->sums;
    size_t i = line > ANNOTATE_LINES_MAX ? sums->line_count : annotation_from(sums, (uint32_t)line);

    while (i < sums->line_count && sums->lines[i].line == line && !has_amount(&sums->lines[i]))
        i++;
    return i < sums->line_count && sums->lines[i].line == line;
}

static bool is_shown(const struct annotate *a, const struct source *s, size_t line)
{
    if (!s->text)
        return is_hot(a, line);
    for (size_t near = line > a->context ? line - a->context : 1; near <= line + a->context; near++)
        if (is_hot(a, near))
            return true;
    return a->all;
}

static void print_number(double value, int width, FILE *out)
{
    struct text_number n;

    fprintf(out, " %*s", width, value > 0 ? text_count(&n, report_whole(value)) : "");
}

/* Tabs as four columns; what else a terminal could act on is left out. */
static void print_code(const char *text, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    for (; *text; text++)
        if (*text == '\t')
            buffer_text(&b, "    ");
        else
            buffer_char(&b, *text);
    text_print(out, b.size && !b.failed ? b.data : "");
    buffer_free(&b);
}

static bool is_mixed(const struct annotate_amount *a)
{
    return report_estimate_mixes(a->bytes, a->spread.bytes_variance, a->allocs,
                                 a->spread.allocs_variance);
}

/* approximate: of ticks of the runtime, whose error nobody knows. */
static bool has_range(const struct annotate *a, const struct annotate_amount *amount,
                      struct report_amount *out)
{
    bool approximate = log_sampler_kind(log_of(a)->header) == LOG_SAMPLER_TICKS;

    *out = report_estimate_interval(amount->bytes, amount->spread.bytes_variance,
                                    amount->spread.seen_bytes);
    return !approximate && out->high > out->low;
}

static void print_all(const struct annotate *a, FILE *out)
{
    const struct annotate_amount *all = &a->sums.total;
    struct text_number bytes, allocs, low, high;
    struct buffer b = BUFFER_INIT;
    struct report_amount range;

    buffer_format(&b, "All allocations: %s", model_estimated(a->read.model) ? "about " : "");
    if (!is_mixed(all))
        buffer_format(&b, "%s, ", text_count(&allocs, report_whole(all->allocs)));
    buffer_format(&b, "%s bytes", text_count(&bytes, report_whole(all->bytes)));
    if (has_range(a, all, &range))
        buffer_format(&b, ", in 95 of 100 cases %s to %s exactly", text_short(&low, range.low),
                      text_short(&high, range.high));
    buffer_text(&b,
                ". In the margin: what a line allocates itself; below: what its calls allocate.");
    if (is_mixed(all))
        buffer_text(&b, " A number of objects is - if they have several sizes: samples cannot "
                        "estimate it.");
    if (!b.failed)
        args_print_text(out, b.data, terminal_width(out));
    buffer_free(&b);
    putc('\n', out);
}

/* Amounts, the number of the line or two, and its text. */
static void print_line(const struct annotate_line *line, const char *text, FILE *out)
{
    struct buffer number = BUFFER_INIT;

    source_line_put(&number, line->line, line->line_last);
    print_number(line->own.bytes, 13, out);
    if (is_mixed(&line->own))
        fprintf(out, " %11s", "-");
    else
        print_number(line->own.allocs, 11, out);
    print_number(line->below.bytes, 13, out);
    fprintf(out, " %5s%s", number.failed || !number.data ? "" : number.data + 1, *text ? "  " : "");
    print_code(text, out);
    putc('\n', out);
    buffer_free(&number);
}

/* A line, and what may be of it or of the ones that follow. */
static void print_lines(const struct annotate *a, const struct source *s, uint32_t number,
                        FILE *out)
{
    const struct annotate_line none = {.line = number}, *line, *end;

    line = a->sums.lines + annotation_from(&a->sums, number);
    end = a->sums.lines + a->sums.line_count;
    print_line(line < end && line->line == number && !line->line_last ? line++ : &none,
               number <= s->count ? s->line[number] : "", out);
    for (; line < end && line->line == number; line++)
        if (has_amount(line))
            print_line(line, "(one of these lines)", out);
}

static void print_text(const struct annotate *a, const struct source *s, FILE *out)
{
    const struct annotation *sums = &a->sums;
    size_t last = sums->line_count ? sums->lines[sums->line_count - 1].line : 0, shown = 0;
    bool skipped = false;

    text_print(out, a->document.file);
    fprintf(out, "%s\n",
            s->text && !s->checked ? "  (its symbols have no hash of it: it may have changed)"
                                   : "");
    print_all(a, out);
    fprintf(out, " %13s %11s %13s  line\n", "bytes", "objects", "below, bytes");
    last = s->count > last ? s->count : last;
    for (size_t line = 1; line <= last; line++) {
        if (!is_shown(a, s, line)) {
            skipped = true;
            continue;
        }
        if (skipped && shown)
            fputs(" ...\n", out);
        skipped = false;
        shown++;
        print_lines(a, s, (uint32_t)line, out);
    }
    if (!shown)
        fputs(" no line of it allocates\n", out);
    putc('\n', out);
    reading_completeness(log_of(a), out);
}

/* prefix: of the members' names. */
static void json_amount(const struct annotate *a, const char *prefix,
                        const struct annotate_amount *amount, struct json_writer *w)
{
    struct report_amount range;
    char key[32];

    snprintf(key, sizeof(key), "%sallocs", prefix);
    jw_unsigned(w, key, report_whole(amount->allocs));
    snprintf(key, sizeof(key), "%sbytes", prefix);
    jw_unsigned(w, key, report_whole(amount->bytes));
    snprintf(key, sizeof(key), "%smixed", prefix);
    if (is_mixed(amount))
        jw_bool(w, key, true);
    snprintf(key, sizeof(key), "%sbytes_range", prefix);
    if (has_range(a, amount, &range))
        view_range_json(key, &range, w);
}

static void json_types(const struct annotate *a, size_t line, size_t *at, struct json_writer *w)
{
    const struct annotation *sums = &a->sums;

    jw_array(w, "types");
    for (; *at < sums->type_count && sums->types[*at].line <= line; ++*at) {
        const struct annotate_type *t = &sums->types[*at];

        jw_object(w, NULL);
        jw_text(w, "type", names_class(a->read.names, t->class_number));
        json_amount(a, "", &t->own, w);
        jw_end(w);
    }
    jw_end(w);
}

static int print_json(const struct annotate *a, const struct source *s, FILE *out)
{
    const struct annotation *sums = &a->sums;
    struct json_writer w;
    size_t type = 0;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_text(&w, "file", a->document.file);
    jw_text(&w, "source", !s->text ? "none" : s->checked ? "compiled" : "unchecked");
    json_amount(a, "total_", &sums->total, &w);
    jw_array(&w, "lines");
    for (size_t i = 0; i < sums->line_count; i++) {
        const struct annotate_line *line = &sums->lines[i];

        if (!has_amount(line))
            continue;
        jw_line_object(&w, 1, NULL);
        jw_unsigned(&w, "line", line->line);
        if (line->line_last)
            jw_unsigned(&w, "line_last", line->line_last);
        json_amount(a, "", &line->own, &w);
        json_amount(a, "below_", &line->below, &w);
        json_types(a, i, &type, &w);
        if (line->line <= s->count)
            jw_text(&w, "text", s->line[line->line]);
        jw_end(&w);
    }
    jw_end(&w);
    jw_line(&w, 1);
    print_log_json(log_of(a), &a->read.problems, "log", &w);
    jw_end(&w);
    return jw_finish(&w);
}

/* ---- the command ---- */

/* Complains about what the filter does not mean. Returns: the exit status. */
static int make_tree(struct annotate *a)
{
    const struct model_filter filter = filters_model(&a->filters);
    const struct model_shape shape = {.grain = MODEL_GRAIN_LINE};
    char why[ARGS_WHY_SIZE] = "";
    int err = model_tree_new(a->read.model, &filter, &shape, &a->tree, why, sizeof(why));

    if (err != -ENOENT)
        return cli_failed(&cmd_annotate, err);
    cli_complain(&cmd_annotate, "%s", why);
    return CLI_USAGE;
}

static int read_log(struct annotate *a, char **log)
{
    const struct loading_options how = {.filters = &a->filters,
                                        .symbols = &a->symbols,
                                        .physical = a->physical,
                                        .dimensions = {.threads = a->filters.thread}};
    char why[ARGS_WHY_SIZE] = "";
    int status = loading_read(&cmd_annotate, &how, log, 1, &a->read);

    if (!status)
        status = cli_failed(&cmd_annotate,
                            loading_know(&cmd_annotate, &how, &a->read, why, sizeof(why)));
    if (!status)
        status = cli_failed(&cmd_annotate, loading_name(&a->read, NULL, a->naming.style,
                                                        naming_other(a->naming.style)));
    return status;
}

static int show(struct annotate *a, FILE *out)
{
    struct source source = {NULL, NULL, 0, false};
    int err, status = find_file(a);

    if (!status)
        status = make_tree(a);
    if (status)
        return status;
    err = read_source(a, &source);
    if (!err)
        err = annotate_file(a->tree, a->document.file, &a->sums);
    if (!err && a->format == READING_JSON)
        err = print_json(a, &source, out);
    else if (!err)
        print_text(a, &source, out);
    memory_free_all(source.line, source.text);
    if (err == -ENOMEM)
        return cli_failed(&cmd_annotate, -ENOMEM);
    return err ? CLI_IO : CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct annotate *a = into;
    int status;

    if (a->format != READING_JSON && args_given(&cmd_annotate.syntax, args, "names"))
        return cli_usage_error(&cmd_annotate, "--names needs --format json: text has no names");
    naming_choose(&a->naming, &cmd_annotate, args, NAMES_RAW);
    a->file = args->word[1];
    status = read_log(a, args->word);
    if (!status)
        status = show(a, out);
    annotation_fini(&a->sums);
    model_tree_free(a->tree);
    loading_end(&a->read);
    return status;
}

CLI_COMMAND(
    annotate, "[options] LOG FILE",
    "show a source file with the bytes and objects that each line allocates",
    .about = "FILE is the name of a source file, or the end of its path: Program.cs, "
             "Shop/Basket.cs. Its text comes from the PDB if it is embedded there, otherwise from "
             "disk, and is shown only if it is the compiled text. If the PDB has no usable hash, "
             "give the full path, or --source.",
    CLI_TAKES(struct annotate, options, 2, 2, "a log and a source file: LOG FILE", false),
    .manual = CLI_EXAMPLES({"shadowtrace annotate app.ndjson Program.cs",
                            "show the lines of a file that allocate"},
                           {"shadowtrace annotate --all --type 'string' app.ndjson Shop/Basket.cs",
                            "show a whole file with the strings that it allocates"}));
