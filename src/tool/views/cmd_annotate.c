/*
 * cmd_annotate.c - a source file with what its lines allocated in the margin.
 */
#include "views/views.h"

#include "command/print_json.h"
#include "command/reading.h"
#include "command/rows.h"
#include "views/source_lines.h"
#include "terminal/text.h"

#include "base/buffer.h"
#include "report/demangle.h"
#include "report/sites.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX  (1u << 24) /* of a source file */
#define CANDIDATES 5          /* files named when several have the name given */

struct amount {
    uint64_t allocs, bytes;
};

/* What a line made itself, and what was made by the calls on it. */
struct line_sum {
    struct amount own, below;
};

/* Of one type on one line. */
struct type_sum {
    uint32_t line, class_number;
    struct amount own;
};

struct annotate {
    enum reading_format format;
    struct report_filter filter;
    struct args_list symbols;
    const char *source, *file;
    uint64_t context;
    bool all, physical;

    struct report_sites *sites;
    const struct report_problems *problems; /* of the log */
    struct source_lines *lines;
    struct source_line document; /* the file asked for; there may be others of that path */
    struct line_sum *sums;       /* by line, 1 to line_count */
    size_t line_count;
    struct type_sum *types;
    size_t type_count;
    struct amount total;
};

#define ARGS_INTO struct annotate
static const struct args_option options[] = {
    ROW_FORMAT,
    ARGS_ROW(COUNT, "context", "N", context, "show N lines around those that allocate",
             .standard = 3, .limit = LINES_MAX),
    ARGS_ROW(FLAG, "all", NULL, all, "show the whole file"),
    ARGS_ROW(TEXT, "source", "FILE", source,
             "read the text from FILE instead of where it was compiled"),
    ROW_SYMBOLS,
    ROW_TYPE,
    ROW_THREAD,
    ROW_PHYSICAL("count what an async method allocates after it resumed below what completed its "
                 "task, not below its caller"),
    ARGS_END};

/* ---- adding up ---- */

static void add(struct amount *to, const struct amount *more)
{
    to->allocs += more->allocs;
    to->bytes += more->bytes;
}

/* The line of the file, 0 for another file's. */
static uint32_t line_in_file(struct annotate *a, uint32_t method, int32_t il)
{
    struct source_line line;

    if (!source_line_of(a->lines, method, il, &line) || strcmp(line.file, a->document.file) != 0 ||
        line.line > LINES_MAX)
        return 0;
    return line.line;
}

static int reserve_line(struct annotate *a, uint32_t line)
{
    struct line_sum *larger;
    size_t count = a->line_count;

    if (line <= count)
        return 0;
    while (count < line)
        count = count ? 2 * count : 256;
    larger = memory_realloc(a->sums, (count + 1) * sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    memset(larger + (a->sums ? a->line_count + 1 : 0), 0,
           (count - (a->sums ? a->line_count : 0) + (a->sums ? 0 : 1)) * sizeof(*larger));
    a->sums = larger;
    a->line_count = count;
    return 0;
}

/* Allocations by the lines of the file themselves; below: for each path all that was made there. */
static int add_rows(struct annotate *a, struct amount *below)
{
    size_t count = report_sites_count(a->sites);
    struct report_row row;

    a->types = memory_zalloc(count + 1, sizeof(*a->types));
    if (!a->types)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct amount own;
        uint32_t line;

        report_sites_row(a->sites, i, &row);
        own = (struct amount){row.allocs, row.bytes};
        add(&a->total, &own);
        add(&below[row.path], &own);
        line = row.path > REPORT_PATH_LOST ? line_in_file(a, row.method, row.il) : 0;
        if (!line)
            continue;
        if (reserve_line(a, line))
            return -ENOMEM;
        add(&a->sums[line].own, &own);
        a->types[a->type_count++] = (struct type_sum){line, row.class_number, own};
    }
    return 0;
}

/* Whether the call on that line runs within another call on it: recursion, counted once. */
static bool within_itself(struct annotate *a, const struct report_defs *d, uint32_t path,
                          uint32_t line)
{
    for (path = report_path(d, path)->parent; path > REPORT_PATH_LOST;
         path = report_path(d, path)->parent) {
        const struct report_path *p = report_path(d, path);

        if (p->il >= 0 && p->parent > REPORT_PATH_LOST &&
            line_in_file(a, report_path(d, p->parent)->method, p->il) == line)
            return true;
    }
    return false;
}

/* Parents have lower numbers than their children: from the leaves to the roots. */
static int add_calls(struct annotate *a, struct amount *below)
{
    const struct report_defs *d = report_sites_defs(a->sites);

    for (uint32_t path = (uint32_t)d->path_count - 1; path > REPORT_PATH_LOST; path--) {
        const struct report_path *p = report_path(d, path);
        uint32_t line;

        add(&below[p->parent], &below[path]);
        if (!below[path].allocs || p->il < 0 || p->parent <= REPORT_PATH_LOST)
            continue;
        line = line_in_file(a, report_path(d, p->parent)->method, p->il);
        if (!line || within_itself(a, d, path, line))
            continue;
        if (reserve_line(a, line))
            return -ENOMEM;
        add(&a->sums[line].below, &below[path]);
    }
    return 0;
}

static int by_line(const void *left, const void *right)
{
    const struct type_sum *a = left, *b = right;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->class_number != b->class_number)
        return a->class_number < b->class_number ? -1 : 1;
    return 0;
}

/* Sites of one type on one line become one. */
static void join_types(struct annotate *a)
{
    size_t kept = 0;

    qsort(a->types, a->type_count, sizeof(*a->types), by_line);
    for (size_t i = 0; i < a->type_count; i++)
        if (kept && by_line(&a->types[kept - 1], &a->types[i]) == 0)
            add(&a->types[kept - 1].own, &a->types[i].own);
        else
            a->types[kept++] = a->types[i];
    a->type_count = kept;
}

static int add_up(struct annotate *a)
{
    struct amount *below = memory_zalloc(report_sites_defs(a->sites)->path_count, sizeof(*below));
    int err = below ? reserve_line(a, 1) : -ENOMEM;

    if (!err)
        err = add_rows(a, below);
    if (!err)
        err = add_calls(a, below);
    if (!err)
        join_types(a);
    memory_free(below);
    return err;
}

/* ---- the file ---- */

/* Which file is meant; several modules may have been built from the same. */
static int find_file(struct annotate *a)
{
    struct source_line at = {NULL, 0, 0, 0};
    struct buffer others = BUFFER_INIT;
    size_t count = 0;
    int status = CLI_OK;

    while (source_lines_document(a->lines, a->file, &at)) {
        if (!a->document.file)
            a->document = at;
        if (strcmp(at.file, a->document.file) == 0)
            continue;
        if (count++ < CANDIDATES)
            buffer_format(&others, ", %s", at.file);
    }
    if (!a->document.file) {
        source_lines_missing(a->lines);
        cli_complain(&cmd_annotate, "no symbols of a traced module know a file \"%.200s\"",
                     a->file);
        status = CLI_IO;
    } else if (count) {
        cli_complain(&cmd_annotate, "several files are called that, name more folders: %s%.600s",
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

static int read_source(struct annotate *a, struct source *s)
{
    size_t size = 0;
    int err = source_lines_text(a->lines, &a->document, a->source, &s->text, &size, &s->checked);

    if (!err)
        return split(s, size);
    if (err == -ENOMEM)
        return err;
    if (err == -ESTALE)
        cli_complain(&cmd_annotate, "%s is not the file that was compiled: its text is left out",
                     a->source ? a->source : a->document.file);
    else
        cli_complain(&cmd_annotate, "cannot read %s (%s): its text is left out; --source FILE",
                     a->source ? a->source : a->document.file, strerror(-err));
    return a->source && err != -ESTALE ? err : 0;
}

/* ---- printing ---- */

static bool has_amount(const struct annotate *a, size_t line)
{
    return line >= 1 && line <= a->line_count &&
           (a->sums[line].own.allocs || a->sums[line].below.allocs);
}

static bool is_shown(const struct annotate *a, const struct source *s, size_t line)
{
    if (!s->text)
        return has_amount(a, line);
    for (size_t near = line > a->context ? line - a->context : 1; near <= line + a->context; near++)
        if (has_amount(a, near))
            return true;
    return a->all;
}

static void print_number(uint64_t value, int width, FILE *out)
{
    struct text_number n;

    fprintf(out, " %*s", width, value ? text_count(&n, value) : "");
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

static void print_text(const struct annotate *a, const struct source *s, FILE *out)
{
    size_t last = s->count > a->line_count ? s->count : a->line_count, shown = 0;
    struct text_number bytes, allocs;
    bool skipped = false;

    text_print(out, a->document.file);
    fprintf(out, "%s\n",
            s->text && !s->checked ? "  (its symbols have no hash of it: it may have changed)"
                                   : "");
    fprintf(out,
            "All allocations: %s, %s bytes. Beside each line: what it allocates itself, and "
            "below its calls.\n\n",
            text_count(&allocs, a->total.allocs), text_count(&bytes, a->total.bytes));
    fprintf(out, " %13s %11s %13s  line\n", "bytes", "objects", "below, bytes");
    for (size_t line = 1; line <= last; line++) {
        struct line_sum none = {{0, 0}, {0, 0}};
        const struct line_sum *sum = line <= a->line_count ? &a->sums[line] : &none;

        if (!is_shown(a, s, line)) {
            skipped = true;
            continue;
        }
        if (skipped && shown)
            fputs(" ...\n", out);
        skipped = false;
        shown++;
        print_number(sum->own.bytes, 13, out);
        print_number(sum->own.allocs, 11, out);
        print_number(sum->below.bytes, 13, out);
        fprintf(out, " %5zu%s", line, line <= s->count && *s->line[line] ? "  " : "");
        if (line <= s->count)
            print_code(s->line[line], out);
        putc('\n', out);
    }
    if (!shown)
        fputs(" nothing was allocated there\n", out);
    putc('\n', out);
    reading_completeness(report_sites_log(a->sites), out);
}

static void json_amount(struct buffer *b, const char *prefix, const struct amount *amount)
{
    buffer_format(b, ",\"%sallocs\":%llu,\"%sbytes\":%llu", prefix,
                  (unsigned long long)amount->allocs, prefix, (unsigned long long)amount->bytes);
}

static void json_types(const struct annotate *a, struct buffer *b, size_t line, size_t *at)
{
    buffer_text(b, ",\"types\":[");
    for (bool first = true; *at < a->type_count && a->types[*at].line <= line; ++*at) {
        const struct type_sum *t = &a->types[*at];

        buffer_text(b, first ? "{\"type\":" : ",{\"type\":");
        buffer_json_string(b, report_class(report_sites_defs(a->sites), t->class_number)->name);
        json_amount(b, "", &t->own);
        buffer_char(b, '}');
        first = false;
    }
    buffer_char(b, ']');
}

static int print_json(const struct annotate *a, const struct source *s, FILE *out)
{
    struct buffer b = BUFFER_INIT, text = BUFFER_INIT;
    json_t *said = reading_log_json(report_sites_log(a->sites), a->problems);
    char *log = print_json_text(said, JSON_COMPACT);
    bool first = true, failed;
    size_t type = 0;

    json_decref(said);

    buffer_text(&b, "{\"file\":");
    buffer_json_string(&b, a->document.file);
    buffer_format(&b, ",\"source\":\"%s\"",
                  !s->text     ? "none"
                  : s->checked ? "compiled"
                               : "unchecked");
    json_amount(&b, "total_", &a->total);
    buffer_text(&b, ",\"lines\":[");
    for (size_t line = 1; line <= a->line_count; line++) {
        if (!has_amount(a, line))
            continue;
        buffer_format(&b, "%s\n {\"line\":%zu", first ? "" : ",", line);
        json_amount(&b, "", &a->sums[line].own);
        json_amount(&b, "below_", &a->sums[line].below);
        json_types(a, &b, line, &type);
        if (line <= s->count) {
            buffer_clear(&text);
            buffer_utf8(&text, s->line[line]);
            buffer_text(&b, ",\"text\":");
            buffer_json_string(&b, text.data && !text.failed ? text.data : "");
        }
        buffer_char(&b, '}');
        first = false;
    }
    buffer_text(&b, "],\n \"log\":");
    buffer_text(&b, log ? log : "null");
    buffer_text(&b, "}\n");
    failed = b.failed || !log;
    if (!failed)
        fputs(b.data, out);
    memory_free(log);
    buffer_free(&text);
    buffer_free(&b);
    return failed ? -ENOMEM : 0;
}

/* ---- the command ---- */

static int out_of_memory(void)
{
    cli_complain(&cmd_annotate, "%s", strerror(ENOMEM));
    return CLI_IO;
}

static int read_log(struct annotate *a, const char *log, struct report_problems *problems)
{
    struct reading_options reading = {0};
    struct reading_progress progress;
    int err = report_sites_new(REPORT_BY_SITE, &a->filter, problems, &a->sites);

    if (err)
        return out_of_memory();
    reading_progress_init(&progress, &reading);
    report_sites_progress(a->sites, reading_progress, &progress);
    err = report_sites_read(a->sites, log);
    reading_progress_end(&progress);
    if (!err && !a->physical)
        err = report_sites_logical(a->sites);
    if (!err)
        err = report_sites_finish(a->sites);
    if (err)
        return reading_failed(&cmd_annotate, log, report_sites_log(a->sites), err);
    reading_problems(&cmd_annotate, problems);
    return CLI_OK;
}

static int show(struct annotate *a, FILE *out)
{
    struct source source = {NULL, NULL, 0, false};
    int err, status = CLI_OK;

    if (source_lines_new(&cmd_annotate, report_sites_defs(a->sites), a->symbols.item,
                         a->symbols.count, report_sites_log(a->sites)->header, &a->lines))
        return out_of_memory();
    status = find_file(a);
    if (status)
        return status;
    err = read_source(a, &source);
    if (!err)
        err = add_up(a);
    if (!err && a->format == READING_JSON)
        err = print_json(a, &source, out);
    else if (!err)
        print_text(a, &source, out);
    memory_free(source.line);
    memory_free(source.text);
    if (err == -ENOMEM)
        return out_of_memory();
    return err ? CLI_IO : CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct annotate *a = into;
    struct report_problems problems;
    int status;

    a->file = args->word[1];
    report_problems_init(&problems);
    a->problems = &problems;
    status = read_log(a, args->word[0], &problems);
    if (!status)
        status = show(a, out);
    memory_free(a->sums);
    memory_free(a->types);
    source_lines_free(a->lines);
    report_sites_free(a->sites);
    report_problems_fini(&problems);
    return status;
}

const struct cli_command cmd_annotate = {
    .name = "annotate",
    .args = "[options] LOG FILE",
    .help = "a source file with the bytes and objects of each line in the margin",
    .about = "FILE is a source file's name, or the end of its path: Program.cs, Shop/Basket.cs. "
             "Its text is taken from the PDB if it is embedded there, else from disk, and only if "
             "it is the one that was compiled.",
    .syntax = {options, 2, 2, "a log and a source file: LOG FILE", false},
    .size = sizeof(struct annotate),
    .run = run,
};
